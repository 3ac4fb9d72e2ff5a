//! From the words that were typed to the exit code, for each of the programs.

use std::process::ExitCode;

use clap::Parser;
use record::text::printable;

use crate::exit::{Exit, OrExit, Result};
use crate::programs::{Program, program_of, typed_command};
use crate::terminal::OutputStream;
use crate::{messages, mistyped, signals};

/// Runs a program: reads its flags, does the work, reports a failure in one line. A command of
/// another program is left to that one. `answer` may answer words that are no command.
pub fn start<C: Parser + Send + 'static>(
    own: &Program,
    answer: impl FnOnce(&clap::Error) -> Option<Exit>,
    work: impl FnOnce(C) -> Result + Send + 'static,
) -> ExitCode {
    // Help is as wide as what it is printed on.
    let command = own.command::<C>().term_width(OutputStream::Output.width());
    if let Some(why) = left_to_another(own, &command) {
        crate::say!("flashmark: {why}");
        return Exit::Usage.into();
    }
    let typed = command.try_get_matches().and_then(|typed| C::from_arg_matches(&typed));
    let cli = match typed {
        Ok(cli) => cli,
        Err(error) => return answer(&error).unwrap_or_else(|| not_understood(&error)).into(),
    };
    let work = move || {
        signals::outlast_file_size_limit()?;
        work(cli)
    };
    let exit = beside_the_main_thread(work).unwrap_or_else(|failure| {
        // One line, whatever the names in it hold.
        crate::say!("flashmark: {}", printable(&failure.to_string()));
        failure.exit
    });
    messages::ended(exit);
    exit.into()
}

/// Becomes the program that has the command which was typed; the reason if it cannot, and `None`
/// if the command is this program's.
fn left_to_another(own: &Program, known: &clap::Command) -> Option<String> {
    let command = typed_command().filter(|typed| known.find_subcommand(typed).is_none())?;
    let program = program_of(&command).filter(|program| *program != own)?;
    Some(program.become_it())
}

/// Says what to type instead of what was typed.
fn not_understood(error: &clap::Error) -> Exit {
    match mistyped::instead(error) {
        Some(line) => crate::say!("flashmark: {line}"),
        None => drop(error.print()),
    }
    if let Some(hint) = mistyped::without_target(error) {
        crate::say!("{hint}");
    }
    if error.use_stderr() { Exit::Usage } else { Exit::Done }
}

/// Does the work on another thread. The kernel delivers a signal to the main thread first, and
/// nothing interrupts a call that the medium does not answer: on the main thread, such a call would
/// delay Ctrl-C.
fn beside_the_main_thread(work: impl FnOnce() -> Result + Send + 'static) -> Result {
    let worker = std::thread::Builder::new()
        .name("work".into())
        .stack_size(8 << 20)
        .spawn(work)
        .or_internal()?;
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
