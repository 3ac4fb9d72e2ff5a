//! The programs of the workspace, for tests of one that needs the other.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// A program of the package of that name. It lies beside `program`, or is built there.
pub fn sibling(program: &Path, package: &str) -> PathBuf {
    static BUILT: Mutex<()> = Mutex::new(());
    let _one = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let profile_dir = program.parent().expect("a program lies in a directory");
    let wanted = profile_dir.join(package);
    if !wanted.is_file() {
        let mut command = Command::new(env!("CARGO"));
        command
            .args(["build", "--locked", "--quiet", "-p", package])
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile_dir.ends_with("release") {
            command.arg("--release");
        }
        assert!(command.status().expect("cargo starts").success(), "{command:?}");
    }
    wanted
}
