//! How much of a processor I/O takes where it takes much: media that are fast for the host they were
//! measured on (docs/field/peers.md#host-side).

use record::units::{Nanos, capitalised, significant};
use record::{Cell, Finding, Record, metric};

use crate::figure::{self, SoundFigure};
use crate::finding_builder::FindingBuilder;

/// From this share of one processor on, more of each I/O is the host's work than the medium's; our
/// choice.
const MUCH: f64 = 0.5;

/// A rate of one I/O at a time, and the share of one processor that it takes.
struct CpuUse<'a> {
    rate: SoundFigure<'a>,
    per_io_ns: f64,
    share: f64,
}

impl<'a> CpuUse<'a> {
    fn of(cell: &'a Cell) -> Option<CpuUse<'a>> {
        let rate = SoundFigure::of(cell, metric::IOPS)?;
        let per_io_ns = cell.metrics.other.get(metric::CPU_NS_PER_IO)?.value;
        let is_one_at_a_time = cell.params.in_flight() == 1;
        let share = rate.value * per_io_ns / 1e9;
        (is_one_at_a_time && share.is_finite()).then_some(CpuUse { rate, per_io_ns, share })
    }
}

/// `cpu`: the I/O that takes most of a processor, where that is half of one or more.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let uses = record.cells.iter().filter_map(CpuUse::of);
    let most = uses.max_by(|a, b| a.share.total_cmp(&b.share)).filter(|most| most.share >= MUCH)?;
    let cell = most.rate.cell;
    let percent = significant(100.0 * most.share);
    let each = Nanos(most.per_io_ns.round() as u64);
    let statement = format!(
        "{} of {} takes {percent} % of one processor ({each} for each I/O): a slower processor, or a busy one, makes it slower.",
        capitalised(&cell.test.replace('-', " ")),
        figure::size(cell.params.block_bytes.unwrap_or(0)),
    );
    let evidence = format!("{each} each, {percent} % of a second");
    Some(FindingBuilder::info("cpu", statement).figure(&most.rate).note(evidence).done())
}

#[cfg(test)]
mod tests {
    use record::Estimate;
    use record::units::KIB;

    use super::*;
    use crate::testing::{iops, record_of};

    fn told(a_second: f64, cpu_ns: f64, queue_depth: u32) -> Option<String> {
        let mut cell = iops("random-write", 1, 4 * KIB, a_second, 1_000_000);
        let per_io = Estimate { value: cpu_ns, ci95: None, n: 400 };
        cell.metrics.other.insert(metric::CPU_NS_PER_IO.to_owned(), per_io);
        cell.params.queue_depth = queue_depth;
        conclude(&record_of(vec![cell])).map(|found| found.statement)
    }

    #[test]
    fn half_of_a_processor_is_much_and_less_is_not() {
        insta::assert_snapshot!(told(10_000.0, 50_001.0, 1).unwrap(), @"Random write of 4 KiB takes 50.0 % of one processor (50.0 us for each I/O): a slower processor, or a busy one, makes it slower.");
        assert_eq!(told(10_000.0, 49_999.0, 1), None);
        assert_eq!(told(10_000.0, 50_001.0, 8), None, "of several at a time it is no share");
    }
}
