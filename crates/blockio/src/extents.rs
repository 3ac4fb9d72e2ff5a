//! Number of extents of a file.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// `struct fiemap` of linux/fiemap.h without room for extents: the kernel then only counts them.
#[repr(C)]
#[derive(Default)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

const FS_IOC_FIEMAP: Opcode = opcode::read_write::<Fiemap>(b'f', 11);
/// Flag that writes the file out first: data without a place on the medium has no extents yet.
const FIEMAP_FLAG_SYNC: u32 = 1;

/// Number of extents of a file, as reported by its file system. Two that follow each other on the
/// medium may be reported as one or as two.
///
/// # Errors
/// Those of the kernel; "not supported" on a file system that does not report extents (vfat,
/// network file systems).
pub fn file_extents(path: &Path) -> io::Result<u64> {
    let file = File::open(path)?;
    let mut map = Fiemap { length: u64::MAX, flags: FIEMAP_FLAG_SYNC, ..Fiemap::default() };
    // SAFETY: FS_IOC_FIEMAP reads and writes one struct fiemap,
    // of this layout, and no extent beyond it as it has room for none.
    unsafe { ioctl(&file, Updater::<FS_IOC_FIEMAP, Fiemap>::new(&mut map)) }?;
    Ok(u64::from(map.mapped_extents))
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;

    #[test]
    fn holes_part_a_file_into_extents() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = dir.path().join("file");
        let mut file = File::create(&path).unwrap();
        for part in 0..5 {
            file.seek(SeekFrom::Start(part << 20)).unwrap();
            file.write_all(&[1; 65536]).unwrap();
        }
        match file_extents(&path) {
            Ok(extents) => assert!(extents >= 5, "{extents}"),
            Err(error) => assert!(
                matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOTTY)),
                "{error}"
            ),
        }
        assert_eq!(
            file_extents(&dir.path().join("missing")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}
