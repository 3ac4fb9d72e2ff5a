//! Adding a run to a collection that is a repository: its record in the right place, and the
//! commands that make a pull request of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use collection::UploadLimits;
use record::text::printable;

use crate::cli::SubmitFlags;
use crate::commands::submit::document::SubmissionDocument;
use crate::repository::{MAX_PACKED, PackedRecord, Repository, is_sender, packed};
use program::exit::{OrExit, Result, refuse, usage};
use program::printing::print;

/// Tells whether an address is that of a repository.
pub fn is_repository(address: &str) -> bool {
    Path::new(address).is_dir()
        || address.ends_with(".git")
        || ["git@", "ssh://", "git://", "file://"].iter().any(|start| address.starts_with(start))
}

/// Tells whether a directory is a repository of git without files, as a forge hosts it.
fn is_bare(dir: &Path) -> bool {
    !Repository::is_at(dir) && dir.join("HEAD").is_file() && dir.join("objects").is_dir()
}

/// A repository that a run is added to.
pub struct RepositoryTarget {
    repository: Repository,
    sender: String,
}

impl RepositoryTarget {
    /// Opens the repository at an address, cloned below the current directory if it is not local,
    /// and finds the account of the sender.
    pub fn of(address: &str, flags: &SubmitFlags) -> Result<RepositoryTarget> {
        let dir = match Path::new(address) {
            dir if dir.is_dir() && !is_bare(dir) => dir.to_owned(),
            _ => cloned(address)?,
        };
        let repository = Repository::open(&dir).or_usage()?;
        let sender = match &flags.sender {
            Some(sender) => sender.clone(),
            None => configured(&dir)?,
        }
        .to_lowercase();
        if !is_sender(&sender) {
            return usage(format_args!(
                "'{}' is no account of a forge: letters, digits and single hyphens",
                printable(&sender)
            ));
        }
        Ok(RepositoryTarget { repository, sender })
    }

    /// Directory of the repository, for people.
    pub fn name(&self) -> String {
        printable(&self.repository.dir().display().to_string())
    }

    /// Writes the record and prints the steps of a pull request.
    pub fn add(&self, document: &SubmissionDocument) -> Result<()> {
        let PackedRecord { run, bytes, left_out } = packed(&document.run).or_usage()?;
        let upload = match collection::read(&bytes, &UploadLimits::default()) {
            Ok(upload) => upload,
            Err(rejection) => {
                return usage(format_args!(
                    "it would be refused: {}",
                    printable(&rejection.to_string())
                ));
            }
        };
        let id = collection::content_name(&upload.run);
        let path = self.repository.place(&self.sender, &id);
        if path.exists() {
            return refuse(format_args!(
                "it is there already: {}",
                printable(&path.display().to_string())
            ));
        }
        crate::repository::write(&path, &bytes).or_internal()?;
        if !left_out.is_empty() {
            let (most_kb, names) = (MAX_PACKED / 1000, left_out.join(", "));
            program::say!("Left out to fit {most_kb} kB: {}", printable(&names));
        }
        for caveat in &upload.caveats {
            program::say!("A person will have to look at it: {}", printable(caveat));
        }
        print(&steps(self.repository.dir(), &path, &self.sender, &id, &run.name()))
    }
}

fn steps(dir: &Path, path: &Path, sender: &str, id: &str, medium: &str) -> String {
    let (shown, place) = (dir.display(), path.strip_prefix(dir).unwrap_or(path).display());
    // A name may hold what a shell would read.
    let subject: String = format!("Add {medium}")
        .chars()
        .map(|c| if c.is_alphanumeric() || " .,+-()".contains(c) { c } else { ' ' })
        .collect();
    format!(
        "Written: {shown}/{place}\nTo send it, from {shown}:\n  git checkout -b {sender}-{id}\n  git add {place} && git commit -m \"{}\"\n  git push -u origin {sender}-{id}\nand open a pull request from that branch. The collection judges it there.\n",
        printable(&subject)
    )
}

/// A copy of a repository in a directory of its name.
fn cloned(address: &str) -> Result<PathBuf> {
    let name = address.trim_end_matches('/').trim_end_matches(".git");
    let name = name.rsplit(['/', ':']).next().unwrap_or_default();
    let dir = PathBuf::from(if name.is_empty() { "collection" } else { name });
    if Repository::is_at(&dir) {
        return Ok(dir);
    }
    if dir.exists() {
        return refuse(format_args!(
            "'{}' is in the way of a copy of the collection; go to another directory",
            printable(&dir.display().to_string())
        ));
    }
    program::say!("A copy of {} in {} ..", printable(address), dir.display());
    let ran = Command::new("git").args(["clone", "--quiet", "--", address]).arg(&dir).output();
    let ran = match ran {
        Ok(ran) => ran,
        Err(error) => return usage(format_args!("git cannot be started: {error}")),
    };
    if !ran.status.success() {
        let message = printable(String::from_utf8_lossy(&ran.stderr).trim());
        return usage(format_args!("the collection cannot be copied: {message}"));
    }
    Ok(dir)
}

/// The account that git knows: `github.user`, or that of `git config --global`.
fn configured(dir: &Path) -> Result<String> {
    let ran = Command::new("git").arg("-C").arg(dir).args(["config", "github.user"]).output();
    let name = ran.map(|ran| String::from_utf8_lossy(&ran.stdout).trim().to_owned());
    match name {
        Ok(name) if !name.is_empty() => Ok(name),
        _ => usage(
            "which account of the forge sends it? Say --sender ACCOUNT, or: git config --global github.user ACCOUNT",
        ),
    }
}
