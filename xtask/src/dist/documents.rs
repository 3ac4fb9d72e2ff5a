//! Documents of a program: man pages, completions, licences, changelogs.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use clap_complete::Shell;

use program::programs::{FLASHMARK, Program};

use super::output;
use crate::programs::{all_commands, programs};

/// Directory in which each shell searches for completions, below the prefix.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions"),
    (Shell::Zsh, "share/zsh/site-functions"),
    (Shell::Fish, "share/fish/vendor_completions.d"),
];

/// Files of the checkout that are in every package.
const KEPT: [&str; 4] = ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"];

/// Writes everything that a program has below its prefix except the program itself, and its
/// changelog in Debian's form beside the tree.
pub fn write(root: &Path, program: &Program, tree: &Path) -> Result<()> {
    of_the_flags(program, tree)?;
    let documents = tree.join("share/doc").join(program.name);
    fs::create_dir_all(&documents)?;
    for name in KEPT {
        fs::copy(root.join(name), documents.join(name)).context(name)?;
    }
    if *program == FLASHMARK {
        copy_all(&root.join("deploy"), &documents.join("deploy"))?;
    }
    fs::write(tree.with_extension("changelog"), debian_changelog(root, program)?)?;
    Ok(())
}

/// Copies a directory with all that is in it.
fn copy_all(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?.path();
        let to = to.join(entry.file_name().context("an entry has a name")?);
        if entry.is_dir() { copy_all(&entry, &to)? } else { fs::copy(&entry, &to).map(drop)? }
    }
    Ok(())
}

/// Writes the man pages and completions of a program below a prefix.
pub fn of_the_flags(program: &Program, prefix: &Path) -> Result<()> {
    let manual = prefix.join("share/man/man1");
    fs::create_dir_all(&manual)?;
    let command =
        programs().into_iter().find(|(one, _)| *one == program).map(|(_, command)| command);
    let command = command.context("a released program has a command line")?;
    clap_mangen::generate_to(command.clone(), &manual)?;
    // `flashmark` takes the commands of the others, too.
    let mut completed = if *program == FLASHMARK { all_commands() } else { command };
    for (shell, directory) in COMPLETIONS {
        let directory = prefix.join(directory);
        fs::create_dir_all(&directory)?;
        clap_complete::generate_to(shell, &mut completed, program.name, &directory)?;
    }
    Ok(())
}

/// Changelog in the form of Debian's policy (section 4.4), with the day of the last commit.
fn debian_changelog(root: &Path, program: &Program) -> Result<String> {
    let mut git = Command::new("git");
    let day = output(git.args(["log", "-1", "--format=%cD"]).current_dir(root))?;
    let manifest = fs::read_to_string(root.join(FLASHMARK.sources).join("Cargo.toml"))?;
    let maintainer = manifest.parse::<toml::Table>()?["package"]["metadata"]["deb"]["maintainer"]
        .as_str()
        .context("a package has a maintainer")?
        .to_owned();
    let (name, version) = (program.name, env!("CARGO_PKG_VERSION"));
    Ok(format!(
        "{name} ({version}) unstable; urgency=medium\n\n  * Release {version}: CHANGELOG.md has the changes.\n\n -- {maintainer}  {day}"
    ))
}
