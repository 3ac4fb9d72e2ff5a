//! Programs that hold a target, loop devices and mounts for the cases; all undone when dropped.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::super::support::{LoopDevice, Ran, Typed, left_everywhere};

/// True in a virtual machine in which modules may be loaded and everything must be there.
pub fn in_machine_made_for_it() -> bool {
    std::env::var("FLASHMARK_VM").is_ok_and(|value| value == "1")
}

/// Checks that the kernel has this driver, as `/proc/devices`, `/proc/misc` or `/proc/filesystems`
/// name it; tries to load its module if that is allowed.
pub fn driver(name: &str, module: &str) -> Result<(), String> {
    if in_machine_made_for_it() {
        let _ = Command::new("modprobe").arg(module).status();
    }
    let known = ["/proc/devices", "/proc/misc", "/proc/filesystems"]
        .map(|path| std::fs::read_to_string(path).unwrap_or_default());
    let has = known.iter().flat_map(|text| text.split_whitespace()).any(|word| word == name);
    if has { Ok(()) } else { Err(format!("this kernel has no {name}")) }
}

/// Runs a tool that should succeed; returns its output, or the reason why it cannot be used.
pub fn tried(program: &str, words: impl Typed) -> Result<String, String> {
    let output = Command::new(program)
        .args(words.words())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    let ran = Ran::from(output);
    if ran.code == Some(0) {
        Ok(ran.out.trim().to_owned())
    } else {
        Err(format!("{program}: {ran}"))
    }
}

/// A program that holds a target until it is dropped.
pub struct Holder {
    child: Child,
}

impl Holder {
    /// Starts it and waits until it prints "ready" on a line of its own.
    pub fn start(command: &mut Command) -> Result<Holder, String> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let mut holder = Holder { child };
        let mut line = String::new();
        let mut output = BufReader::new(holder.child.stdout.take().unwrap());
        while line.trim() != "ready" {
            line.clear();
            if output.read_line(&mut line).unwrap_or(0) == 0 {
                let mut stderr = String::new();
                let _ = std::io::Read::read_to_string(
                    &mut holder.child.stderr.take().unwrap(),
                    &mut stderr,
                );
                return Err(format!("{command:?}: {stderr}"));
            }
        }
        Ok(holder)
    }

    /// Runs lines of Python about a file, whose name is `path`.
    pub fn python(path: &Path, code: &str) -> Result<Holder, String> {
        Holder::start(python(code).arg(path))
    }

    /// Runs a script of the shell in a mount namespace of its own; its mounts are not seen outside.
    pub fn elsewhere(script: &str) -> Result<Holder, String> {
        let script = format!("set -e; {script}; echo ready; read line");
        let words = ["--mount", "--propagation", "private", "sh", "-c", &script];
        Holder::start(Command::new("unshare").args(words))
    }

    /// Name of the holder in a refusal: "(process 4242)".
    pub fn name(&self) -> String {
        format!("(process {})", self.child.id())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Command for Python that does this with `path`, its first argument, prints "ready" and stays
/// until its input ends.
pub fn python(code: &str) -> Command {
    let own = "/usr/bin/python3";
    let mut command = Command::new(if Path::new(own).exists() { own } else { "python3" });
    let head = "import sys,os,fcntl,mmap,struct,socket,threading,ctypes,time\npath=sys.argv[1]\n";
    command.args(["-c", &format!("{head}{code}\nprint('ready',flush=True)\nsys.stdin.read()\n")]);
    command
}

/// The node of a small partition of this number, the first or the second.
pub fn partition(device: &LoopDevice, number: u32) -> String {
    device.partition(number, u64::from(number) * 8 - 7, 7)
}

/// A loop device over this file, or the reason why it cannot be.
pub fn attached(file: impl AsRef<Path>, options: &[&str]) -> Result<LoopDevice, String> {
    let words = [&["--find", "--show"], options, &[file.as_ref().to_str().unwrap()]].concat();
    Ok(LoopDevice::known(&tried("losetup", &words)?))
}

/// Command that is run when this is dropped.
pub struct Undo(pub Vec<String>);

impl Undo {
    pub fn by(words: &[&str]) -> Undo {
        Undo(words.iter().map(|word| (*word).to_owned()).collect())
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        let words: Vec<&str> = self.0[1..].iter().map(String::as_str).collect();
        let _ = tried(&self.0[0], &words);
    }
}

/// Takes a mount out of sight; what is open on it stays.
pub fn unmount_by_name(at: &Path) -> Result<(), String> {
    tried("umount", &["--lazy", at.to_str().unwrap()])?;
    left_everywhere(at);
    Ok(())
}

/// Mounts something at a directory that exists.
pub fn mounted(words: &[&str], at: &Path) -> Result<Undo, String> {
    let at = at.to_str().unwrap();
    tried("mount", &[words, &[at]].concat())?;
    Ok(Undo::by(&["umount", at]))
}
