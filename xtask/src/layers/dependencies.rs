//! Crates from outside, and what docs/dependencies.md says about them.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::Fault;
use super::imports::{package, tables};
use super::project::Project;

const DEPENDENCIES: &str = "docs/dependencies.md";
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
            format!("does not say what '{name}' is for: write - **{name}**: ..."),
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
