//! One file per command.

pub mod attach;
pub mod matrix;
pub mod replay;
mod resume;
pub mod watch;

use program::exit::{OrExit, Result};
use program::messages;
use record::units::Bytes;
use session::outputs::ProgressForm;

use crate::cli::Command;

/// Runs what was typed.
pub fn run_command(command: Command) -> Result {
    if command.progress() == ProgressForm::Json {
        messages::write_json();
    }
    match command {
        Command::Matrix(flags) => matrix::run(&flags),
        Command::Replay(flags) => replay::run(&flags),
        Command::Watch(flags) => watch::run(&flags),
        Command::Attach(flags) => attach::attach(&flags),
        Command::Detach(flags) => attach::detach(&flags),
        Command::Resume(flags) => resume::run(&flags),
        Command::KeepCopy { name } => session::hand_over::keep(&name),
    }
}

/// The bytes that a flag gives, if it is typed; exit code 2 where they cannot be understood.
fn size(flag: &str, typed: Option<&str>) -> Result<Option<u64>> {
    let size = typed.map(|text| text.parse::<Bytes>().map(|bytes| bytes.0)).transpose();
    size.map_err(|error| anyhow::anyhow!("{flag}: {error}")).or_usage()
}
