//! File systems, schedulers, real work and traces, measured.

use std::process::ExitCode;

use flashmark_lab::cli::Cli;
use flashmark_lab::commands;
use program::programs::LAB;

fn main() -> ExitCode {
    program::start(&LAB, |_| None, |cli: Cli| commands::run_command(cli.command))
}
