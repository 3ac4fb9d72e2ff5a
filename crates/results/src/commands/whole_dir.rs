//! A site that appears as a whole: it is made beside its place under another name, and renamed when all of it is written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use program::exit::{OrExit, Result, refuse, usage};

/// Name of the file that marks a site made by this program.
const MARK: &str = ".flashmark-site";
/// Beginning of the names of directories in the making.
const SCRATCH: &str = ".flashmark-new-";

/// Directory in which the site is made. It is removed when this is dropped before
/// [`WholeDir::appear`].
pub struct WholeDir {
    dir: PathBuf,
    scratch: PathBuf,
}

impl WholeDir {
    /// Makes a directory beside `dir`, if `dir` is missing, empty, or such a site already.
    pub fn take(dir: &Path) -> Result<WholeDir> {
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
        let place = WholeDir { dir, scratch };
        let text =
            "This is a site of flashmark publish, which replaces this directory as a whole.\n";
        fs::write(place.scratch.join(MARK), text).or_internal()?;
        Ok(place)
    }

    /// The directory to write the contents into; [`WholeDir::appear`] puts it in its place.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Puts the contents in their place: a reader finds either the old ones or the new ones, also
    /// after a power loss.
    pub fn appear(self) -> Result<()> {
        // What came to be there meanwhile is not ours either.
        refuse_foreign(&self.dir)?;
        settle(&self.scratch).or_internal()?;
        exchange(&self.scratch, &self.dir).or_internal()?;
        settle(&parent(&self.dir)).or_internal()
    }
}

impl Drop for WholeDir {
    fn drop(&mut self) {
        // Nobody is left to be told. After an exchange these are the old contents.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

fn parent(dir: &Path) -> PathBuf {
    dir.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new(".")).to_owned()
}

/// Refuses a directory that holds something else.
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

/// Makes all that was written durable, with one call for thousands of files.
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
        // A file system that cannot exchange: the old contents are out of the way for a moment.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            let old = new.with_extension("old");
            fs::rename(dir, &old)?;
            fs::rename(new, dir)?;
            fs::rename(&old, new)
        }
        Err(error) => Err(error.into()),
    }
}

/// Removes what a killed process has left here.
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
    use program::exit::Exit;

    #[test]
    fn contents_replace_their_like_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let site = dir.path().join("site");
        for text in ["one", "two"] {
            let place = WholeDir::take(&site).unwrap();
            fs::write(place.scratch().join("index.html"), text).unwrap();
            place.appear().unwrap();
            assert_eq!(fs::read_to_string(site.join("index.html")).unwrap(), text);
        }
        let theirs = dir.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("thesis.tex"), "years").unwrap();
        for (place, exit) in [
            (theirs.clone(), Exit::Refused),
            (theirs.join("thesis.tex"), Exit::Usage),
            (dir.path().join("none/site"), Exit::Usage),
        ] {
            assert_eq!(WholeDir::take(&place).map(|_| ()).unwrap_err().exit, exit);
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left over");
    }

    #[test]
    fn directories_of_dead_processes_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        // No process has this number: it is beyond what Linux gives.
        let dead = dir.path().join(format!("{SCRATCH}4194305"));
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(MARK), "").unwrap();
        drop(WholeDir::take(&dir.path().join("site")).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
