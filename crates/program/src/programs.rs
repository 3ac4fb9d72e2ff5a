//! The three programs and their commands. Each starts the one that has a command, with the words as
//! they were typed.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Parser};

use crate::terminal::OutputStream;

/// A program that is installed by itself.
#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name, which is also that of its package.
    pub name: &'static str,
    /// Directory of its sources, from the root of the checkout.
    pub sources: &'static str,
}

/// Measures and judges media.
pub const FLASHMARK: Program = Program { name: "flashmark", sources: "crates/flashmark" };
/// File systems, real work and traces.
pub const LAB: Program = Program { name: "flashmark-lab", sources: "crates/lab" };
/// Results of many.
pub const COLLECTION: Program = Program { name: "flashmark-collection", sources: "crates/results" };

/// Name of a command, and what it does, in one line.
pub type Entry = (&'static str, &'static str);

/// All commands, by what they are for, with the program that has them.
pub const GROUPS: [(&str, Program, &[Entry]); 5] = [
    (
        "Check",
        FLASHMARK,
        &[
            ("check", "Is it genuine, fit for its use, healthy? Two minutes"),
            ("list", "Media here: what each is, and whether testing it is safe"),
        ],
    ),
    (
        "Measure",
        FLASHMARK,
        &[
            ("run", "Measure a target"),
            ("resume", "Continue an interrupted run"),
            ("restore", "Restore what a killed run overwrote"),
        ],
    ),
    (
        "Look",
        FLASHMARK,
        &[
            ("show", "The summary of a run"),
            ("runs", "The runs kept on this machine"),
            ("compare", "Media side by side, or one before and after a change"),
            ("report", "The page of a run, or an article with runs beside it"),
            ("articles", "The five articles behind the published tests"),
            ("explain", "What a finding or a word means"),
            ("tests", "The tests and their settings"),
            ("sim", "Simulated media, to try commands on"),
        ],
    ),
    (
        "Work",
        LAB,
        &[
            ("matrix", "File systems and schedulers with real work"),
            ("replay", "Recorded I/O, replayed"),
            ("watch", "The present I/O of devices, as iostat -x shows it"),
            ("attach", "A simulated medium as a block device"),
            ("detach", "Detach what attach attached"),
        ],
    ),
    (
        "Share",
        COLLECTION,
        &[
            ("import", "Results of other tools as runs"),
            ("export", "Runs as CSV, JSON or Parquet"),
            ("submit", "Send a run to a collection"),
            ("validate", "Would a collection accept these records?"),
            ("publish", "The static pages of a collection"),
            ("init", "Make a collection: a folder of records"),
            ("serve", "Its pages and a slot for records, over HTTP"),
            ("incoming", "The records in the slot"),
            ("accept", "Take a record from the slot"),
            ("reject", "Remove a record from the slot"),
        ],
    ),
];

/// Names of all commands.
pub fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().flat_map(|(_, _, entries)| entries.iter().map(|(name, _)| *name))
}

/// The program that has a command.
pub fn program_of(command: &str) -> Option<&'static Program> {
    let has = |entries: &[Entry]| entries.iter().any(|(name, _)| *name == command);
    GROUPS.iter().find(|(_, _, entries)| has(entries)).map(|(_, program, _)| program)
}

impl Program {
    /// The program: beside this one, or else on the path; `None` if it is not installed.
    pub fn find(&self) -> Option<PathBuf> {
        let is_program = |path: &PathBuf| path.is_file();
        let beside = std::env::current_exe().ok().map(|own| own.with_file_name(self.name));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&path).map(|folder| folder.join(self.name));
        beside.into_iter().chain(on_path).find(is_program)
    }

    /// How it is installed.
    pub fn installation(&self) -> String {
        format!(
            "install the package {}, or from the sources: cargo install --locked --path {}",
            self.name, self.sources
        )
    }

    /// Becomes this program, with the words that were typed; returns only if it cannot, with the
    /// reason.
    pub fn become_it(&self) -> String {
        let command = typed_command().unwrap_or_default();
        let Some(program) = self.find() else {
            return format!(
                "`{command}` is a command of {}, which is not here; {}",
                self.name,
                self.installation()
            );
        };
        let error = start(&program);
        format!("{} does not start: {error}", program.display())
    }

    /// Command line of a program with these flags: its help lists the commands by group, those of
    /// the other programs only in `flashmark`.
    pub fn command<C: Parser>(&self) -> clap::Command {
        let about = "{about-with-newline}\n{usage-heading} {usage}\n";
        let template = format!("{about}{}\nOptions:\n{{options}}{{after-help}}", self.commands());
        let usage = format!("{} <COMMAND>", self.name);
        let command = C::command().name(self.name).bin_name(FLASHMARK.name);
        command.override_usage(usage).help_template(template).mut_subcommands(with_short_help)
    }

    fn commands(&self) -> String {
        let mut text = String::new();
        for (group, program, entries) in &GROUPS {
            if *self != FLASHMARK && program != self {
                continue;
            }
            text += &format!("\n{group}:\n");
            for (name, line) in *entries {
                text += &format!("  {name:<9} {line}\n");
            }
            if program != self && program.find().is_none() {
                text += &format!("  ({} is not here: {})\n", program.name, program.installation());
            }
        }
        report::text::fold(&text, OutputStream::Output.width(), false)
    }
}

/// A command whose help leaves out its settings for experts, if it has any: `--help-all` has them.
fn with_short_help(command: clap::Command) -> clap::Command {
    if !command.get_arguments().any(clap::Arg::is_hide_short_help_set) {
        return command;
    }
    let short = clap::Arg::new("help").short('h').long("help").action(ArgAction::HelpShort);
    let all = clap::Arg::new("help-all").long("help-all").action(ArgAction::HelpLong);
    command
        .disable_help_flag(true)
        .arg(short.help("Print what is used most"))
        .arg(all.help("Print every flag, with those for experts"))
}

/// Replaces this process by a program, under the name by which this one was called.
fn start(program: &Path) -> io::Error {
    let mut typed = std::env::args_os();
    let name = typed.next().unwrap_or_else(|| OsStr::new(FLASHMARK.name).into());
    std::process::Command::new(program).arg0(name).args(typed).exec()
}

/// The command that was typed, or of which the help was asked for.
pub fn typed_command() -> Option<String> {
    std::env::args_os().skip(1).find(|word| word != "help")?.into_string().ok()
}
