//! Opening of exactly the file that was checked: by descriptor and identity, because a name may
//! lead elsewhere now.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{
    CWD, FileType, FlockOperation, Mode, OFlags, ResolveFlags, flock, fstat, open, openat2,
};
use rustix::io::Errno;

use crate::expect::{ExpectedFile, FileIdentity, OpenError};

/// Number of attempts to take a lock before it counts as held, and the pause between them: udev
/// locks a device for a moment while it probes it.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// A descriptor that only identifies the file at `path` (O_PATH): nothing is opened, and no
/// symbolic link is followed on the way.
pub(crate) fn open_path_only(path: &Path) -> Result<File, OpenError> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let found = match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Linux before 5.6, and sandboxes that do not know the call yet.
        Err(Errno::NOSYS | Errno::PERM) => stand_for_and_compare(path),
        found => found,
    };
    match found {
        Ok(found) => Ok(found.into()),
        Err(Errno::LOOP) => Err(OpenError::Replaced(path.to_owned())),
        Err(errno) => Err(OpenError::Refused { path: path.to_owned(), source: errno.into() }),
    }
}

/// The same without openat2: the path that the kernel reports afterwards is compared.
fn stand_for_and_compare(path: &Path) -> rustix::io::Result<OwnedFd> {
    let found = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let place = std::fs::read_link(own_name(found.as_fd())).map_err(|_| Errno::LOOP)?;
    // the descriptor of a link stands for the link itself
    let is_link = FileType::from_raw_mode(fstat(&found)?.st_mode).is_symlink();
    if place == path && !is_link { Ok(found) } else { Err(Errno::LOOP) }
}

/// Opens the file that was at the path when it was checked, or nothing.
pub(crate) fn open_exactly(
    path: &Path,
    writable: bool,
    exclusive: bool,
    expect: ExpectedFile,
) -> Result<File, OpenError> {
    let refused = |source: io::Error| OpenError::Refused { path: path.to_owned(), source };
    let found = match expect {
        ExpectedFile::File { .. } => open_path_only(path)?,
        // A node's directory may be reached through links; its number decides.
        ExpectedFile::Block { .. } => open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| refused(errno.into()))?
            .into(),
    };
    check(path, &found.metadata().map_err(refused)?, expect)?;
    let mut flags = OFlags::CLOEXEC | if writable { OFlags::RDWR } else { OFlags::RDONLY };
    flags |= match expect {
        // A lease of another program is not waited for.
        ExpectedFile::File { .. } => OFlags::NONBLOCK,
        ExpectedFile::Block { .. } if exclusive => OFlags::EXCL,
        ExpectedFile::Block { .. } => OFlags::empty(),
    };
    let opened = open(own_name(found.as_fd()), flags, Mode::empty());
    let file = match (opened, expect) {
        (Err(Errno::WOULDBLOCK), ExpectedFile::File { .. }) => {
            return Err(OpenError::Locked(path.to_owned()));
        }
        (opened, _) => File::from(opened.map_err(|errno| refused(errno.into()))?),
    };
    if let ExpectedFile::File { .. } = expect {
        rustix::fs::fcntl_setfl(&file, OFlags::empty()).map_err(|errno| refused(errno.into()))?;
        lock(path, file.as_fd(), writable)?;
    }
    Ok(file)
}

/// Locks the file against other programs as long as it is open: exclusively for writing, shared for
/// reading.
fn lock(path: &Path, file: BorrowedFd<'_>, writable: bool) -> Result<(), OpenError> {
    let operation = if writable {
        FlockOperation::NonBlockingLockExclusive
    } else {
        FlockOperation::NonBlockingLockShared
    };
    for left in (0..LOCK_TRIES).rev() {
        match flock(file, operation) {
            Err(Errno::WOULDBLOCK) if left > 0 => std::thread::sleep(LOCK_PAUSE),
            Err(Errno::WOULDBLOCK) => return Err(OpenError::Locked(path.to_owned())),
            // Not every file system has locks; nobody else has one there then.
            _ => return Ok(()),
        }
    }
    Ok(())
}

/// The name under which a descriptor can be opened anew.
pub(crate) fn own_name(file: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Checks that the file is of the expected kind and is the one that was checked before.
fn check(path: &Path, metadata: &Metadata, expect: ExpectedFile) -> Result<(), OpenError> {
    let kind = metadata.file_type();
    let found = match () {
        () if kind.is_file() => "a regular file",
        () if kind.is_block_device() => "a block device",
        () if kind.is_dir() => "a directory",
        () if kind.is_char_device() => "a character device",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_symlink() => "a symbolic link",
        () => "a socket",
    };
    let (expected, same) = match expect {
        ExpectedFile::File { identity, .. } => {
            ("a regular file", FileIdentity::of(metadata) == identity)
        }
        ExpectedFile::Block { number } => ("a block device", metadata.rdev() == number),
    };
    match found == expected {
        false => Err(OpenError::WrongType { path: path.to_owned(), found, expected }),
        true if !same => Err(OpenError::Replaced(path.to_owned())),
        true => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn without_openat2_a_link_on_the_way_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir(real.join("inner")).unwrap();
        std::fs::write(real.join("inner/file"), "content").unwrap();
        symlink("inner", real.join("outer")).unwrap();
        symlink("inner/file", real.join("link")).unwrap();
        assert!(stand_for_and_compare(&real.join("inner/file")).is_ok());
        for name in ["outer/file", "link"] {
            assert_eq!(stand_for_and_compare(&real.join(name)).unwrap_err(), Errno::LOOP, "{name}");
            assert!(
                matches!(open_path_only(&real.join(name)), Err(OpenError::Replaced { .. })),
                "{name}"
            );
        }
    }
}
