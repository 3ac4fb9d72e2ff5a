//! Messages for a command line that was mistyped: what to type instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use record::alike::closest;
use record::text::printable;

use crate::programs::names;

/// Words of other tools, and of commands that are gone, with what to type here.
pub const WORDS: [(&str, &str); 32] = [
    ("sim attach", "`flashmark attach PROFILE`"),
    ("sim detach", "`flashmark detach DEVICE`"),
    ("collection init", "`flashmark init DIR`"),
    ("collection check", "`flashmark validate DIR`"),
    ("collection", "`flashmark init DIR` makes a collection, `flashmark validate DIR` checks it"),
    ("capture", "record with blktrace, then `flashmark replay TRACE TARGET`"),
    ("host-effects", "`flashmark compare --before LABEL --after LABEL`"),
    (
        "station",
        "`flashmark check /dev/sdX /dev/sdY`; docs/automation.md starts it for each new medium",
    ),
    ("completions", "packages have them; from the sources: cargo run -p xtask -- pages ~/.local"),
    ("man", "packages have them; from the sources: cargo run -p xtask -- pages ~/.local"),
    ("add", "`flashmark import FILE`"),
    (
        "clone",
        "a collection is cloned by git; `flashmark publish DIR --collection CLONE` makes its pages",
    ),
    ("commit", "`flashmark submit latest --to DIR --sender YOU`"),
    ("diff", "`flashmark compare RUN RUN`"),
    ("log", "`flashmark runs`"),
    (
        "pull",
        "a collection is fetched by git; `flashmark publish DIR --collection CLONE` makes its pages",
    ),
    ("push", "`flashmark submit latest --to DIR --sender YOU`"),
    ("status", "`flashmark list` shows the media, `flashmark runs` the runs"),
    ("--filename", "`flashmark run TARGET`"),
    ("--ioengine", "`flashmark run TARGET --engine uring`"),
    ("--rw", "`flashmark run TARGET --only random-read`; `flashmark tests` lists the tests"),
    ("fio", "`flashmark import FILE` reads what fio printed"),
    ("randread", "`flashmark run TARGET --only random-read`"),
    ("randwrite", "`flashmark run TARGET --only random-write`"),
    ("read", "`flashmark run TARGET --only sequential-read`"),
    ("write", "`flashmark run TARGET --only sequential-write`"),
    ("bench", "`flashmark run TARGET`"),
    ("benchmark", "`flashmark run TARGET`"),
    ("info", "`flashmark list` shows the media, `flashmark show RUN` a run"),
    ("ls", "`flashmark list`"),
    ("probe", "`flashmark check TARGET`"),
    ("verify", "`flashmark run TARGET --only verify`"),
];

/// Says what to type instead of a command line that is not understood; `None` if clap's message is
/// the better one.
pub fn instead(error: &clap::Error) -> Option<String> {
    not_text(error)
        .or_else(|| of_another_tool(error))
        .or_else(|| without_command(error))
        .or_else(|| no_command(error))
}

/// What to type for a word of another tool.
fn of_another_tool(error: &clap::Error) -> Option<String> {
    let ContextValue::String(word) = wrong_word(error)? else { return None };
    let first = std::env::args().nth(1)?;
    let second = std::env::args().nth(2).unwrap_or_default();
    let both = format!("{first} {second}");
    let name = word.split('=').next().unwrap_or(word);
    let (word, instead) = [both.as_str(), name]
        .into_iter()
        .find_map(|typed| WORDS.iter().find(|(word, _)| *word == typed))?;
    Some(format!("there is no `{word}` here: {instead}"))
}

/// The command or flag that is not known.
fn wrong_word(error: &clap::Error) -> Option<&ContextValue> {
    error.get(ContextKind::InvalidSubcommand).or_else(|| match error.kind() {
        ErrorKind::UnknownArgument => error.get(ContextKind::InvalidArg),
        _ => None,
    })
}

/// Commands that are spelt like the word that was typed for one.
fn no_command(error: &clap::Error) -> Option<String> {
    let ContextValue::String(typed) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    std::env::args().nth(1).filter(|first| first == typed)?;
    let hint = match closest(typed, names()).as_slice() {
        [] => "`flashmark --help` lists all".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    Some(format!("there is no command '{}'; {hint}", printable(typed)))
}

/// Says what to type where a word is not UTF-8: the record and its journal hold text.
fn not_text(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::InvalidUtf8 {
        return None;
    }
    let word = std::env::args_os().find(|word| word.to_str().is_none())?;
    let word = printable(&word.to_string_lossy());
    Some(format!(
        "the name '{word}' is not UTF-8; rename it, or cd into it and type '.' where it is a directory"
    ))
}

/// Message for a target that was typed without a command.
fn without_command(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let is_target = typed.starts_with(['/', '.', '~'])
        || typed.starts_with("sim:")
        || std::path::Path::new(typed).exists();
    let typed = printable(typed);
    is_target.then(|| {
        format!(
            "what to do with {typed}? `flashmark run {typed}` measures it; `flashmark check {typed}` tells whether it is genuine, fit and healthy"
        )
    })
}

/// Hint for a command that was typed without its target.
pub fn without_target(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let command = std::env::args().nth(1)?;
    (missing.last()? == "<TARGET>").then(|| {
        format!(
            "TARGET is a directory on the medium (flashmark {command} /media/stick), a device \
             (/dev/sdX; `flashmark list` shows them) or a simulated medium (sim:a1)."
        )
    })
}
