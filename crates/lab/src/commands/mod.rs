//! One file per command.

pub mod attach;
pub mod matrix;
pub mod replay;
mod resume;
pub mod watch;

use program::exit::Result;
use program::messages;
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
