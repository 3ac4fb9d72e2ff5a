//! One file per command.

pub mod export;
pub mod import;
pub mod incoming;
pub mod init;
mod own_runs;
pub mod publish;
pub mod serve;
pub mod submit;
pub mod validate;
mod whole_dir;

use program::exit::Result;

use crate::cli::Command;

/// Runs what was typed.
pub fn run_command(command: Command) -> Result {
    match command {
        Command::Import(flags) => import::run(&flags),
        Command::Export(flags) => export::run(&flags),
        Command::Submit(flags) => submit::run(&flags),
        Command::Validate(flags) => validate::run(&flags),
        Command::Publish(flags) => publish::run(&flags),
        Command::Init(flags) => init::run(&flags),
        Command::Serve(flags) => serve::run(&flags),
        Command::Incoming(flags) => incoming::list(&flags),
        Command::Accept(flags) => incoming::accept(&flags),
        Command::Reject(flags) => incoming::reject(&flags),
        Command::Receive(flags) => incoming::receive(&flags),
    }
}
