//! Whether what the run wrote is there: the sample of its writes that it read back at its end
//! (`suite/src/catalogue/read_back.rs`).

use record::units::Bytes;
use record::{Cell, Finding, Record, metric, test};

use crate::figures::genuineness::is_fake;
use crate::figures::sectors::number;
use crate::figures::usability;
use crate::finding_builder::FindingBuilder;

/// Fewest writes that bound the share of lost ones.
const FEWEST: u64 = 30;
/// Events that may be expected where none was seen, with a confidence of 95 %: the rule of three
/// (docs/methodology.md, "Stopping").
const NONE_SEEN: u64 = 3;

/// The finding `read-back`; `None` if the record has no such cell, or if it says nothing of the
/// medium.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    if is_fake(record) || usability::is_host_cached(record) {
        return None;
    }
    let count = |name| count(record, name);
    let read = count(metric::READ_BACK);
    if read == 0 {
        return untested(record);
    }
    let (lost, changed) = (count(metric::LOST_WRITES), count(metric::CHANGED_WRITES));
    let recent = count(metric::RECENT_WRITES);
    let of = drawn_from(count(metric::WRITTEN_PLACES), read);
    let draft = if lost + changed == 0 {
        FindingBuilder::info(
            "read-back",
            format!("{of} were read back: none is lost{}.", bound(read - recent.min(read))),
        )
    } else {
        let list = [(lost, "not there"), (changed, "there with wrong bits")];
        let list: Vec<String> = list
            .into_iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} {} {what}", if n == 1 { "is" } else { "are" }))
            .collect();
        let what = format!(
            "It loses data: of {read} writes that were read back {}. Do not store data on it.",
            list.join(" and ")
        );
        FindingBuilder::failure("read-back", what)
    };
    let first = record.cells_of(test::READ_BACK);
    let first = first.filter_map(|cell| number(cell, metric::FIRST_BAD_OFFSET_BYTES));
    let first = first.reduce(f64::min).map(|at| Bytes(at as u64));
    let recent_lost = count(metric::RECENT_LOST);
    let recent = format!(
        "{recent} of them were among the last 64 MiB written, {recent_lost} of these lost: they may come from its cache"
    );
    let first = first.map(|at| format!("the first lost one at {at}"));
    Some(draft.note(format!("{of} were read back, {lost} lost")).notes(first).note(recent).done())
}

/// Number of writes that were read back.
pub(crate) fn writes(record: &Record) -> u64 {
    count(record, metric::READ_BACK)
}

fn count(record: &Record, name: &str) -> u64 {
    let counts = record.cells_of(test::READ_BACK).filter_map(|cell| number(cell, name));
    counts.fold(0, |sum: u64, n| sum.saturating_add(n as u64))
}

/// Said if nothing was read back of what was written.
fn untested(record: &Record) -> Option<Finding> {
    let has_written = |cell: &Cell| cell.written_bytes > 0 && cell.test != test::CAPACITY;
    let skip = record.skipped.iter().find(|skip| skip.test.starts_with(test::READ_BACK))?;
    let statement = format!("Not tested: whether it keeps what it writes; {}.", skip.reason);
    let found = FindingBuilder::info("read-back", statement).done();
    record.cells.iter().any(has_written).then_some(found)
}

/// "2500 of some 40000 writes"; the number of all is estimated.
fn drawn_from(all: u64, read: u64) -> String {
    if all <= read {
        format!("All {read} writes")
    } else {
        format!("{read} of some {} writes", rounded(all, 2))
    }
}

/// The largest share that may be lost, if so many writes bound it; those in a cache do not.
fn bound(not_cached: u64) -> String {
    match not_cached {
        0 => ", but all of them may come from its cache".to_owned(),
        few if few < FEWEST => String::new(),
        many => format!(", fewer than 1 in {}", rounded(many / NONE_SEEN, 1)),
    }
}

/// The number rounded down to so many digits.
fn rounded(n: u64, digits: u32) -> u64 {
    let unit = 10u64.pow((n.max(1).ilog10() + 1).saturating_sub(digits));
    n / unit * unit
}

#[cfg(test)]
mod tests {
    use record::Record;

    use crate::testing::record_in_words;

    fn of(cell: &str) -> Record {
        record_in_words(&format!("medium.capacity_bytes=32GiB; read-back 4KiB {cell}"))
    }

    fn said(record: &Record) -> String {
        super::conclude(record).map(|found| found.statement).unwrap_or_default()
    }

    #[test]
    fn what_was_looked_at_is_all_that_is_said() {
        let clean = |read: u64, all: u64, recent: u64| {
            said(&of(&format!(
                "metrics.read_back={read} metrics.written_places={all} metrics.recent_writes={recent}"
            )))
        };
        let lost = "metrics.read_back=2500 metrics.written_places=40000 metrics.lost_writes=1 metrics.changed_writes=2";
        let all = [
            clean(2500, 40_321, 0),
            clean(2500, 40_321, 2400),
            clean(300, 300, 300),
            clean(20, 20, 0),
            said(&of(lost)),
        ];
        insta::assert_snapshot!(all.join("\n"), @"
        2500 of some 40000 writes were read back: none is lost, fewer than 1 in 800.
        2500 of some 40000 writes were read back: none is lost, fewer than 1 in 30.
        All 300 writes were read back: none is lost, but all of them may come from its cache.
        All 20 writes were read back: none is lost.
        It loses data: of 2500 writes that were read back 1 is not there and 2 are there with wrong bits. Do not store data on it.
        ");
        assert_eq!(said(&of("metrics.read_back=0")), "");
    }
}
