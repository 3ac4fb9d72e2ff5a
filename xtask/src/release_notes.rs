//! `cargo xtask release-notes [VERSION]`: the notes of a release, from the changelog.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// Flags of the task.
#[derive(clap::Args)]
pub struct Flags {
    /// As the changelog heads it; what is not released yet without it.
    #[arg(default_value = "Unreleased")]
    version: String,
}

/// Prints the part of CHANGELOG.md about one version, without its heading.
///
/// # Errors
/// Where the changelog has no such version, or nothing under it.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let changelog = fs::read_to_string(root.join("CHANGELOG.md")).context("CHANGELOG.md")?;
    let version = flags.version.trim_start_matches('v');
    let notes = of_version(&changelog, version)
        .with_context(|| format!("CHANGELOG.md has no '## [{version}]'"))?;
    ensure!(!notes.is_empty(), "CHANGELOG.md says nothing under '## [{version}]'");
    println!("{notes}");
    Ok(())
}

/// Text between the heading of a version and the next one.
fn of_version<'a>(changelog: &'a str, version: &str) -> Option<&'a str> {
    let heading = format!("## [{version}]");
    let from = changelog
        .match_indices(&heading)
        .map(|(at, _)| at)
        .find(|at| *at == 0 || changelog.as_bytes()[at - 1] == b'\n')?;
    let rest = changelog[from..].split_once('\n')?.1;
    Some(rest.split("\n## [").next().unwrap_or(rest).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGELOG: &str = "# Changelog\n\nSee ## [1.0.0] below.\n\n## [Unreleased]\n\n## [1.0.0] - 2027-01-02\n\n### Added\n\n- One.\n\n## [0.9.0] - 2026-12-01\n\n- Two.\n";

    #[test]
    fn the_notes_of_a_version_are_what_stands_under_its_heading() {
        assert_eq!(of_version(CHANGELOG, "1.0.0"), Some("### Added\n\n- One."));
        assert_eq!(of_version(CHANGELOG, "0.9.0"), Some("- Two."));
        assert_eq!(of_version(CHANGELOG, "Unreleased"), Some(""));
        assert_eq!(of_version(CHANGELOG, "1.0"), None);
    }
}
