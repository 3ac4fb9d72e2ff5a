//! Writes of a file system that is filled: an ext2 allocator reduced to the I/O of the medium
//! (docs/field/ext2.md#filling-a-file-system).

use std::collections::VecDeque;

use device::Extent;

use super::sizes::file_bytes;
use crate::ext2::{BLOCK_BYTES, Ext2Layout, FIRST_INODE, Group, blocks};
use stats::Random;

/// Blocks of a file before its first indirect block, and between that and each further one.
const DIRECT_BLOCKS: u64 = 12;
const INDIRECT_BLOCKS: u64 = 256;
/// Files in a block of a directory.
const FILES_PER_DIRECTORY_BLOCK: u64 = 32;

/// Time at which metadata is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Before the data of each file.
    Sync,
    /// Together, when a group is full.
    Async,
}

/// One write of the fill: data of a file, or metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocatedWrite {
    /// Place in the file system, in bytes from its start.
    pub place: Extent,
    /// Bytes of the write that belong to a file; 0 for metadata.
    pub data_bytes: u64,
}

/// Fills a file system with files, one after the other from the first group on, with one free block
/// between them. Returns the writes in order until it is full.
pub struct Allocator {
    layout: Ext2Layout,
    order: Order,
    largest_blocks: u64,
    random: Random,
    number: u64,
    group: Group,
    /// Number of the next free block of `group`.
    at: u64,
    /// Inodes of the group used so far, and the number of them at the beginning of its fill.
    inodes: u64,
    first_inode: u64,
    /// Number of files that were allocated so far.
    pub files: u64,
    waiting: VecDeque<AllocatedWrite>,
    /// Metadata of the group that waits for its end.
    later: Vec<Extent>,
    is_full: bool,
}

impl Allocator {
    /// Fills `layout`; no write is larger than `largest_bytes`.
    pub fn new(layout: Ext2Layout, order: Order, largest_bytes: u64, random: Random) -> Allocator {
        let group = layout.group(0);
        let reserved = FIRST_INODE - 1;
        Allocator {
            order,
            largest_blocks: (largest_bytes / BLOCK_BYTES).max(1),
            random,
            number: 0,
            group,
            at: group.data,
            inodes: reserved,
            first_inode: reserved,
            files: 0,
            waiting: VecDeque::new(),
            later: Vec::new(),
            is_full: false,
            layout,
        }
    }

    /// The next free block, in the next group if this one is full; `None` if there is none.
    fn block(&mut self) -> Option<u64> {
        if self.at >= self.group.end {
            self.next_group();
        }
        if self.is_full {
            return None;
        }
        self.at += 1;
        Some(self.at - 1)
    }

    fn next_group(&mut self) {
        if self.is_full {
            return;
        }
        self.close_group();
        self.is_full = self.number + 1 >= self.layout.groups;
        if !self.is_full {
            self.number += 1;
            self.group = self.layout.group(self.number);
            (self.at, self.inodes, self.first_inode) = (self.group.data, 0, 0);
        }
    }

    /// Writes the deferred metadata of the group: both bitmaps, the used part of the inode table,
    /// directories.
    fn close_group(&mut self) {
        if self.order == Order::Sync {
            return;
        }
        self.metadata(blocks(self.group.block_bitmap, 2));
        if self.inodes > self.first_inode {
            let block_of = |inode: u64| {
                self.layout.inode_block(self.number * self.layout.inodes_per_group + inode)
            };
            let (first, last) = (block_of(self.first_inode + 1), block_of(self.inodes));
            self.runs(first, last + 1 - first, 0);
        }
        for place in std::mem::take(&mut self.later) {
            self.metadata(place);
        }
    }

    fn metadata(&mut self, place: Extent) {
        self.waiting.push_back(AllocatedWrite { place, data_bytes: 0 });
    }

    /// Writes `count` blocks from `first` on, in as few pieces as possible; the first `data_bytes`
    /// of them are a file's.
    fn runs(&mut self, first: u64, count: u64, data_bytes: u64) {
        let mut data_left = data_bytes;
        for at in (0..count).step_by(self.largest_blocks as usize) {
            let place = blocks(first + at, self.largest_blocks.min(count - at));
            let data_bytes = place.bytes.min(data_left);
            data_left -= data_bytes;
            self.waiting.push_back(AllocatedWrite { place, data_bytes });
        }
    }

    /// Writes a file: its inode, bitmaps, indirect blocks, and its data in runs of neighbouring
    /// blocks.
    fn file(&mut self) {
        if self.inodes == self.layout.inodes_per_group || self.at >= self.group.end {
            self.next_group();
            if self.is_full {
                return;
            }
        }
        let size_bytes = file_bytes(&mut self.random);
        let home = self.group;
        self.inodes += 1;
        let inode_block =
            self.layout.inode_block(self.number * self.layout.inodes_per_group + self.inodes);
        if self.order == Order::Sync {
            [inode_block, home.inode_bitmap, home.block_bitmap]
                .into_iter()
                .for_each(|block| self.metadata(blocks(block, 1)));
        }
        if self.files.is_multiple_of(FILES_PER_DIRECTORY_BLOCK) {
            self.directory();
        }
        let (data, indirect) = self.allocate(size_bytes.div_ceil(BLOCK_BYTES));
        if self.order == Order::Sync {
            // Groups that the file runs on into have bitmaps of their own.
            let mut bitmaps: Vec<u64> = data
                .iter()
                .map(|(first, _)| self.bitmap_of(*first))
                .filter(|bitmap| *bitmap != home.block_bitmap)
                .collect();
            bitmaps.dedup();
            bitmaps
                .into_iter()
                .chain(indirect.iter().copied())
                .for_each(|block| self.metadata(blocks(block, 1)));
        }
        self.write_data(&data, &indirect, size_bytes);
        self.files += 1;
        self.at += 1; // one block stays free
    }

    fn directory(&mut self) {
        let Some(block) = self.block() else { return };
        match self.order {
            Order::Sync => self.metadata(blocks(block, 1)),
            Order::Async => self.later.push(blocks(block, 1)),
        }
    }

    fn bitmap_of(&self, block: u64) -> u64 {
        self.layout.group(self.layout.group_of(block)).block_bitmap
    }

    /// Runs of data blocks (first, count) for a file of `count` blocks, and its indirect blocks;
    /// fewer if the file system is full.
    fn allocate(&mut self, count: u64) -> (Vec<(u64, u64)>, Vec<u64>) {
        let (mut data, mut indirect): (Vec<(u64, u64)>, Vec<u64>) = (Vec::new(), Vec::new());
        for nth in 0..count {
            if nth >= DIRECT_BLOCKS && (nth - DIRECT_BLOCKS).is_multiple_of(INDIRECT_BLOCKS) {
                indirect.extend(self.block());
            }
            let Some(block) = self.block() else { break };
            match data.last_mut() {
                Some((first, length)) if *first + *length == block => *length += 1,
                _ => data.push((block, 1)),
            }
        }
        (data, indirect)
    }

    /// Writes the data in runs. An indirect block between two of them has been written before, or
    /// is written with them if metadata may wait.
    fn write_data(&mut self, data: &[(u64, u64)], indirect: &[u64], size_bytes: u64) {
        let mut left_bytes = size_bytes;
        let mut open: Option<(u64, u64, u64)> = None;
        for &(first, count) in data {
            let data_bytes = left_bytes.min(count * BLOCK_BYTES);
            left_bytes -= data_bytes;
            open = match open {
                Some((start, length, bytes))
                    if self.order == Order::Async
                        && start + length + 1 == first
                        && indirect.contains(&(first - 1)) =>
                {
                    Some((start, length + 1 + count, bytes + data_bytes))
                }
                before => {
                    before
                        .into_iter()
                        .for_each(|(start, length, bytes)| self.runs(start, length, bytes));
                    Some((first, count, data_bytes))
                }
            };
        }
        open.into_iter().for_each(|(start, length, bytes)| self.runs(start, length, bytes));
    }
}

impl Iterator for Allocator {
    type Item = AllocatedWrite;

    fn next(&mut self) -> Option<AllocatedWrite> {
        while self.waiting.is_empty() && !self.is_full {
            self.file();
        }
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn filled(capacity_bytes: u64, order: Order) -> (Ext2Layout, Vec<AllocatedWrite>, u64) {
        let layout = Ext2Layout::new(capacity_bytes).unwrap();
        let mut allocator =
            Allocator::new(layout.clone(), order, 64 * 1024, Random::for_purpose(3, "files"));
        let writes = allocator.by_ref().collect();
        (layout, writes, allocator.files)
    }

    #[test]
    fn data_goes_to_free_blocks_once_and_metadata_where_it_belongs() {
        for order in [Order::Sync, Order::Async] {
            let (layout, writes, files) = filled(64 << 20, order);
            let mut used: BTreeMap<u64, u32> = BTreeMap::new();
            for write in &writes {
                assert!(
                    write.place.bytes <= 64 * 1024
                        && write.place.end() <= layout.blocks * BLOCK_BYTES,
                    "{write:?}"
                );
                for block in write.place.offset_bytes / BLOCK_BYTES..write.place.end() / BLOCK_BYTES
                {
                    let group = layout.group(layout.group_of(block));
                    let is_administration = (group.block_bitmap..group.data).contains(&block);
                    assert!(
                        !(is_administration && write.data_bytes > 0) && block >= group.block_bitmap,
                        "{write:?}"
                    );
                    if !is_administration {
                        *used.entry(block).or_default() += 1;
                    }
                }
            }
            assert!(
                used.values().all(|times| *times == 1),
                "a block of a file or directory is written once"
            );
            let free =
                (0..layout.groups).map(|g| layout.group(g)).map(|g| g.end - g.data).sum::<u64>();
            // Where a file ends with its group, no block stays free after it.
            let full = (used.len() as u64 + files) as f64 / free as f64;
            assert!(full > 0.98 && full <= 1.001, "{full}");
            let data: u64 = writes.iter().map(|write| write.data_bytes).sum();
            assert!(data > 40 << 20, "{data}");
        }
    }

    #[test]
    fn sync_metadata_comes_before_the_data_of_each_file() {
        let (layout, writes, files) = filled(16 << 20, Order::Sync);
        let home = layout.group(0);
        let first: Vec<u64> =
            writes[..4].iter().map(|write| write.place.offset_bytes / BLOCK_BYTES).collect();
        assert_eq!(
            first,
            [layout.inode_block(11), home.inode_bitmap, home.block_bitmap, home.data]
        );
        assert_eq!(writes[4].place.offset_bytes, (home.data + 1) * BLOCK_BYTES);
        assert!(writes[4].data_bytes > 0);
        let inode_bitmaps = (0..layout.groups).map(|g| layout.group(g).inode_bitmap * BLOCK_BYTES);
        let written = inode_bitmaps
            .map(|at| writes.iter().filter(|write| write.place.offset_bytes == at).count() as u64)
            .sum::<u64>();
        assert!(written == files || written == files + 1, "{written} for {files} files");
    }

    #[test]
    fn async_metadata_comes_once_a_group() {
        let (layout, writes, _) = filled(16 << 20, Order::Async);
        for group in (0..layout.groups).map(|g| layout.group(g)) {
            assert_eq!(
                writes.iter().filter(|write| write.place == blocks(group.block_bitmap, 2)).count(),
                1
            );
        }
    }

    #[test]
    fn a_large_file_has_an_indirect_block_after_12_and_every_256() {
        let layout = Ext2Layout::new(16 << 20).unwrap();
        let mut allocator =
            Allocator::new(layout.clone(), Order::Sync, 64 * 1024, Random::for_purpose(3, "files"));
        let start = layout.group(0).data;
        let (data, indirect) = allocator.allocate(600);
        assert_eq!(data, [(start, 12), (start + 13, 256), (start + 270, 256), (start + 527, 76)]);
        assert_eq!(indirect, [start + 12, start + 269, start + 526]);
        let (rest, _) = allocator.allocate(1 << 20);
        assert_eq!(
            rest.last().map(|(first, count)| first + count),
            Some(layout.blocks),
            "what does not fit is cut off"
        );
        assert!(allocator.is_full);
    }
}
