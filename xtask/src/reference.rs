//! `cargo xtask reference`: the built-in reference data as a repository of records, in `reference/`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use flashmark::repository::built_in;
use flate2::read::GzDecoder;

use crate::generated::Flags;

/// Directory of the repository, and its file that is written by hand.
const DIR: &str = "reference";
const BY_HAND: &str = "README.md";

/// Files by their paths.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Writes or compares the repository. Records are compared unpacked: another version of the packer
/// makes other bytes of the same records.
///
/// # Errors
/// If the files differ, or cannot be read or written.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let dir = root.join(DIR);
    let made: Files =
        built_in::files()?.into_iter().map(|(path, bytes)| (dir.join(path), bytes)).collect();
    let mut kept = Files::new();
    below(&dir, &mut kept).with_context(|| dir.display().to_string())?;
    kept.remove(&dir.join(BY_HAND));
    let is_kept = |(path, bytes): &(&PathBuf, &Vec<u8>)| {
        kept.get(*path).is_some_and(|known| unpacked(known) == unpacked(bytes))
    };
    let missing: Vec<_> = made.iter().filter(|file| !is_kept(file)).collect();
    let stale: Vec<&PathBuf> = kept.keys().filter(|path| !made.contains_key(*path)).collect();
    if flags.check {
        let wrong = missing.iter().map(|(path, _)| *path).chain(stale).next();
        if let Some(wrong) = wrong {
            bail!("{} is not what the tables say; run cargo xtask reference", wrong.display());
        }
        println!("{DIR} is up to date");
        return Ok(());
    }
    for path in &stale {
        fs::remove_file(path).with_context(|| path.display().to_string())?;
    }
    for (path, bytes) in &missing {
        flashmark::repository::write(path, bytes)?;
    }
    println!("{DIR}: {} files, {} written, {} removed", made.len(), missing.len(), stale.len());
    Ok(())
}

/// Reads the files below a directory; none if it does not exist.
fn below(dir: &Path, files: &mut Files) -> Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            below(&path, files)?;
        } else {
            files.insert(path.clone(), fs::read(&path)?);
        }
    }
    Ok(())
}

/// Unpacked bytes of a packed file, or the bytes of any other.
fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    match GzDecoder::new(bytes).read_to_end(&mut text) {
        Ok(_) => text,
        Err(_) => bytes.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_is_behind_is_named_and_one_that_is_too_many_removed() {
        let root = tempfile::tempdir().unwrap();
        let (check, write) = (Flags { check: true }, Flags { check: false });
        assert!(run(root.path(), &check).is_err());
        run(root.path(), &write).unwrap();
        run(root.path(), &check).unwrap();
        let of_account = root.path().join(DIR).join("records/flashmark");
        let stale = of_account.join("aaaaaaaaaaaaaaaa.json.gz");
        fs::write(&stale, "x").unwrap();
        assert!(run(root.path(), &check).unwrap_err().to_string().contains("aaaaaaaaaaaaaaaa"));
        run(root.path(), &write).unwrap();
        assert!(!stale.exists());
        let first = fs::read_dir(of_account).unwrap().next().unwrap().unwrap().path();
        fs::write(first, "x").unwrap();
        assert!(run(root.path(), &check).is_err());
    }
}
