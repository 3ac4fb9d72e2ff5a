//! The verdict on a root disk: random writes, an honest flush, short stalls.

use record::classes::A1_RANDOM;
use record::figures::DISK_IOPS;
use record::units::SECOND_NS;
use record::{Fitness, Record, Use, metric};

use crate::figure::{UsableEstimate, quantity, size};
use crate::flush::{self, Flush};
use crate::need::{NeedLevel, UseVerdict, weakest_verdict};
use crate::phrases::{FLUSH_LIES, RANDOM_WRITES};
use crate::{Figures, stalls};

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

/// Need for an honest flush: data that must survive a power cut depends on it. Data is lost only in
/// a power cut, so the level is poor, not unsuitable.
pub(super) fn safety_need(record: &Record) -> Option<NeedLevel> {
    let Flush::Lies(durable, fastest) = Flush::of(record) else { return None };
    let reason =
        format!("{FLUSH_LIES}, so data that it reports as safe can be lost in a power cut");
    let evidence = vec![
        durable.to_string(),
        format!(
            "its write rate is at most {} (docs/field/cheats.md#cheats-and-caches)",
            quantity(metric::BPS, fastest)
        ),
    ];
    Some(NeedLevel { level: Fitness::Poor, reason, evidence, confidence: None })
}

pub(super) fn verdict(record: &Record) -> Option<UseVerdict> {
    let mut needs: Vec<NeedLevel> =
        Figures::of(record).small_writes().iter().filter_map(writes_need).collect();
    let untested =
        if needs.len() < 2 { vec!["random writes of both 4 KiB and 16 KiB"] } else { vec![] };
    if needs.is_empty() {
        return None;
    }
    needs.extend(durable_need(record));
    needs.extend(safety_need(record));
    if let Some(stalls) = stalls::longest_small_writes(record) {
        let reason = |wording: &str, _: u64| format!("{wording}; the system freezes for that long");
        // A stall alone makes a system disk a nuisance, not unsuitable.
        let source = "people notice one second and take five for a crash; our choice";
        needs.extend(NeedLevel::at_most(&stalls, [SECOND_NS, 5 * SECOND_NS], None, reason, source));
    }
    weakest_verdict(Use::RootDisk, needs, untested)
}
