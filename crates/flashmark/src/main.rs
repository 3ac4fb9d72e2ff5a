//! Flashmark tells how storage really behaves.

use std::process::ExitCode;

use clap::Parser;
use flashmark::cli::{self, Cli, Command, SimCommand};
use flashmark::exit::OrExit;
use flashmark::{commands, exit};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            match cli::left_out(&error) {
                Some(line) => flashmark::say!("flashmark: {line}"),
                None => drop(error.print()),
            }
            return if error.use_stderr() {
                exit::Exit::Usage.into()
            } else {
                exit::Exit::Done.into()
            };
        }
    };
    match beside_the_main_thread(|| dispatch(cli.command)) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // One line, whatever the names in it hold.
            flashmark::say!("flashmark: {}", report::words::clean(&failure.to_string()));
            failure.exit.into()
        }
    }
}

/// Does the work on another thread. The kernel tells the main thread of a signal first, and nothing
/// interrupts a call that the medium does not answer: were it made there, Ctrl-C would not be
/// heard.
fn beside_the_main_thread(work: impl FnOnce() -> exit::Result + Send + 'static) -> exit::Result {
    let worker = std::thread::Builder::new()
        .name("work".into())
        .stack_size(8 << 20)
        .spawn(work)
        .or_internal()?;
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn dispatch(command: Command) -> exit::Result {
    match command {
        Command::List(flags) => commands::list::run(&flags),
        Command::Run(flags) => commands::run::run(&flags),
        Command::Resume(flags) => commands::resume::run(&flags),
        Command::Restore(flags) => commands::restore::run(&flags),
        Command::Show(flags) => commands::show::run(&flags),
        Command::Runs(flags) => commands::runs::run(&flags),
        Command::Report(flags) => commands::report::run(&flags),
        Command::Compare(flags) => commands::compare::run(&flags),
        #[cfg(feature = "export")]
        Command::Publish(flags) => commands::publish::run(&flags),
        #[cfg(feature = "submit")]
        Command::Submit(flags) => commands::submit::run(&flags),
        #[cfg(feature = "lab")]
        Command::Matrix(flags) => commands::matrix::run(&flags),
        #[cfg(feature = "lab")]
        Command::Replay(flags) => commands::replay::run(&flags),
        #[cfg(feature = "export")]
        Command::Export(flags) => commands::export::run(&flags),
        #[cfg(feature = "export")]
        Command::Import(flags) => commands::import::run(&flags),
        Command::Tests(flags) => commands::tests::run(&flags),
        #[cfg(feature = "lab")]
        Command::Watch(flags) => commands::watch::run(&flags),
        #[cfg(feature = "lab")]
        Command::Capture(flags) => commands::capture::run(&flags),
        Command::Sim(SimCommand::List) => commands::sim::list(),
        Command::Sim(SimCommand::Show { profile }) => commands::sim::show(&profile),
        #[cfg(feature = "attach")]
        Command::Sim(SimCommand::Attach(flags)) => commands::attach::attach(&flags),
        #[cfg(feature = "attach")]
        Command::Sim(SimCommand::Detach(flags)) => commands::attach::detach(&flags),
    }
}
