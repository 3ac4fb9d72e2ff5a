//! Program under test, and a medium that it has attached.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use record::Record;

use crate::programs::{output, output_if};
use crate::released;

/// Seed of every random choice.
pub const SEED: u64 = 1;

/// Path of the built program.
pub struct Program(PathBuf);

impl Program {
    /// Builds `flashmark` with cargo's dev profile.
    pub fn build(root: &Path) -> Result<Program> {
        Ok(Program(released::build_with("dev", root, "flashmark")?))
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
        let mut attach = Command::new(&program.0);
        attach.args(["attach", profile, "--background", &format!("--seed={SEED}")]);
        let node = output(attach.stdin(Stdio::null()))?.trim().to_owned();
        Ok(Medium { program, node })
    }

    /// Target of a run that may overwrite the medium.
    pub fn target(&self) -> [&str; 4] {
        [&self.node, "--erase", &self.node, "--yes"]
    }
}

impl Drop for Medium<'_> {
    fn drop(&mut self) {
        let mut detach = Command::new(&self.program.0);
        if output(detach.args(["detach", &self.node]).stdin(Stdio::null())).is_err() {
            eprintln!("{} could not be detached; try `flashmark detach --all`", self.node);
        }
    }
}

/// Command with real-time priority, so that a busy machine does not change its figures.
///
/// flashbench needs a standard input that it can write to, so every tool gets one.
pub fn with_priority(program: &str) -> Result<Command> {
    let mut command = Command::new("chrt");
    command.args(["--fifo", "5", program]);
    command.stdin(std::fs::File::options().read(true).write(true).open("/dev/null")?);
    Ok(command)
}

/// Runs a tool with real-time priority; returns its output.
pub fn tool(words: &[&str]) -> Result<String> {
    // f3probe's exit code is its result, not its success.
    output_if(with_priority(words[0])?.args(&words[1..]), |_| words[0] == "f3probe")
}

/// Completes the command of the program with these arguments of `run`; returns the record.
pub fn run(mut program: Command, home: &Path, words: &[&str], seed: u64) -> Result<Record> {
    program.arg("run").args(words).args(["--quiet", "--json=-", &format!("--seed={seed}")]);
    program.env("FLASHMARK_HOME", home);
    // 1 says that the medium failed a check, 4 that it failed: both leave a record.
    let json = output_if(&mut program, |code| matches!(code, 1 | 4))?;
    Record::from_json(&json).context("reading the record")
}
