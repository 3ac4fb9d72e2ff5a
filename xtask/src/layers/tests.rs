//! The rules on made-up projects: each one must find what it is there for, and nothing in a good
//! house.

use super::project::Project;
use super::*;

/// The faults a rule finds, one to a line, without the reasons.
fn check(rule: Rule, files: &[(&str, &str)]) -> String {
    let found = rule(&Project::of(files));
    assert!(found.iter().all(|fault| !fault.why.is_empty()));
    found
        .iter()
        .map(|fault| format!("{}: {}", fault.file, fault.what))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_fault_is_printed_with_place_and_reason() {
    let fault = Fault::new(
        "crates/sim/src/lib.rs",
        "line 3: std::fs",
        "a simulated medium leaves nothing behind",
    );
    insta::assert_snapshot!(fault, @r"
    crates/sim/src/lib.rs: line 3: std::fs
        because a simulated medium leaves nothing behind
    ");
}

#[test]
fn a_crate_without_a_layer_is_found() {
    insta::assert_snapshot!(check(imports::every_crate_has_a_layer, &[("crates/attic/Cargo.toml", ""), ("crates/sim/Cargo.toml", "")]), @"crates/attic/Cargo.toml: 'attic' is not in LAYERS (xtask/src/layers/imports.rs)");
}

#[test]
fn an_import_over_a_wall_is_found_in_every_table() {
    let files = [
        (
            "crates/suite/Cargo.toml",
            "[dependencies]\nsim.workspace = true\n[dev-dependencies]\nblockio.workspace = true\nsim.workspace = true\n",
        ),
        (
            "crates/store/Cargo.toml",
            "[target.'cfg(unix)'.dependencies]\nlab = { package = \"flashmark-host\", path = \"../host\" }\n",
        ),
        (
            "crates/report/Cargo.toml",
            "[dependencies]\nflashmark = { path = \"../flashmark\" }\nfindings.workspace = true\n",
        ),
        ("crates/host/Cargo.toml", "[build-dependencies]\nlibc = \"0.2\"\nserde = \"1\"\n"),
        (
            "crates/stats/Cargo.toml",
            "[dependencies]\nserde.workspace = true\n[dev-dependencies]\ninsta.workspace = true\n",
        ),
        ("crates/blockio/Cargo.toml", "[dependencies]\nlibc = \"0.2\"\n"),
    ];
    insta::assert_snapshot!(check(imports::imports_follow_the_table, &files), @r"
    crates/host/Cargo.toml: 'host' has 'libc' in its build-dependencies
    crates/report/Cargo.toml: 'report' has 'flashmark' in its dependencies
    crates/stats/Cargo.toml: 'stats' has 'serde' in its dependencies
    crates/store/Cargo.toml: 'store' has 'flashmark-host' in its dependencies
    crates/suite/Cargo.toml: 'suite' has 'sim' in its dependencies
    crates/suite/Cargo.toml: 'suite' has 'blockio' in its dev-dependencies
    ");
}

#[test]
fn lints_that_are_not_inherited_are_found() {
    let files = [
        ("crates/blockio/Cargo.toml", ""),
        ("crates/sim/Cargo.toml", "[lints.rust]\n"),
        ("xtask/Cargo.toml", "[lints]\nworkspace = true\n"),
    ];
    insta::assert_snapshot!(check(imports::lints_are_inherited, &files), @"crates/sim/Cargo.toml: does not inherit the lints: write [lints] workspace = true");
}

#[test]
fn no_layer_imports_itself_by_way_of_others() {
    fn reaches(from: &str, to: &str) -> bool {
        let imports = imports::LAYERS.iter().filter(|layer| layer.name == from);
        imports.flat_map(|layer| layer.imports).any(|it| *it == to || reaches(it, to))
    }
    for layer in imports::LAYERS {
        assert!(!reaches(layer.name, layer.name), "{}", layer.name);
    }
}

#[test]
fn dependencies_are_explained_and_explanations_are_used() {
    let root = "[workspace.dependencies]\nserde = \"1\"\nrecord = { path = \"crates/record\" }\n";
    let member = "[dependencies]\nserde.workspace = true\n[target.x.dependencies]\nother = { package = \"renamed\", version = \"1\" }\n";
    let files = [
        ("Cargo.toml", root),
        ("crates/sim/Cargo.toml", member),
        ("docs/dependencies.md", "- **serde**: forms\n- **left-pad**: pads\n"),
    ];
    insta::assert_snapshot!(check(dependencies::dependencies_are_explained, &files), @r"
    docs/dependencies.md: does not say what 'renamed' is for: write - **renamed**: ...
    docs/dependencies.md: explains 'left-pad', which nothing depends on
    ");
}

#[test]
fn citations_that_lead_nowhere_are_found() {
    let page = (
        "docs/field/ftl.md",
        "# Translation layers\n\n```\n# no heading\n```\n\n## Morton's `dd`\n",
    );
    let code = "// (docs/field/ftl.md#model, docs/field/ftl.md#mortons-dd).\n/// docs/field/gone.md, docs/field/ftl.md and docs/field/\n";
    insta::assert_snapshot!(check(links::field_citations_exist, &[page, ("crates/sim/src/lib.rs", code)]), @r"
    crates/sim/src/lib.rs: line 1: docs/field/ftl.md has no heading for #model
    crates/sim/src/lib.rs: line 2: docs/field/gone.md is not there
    ");
    let links = "[a](field/ftl.md#mortons-dd) [b](../README.md) [c](field/) [d](#here) [e](https://x.org/y.md)\n[f](field/ftl.md#no-heading)\n```\n[g](gone)\n```\n";
    let files = [page, ("docs/truth.md", links), ("README.md", "# x\n[truth](docs/truth.md)\n")];
    insta::assert_snapshot!(check(links::links_between_documents_lead_there, &files), @r"
    docs/truth.md: line 1: docs/truth.md has no heading for #here
    docs/truth.md: line 2: docs/field/ftl.md has no heading for #no-heading
    ");
}

#[test]
fn a_command_that_is_out_of_date_or_has_run_together_with_another_is_found() {
    let text = "Text: flashmark nothing.\n\n    flashmark list      what is there\n    sudo flashmark run /dev/sdX --erase ID | less  # all of it\n    flashmark show x flashmark list\n\n```\n$ flashmark measure x; flashmark list\n```\n";
    insta::assert_snapshot!(check(commands::commands_in_documents_are_commands, &[("docs/a.md", text)]), @r"
    docs/a.md: line 5: flashmark show x flashmark list: error: unexpected argument 'flashmark' found
    docs/a.md: line 8: flashmark measure x: error: unrecognized subcommand 'measure'
    ");
}

#[test]
fn a_circle_is_found_through_what_is_given_on_and_below() {
    let manifest = ("crates/sim/Cargo.toml", "");
    let circle = [
        manifest,
        ("crates/sim/src/lib.rs", "mod a;\nmod b;\nmod c;\npub use b::{deep::Deep, B};\n"),
        ("crates/sim/src/a.rs", "use crate::{Deep, c};\n// use crate::c;\npub struct A;\n"),
        ("crates/sim/src/b/mod.rs", "pub mod deep;\npub struct B;\nuse self::deep::Deep;\n"),
        ("crates/sim/src/b/deep.rs", "use super::B;\nfn f() { crate::a::A; }\n"),
        ("crates/sim/src/c.rs", "const WORDS: &str = \"use crate::a;\";\n"),
    ];
    insta::assert_snapshot!(check(circles::modules_form_no_circle, &circle), @"crates/sim/src/: a circle: a, b");
    let straight = circle
        .map(|(path, text)| (path, if path.ends_with("deep.rs") { "use super::B;" } else { text }));
    assert_eq!(check(circles::modules_form_no_circle, &straight), "");
}

#[test]
fn a_crate_above_below_or_without_its_ceiling_is_found() {
    let files = [
        ("ceilings.toml", "total = 100\n[crates]\nsim = 50\nhost = 75\nsite = 25\n"),
        ("crates/sim/src/lib.rs", &"\n".repeat(51)),
        ("crates/host/src/lib.rs", &"\n".repeat(50)),
        ("fuzz/a.rs", "\n"),
    ];
    insta::assert_snapshot!(check(ceilings::crates_keep_their_ceilings, &files), @r"
    ceilings.toml: fuzz has 1 lines: its ceiling is 25, not 0
    ceilings.toml: host has 50 lines: its ceiling is 50, not 75
    ceilings.toml: sim has 51 lines: its ceiling is 75, not 50
    ceilings.toml: site is not there
    ceilings.toml: all crates have 102 lines, 2 more than the total
    ");
}

#[test]
fn lines_of_tests_are_counted_apart() {
    let source = "fn a() {\n}\n\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\n\n#[cfg(test)]\nmod testing;\n";
    let files = [
        ("crates/sim/src/lib.rs", source),
        ("crates/sim/src/testing.rs", "\n"),
        ("crates/sim/src/tests.rs", "\n"),
        ("crates/sim/tests/it/main.rs", "\n"),
        ("tests/skipped.rs", "\n"),
    ];
    insta::assert_snapshot!(ceilings::table(&Project::of(&files)), @r"
    crate            code    tests      all
    sim                 6        8       14
    tests               0        1        1
    all                 6        9       15
    ");
}
