//! Files that appear whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file or directory could not be written. The message names the path, the reason and the remedy.
#[derive(Debug, thiserror::Error)]
#[error("cannot write '{}': {}", path.display(), reason(path, source))]
pub struct WriteError {
    /// Path of the file or directory.
    pub path: PathBuf,
    /// Error of the system.
    pub source: io::Error,
}

impl WriteError {
    /// Makes the error of a write to `path` out of an I/O error, for `map_err`.
    pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> WriteError + '_ {
        move |source| WriteError { path: path.to_owned(), source }
    }
}

/// Text of the system's error, with a remedy where one is known.
fn reason(path: &Path, error: &io::Error) -> String {
    let parent = parent_of(path);
    let place = parent.display();
    match error.kind() {
        ErrorKind::NotFound if !parent.exists() => {
            format!("there is no directory '{place}'; make it first or name another")
        }
        ErrorKind::NotFound => "it does not exist".to_owned(),
        ErrorKind::NotADirectory => format!("'{place}' is not a directory; name another"),
        ErrorKind::PermissionDenied => {
            format!("no right to write in '{place}'; name a directory of your own")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "no space is left there; free some or name another place".to_owned()
        }
        ErrorKind::ReadOnlyFilesystem => {
            "its file system is read-only; name another place".to_owned()
        }
        ErrorKind::FileTooLarge => {
            "the limit of file size in this session (ulimit -f) is too small, or the file system takes no larger file; type `ulimit -f unlimited`, or name another place".to_owned()
        }
        ErrorKind::IsADirectory => "it is a directory; name a file".to_owned(),
        ErrorKind::InvalidFilename => "the name is too long; give it a shorter one".to_owned(),
        _ => error.to_string(),
    }
}

/// Writes a file so that a reader finds either what was there before or all of the new bytes, also
/// after a power loss.
///
/// The bytes go to a new file in the same directory, are made durable and renamed into place. A
/// symbolic link is followed, and the mode of a file that is replaced is kept. A path that is not a
/// regular file or is in /dev or /proc (`/dev/stdout`, a named pipe) is simply written to.
pub fn atomic_write(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), WriteError> {
    atomic_write_with(path, |to| to.write_all(bytes))
}

/// Writes a file as [`atomic_write`] does, with content that `fill` writes to it piece by piece. If
/// `fill` fails, the old file stays.
pub fn atomic_write_with(
    path: impl AsRef<Path>,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), WriteError> {
    let path = path.as_ref();
    if is_special(path) { write_through(path, fill) } else { replace(path, fill) }
        .map_err(WriteError::at(path))
}

/// True if there is something at this path that must not be replaced by a file.
fn is_special(path: &Path) -> bool {
    // /dev/stdout may lead to a regular file, but it is a link that all programs share, and others
    // may hold the file open.
    let shared =
        path.starts_with("/dev") && !path.starts_with("/dev/shm") || path.starts_with("/proc");
    shared || fs::metadata(path).is_ok_and(|meta| !meta.is_file())
}

fn write_through(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    // Appending, because the standard output of a script may be a file that already holds
    // something.
    fill(&mut OpenOptions::new().append(true).open(path)?)
}

fn replace(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if path.file_name().is_none() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "this is not the name of a file"));
    }
    let parent = parent_of(path);
    let scratch = Scratch(parent.join(unique_name()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&scratch.0)?;
    if let Ok(old) = fs::metadata(path) {
        file.set_permissions(old.permissions())?;
    }
    fill(&mut file)?;
    file.sync_all()?;
    fs::rename(&scratch.0, path)?;
    // FAT's new name is that of an empty file until the file is written once more
    // (fs/fat/namei_vfat.c, vfat_rename).
    file.sync_all()?;
    sync_directory(parent)
}

/// A temporary file or directory: removed when it goes out of scope, unless it was renamed by then.
pub(crate) struct Scratch(pub PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // The error cannot be reported here. What stays begins with a dot and is never listed as a
        // run.
        let _ =
            if self.0.is_dir() { fs::remove_dir_all(&self.0) } else { fs::remove_file(&self.0) };
    }
}

/// Makes a hidden name that no other writer has: the number of this process is in it.
pub(crate) fn unique_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!(".flashmark-{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Removes unfinished run directories that killed processes left in `dir`. Those of live processes
/// stay.
pub(crate) fn sweep(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| {
            name.strip_prefix(".flashmark-")?
                .strip_suffix(".tmp")?
                .split('-')
                .next()?
                .parse::<u32>()
                .ok()
        });
        if maker.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            // What cannot be removed stays hidden, as before.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Directory that holds a path; the current one for a bare name.
pub(crate) fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

/// Makes the names in a directory durable. Succeeds on file systems that cannot sync a directory.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        done => done,
    }
}

/// True if this is the plain name of something in a directory: no path, nothing hidden, nothing
/// that upsets a terminal.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let one_component = Path::new(name).file_name() == Some(OsStr::new(name));
    one_component && !name.starts_with('.') && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names_in(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The message for a write to `name` below a fresh directory, with that directory called DIR.
    fn refusal(name: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let message = atomic_write(dir.path().join(name), b"x").unwrap_err().to_string();
        assert_eq!(names_in(dir.path()), ["file", "sub"], "nothing is left behind");
        message.replace(&dir.path().display().to_string(), "DIR").replace(&"n".repeat(300), "NNN")
    }

    #[test]
    fn a_file_is_made_or_replaced_and_nothing_else_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.json");
        atomic_write(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        atomic_write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names_in(dir.path()), ["out.json"]);
    }

    #[test]
    fn a_link_is_followed_and_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        atomic_write(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        )
        .unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        atomic_write(&pipe, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert_eq!(names_in(dir.path()), ["pipe"]);
    }

    #[test]
    fn an_open_file_behind_dev_stdout_keeps_what_others_wrote() {
        use std::os::fd::AsRawFd;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("redirected");
        let mut shared = File::create(&path).unwrap();
        shared.write_all(b"first ").unwrap();
        // What /dev/stdout leads to, under the number of this file.
        atomic_write(format!("/proc/self/fd/{}", shared.as_raw_fd()), b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first second");
    }

    #[test]
    fn a_failed_write_is_refused_with_reason_and_advice() {
        insta::assert_snapshot!(refusal("none/out.json"), @"cannot write 'DIR/none/out.json': there is no directory 'DIR/none'; make it first or name another");
        insta::assert_snapshot!(refusal("file/out.json"), @"cannot write 'DIR/file/out.json': 'DIR/file' is not a directory; name another");
        insta::assert_snapshot!(refusal("sub"), @"cannot write 'DIR/sub': it is a directory; name a file");
        insta::assert_snapshot!(refusal(&"n".repeat(300)), @"cannot write 'DIR/NNN': the name is too long; give it a shorter one");
        insta::assert_snapshot!(atomic_write("/dev/full", b"x").unwrap_err(), @"cannot write '/dev/full': no space is left there; free some or name another place");
        insta::assert_snapshot!(atomic_write("", b"x").unwrap_err(), @"cannot write '': this is not the name of a file");
    }
}
