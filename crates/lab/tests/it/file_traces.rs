//! `matrix --work files:TRACE`: what strace writes of real programs is done once on every file
//! system.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use workloads::trace::files::{FileTrace, FileTraceSurvey, RECORDER};

use crate::support::{Flashmark, Ran, Scratch, has_root, has_tool, skipped};

/// The trace of a program of the shell's that works in the directory `on`.
fn strace(scratch: &Scratch, on: &Path, program: &str) -> Option<String> {
    if !has_tool("strace") {
        skipped("needs strace");
        return None;
    }
    let trace = scratch.at("trace").to_str().unwrap().to_owned();
    let words = RECORDER.replace("TRACE", &trace).replace(" PROGRAM", "");
    let mut words = words.split(' ');
    let mut strace = Command::new(words.next().unwrap());
    let ran = Ran::of(strace.args(words).args(["sh", "-ec", program]).current_dir(on));
    if ran.err.contains("PTRACE") {
        skipped("strace is not allowed");
        return None;
    }
    assert_eq!(ran.code, Some(0), "{ran}");
    Some(trace)
}

/// What a trace comes to, and how many operations there are of a name.
fn survey(trace: &str, below: &Path) -> (FileTraceSurvey, impl Fn(&str) -> u64 + use<>) {
    let trace = FileTrace::open(Path::new(trace), below.to_str().unwrap()).unwrap();
    let survey = FileTraceSurvey::of(&trace).unwrap();
    let counts = survey.counts.clone();
    (survey, move |name| counts.get(name).copied().unwrap_or(0))
}

/// Replays a trace on two file systems; each does every operation once.
fn replayed(trace: &str, below: &Path, counts: &BTreeMap<&'static str, u64>) {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    flashmark.done(&format!(
        "matrix {} --fs ext4,xfs --scheduler none --repeats 1 --most-repeats 1 \
         --work files:{trace} --set files:{trace}.below={}",
        scratch.word(),
        below.display()
    ));
    let record = flashmark.record();
    for filesystem in ["ext4", "xfs"] {
        let cells = record.cells.iter().filter(|cell| cell.label("filesystem") == filesystem);
        let form = |cell: &record::Cell| cell.params.form.clone().unwrap_or_default();
        let done: BTreeMap<String, u64> = cells.map(|cell| (form(cell), cell.ops)).collect();
        let all = [("all".to_owned(), counts.values().sum())];
        let each = counts.iter().map(|(name, count)| ((*name).to_owned(), *count));
        assert_eq!(done, each.chain(all).collect(), "{filesystem}: {record:?}");
    }
}

#[test]
fn programs_are_done_again_one_to_one() {
    let (scratch, on) = (Scratch::new(), Scratch::new());
    fs::create_dir(on.at("source")).unwrap();
    for number in 0..40 {
        fs::write(on.at("source").join(number.to_string()), vec![7; 1000]).unwrap();
    }
    let program = "tar cf archive source; mkdir tree; tar xf archive -C tree
        (cat archive; cat source/1) > both; cp both copy; echo end >> copy; ln copy link
        mv link other; ln -s other short; cat short > /dev/null; sync copy; rm -r tree archive";
    let Some(trace) = strace(&scratch, on.path(), program) else { return };
    let (survey, of) = survey(&trace, on.path());
    assert_eq!([of("unlink"), of("mkdir"), of("rmdir")], [41, 2, 2], "{:?}", survey.counts);
    assert_eq!([of("link"), of("rename"), of("symlink")], [1, 1, 1], "{:?}", survey.counts);
    assert_eq!((of("fsync"), of("open")), (1, of("close")), "{:?}", survey.counts);
    // What was there before is as long as it was read.
    let there = survey.before.values().flatten().filter(|bytes| **bytes == 1000);
    assert_eq!((survey.before.len(), there.count()), (41, 40), "{:?}", survey.before);
    assert_eq!((survey.end.unattributed, survey.end.mappings), (0, 0));
    if has_root() {
        replayed(&trace, on.path(), &survey.counts);
    }
}

#[test]
fn a_database_is_done_again_and_mappings_are_counted() {
    if !(has_tool("rrdtool") && has_tool("sqlite3")) {
        return skipped("needs rrdtool and sqlite3");
    }
    let (scratch, on) = (Scratch::new(), Scratch::new());
    let program = "sqlite3 a.db 'create table t(x)'
        for n in 1 2 3; do sqlite3 a.db \"insert into t values($n); insert into t values(9)\"; done
        rrdtool create a.rrd --start 1000000000 DS:x:GAUGE:600:U:U RRA:AVERAGE:0.5:1:600
        rrdtool update a.rrd 1000000300:1";
    let Some(trace) = strace(&scratch, on.path(), program) else { return };
    let (survey, of) = survey(&trace, on.path());
    // A journal comes and goes with each of seven transactions.
    assert_eq!(of("unlink"), 7, "{:?}", survey.counts);
    assert!(of("fdatasync") + of("fsync") >= 21, "{:?}", survey.counts);
    assert!(survey.end.mappings >= 1, "rrdtool changes its file in memory: {:?}", survey.end);
    if has_root() {
        replayed(&trace, on.path(), &survey.counts);
    }
}

#[test]
fn a_long_trace_is_never_in_memory_as_a_whole() {
    let scratch = Scratch::new();
    let mut text =
        String::from("7 1.000000 openat(AT_FDCWD</a>, \"f\", O_RDWR|O_CREAT, 0666) = 3</a/f>\n");
    for number in 1..200_000 {
        let offset = number % 1000 * 4096;
        text += &format!("7 1.{number:06} pwrite64(3</a/f>, \"\"..., 4096, {offset}) = 4096\n");
    }
    let trace = scratch.file("long", &text);
    let plan = r#"exec "$0" matrix . --plan --fs ext4 --scheduler none --work "$1""#;
    // The data segment, in KiB: the operations alone would have 19 MiB.
    let limited = format!("ulimit -d {}; {plan}", 24 << 10);
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).arg(Flashmark::new().command(&[]).get_program());
    shell.arg(format!("files:{}", trace.display())).current_dir(scratch.path());
    let ran = Ran::of(&mut shell);
    assert_eq!(ran.code, Some(0), "{ran}");
}
