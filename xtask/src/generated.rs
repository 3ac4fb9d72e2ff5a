//! Documents that are made from the code, kept under version control, and compared in the tests.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Flags of every command that makes a document.
#[derive(clap::Args)]
pub struct Flags {
    /// Compares what is there with what would be written, and writes nothing.
    #[arg(long)]
    pub check: bool,
}

/// Writes `text` to `path` below `root`, or compares. `task` is the command that repairs a
/// difference.
pub fn settle(root: &Path, path: &str, text: &str, task: &str, flags: &Flags) -> Result<()> {
    let file = root.join(path);
    if !flags.check {
        fs::write(&file, text).with_context(|| format!("writing {path}"))?;
        println!("wrote {path}");
        return Ok(());
    }
    let kept =
        fs::read_to_string(&file).with_context(|| format!("{path}: run cargo xtask {task}"))?;
    match difference(&kept, text) {
        None => {
            println!("{path} is up to date");
            Ok(())
        }
        Some(difference) => {
            bail!("{path} is not what the code says; run cargo xtask {task}\n{difference}")
        }
    }
}

/// First line in which two texts differ.
fn difference(kept: &str, made: &str) -> Option<String> {
    if kept == made {
        return None;
    }
    let end = "(end of file)";
    let (kept, made): (Vec<&str>, Vec<&str>) = (kept.lines().collect(), made.lines().collect());
    let line = (0..kept.len().max(made.len()))
        .find(|&i| kept.get(i) != made.get(i))
        .unwrap_or(kept.len().min(made.len()));
    let at = |lines: &[&str]| (*lines.get(line).unwrap_or(&end)).to_owned();
    Some(format!("line {}\n  is  {}\n  not {}", line + 1, at(&kept), at(&made)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_shown() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        insta::assert_snapshot!(difference("a\nold\nc\n", "a\nnew\nc\n").unwrap(), @r"
        line 2
          is  old
          not new
        ");
        insta::assert_snapshot!(difference("a\n", "a\nmore\n").unwrap(), @r"
        line 2
          is  (end of file)
          not more
        ");
    }

    #[test]
    fn a_document_that_is_behind_is_an_error_and_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        settle(root.path(), "x.md", "one\n", "docs", &Flags { check: false }).unwrap();
        settle(root.path(), "x.md", "one\n", "docs", &Flags { check: true }).unwrap();
        let error =
            settle(root.path(), "x.md", "two\n", "docs", &Flags { check: true }).unwrap_err();
        insta::assert_snapshot!(error, @r"
        x.md is not what the code says; run cargo xtask docs
        line 1
          is  one
          not two
        ");
        assert_eq!(fs::read_to_string(root.path().join("x.md")).unwrap(), "one\n");
    }
}
