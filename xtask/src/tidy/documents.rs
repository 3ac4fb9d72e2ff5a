//! What must stand beside the code.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::project::Project;
use super::{CRATES, Fault};

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

/// Names of all packages from outside that the workspace or a member declares.
fn used_dependencies(project: &Project) -> BTreeSet<String> {
    let manifests = project
        .all()
        .filter(|(path, _)| path.ends_with("Cargo.toml"))
        .filter_map(|(_, text)| text.parse::<Table>().ok());
    let mut used = BTreeSet::new();
    for manifest in manifests {
        let shared = manifest.get("workspace").and_then(Value::as_table);
        let platforms = manifest
            .get("target")
            .and_then(Value::as_table)
            .into_iter()
            .flat_map(|t| t.values())
            .filter_map(Value::as_table);
        for table in std::iter::once(&manifest).chain(shared).chain(platforms) {
            for list in ["dependencies", "dev-dependencies", "build-dependencies"]
                .iter()
                .filter_map(|name| table.get(*name)?.as_table())
            {
                // A path is one of ours; `workspace = true` is declared, and so explained, at the
                // root.
                let foreign = list.iter().filter(|(_, value)| {
                    value.get("path").is_none() && value.get("workspace").is_none()
                });
                used.extend(foreign.map(|(key, value)| {
                    value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned()
                }));
            }
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
    let owners = CRATES.iter().filter(|rules| project.crates().any(|name| name == rules.name));
    let missing = owners.filter(|rules| !text.contains(&format!("`{}`", rules.name)));
    missing
        .map(|rules| {
            Fault::new(
                "ARCHITECTURE.md",
                format!("does not show `{}`", rules.name),
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

/// The project is the same wherever it is checked out, and builds from the public registry only.
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
    let public = concat!("source = \"registry+https://github.com/rust-lang/crat", "es.io-index\"");
    let lock = project.text("Cargo.lock").unwrap_or_default();
    let foreign = lock.lines().filter(|line| line.starts_with("source = ") && *line != public);
    faults.extend(foreign.map(|line| {
        Fault::new(
            "Cargo.lock",
            line,
            "everything comes from the public registry, so that everyone can build it",
        )
    }));
    faults
}
