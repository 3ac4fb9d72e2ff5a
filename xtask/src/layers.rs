//! Rules about the project as text that neither the compiler, clippy nor cargo-deny has: who
//! imports whom, how large a crate may be, and where links and commands in documents lead.
//!
//! A rule is a function from the project's text to faults; each fault says which file, what was
//! found, and why the rule exists, so that whoever meets one can judge whether the rule or the code
//! is wrong.

mod ceilings;
mod circles;
mod commands;
mod dependencies;
mod imports;
mod links;
mod project;
mod sources;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

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
    imports::every_crate_has_a_layer,
    imports::imports_follow_the_table,
    imports::lints_are_inherited,
    ceilings::crates_keep_their_ceilings,
    circles::modules_form_no_circle,
    commands::commands_in_documents_are_commands,
    dependencies::dependencies_are_explained,
    links::field_citations_exist,
    links::links_between_documents_lead_there,
];

/// What `cargo xtask layers` does beside checking.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Flags {
    /// Prints the lines of code and of tests of each crate instead.
    #[arg(long)]
    pub count: bool,
}

fn faults(project: &Project) -> Vec<Fault> {
    let mut faults: Vec<Fault> = RULES.iter().flat_map(|rule| rule(project)).collect();
    faults.sort();
    faults.dedup();
    faults
}

/// Checks the project that lies at `root`; an error when a rule is broken.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let project = Project::read(root)?;
    if flags.count {
        print!("{}", ceilings::table(&project));
        return Ok(());
    }
    let faults = faults(&project);
    for fault in &faults {
        println!("{fault}");
    }
    match faults.len() {
        0 => {
            println!("layers: {} rules hold over {} files", RULES.len(), project.len());
            Ok(())
        }
        1 => bail!("layers: one rule is broken"),
        n => bail!("layers: {n} faults"),
    }
}
