//! `flashmark-site`: starts the web service of a collection, and makes its tokens.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    site::command::run(site::command::Flags::parse())
}
