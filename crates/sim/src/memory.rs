//! Contents of a medium: sparse memory in pages of 4 KiB.

/// Bytes of a page.
pub(crate) const PAGE_BYTES: u64 = 4096;

/// Pages of a leaf; a leaf covers 1 MiB.
const LEAF_PAGES: u64 = 256;

type Page = Box<[u8; PAGE_BYTES as usize]>;
type Leaf = [Option<Page>; LEAF_PAGES as usize];

/// The contents of a medium. Memory grows with the data written; pages of blank bytes only are not
/// kept.
pub(crate) struct Memory {
    leaves: Vec<Option<Box<Leaf>>>,
    blank: u8,
    pages: u64,
}

impl Memory {
    /// A medium of this size on which every byte is `blank`.
    pub(crate) fn new(capacity_bytes: u64, blank: u8) -> Memory {
        let leaves = capacity_bytes.div_ceil(PAGE_BYTES * LEAF_PAGES);
        Memory { leaves: vec![None; leaves as usize], blank, pages: 0 }
    }

    /// Bytes kept in memory.
    pub(crate) fn kept_bytes(&self) -> u64 {
        self.pages * PAGE_BYTES
    }

    /// Copies from the medium.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) {
        for (page, inside, range) in pages(offset, into.len()) {
            match self.page(page) {
                Some(data) => {
                    into[range.clone()].copy_from_slice(&data[inside..inside + range.len()])
                }
                None => into[range].fill(self.blank),
            }
        }
    }

    /// Copies to the medium.
    pub(crate) fn write(&mut self, offset: u64, from: &[u8]) {
        for (page, inside, range) in pages(offset, from.len()) {
            let from = &from[range];
            if self.page(page).is_none() && from.iter().all(|byte| *byte == self.blank) {
                continue;
            }
            self.page_mut(page)[inside..inside + from.len()].copy_from_slice(from);
        }
    }

    /// Makes a range blank; frees whole pages.
    pub(crate) fn clear(&mut self, offset: u64, bytes: u64) {
        let (mut at, end) = (offset, offset + bytes);
        while at < end {
            let page = at / PAGE_BYTES;
            if !self.has_leaf(page) {
                at = (page / LEAF_PAGES + 1) * LEAF_PAGES * PAGE_BYTES;
                continue;
            }
            let stop = end.min((page + 1) * PAGE_BYTES);
            if stop - at == PAGE_BYTES {
                self.drop_page(page);
            } else if self.page(page).is_some() {
                let blank = self.blank;
                let inside = (at % PAGE_BYTES) as usize;
                self.page_mut(page)[inside..inside + (stop - at) as usize].fill(blank);
            }
            at = stop;
        }
    }

    /// Inverts one bit.
    pub(crate) fn flip(&mut self, offset: u64, bit: u32) {
        self.page_mut(offset / PAGE_BYTES)[(offset % PAGE_BYTES) as usize] ^= 1 << (bit % 8);
    }

    fn page(&self, page: u64) -> Option<&Page> {
        self.leaves[(page / LEAF_PAGES) as usize].as_ref()?[(page % LEAF_PAGES) as usize].as_ref()
    }

    fn page_mut(&mut self, page: u64) -> &mut Page {
        let leaf = self.leaves[(page / LEAF_PAGES) as usize]
            .get_or_insert_with(|| Box::new([const { None }; LEAF_PAGES as usize]));
        leaf[(page % LEAF_PAGES) as usize].get_or_insert_with(|| {
            self.pages += 1;
            Box::new([self.blank; PAGE_BYTES as usize])
        })
    }

    fn has_leaf(&self, page: u64) -> bool {
        self.leaves[(page / LEAF_PAGES) as usize].is_some()
    }

    fn drop_page(&mut self, page: u64) {
        if let Some(leaf) = &mut self.leaves[(page / LEAF_PAGES) as usize]
            && leaf[(page % LEAF_PAGES) as usize].take().is_some()
        {
            self.pages -= 1;
        }
    }
}

/// The pages of a range: number, first byte inside, and the bytes of the buffer.
fn pages(offset: u64, bytes: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done >= bytes {
            return None;
        }
        let at = offset + done as u64;
        let inside = (at % PAGE_BYTES) as usize;
        let take = (PAGE_BYTES as usize - inside).min(bytes - done);
        done += take;
        Some((at / PAGE_BYTES, inside, done - take..done))
    })
}
