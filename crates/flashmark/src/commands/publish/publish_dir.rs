//! The directory a site appears in: made beside it under another name, and put in its place when it
//! is whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::exit::{OrExit, Result, refuse, usage};

/// A file by which a site of ours is known.
const MARK: &str = ".flashmark-site";
/// What names of sites in the making begin with.
const SCRATCH: &str = ".flashmark-publish-";

/// Where a site is being made. What was begun is removed when this goes out of scope.
pub struct PublishDir {
    dir: PathBuf,
    scratch: PathBuf,
}

impl PublishDir {
    /// Makes a directory beside `dir`, if that is free, empty, or a site that was published before.
    pub fn take(dir: &Path) -> Result<PublishDir> {
        let Some(name) = dir.file_name().filter(|_| !dir.as_os_str().is_empty()) else {
            return usage(format_args!(
                "'{}' cannot be replaced as a whole; name a directory in it",
                dir.display()
            ));
        };
        // A link keeps its place; what it leads to is replaced.
        let dir = match fs::canonicalize(dir) {
            Ok(whole) => whole,
            Err(_) => parent(dir).join(name),
        };
        refuse_foreign(&dir)?;
        let beside = parent(&dir);
        sweep(&beside);
        let scratch = beside.join(format!("{SCRATCH}{}", std::process::id()));
        fs::create_dir(&scratch)
            .map_err(|error| {
                anyhow::anyhow!("cannot make a directory in '{}': {error}", beside.display())
            })
            .or_usage()?;
        let place = PublishDir { dir, scratch };
        let mark = "A site made by flashmark publish, which replaces this directory as a whole.\n";
        fs::write(place.scratch.join(MARK), mark).or_internal()?;
        Ok(place)
    }

    /// The directory to write the site into; [`PublishDir::appear`] puts it in its place.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Puts the site in its place: a reader finds either the old one or the new one, also after a
    /// power loss.
    pub fn appear(self) -> Result<()> {
        // What came to be there meanwhile is not ours either.
        refuse_foreign(&self.dir)?;
        settle(&self.scratch).or_internal()?;
        exchange(&self.scratch, &self.dir).or_internal()?;
        settle(&parent(&self.dir)).or_internal()
    }
}

impl Drop for PublishDir {
    fn drop(&mut self) {
        // Nobody is left to be told. After an exchange this is the old site.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

fn parent(dir: &Path) -> PathBuf {
    dir.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new(".")).to_owned()
}

/// A directory that holds something and is no site of ours is left alone.
fn refuse_foreign(dir: &Path) -> Result<()> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return usage(format_args!(
                "'{}' cannot hold a site: {error}; name a directory",
                dir.display()
            ));
        }
        Ok(entries) => entries,
    };
    if entries.take(1).count() == 0 || dir.join(MARK).is_file() {
        return Ok(());
    }
    refuse(format_args!(
        "'{}' holds files and was not made by flashmark publish; it would be replaced as a whole, so name another directory",
        dir.display()
    ))
}

/// Makes all that was written durable: one call for thousands of files.
fn settle(dir: &Path) -> io::Result<()> {
    rustix::fs::syncfs(fs::File::open(dir)?)?;
    Ok(())
}

fn exchange(new: &Path, dir: &Path) -> io::Result<()> {
    if !dir.exists() {
        return fs::rename(new, dir);
    }
    match renameat_with(CWD, new, CWD, dir, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        // A file system that cannot exchange: the old site is out of the way for a moment.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            let old = new.with_extension("old");
            fs::rename(dir, &old)?;
            fs::rename(new, dir)?;
            fs::rename(&old, new)
        }
        Err(error) => Err(error.into()),
    }
}

/// Removes what a process that was killed had begun here.
fn sweep(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name
            .to_str()
            .and_then(|name| name.strip_prefix(SCRATCH)?.split('.').next()?.parse::<u32>().ok());
        if maker.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
            && entry.path().join(MARK).is_file()
        {
            // What cannot be removed is in nobody's way.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn a_site_replaces_a_site_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let site = dir.path().join("site");
        for text in ["one", "two"] {
            let place = PublishDir::take(&site).unwrap();
            fs::write(place.scratch().join("index.html"), text).unwrap();
            place.appear().unwrap();
            assert_eq!(fs::read_to_string(site.join("index.html")).unwrap(), text);
        }
        let theirs = dir.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("thesis.tex"), "years").unwrap();
        assert_eq!(PublishDir::take(&theirs).map(|_| ()).unwrap_err().exit, Exit::Refused);
        assert_eq!(
            PublishDir::take(&theirs.join("thesis.tex")).map(|_| ()).unwrap_err().exit,
            Exit::Usage
        );
        assert_eq!(
            PublishDir::take(&dir.path().join("none/site")).map(|_| ()).unwrap_err().exit,
            Exit::Usage
        );
        let names: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "nothing is left over: {names:?}");
    }

    #[test]
    fn what_was_begun_and_not_finished_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        // No process has this number: it is beyond what Linux gives.
        let dead = dir.path().join(format!("{SCRATCH}4194305"));
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(MARK), "").unwrap();
        drop(PublishDir::take(&dir.path().join("site")).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
