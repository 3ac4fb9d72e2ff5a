//! Database commits per second, as SQLite makes them (sqlite.org/atomiccommit.html).
//!
//! Measured commits are the figure. If only single durable writes were measured, they give an upper
//! limit. Random writes alone show nothing: a journal is written in one place, and the cost of a
//! flush is independent of them.

use record::units::{KIB, significant};
use record::{Evidence, Fitness, Record, Sync, metric, test};

use crate::conclusions::speed::flush;
use crate::figures::figure::{self, UsableEstimate};
use crate::verdict::need::OpenVerdict;

/// Single writes of one SQLite commit with a rollback journal: journal, its header, the page, and
/// the journal's end (sqlite.org/atomiccommit.html).
pub(crate) const WRITES_PER_COMMIT: f64 = 4.0;

/// Commits per second, with their source.
pub(crate) struct Commits<'a> {
    /// The figure that decides; if it was computed, its cell is the source.
    pub figure: UsableEstimate<'a>,
    /// "46.7 commits per second (44.8 to 48.6) with a rollback journal".
    pub reason: String,
    /// Evidence that replaces the line of the figure.
    pub evidence: Vec<Evidence>,
}

/// Commits from this record; `None` if it has no durable writes.
pub(crate) fn of(record: &Record) -> Option<Commits<'_>> {
    measured(record).or_else(|| allowed(record))
}

/// Measured commits: with a rollback journal, SQLite's default, or else with a write-ahead log.
fn measured(record: &Record) -> Option<Commits<'_>> {
    let of = |form: &str| {
        UsableEstimate::of(figure::form(record, test::COMMIT, form)?, metric::IOPS)
            .filter(|figure| figure.ci95.is_some())
    };
    let journals = [("rollback", "with a rollback journal"), ("wal", "with a write-ahead log")];
    let known: Vec<(UsableEstimate, &str)> =
        journals.into_iter().filter_map(|(form, words)| Some((of(form)?, words))).collect();
    let parts: Vec<String> = known
        .iter()
        .enumerate()
        .map(|(at, (figure, words))| {
            format!(
                "{}{}{} {words}",
                significant(figure.value),
                if at == 0 { " commits per second" } else { "" },
                ends(figure.ci95)
            )
        })
        .collect();
    let evidence = known.iter().map(|(figure, _)| figure.into()).collect();
    let (figure, _) = known.into_iter().next()?;
    Some(Commits { figure, reason: parts.join(", "), evidence })
}

/// Upper limit from durable writes: the lower of single records and of writes with a flush after
/// each. The latter alone are only a few in succession, and give no figure.
fn allowed(record: &Record) -> Option<Commits<'_>> {
    let is_synced = |cell: &&record::Cell| {
        cell.params.form.as_deref() == Some("random-write") && cell.params.sync != Sync::None
    };
    let records = figure::cells(record, test::RECORD_OPS)
        .find(is_synced)
        .and_then(|cell| UsableEstimate::of(cell, metric::IOPS));
    let records = records.filter(|figure| figure.ci95.is_some())?;
    let figures: Vec<UsableEstimate> =
        [Some(records), flush::durable_writes(record)].into_iter().flatten().collect();
    let mut evidence: Vec<Evidence> = figures.iter().map(Evidence::from).collect();
    let least = figures.into_iter().min_by(|a, b| a.value.total_cmp(&b.value))?;
    let least_value = least.value;
    let per_commit = |writes: f64| writes / WRITES_PER_COMMIT;
    let reason = format!(
        "about {} commits per second{}, from {} synced write IOPS and four writes per commit",
        significant(per_commit(least.value)),
        ends(least.ci95.map(|ends| ends.map(per_commit))),
        significant(least.value)
    );
    let figure = UsableEstimate {
        name: metric::IOPS,
        value: per_commit(least.value),
        ci95: least.ci95.map(|ends| ends.map(per_commit)),
        ..least
    };
    evidence.push(Evidence::from(format!(
        "the slowest of these, {} IOPS, divided by four is {}{}",
        significant(least_value),
        significant(figure.value),
        ends(figure.ci95)
    )));
    Some(Commits { figure, reason, evidence })
}

/// " (44.8 to 48.6)", or empty.
fn ends(ci95: Option<[f64; 2]>) -> String {
    ci95.map(|[low, high]| format!(" ({} to {})", significant(low), significant(high)))
        .unwrap_or_default()
}

/// Verdict without a figure for commits: not measured, with the rate that random writes would
/// allow, or too uncertain.
pub(crate) fn untested(record: &Record) -> OpenVerdict {
    if let Some(known) = of(record).filter(|commits| commits.figure.ci95.is_some()) {
        let why = format!("{}; the first is not certain enough.", known.reason);
        return OpenVerdict { level: Fitness::CannotTell, why, evidence: known.evidence };
    }
    if figure::cells(record, test::COMMIT).next().is_some() {
        return OpenVerdict::new(
            Fitness::CannotTell,
            "too few commits were made for a figure.".to_owned(),
        );
    }
    let lead = "commits were not measured";
    let Some(writes) = figure::random_write(record, 4 * KIB) else {
        return OpenVerdict::new(Fitness::NotTested, format!("{lead}."));
    };
    let measured = significant(writes.value);
    let allowed = significant(writes.value / WRITES_PER_COMMIT);
    let why = format!(
        "{lead}. Its random writes of 4 KiB, {measured} IOPS, would allow {allowed} commits per second at four writes each."
    );
    let over_four = format!("{measured} IOPS divided by four is {allowed}");
    let evidence = vec![Evidence::from(&writes), over_four.into()];
    OpenVerdict { level: Fitness::NotTested, why, evidence }
}
