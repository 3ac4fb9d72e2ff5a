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
    insta::assert_snapshot!(check(layers::every_crate_has_a_layer, &[("crates/attic/Cargo.toml", ""), ("crates/sim/Cargo.toml", "")]), @"crates/attic/Cargo.toml: 'attic' is not in LAYERS (xtask/src/tidy/layers.rs)");
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
            "crates/site/Cargo.toml",
            "[dependencies]\nflashmark = { path = \"../flashmark\" }\nreport.workspace = true\n",
        ),
        ("crates/host/Cargo.toml", "[build-dependencies]\nlibc = \"0.2\"\nserde = \"1\"\n"),
        (
            "crates/stats/Cargo.toml",
            "[dependencies]\nserde.workspace = true\n[dev-dependencies]\ninsta.workspace = true\n",
        ),
        ("crates/blockio/Cargo.toml", "[dependencies]\nlibc = \"0.2\"\n"),
    ];
    insta::assert_snapshot!(check(layers::imports_follow_the_table, &files), @r"
    crates/host/Cargo.toml: 'host' has 'libc' in its build-dependencies
    crates/site/Cargo.toml: 'site' has 'flashmark' in its dependencies
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
    insta::assert_snapshot!(check(layers::lints_are_inherited, &files), @"crates/sim/Cargo.toml: does not inherit the lints: write [lints] workspace = true");
}

#[test]
fn no_layer_imports_itself_by_way_of_others() {
    fn reaches(from: &str, to: &str) -> bool {
        let imports = layers::LAYERS.iter().filter(|layer| layer.name == from);
        imports.flat_map(|layer| layer.imports).any(|it| *it == to || reaches(it, to))
    }
    for layer in layers::LAYERS {
        assert!(!reaches(layer.name, layer.name), "{}", layer.name);
    }
}

#[test]
fn a_long_main_is_found() {
    let (long, short) = ("x\n".repeat(70), "x\n".repeat(69));
    insta::assert_snapshot!(check(layers::main_only_composes, &[("crates/flashmark/src/main.rs", &long), ("xtask/src/main.rs", &short)]), @"crates/flashmark/src/main.rs: 70 lines; must be under 70");
}

#[test]
fn dependencies_are_explained_and_explanations_are_used() {
    let root = "[workspace.dependencies]\nserde = \"1\"\nrecord = { path = \"crates/record\" }\n";
    let member = "[dependencies]\nserde.workspace = true\n[target.x.dependencies]\nother = { package = \"renamed\", version = \"1\" }\n";
    let files = [
        ("Cargo.toml", root),
        ("crates/sim/Cargo.toml", member),
        ("docs/dependencies.md", "- **serde** (record): forms\n- **left-pad** (sim): pads\n"),
    ];
    insta::assert_snapshot!(check(documents::dependencies_are_explained, &files), @r"
    docs/dependencies.md: does not say what 'renamed' is for: write - **renamed** (crates): ...
    docs/dependencies.md: explains 'left-pad', which nothing depends on
    ");
}

#[test]
fn missing_words_crates_and_changelog_are_found() {
    let glossary: String = papers_words()
        .filter(|word| *word != "span")
        .map(|word| format!("**{word}** is\n"))
        .collect();
    insta::assert_snapshot!(check(documents::the_glossary_has_every_word, &[("docs/glossary.md", &glossary)]), @"docs/glossary.md: does not define **span**");
    insta::assert_snapshot!(check(documents::architecture_names_every_crate, &[("ARCHITECTURE.md", "`sim`"), ("crates/sim/Cargo.toml", ""), ("crates/host/Cargo.toml", "")]), @"ARCHITECTURE.md: does not show `host`");
    insta::assert_snapshot!(check(documents::the_changelog_is_open, &[("CHANGELOG.md", "## 0.1.0\n")]), @"CHANGELOG.md: has no section '## [Unreleased]'");
}

fn papers_words() -> impl Iterator<Item = &'static str> {
    documents::WORDS.iter().copied()
}

#[test]
fn a_place_on_a_machine_is_found() {
    let bad = concat!("see /wo", "rk/main\nsee /dev/root, /home/me and network/x\n");
    insta::assert_snapshot!(check(documents::no_machine_is_named, &[("docs/x.md", bad)]), @"docs/x.md: line 1: '/work/' is a place on somebody's machine");
}

#[test]
fn citations_that_lead_nowhere_are_found() {
    let page = (
        "docs/field/ftl.md",
        "# Translation layers\n\n```\n# no heading\n```\n\n## Morton's `dd`\n",
    );
    let code = "// (docs/field/ftl.md#model, docs/field/ftl.md#mortons-dd).\n/// docs/field/gone.md, docs/field/ftl.md and docs/field/\n";
    insta::assert_snapshot!(check(citations::field_citations_exist, &[page, ("crates/sim/src/lib.rs", code)]), @r"
    crates/sim/src/lib.rs: line 1: docs/field/ftl.md has no heading for #model
    crates/sim/src/lib.rs: line 2: docs/field/gone.md is not there
    ");
    let links = "[a](field/ftl.md#mortons-dd) [b](../README.md) [c](field/) [d](#here) [e](https://x.org/y.md)\n[f](field/ftl.md#no-heading)\n```\n[g](gone)\n```\n";
    let files = [page, ("docs/truth.md", links), ("README.md", "# x\n[truth](docs/truth.md)\n")];
    insta::assert_snapshot!(check(citations::links_between_documents_lead_there, &files), @r"
    docs/truth.md: line 1: docs/truth.md has no heading for #here
    docs/truth.md: line 2: docs/field/ftl.md has no heading for #no-heading
    ");
    let notes = concat!(
        "// see flash",
        ".md B3.4\n// (peers",
        ".md\n// wish 4)\n// docs/field/peers",
        ".md#guard\n"
    );
    insta::assert_snapshot!(check(citations::nothing_is_cited_by_key, &[("crates/sim/src/lib.rs", notes)]), @r"
    crates/sim/src/lib.rs: line 1: cites a key of notes that are not here
    crates/sim/src/lib.rs: line 2: cites a key of notes that are not here
    ");
}

#[test]
fn a_name_with_two_meanings_and_a_replaced_word_are_found() {
    let files = [
        ("crates/host/src/a.rs", "pub struct Window;\npub(crate) enum Place { A }\n"),
        (
            "crates/sim/src/b.rs",
            "/// One.\npub trait Window {}\nstruct Place;\npub fn place() {}\n",
        ),
        ("crates/sim/src/tests.rs", "pub struct Window;\n"),
    ];
    insta::assert_snapshot!(check(names::a_public_name_has_one_meaning, &files), @"crates/sim/src/b.rs: line 2: Window is something else in crates/host/src/a.rs");
    insta::assert_snapshot!(check(names::replaced_words_stay_away, &files), @"crates/host/src/a.rs: line 2: Place; say what kind of place: Location, RequestKey, RankPlace");
}

#[test]
fn a_name_of_the_record_that_is_spelled_out_is_found() {
    let files = [
        ("crates/record/src/test.rs", "crate::names! {\n    RANDOM_WRITE = \"random-write\",\n}\n"),
        ("crates/record/src/metric.rs", "crate::names! {\n    IOPS = \"iops\",\n}\n"),
        (
            "crates/findings/src/a.rs",
            "record.cells_of(\"random-write\");\nFinding::info(\"random-write\");\nof(cell, \"iops\");\n// of(cell, \"iops\")\ncell.test == \"logger\";\n",
        ),
    ];
    insta::assert_snapshot!(check(names::names_of_the_record_are_not_spelled_out, &files), @r#"
    crates/findings/src/a.rs: line 1: "random-write"; say test::RANDOM_WRITE
    crates/findings/src/a.rs: line 3: "iops"; say metric::IOPS
    "#);
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
fn a_replaced_word_is_found_in_sentences_and_nowhere_else() {
    let source = r##"// Writes in a row.
const NAME: &str = "overwhelm";
fn f() {
    say("what
        came in a row");
    say(r#"a "doubt" remains"#, '"', "planned plane");
    say("{doubt} and \"unfit\" too");
}
#[cfg(test)]
mod tests {
    const SAID: &str = "no doubt";
}
"##;
    let page = "Each goes\ngo\ntogether. See `in a row`.\n\n| in a row |\n\n    in a row\n\n```\nin a row\n```\nIt is certain\nto 5 %.\n";
    let files = [
        ("crates/findings/src/a.rs", source),
        ("crates/findings/src/tests.rs", "say(\"no doubt\");"),
        ("crates/report/templates/a.html", "<ul class=\"doubts in a row\">{{ doubt }} unfit\n"),
        ("docs/a.md", page),
        ("docs/field/a.md", "As seen in a row."),
    ];
    insta::assert_snapshot!(check(sentences::sentences_are_in_the_fields_words, &files), @r"
    crates/findings/src/a.rs: line 4: 'in a row'; say sequential; of counts, in succession
    crates/findings/src/a.rs: line 6: 'doubt'; say caveat
    crates/findings/src/a.rs: line 7: 'unfit'; say not suitable
    crates/report/templates/a.html: line 1: 'unfit'; say not suitable
    docs/a.md: line 1: 'go together'; say are autocorrelated
    docs/a.md: line 12: 'certain to'; say ± or confidence
    ");
}

#[test]
fn a_replaced_word_is_found_in_names_of_every_kind() {
    let files = [(
        "crates/host/src/a.rs",
        "struct Picture;\nfn second_look(lane: u32) { let is_doubted = lane; let says = said_now; }\nfn plane(overwhelm_time: f64) {}\n",
    )];
    insta::assert_snapshot!(check(vocabulary::names_are_in_the_fields_words, &files), @r"
    crates/host/src/a.rs: line 1: Picture; say topology: BlockTopology
    crates/host/src/a.rs: line 2: second_look; say recheck
    crates/host/src/a.rs: line 2: lane; say slot, worker
    crates/host/src/a.rs: line 2: is_doubted; say caveat
    crates/host/src/a.rs: line 2: lane; say slot, worker
    crates/host/src/a.rs: line 2: says; name what it holds
    crates/host/src/a.rs: line 2: said_now; say message, statement, reported
    ");
}

#[test]
fn a_replaced_word_is_found_in_names_of_tests() {
    let text = "#[cfg(test)]\nmod tests {\n    fn a_damage_is_told_once() {}\n    pub fn it_is_untold() {}\n}\n";
    let files = [("crates/host/src/a.rs", text), ("validation/tests/b.rs", "fn said() {}")];
    insta::assert_snapshot!(check(vocabulary::tests_are_named_in_the_fields_words, &files), @r"
    crates/host/src/a.rs: line 3: a_damage_is_told_once; say reported, distinguished
    validation/tests/b.rs: line 1: said; say message, statement, reported
    ");
}

#[test]
fn a_replaced_word_is_found_in_comments_but_not_in_code_and_links() {
    let files = [(
        "crates/host/src/a.rs",
        "/// Reads in a row.\n// A standstill of `overwhelm` (docs/field/a.md#overwhelm).\n/// It is in doubt.\nfn a() {}\n",
    )];
    insta::assert_snapshot!(check(vocabulary::comments_are_in_the_fields_words, &files), @r"
    crates/host/src/a.rs: line 1: 'in a row' in a comment; say sequential; of counts, in succession
    crates/host/src/a.rs: line 2: 'standstill' in a comment; say host stall
    ");
}

#[test]
fn doc_comments_that_ask_are_counted() {
    let asking = "/// What it is.\n/// Where a line goes on.\nfn a() {}\n/// A thing.\nfn b() {}\n";
    let files = [("crates/host/src/a.rs", asking)];
    insta::assert_snapshot!(check(vocabulary::doc_comments_name_the_thing, &files), @"crates: 1 of 2 doc comments begin with a question (50 %, at most 2 %)");
    assert_eq!(
        check(
            vocabulary::doc_comments_name_the_thing,
            &[("crates/host/src/a.rs", "/// A thing.\n")]
        ),
        ""
    );
}
