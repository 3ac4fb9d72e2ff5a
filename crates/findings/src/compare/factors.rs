//! Factors of an experiment: the medium, and all changed properties of the host and of the path to
//! the medium.

use record::{MediumKind, Record};
use serde::Serialize;

use super::groups::groups;
use super::hosts::{CONDITIONS, Fact};
use super::naming;

/// A property in which runs differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentFactor {
    /// "the card", "the reader", "the host (reader, board, kernel)".
    pub name: String,
    /// Levels, in the order of the runs.
    pub levels: Vec<String>,
    /// Facts that change with it; their effects are counted as part of its effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<String>,
    /// Index of the level of each run.
    #[serde(skip)]
    pub(super) of_run: Vec<usize>,
}

/// Facts that a person sets or chooses come first. The others follow from these and from the
/// medium, unless they differ while all of those are the same.
const CHOSEN: [&str; 6] = [
    "the reader",
    "the board",
    "the kernel",
    "the scheduler",
    "the read-ahead",
    "the frequency governor",
];

/// Distinct levels, and the index of the level of each run.
fn levels_of(values: &[String]) -> (Vec<String>, Vec<usize>) {
    let mut levels: Vec<String> = Vec::new();
    let of_run = values
        .iter()
        .map(|value| {
            levels.iter().position(|known| known == value).unwrap_or_else(|| {
                levels.push(value.clone());
                levels.len() - 1
            })
        })
        .collect();
    (levels, of_run)
}

/// All factors with at least two levels, the medium first.
pub(super) fn factors(records: &[&Record]) -> Vec<ExperimentFactor> {
    let medium = medium(records);
    let of_fact = |fact: &Fact| of_fact(records, fact);
    let (chosen, others): (Vec<&Fact>, Vec<&Fact>) =
        CONDITIONS.iter().partition(|fact| CHOSEN.contains(&fact.name));
    let mut host: Vec<ExperimentFactor> = Vec::new();
    for fact in chosen {
        host.extend(of_fact(fact).filter(|factor| factor.levels.len() > 1));
    }
    for factor in others.into_iter().filter_map(of_fact) {
        let before: Vec<&ExperimentFactor> = std::iter::once(&medium).chain(&host).collect();
        if !follows(&factor, &before) {
            host.push(factor);
        }
    }
    let host = merged(host);
    std::iter::once(medium).chain(host).filter(|factor| factor.levels.len() > 1).collect()
}

fn of_fact(records: &[&Record], fact: &Fact) -> Option<ExperimentFactor> {
    let value = |record: &&Record| (fact.of)(record).unwrap_or_else(|| "not known".into());
    let is_known = records.iter().filter(|record| (fact.of)(record).is_some()).count() > 1;
    is_known.then(|| factor(fact.name.to_owned(), &records.iter().map(value).collect::<Vec<_>>()))
}

fn medium(records: &[&Record]) -> ExperimentFactor {
    factor(of_media(records), &media(records))
}

/// The medium and a factor with these levels, then properties that differ while both are the same.
pub(super) fn factors_by(
    records: &[&Record],
    name: &str,
    levels: &[String],
) -> Vec<ExperimentFactor> {
    let mut found = vec![medium(records), factor(name.to_owned(), levels)];
    for fact in CONDITIONS.iter().filter_map(|fact| of_fact(records, fact)) {
        let is_same = fact.name == name || (name == "the host" && fact.name == "the board");
        let is_other = fact.levels.len() > 1 && !is_same;
        if let Some(of) = [1, 0].into_iter().find(|of| is_other && follows(&fact, &[&found[*of]])) {
            found[of].with.push(fact.name);
        } else if is_other && !follows(&fact, &found.iter().collect::<Vec<_>>()) {
            found.push(fact);
        }
    }
    found
}

fn factor(name: String, values: &[String]) -> ExperimentFactor {
    let (levels, of_run) = levels_of(values);
    ExperimentFactor { name, levels, with: Vec::new(), of_run }
}

/// True if runs that agree in all of these factors also agree in this one.
fn follows(factor: &ExperimentFactor, before: &[&ExperimentFactor]) -> bool {
    let key = |run: usize| before.iter().map(|of| of.of_run[run]).collect::<Vec<_>>();
    let runs = factor.of_run.len();
    (0..runs).all(|a| (0..a).all(|b| key(a) != key(b) || factor.of_run[a] == factor.of_run[b]))
}

/// Joins factors that determine each other: their effects cannot be separated.
fn merged(mut host: Vec<ExperimentFactor>) -> Vec<ExperimentFactor> {
    let mut kept: Vec<(ExperimentFactor, Vec<String>)> = Vec::new();
    // Of two equal factors the first stays; the finer one comes before those that it determines.
    host.sort_by_key(|factor| std::cmp::Reverse(factor.levels.len()));
    for factor in host {
        match kept.iter_mut().find(|(of, _)| follows(&factor, &[of])) {
            Some((_, with)) => with.push(factor.name),
            None => kept.push((factor, Vec::new())),
        }
    }
    let named = |(factor, with): (ExperimentFactor, Vec<String>)| {
        let bare = |name: &String| name.trim_start_matches("the ").to_owned();
        let all: Vec<String> = std::iter::once(&factor.name).chain(&with).map(bare).collect();
        let name =
            if with.is_empty() { factor.name } else { format!("the host ({})", all.join(", ")) };
        ExperimentFactor { name, ..factor }
    };
    kept.into_iter().map(named).collect()
}

/// Reason why the effects of a medium and a factor cannot be separated, from the levels of both in
/// each run.
pub(super) fn unsplit(medium: &ExperimentFactor, by: &ExperimentFactor) -> Option<String> {
    let (medium_name, name) = (&medium.name, &by.name);
    let bare = name.trim_start_matches("the ");
    match (&medium.levels[..], &by.levels[..]) {
        ([], _) => return Some(format!("no record says {name}")),
        ([only], _) => {
            return Some(format!(
                "all runs are of one medium ({only}); {name} alone is compared without --by"
            ));
        }
        (_, [only]) => return Some(format!("all runs have the same {bare} ({only})")),
        _ => {}
    }
    let groups = connected(medium, by);
    if groups.len() < 2 {
        return None;
    }
    let bare_medium = medium_name.trim_start_matches("the ");
    let group_text = |(media, levels): &(Vec<usize>, Vec<usize>)| {
        let join = |all: &[usize], of: &ExperimentFactor| {
            all.iter().map(|at| of.levels[*at].as_str()).collect::<Vec<_>>().join(" and ")
        };
        format!("{} with {}", join(media, medium), join(levels, by))
    };
    let group_text: Vec<String> = groups.iter().map(group_text).collect();
    Some(format!(
        "the runs fall into {} groups that have neither a {bare_medium} nor a {bare} in common ({}), so a difference between groups may come from either. Measure a {bare_medium} of each group with the {bare} of another",
        groups.len(),
        group_text.join("; ")
    ))
}

/// Sets of media and levels that are connected by common runs.
fn connected(medium: &ExperimentFactor, by: &ExperimentFactor) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut groups: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    for (medium, level) in medium.of_run.iter().zip(&by.of_run) {
        let (touched, mut rest): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|(media, levels)| media.contains(medium) || levels.contains(level));
        let mut whole = (vec![*medium], vec![*level]);
        for (media, levels) in touched {
            whole.0.extend(media);
            whole.1.extend(levels);
        }
        for part in [&mut whole.0, &mut whole.1] {
            part.sort_unstable();
            part.dedup();
        }
        rest.push(whole);
        groups = rest;
    }
    groups
}

/// Name of the medium of each run.
fn media(records: &[&Record]) -> Vec<String> {
    let owned: Vec<Record> = records.iter().enumerate().map(bare).collect();
    let mut media = groups(&owned);
    naming::namesakes(&mut media);
    let is_of = |record: &Record| {
        media.iter().find(|group| group.records.iter().any(|it| it.run.id == record.run.id))
    };
    owned.iter().map(|record| is_of(record).map_or(String::new(), |of| of.name.clone())).collect()
}

/// The identifying part of a record, without results; named by its index, as ids may be equal.
fn bare((at, record): (usize, &&Record)) -> Record {
    let mut bare = Record::new(record::Run { id: at.to_string(), ..record::Run::default() });
    (bare.medium, bare.target, bare.host) =
        (record.medium.clone(), record.target.clone(), record.host.clone());
    bare
}

/// "the card" if all media are cards.
fn of_media(records: &[&Record]) -> String {
    let is_card = |record: &&Record| {
        record.medium.kind == MediumKind::Sd || record.medium.behind_reader == Some(true)
    };
    if records.iter().all(is_card) { "the card" } else { "the medium" }.to_owned()
}
