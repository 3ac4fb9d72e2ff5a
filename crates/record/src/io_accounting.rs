//! I/Os that were issued for a cell, compared with those that the kernel counted on the medium:
//! proof that the figures are the medium's.

use crate::{Cell, Content, CountUnit, Counters, Direction, Flag, IoAccounting, Path};

/// Bytes of a sector of the kernel's counters.
const SECTOR_BYTES: u64 = 512;
/// Share of the issued bytes that the kernel must have counted on the medium; with less, something
/// before it answered.
const MIN_SHARE: f64 = 0.9;
/// Bytes that may be missing in any cell: the kernel adds up over processors while they count.
const SLACK_BYTES: u64 = 1 << 20;
/// I/Os that may be missing, for the same reason.
const SLACK_IOS: u64 = 64;

impl IoAccounting {
    /// Makes the accounting of a cell from the counts between its beginning and its end.
    pub fn of(cell: &Cell, counted: &Counters) -> IoAccounting {
        let reads = cell.params.direction == Some(Direction::Read);
        IoAccounting {
            issued_ios: cell.ops,
            issued_read_bytes: if reads { cell.bytes } else { 0 },
            issued_written_bytes: cell.written_bytes,
            counted_reads: counted.read.ios,
            counted_writes: counted.write.ios,
            counted_read_bytes: counted.read.sectors.saturating_mul(SECTOR_BYTES),
            counted_written_bytes: counted.write.sectors.saturating_mul(SECTOR_BYTES),
        }
    }

    /// Caveat that the figures are not the medium's, in the direction of the cell: too few bytes or
    /// too few I/Os arrived. `None` if the page cache is measured, if a file system on top did the
    /// I/O, or if less than 1 MiB or a block is missing.
    pub fn flag(&self, cell: &Cell) -> Option<Flag> {
        if cell.params.path == Path::Buffered || cell.on.is_some() {
            return None;
        }
        let reads = cell.params.direction? == Direction::Read;
        self.missing_bytes(cell, reads).or_else(|| self.missing_ios(cell, reads))
    }

    fn missing_bytes(&self, cell: &Cell, reads: bool) -> Option<Flag> {
        let (issued_bytes, counted_bytes) = if reads {
            (self.issued_read_bytes, self.counted_read_bytes)
        } else {
            (self.issued_written_bytes, self.counted_written_bytes)
        };
        let slack = SLACK_BYTES.max(cell.params.block_bytes.unwrap_or(0));
        let is_short = (counted_bytes as f64) < issued_bytes as f64 * MIN_SHARE
            && issued_bytes - counted_bytes > slack;
        is_short.then_some(Flag::NotThisMedium { issued_bytes, counted_bytes })
    }

    /// Flags missing I/Os of a cell at queue depth 1, which cannot be merged on their way. Their
    /// bytes may add up all the same, while earlier cells are written back.
    fn missing_ios(&self, cell: &Cell, reads: bool) -> Option<Flag> {
        let params = &cell.params;
        let one_by_one = params.queue_depth <= 1 && params.threads <= 1;
        // A probe reads and writes in one cell, and has no rate.
        let has_rate = cell.metrics.iops.is_some() || cell.metrics.bps.is_some();
        let counts_ios = has_rate && cell.unit.is_none_or(|unit| unit == CountUnit::Ios);
        let issued_ios = self.issued_ios;
        let counted_ios = if reads { self.counted_reads } else { self.counted_writes };
        let is_short = one_by_one
            && counts_ios
            && (counted_ios as f64) < issued_ios as f64 * MIN_SHARE
            && issued_ios - counted_ios > SLACK_IOS;
        is_short.then_some(Flag::Gathered { issued_ios, counted_ios })
    }
}

/// Reason why nothing in a run is of the medium, in words that follow its name; `None` if it is.
/// One figure that something before the medium answered is enough: the others took the same way.
/// Compression may swallow zeros alone.
pub fn not_medium_reason(flags: &[Flag], cells: &[Cell]) -> Option<&'static str> {
    let is_memory = |flags: &[Flag]| flags.contains(&Flag::MemoryFilesystem);
    if is_memory(flags) || cells.iter().any(|cell| is_memory(&cell.flags)) {
        return Some("measured memory, not a medium");
    }
    if flags.contains(&Flag::UnknownMedium) {
        return Some(
            "was made where no medium can be seen, as in a pool or in layers of another mount namespace",
        );
    }
    let is_answered = |cell: &Cell| {
        let mut flags = cell.flags.iter();
        flags.any(|flag| matches!(flag, Flag::NotThisMedium { .. } | Flag::Gathered { .. }))
    };
    let is_plain = |cell: &&Cell| {
        cell.params.path == Path::Direct
            && (cell.metrics.iops.is_some() || cell.metrics.bps.is_some())
            && cell.params.content.is_none_or(|content| content == Content::Incompressible)
    };
    cells
        .iter()
        .filter(is_plain)
        .any(is_answered)
        .then_some("measured something before the medium: not all that was issued reached it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Params, Served};

    fn cell(direction: Direction, bytes: u64) -> Cell {
        let mut cell = Cell::begun(
            "a",
            "a",
            Params { direction: Some(direction), block_bytes: Some(4096), ..Params::default() },
        );
        (cell.bytes, cell.ops) = (bytes, bytes / 4096);
        cell.written_bytes = if direction == Direction::Write { bytes } else { 0 };
        cell
    }

    fn flag_of(cell: &Cell, read_bytes: u64, written_bytes: u64) -> Option<Flag> {
        let served = |bytes| Served { ios: 1 << 20, sectors: bytes / 512, ..Served::default() };
        let counters = Counters {
            read: served(read_bytes),
            write: served(written_bytes),
            ..Counters::default()
        };
        IoAccounting::of(cell, &counters).flag(cell)
    }

    #[test]
    fn io_that_does_not_reach_the_device_is_flagged() {
        let written = cell(Direction::Write, 1_390_000_000);
        let flag = flag_of(&written, 0, 200_192).unwrap();
        assert_eq!(
            flag,
            Flag::NotThisMedium { issued_bytes: 1_390_000_000, counted_bytes: 200_192 }
        );
        assert!(flag.is_impossible() && flag.to_string().starts_with("only "), "{flag}");
        assert!(
            flag_of(&cell(Direction::Read, 64 << 20), 0, 1 << 40).is_some(),
            "what was written is no read"
        );
        assert!(flag_of(&cell(Direction::Read, 64 << 20), 57 << 20, 0).is_some());
    }

    #[test]
    fn io_that_reaches_the_device_nearly_or_with_others_is_not_flagged() {
        assert_eq!(flag_of(&cell(Direction::Write, 64 << 20), 0, 64 << 20), None);
        assert_eq!(flag_of(&cell(Direction::Write, 64 << 20), 0, 58 << 20), None);
        assert_eq!(flag_of(&cell(Direction::Read, 64 << 20), 1 << 40, 0), None, "others read too");
        assert_eq!(flag_of(&cell(Direction::Read, 1 << 20), 0, 0), None, "too little to tell");
        let mut large = cell(Direction::Write, 8 << 20);
        large.params.block_bytes = Some(8 << 20);
        assert_eq!(flag_of(&large, 0, 0), None, "a single block may be counted later");
    }

    #[test]
    fn nine_tenths_and_a_mebibyte_are_the_limits() {
        for (issued, counted, is_short) in [
            (100 << 20, 90 << 20, false),
            (100 << 20, (90 << 20) - 512, true),
            (1 << 20, 0, false),
            ((1 << 20) + 4096, 0, true),
            ((1 << 20) + 4096, 4096, false),
        ] {
            let written = cell(Direction::Write, issued);
            assert_eq!(flag_of(&written, 0, counted).is_some(), is_short, "{issued} {counted}");
        }
        let read = cell(Direction::Read, 8192);
        let served = Served { ios: 3, sectors: 5, ..Served::default() };
        let counters = Counters { read: served, ..Counters::default() };
        let reach = IoAccounting::of(&read, &counters);
        assert_eq!((reach.counted_read_bytes, reach.counted_reads, reach.issued_ios), (2560, 3, 2));
        assert_eq!((reach.issued_read_bytes, reach.issued_written_bytes), (8192, 0));
    }

    /// Regression: a file system in user space merged 65536 writes to 1029, while 251 MB of earlier
    /// cells were written back.
    #[test]
    fn gathered_writes_are_not_of_the_medium_though_their_bytes_add_up() {
        let reach = |ios, depth| {
            let mut written = cell(Direction::Write, 65_536 * 4096);
            written.params.queue_depth = depth;
            written.metrics.iops = Some(crate::Estimate::of(45_000.0, 65_536));
            let served = Served { ios, sectors: 1 << 20, ..Served::default() };
            let counters = Counters { write: served, ..Counters::default() };
            IoAccounting::of(&written, &counters).flag(&written)
        };
        let gathered = Flag::Gathered { issued_ios: 65_536, counted_ios: 1029 };
        assert_eq!(reach(1029, 1), Some(gathered.clone()));
        assert!(gathered.is_impossible());
        assert_eq!(reach(1029, 32), None, "what is under way together may be merged");
        assert_eq!([reach(65_000, 1), reach(90_000, 1)], [None, None]);
    }

    #[test]
    fn what_goes_through_a_cache_on_purpose_is_not_judged() {
        let mut buffered = cell(Direction::Read, 1 << 30);
        buffered.params.path = Path::Buffered;
        assert_eq!(flag_of(&buffered, 0, 0), None);
        let mut staged = cell(Direction::Write, 1 << 30);
        staged.on = Some("ext4".to_owned());
        assert_eq!(flag_of(&staged, 0, 0), None);
    }

    #[test]
    fn a_run_is_of_no_medium_when_all_of_it_went_elsewhere() {
        let with = |flag: Option<Flag>| {
            let mut cell = cell(Direction::Write, 1 << 30);
            cell.metrics.iops = Some(crate::Estimate::of(1.0, 1));
            cell.flags.extend(flag);
            cell
        };
        let elsewhere =
            || with(Some(Flag::NotThisMedium { issued_bytes: 1 << 30, counted_bytes: 0 }));
        assert_eq!(not_medium_reason(&[], &[]), None);
        assert_eq!(not_medium_reason(&[], &[with(None)]), None);
        assert!(not_medium_reason(&[], &[elsewhere(), with(None)]).is_some(), "the same file");
        let mut zeros = elsewhere();
        zeros.params.content = Some(Content::Zeros);
        assert_eq!(not_medium_reason(&[], &[zeros, with(None)]), None);
        assert!(not_medium_reason(&[Flag::UnknownMedium], &[with(None)]).is_some());
        assert_eq!(
            not_medium_reason(&[Flag::MemoryFilesystem], &[with(None)]),
            Some("measured memory, not a medium")
        );
    }
}
