//! How many commits a second a database does, as SQLite makes them (sqlite.org/atomiccommit.html).
//!
//! Where commits were made, they are the figure. Where only single records were made durable, no
//! more is promised than these allow. Random writes alone tell nothing: a journal is written in one
//! place, and a flush costs what it costs.

use record::units::{KIB, significant};
use record::{Fitness, Record, Sync, metric, test};

use crate::figure::{self, SoundFigure};
use crate::flush;
use crate::need::OpenVerdict;

/// Single writes that one commit costs SQLite with a rollback journal: journal, its header, the
/// page, and the journal's end (sqlite.org/atomiccommit.html).
pub(crate) const WRITES_PER_COMMIT: f64 = 4.0;

/// Commits a second, and what they were concluded from.
pub(crate) struct Commits<'a> {
    /// The figure that decides; what was not measured as such is worked out from the cell it names.
    pub figure: SoundFigure<'a>,
    /// "46.7 commits per second (44.8 to 48.6) with a rollback journal".
    pub reason: String,
    /// In place of the figure's own line.
    pub evidence: Vec<String>,
}

/// Of this record; `None` where no write was made durable.
pub(crate) fn of(record: &Record) -> Option<Commits<'_>> {
    measured(record).or_else(|| allowed(record))
}

/// Commits as SQLite makes them: with its rollback journal, which it has unless it is told
/// otherwise, else with a write-ahead log.
fn measured(record: &Record) -> Option<Commits<'_>> {
    let of = |form: &str| {
        SoundFigure::of(figure::form(record, test::COMMIT, form)?, metric::IOPS)
            .filter(|figure| figure.ci95.is_some())
    };
    let journals = [("rollback", "with a rollback journal"), ("wal", "with a write-ahead log")];
    let known: Vec<(SoundFigure, &str)> =
        journals.into_iter().filter_map(|(form, words)| Some((of(form)?, words))).collect();
    let told: Vec<String> = known
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
    let evidence = known.iter().map(|(figure, _)| figure.to_string()).collect();
    let (figure, _) = known.into_iter().next()?;
    Some(Commits { figure, reason: told.join(", "), evidence })
}

/// No more than its synced writes allow: the least of what single records made durable and writes
/// with a flush after each come to. The latter alone, a few in a row, promise nothing.
fn allowed(record: &Record) -> Option<Commits<'_>> {
    let is_synced = |cell: &&record::Cell| {
        cell.params.form.as_deref() == Some("random-write") && cell.params.sync != Sync::None
    };
    let records = figure::cells(record, test::RECORD_OPS)
        .find(is_synced)
        .and_then(|cell| SoundFigure::of(cell, metric::IOPS));
    let records = records.filter(|figure| figure.ci95.is_some())?;
    let figures: Vec<SoundFigure> =
        [Some(records), flush::durable_writes(record)].into_iter().flatten().collect();
    let mut evidence: Vec<String> = figures.iter().map(ToString::to_string).collect();
    let least = figures.into_iter().min_by(|a, b| a.value.total_cmp(&b.value))?;
    let least_value = least.value;
    let per_commit = |writes: f64| writes / WRITES_PER_COMMIT;
    let reason = format!(
        "about {} commits per second{}, from {} synced write IOPS and four writes per commit",
        significant(per_commit(least.value)),
        ends(least.ci95.map(|ends| ends.map(per_commit))),
        significant(least.value)
    );
    let figure = SoundFigure {
        name: metric::IOPS,
        value: per_commit(least.value),
        ci95: least.ci95.map(|ends| ends.map(per_commit)),
        ..least
    };
    evidence.push(format!(
        "the slowest of these, {} IOPS, divided by four is {}{}",
        significant(least_value),
        significant(figure.value),
        ends(figure.ci95)
    ));
    Some(Commits { figure, reason, evidence })
}

/// " (44.8 to 48.6)", or nothing.
fn ends(ci95: Option<[f64; 2]>) -> String {
    ci95.map(|[low, high]| format!(" ({} to {})", significant(low), significant(high)))
        .unwrap_or_default()
}

/// That commits were not measured, and what random writes would allow; or that their figure may be
/// anything.
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
        "{lead}. Its random writes, {measured} IOPS, would allow {allowed} commits per second at four writes each."
    );
    let over_four = format!("{measured} IOPS divided by four is {allowed}");
    let evidence = vec![writes.to_string(), over_four];
    OpenVerdict { level: Fitness::NotTested, why, evidence }
}

#[cfg(test)]
mod tests {
    use record::Use;
    use record::units::{GIB, MIB};

    use super::*;
    use crate::testing::{cell, empty, iops, known};

    /// The medium of the issue: 48.4 random writes of 4 KiB a second over all of it.
    fn slow() -> Record {
        Record {
            cells: vec![
                iops("random-write", 1, 4 * KIB, 48.4, 60_000_000),
                iops("random-write", 2, 16 * KIB, 48.0, 60_000_000),
            ],
            ..empty()
        }
    }

    fn commit(number: u32, form: &str, value: f64) -> record::Cell {
        let mut cell = cell("commit", number, 4 * KIB);
        (cell.params.form, cell.metrics.iops) = (Some(form.into()), Some(known(value, 0.04, 300)));
        cell
    }

    fn told(record: &Record) -> String {
        crate::conclude(record)
            .into_iter()
            .find(|finding| finding.id == "verdict-database")
            .unwrap()
            .statement
    }

    #[test]
    fn random_writes_alone_are_no_verdict_on_a_database() {
        insta::assert_snapshot!(told(&slow()), @"Not tested for a database: commits were not measured. Its random writes, 48.4 IOPS, would allow 12.1 commits per second at four writes each.");
        assert!(
            !crate::conclude(&slow())[0].statement.contains("database"),
            "{:?}",
            crate::conclude(&slow())[0]
        );
        insta::assert_snapshot!(crate::conclude_for(&empty(), &[Use::Database])[0].statement, @"Not tested for a database: commits were not measured.");
    }

    #[test]
    fn commits_that_were_made_are_the_figure() {
        let mut record = slow();
        record.cells.extend([commit(1, "rollback", 46.7), commit(2, "wal", 183.0)]);
        insta::assert_snapshot!(told(&record), @"Usable for a database if its files stay small and its flush is honest, as random writes are slow over a large part of the medium: 46.7 commits per second (44.8 to 48.6) with a rollback journal, 183 (176 to 190) with a write-ahead log.");
        record.cells.remove(2);
        insta::assert_snapshot!(told(&record), @"Good for a database if its files stay small and its flush is honest, as random writes are slow over a large part of the medium: 183 commits per second (176 to 190) with a write-ahead log.");
    }

    #[test]
    fn no_more_is_promised_than_its_own_synced_writes_allow() {
        // 12752 random writes a second made a claim of 3188 commits; SQLite did 315.
        let mut record = slow();
        record.cells[0] = iops("random-write", 1, 4 * KIB, 12_752.0, 1_000_000);
        let mut synced = iops("record-ops", 4, 4 * KIB, 1260.0, 2_000_000);
        (synced.params.form, synced.params.sync) = (Some("random-write".into()), Sync::File);
        record.cells.push(synced.clone());
        insta::assert_snapshot!(told(&record), @"Good for a database if its flush is honest, which was not tested: about 315 commits per second (306 to 324), from 1260 synced write IOPS and four writes per commit.");
        record.cells[2].params.sync = Sync::None;
        assert!(told(&record).contains("commits were not measured"), "{}", told(&record));
    }

    /// A card that cheats in spans up to 64 MiB was "good for a database": commits are made in less.
    #[test]
    fn commits_in_the_span_that_is_fast_promise_nothing_of_larger_files() {
        let with_slow = |a_second: f64| {
            let writes = [(1, 32 * MIB, 900.0), (2, 256 * MIB, 900.0), (3, 16 * GIB, a_second)];
            let mut cells: Vec<record::Cell> = writes
                .map(|(number, span, a_second)| {
                    let mut cell = iops("random-write", number, 4 * KIB, a_second, 1_000_000);
                    cell.params.span_bytes = Some(span);
                    cell
                })
                .into();
            cells.push(commit(1, "rollback", 183.0));
            told(&Record { cells, ..empty() })
        };
        insta::assert_snapshot!(with_slow(6.0), @"Good for a database if its files stay small and its flush is honest, as random writes are slow over a large part of the medium: 183 commits per second (176 to 190) with a rollback journal.");
        assert!(!with_slow(890.0).contains("stay small"), "{}", with_slow(890.0));
    }

    #[test]
    fn commits_that_may_be_anything_are_no_verdict() {
        let with_ends = |ends: [f64; 2]| {
            let mut slow = commit(1, "rollback", 3.65);
            slow.metrics.iops.as_mut().unwrap().ci95 = Some(ends);
            Record { cells: vec![slow, commit(2, "wal", 70.8)], ..empty() }
        };
        insta::assert_snapshot!(told(&with_ends([0.6, 30.0])), @"Cannot be told here for a database: 3.65 commits per second (0.600 to 30.0) with a rollback journal, 70.8 (68.0 to 73.6) with a write-ahead log; the first is not certain enough.");
        assert!(told(&with_ends([1.5, 10.0])).starts_with("Poor for a database (few samples, "));
    }
}
