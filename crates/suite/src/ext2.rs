//! Layout of a medium by `mke2fs -b 1024` (docs/field/ext2.md#what-mke2fs-writes,
//! docs/field/ext2.md#test-vector; the arithmetic is that of e2fsprogs' `ext2fs_initialize`).

use device::Extent;

/// Bytes of a block.
pub const BLOCK_BYTES: u64 = 1024;
/// Blocks of a group: as many as one block's bitmap has bits. 8 MiB.
pub const BLOCKS_PER_GROUP: u64 = 8 * BLOCK_BYTES;
/// First block of the groups. Block 0 is left to a boot loader, so every group begins 1 KiB past a
/// multiple of 8 MiB and nothing is ever page-aligned.
const FIRST_BLOCK: u64 = 1;
/// Bytes of an inode, and of medium for each inode: the defaults of `mke2fs` at the articles' time
/// (`-I 128 -i 16384 -O ^resize_inode`).
const INODE_BYTES: u64 = 128;
const INODE_RATIO_BYTES: u64 = 16384;
/// Group descriptors of 32 bytes in a block.
const DESCRIPTORS_PER_BLOCK: u64 = BLOCK_BYTES / 32;
/// Blocks that a last group must have beyond its own administration; otherwise it is left out.
const MIN_USE: u64 = 50;
/// First inode of a file: inodes 1 to 10 have special uses.
pub const FIRST_INODE: u64 = 11;

/// The layout of an ext2 file system with 1 KiB blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ext2Layout {
    /// Blocks of the file system, block 0 included.
    pub blocks: u64,
    /// Number of groups; the last may be shorter than the others.
    pub groups: u64,
    /// Inodes of a group.
    pub inodes_per_group: u64,
    /// Blocks of a group's inode table.
    pub table_blocks: u64,
    /// Blocks of the group descriptor table.
    pub descriptor_blocks: u64,
}

/// One group; all numbers are block numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its first block, that of the superblock if `has_backup`.
    pub first: u64,
    /// The block after its last.
    pub end: u64,
    /// True if it starts with a superblock and the descriptor table.
    pub has_backup: bool,
    /// The block that holds the block bitmap.
    pub block_bitmap: u64,
    /// The block that holds the inode bitmap.
    pub inode_bitmap: u64,
    /// First block of the inode table.
    pub table: u64,
    /// First block that files may use.
    pub data: u64,
}

impl Ext2Layout {
    /// The file system that `mke2fs` makes on a medium of `capacity_bytes`; `None` if that is too
    /// small.
    pub fn new(capacity_bytes: u64) -> Option<Ext2Layout> {
        let blocks = capacity_bytes / BLOCK_BYTES;
        let inodes = (blocks * BLOCK_BYTES / INODE_RATIO_BYTES).max(FIRST_INODE + 1);
        let layout = Ext2Layout::of_blocks(blocks, inodes)?;
        let rest = (blocks - FIRST_BLOCK) % BLOCKS_PER_GROUP;
        if rest == 0 || rest >= layout.administration(layout.groups - 1) + MIN_USE {
            return Some(layout);
        }
        // A last group too small to be of use is left out; its inodes go to the others.
        if layout.groups > 1 { Ext2Layout::of_blocks(blocks - rest, inodes) } else { None }
    }

    fn of_blocks(blocks: u64, inodes: u64) -> Option<Ext2Layout> {
        let groups = blocks.checked_sub(FIRST_BLOCK)?.div_ceil(BLOCKS_PER_GROUP);
        if groups == 0 {
            return None;
        }
        // The table is filled to its last block, and the inodes of a group are a multiple of eight.
        let at_least = inodes.div_ceil(groups).min(BLOCKS_PER_GROUP);
        let filled = (at_least * INODE_BYTES).div_ceil(BLOCK_BYTES) * BLOCK_BYTES / INODE_BYTES;
        let inodes_per_group = filled / 8 * 8;
        Some(Ext2Layout {
            blocks,
            groups,
            inodes_per_group,
            table_blocks: (inodes_per_group * INODE_BYTES).div_ceil(BLOCK_BYTES),
            descriptor_blocks: groups.div_ceil(DESCRIPTORS_PER_BLOCK),
        })
    }

    /// Blocks of a group that files cannot use.
    fn administration(&self, group: u64) -> u64 {
        let backup = if has_backup(group) { 1 + self.descriptor_blocks } else { 0 };
        backup + 2 + self.table_blocks
    }

    /// Blocks of the parts of a group.
    pub fn group(&self, group: u64) -> Group {
        let first = FIRST_BLOCK + group * BLOCKS_PER_GROUP;
        let data = first + self.administration(group);
        let table = data - self.table_blocks;
        let end = (first + BLOCKS_PER_GROUP).min(self.blocks);
        Group {
            first,
            end,
            has_backup: has_backup(group),
            block_bitmap: table - 2,
            inode_bitmap: table - 1,
            table,
            data,
        }
    }

    /// The block of the inode table that holds an inode (numbered from 1).
    pub fn inode_block(&self, inode: u64) -> u64 {
        let (group, index) =
            ((inode - 1) / self.inodes_per_group, (inode - 1) % self.inodes_per_group);
        self.group(group).table + index * INODE_BYTES / BLOCK_BYTES
    }

    /// The group of a block.
    pub fn group_of(&self, block: u64) -> u64 {
        block.saturating_sub(FIRST_BLOCK) / BLOCKS_PER_GROUP
    }

    /// A group's inode table, which is written in one piece.
    pub fn table(&self, group: u64) -> Extent {
        blocks(self.group(group).table, self.table_blocks)
    }

    /// Other writes of formatting in a group, one block at a time in this order: both bitmaps, then
    /// the superblock and the descriptor table if there is a backup.
    pub fn metadata(&self, group: u64) -> Vec<Extent> {
        let parts = self.group(group);
        let backup = if parts.has_backup { 1 + self.descriptor_blocks } else { 0 };
        let backup = parts.first..parts.first + backup;
        [parts.block_bitmap, parts.inode_bitmap]
            .into_iter()
            .chain(backup)
            .map(|block| blocks(block, 1))
            .collect()
    }
}

/// Bytes of `count` blocks from `first` on.
pub fn blocks(first: u64, count: u64) -> Extent {
    Extent::new(first * BLOCK_BYTES, count * BLOCK_BYTES)
}

/// True for groups with a superblock (`sparse_super`): groups 0, 1 and powers of 3, 5 and 7.
fn has_backup(group: u64) -> bool {
    let is_power_of = |base: u64| {
        std::iter::successors(Some(base), |power| power.checked_mul(base))
            .take_while(|p| *p <= group)
            .any(|p| p == group)
    };
    group <= 1 || [3, 5, 7].into_iter().any(is_power_of)
}

#[cfg(test)]
#[allow(clippy::disallowed_types, reason = "asks the real mke2fs")]
mod tests {
    use std::collections::BTreeMap;
    use std::process::Command;

    use super::*;

    /// Published example of docs/field/ext2.md#test-vector.
    #[test]
    fn the_published_example() {
        let layout = Ext2Layout::new(3_965_190_144).unwrap();
        let counts = (
            layout.blocks,
            layout.inodes_per_group * layout.groups,
            layout.groups,
            layout.inodes_per_group,
            layout.table_blocks,
        );
        assert_eq!(counts, (3_872_256, 242_176, 473, 512, 64));
        let parts = |g| {
            let group = layout.group(g);
            let backup =
                group.has_backup.then_some((group.first, group.first + layout.descriptor_blocks));
            (backup, group.block_bitmap, group.inode_bitmap, group.table, group.data - 1)
        };
        assert_eq!(parts(0), (Some((1, 16)), 17, 18, 19, 82));
        assert_eq!(parts(1), (Some((8193, 8208)), 8209, 8210, 8211, 8274));
        assert_eq!(parts(2), (None, 16385, 16386, 16387, 16450));
        assert_eq!((parts(3).0.unwrap().0, parts(3).3, parts(3).4), (24577, 24595, 24658));
        assert_eq!(parts(4), (None, 32769, 32770, 32771, 32834));
        assert_eq!(parts(8), (None, 65537, 65538, 65539, 65602));
        let backups: Vec<u64> = (0..473).filter(|g| layout.group(*g).has_backup).collect();
        assert_eq!(backups, [0, 1, 3, 5, 7, 9, 25, 27, 49, 81, 125, 243, 343]);
        assert_eq!(layout.table(2), Extent::new(16387 * 1024, 64 * 1024));
        assert_eq!(layout.metadata(2), [blocks(16385, 1), blocks(16386, 1)]);
        assert_eq!(
            layout.metadata(1).iter().map(|e| e.offset_bytes / 1024).collect::<Vec<_>>()[..4],
            [8209, 8210, 8193, 8194]
        );
        assert_eq!(
            (layout.inode_block(1), layout.inode_block(9), layout.inode_block(513)),
            (19, 20, 8211)
        );
    }

    #[test]
    fn too_small_is_none() {
        assert_eq!(Ext2Layout::new(0), None);
        assert_eq!(Ext2Layout::new(1024), None);
        assert_eq!(Ext2Layout::new(50 * 1024), None);
        assert!(Ext2Layout::new(1 << 20).is_some());
    }

    /// A group in the output of `dumpe2fs`: block bitmap, inode bitmap, first and last block of the
    /// table, last block of the descriptors.
    type GroupFacts = (u64, u64, u64, u64, Option<u64>);

    /// Layout by the real `mke2fs` on a file of this size, by group; `None` if e2fsprogs is not
    /// installed.
    fn real(capacity_bytes: u64) -> Option<BTreeMap<u64, GroupFacts>> {
        let image = tempfile::NamedTempFile::new().unwrap();
        image.as_file().set_len(capacity_bytes).unwrap();
        let options =
            "-F -q -t ext2 -b 1024 -I 128 -i 16384 -O ^resize_inode -E lazy_itable_init=1";
        let made =
            Command::new("mke2fs").args(options.split(' ')).arg(image.path()).output().ok()?;
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let group_facts =
            Command::new("dumpe2fs").arg(image.path()).env("LC_ALL", "C").output().ok()?;
        let text = String::from_utf8(group_facts.stdout).unwrap();
        Some(text.split("\nGroup ").skip(1).map(read_group).collect())
    }

    fn read_group(text: &str) -> (u64, GroupFacts) {
        let range = |key: &str| {
            let after = text.split_once(key)?.1.trim_start();
            let word: String =
                after.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
            let (first, last) = word.split_once('-').unwrap_or((&word, &word));
            Some((first.parse::<u64>().ok()?, last.parse::<u64>().ok()?))
        };
        let number = text.split(':').next().unwrap().parse().unwrap();
        let table = range("Inode table at ").unwrap();
        let group_facts = (
            range("Block bitmap at ").unwrap().0,
            range("Inode bitmap at ").unwrap().0,
            table.0,
            table.1,
            range("Group descriptors at ").map(|r| r.1),
        );
        (number, group_facts)
    }

    #[test]
    fn the_real_mke2fs_agrees() {
        let sizes = [
            1 << 20,
            20_000_000,
            64 << 20,
            (64 << 20) + 1024 + 100 * 1024,
            (64 << 20) + 1024 + 116 * 1024,
            513 << 20,
            3_965_190_144,
        ];
        for capacity_bytes in sizes {
            let Some(real) = real(capacity_bytes) else {
                println!(
                    "e2fsprogs is not installed: the layout is checked against the published example only"
                );
                return;
            };
            let layout = Ext2Layout::new(capacity_bytes).unwrap();
            let ours = (0..layout.groups).map(|number| {
                let group = layout.group(number);
                let descriptors =
                    group.has_backup.then_some(group.first + layout.descriptor_blocks);
                let bitmaps = (group.block_bitmap, group.inode_bitmap);
                (number, (bitmaps.0, bitmaps.1, group.table, group.data - 1, descriptors))
            });
            let ours: BTreeMap<u64, GroupFacts> = ours.collect();
            assert_eq!(ours, real, "{capacity_bytes} bytes");
        }
    }
}
