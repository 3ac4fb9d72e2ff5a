//! What praise depends on and nobody tested, in short sentences: whether the medium is genuine,
//! whether its flush is honest, and whether the figures last.

use crate::genuineness;
use record::units::{KIB, MIB};
use record::{Flag, Record, TargetKind, metric, test};

use crate::flush::Flush;
use crate::phrases::{FLUSH_UNTESTED, STAYS_FAST};
use crate::{caches, figure};

/// What a sentence of praise has to add: "Not tested: whether it is genuine and whether its flush
/// is honest." `durable` says whether something is praised that must survive a power cut. `None`
/// where all of it is known.
pub(crate) fn of_praise(record: &Record, durable: bool) -> Option<String> {
    let genuine = genuine(record);
    let flush = (durable
        && matches!(Flush::of(record), Flush::Untested)
        && record.medium.rotational != Some(true))
    .then(|| FLUSH_UNTESTED.to_owned());
    let is_unproved = genuine == Some(FREE_SPACE);
    let untested = genuine.filter(|_| !is_unproved).map(|_| "whether it is genuine".to_owned());
    let untested = untested.into_iter().chain(flush).chain(lasting(record));
    let untested = listed(untested).map(|names| format!("Not tested: {names}."));
    let sentences: Vec<String> =
        is_unproved.then(|| FREE_SPACE.to_owned()).into_iter().chain(untested).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

const NOT_TESTED: &str = "Not tested: whether it is genuine.";
const FREE_SPACE: &str = "Free space cannot prove that it is genuine.";

/// What blame has to add: that nobody looked whether it is a fake.
pub(crate) fn of_blame(record: &Record) -> Option<&'static str> {
    genuine(record)
}

/// Why nobody knows whether its capacity is real, where nobody does.
fn genuine(record: &Record) -> Option<&'static str> {
    if genuineness::is_genuine(record) {
        return None;
    }
    let is_free_space = matches!(record.target.kind, TargetKind::Directory | TargetKind::File);
    Some(if is_free_space { FREE_SPACE } else { NOT_TESTED })
}

/// Whether the figures were measured for as long as the medium will be used: to fill every cache,
/// and to heat it up.
fn lasting(record: &Record) -> Option<String> {
    // A cache that was filled has had the time to empty since.
    let fills = may_fill(record) || caches::has_cliff(record);
    let heats = flags_of_writes(record).any(|flag| matches!(flag, Flag::MayGetHot { .. }));
    let when = match (fills, heats) {
        (true, true) => "with full caches and when hot",
        (true, false) => "with full caches",
        (false, true) => "when hot",
        (false, false) => return None,
    };
    Some(format!("{STAYS_FAST} {when}"))
}

/// True where writes may have gone to a cache that is not full yet.
pub(crate) fn may_fill(record: &Record) -> bool {
    flags_of_writes(record).any(|flag| matches!(flag, Flag::MayNotLast { .. }))
        && !was_filled(record)
}

/// The flags of the writes that uses are judged by.
fn flags_of_writes(record: &Record) -> impl Iterator<Item = &Flag> {
    let random =
        [4 * KIB, 16 * KIB].into_iter().filter_map(|block| figure::random_write(record, block));
    random.chain(figure::sustained_write(record)).flat_map(|figure| figure.cell.flags.iter())
}

/// Whether `sustained` wrote on until every cache was full.
fn was_filled(record: &Record) -> bool {
    figure::form(record, test::SUSTAINED, "first").is_some_and(|cell| {
        cell.bytes >= 16 * MIB && cell.metrics.other.contains_key(metric::SUSTAINED_BPS)
    })
}

/// "a, b and c".
pub(crate) fn listed<S: Into<String>>(names: impl Iterator<Item = S>) -> Option<String> {
    listed_with(names, "and")
}

/// "a, b or c", with this word before the last.
pub(crate) fn listed_with<S: Into<String>>(
    names: impl Iterator<Item = S>,
    word: &str,
) -> Option<String> {
    let mut names: Vec<String> = names.map(Into::into).collect();
    let last = names.pop()?;
    Some(if names.is_empty() { last } else { format!("{} {word} {last}", names.join(", ")) })
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
        assert_eq!(
            said(&raw, true),
            "Not tested: whether it is genuine and whether its flush is honest."
        );
        assert_eq!(said(&raw, false), "Not tested: whether it is genuine.");
        let free = FREE_SPACE;
        assert_eq!(said(&fast(TargetKind::Directory), false), free);
        assert_eq!(
            said(&fast(TargetKind::File), true),
            format!("{free} Not tested: whether its flush is honest.")
        );
        let known = probed(raw.clone());
        assert_eq!(
            (said(&known, true), said(&known, false)),
            ("Not tested: whether its flush is honest.".into(), String::new())
        );
        let mut short = known;
        short.cells[0].flags =
            vec![Flag::MayNotLast { written_bytes: 1 }, Flag::MayGetHot { bps: 1e9, lasted_ns: 1 }];
        assert_eq!(
            said(&short, false),
            "Not tested: whether it stays this fast with full caches and when hot."
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
            Some("Not tested: whether it stays this fast with full caches.")
        );
        record.cells[0].series.clear();
        assert_eq!(of_praise(&record, false), None);
    }

    #[test]
    fn the_summary_says_in_the_same_breath_what_was_not_tested() {
        let verdict = |record: &Record| crate::conclude(record).remove(0).statement;
        let all_of_it = "Not tested: whether it is genuine and whether its flush is honest.";
        assert!(
            verdict(&fast(TargetKind::Block))
                .starts_with(&format!("Good for a root disk. {all_of_it}")),
            "{}",
            verdict(&fast(TargetKind::Block))
        );
        assert!(!verdict(&probed(fast(TargetKind::Block))).contains("genuine"));
        let mut slow = fast(TargetKind::Block);
        slow.cells =
            [4096, 16384].map(|block| iops("random-write", 1, block, 1.1, 1_000_000)).into();
        assert!(verdict(&slow).contains(NOT_TESTED), "{}", verdict(&slow));
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
