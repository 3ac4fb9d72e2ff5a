//! One factor: each of its levels against the first, over runs that are equal in everything else.

use std::collections::BTreeSet;

use record::{Cell, Flag, Record};
use serde::Serialize;

use super::by::ComparedBy;
use super::groups::{distinct, groups, identity};
use super::hosts::facts;
use super::{MediaRatio, WORK, block_sizes, naming};
use crate::figures::figure::{self, UsableEstimate};

/// Levels of a factor, each compared with the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelComparison {
    /// The factor.
    pub by: ComparedBy,
    /// Its levels, in the order of the runs.
    pub levels: Vec<String>,
    /// Facts that change with it; their effects are counted as part of its effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<&'static str>,
    /// Ratios to the first level.
    pub figures: Vec<LevelFigure>,
    /// Left-out runs and levels, with reasons.
    pub left_out: Vec<String>,
    /// Reason why there is no ratio at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// True for several media that may be one card: readers hide it.
    pub hides_cards: bool,
}

/// A figure at a level, over runs that are equal in everything else.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelFigure {
    /// "random-write", "random-read", "sequential-write", "sequential-read".
    pub test: String,
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// The level.
    pub level: String,
    /// What these runs share and other equal runs do not: "Kingston"; empty if all are equal.
    pub of: String,
    /// Ratio of this level to the first.
    #[serde(flatten)]
    pub found: MediaRatio,
}

/// A run with its level, and all that must be equal.
struct LevelRun<'a> {
    record: &'a Record,
    level: String,
    others: Vec<(&'static str, String)>,
}

/// Compares each level of a factor with the first.
pub(super) fn levels(records: &[Record], by: ComparedBy) -> LevelComparison {
    let mut left_out = Vec::new();
    let mut runs = runs(records, by, &mut left_out);
    let with = count_with(&mut runs, by);
    let mut levels: Vec<String> = Vec::new();
    for run in &runs {
        if !levels.contains(&run.level) {
            levels.push(run.level.clone());
        }
    }
    let bare = by.words().trim_start_matches("the ");
    let mut refusal = match &levels[..] {
        [] => Some(format!("no record says {}", by.words())),
        [only] => Some(format!("all runs have the same {bare} ({only})")),
        _ => None,
    };
    let (mut figures, mut reasons) = (Vec::new(), Vec::new());
    for level in levels.iter().skip(1) {
        match against(&runs, by, &levels[0], level) {
            Ok(found) => figures.extend(found),
            Err(why) => reasons.push(why),
        }
    }
    // All levels of a figure one after another.
    let work = |test: &str| WORK.iter().position(|(known, _)| *known == test);
    figures.sort_by(|a: &LevelFigure, b| {
        (work(&a.test), a.block_bytes, &a.of).cmp(&(work(&b.test), b.block_bytes, &b.of))
    });
    if figures.is_empty() && !reasons.is_empty() {
        refusal = Some(reasons.join("; "));
    } else {
        left_out.extend(reasons);
    }
    let hides_cards = runs.iter().any(|run| run.others[0] != runs[0].others[0])
        && runs.iter().any(|run| run.record.medium.behind_reader == Some(true));
    LevelComparison { by, levels, with, figures, left_out, refusal, hides_cards }
}

/// The usable runs with a level; the medium and the settings must be equal, unless these are the
/// factor.
fn runs<'a>(
    records: &'a [Record],
    by: ComparedBy,
    left_out: &mut Vec<String>,
) -> Vec<LevelRun<'a>> {
    let mut media = groups(records);
    naming::namesakes(&mut media);
    let mut usable: Vec<&Record> = Vec::new();
    for record in distinct(records) {
        match crate::figures::usability::of_run(record) {
            Some(why) => left_out.push(format!("{}: {why}", record.run.id)),
            None => usable.push(record),
        }
    }
    let settings = ComparedBy::Setting.levels(&usable);
    let mut runs = Vec::new();
    for ((record, level), setting) in usable.iter().zip(by.levels(&usable)).zip(settings) {
        let Some(level) = level else {
            left_out.push(format!("{}: the record does not say {}", record.run.id, by.words()));
            continue;
        };
        let own = identity(&record.medium);
        let medium = media.iter().find(|group| identity(&group.records[0].medium) == own);
        let mut others = vec![("the medium", medium.map_or(own, |group| group.name.clone()))];
        if by != ComparedBy::Setting {
            others.push(("the setting", setting.unwrap_or_else(unknown)));
        }
        runs.push(LevelRun { record, level, others });
    }
    runs
}

fn unknown() -> String {
    "not known".to_owned()
}

/// Adds the facts that must be equal to each run. Those that the factor brings with it and that are
/// the same in all equal runs of a level are counted with it, and returned if they differ.
fn count_with(runs: &mut [LevelRun], by: ComparedBy) -> Vec<&'static str> {
    // Figures are compared at equal settings, whatever suite they are part of.
    let facts = facts().filter(|fact| fact.name != "the suite");
    let (brought, others): (Vec<_>, Vec<_>) = facts.partition(|fact| by.brings(fact.name));
    let mut with = Vec::new();
    for fact in others.into_iter().chain(brought) {
        let values: Vec<String> =
            runs.iter().map(|run| (fact.of)(run.record).unwrap_or_else(unknown)).collect();
        let all = || runs.iter().zip(&values);
        let follows = by.brings(fact.name)
            && all().all(|(a, of_a)| {
                all().all(|(b, of_b)| of_a == of_b || a.level != b.level || a.others != b.others)
            });
        if !follows {
            runs.iter_mut().zip(values).for_each(|(run, value)| {
                run.others.push((fact.name, value));
            });
        } else if values.iter().any(|value| *value != values[0])
            && all().any(|(run, value)| run.level != *value)
        {
            with.push(fact.name);
        }
    }
    with
}

/// The ratios of a level to the first, or the reason why there are none.
fn against(
    runs: &[LevelRun],
    by: ComparedBy,
    first: &str,
    level: &str,
) -> Result<Vec<LevelFigure>, String> {
    let at = |wanted: &str, others: &[(&str, String)]| -> Vec<&Record> {
        let equal = runs.iter().filter(|run| run.level == wanted && run.others == others);
        equal.map(|run| run.record).collect()
    };
    let mut shared: Vec<&[(&str, String)]> = Vec::new();
    for run in runs.iter().filter(|run| run.level == first) {
        if !shared.contains(&&run.others[..]) && !at(level, &run.others).is_empty() {
            shared.push(&run.others);
        }
    }
    if shared.is_empty() {
        return Err(unequal(runs, first, level));
    }
    let mut figures = Vec::new();
    for others in &shared {
        let differing = others
            .iter()
            .enumerate()
            .filter(|(nth, of)| shared.iter().any(|other| other[*nth] != **of));
        let of: Vec<&str> = differing.map(|(_, (_, value))| &**value).collect();
        for (test, block_bytes, found) in ratios(&at(level, others), &at(first, others)) {
            let (level, of) = (level.to_owned(), of.join(", "));
            figures.push(LevelFigure { test, block_bytes, level, of, found });
        }
    }
    if figures.is_empty() {
        let bare = by.words().trim_start_matches("the ");
        return Err(format!(
            "no figure that may be used was measured with {bare} {first} and {level}"
        ));
    }
    Ok(figures)
}

/// Ratios of the figures that both have. What a page cache of the host answered is no figure.
fn ratios(over: &[&Record], under: &[&Record]) -> Vec<(String, u64, MediaRatio)> {
    let of_work = |(test, metric): &(&'static str, &'static str)| {
        let all = over.iter().chain(under);
        let sizes: BTreeSet<u64> = all.flat_map(|record| block_sizes(record, test)).collect();
        let of_size = |size: u64| {
            let rate = |record: &&Record| {
                let cell = figure::usable_standard_cell(record, test, size)?;
                let figure = UsableEstimate::of(cell, metric).filter(|_| !is_cached(record, cell));
                Some(figure?.run_rate())
            };
            let [over, under] =
                [over, under].map(|all| all.iter().filter_map(rate).collect::<Vec<_>>());
            Some((test.to_string(), size, MediaRatio::of(&over, &under)?))
        };
        sizes.into_iter().filter_map(of_size).collect::<Vec<_>>()
    };
    WORK.iter().flat_map(of_work).collect()
}

fn is_cached(record: &Record, cell: &Cell) -> bool {
    cell.flags.contains(&Flag::HostCached)
        || record.flags.contains(&Flag::HostCached)
        || crate::figures::usability::host_stalled(cell).is_some()
}

/// "no run with laptop equals one with Pi in everything else: the medium differs (a; b)", of the
/// two runs that differ least.
fn unequal(runs: &[LevelRun], first: &str, level: &str) -> String {
    let of = |level: &str| runs.iter().filter(|run| run.level == level).collect::<Vec<_>>();
    let (firsts, others) = (of(first), of(level));
    let differing = |(a, b): (&LevelRun, &LevelRun)| -> Vec<String> {
        let all = a.others.iter().zip(&b.others).filter(|(a, b)| a != b);
        all.map(|((name, a), (_, b))| format!("{name} differs ({a}; {b})")).collect()
    };
    let pairs = firsts.iter().flat_map(|a| others.iter().map(move |b| (*a, *b)));
    let least = pairs.map(differing).min_by_key(Vec::len).unwrap_or_default();
    format!("no run with {level} equals one with {first} in everything else: {}", least.join(", "))
}
