//! What can be checked about the project as text: the walls between the crates, and the documents
//! that go with the code.
//!
//! [`CRATES`] is the import table of ARCHITECTURE.md as data. A rule is a function from the
//! project's text to faults; each fault says which file, what was found, and why the rule exists,
//! so that whoever meets one can judge whether the rule or the code is wrong.

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

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

pub use citations::headings;
use project::Project;

/// A crate with a wall around it: `crates/<name>`.
pub struct CrateRules {
    /// Folder name; the package is `flashmark-<name>`, or `flashmark` for the program itself.
    pub name: &'static str,
    /// Crates it may depend on.
    pub imports: &'static [&'static str],
    /// Crates that its tests may depend on beside these. Hardly any: a test that reaches over a
    /// wall shows that there is none.
    pub tests_import: &'static [&'static str],
    /// Paths and macros that must not appear in its sources (tests excepted).
    pub never: &'static [&'static str],
    /// Why there are these rules, told with a fault.
    pub because: &'static str,
    /// Whether its `clippy.toml` must ban the same, so that the editor says so while one types.
    pub clippy: bool,
}

/// The rules of every crate; one that is not here is a fault.
pub const CRATES: &[CrateRules] = &[
    CrateRules {
        name: "record",
        imports: &[],
        tests_import: &[],
        never: &["std::fs", "std::net", "std::thread", CLOCK, WALL_CLOCK, PRINT, EPRINT],
        because: "a record is data: whoever holds it can redo every table without the machine it was made on",
        clippy: false,
    },
    CrateRules {
        name: "stats",
        imports: &[],
        tests_import: &[],
        never: &[
            "std::fs",
            "std::net",
            "std::thread",
            "std::env",
            CLOCK,
            WALL_CLOCK,
            PRINT,
            EPRINT,
        ],
        because: "statistics get numbers and give numbers; what they mean is not their business",
        clippy: true,
    },
    CrateRules {
        name: "device",
        imports: &["record", "stats"],
        tests_import: &[],
        never: &["std::fs", "std::net", "std::thread", CLOCK, WALL_CLOCK, PRINT, EPRINT],
        because: "the contract must hold for every backend, in real and in virtual time",
        clippy: false,
    },
    CrateRules {
        name: "blockio",
        imports: &["device", "record"],
        tests_import: &[],
        never: &["std::net", PRINT, EPRINT],
        because: "the crate with the unsafe code does I/O and nothing else, so that it can be read in one sitting",
        clippy: false,
    },
    CrateRules {
        name: "sim",
        imports: &["device", "record", "stats"],
        tests_import: &[],
        never: &["std::fs", "std::net", "std::thread", CLOCK, WALL_CLOCK, PRINT, EPRINT],
        because: "a simulated medium runs in virtual time: same profile and seed, same bytes, on every machine",
        clippy: true,
    },
    CrateRules {
        name: "suite",
        imports: &["device", "record", "stats"],
        // The tests of the tests run on simulated media; the crate itself knows no device but the
        // contract.
        tests_import: &["sim"],
        never: &[
            "std::fs",
            "std::net",
            "std::thread",
            "std::env",
            CLOCK,
            WALL_CLOCK,
            PRINT,
            EPRINT,
        ],
        because: "the device is the clock, and a test must not find out which device it got",
        clippy: true,
    },
    CrateRules {
        name: "findings",
        imports: &["record", "stats"],
        // What is concluded of simulated media is held to the letter.
        tests_import: &["device", "sim", "suite"],
        never: &["std::fs", "std::net", "std::thread", CLOCK, WALL_CLOCK, PRINT, EPRINT],
        because: "a conclusion is a function of the record; anyone can draw it again",
        clippy: true,
    },
    CrateRules {
        name: "host",
        // What a loop device is over and whether a file has a writer only ioctls and fcntls tell.
        imports: &["record", "blockio"],
        tests_import: &[],
        never: &["std::net", PRINT, EPRINT],
        because: "it says what is there; the program prints",
        clippy: false,
    },
    CrateRules {
        name: "lab",
        imports: &["host", "device", "suite", "record", "stats"],
        tests_import: &[],
        never: &["std::net", PRINT, EPRINT],
        because: "it does work and reports events; the program prints",
        clippy: false,
    },
    CrateRules {
        name: "store",
        imports: &["record"],
        tests_import: &["stats"],
        never: &["std::net", PRINT, EPRINT],
        because: "it keeps what it is given; a server has its own crate",
        clippy: false,
    },
    CrateRules {
        name: "collection",
        imports: &["record", "findings"],
        // Records of other tools and publications, none of which is refused.
        tests_import: &["store"],
        never: &["std::fs", "std::net", "std::thread", CLOCK, WALL_CLOCK, PRINT, EPRINT],
        because: "a verdict on a run is a function of its bytes; whoever has them can repeat it",
        clippy: true,
    },
    CrateRules {
        name: "report",
        imports: &["record", "findings", "stats"],
        tests_import: &[],
        never: &[
            "std::fs",
            "std::net",
            "std::thread",
            "std::env",
            "std::process",
            CLOCK,
            WALL_CLOCK,
            PRINT,
            EPRINT,
        ],
        because: "a report is a function of records: same record, same bytes",
        clippy: true,
    },
    CrateRules {
        name: "site",
        imports: &["collection", "store", "report", "findings", "record"],
        tests_import: &["stats"],
        never: &[],
        because: "it faces the network; what could touch a medium is not linked into it",
        clippy: false,
    },
    CrateRules {
        name: "flashmark",
        imports: &[
            "record",
            "stats",
            "device",
            "blockio",
            "sim",
            "suite",
            "findings",
            "host",
            "lab",
            "store",
            "collection",
            "report",
        ],
        tests_import: &[],
        never: &[PRINT, EPRINT, "print!", "eprint!"],
        because: "a closed terminal or a full file must not end a run: `say!` and `outputs::print` outlast both",
        clippy: false,
    },
];

/// The workspace's own tools: they may look at everything, and nothing may look at them.
const XTASK_IMPORTS: &[&str] = &[
    "flashmark",
    "record",
    "stats",
    "device",
    "blockio",
    "sim",
    "suite",
    "findings",
    "host",
    "lab",
    "store",
    "collection",
    "report",
];

const CLOCK: &str = "std::time::Instant";
const WALL_CLOCK: &str = "std::time::SystemTime";
const PRINT: &str = "println!";
const EPRINT: &str = "eprintln!";

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
    layers::every_crate_has_rules,
    layers::imports_follow_the_table,
    layers::heavy_dependencies_stay_in_their_crates,
    layers::lints_are_inherited,
    layers::clippy_bans_what_the_crate_must_never_know,
    sources::unsafe_lives_in_blockio,
    sources::crates_do_not_know_what_they_must_not,
    sources::nothing_is_left_to_do,
    sources::main_only_composes,
    names::a_public_name_has_one_meaning,
    names::replaced_words_stay_away,
    names::names_of_the_record_are_not_spelled_out,
    sentences::sentences_are_in_the_fields_words,
    circles::modules_form_no_circle,
    commands::commands_in_documents_are_commands,
    documents::dependencies_are_explained,
    documents::the_glossary_has_every_word,
    documents::architecture_names_every_crate,
    documents::the_changelog_is_open,
    documents::no_machine_is_named,
    citations::what_is_cited_of_the_field_is_there,
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
