//! What praise depends on and nobody tested, in one short clause: whether the medium is genuine,
//! whether its flush is honest, and whether the figures last.

use crate::genuineness;
use record::units::{KIB, MIB};
use record::{Flag, Record, TargetKind, metric, test};

use crate::flush::Flush;
use crate::{caches, figure};

/// A condition, and why it is open.
struct Open {
    condition: &'static str,
    because: Because,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Because {
    NotTested,
    FreeSpace,
}

/// What a sentence of praise has to add: "if it is genuine and flushes honestly: neither was
/// tested". `durable` says whether something is praised that must survive a power cut. `None` where
/// all of it is known.
pub(crate) fn of_praise(record: &Record, durable: bool) -> Option<String> {
    let genuine = genuine(record);
    let flush = (durable
        && matches!(Flush::of(record), Flush::Untested)
        && record.medium.rotational != Some(true))
    .then_some(Open { condition: "flushes honestly", because: Because::NotTested });
    let open: Vec<Open> = genuine.into_iter().chain(flush).chain(lasting(record)).collect();
    let names = |because: Because| {
        listed(open.iter().filter(|open| open.because == because).map(|open| open.condition))
    };
    let many = open.iter().filter(|open| open.because == Because::NotTested).count();
    let was = match many {
        1 => "not tested",
        2 => "neither was tested",
        _ => "none of it was tested",
    };
    match (names(Because::FreeSpace), names(Because::NotTested)) {
        (None, None) => None,
        (None, Some(untested)) => Some(format!("if it {untested}: {was}")),
        (Some(unproved), None) => Some(format!("if it {unproved}, which free space cannot prove")),
        (Some(unproved), Some(untested)) => {
            Some(format!("if it {unproved}, which free space cannot prove, and {untested}: {was}"))
        }
    }
}

/// What blame has to add: that nobody looked whether it is a fake.
pub(crate) fn of_blame(record: &Record) -> Option<&'static str> {
    genuine(record).map(|open| match open.because {
        Because::NotTested => "Whether it is a fake was not tested.",
        Because::FreeSpace => "Whether it is a fake free space cannot prove.",
    })
}

/// Whether its capacity is real.
fn genuine(record: &Record) -> Option<Open> {
    if genuineness::is_genuine(record) {
        return None;
    }
    let is_free_space = matches!(record.target.kind, TargetKind::Directory | TargetKind::File);
    let because = if is_free_space { Because::FreeSpace } else { Because::NotTested };
    Some(Open { condition: "is genuine", because })
}

/// Whether the figures were measured for as long as the medium will be used: to fill every cache,
/// and to heat it up.
fn lasting(record: &Record) -> Option<Open> {
    let told =
        [4 * KIB, 16 * KIB].into_iter().filter_map(|block| figure::random_write(record, block));
    let flags: Vec<&Flag> = told
        .chain(figure::sustained_write(record))
        .flat_map(|figure| figure.cell.flags.iter())
        .collect();
    let may_fill =
        flags.iter().any(|flag| matches!(flag, Flag::MayNotLast { .. })) && !was_filled(record);
    // A cache that was filled has had the time to empty since.
    let fills = may_fill || caches::has_cliff(record);
    let heats = flags.iter().any(|flag| matches!(flag, Flag::MayGetHot { .. }));
    let condition = match (fills, heats) {
        (true, true) => "stays as fast with full caches and when it is hot",
        (true, false) => "stays as fast with full caches",
        (false, true) => "stays as fast when it is hot",
        (false, false) => return None,
    };
    Some(Open { condition, because: Because::NotTested })
}

/// Whether `sustained` wrote on until every cache was full.
fn was_filled(record: &Record) -> bool {
    figure::form(record, test::SUSTAINED, "first").is_some_and(|cell| {
        cell.bytes >= 16 * MIB && cell.metrics.other.contains_key(metric::SUSTAINED_BPS)
    })
}

/// "a, b and c".
pub(crate) fn listed<S: Into<String>>(names: impl Iterator<Item = S>) -> Option<String> {
    let mut names: Vec<String> = names.map(Into::into).collect();
    let last = names.pop()?;
    Some(if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) })
}

#[cfg(test)]
mod tests {
    use record::{Estimate, Flag};

    use super::*;
    use crate::testing::{cell, empty, iops};

    fn fast(kind: TargetKind) -> Record {
        let mut record = empty();
        record.cells =
            [4096, 16384].map(|block| iops("random-write", 1, block, 20_000.0, 1_000_000)).into();
        record.target.kind = kind;
        record
    }

    fn probed(mut record: Record) -> Record {
        let mut probe = cell("capacity", 1, 512);
        probe.metrics.other.insert("type".into(), Estimate { value: 0.0, ci95: None, n: 1 });
        record.cells.push(probe);
        record
    }

    #[test]
    fn what_was_not_tested_is_said_once_and_shortly() {
        let said = |record: &Record, durable| of_praise(record, durable).unwrap_or_default();
        let raw = fast(TargetKind::Block);
        assert_eq!(said(&raw, true), "if it is genuine and flushes honestly: neither was tested");
        assert_eq!(said(&raw, false), "if it is genuine: not tested");
        let free = "if it is genuine, which free space cannot prove";
        assert_eq!(said(&fast(TargetKind::Directory), false), free);
        assert_eq!(
            said(&fast(TargetKind::File), true),
            format!("{free}, and flushes honestly: not tested")
        );
        let known = probed(raw.clone());
        assert_eq!(
            (said(&known, true), said(&known, false)),
            ("if it flushes honestly: not tested".into(), String::new())
        );
        let mut short = known;
        short.cells[0].flags =
            vec![Flag::MayNotLast { written_bytes: 1 }, Flag::MayGetHot { bps: 1e9, lasted_ns: 1 }];
        assert_eq!(
            said(&short, false),
            "if it stays as fast with full caches and when it is hot: not tested"
        );
    }

    #[test]
    fn a_cache_that_was_seen_may_be_what_took_the_random_writes() {
        let mut record = probed(fast(TargetKind::Block));
        let mut fill = cell("sustained", 1, record::units::MIB);
        (fill.params.form, fill.bytes) = (Some("first".into()), 32_000_000_000);
        fill.metrics
            .other
            .insert("sustained_bps".into(), Estimate { value: 45e6, ci95: None, n: 100 });
        let rate = |at: u64| if at < 40 { 300e6 } else { 45e6 };
        let points = (0..80).map(|at| [(at + 1) as f64 * 4e8, rate(at)]).collect();
        fill.series.push(record::Series {
            name: "rate".into(),
            x: record::SeriesAxis::Bytes,
            y: record::SeriesAxis::Bps,
            points,
        });
        record.cells.insert(0, fill);
        assert_eq!(
            of_praise(&record, false).as_deref(),
            Some("if it stays as fast with full caches: not tested")
        );
        record.cells[0].series.clear();
        assert_eq!(of_praise(&record, false), None);
    }

    #[test]
    fn the_summary_says_in_the_same_breath_what_was_not_tested() {
        let verdict = |record: &Record| crate::conclude(record).remove(0).statement;
        let all_of_it = "if it is genuine and flushes honestly: neither was tested.";
        assert!(
            verdict(&fast(TargetKind::Block))
                .starts_with(&format!("Good as a root disk, {all_of_it}")),
            "{}",
            verdict(&fast(TargetKind::Block))
        );
        assert!(!verdict(&probed(fast(TargetKind::Block))).contains("genuine"));
        let mut slow = fast(TargetKind::Block);
        slow.cells =
            [4096, 16384].map(|block| iops("random-write", 1, block, 1.1, 1_000_000)).into();
        assert!(
            verdict(&slow).contains("Whether it is a fake was not tested."),
            "{}",
            verdict(&slow)
        );
    }

    #[test]
    fn sixteen_mebibytes_to_the_end_fill_every_cache() {
        let filled = |bytes: u64, reached_its_end: bool| {
            let mut fill = cell("sustained", 1, record::units::MIB);
            (fill.params.form, fill.bytes) = (Some("first".into()), bytes);
            let figure = Estimate { value: 45e6, ci95: None, n: 100 };
            fill.metrics
                .other
                .extend(reached_its_end.then(|| (metric::SUSTAINED_BPS.to_owned(), figure)));
            was_filled(&Record { cells: vec![fill], ..empty() })
        };
        let least = 16 * record::units::MIB;
        assert!(filled(least, true));
        assert!(!filled(least - 1, true) && !filled(least, false) && !filled(0, false));
    }
}
