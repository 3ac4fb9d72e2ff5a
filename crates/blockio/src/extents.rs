//! In how many pieces a file lies.

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
/// Writes the file out first: what has no place yet has no extents either.
const FIEMAP_FLAG_SYNC: u32 = 1;

/// How many extents a file has, as its file system tells. Two that follow each other on the medium
/// may be told as one or as two.
///
/// # Errors
/// What the kernel says; "not supported" on a file system that does not tell (vfat, network file
/// systems).
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
