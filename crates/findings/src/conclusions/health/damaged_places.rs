//! Damaged places of a medium, where data was lost or an I/O failed, and their extent for all
//! statements on the damage.

use record::units::{Bytes, GIB, MIB, significant};
use record::{CapacityKind, Cell, Record, metric, test};

use crate::figures::genuineness::code;
use crate::figures::sectors::MOST;

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
    let (cell, kind) = crate::figures::genuineness::capacity_verdict(record)?;
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
    use record::Finding;

    use crate::Analysis;
    use crate::conclude::conclude;
    use crate::testing::record_in_words;

    /// Of a damage that is told of the capacity, the summary tells once.
    #[test]
    fn damage_is_reported_once() {
        let record = record_in_words(
            "medium.capacity_bytes=32GiB; \
             capacity 4KiB metrics.type=1 marks.good=0..32GiB/1GiB marks.lost=1MiB+7MiB",
        );
        let summary = Analysis::of(&record, &[]).summary;
        let reasons =
            [summary.genuine_reason, summary.fit_reason, summary.healthy_reason].join(" ");
        assert_eq!(reasons.matches("read back as written").count(), 1, "{reasons}");
    }

    const CAPACITY: u64 = 32 << 30;

    fn drawn_cell() -> impl Strategy<Value = String> {
        let test = prop::sample::select(vec!["prime", "random-write", "random-read"]);
        let outcome = prop::option::of((prop::bool::ANY, 0..CAPACITY));
        (test, outcome).prop_map(|(test, outcome)| match outcome {
            None => format!("{test} 4KiB 900/s"),
            Some((writes, at)) => {
                let direction = if writes { "write" } else { "read" };
                let error = format!(r#""kind":"medium","direction":"{direction}""#);
                format!(r#"{test} 4KiB ops=0 stop=error error={{{error},"offset_bytes":{at}}}"#)
            }
        })
    }

    fn drawn_probe() -> impl Strategy<Value = String> {
        let places = || prop::collection::vec((0..CAPACITY).prop_map(|at| at.to_string()), 0..12);
        let drawn = (0u8..5, 0..CAPACITY, places(), places(), places());
        drawn.prop_map(|(kind, real, good, lost, unusable)| {
            let [good, lost, unusable] = [good, lost, unusable].map(|places| places.join("+"));
            format!(
                "capacity 4KiB metrics.type={kind} metrics.real_bytes={real} marks.good={good} \
                 marks.lost={lost} marks.unusable={unusable}",
            )
        })
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
            let words = [probes, cells].concat().join("; ");
            let record = record_in_words(&format!("medium.capacity_bytes={CAPACITY}; {words}"));
            let findings = conclude(&record);
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
