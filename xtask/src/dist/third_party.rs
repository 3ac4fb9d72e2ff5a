//! Third-party packages in a program: a list for machines (CycloneDX) and the texts of the
//! licences.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Program, cargo, output};

/// A third-party package that is linked into a program.
struct Package {
    name: String,
    version: String,
    /// Licence as an SPDX expression.
    licence: String,
}

/// File names of the list and of the texts among the documents of a program.
pub fn names(program: &Program) -> [String; 2] {
    [format!("{}.cdx.json", program.name), "third-party.txt".to_owned()]
}

/// Writes list and texts to the documents of a program.
pub fn write(root: &Path, program: &Program, target: &str, tree: &Path) -> Result<()> {
    let packages = linked(root, program, target)?;
    let documents = tree.join("share/doc").join(program.name);
    let [list, texts] = names(program).map(|name| documents.join(name));
    fs::write(list, format!("{:#}\n", bill_of_materials(program, &packages)))?;
    fs::write(texts, texts_of(&packages, &sources(root, target)?)?)?;
    Ok(())
}

/// Third-party packages that are linked into a program on a target; macros and build scripts are
/// not.
fn linked(root: &Path, program: &Program, target: &str) -> Result<Vec<Package>> {
    let tree = output(
        cargo(root)
            .args(["tree", "--locked", "--package", program.name, "--target", target])
            .args(["--edges", "normal,no-proc-macro", "--prefix", "none", "--no-dedupe"])
            .args(["--format", "{p}\t{l}"]),
    )?;
    let mut lines: Vec<&str> = tree.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    Ok(lines.into_iter().filter_map(package).collect())
}

/// Parses a line of `cargo tree`: `name vVERSION<tab>LICENCE`. Our own packages have their path
/// behind the version.
fn package(line: &str) -> Option<Package> {
    let (package, licence) = line.split_once('\t')?;
    let (name, version) = package.split_once(" v")?;
    (!version.contains(' ')).then(|| Package {
        name: name.to_owned(),
        version: version.to_owned(),
        licence: licence.replace('/', " OR "),
    })
}

/// The list in the form of CycloneDX 1.5 (ECMA-424).
fn bill_of_materials(program: &Program, packages: &[Package]) -> Value {
    let component = |package: &Package| {
        let Package { name, version, licence } = package;
        let address = format!("pkg:cargo/{name}@{version}");
        json!({
            "type": "library", "bom-ref": address, "name": name, "version": version,
            "licenses": [{ "expression": licence }], "purl": address,
        })
    };
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": { "component": {
            "type": "application", "bom-ref": program.name, "name": program.name, "version": version,
        }},
        "components": packages.iter().map(component).collect::<Vec<_>>(),
    })
}

/// Directories of the sources of all packages, by name and version.
fn sources(root: &Path, target: &str) -> Result<BTreeMap<(String, String), PathBuf>> {
    let said = output(cargo(root).args([
        "metadata",
        "--locked",
        "--format-version",
        "1",
        "--filter-platform",
        target,
    ]))?;
    let metadata: Value = serde_json::from_str(&said)?;
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let source = |package: &Value| {
        let text = |key: &str| Some(package[key].as_str()?.to_owned());
        let directory = PathBuf::from(text("manifest_path")?).parent()?.to_owned();
        Some(((text("name")?, text("version")?), directory))
    };
    Ok(packages.iter().filter_map(source).collect())
}

/// Text with each licence once, below the packages that have it.
fn texts_of(packages: &[Package], sources: &BTreeMap<(String, String), PathBuf>) -> Result<String> {
    let mut holders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::new();
    for package in packages {
        let Package { name, version, licence } = package;
        writeln!(list, "{name} {version}: {licence}")?;
        let directory = sources
            .get(&(name.clone(), version.clone()))
            .with_context(|| format!("{name} {version} has no sources here"))?;
        for text in licence_files(directory)? {
            holders.entry(text).or_default().push(format!("{name} {version}"));
        }
    }
    let mut page = format!("Packages that are linked into the program:\n\n{list}");
    for (text, names) in &holders {
        write!(page, "\n{}\n{}\n\n{}\n", "-".repeat(72), names.join(", "), text.trim_end())?;
    }
    Ok(page)
}

/// Texts of the files in a directory with names of licences.
fn licence_files(directory: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let is_licence = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|start| name.starts_with(start));
        if is_licence && path.is_file() {
            found.push(fs::read_to_string(&path).with_context(|| path.display().to_string())?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_others_are_listed_and_ours_are_not() {
        let read = |line| package(line).map(|it| (it.name, it.version, it.licence));
        assert_eq!(read("flashmark-stats v0.1.0 (/src/crates/stats)\tMIT"), None);
        let said = ("crc".to_owned(), "3.4.0".to_owned(), "MIT OR Apache-2.0".to_owned());
        assert_eq!(read("crc v3.4.0\tMIT/Apache-2.0"), Some(said));
    }

    #[test]
    fn a_text_that_two_packages_share_stands_once() {
        let directory = tempfile::tempdir().unwrap();
        let package = |name: &str, text: &str| {
            let sources = directory.path().join(name);
            fs::create_dir(&sources).unwrap();
            fs::write(sources.join("LICENSE-MIT"), text).unwrap();
            fs::write(sources.join("lib.rs"), "code").unwrap();
            let version = "1.0.0".to_owned();
            let package = Package { name: name.to_owned(), version, licence: "MIT".to_owned() };
            (package, sources)
        };
        let all = [package("a", "one\n"), package("b", "two\n"), package("c", "one\n")];
        let key = |package: &Package| (package.name.clone(), package.version.clone());
        let sources = all.iter().map(|(package, path)| (key(package), path.clone())).collect();
        let packages = all.map(|(package, _)| package);
        insta::assert_snapshot!(texts_of(&packages, &sources).unwrap(), @r"
        Packages that are linked into the program:

        a 1.0.0: MIT
        b 1.0.0: MIT
        c 1.0.0: MIT

        ------------------------------------------------------------------------
        a 1.0.0, c 1.0.0

        one

        ------------------------------------------------------------------------
        b 1.0.0

        two
        ");
        assert!(
            texts_of(&packages, &BTreeMap::new()).is_err(),
            "no licence is left out in silence"
        );
    }
}
