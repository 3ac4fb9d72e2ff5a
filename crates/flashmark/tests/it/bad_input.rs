//! Words and files that cannot be understood, each with its message; nothing is kept.

use std::fs;

use crate::support::{Flashmark, Scratch};

#[test]
fn a_program_that_is_missing_is_named_with_its_installation() {
    let scratch = Scratch::new();
    let program = crate::support::program();
    crate::support::tool("cp", &[program.to_str().unwrap(), scratch.word()]);
    for (words, command, package) in [
        (&["matrix", "."][..], "matrix", "flashmark-lab"),
        (&["help", "matrix"], "matrix", "flashmark-lab"),
        (&["publish", "site"], "publish", "flashmark-collection"),
    ] {
        let mut alone = std::process::Command::new(scratch.at("flashmark"));
        let ran = crate::support::Ran::of(alone.args(words).env("PATH", "/nowhere"));
        let said = format!("`{command}` is a command of {package}, which is not here; install");
        assert!(ran.code == Some(2) && ran.err.contains(&said), "{words:?}: {ran}");
    }
}

#[test]
fn a_name_that_is_not_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let place = scratch.path().join(OsStr::from_bytes(b"m\xff"));
    fs::create_dir(&place).unwrap();
    let ran = crate::support::Ran::of(flashmark.command(&["check"]).arg(&place));
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.err.contains("is not UTF-8; rename it, or cd into it and type '.'"), "{ran}");
    let words = ["check", ".", "--budget", "5s", "--quiet"];
    let ran = crate::support::Ran::of(flashmark.command(&words).current_dir(&place));
    assert_eq!(ran.code, Some(0), "{ran}");
}

#[test]
fn a_store_that_cannot_be() {
    let scratch = Scratch::new();
    let file = scratch.file("file", "");
    let mut run = Flashmark::new().command(&["run", "sim:a1", "--only", "prime", "--quiet"]);
    let ran = crate::support::Ran::of(run.env("FLASHMARK_HOME", &file));
    assert!(ran.code == Some(5) && ran.err.contains("/file' is not a directory"), "{ran}");
}
