//! The programs, with their command lines.

use clap::Command;
use program::programs::{COLLECTION, FLASHMARK, LAB, Program};

/// Each program, with its command line.
pub fn programs() -> [(&'static Program, Command); 3] {
    [
        (&FLASHMARK, FLASHMARK.command::<flashmark::cli::Cli>()),
        (&LAB, LAB.command::<flashmark_lab::cli::Cli>()),
        (&COLLECTION, COLLECTION.command::<flashmark_results::cli::Cli>()),
    ]
}

/// The commands of all programs, as `flashmark` takes them.
pub fn all_commands() -> Command {
    let [(_, flashmark), others @ ..] = programs();
    let commands = others.into_iter().flat_map(|(_, other)| {
        other.get_subcommands().filter(|it| !it.is_hide_set()).cloned().collect::<Vec<_>>()
    });
    flashmark.subcommands(commands)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use program::mistyped::WORDS;
    use program::programs::{GROUPS, names};

    use super::*;

    #[test]
    fn the_help_lists_every_command_of_each_program() {
        for (program, command) in programs() {
            let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
            let own = GROUPS.iter().filter(|(_, of, _)| of == program);
            assert_eq!(
                shown.map(Command::get_name).collect::<BTreeSet<_>>(),
                own.flat_map(|(_, _, entries)| entries.iter().map(|(name, _)| *name)).collect(),
            );
        }
    }

    #[test]
    fn what_is_to_be_typed_instead_is_a_command() {
        for (word, instead) in WORDS {
            assert!(names().all(|name| name != word), "{word} is a command");
            for typed in instead.split('`').filter(|part| part.starts_with("flashmark ")) {
                let taken = all_commands().try_get_matches_from(typed.split_whitespace());
                assert!(taken.is_ok(), "{word}: {typed}: {}", taken.unwrap_err());
            }
        }
    }
}
