//! Consent to overwrite what is on a medium: the one place in the program that decides.
//!
//! `--erase ID` says which medium is meant. If it is not empty, or nobody can tell, that is not
//! enough: its contents are shown, and the user types the word at a terminal, or a script says
//! `--yes`.

use std::io::IsTerminal;
use std::sync::atomic::Ordering;

use host::Contents;
use record::text::{self, printable};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};

use program::exit::{Exit, Failure, OrExit, Result, refuse};
use program::say;
use program::say_text;
use program::signals;

/// Target to overwrite, and its contents.
pub struct Question<'a> {
    /// The medium or file as it is named to the user.
    pub what: &'a str,
    /// The name to type behind `--erase`, for messages.
    pub id: &'a str,
    /// Contents of the medium or file.
    pub contents: &'a Contents,
    /// True if `--yes` was given: then nothing is asked.
    pub yes: bool,
}

/// Word by which the user allows overwriting a medium.
const WORD: &str = "erase";

/// Returns if the medium is empty, or the user agrees; refuses otherwise. Nothing has been written
/// yet.
pub fn ask(question: &Question<'_>) -> Result<()> {
    if question.yes || question.contents.is_empty() == Some(true) {
        return Ok(());
    }
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return refuse(format_args!(
            "{}; if all that may be overwritten, say --erase {} --yes; nothing was written",
            finding(question),
            question.id
        ));
    }
    let lines: String =
        question.contents.lines().iter().map(|line| format!("  {line}\n")).collect();
    say_text!(
        "{}",
        text::escaped(&format!(
            "{} holds:
{lines}",
            printable(question.what)
        ))
    );
    // what was typed before this was shown is no answer to it
    let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
    say_text!(
        "It may be overwritten, all of it. Type the word {WORD} to go on, anything else to leave it as it is: "
    );
    match answer()?.as_deref() {
        Some(WORD) => Ok(()),
        Some("") | None => refuse(format_args!(
            "the word was not typed, so {} is left as it is; nothing was written",
            question.what
        )),
        Some(other) => refuse(format_args!(
            "'{other}' is not the word {WORD}, so {} is left as it is; nothing was written",
            question.what
        )),
    }
}

/// Asks whether to go on with what was just named; refuses otherwise.
pub fn go_on() -> Result<()> {
    say_text!("It is written to. Type yes to go on: ");
    match answer()?.as_deref() {
        Some("yes" | "y") => Ok(()),
        _ => refuse("not gone on with; nothing was written"),
    }
}

/// Contents as a part of a sentence: "; it holds ext4 'HOLIDAY'", or that they cannot be told. Empty
/// for an empty medium.
pub fn holds(contents: Option<&Contents>) -> String {
    match contents.map(|contents| (contents, contents.is_empty())) {
        Some((contents, Some(false))) => format!("; it holds {}", contents.lines().join(", ")),
        Some((contents, None)) => format!("; what it holds {}", contents.summary()),
        _ => String::new(),
    }
}

/// Contents of the medium, for a refusal.
fn finding(question: &Question<'_>) -> String {
    match question.contents.is_empty() {
        None => format!("what {} holds {}", question.what, question.contents.summary()),
        Some(_) => format!(
            "{} is not empty: it holds {}",
            question.what,
            question.contents.lines().join("; ")
        ),
    }
}

/// A line from the terminal, without surrounding blanks; `None` at its end. Ctrl-C ends the wait as
/// an interruption.
fn answer() -> Result<Option<String>> {
    const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let stop = signals::listen()?;
    let stdin = std::io::stdin();
    let mut line = [0; 4096];
    loop {
        if stop.load(Ordering::SeqCst) {
            say!("");
            return Err(Failure {
                exit: Exit::Interrupted,
                error: anyhow::anyhow!("interrupted; nothing was written"),
            });
        }
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => break,
            Err(error) => return Err(error).or_internal(),
        }
    }
    // a terminal gives a line at a time; one that has gone away gives an error
    match rustix::io::read(&stdin, &mut line) {
        Ok(0) | Err(_) => Ok(None),
        Ok(length) => Ok(Some(String::from_utf8_lossy(&line[..length]).trim().to_owned())),
    }
}

/// Contents for `--plan`, as what would be erased or is only read.
pub fn plan(contents: &Contents, erase: Option<&str>) -> String {
    let lines: String = contents.lines().iter().map(|line| format!("  {line}\n")).collect();
    let Some(id) = erase else {
        return format!("On it, and not given away:\n{lines}");
    };
    let way = match contents.is_empty() {
        Some(true) => String::new(),
        _ => format!(
            "As it is not empty, {WORD} has to be typed on a terminal; in a script, say --erase {id} --yes.\n"
        ),
    };
    format!("Would be erased:\n{lines}{way}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(contents: &Contents, yes: bool) -> std::result::Result<(), String> {
        ask(&Question { what: "/dev/sdb", id: "4C53", contents, yes })
            .map_err(|failure| format!("{:?} {failure}", failure.exit))
    }

    #[test]
    fn only_nothing_and_yes_need_no_question() {
        let item = host::ContentItem {
            kind: Some("ext4".into()),
            label: Some("MYPHOTOS".into()),
            size_bytes: 1 << 30,
            ..Default::default()
        };
        let full = Contents { items: vec![item], unknown: None };
        let hidden = Contents::unknown("it did not answer within 10 s");
        assert_eq!(asked(&Contents::default(), false), Ok(()));
        for contents in [&full, &hidden] {
            assert_eq!(asked(contents, true), Ok(()));
        }
        // a test has a terminal at most for its input; with one for both, it would wait for
        // somebody
        if !std::io::stderr().is_terminal() {
            insta::assert_snapshot!(asked(&full, false).unwrap_err(), @"Refused /dev/sdb is not empty: it holds ext4 'MYPHOTOS', 1 GiB; if all that may be overwritten, say --erase 4C53 --yes; nothing was written");
            insta::assert_snapshot!(asked(&hidden, false).unwrap_err(), @"Refused what /dev/sdb holds cannot be told: it did not answer within 10 s; if all that may be overwritten, say --erase 4C53 --yes; nothing was written");
        }
        insta::assert_snapshot!(plan(&full, Some("4C53")), @r"
        Would be erased:
          ext4 'MYPHOTOS', 1 GiB
        As it is not empty, erase has to be typed on a terminal; in a script, say --erase 4C53 --yes.
        ");
        insta::assert_snapshot!(plan(&Contents::default(), Some("4C53")), @"
        Would be erased:
          nothing that is recognised; data without a signature would not be
        ");
        insta::assert_snapshot!(plan(&hidden, None), @r"
        On it, and not given away:
          cannot be told: it did not answer within 10 s
        ");
    }
}
