//! Exit codes, on which scripts rely: those that need more than a command.
//! `cases/exit-codes.trycmd` has the others.

use std::fs;
use std::process::Command;

use rustix::io::Errno;

use crate::failing::{Answer, FailingMedium};
use crate::support::{Flashmark, Ran, Scratch, has_root};

/// Done, refused, I/O error.
const DONE: i32 = 0;
const REFUSED: i32 = 3;
const IO: i32 = 4;

#[test]
fn a_failing_medium_is_an_io_error_for_a_replay() {
    let scratch = Scratch::new();
    let Some(medium) =
        FailingMedium::mounted(&scratch.directory("mnt"), "fuse.flashmark-it", 16 << 20)
    else {
        return;
    };
    medium.answers(Answer::Error(Errno::IO));
    let file = medium.file();
    let target = file.to_str().unwrap();
    let iolog = scratch.file(
        "trace.iolog",
        "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda read 0 4096\n/dev/sda close\n",
    );
    let replay = Flashmark::new().run(&format!(
        "replay {} {} --speed max --quiet",
        iolog.to_str().unwrap(),
        target
    ));
    assert_eq!(replay.code, Some(IO), "{replay}");
}

/// Every command that a page shows to its reader can be planned; nothing is measured. The target is
/// a directory, in which writes need no consent, so that every setting is checked.
#[test]
fn every_command_beside_a_published_figure_exists() {
    let scratch = Scratch::new();
    let file = scratch.path().join("medium.img");
    fs::File::create(&file).unwrap().set_len(2 << 30).unwrap();
    let (file, directory) = (file.to_str().unwrap(), scratch.path().to_str().unwrap());
    let flashmark = Flashmark::new();
    let mut commands = std::collections::BTreeSet::new();
    let runs = report::reference::runs();
    for cell in runs.iter().flat_map(|run| &run.cells) {
        commands.extend(record::quantities(cell).into_iter().map(|(column, _)| column.command));
        commands.extend(record::nearest_command(cell).map(str::to_owned));
    }
    assert!(commands.len() > 50, "{commands:?}");
    for command in &commands {
        // Watching has no end: only its words are read.
        let plan = if command.starts_with("watch") { "--help" } else { "--plan" };
        let target = if command.starts_with("matrix") { file } else { directory };
        let words: Vec<&str> = command
            .split(' ')
            .map(|word| if word == "TARGET" { target } else { word })
            .chain([plan])
            .collect();
        let ran = flashmark.run(&words);
        let needs_a_device = ran.err.contains("needs a raw medium");
        assert!(ran.code == Some(DONE) || needs_a_device, "{command}: {ran}");
    }
}

/// Without /proc the mounts are not known: `list` called every disk free, and `check` ended with
/// the code of a failed medium.
#[test]
fn without_the_table_of_mounts_nothing_is_touched() {
    if !has_root() {
        return;
    }
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let program = assert_cmd::cargo::cargo_bin!("flashmark").to_str().unwrap();
    for words in [vec!["list"], vec!["check", scratch.word(), "--budget", "5s"]] {
        let mut command = Command::new("unshare");
        let script = r#"mount -t tmpfs none /proc && exec "$0" "$@""#;
        command.args(["--mount", "bash", "-c", script, program]).args(&words);
        let ran = Ran::of(command.env("FLASHMARK_HOME", flashmark.home()));
        assert_eq!(ran.code, Some(REFUSED), "{words:?}: {ran}");
        assert!(ran.err.contains("mount -t proc proc /proc"), "{words:?}: {ran}");
        assert!(!ran.out.contains("free"), "{words:?}: {ran}");
    }
}
