//! Packages contain the files that their manifests name.

use toml::Table;

use super::*;

/// Sources and destinations of the files of a package, as its manifest has them.
fn assets(program: &Program) -> Vec<(String, String)> {
    let manifest = crate::root().join(program.sources).join("Cargo.toml");
    let manifest: Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
    let assets = manifest["package"]["metadata"]["deb"]["assets"].as_array().unwrap();
    let text = |asset: &toml::Value, at: usize| asset[at].as_str().unwrap().to_owned();
    assets.iter().map(|asset| (text(asset, 0), text(asset, 1))).collect()
}

#[test]
fn every_file_that_a_package_takes_is_there() {
    let dist = tempfile::tempdir().unwrap();
    for program in PROGRAMS {
        let tree = tree(dist.path(), program);
        documents::write(crate::root(), program, &tree).unwrap();
        for name in third_party::names(program) {
            fs::write(tree.join("share/doc").join(program.name).join(name), "").unwrap();
        }
        fs::create_dir(tree.join("bin")).unwrap();
        fs::write(tree.join("bin").join(program.name), "").unwrap();
        for (source, _) in assets(program) {
            let is_there = match source.strip_prefix("../../target/dist/tree/") {
                None => crate::root().join(program.sources).join(&source).exists(),
                Some(path) => match dist.path().join("tree").join(path) {
                    all if all.ends_with("*") => {
                        let directory = all.ancestors().find(|it| it.is_dir()).unwrap();
                        fs::read_dir(directory).unwrap().count() > 0
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
