//! Program under test, and a medium that it has attached.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};

use super::SEED;

/// Path of the built program.
pub struct Program(PathBuf);

impl Program {
    /// Builds `flashmark` with cargo's dev profile.
    pub fn build(root: &Path) -> Result<Program> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--package", "flashmark"])
            .current_dir(root)
            .status()?;
        ensure!(built.success(), "the build failed");
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        Ok(Program(target.join("debug/flashmark")))
    }

    /// Program at this path, or else one that is built.
    pub fn given(root: &Path, path: Option<&Path>) -> Result<Program> {
        let Some(path) = path else { return Program::build(root) };
        ensure!(path.is_file(), "{} is no file", path.display());
        Ok(Program(std::path::absolute(path)?))
    }

    /// Path as an argument.
    pub fn word(&self) -> &str {
        self.0.to_str().unwrap_or("flashmark")
    }
}

/// A fresh medium; detached when dropped.
pub struct Medium<'a> {
    program: &'a Program,
    /// Its device node, for example "/dev/loop0".
    pub node: String,
}

impl Medium<'_> {
    /// Attaches a medium: a built-in profile by its name, another by its file.
    pub fn attach<'a>(program: &'a Program, profile: &str) -> Result<Medium<'a>> {
        Medium::with(program, profile, &[&format!("--seed={SEED}")])
    }

    /// Attaches a medium with other flags of `sim attach`.
    pub fn with<'a>(program: &'a Program, profile: &str, flags: &[&str]) -> Result<Medium<'a>> {
        let output = Command::new(&program.0)
            .args(["sim", "attach", profile, "--background"])
            .args(flags)
            .stdin(Stdio::null())
            .output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(Medium { program, node: String::from_utf8(output.stdout)?.trim().to_owned() })
    }
}

impl Drop for Medium<'_> {
    fn drop(&mut self) {
        let detached = Command::new(&self.program.0)
            .args(["sim", "detach", &self.node])
            .stdin(Stdio::null())
            .output();
        if !detached.is_ok_and(|output| output.status.success()) {
            eprintln!("{} could not be detached; try `flashmark sim detach --all`", self.node);
        }
    }
}

/// Runs a tool with real-time priority, so that a busy machine does not change its figures; returns
/// its output.
///
/// flashbench needs a standard input that it can write to, so every tool gets one.
pub fn tool(words: &[&str]) -> Result<String> {
    let nothing = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    let output: Output = Command::new("chrt")
        .args(["--fifo", "5"])
        .args(words)
        .stdin(nothing)
        .output()
        .context("chrt does not start; install it (apt install util-linux)")?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    // f3probe's exit code is its result, not its success; so is 1 of flashmark, which runs in an
    // environment of its own.
    let found = words[0] == "f3probe" || (words[0] == "env" && output.status.code() == Some(1));
    ensure!(
        output.status.success() || found,
        "{}: {}{stdout}",
        words.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(stdout)
}
