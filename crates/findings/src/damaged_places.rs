//! Damaged places of a medium, where data was lost or an I/O failed, and their extent for all
//! statements on the damage.

use record::units::{Bytes, GIB, MIB, significant};
use record::{CapacityKind, Cell, Record, metric, test};

use crate::genuineness::{MOST, code};

/// Largest part of a medium that counts as one area; our choice.
const AREA: f64 = 0.125;
/// Damage counts as being all over a medium if it spans this part of it and affects four of its
/// eighths; our choice.
const SPREAD: f64 = 0.5;
const PARTS: u64 = 8;
const SPREAD_PARTS: usize = 4;
/// Fewest consecutive failed marks at the end for a part that fails as a whole.
const CLEAR_TAIL: usize = 3;
/// Position of the last damage from which on everything up to the end counts as damaged.
const NEAR_END: f64 = 0.9;

/// Extent of the damaged places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DamageExtent {
    /// No place is known.
    Unknown,
    /// One place, or several close together: all within an eighth of the medium.
    Area(String),
    /// A larger part, but not all over the medium.
    Range(String),
    /// Everything from an address on, and nothing before it.
    Beyond(String),
    /// Places spread over the whole medium.
    AllOver,
}

/// The known damaged and good places.
#[derive(Clone, Debug, Default)]
pub(crate) struct DamagedPlaces {
    bad: Vec<u64>,
    good: Vec<u64>,
    capacity_bytes: Option<u64>,
    /// Start of a tail that fails with errors, as found by a probe: lower and upper bound.
    tail: Option<[u64; 2]>,
}

impl DamagedPlaces {
    /// Places from the marks of the probes, and from failed I/Os.
    pub(crate) fn of(record: &Record, failed_at: impl IntoIterator<Item = u64>) -> DamagedPlaces {
        let probes: Vec<&Cell> = record.cells_of(test::CAPACITY).collect();
        let marks = |names: &[&str]| -> Vec<u64> {
            let series = probes.iter().flat_map(|cell| &cell.series);
            series
                .filter(|series| {
                    series.name.strip_prefix("marks: ").is_some_and(|name| names.contains(&name))
                })
                .flat_map(|series| series.points.iter().map(|[place, _]| *place as u64))
                .collect()
        };
        let mut bad = marks(&["changed", "stale", "elsewhere", "lost", "unusable"]);
        bad.extend(failed_at);
        bad.sort_unstable();
        bad.dedup();
        let mut good = marks(&["good"]);
        good.sort_unstable();
        let capacity_bytes = record.medium.capacity_bytes.filter(|bytes| *bytes > 0);
        DamagedPlaces { bad, good, capacity_bytes, tail: failing_tail(record) }
    }

    /// Computes their extent.
    pub(crate) fn extent(&self) -> DamageExtent {
        if let Some([kept, lost]) = self.tail
            && self.bad.first().is_none_or(|first| *first >= kept)
        {
            return DamageExtent::Beyond(border(kept.saturating_sub(1), lost));
        }
        let Some((from, to)) = self.bad.first().copied().zip(self.bad.last().copied()) else {
            return DamageExtent::Unknown;
        };
        let share = |bytes: u64| self.capacity_bytes.map(|all| bytes as f64 / all as f64);
        if self.is_tail(from) && share(to).is_some_and(|share| share >= NEAR_END) {
            let kept = self.good.last().copied().unwrap_or(0);
            return DamageExtent::Beyond(border(kept, from));
        }
        if from == to || share(to - from).is_some_and(|share| share <= AREA) {
            return DamageExtent::Area(between(from, to));
        }
        let is_wide = share(to - from).is_none_or(|share| share >= SPREAD);
        if is_wide && self.is_spread() {
            DamageExtent::AllOver
        } else {
            DamageExtent::Range(between(from, to))
        }
    }

    /// True if marks were kept, all of them before the first damage, and several were lost.
    fn is_tail(&self, from: u64) -> bool {
        self.bad.len() >= CLEAR_TAIL && self.good.last().is_some_and(|good| *good < from)
    }

    /// True if damage is in several parts of the medium, with working parts in between.
    fn is_spread(&self) -> bool {
        let Some(capacity) = self.capacity_bytes else { return self.bad.len() >= SPREAD_PARTS };
        let part =
            |place: &u64| (u128::from(*place) * u128::from(PARTS) / u128::from(capacity)) as u64;
        let mut parts: Vec<u64> = self.bad.iter().map(part).collect();
        parts.dedup();
        let has_gaps = self.good.is_empty()
            || self.good.iter().any(|good| {
                self.bad.first().is_some_and(|first| first < good)
                    && self.bad.last().is_some_and(|last| good < last)
            });
        parts.len() >= SPREAD_PARTS && has_gaps
    }
}

/// Bounds of the end of the working part, if a probe found that everything after it fails with
/// errors.
fn failing_tail(record: &Record) -> Option<[u64; 2]> {
    let (cell, kind) = crate::genuineness::capacity_verdict(record)?;
    let is_tail = kind == CapacityKind::Damaged && code(cell) == Some(CapacityKind::Limbo);
    let real = cell.metrics.other.get(metric::REAL_BYTES).filter(|_| is_tail)?;
    let known = |bytes: f64| (0.0..MOST).contains(&bytes).then_some(bytes as u64);
    let [low, high] = real.ci95.unwrap_or([real.value; 2]);
    Some([known(low)?, known(high)?])
}

/// "at 4 GiB", "near 4217 MiB", "between 12 GiB and 13 GiB": rounded outwards.
pub(crate) fn between(from: u64, to: u64) -> String {
    let apart = to.saturating_sub(from);
    if apart == 0 {
        return format!("at {}", Bytes(from));
    }
    if apart < from / 1000 {
        return format!("near {}", binary(from));
    }
    // A range that does not begin at 0 must not be rounded to 0.
    let unit = (1 << apart.ilog2()).max(MIB);
    let unit = if from < unit { MIB } else { unit };
    let (low, high) = (from / unit * unit, to.div_ceil(unit).saturating_mul(unit));
    format!("between {} and {}", binary(low), binary(high))
}

/// The roundest number between the last working place and the first failing one.
fn border(kept: u64, lost: u64) -> String {
    let units = (0..=20).rev().map(|shift| MIB << shift);
    let round = units.map(|unit| lost / unit * unit).find(|at| *at > kept && *at <= lost);
    binary(round.unwrap_or(lost))
}

/// Any size in binary units.
pub(crate) fn binary(bytes: u64) -> String {
    match bytes {
        0 => "0 MiB".into(),
        _ if bytes.is_multiple_of(GIB) => format!("{} GiB", bytes / GIB),
        _ if bytes >= 16 * GIB => {
            format!("{} GiB", significant(bytes as f64 / GIB as f64))
        }
        MIB.. => format!("{} MiB", bytes / MIB),
        _ => Bytes(bytes).to_string(),
    }
}

/// A size in the units of another one beside it.
pub(crate) fn like(bytes: u64, other: Option<u64>) -> String {
    let is_binary = |bytes: u64| bytes.is_multiple_of(MIB);
    match other.map(is_binary) {
        Some(true) if !is_binary(bytes) && bytes >= GIB => {
            format!("{} GiB", significant(bytes as f64 / GIB as f64))
        }
        Some(true) if !is_binary(bytes) && bytes >= MIB => {
            format!("{} MiB", significant(bytes as f64 / MIB as f64))
        }
        Some(false) if is_binary(bytes) && bytes > 0 => Bytes(bytes - 1).to_string(),
        _ => Bytes(bytes).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use record::{CellError, Direction, Estimate, Finding, IoErrorKind, Series, SeriesAxis};

    use super::*;
    use crate::Analysis;
    use crate::testing::{cell, iops, medium_error, record_of};

    /// A probe that ended with this kind and size, and with marks of these kinds at these places.
    fn probe(kind: CapacityKind, real_bytes: u64, marks: &[(&str, &[u64])]) -> Cell {
        let mut probe = cell(test::CAPACITY, 1, 4096);
        let exactly = |value: f64| Estimate { value, ci95: None, n: 1 };
        probe.metrics.other.insert("type".into(), exactly(kind.code()));
        probe.metrics.other.insert(metric::REAL_BYTES.into(), exactly(real_bytes as f64));
        for (name, places) in marks {
            probe.metrics.other.insert(format!("marks_{name}"), exactly(places.len() as f64));
            probe.series.push(Series {
                name: format!("marks: {name}"),
                x: SeriesAxis::OffsetBytes,
                y: SeriesAxis::OffsetBytes,
                points: places.iter().map(|place| [*place as f64, 0.0]).collect(),
            });
        }
        probe
    }

    fn record(capacity_bytes: u64, cells: Vec<Cell>) -> Record {
        let mut record = record_of(cells);
        record.medium.capacity_bytes = Some(capacity_bytes);
        record
    }

    fn failed(test: &str, number: u32, direction: Direction, at: u64) -> Cell {
        crate::testing::failed(test, number, medium_error(direction, at))
    }

    fn statement_of(record: &Record) -> String {
        crate::conclude(record)[0].statement.clone()
    }

    fn every(step: u64, from: u64, to: u64) -> Vec<u64> {
        (from..to).step_by(step as usize).collect()
    }

    const EIGHTH: u64 = 128 * MIB;

    /// "It is a fake: it says 2 GiB, it has 537 MB. Data written beyond that is lost without an
    /// error."
    #[test]
    fn what_fails_with_errors_is_damaged_or_a_fake() {
        let (good, bad) = (every(EIGHTH, 0, 512 * MIB), every(EIGHTH, 512 * MIB, 2 * GIB));
        let of = |name| probe(CapacityKind::Limbo, 536_900_000, &[("good", &good), (name, &bad)]);
        let record_of = |name| record(2 * GIB, vec![of(name)]);
        assert_eq!(
            statement_of(&record_of("unusable")),
            "Do not use it. Beyond 512 MiB, every read or write fails with an error. Whether it is damaged or a fake cannot be told. Copy what is on it now, before anything else."
        );
        assert!(!crate::genuineness::is_fake(&record_of("unusable")));
        assert_eq!(
            statement_of(&record_of("lost")),
            "Do not use it. It is a fake: it says 2 GiB, it has 512 MiB. Data written beyond that is lost without an error."
        );
        let mut then = record_of("unusable");
        then.cells.push(failed("prime", 1, Direction::Write, GIB));
        assert_eq!(
            statement_of(&then),
            statement_of(&record_of("unusable")),
            "one statement of one fact"
        );
    }

    /// "It is damaged: nothing that was written could be read back. Throw it away."
    #[test]
    fn a_medium_that_drops_writes_is_copied_first() {
        let lost = every(GIB, 0, 8 * GIB);
        let mut probe = probe(CapacityKind::Damaged, 0, &[("lost", &lost)]);
        let unknown = statement_of(&record(8 * GIB, vec![probe.clone()]));
        assert!(
            unknown.contains("writes are accepted and have no effect (worn out or read-only), or")
                && unknown.ends_with("Copy what can still be read first, then throw it away."),
            "{unknown}"
        );
        let restored = Estimate { value: 3e8, ci95: None, n: 1 };
        probe.metrics.other.insert(metric::RESTORED_BYTES.into(), restored);
        assert_eq!(
            statement_of(&record(8 * GIB, vec![probe])),
            "Do not use it. It ignores writes (worn out or read-only). What was on it can still be read: copy it now."
        );
    }

    #[track_caller]
    fn check_damage(capacity: u64, good: &[u64], bad: &[u64], place: &str) {
        let marks = [("good", good), ("lost", bad)];
        let record = record(capacity, vec![probe(CapacityKind::Damaged, capacity, &marks)]);
        assert_eq!(
            statement_of(&record),
            format!(
                "Do not use it. It is damaged: {place}data was not read back as written. Copy what can still be read first, then throw it away."
            )
        );
        let summary = Analysis::of(&record, &[]).summary;
        let reasons =
            [summary.genuine_reason, summary.fit_reason, summary.healthy_reason].join(" ");
        assert_eq!(reasons.matches("read back as written").count(), 1, "{reasons}");
    }

    #[test]
    fn damage_is_told_with_its_range() {
        let all = every(GIB, 0, 32 * GIB);
        let hole = [12 * GIB + 200 * MIB, 12 * GIB + 900 * MIB];
        check_damage(32 * GIB, &all, &hole, "between 12 GiB and 13 GiB, ");
        check_damage(32 * GIB, &all, &[MIB + 4096, 7 * MIB], "between 1 MiB and 7 MiB, ");
        check_damage(32 * GIB, &all, &every(3 * GIB, MIB, 32 * GIB), "in places all over it, ");
        check_damage(32 * GIB, &[], &[], "");
    }

    /// "Not tested: whether it can still be read", beside reads that worked.
    #[test]
    fn reads_that_worked_are_told_where_every_write_fails() {
        let read = iops("random-read", 1, 4096, 900.0, 1);
        let write = || failed("prime", 1, Direction::Write, GIB);
        let of = |cells| statement_of(&record(8 * GIB, cells));
        assert!(of(vec![write()]).contains("A write failed at 1 GiB. What else fails was not"));
        assert!(of(vec![write(), write()]).contains("Not tested: whether it can still be read."));
        assert!(of(vec![write(), read.clone()]).contains("and reads still work"));
        let then = of(vec![read, write(), write()]);
        assert!(then.contains("All writes fail. Reads worked before that"), "{then}");
        let mut put = write();
        put.error = Some(CellError { reads_work: true, ..CellError::of(IoErrorKind::ReadOnly) });
        assert!(of(vec![put]).contains("It has gone read-only: writes fail, and reads still work"));
    }

    /// "In places all over it" stood beside "One area fails: .. and work elsewhere".
    #[test]
    fn errors_and_lost_data_are_one_damage() {
        let all = every(GIB, 0, 8 * GIB);
        let marks = [("good", &all[..]), ("changed", &every(GIB, MIB, 8 * GIB))];
        let cells = vec![
            probe(CapacityKind::Damaged, 8 * GIB, &marks),
            failed("prime", 1, Direction::Write, 4 * GIB),
            iops("random-write", 1, 4096, 900.0, 1),
        ];
        let record = record(8 * GIB, cells);
        assert_eq!(
            statement_of(&record),
            "Do not use it. It fails in places all over it. Copy what is on it now, before anything else."
        );
        assert!(!crate::conclude(&record).iter().any(|finding| finding.id == "capacity"));
    }

    fn drawn_cell() -> impl Strategy<Value = Cell> {
        let test = prop::sample::select(vec!["prime", "random-write", "random-read"]);
        let outcome = prop::option::of((prop::bool::ANY, 0..32 * GIB));
        (test, 1u32..9, outcome).prop_map(|(test, number, outcome)| match outcome {
            None => iops(test, number, 4096, 900.0, 1),
            Some((writes, at)) => {
                failed(test, number, if writes { Direction::Write } else { Direction::Read }, at)
            }
        })
    }

    fn drawn_probe() -> impl Strategy<Value = Cell> {
        let places = || prop::collection::vec(0..32 * GIB, 0..12);
        let kind = (0u8..5).prop_map(|code| CapacityKind::of_code(f64::from(code)).unwrap());
        (kind, 0..32 * GIB, places(), places(), places()).prop_map(
            |(kind, real, good, lost, unusable)| {
                probe(kind, real, &[("good", &good), ("lost", &lost), ("unusable", &unusable)])
            },
        )
    }

    fn has(findings: &[Finding], phrases: &[&str]) -> bool {
        let holds = |finding: &Finding| phrases.iter().any(|text| finding.statement.contains(text));
        findings.iter().any(holds)
    }

    proptest! {
        #[test]
        fn no_two_statements_contradict_each_other(
            probes in prop::collection::vec(drawn_probe(), 0..3),
            cells in prop::collection::vec(drawn_cell(), 0..6),
        ) {
            let cells = probes.into_iter().chain(cells).collect();
            let findings = crate::conclude(&record(32 * GIB, cells));
            let all_over = has(&findings, &["all over it"]);
            prop_assert!(!all_over || !has(&findings, &["One area", "work elsewhere"]), "{findings:#?}");
            let is_fake = has(&findings, &["It is a fake:"]);
            prop_assert!(!is_fake || !has(&findings, &["a fake cannot be told"]), "{findings:#?}");
            // Where nothing but the capacity was looked at, that is the verdict.
            let others = findings.iter().filter(|finding| !crate::is_verdict(finding));
            let mut statements: Vec<&str> =
                others.map(|finding| finding.statement.as_str()).collect();
            statements.sort_unstable();
            prop_assert!(statements.windows(2).all(|pair| pair[0] != pair[1]), "{findings:#?}");
        }
    }
}
