//! A directory for test files, opened once: later changes of its name do not move the files.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, fstat, fstatfs, open, openat, unlinkat};
use rustix::io::Errno;

use crate::exact::{open_path_only, own_name};
use crate::expect::OpenError;

/// A directory, opened by descriptor, in which test files are made.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    file: File,
}

impl Directory {
    /// Opens `path`, which must not contain a symbolic link and must be on the device with the
    /// number `device` (`st_dev`).
    ///
    /// # Errors
    /// [`OpenError::Replaced`] if the path now contains a link or is on another device;
    /// [`OpenError::WrongType`] if it is not a directory.
    pub fn open(path: &Path, device: u64) -> Result<Directory, OpenError> {
        let directory = Directory::wherever(open_path_only(path)?.into(), path)?;
        let found = directory
            .file
            .metadata()
            .map_err(|source| OpenError::Refused { path: path.to_owned(), source })?;
        if found.dev() == device {
            Ok(directory)
        } else {
            Err(OpenError::Replaced(path.to_owned()))
        }
    }

    /// A directory that the caller has made and trusts.
    pub(crate) fn trusted(path: &Path) -> Result<Directory, OpenError> {
        let found = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        Directory::wherever(found.map_err(|errno| refused(path, errno))?, path)
    }

    fn wherever(found: OwnedFd, path: &Path) -> Result<Directory, OpenError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match open(own_name(found.as_fd()), flags, Mode::empty()) {
            Ok(file) => Ok(Directory { path: path.to_owned(), file: file.into() }),
            Err(Errno::NOTDIR) => Err(OpenError::WrongType {
                path: path.to_owned(),
                found: "something else",
                expected: "a directory",
            }),
            Err(errno) => Err(refused(path, errno)),
        }
    }

    /// The path under which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file without a name in this directory: it disappears with the process, even if that is
    /// killed.
    pub(crate) fn nameless_file(&self) -> Result<File, OpenError> {
        let mode = Mode::RUSR | Mode::WUSR;
        let made =
            match openat(&self.file, ".", OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE, mode) {
                // What file systems and kernels without O_TMPFILE answer.
                Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {
                    self.named_for_a_moment(mode)
                }
                made => made,
            };
        let made = File::from(made.map_err(|errno| refused(&self.path, errno))?);
        if self.holds(&made) { Ok(made) } else { Err(OpenError::Replaced(self.path.clone())) }
    }

    fn named_for_a_moment(&self, mode: Mode) -> rustix::io::Result<OwnedFd> {
        let name = format!(".flashmark-{}-{}", std::process::id(), crate::now_ns());
        let flags =
            OFlags::RDWR | OFlags::CLOEXEC | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let file = openat(&self.file, name.as_str(), flags, mode)?;
        unlinkat(&self.file, name.as_str(), AtFlags::empty())?;
        Ok(file)
    }

    /// True if the file is on the device of the directory. An overlay file system gives its files
    /// the device numbers of its layers.
    fn holds(&self, file: &File) -> bool {
        const OVERLAYFS_MAGIC: u32 = 0x794c_7630;
        let device = |file: &File| fstat(file).map(|stat| stat.st_dev);
        let is_overlay =
            || fstatfs(&self.file).is_ok_and(|stat| stat.f_type as u32 == OVERLAYFS_MAGIC);
        matches!((device(file), device(&self.file)), (Ok(a), Ok(b)) if a == b) || is_overlay()
    }
}

fn refused(path: &Path, errno: Errno) -> OpenError {
    OpenError::Refused { path: path.to_owned(), source: errno.into() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileExt, symlink};

    use super::*;

    #[test]
    fn where_nameless_files_cannot_be_made_the_name_is_gone_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::trusted(dir.path()).unwrap();
        let file = File::from(directory.named_for_a_moment(Mode::RUSR | Mode::WUSR).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        file.write_all_at(b"still here", 0).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 10);
    }

    #[test]
    fn where_no_file_can_be_made_the_directory_is_named() {
        let error = Directory::trusted(Path::new("/proc/self"))
            .unwrap()
            .nameless_file()
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("cannot open /proc/self: "), "{error}");
    }

    #[test]
    fn files_are_made_where_the_directory_was_and_not_where_its_name_leads() {
        let dir = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(dir.path()).unwrap();
        let (asked, other) = (real.join("asked"), real.join("other"));
        std::fs::create_dir(&asked).unwrap();
        std::fs::create_dir(&other).unwrap();
        let device = std::fs::metadata(&asked).unwrap().dev();
        let directory = Directory::open(&asked, device).unwrap();
        std::fs::rename(&asked, real.join("moved")).unwrap();
        symlink(&other, &asked).unwrap();
        let made = directory.named_for_a_moment(Mode::RUSR | Mode::WUSR).unwrap();
        let place = std::fs::read_link(own_name(made.as_fd())).unwrap();
        assert!(place.starts_with(real.join("moved")), "{place:?}");
        assert!(matches!(Directory::open(&asked, device), Err(OpenError::Replaced { .. })));
        assert!(matches!(Directory::open(&other, device + 1), Err(OpenError::Replaced { .. })));
    }
}
