//! Which system calls are recorded, and what their arguments mean.

/// What a system call does; numbers are places of arguments, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// Opens a file; where its flags stand, if they are an argument.
    Open(Option<usize>),
    Close,
    CloseRange,
    /// Gives a descriptor a second number; where its flags stand.
    Duplicate(Option<usize>),
    Control,
    /// Reads or writes; where the offset stands, or at the file's position.
    Read(Option<usize>),
    Write(Option<usize>),
    Seek,
    Fsync,
    Fdatasync,
    Truncate,
    Rename,
    Remove,
    MakeDirectory,
    MakeLink,
    /// Makes a name that is not replayed: a hard link, a device.
    MakeOther,
    Map,
    /// Changes a file in a way that is not recorded.
    Other,
    /// The same between two files: the first is read, the second written to.
    OtherPair(usize, usize),
}

/// By the name of the system call. Not every machine has all of them.
pub(super) const CALLS: [(&str, Call); 45] = [
    ("open", Call::Open(Some(1))),
    ("openat", Call::Open(Some(2))),
    ("openat2", Call::Open(None)),
    ("creat", Call::Open(None)),
    ("close", Call::Close),
    ("close_range", Call::CloseRange),
    ("dup", Call::Duplicate(None)),
    ("dup2", Call::Duplicate(None)),
    ("dup3", Call::Duplicate(Some(2))),
    ("fcntl", Call::Control),
    ("read", Call::Read(None)),
    ("readv", Call::Read(None)),
    ("pread64", Call::Read(Some(3))),
    ("preadv", Call::Read(Some(3))),
    ("preadv2", Call::Read(Some(3))),
    ("write", Call::Write(None)),
    ("writev", Call::Write(None)),
    ("pwrite64", Call::Write(Some(3))),
    ("pwritev", Call::Write(Some(3))),
    ("pwritev2", Call::Write(Some(3))),
    ("lseek", Call::Seek),
    ("fsync", Call::Fsync),
    ("fdatasync", Call::Fdatasync),
    ("ftruncate", Call::Truncate),
    ("rename", Call::Rename),
    ("renameat", Call::Rename),
    ("renameat2", Call::Rename),
    ("unlink", Call::Remove),
    ("unlinkat", Call::Remove),
    ("rmdir", Call::Remove),
    ("mkdir", Call::MakeDirectory),
    ("mkdirat", Call::MakeDirectory),
    ("symlink", Call::MakeLink),
    ("symlinkat", Call::MakeLink),
    ("link", Call::MakeOther),
    ("linkat", Call::MakeOther),
    ("mknod", Call::MakeOther),
    ("mknodat", Call::MakeOther),
    ("mmap", Call::Map),
    ("fallocate", Call::Other),
    ("sync_file_range", Call::Other),
    ("syncfs", Call::Other),
    ("sendfile64", Call::OtherPair(1, 0)),
    ("copy_file_range", Call::OtherPair(0, 2)),
    ("splice", Call::OtherPair(0, 2)),
];

impl Call {
    /// True if it names a file by its path.
    pub fn takes_path(self) -> bool {
        matches!(
            self,
            Call::Open(_)
                | Call::Rename
                | Call::Remove
                | Call::MakeDirectory
                | Call::MakeLink
                | Call::MakeOther
        )
    }
}
