//! Names for runs of one medium: the property in which they differ (the reader, the kernel, a
//! setting) is clearer than the typed names.

use std::collections::BTreeSet;

use record::Record;

use super::by::ComparedBy;
use super::groups::RunGroup;
use super::hosts::{CONDITIONS, Fact, facts, named, values};

/// Most letters in the head of a column.
const ROOM: usize = 14;

/// Names each group by the first fact, or else the first two facts, that distinguish all of them;
/// groups that cannot be distinguished keep their names.
pub(super) fn by_what_differs(groups: &mut [RunGroup]) {
    let Some((names, heads)) = distinguishing_names(groups) else { return };
    for ((group, name), head) in groups.iter_mut().zip(names).zip(heads) {
        group.typed = Some(std::mem::replace(&mut group.name, name));
        group.head = Some(head);
    }
}

/// Adds a difference, or else a letter, to media with the same name. A reader gives its own name
/// for all cards in it.
pub(super) fn namesakes(groups: &mut [RunGroup]) {
    let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
    let mut done: Vec<&String> = Vec::new();
    for name in &names {
        let same: Vec<usize> = (0..names.len()).filter(|at| names[*at] == *name).collect();
        if same.len() < 2 || done.contains(&name) {
            continue;
        }
        done.push(name);
        let alike: Vec<RunGroup> = same
            .iter()
            .map(|at| RunGroup::new(name.clone(), groups[*at].records.clone()))
            .collect();
        let run_names = distinguishing_names(&alike).map(|(run_names, _)| run_names);
        let run_names = run_names.unwrap_or_else(|| same.iter().map(|at| letters(*at)).collect());
        for (at, what) in same.into_iter().zip(run_names) {
            groups[at].name = format!("{name} ({what})");
        }
    }
}

/// Splits media into groups of runs under the same conditions, named by the medium and its
/// conditions.
pub(super) fn by_host(mut media: Vec<RunGroup>) -> Vec<RunGroup> {
    namesakes(&mut media);
    media.into_iter().flat_map(split).collect()
}

fn split(group: RunGroup) -> Vec<RunGroup> {
    let differs = |fact: &&Fact| {
        let known: BTreeSet<String> =
            group.records.iter().filter_map(|record| (fact.of)(record)).collect();
        known.len() > 1
    };
    let facts: Vec<&Fact> = CONDITIONS.iter().filter(differs).collect();
    let key = |record: &Record| facts.iter().map(|fact| (fact.of)(record)).collect::<Vec<_>>();
    let mut parts: Vec<RunGroup> = Vec::new();
    for record in &group.records {
        match parts.iter_mut().find(|part| key(part.records[0]) == key(record)) {
            Some(part) => part.records.push(record),
            None => parts.push(RunGroup::new(group.name.clone(), vec![record])),
        }
    }
    namesakes(&mut parts);
    parts
}

/// Splits media into groups of runs with the same level of a factor, named by the medium and the
/// level.
pub(super) fn by_level(mut media: Vec<RunGroup>, by: ComparedBy) -> Vec<RunGroup> {
    namesakes(&mut media);
    let all: Vec<&Record> = media.iter().flat_map(|group| group.records.clone()).collect();
    let mut levels = by.levels(&all).into_iter();
    let mut parts: Vec<RunGroup> = Vec::new();
    for group in media {
        for (record, level) in group.records.into_iter().zip(levels.by_ref()) {
            let level =
                level.map_or_else(|| format!("{} not known", by.words()), |it| by.named(&it));
            let name = format!("{} ({level})", group.name);
            match parts.iter_mut().find(|part| part.name == name) {
                Some(part) => part.records.push(record),
                None => parts.push(RunGroup::new(name, vec![record])),
            }
        }
    }
    parts
}

/// A to Z, then AA, AB and so on, as the columns of a table.
pub fn letters(at: usize) -> String {
    let last = char::from(b'A' + (at % 26) as u8);
    if at < 26 { last.to_string() } else { format!("{}{last}", letters(at / 26 - 1)) }
}

/// A distinct name and a head of a column for each group; `None` if nothing distinguishes them.
fn distinguishing_names(groups: &[RunGroup]) -> Option<(Vec<String>, Vec<String>)> {
    let single = facts().find_map(|fact| by_fact(groups, &[fact]));
    single.or_else(|| {
        let pairs = facts()
            .enumerate()
            .flat_map(|(at, first)| facts().skip(at + 1).map(move |second| [first, second]));
        pairs.into_iter().find_map(|pair| by_fact(groups, &pair))
    })
}

fn by_fact(groups: &[RunGroup], facts: &[&Fact]) -> Option<(Vec<String>, Vec<String>)> {
    let each = |run_names: &dyn Fn(&Fact, &RunGroup) -> Option<String>| -> Option<Vec<String>> {
        let of_group = |group: &RunGroup| -> Option<String> {
            let run_names: Option<Vec<String>> =
                facts.iter().map(|fact| run_names(fact, group)).collect();
            run_names.map(|run_names| run_names.join(", "))
        };
        groups.iter().map(of_group).collect()
    };
    let names = each(&|fact, group| Some(named(fact, &only(values(group, fact.of))?)))?;
    if !are_distinct(&names) {
        return None;
    }
    let short = each(&|fact, group| only(values(group, fact.short)));
    let cut: Vec<String> = short.unwrap_or_default().iter().map(|name| cut(name)).collect();
    let letters = || (0..groups.len()).map(letters).collect();
    let heads = if are_distinct(&cut) { cut } else { letters() };
    Some((names, heads))
}

fn only(values: Vec<String>) -> Option<String> {
    <[String; 1]>::try_from(values).ok().map(|[value]| value)
}

fn are_distinct(names: &[String]) -> bool {
    names.len() > 1 && names.iter().enumerate().all(|(at, name)| !names[..at].contains(name))
}

/// A name shortened to the width of a head.
fn cut(name: &str) -> String {
    if name.chars().count() <= ROOM {
        return name.to_owned();
    }
    name.chars().take(ROOM - 1).collect::<String>().trim_end().to_owned() + "\u{2026}"
}
