//! CPU cost of I/O: media that are fast for the host they were measured on
//! (docs/field/peers.md#wishes).

use record::text::capitalised;
use record::units::{Nanos, significant};
use record::{Cell, Finding, Record, metric};

use crate::figures::figure::{self, UsableEstimate};
use crate::finding_builder::FindingBuilder;

/// Share of one CPU from which on most of the time of an I/O is the host's, not the medium's; our
/// choice.
const MUCH: f64 = 0.5;

/// A rate at queue depth 1, with its share of one CPU.
struct CpuUse<'a> {
    rate: UsableEstimate<'a>,
    per_io_ns: f64,
    share: f64,
}

impl<'a> CpuUse<'a> {
    fn of(cell: &'a Cell) -> Option<CpuUse<'a>> {
        let rate = UsableEstimate::of(cell, metric::IOPS)?;
        let per_io_ns = cell.metrics.other.get(metric::CPU_NS_PER_IO)?.value;
        let is_qd1 = cell.params.in_flight() == 1;
        let share = rate.value * per_io_ns / 1e9;
        (is_qd1 && share.is_finite()).then_some(CpuUse { rate, per_io_ns, share })
    }
}

/// `cpu`: the I/O with the highest CPU share, if that is at least half of one CPU.
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
