//! Release builds of the programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

/// Cargo's profile of released programs.
const PROFILE: &str = "packaged";

/// Builds a program from the sources; returns its path.
///
/// # Errors
/// If it does not build.
pub fn build(root: &Path, package: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--profile", PROFILE, "--quiet", "--package", package])
        .current_dir(root)
        .status()?;
    ensure!(built.success(), "{package} does not build");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join(PROFILE).join(package))
}

/// Path of the given program, or of one that is built.
///
/// # Errors
/// If it does not build.
pub fn given_or_built(given: Option<&Path>, root: &Path, package: &str) -> Result<PathBuf> {
    given.map_or_else(|| build(root, package), |given| Ok(given.to_owned()))
}
