//! Files that have less data than length.

use std::os::fd::AsFd;

use rustix::fs::{SeekFrom, fstat, seek};
use rustix::io::Errno;

/// Bytes of a regular file for which no block is allocated, so that reading them measures the
/// processor and not the medium. Moves the file's position. Returns 0 on file systems that do not
/// report holes.
pub fn file_holes(file: impl AsFd) -> std::io::Result<u64> {
    let file = file.as_fd();
    let length = fstat(file)?.st_size as u64;
    let (mut at, mut holes) = (0, 0);
    while at < length {
        let hole = seek(file, SeekFrom::Hole(at))?;
        let data = match seek(file, SeekFrom::Data(hole)) {
            Ok(data) => data,
            Err(Errno::NXIO) => length,
            Err(errno) => return Err(errno.into()),
        };
        holes += data.min(length).saturating_sub(hole);
        at = data.max(hole + 1);
    }
    Ok(holes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn holes_are_counted_at_the_front_in_the_middle_and_at_the_end() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(file_holes(&file).unwrap(), 0, "an empty file has no holes");
        file.set_len(10 << 20).unwrap();
        assert_eq!(file_holes(&file).unwrap(), 10 << 20);
        for mib in [2, 5] {
            file.write_all_at(&vec![1; 1 << 20], mib << 20).unwrap();
        }
        assert_eq!(file_holes(&file).unwrap(), 8 << 20);
        file.write_all_at(&vec![1; 10 << 20], 0).unwrap();
        assert_eq!(file_holes(&file).unwrap(), 0);
    }
}
