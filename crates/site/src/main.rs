//! `flashmark-site`: starts the collection as a web service, and makes the tokens for it.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    site::command::run(site::command::Flags::parse())
}
