//! Contents of a medium: they are shown before it is erased, and erasing it is confirmed.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::io::Errno;

use crate::failing::{Answer, FailingMedium};
use crate::support::{
    Flashmark, LoopDevice, MIB, Ran, Scratch, as_nobody, has_root, has_tool, sum, tool,
};

/// Flags of a short run that writes the front of a medium.
const PRIME: [&str; 6] = ["--only", "prime", "--set", "prime.span=1MiB", "--time-limit", "5s"];

/// A loop device over a new image with an ext4 labelled MYPHOTOS on all of it.
fn photos(scratch: &Scratch) -> (PathBuf, LoopDevice) {
    let image = scratch.image("image", 32 * MIB);
    tool("mkfs.ext4", &["-q", "-F", "-L", "MYPHOTOS", image.to_str().unwrap()]);
    let device = LoopDevice::new(&image);
    (image, device)
}

/// Entry of a device in `list --json`.
fn listed(device: &LoopDevice) -> serde_json::Value {
    let all: serde_json::Value =
        serde_json::from_str(&Flashmark::new().done(&["list", "--json"]).out).unwrap();
    all.as_array().unwrap().iter().find(|disk| disk["path"] == device.word()).unwrap().clone()
}

/// Entry of a device in `list`, without its sizes and its node.
fn listed_as_text(device: &LoopDevice) -> String {
    let all = Flashmark::new().done(&["list"]).out;
    let from = all
        .lines()
        .skip_while(|line| line.split_whitespace().next() != Some(device.word()))
        .skip(1);
    let lines = from.take_while(|line| line.starts_with(' ')).map(str::trim);
    lines.collect::<Vec<_>>().join("\n").replace(device.name(), "loopX")
}

#[test]
fn the_list_shows_contents_and_that_erasing_is_not_safe() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let (_image, device) = photos(&scratch);
    let disk = listed(&device);
    assert_eq!(
        (&disk["contents"][0]["kind"], &disk["contents"][0]["label"]),
        (&"ext4".into(), &"MYPHOTOS".into()),
        "{disk}"
    );
    assert_eq!(
        (&disk["safe_to_erase"], &disk["why"]),
        (&false.into(), &"it holds ext4 'MYPHOTOS'".into()),
        "{disk}"
    );
    insta::assert_snapshot!(listed_as_text(&device), @r"
    holds ext4 'MYPHOTOS', 32 MiB, never mounted
    free; reading is safe; what it holds would be lost by --erase;
    its name: /dev/loopX
    ");
    tool("wipefs", &["--all", "--quiet", device.word()]);
    let disk = listed(&device);
    assert_eq!(
        (&disk["safe_to_erase"], &disk["why"], &disk["contents"]),
        (&true.into(), &"it is free and empty".into(), &serde_json::json!([]))
    );
    insta::assert_snapshot!(listed_as_text(&device), @"
    holds nothing that is recognised; data without a signature would
    not be
    free; reading is safe, --erase /dev/loopX allows it to be
    overwritten
    ");
}

fn write_at(path: &Path, offset: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt;
    fs::OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, offset).unwrap();
}

/// A run, a matrix and a replay that overwrite a device.
fn erasing(scratch: &Scratch, device: &LoopDevice) -> [String; 3] {
    let lines = ["fio version 3 iolog", "0 x add", "0 x open", "1 x write 0 4096", "2 x close\n"];
    let trace = scratch.file("trace.iolog", lines.join("\n"));
    let (node, trace) = (device.word(), trace.display());
    let words = [
        format!("run {node} --only prime"),
        format!("matrix {node} --fs ext4"),
        format!("replay {trace} {node}"),
    ];
    words.map(|words| format!("{words} --erase {node}"))
}

#[test]
fn a_plan_lists_what_would_be_erased() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let (image, device) = photos(&scratch);
    let before = sum(&image);
    for words in erasing(&scratch, &device) {
        let ran = Flashmark::new().done(&format!("{words} --plan"));
        let expected = "Would be erased:\n  ext4 'MYPHOTOS', 32 MiB, never mounted\n";
        assert!(ran.out.contains(expected), "{ran}");
        assert!(ran.out.contains("--yes"), "{ran}");
    }
    assert_eq!(sum(&image), before);
}

#[test]
fn in_a_script_a_medium_that_holds_something_needs_yes() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let (image, device) = photos(&scratch);
    let before = sum(&image);
    let flashmark = Flashmark::new();
    let words = [&["run", device.word(), "--erase", device.word()], &PRIME[..]].concat();
    insta::assert_snapshot!(flashmark.run(&words).transcript(&[(device.name(), "loopX")]), @"
    exit 3
    flashmark: /dev/loopX is not empty: it holds ext4 'MYPHOTOS', 32 MiB, never mounted; if all that may be overwritten, say --erase /dev/loopX --yes; nothing was written
    ");
    for words in erasing(&scratch, &device) {
        let ran = flashmark.run(&words);
        assert!(ran.code == Some(3) && ran.err.contains("it holds ext4 'MYPHOTOS'"), "{ran}");
    }
    assert!(flashmark.runs().is_empty());
    assert_eq!(sum(&image), before);

    let ran = flashmark.run(&[&words[..], &["--yes"]].concat());
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.err.contains("ext4 'MYPHOTOS'"), "the run says what was on it: {ran}");
    assert_ne!(sum(&image), before);
    let journal = fs::read_to_string(flashmark.run_dir().join("journal.jsonl")).unwrap();
    assert!(
        journal.lines().next().unwrap().contains(r#""confirmed":true"#),
        "resume need not ask again"
    );
}

#[test]
fn an_empty_medium_and_one_with_data_of_an_earlier_run_need_only_their_name() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let device = LoopDevice::new(&scratch.image("image", 32 * MIB));
    for _ in 0..2 {
        Flashmark::new().done(
            &[&["run", device.word(), "--erase", device.word(), "--quiet"], &PRIME[..]].concat(),
        );
    }
}

#[test]
fn a_file_with_a_signature_needs_yes_and_another_only_its_path() {
    let scratch = Scratch::new();
    let plain = scratch.image("plain", 4 * MIB);
    let qcow = scratch.image("disk.qcow2", 4 * MIB);
    write_at(&qcow, 0, b"QFI\xfb\0\0\0\x03");
    let ext4 = scratch.image("disk.raw", 4 * MIB);
    tool("mkfs.ext4", &["-q", "-F", "-L", "VM", ext4.to_str().unwrap()]);
    let run = |path: &Path, more: &[&str]| {
        let word = path.to_str().unwrap();
        Flashmark::new()
            .run(&[&["run", word, "--erase", word, "--quiet"], &PRIME[..], more].concat())
            .transcript(&[(scratch.word(), "SCRATCH")])
    };
    assert!(run(&plain, &[]).starts_with("exit 0"));
    let before = (sum(&qcow), sum(&ext4));
    insta::assert_snapshot!(run(&qcow, &[]), @"
    exit 3
    flashmark: SCRATCH/disk.qcow2 is not empty: it holds qcow2, 4 MiB; if all that may be overwritten, say --erase SCRATCH/disk.qcow2 --yes; nothing was written
    ");
    assert!(run(&ext4, &[]).contains("it holds ext4 'VM'"));
    assert_eq!((sum(&qcow), sum(&ext4)), before);
    assert!(run(&ext4, &["--yes"]).starts_with("exit 0"));
}

#[test]
fn unreadable_contents_are_unknown_and_not_safe_to_erase() {
    let scratch = Scratch::new();
    let Some(medium) =
        FailingMedium::mounted(&scratch.directory("mnt"), "fuse.flashmark-it", 16 << 20)
    else {
        return;
    };
    let device = LoopDevice::new(&medium.file());
    medium.answers(Answer::Error(Errno::IO));
    let disk = listed(&device);
    medium.answers(Answer::Well);
    assert_eq!(disk["safe_to_erase"], false, "{disk}");
    assert!(disk["why"].as_str().unwrap().starts_with("what it holds cannot be told: "), "{disk}");
}

#[test]
fn without_rights_nothing_is_called_empty() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let device = LoopDevice::new(&scratch.image("image", 16 * MIB));
    let (ran, _) = as_nobody(&["list", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let disk = all.as_array().unwrap().iter().find(|disk| disk["path"] == device.word()).unwrap();
    assert_eq!(disk["safe_to_erase"], false, "{disk}");
    assert!(disk["why"].as_str().unwrap().contains("no right to read it"), "{disk}");
}

/// Runs the program on a terminal of its own: `early` is typed at once, and `typed` when it asks;
/// with `None` the terminal is closed then.
fn on_a_terminal(flashmark: &Flashmark, words: &[&str], early: &str, typed: Option<&str>) -> Ran {
    while_asked(flashmark, words, early, typed, || ())
}

/// The same; what `hold` returns is held from the question to the end.
fn while_asked<T>(
    flashmark: &Flashmark,
    words: &[&str],
    early: &str,
    typed: Option<&str>,
    hold: impl FnOnce() -> T,
) -> Ran {
    let program = flashmark.command(&[]);
    let line = format!("{} {}", program.get_program().to_str().unwrap(), words.join(" "));
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]).env("FLASHMARK_HOME", flashmark.home());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    keys.write_all(early.as_bytes()).unwrap();
    let mut shown = Vec::new();
    let mut byte = [0];
    while !shown.ends_with(b"leave it as it is: ") {
        assert_eq!(
            screen.read(&mut byte).unwrap(),
            1,
            "it did not ask: {}",
            String::from_utf8_lossy(&shown)
        );
        shown.extend(byte);
    }
    let _held = hold();
    match typed {
        Some(typed) => keys.write_all(typed.as_bytes()).unwrap(),
        None => drop(keys),
    }
    screen.read_to_end(&mut shown).unwrap();
    Ran {
        code: child.wait().unwrap().code(),
        out: String::from_utf8(shown).unwrap(),
        err: String::new(),
    }
}

#[test]
fn on_a_terminal_the_word_is_asked_for_after_what_lies_there_has_been_shown() {
    if !has_root() || !has_tool("script") {
        return;
    }
    let scratch = Scratch::new();
    let (image, device) = photos(&scratch);
    let before = sum(&image);
    let words = [&["run", device.word(), "--erase", device.word()], &PRIME[..]].concat();
    let typed = |early: &str, typed: Option<&str>| {
        let flashmark = Flashmark::new();
        let ran = on_a_terminal(&flashmark, &words, early, typed);
        let shown = ran.out.find("ext4 'MYPHOTOS', 32 MiB").unwrap_or_else(|| panic!("{ran}"));
        assert!(ran.out.find("Type the word erase").unwrap() > shown, "{ran}");
        (ran, flashmark.runs().len())
    };
    // a wrong word, another case, Enter alone, Ctrl-D, and a terminal that is closed
    for wrong in [Some("yes\n"), Some("ERASE\n"), Some("\n"), Some("\u{4}"), None] {
        let (ran, runs) = typed("", wrong);
        assert_eq!((ran.code, runs, sum(&image)), (Some(3), 0, before), "{wrong:?}: {ran}");
        assert!(ran.out.contains("nothing was written"), "{ran}");
    }
    // Another program begins to write while the question is read.
    let flashmark = Flashmark::new();
    let writes = || fs::OpenOptions::new().write(true).open(device.word()).unwrap();
    let ran = while_asked(&flashmark, &words, "", Some("erase\n"), writes);
    assert_eq!((ran.code, flashmark.runs().len(), sum(&image)), (Some(3), 0, before), "{ran}");
    // Ctrl-C instead of an answer
    let (ran, runs) = typed("", Some("\u{3}"));
    assert_eq!((ran.code, runs, sum(&image)), (Some(130), 0, before), "{ran}");
    // the word before anything was shown is no answer
    let (ran, runs) = typed("erase\n", Some("\n"));
    assert!(
        ran.out.find("erase\r\n") < ran.out.find(" holds:"),
        "it was typed too late to show anything: {ran}"
    );
    assert_eq!((ran.code, runs, sum(&image)), (Some(3), 0, before), "{ran}");
    let (ran, runs) = typed("", Some("erase\n"));
    assert_eq!((ran.code, runs), (Some(0), 1), "{ran}");
    assert_ne!(sum(&image), before);
}

#[test]
fn a_partition_is_given_away_by_its_own_name_and_never_gives_away_its_disk() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let image = scratch.image("image", 64 * MIB);
    let device = LoopDevice::new(&image);
    let [first, second] = [device.partition(1, 1, 30), device.partition(2, 33, 30)];
    let run = |target: &str, erase: &str| {
        Flashmark::new().run(&[&["run", target, "--erase", erase, "--quiet"], &PRIME[..]].concat())
    };
    let before = sum(&image);
    for (target, erase) in [(device.word(), second.as_str()), (&first, &second)] {
        let ran = run(target, erase);
        assert!(ran.code == Some(3) && ran.err.contains("does not name"), "{ran}");
    }
    assert_eq!(sum(&image), before);
    for erase in [second.as_str(), device.word()] {
        let ran = run(&second, erase);
        assert_eq!(ran.code, Some(0), "{erase}: {ran}");
    }
    let flashmark = Flashmark::new();
    let words = ["--only", "sequential-read", "--quiet", "--time-limit", "1s"];
    flashmark.done(&[&["run", &second], &words[..]].concat());
    assert_eq!(flashmark.record().medium.capacity_bytes, Some(30 * MIB));
}

#[test]
fn names_are_shown_without_their_escape_sequences() {
    let scratch = Scratch::new();
    let folder = scratch.directory("a\u{1b}[2J\u{202e}b");
    let word = folder.to_str().unwrap();
    let file = scratch.image("a\u{1b}[31m\u{9b}2Jb", 4 * MIB);
    let file = file.to_str().unwrap();
    let trace = scratch.file(
        "t\u{1b}]0;x\u{7}.iolog",
        "fio version 3 iolog\n0 /dev/x add\n0 /dev/x open\n1 /dev/x read 0 4096\n2 /dev/x close\n",
    );
    let trace = trace.to_str().unwrap();
    let ways: [&[&str]; 7] = [
        &["run", word, "--plan"],
        &["run", word, "--only", "sequential-read", "--time-limit", "1s"],
        &["run", file, "--plan"],
        &["run", file, "--erase", word, "--plan"],
        &["matrix", word, "--fs", "ext4", "--plan"],
        &["replay", trace, file, "--plan"],
        &["replay", trace, file],
    ];
    for way in ways {
        let ran = Flashmark::new().run(way);
        let all = format!("{}{}", ran.out, ran.err);
        let harmful = all.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(harmful, None, "{way:?}: {all:?}");
    }
}
