//! Commands that documents show.

use super::Fault;
use super::project::Project;
use crate::programs::all_commands;

/// Lines of code of a document with their numbers: indented by four, or fenced.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut is_fenced, mut was_code_or_empty) = (false, true);
    (1..).zip(text.lines()).filter(move |(_, line)| {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
            return false;
        }
        let is_code = is_fenced || (was_code_or_empty && line.starts_with("    "));
        was_code_or_empty = is_code || line.trim().is_empty();
        is_code
    })
}

/// The words of each command of ours in a line: up to a comment, to what a shell does with it, or
/// to an explanation in a column of its own.
fn commands(line: &str) -> impl Iterator<Item = Vec<&str>> {
    let line = line.trim();
    let line = line.split("  ").next().unwrap_or(line);
    line.split(['|', ';', '>', '<', '&']).filter_map(|command| {
        let command = command.trim().trim_start_matches("$ ").trim_start_matches("sudo ");
        let words = command.strip_prefix("flashmark ")?.split_whitespace();
        Some(words.take_while(|word| !word.starts_with('#') && *word != "\\").collect())
    })
}

/// Commands of ours in documents are such that the program takes: none is out of date, and no two
/// have run together.
pub fn commands_in_documents_are_commands(project: &Project) -> Vec<Fault> {
    let why = "a command that a document shows is typed as it stands there";
    let documents = project.all().filter(|(path, _)| path.ends_with(".md"));
    let mut all = all_commands();
    let mut faults = Vec::new();
    for (path, text) in documents {
        for (number, words) in code_lines(text)
            .flat_map(|(number, line)| commands(line).map(move |words| (number, words)))
        {
            let typed = words.iter().map(|word| word.trim_matches(['\'', '"']));
            let typed = std::iter::once("flashmark").chain(typed);
            let Err(error) = all.try_get_matches_from_mut(typed) else {
                continue;
            };
            if error.use_stderr() {
                let said = error.to_string();
                let first = said.lines().next().unwrap_or_default();
                faults.push(Fault::new(
                    path,
                    format!("line {number}: flashmark {}: {first}", words.join(" ")),
                    why,
                ));
            }
        }
    }
    faults
}
