//! What must stand beside the code.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::Fault;
use super::layers::{package, tables};
use super::project::Project;

const DEPENDENCIES: &str = "docs/dependencies.md";
const GLOSSARY: &str = "docs/glossary.md";

/// The words of the project: these and no others, in code, JSON and documents.
pub const WORDS: &[&str] = &[
    "medium",
    "device",
    "target",
    "test",
    "suite",
    "phase",
    "cell",
    "run",
    "record",
    "finding",
    "claim",
    "collection",
    "span",
    "AU",
    "prime",
    "MB",
    "MiB",
];

/// Every crate from outside is explained, and nothing is explained that is not there.
pub fn dependencies_are_explained(project: &Project) -> Vec<Fault> {
    let why = "a dependency is code that runs here and that we did not write: one line says what for, and why not our own";
    let text = project.text(DEPENDENCIES).unwrap_or_default();
    let explained: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("- **")?.split("**").next()).collect();
    let used = used_dependencies(project);
    let missing = used.iter().filter(|name| !explained.contains(name.as_str()));
    let missing = missing.map(|name| {
        Fault::new(
            DEPENDENCIES,
            format!("does not say what '{name}' is for: write - **{name}** (crates): ..."),
            why,
        )
    });
    let gone = explained.iter().filter(|name| !used.contains(**name));
    let gone = gone.map(|name| {
        Fault::new(DEPENDENCIES, format!("explains '{name}', which nothing depends on"), why)
    });
    missing.chain(gone).collect()
}

/// Names of all packages from outside that a workspace or a member declares. A path is one of ours;
/// `workspace = true` is declared, and so explained, at the root.
fn used_dependencies(project: &Project) -> BTreeSet<String> {
    let manifests = project
        .all()
        .filter(|(path, _)| path.ends_with("Cargo.toml"))
        .filter_map(|(_, text)| text.parse::<Table>().ok());
    let is_foreign =
        |value: &Value| value.get("path").is_none() && value.get("workspace").is_none();
    let mut used = BTreeSet::new();
    for manifest in manifests {
        let shared = manifest.get("workspace").and_then(Value::as_table);
        for (_, table) in std::iter::once(&manifest).chain(shared).flat_map(tables) {
            let foreign = table.iter().filter(|(_, value)| is_foreign(value));
            used.extend(foreign.map(|entry| package(entry).to_owned()));
        }
    }
    used
}

/// The vocabulary is fixed, and written down.
pub fn the_glossary_has_every_word(project: &Project) -> Vec<Fault> {
    let text = project.text(GLOSSARY).unwrap_or_default();
    let missing = WORDS.iter().filter(|word| !text.contains(&format!("**{word}**")));
    missing
        .map(|word| {
            Fault::new(
                GLOSSARY,
                format!("does not define **{word}**"),
                "code, JSON and documents use one word for one thing",
            )
        })
        .collect()
}

/// The map shows every crate there is.
pub fn architecture_names_every_crate(project: &Project) -> Vec<Fault> {
    let text = project.text("ARCHITECTURE.md").unwrap_or_default();
    let missing = project.crates().filter(|name| !text.contains(&format!("`{name}`")));
    missing
        .map(|name| {
            Fault::new(
                "ARCHITECTURE.md",
                format!("does not show `{name}`"),
                "the next person finds the way by this map",
            )
        })
        .collect()
}

/// A user-visible change has its line before it is released.
pub fn the_changelog_is_open(project: &Project) -> Vec<Fault> {
    let open = project.text("CHANGELOG.md").is_some_and(|text| text.contains("## [Unreleased]"));
    if open {
        Vec::new()
    } else {
        vec![Fault::new(
            "CHANGELOG.md",
            "has no section '## [Unreleased]'",
            "users learn here what changed for them",
        )]
    }
}

/// The project is the same wherever it is checked out.
pub fn no_machine_is_named(project: &Project) -> Vec<Fault> {
    // Split, so that this file does not name them either.
    let paths = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/tmp/ba", "sh_jobs")];
    let hosts = [
        concat!("index.crat", "es.io"),
        concat!("static.crat", "es.io"),
        concat!("artif", "actory"),
        concat!("jf", "rog"),
        concat!("deb.deb", "ian.org"),
    ];
    let mut faults = Vec::new();
    for (path, text) in project.all() {
        for (number, line) in text.lines().enumerate() {
            for needle in paths.iter().filter(|needle| line.contains(**needle)) {
                faults.push(Fault::new(
                    path,
                    format!("line {}: '{needle}' is a place on somebody's machine", number + 1),
                    "nobody else has it",
                ));
            }
            for needle in hosts.iter().filter(|needle| line.contains(**needle)) {
                faults.push(Fault::new(
                    path,
                    format!("line {}: '{needle}' is a download server", number + 1),
                    "which server a machine gets packages from is its owner's choice",
                ));
            }
        }
    }
    faults
}
