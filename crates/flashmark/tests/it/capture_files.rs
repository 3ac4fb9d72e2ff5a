//! `capture --files`: the file operations of real programs are in the trace once, and are repeated
//! once on every file system.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use workloads::trace::files::{FileTrace, FileTraceSurvey};

use crate::capture::{Capture, Tracefs};
use crate::support::{
    EXT4, Flashmark, LoopDevice, Mount, Ran, Scratch, as_nobody, has_root, has_tool, mounted,
    skipped, tool,
};

const FILES: u64 = 40;

fn counts(trace: &Path) -> BTreeMap<&'static str, u64> {
    let trace = FileTrace::open(trace).unwrap();
    let survey = FileTraceSurvey::of(&trace).unwrap();
    assert_eq!((survey.end.lost, survey.end.unattributed), (0, 0));
    survey.counts
}

/// Does work in a directory on a loop device while it is recorded; returns the number of each
/// operation.
fn recorded(work: impl Fn(&Path)) -> Option<(Scratch, Flashmark, BTreeMap<&'static str, u64>)> {
    let (_place, _image, _device, mount): (Scratch, _, LoopDevice, Mount) =
        mounted(64 << 20, EXT4, &[])?;
    let scratch = Scratch::new();
    let tracefs = Tracefs::new(&scratch)?;
    let flashmark = Flashmark::new();
    let capture = Capture::of_files(&flashmark, &tracefs, &scratch, mount.path());
    let id = capture.child.id();
    // An opening elsewhere that goes on all the time, as nobody writes to this pipe.
    let pipe = scratch.at("pipe");
    tool("mkfifo", &[pipe.to_str().unwrap()]);
    let mut opener = Command::new("cat").arg(&pipe).spawn().unwrap();
    work(mount.path());
    let ran = capture.stop();
    opener.kill().unwrap();
    opener.wait().unwrap();
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(!tracefs.instances_of(id), "the instance is left behind");
    let counts = counts(&scratch.at("trace"));
    Some((scratch, flashmark, counts))
}

/// Replays a trace on two file systems; each does every operation once.
fn replayed(scratch: &Scratch, flashmark: &Flashmark, counts: &BTreeMap<&'static str, u64>) {
    let work = format!("files:{}", scratch.at("trace").display());
    let directory = scratch.directory("target");
    let words = ["--scheduler", "none", "--repeats", "1", "--most-repeats", "1", "--work", &work];
    let target = ["matrix", directory.to_str().unwrap(), "--fs", "ext4,xfs"];
    flashmark.done(&[&target[..], &words].concat());
    let record = flashmark.record();
    for filesystem in ["ext4", "xfs"] {
        let cells = record.cells.iter().filter(|cell| cell.labels["filesystem"] == filesystem);
        let done = cells.map(|cell| {
            let form = cell.params.form.as_deref();
            (form.unwrap_or_else(|| panic!("{filesystem} failed: {cell:?}")), cell.ops)
        });
        let done: BTreeMap<&str, u64> = done.collect();
        let mut wanted: BTreeMap<&str, u64> = counts.iter().map(|(name, n)| (*name, *n)).collect();
        wanted.insert("all", counts.values().sum());
        assert_eq!(done, wanted, "{filesystem}");
    }
}

/// Unpacks a tree and removes it.
fn untar(archive: &Path, directory: &Path) {
    let tree = directory.join("tree");
    fs::create_dir(&tree).unwrap();
    tool("tar", &["xf", archive.to_str().unwrap(), "-C", tree.to_str().unwrap()]);
    tool("rm", &["-r", tree.to_str().unwrap()]);
}

#[test]
fn a_tree_that_is_unpacked_and_removed_is_done_again_one_to_one() {
    let source = Scratch::new();
    for number in 0..FILES {
        let folder = source.path().join(format!("source/{}", number % 4));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(number.to_string()), vec![7; 1000]).unwrap();
    }
    let archive = source.at("archive");
    tool("tar", &["cf", archive.to_str().unwrap(), "-C", source.word(), "source"]);
    let Some((scratch, flashmark, counts)) = recorded(|at| untar(&archive, at)) else { return };
    let of = |name: &str| counts.get(name).copied().unwrap_or(0);
    assert_eq!([of("unlink"), of("mkdir"), of("rmdir")], [FILES, 6, 6]);
    // One file lies across two of tar's records.
    assert!((FILES..FILES + 6).contains(&of("write")), "{counts:?}");
    assert!(of("open") >= FILES && of("open") == of("close"), "{counts:?}");
    replayed(&scratch, &flashmark, &counts);
}

#[test]
fn databases_are_done_again_one_to_one() {
    if !has_tool("sqlite3") || Command::new("rrdtool").output().is_err() {
        return skipped("needs sqlite3 and rrdtool");
    }
    let ran = recorded(|at| {
        let place = |name: &str| at.join(name).to_str().unwrap().to_owned();
        let database = place("a.db");
        tool("sqlite3", &[&database, "create table t(x)"]);
        for _ in 0..3 {
            tool("sqlite3", &[&database, "insert into t values(1); insert into t values(2)"]);
        }
        let rrd = place("a.rrd");
        let shape = ["--start", "1000000000", "DS:x:GAUGE:600:U:U", "RRA:AVERAGE:0.5:1:600"];
        tool("rrdtool", &[&["create", &rrd], &shape[..]].concat());
        // A page that waits to be written is not changed once more.
        tool("sync", &[]);
        tool("rrdtool", &["update", &rrd, "1000000300:1"]);
    });
    let Some((scratch, flashmark, counts)) = ran else { return };
    // A journal comes and goes with each of seven transactions.
    let of = |name: &str| counts.get(name).copied().unwrap_or(0);
    assert_eq!((of("unlink"), of("rename")), (7, 1), "{counts:?}");
    assert!(of("fdatasync") + of("fsync") >= 21, "{counts:?}");
    assert!(of("store") >= 1, "rrdtool changes its file in memory: {counts:?}");
    replayed(&scratch, &flashmark, &counts);
}

#[test]
fn a_directory_that_goes_meanwhile_ends_nothing() {
    let Some((_place, _image, _device, mount)) = mounted(64 << 20, EXT4, &[]) else { return };
    let scratch = Scratch::new();
    let Some(tracefs) = Tracefs::new(&scratch) else { return };
    let directory = mount.path().join("goes");
    fs::create_dir(&directory).unwrap();
    let capture = Capture::of_files(&Flashmark::new(), &tracefs, &scratch, &directory);
    fs::write(directory.join("file"), "text").unwrap();
    fs::remove_dir_all(&directory).unwrap();
    let ran = capture.stop();
    assert_eq!(ran.code, Some(0), "{ran}");
    let trace = FileTrace::open(&scratch.at("trace")).unwrap();
    assert_eq!(FileTraceSurvey::of(&trace).unwrap().counts["write"], 1);
}

#[test]
fn what_a_killed_capture_left_is_done_again() {
    let scratch = Scratch::new();
    let trace = cut_trace(&scratch);
    let ran = Flashmark::new().run(&[
        "matrix",
        scratch.word(),
        "--plan",
        "--fs",
        "ext4",
        "--work",
        &trace,
    ]);
    assert_eq!(ran.code, Some(0), "{ran}");
    let note = format!(
        "note: {trace}: it has no end, as its recorder was killed or the file was cut; the 1 operations in it are done\n"
    );
    assert!(ran.err.contains(&note), "{ran}");
}

/// A trace that is cut off in its second operation.
fn cut_trace(scratch: &Scratch) -> String {
    let text = "{\"flashmark_file_trace\":1}\n{\"at_ns\":0,\"took_ns\":1,\"thread\":1,\"op\":\"mkdir\",\"path\":\"a\"}\n{\"at_ns\":";
    format!("files:{}", scratch.file("cut", text).display())
}

#[test]
fn without_rights_or_a_directory_it_is_refused() {
    let nowhere = Flashmark::new().run(&["capture", "--files", "/no/such", "-o", "/nowhere"]);
    assert_eq!(nowhere.transcript(&[]), "exit 2\nflashmark: /no/such: this is no directory\n");
    if has_root() {
        let (ran, _) = as_nobody(&["capture", "--files", "/tmp", "-o", "/nowhere"]);
        assert_eq!(
            ran.transcript(&[]),
            "exit 3\nflashmark: recording needs root: the kernel shows the I/O of all users; run it with sudo\n"
        );
    }
}

#[test]
fn a_long_trace_is_never_in_memory_as_a_whole() {
    let scratch = Scratch::new();
    let mut text = String::from("{\"flashmark_file_trace\":1}\n");
    let operations = 200_000;
    for number in 0..operations {
        let what = match number {
            0 => r#""op":"open","path":"a","flags":"write+create","new":true"#.to_owned(),
            _ => format!(r#""op":"write","offset":{},"bytes":4096"#, number % 1000 * 4096),
        };
        text += &format!("{{\"at_ns\":{number},\"took_ns\":1,\"thread\":1,\"file\":1,{what}}}\n");
    }
    text += &format!("{{\"end\":{{\"operations\":{operations}}}}}\n");
    let trace = scratch.file("long", &text);
    let plan = r#"exec "$0" matrix . --plan --fs ext4 --scheduler none --work "$1""#;
    // The data segment, in KiB: the trace alone has 19 MiB as text.
    let limited = format!("ulimit -d {}; {plan}", 24 << 10);
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).arg(Flashmark::new().command(&[]).get_program());
    shell.arg(format!("files:{}", trace.display())).current_dir(scratch.path());
    let ran = Ran::of(&mut shell);
    assert_eq!(ran.code, Some(0), "{ran}");
}

/// A program that opens a file waits for the recorder: stopped by Ctrl-Z, the recorder would have
/// stopped the machine.
#[test]
fn the_stop_key_does_not_hold_those_who_open_files() {
    let Some((_place, _image, _device, mount)) = mounted(64 << 20, EXT4, &[]) else { return };
    let scratch = Scratch::new();
    let Some(tracefs) = Tracefs::new(&scratch) else { return };
    let flashmark = Flashmark::new();
    let capture = Capture::of_files(&flashmark, &tracefs, &scratch, mount.path());
    tool("kill", &["-TSTP", &capture.child.id().to_string()]);
    tool("timeout", &["300", "ls", mount.path().to_str().unwrap()]);
    let ran = capture.stop();
    assert_eq!(ran.code, Some(0), "{ran}");
}
