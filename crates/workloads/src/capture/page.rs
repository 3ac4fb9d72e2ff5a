//! The pages of the kernel's trace buffer, as `trace_pipe_raw` gives them.
//!
//! A page begins with a time stamp and the number of its data bytes; the data are events, each
//! behind 32 bits that hold its length or kind (5 bits) and the time since the one before (27
//! bits). The layout is that of `include/linux/ring_buffer.h`, and `events/header_page` and
//! `events/header_event` say it of the running kernel.

/// Kinds of entries that are no events, by the value of the 5 bits.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// Bits of the time in an entry's head.
const DELTA_BITS: u32 = 27;
/// The bits of the number of data bytes that are one; others say that events before this page were
/// lost, which the buffer's own statistics tell with their number.
const LENGTH: u64 = (1 << 27) - 1;
/// An absolute time has this many bits; those above are the page's.
const STAMP_BITS: u32 = 59;

/// Where the parts of a page lie on this kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLayout {
    /// Bytes of the number of data bytes: those of a `long`.
    length_bytes: usize,
    /// First byte of the data.
    data: usize,
}

impl PageLayout {
    /// From the text of `events/header_page`.
    pub fn parse(header_page: &str) -> Option<PageLayout> {
        let number = |line: &str, name: &str| -> Option<usize> {
            line.split(';').find_map(|part| part.trim().strip_prefix(name))?.trim().parse().ok()
        };
        let line = |field: &str| header_page.lines().find(|line| line.contains(field));
        let length_bytes = number(line(" commit;")?, "size:")?;
        let data = number(line(" data;")?, "offset:")?;
        (matches!(length_bytes, 4 | 8) && data == 8 + length_bytes)
            .then_some(PageLayout { length_bytes, data })
    }

    /// The events of a page, each with its time in nanoseconds.
    pub fn events<'a>(&self, page: &'a [u8]) -> impl Iterator<Item = (u64, &'a [u8])> {
        let length =
            if self.length_bytes == 4 { half(page, 8).map(u64::from) } else { word(page, 8) };
        let end = self.data.saturating_add((length.unwrap_or(0) & LENGTH) as usize).min(page.len());
        let mut entries =
            Entries { page: &page[..end], at: self.data, now_ns: word(page, 0).unwrap_or(0) };
        std::iter::from_fn(move || entries.next_event())
    }
}

/// Goes through the data of a page.
struct Entries<'a> {
    page: &'a [u8],
    at: usize,
    now_ns: u64,
}

impl<'a> Entries<'a> {
    /// The next event and its time; none at the end, or where the page is not as it must be.
    fn next_event(&mut self) -> Option<(u64, &'a [u8])> {
        loop {
            let head = half(self.page, self.at)?;
            let (kind, delta) = if cfg!(target_endian = "little") {
                (head & 31, u64::from(head >> 5))
            } else {
                (head >> DELTA_BITS, u64::from(head & ((1 << DELTA_BITS) - 1)))
            };
            self.at += 4;
            match kind {
                // The rest of the page is empty.
                PADDING if delta == 0 => return None,
                // An event that was thrown away.
                PADDING => {
                    self.now_ns = self.now_ns.wrapping_add(delta);
                    let length = half(self.page, self.at)? as usize;
                    self.at = self.at.checked_add(length)?;
                }
                TIME_EXTEND => {
                    let upper = u64::from(half(self.page, self.at)?) << DELTA_BITS;
                    self.now_ns = self.now_ns.wrapping_add(upper | delta);
                    self.at += 4;
                }
                TIME_STAMP => {
                    let lower = u64::from(half(self.page, self.at)?) << DELTA_BITS | delta;
                    self.now_ns = self.now_ns >> STAMP_BITS << STAMP_BITS | lower;
                    self.at += 4;
                }
                kind => {
                    self.now_ns = self.now_ns.wrapping_add(delta);
                    // A long event has its length, these four bytes included, in front of it.
                    let (begin, end) = match kind {
                        0 => {
                            (self.at + 4, self.at.checked_add(half(self.page, self.at)? as usize)?)
                        }
                        words => (self.at, self.at + 4 * words as usize),
                    };
                    self.at = end;
                    return self.page.get(begin..end).map(|event| (self.now_ns, event));
                }
            }
        }
    }
}

/// 32 bits of the machine's own byte order.
fn half(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_ne_bytes)
}

/// 64 bits of the machine's own byte order.
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What 64-bit kernels say.
    const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

    /// A page under construction, in the byte order of this machine.
    struct Page(Vec<u8>);

    impl Page {
        fn new(begun_ns: u64) -> Page {
            let mut page = begun_ns.to_ne_bytes().to_vec();
            page.extend([0; 8]);
            Page(page)
        }

        fn head(mut self, kind: u32, delta: u32) -> Page {
            let head = if cfg!(target_endian = "little") {
                kind | delta << 5
            } else {
                kind << DELTA_BITS | delta
            };
            self.0.extend(head.to_ne_bytes());
            self
        }

        fn half(mut self, value: u32) -> Page {
            self.0.extend(value.to_ne_bytes());
            self
        }

        fn done(mut self, flags: u64) -> Vec<u8> {
            let length = self.0.len() as u64 - 16;
            self.0[8..16].copy_from_slice(&(length | flags).to_ne_bytes());
            self.0.resize(4096, 0);
            self.0
        }
    }

    fn events(page: &[u8]) -> Vec<(u64, Vec<u8>)> {
        PageLayout::parse(HEADER_PAGE)
            .unwrap()
            .events(page)
            .map(|(time_ns, event)| (time_ns, event.to_vec()))
            .collect()
    }

    #[test]
    fn events_of_both_lengths_and_all_kinds_of_time() {
        let page = Page::new(1 << 60)
            .head(2, 5)
            .half(1)
            .half(2)
            .head(0, 7)
            .half(8)
            .half(3)
            .head(TIME_EXTEND, 1)
            .half(2)
            .head(1, 0)
            .half(4)
            .head(PADDING, 10)
            .half(8)
            .half(0)
            .head(TIME_STAMP, 99)
            .half(0)
            .head(1, 1)
            .half(5)
            .done(0);
        let base = 1 << 60;
        let longer = base + 12 + (2 << 27) + 1;
        let two = [1u32.to_ne_bytes(), 2u32.to_ne_bytes()].concat();
        let one = |value: u32| value.to_ne_bytes().to_vec();
        assert_eq!(
            events(&page),
            [(base + 5, two), (base + 12, one(3)), (longer, one(4)), (base + 100, one(5))]
        );
    }

    #[test]
    fn the_mark_of_a_loss_is_no_length() {
        let page = |flags| Page::new(0).head(1, 1).half(7).done(flags);
        assert_eq!(events(&page(1 << 31 | 1 << 30)), events(&page(0)));
        assert_eq!(events(&page(0)).len(), 1);
    }

    #[test]
    fn a_kernel_with_another_layout_is_not_misread() {
        assert_eq!(PageLayout::parse(HEADER_PAGE), Some(PageLayout { length_bytes: 8, data: 16 }));
        assert!(PageLayout::parse(&HEADER_PAGE.replace("offset:16", "offset:24")).is_none());
        assert!(PageLayout::parse("field: u64 timestamp;").is_none());
    }

    proptest::proptest! {
        #[test]
        fn random_pages_end_within_the_page(page in proptest::collection::vec(proptest::num::u8::ANY, 0..600)) {
            proptest::prop_assert!(events(&page).len() <= page.len() / 4 + 1);
        }
    }
}
