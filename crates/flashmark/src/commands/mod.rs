//! One file per command.

pub mod articles;
pub mod check;
pub mod compare;
pub mod explain;
pub mod list;
pub mod report;
pub mod restore;
pub mod resume;
pub mod run;
pub mod runs;
pub mod show;
pub mod sim;
pub mod tests;

use crate::cli::{Command, SimCommand};
use program::exit::Result;
use program::messages;
use session::outputs::ProgressForm;

/// Runs what was typed.
pub fn run_command(command: Command) -> Result {
    if command.progress() == ProgressForm::Json {
        messages::write_json();
    }
    match command {
        Command::Check(flags) => check::run(*flags),
        Command::List(flags) => list::run(&flags),
        Command::Run(flags) => run::run(*flags),
        Command::Resume(flags) => resume::run(&flags),
        Command::Restore(flags) => restore::run(&flags),
        Command::Show(flags) => show::run(&flags),
        Command::Runs(flags) => runs::run(&flags),
        Command::Report(flags) => report::run(&flags),
        Command::Articles => articles::list(),
        Command::Compare(flags) => compare::run(&flags),
        Command::Tests(flags) => tests::run(&flags),
        Command::Explain(flags) => explain::run(&flags),
        Command::KeepCopy { name } => session::hand_over::keep(&name),
        Command::Sim(SimCommand::List) => sim::list(),
        Command::Sim(SimCommand::Show { profile }) => sim::show(&profile),
    }
}
