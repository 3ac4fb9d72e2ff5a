//! Results of many: imported, exported, submitted, judged, published.

use std::process::ExitCode;

use flashmark_results::cli::Cli;
use flashmark_results::commands;
use program::programs::COLLECTION;

fn main() -> ExitCode {
    program::start(&COLLECTION, |_| None, |cli: Cli| commands::run_command(cli.command))
}
