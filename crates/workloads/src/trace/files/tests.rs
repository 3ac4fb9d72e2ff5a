use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::cases::{self, Case};

const CASES: &str = include_str!("cases.txt");

/// The calls of the first case: a database that was there, a journal that comes and goes, a file made
/// and moved; what is elsewhere, failed or not of a file lies between.
pub(crate) fn some_calls() -> String {
    let first = CASES.split("\n## ").nth(1).unwrap();
    let calls = first.lines().skip(1).take_while(|line| !line.starts_with('?'));
    calls.map(|call| format!("{call}\n")).collect()
}

/// What strace writes of these calls, one after the other, 10 us apart, in a thread.
pub(crate) fn traced(calls: &str) -> String {
    let calls = calls.lines().filter(|call| !call.is_empty()).zip(0..);
    calls.map(|(call, at)| format!("7 1795922970.{:06} {call}\n", at * 10)).collect()
}

fn opened<T>(
    text: impl AsRef<[u8]>,
    read: impl FnOnce(FileTrace) -> Result<T, TraceError>,
) -> Result<T, String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    FileTrace::open(file.path(), "/srv")
        .and_then(read)
        .map_err(|error| error.to_string().replace(&file.path().display().to_string(), "TRACE"))
}

pub(crate) fn survey(text: impl AsRef<[u8]>) -> Result<FileTraceSurvey, String> {
    opened(text, |trace| FileTraceSurvey::of(&trace))
}

/// A line is a call; behind a bar it is the trace's own.
#[derive(Default)]
struct Strace {
    calls: String,
    raw: String,
}

impl Case for Strace {
    fn build(&mut self, line: &str) {
        match line.strip_prefix('|') {
            Some(raw) => self.raw += &format!("{raw}\n"),
            None => self.calls += &format!("{line}\n"),
        }
    }

    fn answer(&mut self, question: &str) -> String {
        let text = traced(&self.calls) + &self.raw;
        let answer = match question {
            "operations" => opened(text, |trace| {
                let mut operations = trace.operations()?;
                let next = || operations.next_operation().transpose();
                let shown = |it: FileOperation| {
                    format!("{} {}+{} {:?}\n", it.thread, it.at_ns, it.took_ns, it.action)
                };
                std::iter::from_fn(next).map(|it| it.map(shown)).collect()
            }),
            "before" => survey(text).map(|found| format!("{:?}", found.before)),
            _ => survey(text).map(|found| {
                let FileTraceSurvey { counts, written_bytes, end, .. } = found;
                format!("{counts:?}\n{written_bytes} bytes written\n{end:?}")
            }),
        };
        answer.unwrap_or_else(|error| error)
    }
}

#[test]
fn what_strace_writes_is_read_as_operations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    cases::check(&folder.join("src/trace/files/cases.txt"), Strace::default);
}

/// As kill -9 or a full disk leaves it: cut anywhere, also within a line.
#[test]
fn of_a_trace_that_was_cut_what_is_there_counts() {
    let text = traced(&some_calls());
    for length in text.find('\n').unwrap() + 1..text.len() {
        let is_cut = !text[..length].ends_with('\n');
        assert_eq!(survey(&text[..length]).unwrap().end.cut, is_cut, "{length}");
    }
}

proptest! {
    /// Bytes of any kind, and lines that begin as they should, are read or refused.
    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        swaps in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        rest in "[a-z0-9_]{0,9}[(<>\"\\\\,=|)\\[\\]{} .A-Z/0-9-]{0,60}",
    ) {
        let _ = survey(&bytes);
        let mut text = traced(&some_calls()).into_bytes();
        for (at, byte) in swaps {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let _ = survey(&text);
        let calls = ["openat", "read", "renameat2", "dup2", "symlinkat", "<... read resumed>", ""];
        let lines = calls.map(|call| format!("7 1.000000 {call}({rest}\n8 2.5 {call}{rest}\n"));
        let _ = survey(lines.concat());
    }
}
