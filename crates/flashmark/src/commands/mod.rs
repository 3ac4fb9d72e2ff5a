//! One file per command.

#[cfg(feature = "export")]
pub mod articles;
#[cfg(feature = "attach")]
pub mod attach;
pub mod check;
#[cfg(feature = "export")]
pub mod collection;
pub mod compare;
pub mod explain;
#[cfg(feature = "export")]
pub mod export;
#[cfg(feature = "export")]
pub mod import;
mod keep_copy;
pub mod list;
#[cfg(feature = "workloads")]
pub mod matrix;
#[cfg(feature = "export")]
mod own_runs;
#[cfg(feature = "export")]
pub mod publish;
#[cfg(feature = "workloads")]
pub mod replay;
pub mod report;
pub mod restore;
pub mod resume;
pub mod run;
pub mod runs;
pub mod show;
pub mod sim;
#[cfg(feature = "export")]
pub mod submit;
pub mod tests;
#[cfg(feature = "export")]
pub mod validate;
#[cfg(feature = "workloads")]
pub mod watch;
#[cfg(feature = "export")]
mod whole_dir;

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
        #[cfg(feature = "export")]
        Command::Articles => articles::list(),
        Command::Compare(flags) => compare::run(&flags),
        #[cfg(feature = "export")]
        Command::Publish(flags) => publish::run(&flags),
        #[cfg(feature = "export")]
        Command::Submit(flags) => submit::run(&flags),
        #[cfg(feature = "export")]
        Command::Collection(command) => collection::run(&command),
        #[cfg(feature = "export")]
        Command::Validate(flags) => validate::run(&flags),
        #[cfg(feature = "workloads")]
        Command::Matrix(flags) => matrix::run(&flags),
        #[cfg(feature = "workloads")]
        Command::Replay(flags) => replay::run(&flags),
        #[cfg(feature = "export")]
        Command::Export(flags) => export::run(&flags),
        #[cfg(feature = "export")]
        Command::Import(flags) => import::run(&flags),
        Command::Tests(flags) => tests::run(&flags),
        #[cfg(feature = "workloads")]
        Command::Watch(flags) => watch::run(&flags),
        Command::Explain(flags) => explain::run(&flags),
        Command::KeepCopy { name } => keep_copy::run(&name),
        Command::Sim(SimCommand::List) => sim::list(),
        Command::Sim(SimCommand::Show { profile }) => sim::show(&profile),
        #[cfg(feature = "attach")]
        Command::Sim(SimCommand::Attach(flags)) => attach::attach(&flags),
        #[cfg(feature = "attach")]
        Command::Sim(SimCommand::Detach(flags)) => attach::detach(&flags),
    }
}
