//! The project as text: every file that is, or would be, under version control.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::sources::{is_tests, tokens};

/// Path from the root, with forward slashes, to text.
pub struct Project {
    files: BTreeMap<String, String>,
    /// Files that are not text: pictures and captures.
    others: BTreeSet<String>,
    /// Sources of the members, tests excepted.
    sources: BTreeMap<String, Vec<String>>,
}

/// Paths from the root of what is tracked in the checkout at `root`, and of what is new and not
/// ignored.
fn listed(root: &Path) -> Result<Vec<String>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("git is needed to know which files belong to the project")?;
    ensure!(
        listed.status.success(),
        "git ls-files: {}",
        String::from_utf8_lossy(&listed.stderr).trim()
    );
    let names = String::from_utf8(listed.stdout).context("a file name is not UTF-8")?;
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

impl Project {
    /// Reads the checkout at `root`: what is tracked, and what is new and not ignored.
    pub fn read(root: &Path) -> Result<Project> {
        let (mut files, mut others) = (BTreeMap::new(), BTreeSet::new());
        for name in listed(root)? {
            match std::fs::read_to_string(root.join(&name)) {
                Ok(text) => drop(files.insert(name, text)),
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    others.insert(name);
                }
                Err(_) => {}
            }
        }
        Ok(Project { sources: sources(&files), files, others })
    }

    /// A made-up project.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Project {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        let files = files.collect();
        Project { sources: sources(&files), files, others: BTreeSet::new() }
    }

    /// Sources below a folder, without tests: path and tokens.
    pub fn sources<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a [String])> {
        self.sources
            .iter()
            .map(|(path, tokens)| (path.as_str(), tokens.as_slice()))
            .filter(move |(path, _)| path.starts_with(folder))
    }

    /// Number of files that are text.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// A file's text, if there is such a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether there is such a file, text or not.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.others.contains(path)
    }

    /// All files: path and text.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// All sources in Rust, tests included: path and text.
    pub fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all().filter(|(path, _)| path.ends_with(".rs"))
    }

    /// Folder names of all crates.
    pub fn crates(&self) -> impl Iterator<Item = &str> {
        self.all()
            .filter_map(|(path, _)| path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"))
            .filter(|name| !name.contains('/'))
    }
}

fn sources(files: &BTreeMap<String, String>) -> BTreeMap<String, Vec<String>> {
    let is_source = |path: &str| {
        path.ends_with(".rs")
            && (path.contains("/src/") && path.starts_with("crates/") || path.starts_with("xtask/"))
            && !is_tests(path)
    };
    let ours = files.iter().filter(|(path, _)| is_source(path));
    ours.map(|(path, text)| (path.clone(), tokens(text))).collect()
}
