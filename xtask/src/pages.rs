//! Man pages and shell completions, from the flags as the program reads them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;
use flashmark::cli::Cli;

/// Shells that get completions.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Writes a page for the program and one for each command.
pub fn man(directory: &Path) -> Result<()> {
    make(directory)?;
    clap_mangen::generate_to(Cli::command(), directory).context("writing the man pages")?;
    println!("man pages are in {}", directory.display());
    Ok(())
}

/// Writes one file for each shell.
pub fn completions(directory: &Path) -> Result<()> {
    make(directory)?;
    for shell in SHELLS {
        let file = clap_complete::generate_to(shell, &mut Cli::command(), "flashmark", directory)
            .context("writing the completions")?;
        println!("wrote {}", file.display());
    }
    Ok(())
}

fn make(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_page_and_every_shell_its_file() {
        let directory = tempfile::tempdir().unwrap();
        man(&directory.path().join("man")).unwrap();
        completions(&directory.path().join("shell")).unwrap();
        let page = |name: &str| {
            fs::read_to_string(directory.path().join("man").join(format!("{name}.1"))).unwrap()
        };
        assert!(page("flashmark").contains(".SH NAME"));
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            assert!(page(&format!("flashmark-{name}")).contains(name), "{name}");
        }
        for file in ["flashmark.bash", "_flashmark", "flashmark.fish"] {
            assert!(
                fs::read_to_string(directory.path().join("shell").join(file))
                    .unwrap()
                    .contains("erase"),
                "{file}"
            );
        }
    }
}
