//! `flashmark explain`: what a finding means and what it is concluded from, or what a word means.

use clap::error::ContextKind;
use record::alike::closest;
use record::{Finding, Severity};
use report::text::{explained, fold, glossary};
use session::kept::{concluded, find};

use crate::cli::ExplainFlags;
use program::exit::{Exit, Result, usage};
use program::printing::print_document;
use program::terminal::OutputStream;

/// Prints the page of a finding or the meaning of a word, or the names of all; exit code 2 where
/// there is no such name.
pub fn run(flags: &ExplainFlags) -> Result {
    let Some(name) = &flags.name else {
        print_document(&names())?;
        return Ok(Exit::Done);
    };
    let Some(page) = page(name) else {
        return usage(format_args!("there is no finding or word '{name}'; {}", hint(name)));
    };
    print_document(&page)?;
    Ok(Exit::Done)
}

/// Answers `flashmark help WORD` where the word is no command: prints what `explain` prints of it,
/// or clap's error with the way to the list of words. `None` where something else was typed.
pub fn explain_word(error: &clap::Error) -> Option<Exit> {
    error.get(ContextKind::InvalidSubcommand)?;
    let mut typed = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    typed.next().filter(|first| first == "help")?;
    let name = typed.collect::<Vec<_>>().join(" ");
    if let Some(page) = page(&name) {
        return Some(print_document(&page).map_or_else(|failure| failure.exit, |()| Exit::Done));
    }
    drop(error.print());
    program::say!("`flashmark explain` lists the words that are explained.");
    Some(Exit::Usage)
}

/// Other names of pages and words.
const ALIASES: [(&[&str], &str); 4] = [
    (&["95 % interval", "95% interval", "95 %", "95%"], "interval"),
    (&["a1", "a2", "c10", "class10", "class 10", "u1", "u3", "v10", "v30", "v60"], "classes"),
    (&["root disk", "raspberry pi", "a raspberry pi", "operating system"], "verdict-root-disk"),
    (&["why"], "verdict"),
];

/// Words that people ask with, and the findings that can be the answer, the likeliest first.
const ASKED: [(&[&str], &[&str]); 4] = [
    (
        &["slow", "slower", "slowly", "lag", "lags", "freeze", "freezes", "stutter"],
        &[
            "random-write",
            "stalls",
            "small-span",
            "slc-cache",
            "throttling",
            "misalignment",
            "usb-split",
            "write-unit",
            "open-units",
            "flush",
            "wear",
            "host",
        ],
    ),
    (&["fake", "counterfeit", "genuine", "scam"], &["capacity", "counterfeit-hints", "verify"]),
    (
        &["broken", "bad", "dead", "failing", "fails", "error", "errors", "unplugged", "damaged"],
        &["io-error", "verify", "read-back", "capacity", "health", "wear"],
    ),
    (
        &["fast", "faster", "cheat", "cheats"],
        &["span-cache", "small-span", "slc-cache", "compression", "flush", "impossible"],
    ),
];

/// The page of a finding, the meaning of a word, or the findings that can be the answer to what is
/// asked.
fn page(name: &str) -> Option<String> {
    let width = OutputStream::Output.width();
    let lower = name.to_lowercase();
    let alias = ALIASES.iter().find(|(names, _)| names.contains(&lower.as_str()));
    let name = alias.map_or(name, |(_, known)| known);
    let asked = || {
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
        let (_, ids) = ASKED.iter().find(|(of, _)| of.iter().any(|word| words.contains(word)))?;
        Some(format!(
            "{}What can be the reason:\n{}\n`flashmark explain NAME` prints the page of one.\n",
            in_latest_run(ids).map_or_else(String::new, |it| fold(
                &format!("{it}\n\n"),
                width,
                false
            )),
            listed(ids)
        ))
    };
    let of_use = || explained(&format!("verdict-{lower}"), width);
    explained(name, width).or_else(of_use).or_else(|| glossary::meaning(name, width)).or_else(asked)
}

/// What the latest run says of these, its most severe finding: "20261130-101500-class10-check: It is
/// fast only in small spans .. (small-span)"; `None` without a run. How much a run wrote, what
/// its host may limit, and that writes do not wait, is no reason unless it is a warning.
fn in_latest_run(ids: &[&str]) -> Option<String> {
    let dir = find("latest").ok()?;
    let record = concluded(&dir, dir.load().ok()?);
    let of = |id: &&str| record.findings.iter().find(|finding| finding.id == *id);
    let is_other =
        |it: &&Finding| !["wear", "host", "random-write", "stalls"].contains(&it.id.as_str());
    let is_reason = |it: &&Finding| it.severity > Severity::Info || is_other(it);
    let found = ids.iter().rev().filter_map(of).filter(is_reason);
    let said = match found.max_by_key(|finding| finding.severity) {
        Some(finding) => format!("{} ({})", finding.statement, finding.id),
        None => "nothing of this was found in this run".to_owned(),
    };
    Some(format!("{}: {said}", dir.name()))
}

/// A line for each finding: its id, and the title of its page.
fn listed(ids: &[&str]) -> String {
    let title = |id| findings::about(id).and_then(|page| page.lines().next()).unwrap_or_default();
    ids.iter().map(|id| format!("{id:<22} {}\n", title(id).trim_start_matches("# "))).collect()
}

/// Suggestion of names like this one.
fn hint(name: &str) -> String {
    let words = glossary::words();
    let known = findings::IDS.iter().copied().chain(words.iter().map(String::as_str));
    match closest(name, known).as_slice() {
        [] => "`flashmark explain` lists all".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    }
}

/// Each finding with the title of its page, and the words of the glossary.
fn names() -> String {
    let findings = listed(findings::IDS);
    let words = fold(&glossary::words().join(", "), OutputStream::Output.width(), false);
    format!("Findings:\n{findings}\nWords:\n{words}\n")
}
