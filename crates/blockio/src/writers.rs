//! Detection of any writer of a file, from the kernel's own count.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// True if anybody has the regular file open for writing: also processes that `/proc` does not show
/// here, descriptors on their way through a socket, the kernel itself. `file` must be open for
/// reading only, and be the caller's only descriptor for it; `None` if the file system or the
/// rights do not allow an answer.
///
/// Takes a read lease for an instant, which the kernel grants only while nobody writes (fcntl(2),
/// F_SETLEASE).
pub fn has_writer(file: impl AsFd) -> io::Result<Option<bool>> {
    let file = file.as_fd();
    // Whoever opens the file for writing in this instant makes the kernel send a signal here: one
    // that is ignored unless asked for.
    control(file, F_SETSIG, libc::SIGURG)?;
    match control(file, libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => control(file, libc::F_SETLEASE, libc::F_UNLCK).map(|()| Some(false)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Some(true)),
        Err(_) => Ok(None),
    }
}

/// Command that sets the signal for I/O (asm-generic/fcntl.h); the libc crate does not have it for
/// every C library.
const F_SETSIG: libc::c_int = 10;

fn control(file: BorrowedFd<'_>, command: libc::c_int, argument: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open, and these commands of fcntl take an int.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn a_writer_is_noticed_while_it_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let writer = File::create(&path).unwrap();
        let seen = || has_writer(File::open(&path).unwrap()).unwrap();
        assert_eq!(seen(), Some(true));
        drop(writer);
        assert_eq!(seen(), Some(false));
        let _reader = File::open(&path).unwrap();
        assert_eq!(seen(), Some(false));
    }
}
