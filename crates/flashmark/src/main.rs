//! Flashmark tells how storage really behaves.

use std::process::ExitCode;

use flashmark::cli::Cli;
use flashmark::commands;
use program::programs::FLASHMARK;

fn main() -> ExitCode {
    program::start(&FLASHMARK, commands::explain::explain_word, |cli: Cli| {
        commands::run_command(cli.command)
    })
}
