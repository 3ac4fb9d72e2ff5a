//! Reference pages: the command line, from the flags themselves, the tests, from the tests
//! themselves, and the columns of figures.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::{Arg, Command};
use record::FIGURES;
use suite::catalogue::CATALOGUE;
use suite::{Needs, Test};

use crate::generated::{Flags, settle};
use crate::layers::headings;
use crate::programs::all_commands;

/// Writes or compares the pages.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    settle(root, "docs/command-line.md", &command_line(), "docs", flags)?;
    settle(root, "docs/tests.md", &tests(root)?, "docs", flags)?;
    settle(root, "docs/collection.md", &collection(root)?, "docs", flags)?;
    settle(root, "README.md", &readme(root)?, "docs", flags)
}

/// README with what `check .` prints today, of a record that is kept.
fn readme(root: &Path) -> Result<String> {
    let record = fs::read_to_string(root.join("fixtures/records/directory-check.json"))?;
    let mut record = record::Record::from_json(&record)?;
    findings::Analysis::of(&record, &[]).keep_in(&mut record);
    let place = report::text::DetailsLocation::default();
    let screen = report::text::check(&record, 80, false, &place);
    let screen: String = screen.lines().map(|line| format!("    {line}\n")).collect();
    let page = fs::read_to_string(root.join("README.md"))?;
    let [begin, end] = ["<!-- check: begin -->\n", "<!-- check: end -->"];
    let (before, rest) = page.split_once(begin).context("README has no place for the screen")?;
    let (_, after) = rest.split_once(end).context("README has no end of the screen")?;
    Ok(format!("{before}{begin}\n{}\n{end}{after}", screen.replace("    \n", "\n")))
}

/// Page about collections, with the columns of all figures in their row.
fn collection(root: &Path) -> Result<String> {
    let columns: Vec<String> =
        FIGURES.iter().map(|figure| format!("`{}`", figure.download_column())).collect();
    let page = fs::read_to_string(root.join("docs/collection.md"))?;
    let (before, row) =
        page.split_once(&format!("| {}", columns[0])).context("no row of figures")?;
    let (_, after) = row.split_once(" | ").context("a row without a meaning")?;
    Ok(format!("{before}| {} | {after}", columns.join(", ")))
}

/// Page about the command line.
fn command_line() -> String {
    let mut program = all_commands();
    program.build();
    let mut page =
        "# The command line\n\nMade by `cargo xtask docs` from the flags themselves.\n".to_owned();
    if let Some(about) = program.get_about() {
        let _ = write!(page, "\n{}\n", ended(&about.to_string()));
    }
    if let Some(after) = program.get_after_help() {
        let _ = write!(page, "\n```text\n{after}\n```\n");
    }
    program
        .get_subcommands()
        .filter(|command| shown(command))
        .for_each(|command| describe(command, &mut page));
    page
}

/// Describes a command and its subcommands.
fn describe(command: &Command, page: &mut String) {
    let usage = command.clone().render_usage().to_string();
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let about = command
        .get_long_about()
        .or(command.get_about())
        .map(ToString::to_string)
        .unwrap_or_default();
    let about = ended(&about);
    let _ = write!(
        page,
        "\n## {name}\n\n{about}\n\n```text\n{}\n```\n",
        usage.trim_start_matches("Usage:").trim()
    );
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()))
        .collect();
    if !arguments.is_empty() {
        page.push_str("\n| argument | meaning |\n|---|---|\n");
        arguments.iter().for_each(|argument| row(argument, page));
    }
    command
        .get_subcommands()
        .filter(|command| shown(command))
        .for_each(|command| describe(command, page));
}

fn shown(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

/// Writes an argument as a row of a table.
fn row(argument: &Arg, page: &mut String) {
    let help = argument
        .get_long_help()
        .or(argument.get_help())
        .map(ToString::to_string)
        .unwrap_or_default();
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let choices: Vec<String> =
        argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let takes_value = argument.is_positional() || argument.get_action().takes_values();
    let mut meaning = ended(&help);
    if takes_value && !choices.is_empty() {
        let _ = write!(meaning, " One of {}.", choices.join(", "));
    }
    if takes_value && !defaults.is_empty() {
        let _ = write!(meaning, " Without it: {}.", defaults.join(","));
    }
    let _ = writeln!(
        page,
        "| `{}` | {} |",
        spelled(argument).replace('|', "\\|"),
        meaning.replace('|', "\\|")
    );
}

/// Spelling of an argument on a command line.
fn spelled(argument: &Arg) -> String {
    let value = argument.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
    let long = argument.get_long().map(|long| format!("--{long}"));
    let short = argument.get_short().map(|short| format!("-{short}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let takes_value = argument.get_action().takes_values();
    match (names.is_empty(), takes_value && !value.is_empty()) {
        (true, _) if argument.is_required_set() => value,
        (true, _) => format!("[{value}]"),
        (false, true) => format!("{} {value}", names.join(", ")),
        (false, false) => names.join(", "),
    }
}

/// Page about the tests.
fn tests(root: &Path) -> Result<String> {
    let mut page = "# The tests\n\nMade by `cargo xtask docs` from the tests themselves. The defaults are the published values; a suite file changes them for \
                    a suite, `--set TEST.SETTING=VALUE` for a run. What each number means and how far it can be trusted stands in \
                    [methodology.md](methodology.md).\n"
        .to_owned();
    for test in CATALOGUE {
        describe_test(*test, &source_links(root, test.source())?, &mut page);
    }
    Ok(page)
}

/// Sources of a test as links with the titles of their headings. `sources` has paths of docs/field/
/// with their headings, and others, separated by commas.
fn source_links(root: &Path, sources: &str) -> Result<String> {
    let link = |source: &str| -> Result<String> {
        let Some(place) = source.strip_prefix("docs/") else { return Ok(source.to_owned()) };
        let (file, anchor) =
            place.split_once('#').with_context(|| format!("'{source}' names no heading"))?;
        let page = fs::read_to_string(root.join("docs").join(file))
            .with_context(|| format!("'{source}' is not there"))?;
        let title = headings(&page)
            .find(|(_, known)| known == anchor)
            .with_context(|| format!("'{source}' has no such heading"))?
            .0;
        Ok(format!("[{title}]({place})"))
    };
    Ok(sources.split(", ").map(link).collect::<Result<Vec<_>>>()?.join(", "))
}

fn describe_test(test: &dyn Test, sources: &str, page: &mut String) {
    let _ = write!(
        page,
        "\n## {}\n\n{}.\n\n{} Source: {sources}.\n\n",
        test.name(),
        sentence(test.about()),
        needs(test.needs())
    );
    page.push_str("| setting | default | meaning |\n|---|---|---|\n");
    for setting in test.settings() {
        let _ = writeln!(
            page,
            "| `{}` | `{}` | {} |",
            setting.name,
            setting.default,
            setting.about.replace('|', "\\|")
        );
    }
}

/// Adds the full stop that clap removes.
fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() || text.ends_with(['.', ':', '?', '!']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// Makes a sentence's text: capital letter, no full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn needs(needs: Needs) -> String {
    let writes = if needs.writing { "It writes" } else { "It only reads" };
    let place = match (needs.raw, needs.files) {
        (true, _) => ", and needs a raw medium",
        (false, true) => ", and works on files in a file system",
        (false, false) => "",
    };
    format!("{writes}{place}.")
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn a_command_becomes_a_section_with_its_arguments() {
        let command = Command::new("tool").about("Does things.").subcommand(
            Command::new("go")
                .about("Goes.")
                .arg(Arg::new("where").value_name("WHERE").required(true).help("To which place."))
                .arg(
                    Arg::new("how")
                        .long("how")
                        .short('w')
                        .value_name("FAST|SLOW")
                        .default_value("FAST")
                        .help("How."),
                )
                .arg(
                    Arg::new("loud")
                        .long("loud")
                        .action(clap::ArgAction::SetTrue)
                        .help("With noise."),
                )
                .arg(Arg::new("secret").long("secret").hide(true)),
        );
        let mut command = command;
        command.build();
        let mut page = String::new();
        command
            .get_subcommands()
            .filter(|command| shown(command))
            .for_each(|command| describe(command, &mut page));
        insta::assert_snapshot!(page.trim(), @r"
        ## tool go

        Goes.

        ```text
        tool go [OPTIONS] <WHERE>
        ```

        | argument | meaning |
        |---|---|
        | `WHERE` | To which place. |
        | `-w, --how FAST\|SLOW` | How. Without it: FAST. |
        | `--loud` | With noise. |
        ");
    }

    #[test]
    fn every_command_and_every_test_has_its_section() {
        let (commands, tests) = (command_line(), tests(crate::root()).unwrap());
        for command in all_commands().get_subcommands().filter(|command| shown(command)) {
            assert!(
                commands.contains(&format!("\n## flashmark {}\n", command.get_name())),
                "{}",
                command.get_name()
            );
        }
        for test in CATALOGUE {
            assert!(tests.contains(&format!("\n## {}\n", test.name())), "{}", test.name());
            for setting in test.settings() {
                assert!(
                    tests.contains(&format!("| `{}` | `{}` |", setting.name, setting.default)),
                    "{}.{}",
                    test.name(),
                    setting.name
                );
            }
        }
    }
}
