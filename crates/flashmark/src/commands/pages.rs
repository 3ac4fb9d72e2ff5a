//! `flashmark completions` and `flashmark man`: texts for a shell and for `man`, made from the
//! flags that the program reads.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::cli::{Cli, ManFlags};
use crate::exit::{Exit, OrExit, Result, usage};
use crate::outputs::print_document;

const PROGRAM: &str = "flashmark";

/// Prints the completions for a shell.
pub fn completions(shell: Shell) -> Result {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), PROGRAM, &mut text);
    print_document(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

/// Prints one man page, or writes all of them to a directory.
pub fn man(flags: &ManFlags) -> Result {
    match &flags.dir {
        Some(directory) => write_all(directory)?,
        None => print_document(&page(&flags.command)?)?,
    }
    Ok(Exit::Done)
}

/// One page for the program and one for each command.
fn write_all(directory: &Path) -> Result<()> {
    std::fs::create_dir_all(directory).or_usage()?;
    clap_mangen::generate_to(Cli::command(), directory).or_usage()
}

/// Page of a command such as `sim attach`; of the program if no command is named.
fn page(words: &[String]) -> Result<String> {
    let mut command = Cli::command();
    command.build();
    let mut found = &command;
    for word in words {
        let Some(next) = found.find_subcommand(word) else {
            let names: Vec<&str> = found.get_subcommands().map(Command::get_name).collect();
            return usage(format_args!(
                "man {word}: no such command; there are {}",
                names.join(", ")
            ));
        };
        found = next;
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(found.clone()).render(&mut text).or_internal()?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_page() {
        let directory = tempfile::tempdir().unwrap();
        write_all(directory.path()).unwrap();
        let written = |name: &str| {
            std::fs::read_to_string(directory.path().join(format!("{name}.1"))).unwrap()
        };
        assert!(written(PROGRAM).contains(".SH NAME"));
        for command in Cli::command().get_subcommands().filter(|it| !it.is_hide_set()) {
            let name = command.get_name().to_owned();
            assert!(written(&format!("{PROGRAM}-{name}")).contains(&name), "{name}");
            let own = page(std::slice::from_ref(&name)).unwrap();
            assert!(own.contains(".SH NAME") && own.contains(&name), "{own}");
        }
        let error = page(&["toast".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("there are check, list"), "{error}");
    }
}
