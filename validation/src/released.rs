//! Builds of the programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::programs::succeed;

/// Builds a program from the sources as it is released; returns its path.
///
/// # Errors
/// If it does not build.
pub fn build(root: &Path, package: &str) -> Result<PathBuf> {
    build_with("packaged", root, package)
}

/// Builds a program, and that for file systems, which it starts, with a profile of cargo; returns its
/// path.
///
/// # Errors
/// If it does not build.
pub fn build_with(profile: &str, root: &Path, package: &str) -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--profile", profile, "--quiet", "--package", package]);
    cargo.args(["--package", "flashmark-lab"]);
    succeed(cargo.current_dir(root)).with_context(|| format!("{package} does not build"))?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join(if profile == "dev" { "debug" } else { profile }).join(package))
}

/// Path of the given program, or of one that is built.
///
/// # Errors
/// If it does not build.
pub fn given_or_built(given: Option<&Path>, root: &Path, package: &str) -> Result<PathBuf> {
    given.map_or_else(|| build(root, package), |given| Ok(given.to_owned()))
}
