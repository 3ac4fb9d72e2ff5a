//! Who may import whom, from the manifests. Bans within a crate stand in its `clippy.toml` and in
//! the lints of the workspace.

use toml::{Table, Value};

use super::Fault;
use super::project::Project;

/// A crate with a wall around it: `crates/<name>`.
pub struct Layer {
    /// Folder; the package is `flashmark-<name>`, or `flashmark` for the program itself.
    pub name: &'static str,
    /// Crates of ours that it may depend on.
    pub imports: &'static [&'static str],
    /// Crates of ours that its tests may depend on beside these.
    tests_import: &'static [&'static str],
    /// Reason of the wall, shown with a fault.
    because: &'static str,
}

const fn layer(
    name: &'static str,
    imports: &'static [&'static str],
    tests_import: &'static [&'static str],
    because: &'static str,
) -> Layer {
    Layer { name, imports, tests_import, because }
}

/// The import table of ARCHITECTURE.md as data; a crate that is not here is a fault.
#[rustfmt::skip]
pub const LAYERS: &[Layer] = &[
    layer("record", &[], &[],
        "a record is data: whoever holds it can redo every table without the machine it was made on"),
    layer("stats", &["record"], &[],
        "statistics get numbers and give numbers; what was measured is not their business"),
    layer("device", &["record", "stats"], &[],
        "the contract must hold for every backend, in real and in virtual time"),
    layer("blockio", &["device", "record"], &[],
        "the crate with the unsafe code does I/O and nothing else, so that it can be read in one sitting"),
    layer("sim", &["device", "record", "stats"], &[],
        "a simulated medium runs in virtual time: same profile and seed, same bytes, on every machine"),
    layer("suite", &["device", "record", "stats"], &["sim"],
        "a test must not find out which device it got"),
    layer("findings", &["record", "stats"], &["device", "sim", "suite"],
        "a conclusion is a function of the record; anyone can draw it again"),
    layer("host", &["record", "blockio"], &[], "it says what is there; the program prints"),
    layer("workloads", &["host", "device", "blockio", "suite", "record", "stats"], &[],
        "it does work and reports events; the program prints"),
    layer("import", &["record", "stats"], &[],
        "it turns bytes into records; whoever has a text can repeat it"),
    layer("store", &["record"], &[], "it keeps what it is given"),
    layer("collection", &["record", "stats", "findings", "report", "pages"], &["import"],
        "a verdict on a run is a function of its bytes; whoever has them can repeat it"),
    layer("report", &["record", "findings", "stats"], &[],
        "a report is a function of records: same record, same bytes"),
    layer("pages", &["record", "findings", "report"], &[],
        "a page is a function of records: same record, same bytes"),
    layer("program", &["record", "device", "report"], &[],
        "what every program needs; it does not know what a command does"),
    layer("session",
        &["program", "record", "stats", "device", "blockio", "sim", "suite", "findings", "host", "store", "report", "pages"],
        &[], "whoever measures goes through the same guards"),
    layer("flashmark",
        &["program", "session", "record", "device", "blockio", "sim", "suite", "findings", "host", "store", "report", "pages"],
        &["stats", "collection", "results"], "a program imports what it composes, and nobody imports a program"),
    layer("lab",
        &["program", "session", "record", "stats", "device", "blockio", "sim", "suite", "findings", "host", "store", "workloads", "report", "pages"],
        &[], "a program imports what it composes, and nobody imports a program"),
    layer("results",
        &["program", "session", "record", "findings", "store", "import", "collection", "report", "pages"],
        &["stats"], "a program imports what it composes, and nobody imports a program"),
    layer("xtask", &["flashmark", "lab", "results", "program", "session", "record", "findings", "report", "collection"], &[],
        "the tools look at what the programs do, not at their parts"),
];

/// Crates from outside that only some of ours may depend on.
const OWNED: &[(&str, &[&str], &str)] = &[
    ("libc", &["blockio"], "raw system calls need unsafe code, which lives in blockio"),
    ("io-uring", &["blockio"], "raw system calls need unsafe code, which lives in blockio"),
    (
        "clap",
        &["flashmark", "lab", "program", "results", "session", "xtask"],
        "only programs know a command line",
    ),
    ("indicatif", &["flashmark", "session"], "only programs know a terminal"),
    ("jiff", &["lab"], "the wall clock is read by programs, and `record::Moment` reads times"),
    ("jsonschema", &["flashmark", "results", "xtask"], "it is for tests, and large"),
];

/// All that the crate of pure numbers has from outside, for its tests.
const OF_STATS: [&str; 3] = ["insta", "proptest", "tempfile"];

/// A member of the workspace: manifest path, rules, manifest.
struct Member<'a> {
    file: String,
    layer: &'a Layer,
    manifest: Table,
}

fn layer_of(name: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.name == name)
}

/// The layer behind a dependency's name, as manifests write it.
fn named(dependency: &str) -> Option<&'static Layer> {
    layer_of(dependency.strip_prefix("flashmark-").unwrap_or(dependency))
}

fn members(project: &Project) -> impl Iterator<Item = Member<'_>> {
    let all = project.all().filter_map(|(path, text)| {
        let folder = path.strip_suffix("/Cargo.toml")?;
        let layer = layer_of(folder.strip_prefix("crates/").unwrap_or(folder))?;
        Some((path, layer, text))
    });
    all.map(|(path, layer, text)| Member {
        file: path.to_owned(),
        layer,
        manifest: text.parse().unwrap_or_default(),
    })
}

/// Tables of dependencies in a manifest, of all platforms, each with its kind.
pub fn tables(manifest: &Table) -> impl Iterator<Item = (&'static str, &Table)> {
    let platforms = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let all = std::iter::once(manifest).chain(platforms.filter_map(|(_, it)| it.as_table()));
    all.flat_map(|table| {
        ["dependencies", "dev-dependencies", "build-dependencies"]
            .into_iter()
            .filter_map(|kind| Some((kind, table.get(kind)?.as_table()?)))
    })
}

/// The package of an entry: a renamed one counts under its own name.
pub fn package<'a>((key, value): (&'a String, &'a Value)) -> &'a str {
    value.get("package").and_then(Value::as_str).unwrap_or(key)
}

/// A crate that is not in the table has no walls.
pub fn every_crate_has_a_layer(project: &Project) -> Vec<Fault> {
    let unknown = project.crates().filter(|name| layer_of(name).is_none());
    let fault = |name| {
        Fault::new(
            format!("crates/{name}/Cargo.toml"),
            format!("'{name}' is not in LAYERS (xtask/src/layers/imports.rs)"),
            "the import table is only worth something if it is complete",
        )
    };
    unknown.map(fault).collect()
}

/// A crate depends on what its layer may import, and on no crate from outside that others own.
pub fn imports_follow_the_table(project: &Project) -> Vec<Fault> {
    let mut faults = Vec::new();
    for Member { file, layer, manifest } in members(project) {
        for (kind, table) in tables(&manifest) {
            for dependency in table.iter().map(package) {
                if let Some(why) = refused(layer, kind, dependency) {
                    let what = format!("'{}' has '{dependency}' in its {kind}", layer.name);
                    faults.push(Fault::new(&file, what, why));
                }
            }
        }
    }
    faults
}

/// The reason why a crate may not have a dependency, if it may not.
fn refused(layer: &Layer, kind: &str, dependency: &str) -> Option<&'static str> {
    if let Some(import) = named(dependency) {
        let is_free = layer.imports.contains(&import.name)
            || kind == "dev-dependencies" && layer.tests_import.contains(&import.name);
        return (!is_free).then_some(layer.because);
    }
    if layer.name == "stats" && !OF_STATS.contains(&dependency) {
        return Some("published numbers go through it: it can be checked by reading it alone");
    }
    let (_, owners, why) = OWNED.iter().find(|(name, ..)| *name == dependency)?;
    (!owners.contains(&layer.name)).then_some(why)
}

/// The workspace's lints hold only where they are inherited; cargo's own lint for this is not
/// stable.
pub fn lints_are_inherited(project: &Project) -> Vec<Fault> {
    let inherits = |manifest: &Table| {
        manifest.get("lints").and_then(|lints| lints.get("workspace")?.as_bool()) == Some(true)
    };
    let bare = members(project)
        .filter(|member| member.layer.name != "blockio" && !inherits(&member.manifest));
    let fault = |member: Member| {
        Fault::new(
            member.file,
            "does not inherit the lints: write [lints] workspace = true",
            "they forbid unsafe code, unwrap, printing and leftovers; blockio has its own, stricter about unsafe blocks",
        )
    };
    bare.map(fault).collect()
}
