//! Programs as they are released.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

/// Cargo's profile of what is released.
const PROFILE: &str = "packaged";

/// Builds a program from the sources; says where it is.
///
/// # Errors
/// Where it does not build.
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

/// The program that was given, or one that is built.
///
/// # Errors
/// Where it does not build.
pub fn given_or_built(given: Option<&Path>, root: &Path, package: &str) -> Result<PathBuf> {
    given.map_or_else(|| build(root, package), |given| Ok(given.to_owned()))
}
