//! Paths of directories that fanotify names by their handles, also of those that are gone by now.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use host::{FileHandle, NameInDirectory};

/// The reason why a name has no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outside {
    /// It is not below the directory that is recorded.
    Elsewhere,
    /// Its directory is gone, and was not seen before.
    Gone,
}

/// What is known of directories, as of the operation that is looked at.
pub(super) struct Directories {
    /// The directory that is recorded.
    pub top: PathBuf,
    mount: OwnedFd,
    /// Paths below it; none for directories elsewhere.
    pub known: HashMap<FileHandle, Option<String>>,
}

impl Directories {
    /// Of this directory, by its path and open.
    pub fn new(top: &Path, mount: OwnedFd) -> Directories {
        Directories { top: top.to_owned(), mount, known: HashMap::new() }
    }

    /// Where a directory was seen to be.
    pub fn learn(&mut self, handle: &FileHandle, path: &str) {
        self.known.insert(handle.clone(), Some(path.to_owned()));
    }

    /// A directory has another path, with all in it.
    pub fn moved(&mut self, from: &str, to: &str) {
        for path in self.known.values_mut().flatten() {
            let rest =
                path.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            if let Some(rest) = rest {
                *path = format!("{to}{rest}");
            }
        }
    }

    /// The path of a name, relative to the top.
    pub fn path(&mut self, name: Option<&NameInDirectory>) -> Result<String, Outside> {
        let NameInDirectory { directory, name } = name.ok_or(Outside::Elsewhere)?;
        if !self.known.contains_key(directory) {
            let path = directory.path(&self.mount).ok_or(Outside::Gone)?;
            self.known.insert(directory.clone(), super::below(&path, &self.top));
        }
        let name = name.to_string_lossy();
        match &self.known[directory] {
            None => Err(Outside::Elsewhere),
            Some(parent) if parent == "." => Ok(name.into_owned()),
            Some(parent) => Ok(format!("{parent}/{name}")),
        }
    }
}
