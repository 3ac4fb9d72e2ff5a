//! Output that nobody reads: the terminal is closed, the reader of a pipe has gone away, or the
//! file behind it is full. The run goes on and is kept.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Output, Stdio};

use record::Ended;

use crate::support::Flashmark;

/// An output that accepts nothing.
#[derive(Clone, Copy, Debug)]
enum Deaf {
    /// A pipe whose reader has gone away.
    Gone,
    /// A full file.
    Full,
}

impl Deaf {
    fn stdio(self) -> Stdio {
        match self {
            Deaf::Full => File::options().write(true).open("/dev/full").unwrap().into(),
            Deaf::Gone => {
                let (reader, writer) = std::io::pipe().unwrap();
                drop(reader);
                OwnedFd::from(writer).into()
            }
        }
    }
}

fn without_stderr(flashmark: &Flashmark, words: &[&str], deaf: Deaf) -> Output {
    flashmark.command(words).stderr(deaf.stdio()).output().unwrap()
}

#[test]
fn a_run_outlasts_its_terminal() {
    for deaf in [Deaf::Gone, Deaf::Full] {
        let flashmark = Flashmark::new();
        let done = without_stderr(&flashmark, &["run", "sim:class10", "--suite", "quick"], deaf);
        assert_eq!(done.status.code(), Some(0), "{deaf:?}");
        assert_eq!(flashmark.record().run.ended, Ended::Complete, "{deaf:?}");
        assert!(String::from_utf8_lossy(&done.stdout).contains("Record "), "{deaf:?}");
    }
}

#[test]
fn a_run_whose_summary_nobody_reads_is_kept() {
    let flashmark = Flashmark::new();
    let words = ["run", "sim:class10", "--suite", "quick"];
    let mut child = flashmark
        .command(&words)
        .stdout(Deaf::Gone.stdio())
        .stderr(Deaf::Gone.stdio())
        .spawn()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(flashmark.record().run.ended, Ended::Complete);
}

#[test]
fn a_record_that_does_not_arrive_is_an_error_and_is_kept() {
    for deaf in [Deaf::Gone, Deaf::Full] {
        let flashmark = Flashmark::new();
        let words = ["run", "sim:class10", "--suite", "quick", "--json", "-"];
        let mut child =
            flashmark.command(&words).stdout(deaf.stdio()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(5), "{deaf:?}: {stderr}");
        assert!(
            stderr.contains("the record could not be written to standard output")
                && stderr.contains("flashmark show sim-"),
            "{stderr}"
        );
        assert_eq!(flashmark.record().run.ended, Ended::Complete, "{deaf:?}");
    }
}

#[test]
fn words_of_help_and_errors_end_as_they_should_where_nobody_reads_them() {
    let flashmark = Flashmark::new();
    for deaf in [Deaf::Gone, Deaf::Full] {
        let codes = [
            (&["run", "--nonsense"][..], 2),
            (&["run", "sim:nonsense"], 2),
            (&["matrix", "sim:class10"], 2),
            (&["submit", "latest", "--to", "cards.git"], 2),
        ];
        for (words, code) in codes {
            let done = without_stderr(&flashmark, words, deaf);
            assert_eq!(done.status.code(), Some(code), "{words:?} {deaf:?}");
        }
        let mut help = flashmark
            .command(&["--help"])
            .stdout(deaf.stdio())
            .stderr(deaf.stdio())
            .spawn()
            .unwrap();
        assert_eq!(help.wait().unwrap().code(), Some(0), "{deaf:?}");
    }
}
