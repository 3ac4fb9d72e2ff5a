//! Rules about the project as text that neither the compiler, clippy nor cargo-deny has: who
//! imports whom, names, and the documents that go with the code.
//!
//! A rule is a function from the project's text to faults; each fault says which file, what was
//! found, and why the rule exists, so that whoever meets one can judge whether the rule or the code
//! is wrong.

mod circles;
mod citations;
mod commands;
mod documents;
mod layers;
mod names;
mod project;
mod sentences;
mod sources;
#[cfg(test)]
mod tests;
mod vocabulary;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

pub use citations::headings;
use project::Project;

/// A place where a rule is broken, and why there is that rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    file: String,
    what: String,
    why: &'static str,
}

impl Fault {
    fn new(file: impl Into<String>, what: impl Into<String>, why: &'static str) -> Fault {
        Fault { file: file.into(), what: what.into(), why }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n    because {}", self.file, self.what, self.why)
    }
}

/// A rule of the house.
type Rule = fn(&Project) -> Vec<Fault>;

const RULES: &[Rule] = &[
    layers::every_crate_has_a_layer,
    layers::imports_follow_the_table,
    layers::lints_are_inherited,
    layers::main_only_composes,
    names::a_public_name_has_one_meaning,
    names::replaced_words_stay_away,
    names::names_of_the_record_are_not_spelled_out,
    sentences::sentences_are_in_the_fields_words,
    vocabulary::names_are_in_the_fields_words,
    vocabulary::tests_are_named_in_the_fields_words,
    vocabulary::comments_are_in_the_fields_words,
    vocabulary::doc_comments_name_the_thing,
    circles::modules_form_no_circle,
    commands::commands_in_documents_are_commands,
    documents::dependencies_are_explained,
    documents::the_glossary_has_every_word,
    documents::architecture_names_every_crate,
    documents::the_changelog_is_open,
    documents::no_machine_is_named,
    citations::field_citations_exist,
    citations::links_between_documents_lead_there,
    citations::nothing_is_cited_by_key,
];

fn faults(project: &Project) -> Vec<Fault> {
    let mut faults: Vec<Fault> = RULES.iter().flat_map(|rule| rule(project)).collect();
    faults.sort();
    faults.dedup();
    faults
}

/// Checks the project that lies at `root`; an error when a rule is broken.
pub fn run(root: &Path) -> Result<()> {
    let project = Project::read(root)?;
    let faults = faults(&project);
    for fault in &faults {
        println!("{fault}");
    }
    match faults.len() {
        0 => {
            println!("tidy: {} rules hold over {} files", RULES.len(), project.len());
            Ok(())
        }
        1 => bail!("tidy: one rule is broken"),
        n => bail!("tidy: {n} faults"),
    }
}
