//! The verdict on a root disk: random writes, an honest flush, short stalls.

use record::classes::A1_RANDOM;
use record::figures::DISK_IOPS;
use record::units::{KIB, SECOND_NS, decimal, quantity};
use record::{Bound, Evidence, Record, UnsteadyRounds, Use, metric, test};

use super::safety_need;
use crate::conclusions::speed::{caches, flush, places, stalls, throttling};
use crate::figures::Figures;
use crate::figures::figure::{self, UsableEstimate, size};
use crate::phrases::RANDOM_WRITES;
use crate::verdict::need::{NeedLevel, UseVerdict, weakest_verdict};

/// Random write IOPS from which on a system disk is poor, usable and good.
pub(super) const WRITES: [f64; 3] = [DISK_IOPS / 10.0, DISK_IOPS, A1_RANDOM[1]];
pub(super) const WRITES_SOURCE: &str = "a tenth of a laptop disk, a laptop disk, class A1; docs/field/published-figures.md#other-figures, docs/field/classes.md#minimum-rates";

/// Need of a system for random writes at a block size.
fn writes_need(figure: &UsableEstimate) -> Option<NeedLevel> {
    let block = size(figure.cell.params.block_bytes?);
    let reason = format!(
        "{RANDOM_WRITES} of {block} reach {}; a laptop disk reaches 90",
        figure.with_interval()
    );
    NeedLevel::at_least(figure, WRITES, reason, WRITES_SOURCE)
}

/// Need for the same where the fill met a full cache or heat: the slowest round after it counts.
fn slowest_need(record: &Record, figure: &UsableEstimate) -> Option<NeedLevel> {
    let has_fallen = caches::has_cliff(record) || throttling::is_heat(record);
    let variation = figure.cell.variation(figure.name).filter(|_| has_fallen)?;
    let (UnsteadyRounds::Range([value, _]) | UnsteadyRounds::Levels([value, _])) = variation;
    figure.cell.rounds.first().filter(|before| before.iops > value)?;
    let fill = figure::form(record, test::SUSTAINED, "first")?;
    let slowest = UsableEstimate { value, ci95: None, ..figure.clone() };
    let reason = format!(
        "{RANDOM_WRITES} of {} fall to {} after {} of writes; a laptop disk reaches 90",
        size(figure.cell.params.block_bytes?),
        slowest.text(),
        decimal(fill.run_written_bytes?)
    );
    let evidence = vec![Evidence::on(figure.cell, format!("slowest round {}", slowest.text()))];
    let need = NeedLevel::at_least(&slowest, WRITES, reason, WRITES_SOURCE)?;
    Some(NeedLevel { evidence, ..need })
}

/// Need for small writes that are durable, as a system's journal makes them: a cache hides what they
/// cost.
fn durable_need(record: &Record) -> Option<NeedLevel> {
    let is_flash = record.medium.rotational != Some(true);
    let durable = flush::durable_writes(record).filter(|_| is_flash)?;
    let reason = format!(
        "writes of {} with a flush after each reach {}; a laptop disk reaches 90",
        size(durable.cell.params.block_bytes?),
        durable.with_interval()
    );
    NeedLevel::at_least(&durable, WRITES, reason, WRITES_SOURCE)
}

/// Need for the lowest rate of a fill, which small writes do not exceed.
fn lowest_need(record: &Record) -> Option<NeedLevel> {
    let slow = places::slow_part(record).map(|part| part.figure);
    let low = throttling::fallen(record).into_iter().chain(slow).chain(figure::sustained(record));
    let low = low.min_by(|a, b| a.value.total_cmp(&b.value))?;
    let writes = UsableEstimate {
        name: metric::IOPS,
        value: low.value / (4 * KIB) as f64,
        ci95: None,
        bound: Some(Bound::AtMost),
        ..low
    };
    let low = quantity(metric::BPS, low.value);
    let reason = format!(
        "sequential writes fall to {low}, {} of 4 KiB; a laptop disk reaches 90",
        writes.text()
    );
    let need = NeedLevel::at_least(&writes, WRITES, reason, WRITES_SOURCE)?;
    let evidence = vec![Evidence::on(writes.cell, format!("lowest rate {low}"))];
    Some(NeedLevel { evidence, ..need })
}

pub(super) fn verdict(record: &Record) -> Option<UseVerdict> {
    let writes = Figures::of(record).small_writes();
    let reached: Vec<NeedLevel> = writes.iter().filter_map(writes_need).collect();
    let untested =
        if reached.len() < 2 { vec!["random writes of both 4 KiB and 16 KiB"] } else { vec![] };
    if reached.is_empty() {
        return None;
    }
    let slowest = writes.iter().filter_map(|figure| slowest_need(record, figure));
    let mut needs: Vec<NeedLevel> = slowest.chain(reached).collect();
    needs.extend(durable_need(record));
    needs.extend(lowest_need(record));
    needs.extend(safety_need(record));
    if let Some(stalls) = stalls::longest_small_writes(record) {
        let reason = |wording: &str, _: u64| format!("{wording}; the system freezes for that long");
        // A stall alone makes a system disk a nuisance, not unsuitable.
        let source = "people notice one second and take five for a crash; our choice";
        needs.extend(NeedLevel::at_most(&stalls, [SECOND_NS, 5 * SECOND_NS], None, reason, source));
    }
    weakest_verdict(Use::RootDisk, needs, untested)
}
