//! Limits of IOPS and latency that a user sets (`--claim random-write=500IOPS,p99=20ms`), held
//! against the run. Each comes to one of four: it holds, it fails, it cannot be told, it was not
//! tested.

use record::collection::HeadlineFigure;
use record::units::{Iops, KIB, Nanos};
use record::{Bound, Cell, Claims, Finding, Outcome, Record, test};

use crate::Figures;
use crate::figure::SoundFigure;
use crate::finding_builder::FindingBuilder;
use crate::stalls;

/// A `claim` for each limit.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    let claims = record.medium.claims.clone().unwrap_or_default();
    let figure = |wanted| Figures::of(record).judged(wanted);
    let writes = || figure(HeadlineFigure::RandomWrite4k);
    let reads = claims
        .random_read_iops
        .map(|least| rate("4 KiB random reads", least, figure(HeadlineFigure::RandomRead4k)));
    let written =
        claims.random_write_iops.map(|least| rate("4 KiB random writes", least, writes()));
    [reads, written, p99(&claims, writes()), longest(record, &claims)]
        .into_iter()
        .flatten()
        .collect()
}

/// At least so many a second. A passing state decides it on one side only.
fn rate(what: &str, least: f64, measured: Option<SoundFigure>) -> Finding {
    let claim = format!("{what} at {} or more", Iops(least));
    let Some(measured) = measured else { return untested(&claim) };
    let is_above = match (measured.bound, measured.ci95) {
        (Some(Bound::AtLeast), _) => (measured.value >= least).then_some(true),
        (Some(Bound::AtMost), _) => (measured.value < least).then_some(false),
        (None, Some(ends)) => decided(ends, least),
        (None, None) => None,
    };
    let found = match measured.ci95 {
        Some([low, high]) => {
            format!("{} measured ({} to {})", measured.text(), Iops(low), Iops(high))
        }
        None => format!("{} measured", measured.text()),
    };
    told(&claim, is_above, &found).figure(&measured).done()
}

/// On which side of a limit a whole interval lies: above it or on it, below it, or neither.
fn decided([low, high]: [f64; 2], limit: f64) -> Option<bool> {
    match () {
        () if low >= limit => Some(true),
        () if high < limit => Some(false),
        () => None,
    }
}

/// 99 of 100 random writes of 4 KiB within so long.
fn p99(claims: &Claims, writes: Option<SoundFigure>) -> Option<Finding> {
    let limit_ns = claims.write_p99_ns?;
    let claim = format!("a p99 of 4 KiB random writes within {}", Nanos(limit_ns));
    let Some(writes) = writes else { return Some(untested(&claim)) };
    let latency = writes.cell.metrics.latency_ns.as_ref();
    let known = latency.and_then(|latency| Some((latency.p99?, *latency.ci95.get("p99")?)));
    Some(match known {
        Some((p99, [low, high])) => {
            let is_within = match () {
                () if high <= limit_ns => Some(true),
                () if low > limit_ns => Some(false),
                () => None,
            };
            let found = format!("{} measured ({} to {})", Nanos(p99), Nanos(low), Nanos(high));
            told(&claim, is_within, &found).figure(&writes).done()
        }
        None => {
            let n = latency.map_or(0, |latency| latency.n);
            let found = format!("{n} writes are too few to tell a p99 with its interval");
            told(&claim, None, &found).figure(&writes).done()
        }
    })
}

/// So many writes within a limit, and none beyond it, tell that at most one of a hundred is longer:
/// 1 - 0.99^299 is 95 %.
const TELLING: u64 = 299;

/// None of the random writes of 4 KiB longer than so long, of all that the run made one at a time:
/// one that was is enough. None that was tells only of as many writes as there were.
fn longest(record: &Record, claims: &Claims) -> Option<Finding> {
    let limit_ns = claims.write_max_ns?;
    let claim = format!("no 4 KiB random write longer than {}", Nanos(limit_ns));
    let is_one =
        |cell: &Cell| cell.test == test::RANDOM_WRITE && cell.params.block_bytes == Some(4 * KIB);
    let Some(all) = stalls::of(record, is_one, 4 * KIB) else { return Some(untested(&claim)) };
    // Those that came before what was counted, while the medium settled, were writes too.
    let (n, max_ns) = all.with_warm_up();
    let found = format!("the slowest of {n} took {}", Nanos(max_ns));
    let (holds, found) = match () {
        () if max_ns > limit_ns => (Some(false), found),
        () if n < TELLING => (None, format!("{found}, which are too few")),
        () => (Some(true), format!("{found}; at most 1 of {} is longer", n / 3)),
    };
    let found = told(&claim, holds, &found).note(all.to_string());
    Some(found.done())
}

fn untested(claim: &str) -> Finding {
    FindingBuilder::warning("claim", format!("The claim of {claim} was not tested by this run."))
        .outcome(Outcome::Claim { holds: None })
        .done()
}

fn told(claim: &str, holds: Option<bool>, found: &str) -> FindingBuilder {
    let draft = match holds {
        Some(true) => {
            FindingBuilder::info("claim", format!("The claim of {claim} holds: {found}."))
        }
        Some(false) => FindingBuilder::failure(
            "claim",
            format!("The claim of {claim} does not hold: {found}."),
        ),
        None => FindingBuilder::warning(
            "claim",
            format!("Whether the claim of {claim} holds cannot be told: {found}."),
        ),
    };
    draft.outcome(Outcome::Claim { holds })
}

#[cfg(test)]
mod tests {
    use record::{Flag, Severity, metric};

    use super::*;
    use crate::testing::{empty, iops, known};

    /// A card of so many random writes a second, known to a tenth, with a p99 known to a tenth and
    /// a longest write.
    fn card(a_second: f64, p99_ns: u64, max_ns: u64) -> Record {
        let mut cell = iops("random-write", 1, 4 * KIB, a_second, max_ns);
        cell.metrics.iops = Some(known(a_second, 0.1, 400));
        let latency = cell.metrics.latency_ns.get_or_insert_default();
        latency.p99 = Some(p99_ns);
        latency.max = max_ns;
        latency.n = 400;
        latency.ci95.insert("p99".into(), [p99_ns / 10 * 9, p99_ns / 10 * 11]);
        Record { cells: vec![cell], ..empty() }
    }

    fn severity(claims: Claims, mut record: Record) -> Severity {
        record.medium.claims = Some(claims);
        conclude(&record)[0].severity
    }

    #[test]
    fn a_limit_holds_fails_or_cannot_be_told_by_the_whole_interval() {
        use Severity::{Failure, Info, Warning};
        let ms = 1_000_000;
        let writes = |least| Claims { random_write_iops: Some(least), ..Claims::default() };
        for (least, expected) in [(450.0, Info), (500.0, Warning), (560.0, Failure)] {
            assert_eq!(severity(writes(least), card(500.0, ms, ms)), expected, "{least} IOPS");
        }
        let p99 = |limit| Claims { write_p99_ns: Some(limit), ..Claims::default() };
        for (limit, expected) in [(22 * ms, Info), (20 * ms, Warning), (17 * ms, Failure)] {
            assert_eq!(severity(p99(limit), card(500.0, 20 * ms, 90 * ms)), expected, "{limit} ns");
        }
        let longest = |limit| Claims { write_max_ns: Some(limit), ..Claims::default() };
        for (limit, expected) in [(90 * ms, Info), (90 * ms - 1, Failure)] {
            let found = severity(longest(limit), card(500.0, 20 * ms, 90 * ms));
            assert_eq!(found, expected, "{limit} ns");
        }
        assert_eq!(severity(writes(1.0), empty()), Warning, "not tested is no pass");
    }

    /// "holds" of a limit of 1 s came of 23 writes, on a card that took 2.04 s for one of the next.
    #[test]
    fn few_writes_hold_no_limit_of_the_longest() {
        let of = |writes: u64| {
            let mut record = card(500.0, 20_000_000, 454_000_000);
            record.cells[0].ops = writes;
            record.cells[0].metrics.latency_ns.as_mut().unwrap().n = writes;
            let claims = Claims { write_max_ns: Some(1_000_000_000), ..Claims::default() };
            record.medium.claims = Some(claims);
            conclude(&record)[0].clone()
        };
        let few = of(23);
        assert_eq!(few.severity, Severity::Warning, "{few:?}");
        assert!(few.statement.contains("cannot be told"), "{few:?}");
        assert_eq!(of(298).severity, Severity::Warning);
        let enough = of(299);
        assert_eq!(enough.severity, Severity::Info);
        assert!(enough.statement.contains("at most 1 of 99 is longer"), "{enough:?}");
    }

    /// A cell of its own span stood for all, and another had stood still for 2.04 s.
    #[test]
    fn every_cell_of_such_writes_counts() {
        let mut record = card(500.0, 20_000_000, 454_000_000);
        let mut other = iops("random-write", 2, 4 * KIB, 400.0, 2_040_000_000);
        other.params.span_bytes = Some(64 << 20);
        record.cells.push(other);
        let claims = Claims { write_max_ns: Some(1_000_000_000), ..Claims::default() };
        record.medium.claims = Some(claims);
        let found = &conclude(&record)[0];
        assert!(found.severity == Severity::Failure && found.statement.contains("2.04 s"));
    }

    /// "holds", though a write before those that were counted took longer.
    #[test]
    fn the_longest_write_is_one_of_all_that_were_made() {
        let mut record = card(500.0, 20_000_000, 5_820_000);
        let stall = record::Estimate { value: 23_900_000.0, ci95: None, n: 1700 };
        record.cells[0].metrics.other.insert(metric::WORST_STALL_NS.into(), stall);
        record.medium.claims = Some(Claims { write_max_ns: Some(10_000_000), ..Claims::default() });
        let found = &conclude(&record)[0];
        assert_eq!(found.severity, Severity::Failure, "{found:?}");
        assert!(found.statement.contains("the slowest of 1700 took 23.9 ms"), "{found:?}");
    }

    #[test]
    fn a_passing_state_decides_on_one_side_only() {
        let passing = |bound, least| {
            let mut record = card(500.0, 1, 1);
            record.cells[0].flags.push(Flag::Transient { bound });
            let claims = Claims { random_write_iops: Some(least), ..Claims::default() };
            severity(claims, record)
        };
        assert_eq!(passing(Bound::AtMost, 501.0), Severity::Failure);
        assert_eq!(passing(Bound::AtMost, 400.0), Severity::Warning);
        assert_eq!(passing(Bound::AtLeast, 400.0), Severity::Info);
        assert_eq!(passing(Bound::AtLeast, 501.0), Severity::Warning);
    }
}
