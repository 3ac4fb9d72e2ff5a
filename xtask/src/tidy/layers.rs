//! Who may import whom, from the manifests.

use toml::{Table, Value};

use super::project::Project;
use super::{CRATES, CrateRules, Fault, XTASK_IMPORTS};

/// Crates that only some crates may have: they bring what the other crates are walled off from.
const HEAVY: &[(&str, &[&str], &str)] = &[
    ("libc", &["blockio"], "raw system calls need unsafe code, which lives in blockio"),
    ("io-uring", &["blockio"], "raw system calls need unsafe code, which lives in blockio"),
    ("clap", &["flashmark", "site", "xtask"], "only programs know a command line"),
    ("indicatif", &["flashmark"], "only the program knows a terminal"),
    // `store` only turns the moments that other tools note into words; that it asks no clock is in
    // CRATES.
    (
        "jiff",
        &["collection", "flashmark", "site", "store"],
        "the wall clock is read by programs and handed down",
    ),
    ("jsonschema", &["flashmark", "site", "xtask"], "it is for tests, and large"),
];

const TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

fn rules(name: &str) -> Option<&'static CrateRules> {
    CRATES.iter().find(|rules| rules.name == name)
}

/// The crate behind a dependency's name, as manifests write it.
fn crate_named(dependency: &str) -> Option<&str> {
    let name = dependency.strip_prefix("flashmark-").unwrap_or(dependency);
    (rules(name).is_some() || name == "xtask").then_some(name)
}

/// Manifest path and name of every member.
fn members(project: &Project) -> impl Iterator<Item = (String, String)> {
    let crates =
        project.crates().map(|name| (format!("crates/{name}/Cargo.toml"), name.to_owned()));
    crates.chain([("xtask/Cargo.toml".to_owned(), "xtask".to_owned())])
}

fn manifest(project: &Project, path: &str) -> Option<Table> {
    project.text(path)?.parse().ok()
}

/// Everything a manifest depends on, with the kind of table it stands in, for all platforms. A
/// renamed package counts under its own name.
fn dependencies(manifest: &Table) -> Vec<(&'static str, String)> {
    let platforms = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(|t| t.values())
        .filter_map(Value::as_table);
    let tables = std::iter::once(manifest).chain(platforms).flat_map(|table| {
        TABLES.iter().filter_map(|kind| Some((*kind, table.get(*kind)?.as_table()?)))
    });
    let name = |(key, value): (&String, &Value)| {
        value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned()
    };
    tables.flat_map(|(kind, table)| table.iter().map(move |entry| (kind, name(entry)))).collect()
}

/// A crate that is not in the table has no walls.
pub fn every_crate_has_rules(project: &Project) -> Vec<Fault> {
    let why = "the import table is only worth something if it is complete";
    let mut faults = Vec::new();
    for name in project.crates() {
        let file = format!("crates/{name}/Cargo.toml");
        if rules(name).is_none() {
            faults.push(Fault::new(
                &file,
                format!("'{name}' has no rules: add it to CRATES in xtask/src/tidy.rs and to ARCHITECTURE.md"),
                why,
            ));
        }
        let package = manifest(project, &file)
            .and_then(|table| Some(table.get("package")?.get("name")?.as_str()?.to_owned()));
        let wanted =
            if name == "flashmark" { "flashmark".to_owned() } else { format!("flashmark-{name}") };
        if package.as_deref() != Some(wanted.as_str()) {
            let why = "folder and package have one name, so that nobody has to look it up";
            faults.push(Fault::new(&file, format!("the package must be called '{wanted}'"), why));
        }
    }
    faults
}

/// A crate depends on no crates of ours but those that [`CRATES`] lets it import.
pub fn imports_follow_the_table(project: &Project) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (file, name) in members(project) {
        let Some(manifest) = manifest(project, &file) else {
            faults.push(Fault::new(&file, "cannot be read as TOML", "the layer check reads it"));
            continue;
        };
        let (allowed, in_tests, because) = match rules(&name) {
            Some(rules) => (rules.imports, rules.tests_import, rules.because),
            None => {
                (XTASK_IMPORTS, [].as_slice(), "the tools look at the program, not at the server")
            }
        };
        for (kind, dependency) in dependencies(&manifest) {
            let may = |import: &str| {
                allowed.contains(&import)
                    || (kind == "dev-dependencies" && in_tests.contains(&import))
            };
            if let Some(import) = crate_named(&dependency).filter(|import| !may(import)) {
                let allowed =
                    if allowed.is_empty() { "no crate".to_owned() } else { allowed.join(", ") };
                faults.push(Fault::new(
                    &file,
                    format!("'{name}' imports '{import}' in its {kind}; it may import {allowed}"),
                    because,
                ));
            }
        }
    }
    faults
}

/// Some crates from outside are a wall of their own.
pub fn heavy_dependencies_stay_in_their_crates(project: &Project) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (file, name) in members(project) {
        let manifest = manifest(project, &file).unwrap_or_default();
        let dependencies: Vec<String> =
            dependencies(&manifest).into_iter().map(|(_, dependency)| dependency).collect();
        if name == "stats" {
            let outside = ["insta", "proptest", "tempfile"];
            let foreign = dependencies.iter().filter(|dependency| {
                !outside.contains(&dependency.as_str()) && crate_named(dependency).is_none()
            });
            faults.extend(foreign.map(|foreign| {
                Fault::new(
                    &file,
                    format!("'stats' depends on '{foreign}'"),
                    "every published number goes through it: it can be checked by reading it alone",
                )
            }));
        }
        for (heavy, owners, why) in HEAVY {
            if dependencies.iter().any(|dependency| dependency == heavy)
                && !owners.contains(&name.as_str())
            {
                faults.push(Fault::new(
                    &file,
                    format!(
                        "'{name}' depends on '{heavy}', which belongs to {}",
                        owners.join(", ")
                    ),
                    why,
                ));
            }
        }
    }
    faults
}

/// `unsafe_code = "forbid"` in the workspace holds only where it is inherited.
pub fn lints_are_inherited(project: &Project) -> Vec<Fault> {
    let why = "the workspace's lints forbid unsafe code, unwrap and leftovers; blockio alone has its own, stricter about unsafe blocks";
    let get = |table: &Table, path: &[&str]| {
        path.iter().try_fold(Value::Table(table.clone()), |value, key| value.get(key).cloned())
    };
    let mut faults = Vec::new();
    for (file, name) in members(project).filter(|(_, name)| name != "blockio") {
        let inherits = manifest(project, &file)
            .and_then(|table| get(&table, &["lints", "workspace"]))
            == Some(Value::Boolean(true));
        if !inherits {
            faults.push(Fault::new(
                &file,
                format!("'{name}' does not inherit the lints: write [lints] workspace = true"),
                why,
            ));
        }
    }
    let forbids = manifest(project, "Cargo.toml")
        .and_then(|table| get(&table, &["workspace", "lints", "rust", "unsafe_code"]));
    if forbids != Some(Value::String("forbid".into())) {
        faults.push(Fault::new(
            "Cargo.toml",
            "[workspace.lints.rust] must say unsafe_code = \"forbid\"",
            why,
        ));
    }
    faults
}

/// The crates with the hardest walls have them in `clippy.toml` too: a ban there is seen while
/// typing, with its reason.
pub fn clippy_bans_what_the_crate_must_never_know(project: &Project) -> Vec<Fault> {
    let mut faults = Vec::new();
    for rules in CRATES
        .iter()
        .filter(|rules| rules.clippy && project.crates().any(|name| name == rules.name))
    {
        let file = format!("crates/{}/clippy.toml", rules.name);
        let Some(text) = project.text(&file) else {
            faults.push(Fault::new(&file, "is missing", rules.because));
            continue;
        };
        let banned = match text.parse::<Table>() {
            Ok(table) => bans(&table),
            Err(error) => {
                faults.push(Fault::new(
                    &file,
                    format!("cannot be read: {}", error.message()),
                    rules.because,
                ));
                continue;
            }
        };
        for (path, _) in banned.iter().filter(|(_, has_reason)| !has_reason) {
            faults.push(Fault::new(
                &file,
                format!("'{path}' is banned without a reason"),
                "whoever runs into a ban must learn why it is there",
            ));
        }
        for wanted in rules.never.iter().filter(|wanted| {
            ["std::fs", "std::net", "std::time::Instant", "std::time::SystemTime"].contains(wanted)
        }) {
            let covered = banned.iter().any(|(path, _)| {
                path == wanted
                    || path.strip_prefix(wanted).is_some_and(|rest| rest.starts_with("::"))
            });
            let only_pages_have_a_network_to_forget =
                *wanted == "std::net" && !["findings", "report"].contains(&rules.name);
            if !covered && !only_pages_have_a_network_to_forget {
                faults.push(Fault::new(
                    &file,
                    format!("nothing of '{wanted}' is banned"),
                    rules.because,
                ));
            }
        }
    }
    faults
}

/// Banned paths, and whether each has a reason.
fn bans(table: &Table) -> Vec<(String, bool)> {
    let lists = ["disallowed-types", "disallowed-methods", "disallowed-macros"]
        .into_iter()
        .filter_map(|key| table.get(key)?.as_array());
    let ban = |value: &Value| match value {
        Value::String(path) => Some((path.clone(), false)),
        other => Some((other.get("path")?.as_str()?.to_owned(), other.get("reason").is_some())),
    };
    lists.flatten().filter_map(ban).collect()
}
