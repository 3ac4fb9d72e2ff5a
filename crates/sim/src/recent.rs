//! The controller's memory of a fake: the last writes can be read back, with or without flash for
//! them (docs/field/counterfeits.md#f3probe).

use std::collections::{BTreeMap, VecDeque};

use crate::memory::PAGE_BYTES;

type Page = Box<[u8; PAGE_BYTES as usize]>;

/// The last pages written, by their address.
pub(crate) struct Recent {
    most_pages: usize,
    /// True if only writes without flash are remembered.
    only_lost: bool,
    /// By number of the page: the number of its last write, and its data, if data is kept.
    pages: BTreeMap<u64, (u64, Option<Page>)>,
    /// Pages in order of writing; an entry with another number than the page's last is ignored.
    order: VecDeque<(u64, u64)>,
    written: u64,
}

impl Recent {
    /// Remembers this many bytes, in pages.
    pub(crate) fn new(bytes: u64, only_lost: bool) -> Recent {
        Recent {
            only_lost,
            most_pages: (bytes / PAGE_BYTES) as usize,
            pages: BTreeMap::new(),
            order: VecDeque::new(),
            written: 0,
        }
    }

    /// Notes a write; `data` is `None` if data is not kept, `is_lost` is true if some of it has no
    /// flash. A page that is only partly written is not remembered.
    pub(crate) fn write(&mut self, offset: u64, bytes: u64, data: Option<&[u8]>, is_lost: bool) {
        if self.only_lost && !is_lost {
            return;
        }
        for (page, part) in whole_and_parts(offset, bytes as usize) {
            self.pages.remove(&page);
            if part.len() == PAGE_BYTES as usize {
                self.written += 1;
                let data =
                    data.and_then(|data| <&[u8; PAGE_BYTES as usize]>::try_from(&data[part]).ok());
                self.pages.insert(page, (self.written, data.map(|data| Box::new(*data))));
                self.order.push_back((self.written, page));
            }
        }
        while self.pages.len() > self.most_pages {
            let Some((number, page)) = self.order.pop_front() else { break };
            if self.pages.get(&page).is_some_and(|(latest, _)| *latest == number) {
                self.pages.remove(&page);
            }
        }
    }

    /// Replaces data that was read by what is remembered.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) {
        for (page, part) in whole_and_parts(offset, into.len()) {
            if let Some((_, Some(data))) = self.pages.get(&page) {
                let inside = ((offset + part.start as u64) % PAGE_BYTES) as usize;
                into[part.clone()].copy_from_slice(&data[inside..inside + part.len()]);
            }
        }
    }

    /// Forgets a range that was discarded.
    pub(crate) fn forget(&mut self, offset: u64, bytes: u64) {
        let first = offset / PAGE_BYTES;
        let touched: Vec<u64> = self
            .pages
            .range(first..(offset + bytes).div_ceil(PAGE_BYTES))
            .map(|(page, _)| *page)
            .collect();
        touched.iter().for_each(|page| drop(self.pages.remove(page)));
    }
}

/// The pages that a range touches, each with its part of the buffer.
fn whole_and_parts(
    offset: u64,
    bytes: usize,
) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let take = (PAGE_BYTES - at % PAGE_BYTES).min((bytes - done) as u64) as usize;
        done += take;
        (take > 0).then(|| (at / PAGE_BYTES, done - take..done))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte_at(recent: &Recent, offset: u64) -> u8 {
        let mut byte = [0];
        recent.read(offset, &mut byte);
        byte[0]
    }

    #[test]
    fn what_was_written_last_is_remembered_and_no_more() {
        let mut recent = Recent::new(8192, false);
        let write = |recent: &mut Recent, offset, data: &[u8]| {
            recent.write(offset, data.len() as u64, Some(data), false)
        };
        write(&mut recent, 0, &[1; 4096]);
        write(&mut recent, 8192, &[2; 8192]);
        assert_eq!([0, 8192, 12288].map(|at| byte_at(&recent, at)), [0, 2, 2]);
        write(&mut recent, 8192, &[3; 4096]);
        write(&mut recent, 0, &[4; 4096]);
        // Writing again renews.
        assert_eq!([0, 8192, 12288].map(|at| byte_at(&recent, at)), [4, 3, 0]);
        write(&mut recent, 8192, &[5; 512]);
        assert_eq!(byte_at(&recent, 9000), 0, "a page that is partly new is forgotten");
        recent.forget(100, 1);
        assert_eq!(byte_at(&recent, 0), 0);
    }

    #[test]
    fn writes_without_data_take_room_as_well() {
        let mut recent = Recent::new(8192, false);
        recent.write(0, 4096, Some(&[1; 4096]), false);
        recent.write(8192, 4096, None, true);
        assert_eq!([0, 8192].map(|at| byte_at(&recent, at)), [1, 0]);
        recent.write(16384, 4096, None, true);
        assert_eq!(byte_at(&recent, 0), 0);
    }
}
