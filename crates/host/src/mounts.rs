//! Mounts and swap spaces.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::roots::{DeviceNumber, Roots};

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The kernel's number of this mount.
    pub id: u64,
    /// Number of the file system's device; major 0 if it has none of its own.
    pub number: DeviceNumber,
    /// The directory of the file system that is mounted ("/" except for bind mounts).
    pub root: String,
    /// Mount point.
    pub at: PathBuf,
    /// Options of this mount.
    pub options: String,
    /// The kernel's name for the file system: "ext4", "nfs4", "fuse.sshfs".
    pub kind: String,
    /// Source of the mount ("/dev/sda1", "server:/export").
    pub source: String,
    /// Options of the file system.
    pub super_options: String,
}

impl Mount {
    /// Parses one line; `None` if it has another form.
    fn parse(line: &str) -> Option<Mount> {
        let (left, right) = line.split_once(" - ")?;
        let left: Vec<&str> = left.split(' ').collect();
        let mut right = right.splitn(3, ' ');
        Some(Mount {
            id: left.first()?.parse().ok()?,
            number: left.get(2)?.parse().ok()?,
            root: unescape(left.get(3)?),
            at: PathBuf::from(unescape(left.get(4)?)),
            options: (*left.get(5)?).to_owned(),
            kind: right.next()?.to_owned(),
            source: unescape(right.next()?),
            super_options: right.next().unwrap_or_default().to_owned(),
        })
    }

    /// True if an option is set, for this mount or for the whole file system.
    pub fn has_option(&self, name: &str) -> bool {
        self.all_options().any(|option| option == name)
    }

    /// The value of the first `name=value` option.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.all_options().find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }

    fn all_options(&self) -> impl Iterator<Item = &str> {
        self.options.split(',').chain(self.super_options.split(','))
    }

    /// The options of mount and file system together, each once.
    pub fn joined_options(&self) -> String {
        let mut seen: Vec<&str> = Vec::new();
        for option in self.all_options().filter(|option| !option.is_empty()) {
            if !seen.contains(&option) {
                seen.push(option);
            }
        }
        seen.join(",")
    }
}

/// All mounts of this process, in the order in which they were made.
pub fn mounts(roots: &Roots) -> Vec<Mount> {
    mounts_of(&roots.proc.join("self"))
}

/// True if the mounts are known; always true for a copied tree.
pub fn sees_mounts(roots: &Roots) -> bool {
    !roots.is_real() || !mounts(roots).is_empty()
}

/// All mounts that a process sees, by its directory in `/proc`.
pub(crate) fn mounts_of(process: &Path) -> Vec<Mount> {
    // A mount point may be any bytes: one that is no text must not hide the others.
    let table = fs::read(process.join("mountinfo")).unwrap_or_default();
    String::from_utf8_lossy(&table).lines().filter_map(Mount::parse).collect()
}

/// The mount of `path` (absolute, links resolved).
///
/// On the running system the kernel returns it (statx); in a copied tree it is the last of those
/// with the longest mount point.
pub fn mount_of<'a>(roots: &Roots, mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    if roots.is_real()
        && let Some(id) = mount_id(path)
        && let Some(mount) = mounts.iter().find(|mount| mount.id == id)
    {
        return Some(mount);
    }
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.at));
    above.max_by_key(|mount| mount.at.components().count())
}

fn mount_id(path: &Path) -> Option<u64> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    let stat = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    (stat.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(stat.stx_mnt_id)
}

/// The paths in `/proc/swaps`: block devices and files.
pub fn swaps(roots: &Roots) -> Vec<PathBuf> {
    let table = fs::read(roots.proc.join("swaps")).unwrap_or_default();
    let lines = table.split(|byte| *byte == b'\n').skip(1);
    let first_words = lines.filter_map(|line| {
        line.split(u8::is_ascii_whitespace).next().filter(|word| !word.is_empty())
    });
    first_words.map(|word| PathBuf::from(OsString::from_vec(unescaped(word)))).collect()
}

/// Decodes the kernel's octal escapes of blank, tab, newline and backslash (`\040`).
pub(crate) fn unescape(word: &str) -> String {
    String::from_utf8_lossy(&unescaped(word.as_bytes())).into_owned()
}

/// A text without the backslashes before other characters.
pub(crate) fn without_backslashes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        plain.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    plain
}

fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes.get(at + 1..at + 4).filter(|_| bytes[at] == b'\\');
        let value =
            octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        plain.push(value.unwrap_or(bytes[at]));
        at += if value.is_some() { 4 } else { 1 };
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_names_the_mount_of_a_real_path() {
        let roots = Roots::default();
        let all = mounts(&roots);
        assert_eq!(mount_of(&roots, &all, Path::new("/proc/self")).unwrap().kind, "proc");
    }

    #[test]
    fn names_that_are_no_text_hide_nothing() {
        let lines = b"1 0 8:1 / /media/\xff rw - vfat /dev/sda1 rw\n2 0 8:2 / /home rw - ext4 /dev/sda2 rw\n";
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::copied(dir.path());
        fs::create_dir_all(roots.proc.join("self")).unwrap();
        fs::write(roots.proc.join("self/mountinfo"), lines).unwrap();
        let minors: Vec<u32> = mounts(&roots).iter().map(|mount| mount.number.minor).collect();
        assert_eq!(minors, [1, 2]);
        let lines = b"Filename Type\tSize\n/swap\xff\\040file file 5\n/dev/sda3   partition\t1\n";
        fs::write(roots.proc.join("swaps"), lines).unwrap();
        let odd = PathBuf::from(OsString::from_vec(b"/swap\xff file".to_vec()));
        assert_eq!(swaps(&roots), [odd, PathBuf::from("/dev/sda3")]);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC*", word in r"[\\0-9a-f]*") {
            let _ = Mount::parse(&text);
            let _ = unescape(&word);
        }
    }
}
