//! A directory tree like that of a Linux root, drawn from a seed
//! (docs/field/ext2.md#filling-a-file-system): sizes of files, files to a directory, symbolic
//! links.

use std::path::PathBuf;

use stats::Random;
use suite::catalogue::ext2_fill::file_bytes;

/// Files per directory of a Debian 12 root: 142,022 files in 18,614 directories.
const FILES_PER_DIRECTORY: f64 = 142_022.0 / 18_614.0;
/// Symbolic links per file of the same root: 6,647 links for 142,022 files.
const LINKS_PER_FILE: f64 = 6_647.0 / 142_022.0;
/// Deepest nesting; that of a Debian root is about this.
const MAX_LEVELS: usize = 8;
/// Bytes per file: the mean size up to the largest bin, rounded up, and what a file system needs
/// beside it (inode, directory entry, rest of the last block).
const ROOM_PER_FILE: u64 = 56 << 10;
/// Bytes for the few large files, however many are drawn.
const ROOM_FOR_LUCK: u64 = 64 << 20;

/// Entry of an archive, in the order in which it is unpacked. Paths are relative to the tree's top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TreeEntry {
    /// A directory, before its entries.
    Directory(PathBuf),
    /// A file of so many bytes.
    File(PathBuf, u64),
    /// A symbolic link and its target.
    Link(PathBuf, PathBuf),
}

/// Free space in bytes that a tree of so many files needs.
pub(super) fn needs_bytes(files: u64) -> u64 {
    files * ROOM_PER_FILE + ROOM_FOR_LUCK
}

/// A tree of so many files, with the directories and links that belong to them. A directory comes
/// right before its entries, as tar writes it.
pub(super) fn tree(files: u64, random: &mut Random) -> Vec<TreeEntry> {
    let mut entries = Vec::with_capacity((files as f64 * 1.2) as usize);
    let mut directories: Vec<(PathBuf, usize)> = Vec::new();
    let mut last_file = None;
    for number in 0..files {
        if directories.is_empty() || random.unit() < 1.0 / FILES_PER_DIRECTORY {
            let directory = subdirectory(&directories, random);
            entries.push(TreeEntry::Directory(directory.0.clone()));
            directories.push(directory);
        }
        let here = directories.last().map_or_else(PathBuf::new, |(path, _)| path.clone());
        if random.unit() < LINKS_PER_FILE
            && let Some(target) = last_file.take()
        {
            entries.push(TreeEntry::Link(here.join(format!("link-{number}.so")), target));
        }
        let name = format!(
            "file-{number}.{}",
            ["so", "conf", "py", "txt", "h", "mo"][random.below(6) as usize]
        );
        last_file = Some(PathBuf::from(&name));
        entries.push(TreeEntry::File(here.join(name), file_bytes(random)));
    }
    entries
}

/// A new directory in an existing one that is not too deep, or at the top.
fn subdirectory(directories: &[(PathBuf, usize)], random: &mut Random) -> (PathBuf, usize) {
    let name = format!("dir-{}", directories.len());
    let parent = random.below(directories.len() as u64 + 1) as usize;
    match directories.get(parent).filter(|(_, level)| *level < MAX_LEVELS) {
        Some((path, level)) => (path.join(name), level + 1),
        None => (PathBuf::from(name), 1),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn count(entries: &[TreeEntry], what: fn(&TreeEntry) -> bool) -> f64 {
        entries.iter().filter(|entry| what(entry)).count() as f64
    }

    #[test]
    fn a_tree_has_the_shape_of_a_root() {
        let entries = tree(20_000, &mut Random::for_purpose(1, "tree"));
        let files = count(&entries, |entry| matches!(entry, TreeEntry::File(..)));
        let directories = count(&entries, |entry| matches!(entry, TreeEntry::Directory(_)));
        let links = count(&entries, |entry| matches!(entry, TreeEntry::Link(..)));
        assert_eq!(files, 20_000.0);
        assert!(
            (files / directories / FILES_PER_DIRECTORY - 1.0).abs() < 0.1,
            "{directories} directories"
        );
        assert!((links / files / LINKS_PER_FILE - 1.0).abs() < 0.2, "{links} links");
    }

    #[test]
    fn everything_has_its_directory_before_it_and_a_name_of_its_own() {
        let mut there = BTreeSet::from([PathBuf::new()]);
        for entry in tree(5000, &mut Random::for_purpose(7, "tree")) {
            let (TreeEntry::Directory(path) | TreeEntry::File(path, _) | TreeEntry::Link(path, _)) =
                &entry;
            assert!(there.contains(path.parent().unwrap()), "{entry:?} has no directory");
            if let TreeEntry::Link(_, target) = &entry {
                assert!(target.components().count() == 1, "{entry:?}");
            }
            assert!(there.insert(path.clone()), "{entry:?} comes twice");
        }
    }

    #[test]
    fn the_room_that_is_asked_for_is_enough() {
        for (files, seed) in [(100, 1), (3000, 2), (3000, 3), (20_000, 4)] {
            let entries = tree(files, &mut Random::for_purpose(seed, "tree"));
            let blocks = |bytes: u64| bytes.next_multiple_of(4096) + 512;
            let used: u64 = entries
                .iter()
                .map(
                    |entry| {
                        if let TreeEntry::File(_, bytes) = entry { blocks(*bytes) } else { 4608 }
                    },
                )
                .sum();
            assert!(used < needs_bytes(files), "{used} of {}", needs_bytes(files));
        }
    }
}
