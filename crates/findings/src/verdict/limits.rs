//! Limits of IOPS and latency that a user sets (`--claim random-write=500IOPS,p99=20ms`), compared
//! with the run. Each has one of four results: holds, fails, cannot be told, not tested.

use record::collection::HeadlineFigure;
use record::units::{Iops, KIB, Nanos};
use record::{Bound, Cell, Claims, Finding, Outcome, Record, test};

use crate::conclusions::speed::stalls;
use crate::figures::Figures;
use crate::figures::figure::UsableEstimate;
use crate::finding_builder::FindingBuilder;

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

/// Claim of a least rate in IOPS. A transient state decides it only on one side.
fn rate(what: &str, least: f64, measured: Option<UsableEstimate>) -> Finding {
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
    claim_finding(&claim, is_above, &found).figure(&measured).done()
}

/// True if the whole interval is at or above a limit, false if below it, `None` if neither.
fn decided([low, high]: [f64; 2], limit: f64) -> Option<bool> {
    match () {
        () if low >= limit => Some(true),
        () if high < limit => Some(false),
        () => None,
    }
}

/// Claim for the 99th percentile of random writes of 4 KiB.
fn p99(claims: &Claims, writes: Option<UsableEstimate>) -> Option<Finding> {
    let limit_ns = claims.write_p99_ns?;
    let claim = format!("a p99 of 4 KiB random writes within {}", Nanos(limit_ns));
    let Some(writes) = writes else { return Some(untested(&claim)) };
    let latency = writes.cell.metrics.latency_ns.clone().unwrap_or_default();
    let interval = |name: &str| latency.ci95.get(name).copied();
    let (is_within, found) = match (latency.p99.zip(interval("p99")), interval("p50")) {
        (Some((p99, [low, high])), _) => {
            let is_within = (high <= limit_ns || low > limit_ns).then_some(high <= limit_ns);
            let found = format!("{} measured ({} to {})", Nanos(p99), Nanos(low), Nanos(high));
            (is_within, found)
        }
        (None, Some([low, _])) if low > limit_ns => {
            (Some(false), format!("half of {} took {} or more", latency.n, Nanos(low)))
        }
        _ => (None, format!("{} writes are too few to tell a p99 with its interval", latency.n)),
    };
    Some(claim_finding(&claim, is_within, &found).figure(&writes).done())
}

/// Fewest writes, none above a limit, which show that at most 1 % are longer: 1 - 0.99^299 is 95 %.
const TELLING: u64 = 299;

/// Claim for the longest random write of 4 KiB at queue depth 1 in the whole run: a single longer
/// one breaks it. Without one, only as many writes as were made support it.
fn longest(record: &Record, claims: &Claims) -> Option<Finding> {
    let limit_ns = claims.write_max_ns?;
    let claim = format!("no 4 KiB random write longer than {}", Nanos(limit_ns));
    let is_one =
        |cell: &Cell| cell.test == test::RANDOM_WRITE && cell.params.block_bytes == Some(4 * KIB);
    let Some(all) = stalls::of(record, is_one, 4 * KIB) else { return Some(untested(&claim)) };
    // Writes before the counted ones, while the medium settled, were writes too.
    let (n, max_ns) = all.with_warm_up();
    let found = format!("the slowest of {n} took {}", Nanos(max_ns));
    let (holds, found) = match () {
        () if max_ns > limit_ns => (Some(false), found),
        () if n < TELLING => (None, format!("{found}, which are too few")),
        () => (Some(true), format!("{found}; at most 1 of {} is longer", n / 3)),
    };
    let found = claim_finding(&claim, holds, &found).notes(all.evidence());
    Some(found.done())
}

fn untested(claim: &str) -> Finding {
    FindingBuilder::warning("claim", format!("The claim of {claim} was not tested by this run."))
        .outcome(Outcome::Claim { holds: None })
        .done()
}

fn claim_finding(claim: &str, holds: Option<bool>, found: &str) -> FindingBuilder {
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
