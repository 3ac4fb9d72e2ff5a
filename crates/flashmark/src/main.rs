//! Flashmark tells how storage really behaves.

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use flashmark::cli::Cli;
use flashmark::{commands, mistyped};
use program::exit::{self, OrExit};
use program::signals;
use program::terminal::OutputStream;
use record::text::printable;
use session::progress_events;

fn main() -> ExitCode {
    // Help is as wide as what it is printed on.
    let command = Cli::command().term_width(OutputStream::Output.width());
    let typed = command.try_get_matches().and_then(|typed| Cli::from_arg_matches(&typed));
    let cli = match typed {
        Ok(cli) => cli,
        Err(error) => {
            let left_out = mistyped::left_out(&error);
            if left_out.is_none()
                && let Some(exit) = commands::explain::explain_word(&error)
            {
                return exit.into();
            }
            match left_out
                .or_else(|| mistyped::not_text(&error))
                .or_else(|| mistyped::without_command(&error))
            {
                Some(line) => program::say!("flashmark: {line}"),
                None => drop(error.print()),
            }
            if let Some(hint) = mistyped::without_target(&error) {
                program::say!("{hint}");
            }
            return if error.use_stderr() {
                exit::Exit::Usage.into()
            } else {
                exit::Exit::Done.into()
            };
        }
    };
    let work = || {
        signals::outlast_file_size_limit()?;
        commands::run_command(cli.command)
    };
    let exit = beside_the_main_thread(work).unwrap_or_else(|failure| {
        // One line, whatever the names in it hold.
        program::say!("flashmark: {}", printable(&failure.to_string()));
        failure.exit
    });
    progress_events::ended(exit);
    exit.into()
}

/// Does the work on another thread. The kernel delivers a signal to the main thread first, and
/// nothing interrupts a call that the medium does not answer: on the main thread, such a call would
/// delay Ctrl-C.
fn beside_the_main_thread(work: impl FnOnce() -> exit::Result + Send + 'static) -> exit::Result {
    let worker = std::thread::Builder::new()
        .name("work".into())
        .stack_size(8 << 20)
        .spawn(work)
        .or_internal()?;
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
