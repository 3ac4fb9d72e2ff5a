//! Packages contain the files that their manifests and units name.

use std::collections::BTreeSet;

use toml::Table;

use super::*;

/// Sources and destinations of the files of a package, as its manifest has them.
fn assets(program: &Program) -> Vec<(String, String)> {
    let folder = if program.name == "flashmark" { "flashmark" } else { "site" };
    let manifest = crate::root().join("crates").join(folder).join("Cargo.toml");
    let manifest: Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
    let assets = manifest["package"]["metadata"]["deb"]["assets"].as_array().unwrap();
    let text = |asset: &toml::Value, at: usize| asset[at].as_str().unwrap().to_owned();
    assets.iter().map(|asset| (text(asset, 0), text(asset, 1))).collect()
}

#[test]
fn every_file_that_a_package_takes_is_there() {
    let dist = tempfile::tempdir().unwrap();
    for program in &PROGRAMS {
        let tree = tree(dist.path(), program);
        documents::write(crate::root(), program, &tree).unwrap();
        for name in third_party::names(program) {
            fs::write(tree.join("share/doc").join(program.name).join(name), "").unwrap();
        }
        fs::create_dir(tree.join("bin")).unwrap();
        fs::write(tree.join("bin").join(program.name), "").unwrap();
        for (source, _) in assets(program) {
            let is_there = match source.strip_prefix("../../target/dist/tree/") {
                None => crate::root().join("crates/site").join(&source).exists(),
                Some(path) => match dist.path().join("tree").join(path) {
                    all if all.ends_with("*") => {
                        fs::read_dir(all.parent().unwrap()).unwrap().count() > 0
                    }
                    one => one.exists(),
                },
            };
            assert!(is_there, "{source}");
        }
        let changelog = fs::read_to_string(tree.with_extension("changelog")).unwrap();
        assert!(changelog.starts_with(&format!("{} (", program.name)), "{changelog}");
        assert!(changelog.contains("\n -- The Flashmark contributors <"), "{changelog}");
    }
}

#[test]
fn the_unit_names_files_of_its_package_and_settings_of_its_program() {
    let read = |name: &str| fs::read_to_string(crate::root().join("packaging").join(name)).unwrap();
    let (unit, settings) = (read("flashmark-site.service"), read("flashmark-site.default"));
    let installed: BTreeSet<String> = assets(&PROGRAMS[1])
        .into_iter()
        .map(|(source, to)| {
            let name = if to.ends_with('/') { source.rsplit('/').next().unwrap() } else { "" };
            format!("/{to}{name}")
        })
        .collect();
    let value = |key: &str| unit.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    let started = value("ExecStart=").split(' ').next().unwrap();
    assert!(installed.contains(started), "{started}: {installed:?}");
    let file = value("EnvironmentFile=-");
    assert!(installed.contains(file), "{file}: {installed:?}");

    let command = (PROGRAMS[1].command)();
    let known: BTreeSet<&str> = command
        .get_arguments()
        .filter_map(|argument| argument.get_env()?.to_str())
        .chain(["FLASHMARK_SITE_OPTIONS"])
        .collect();
    let named = format!("{unit}\n{settings}");
    let named: BTreeSet<&str> = named
        .split(|c: char| !c.is_ascii_uppercase() && c != '_')
        .filter(|word| word.starts_with("FLASHMARK_"))
        .collect();
    assert!(named.is_subset(&known), "{named:?} {known:?}");
    let options = settings.split_once("OPTIONS=\"").unwrap().1.split('"').next().unwrap();
    let typed = std::iter::once("flashmark-site").chain(options.split(' '));
    command.try_get_matches_from(typed).unwrap();
}
