//! Groups of runs of one medium, and their names.

use record::{Finding, Medium, Outcome, Record};

use crate::figures::figure;

/// A medium with its records.
pub(super) struct RunGroup<'a> {
    pub name: String,
    /// A short name for the head of a column, if `name` consists of differences.
    pub head: Option<String>,
    /// Name typed by the user, if it differs.
    pub typed: Option<String>,
    pub records: Vec<&'a Record>,
}

impl<'a> RunGroup<'a> {
    pub fn new(name: String, records: Vec<&'a Record>) -> RunGroup<'a> {
        RunGroup { name, head: None, typed: None, records }
    }

    /// The verdict of a run that found a fake, lost data or failures.
    pub fn fault(&self) -> Option<String> {
        self.records.iter().find_map(|record| fault(record))
    }
}

fn fault(record: &Record) -> Option<String> {
    let is_unusable = |finding: &Finding| matches!(finding.outcome, Some(Outcome::Unusable { .. }));
    crate::conclude::conclude(record).into_iter().find(is_unusable).map(|verdict| verdict.statement)
}

/// The records without copies: a copy of a run is not a repeat.
pub(super) fn distinct(records: &[Record]) -> Vec<&Record> {
    let mut kept: Vec<&Record> = Vec::new();
    for record in records {
        if !kept.iter().any(|known| is_copy(known, record)) {
            kept.push(record);
        }
    }
    kept
}

/// True for a copy of a run: all its cells are identical.
fn is_copy(one: &Record, other: &Record) -> bool {
    !one.cells.is_empty()
        && one.cells == other.cells
        && identity(&one.medium) == identity(&other.medium)
}

pub(super) fn groups(records: &[Record]) -> Vec<RunGroup<'_>> {
    let mut keyed: Vec<(String, RunGroup)> = Vec::new();
    for record in distinct(records) {
        let key = identity(&record.medium);
        match keyed.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.records.push(record),
            None => keyed.push((key, RunGroup::new(name(&record.medium), vec![record]))),
        }
    }
    keyed.into_iter().map(|(_, group)| group).collect()
}

/// Key of the medium: two runs with the same key are of one medium.
pub(super) fn identity(medium: &Medium) -> String {
    let own = medium.serial.clone().or_else(|| medium.cid.clone()).unwrap_or_default();
    format!(
        "{own}|{:?}|{:?}|{:?}|{:?}",
        medium.profile, medium.vendor, medium.model, medium.capacity_bytes
    )
}

fn name(medium: &Medium) -> String {
    let words: Vec<&str> = [medium.vendor.as_deref(), medium.model.as_deref()]
        .into_iter()
        .flatten()
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        medium
            .capacity_bytes
            .map_or("a medium".into(), |bytes| format!("a medium of {}", figure::size(bytes)))
    } else {
        words.join(" ")
    }
}

/// The record with the user's name for its medium: behind a reader the record only names the
/// reader. Runs with the same name and capacity are then of one medium.
pub fn with_medium_named(mut record: Record, name: &str) -> Record {
    let medium = &mut record.medium;
    (medium.vendor, medium.model) = (None, Some(name.to_owned()));
    (medium.serial, medium.cid, medium.profile) = (None, None, None);
    record
}
