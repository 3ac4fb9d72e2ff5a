//! From a journal to the record so far.

use std::collections::HashMap;

use record::{Cell, Ended, Fingerprint, Flag, Host, Mark, Record, SCHEMA, Software, Temperature};

use crate::journal::{Contents, Ending, Entry, Opening, Resumed};

/// What a journal amounts to.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The record so far, without findings.
    ///
    /// Cells stand in the order in which their ids first appeared; of several with one id the last counts (a cell that was
    /// repeated after an interruption). A run whose journal does not say how it ended is `Interrupted`: its process was killed, or
    /// it would have said so. Its `elapsed_ns` is then what it had at its last ending plus the measured parts of the cells since.
    /// The host is the one on which the run began; a resumption on another one, or by another version, is a flag.
    pub record: Record,
    /// The caller's own part of the opening.
    pub command: serde_json::Value,
    /// By what the medium is known again.
    pub traces: Traces,
    /// Whether the last line was incomplete. It was never acknowledged, and is cut off when the journal is continued.
    pub torn_tail: bool,
}

/// What the journal says of how the medium looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traces {
    /// As it was before the run wrote anything; none in journals of earlier versions.
    pub fingerprint: Option<Fingerprint>,
    /// What was read where the run had written, in the order of reading: of one place the last counts.
    pub marks: Vec<Mark>,
    /// Ids of the writing cells that were begun, in order. One that has no finished cell behind it was cut short.
    pub begun: Vec<String>,
}

impl Replayed {
    /// The cells that need not be repeated: those that were neither interrupted nor ended by an error.
    pub fn finished_cells(&self) -> impl Iterator<Item = &Cell> {
        self.record.cells.iter().filter(|cell| !cell.stop.cut_short())
    }
}

/// Builds the record so far.
pub(crate) fn replay(contents: Contents<Opening, Entry>) -> Replayed {
    let Opening { run, medium, host, target, plan, skipped, flags, command, fingerprint } = contents.opening;
    let schema = SCHEMA.to_owned();
    let mut record = Record { schema, run, medium, host, target, plan, cells: Vec::new(), skipped, flags, findings: Vec::new() };
    record.run.ended = Ended::Interrupted;
    let mut traces = Traces { fingerprint, marks: Vec::new(), begun: Vec::new() };
    let mut place_of = HashMap::new();
    for entry in contents.entries {
        match entry {
            Entry::Cell(cell) => {
                record.run.elapsed_ns = record.run.elapsed_ns.saturating_add(cell.elapsed_ns);
                let place = *place_of.entry(cell.id.clone()).or_insert(record.cells.len());
                match record.cells.get_mut(place) {
                    Some(earlier) => *earlier = *cell,
                    None => record.cells.push(*cell),
                }
            }
            Entry::Skip(skip) => add_once(&mut record.skipped, skip),
            Entry::Flag(flag) => add_once(&mut record.flags, flag),
            Entry::Resumed(resumed) => take_up_again(&mut record, &resumed),
            Entry::Ended(ending) => end(&mut record, ending),
            Entry::Begun(cell) => traces.begun.push(cell),
            Entry::Marked(marks) => traces.marks.extend(marks),
        }
    }
    Replayed { record, command, traces, torn_tail: contents.torn_tail }
}

/// A resumed run finds again what it had found before.
fn add_once<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn take_up_again(record: &mut Record, resumed: &Resumed) {
    record.run.resumed = record.run.resumed.saturating_add(1);
    record.run.ended = Ended::Interrupted;
    record.run.finished = None;
    let changes = [software_change(&record.run.software, &resumed.software), host_change(record.host.as_ref(), resumed.host.as_ref())];
    for text in changes.into_iter().flatten() {
        add_once(&mut record.flags, Flag::Note { text });
    }
}

fn software_change(begun: &Software, now: &Software) -> Option<String> {
    let version = |software: &Software| match &software.commit {
        Some(commit) => format!("{} {} ({commit})", software.name, software.version),
        None => format!("{} {}", software.name, software.version),
    };
    (begun != now).then(|| format!("begun with {}, resumed with {}", version(begun), version(now)))
}

/// What of the machine would change the numbers and is not the same.
fn host_change(begun: Option<&Host>, now: Option<&Host>) -> Option<String> {
    let (begun, now) = (begun?, now?);
    let facts = [
        ("kernel", &begun.kernel, &now.kernel),
        ("board", &begun.board, &now.board),
        ("processor", &begun.cpu, &now.cpu),
        ("governor", &begun.governor, &now.governor),
    ];
    let known = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "not known".to_owned());
    let changed = facts.into_iter().filter(|(_, before, after)| before != after);
    let texts: Vec<_> = changed.map(|(name, before, after)| format!("{name} '{}', then '{}'", known(before), known(after))).collect();
    (!texts.is_empty()).then(|| format!("resumed on a changed host: {}", texts.join("; ")))
}

fn end(record: &mut Record, ending: Ending) {
    let Ending { ended, finished, elapsed_ns, temperatures, health } = ending;
    record.run.ended = ended;
    record.run.finished = finished;
    record.run.elapsed_ns = elapsed_ns;
    record.medium.health_after = health.or(record.medium.health_after.take());
    if let Some(host) = &mut record.host {
        temperatures.into_iter().for_each(|reading| take_end_temperature(&mut host.temperatures, reading));
    }
}

fn take_end_temperature(known: &mut Vec<Temperature>, reading: Temperature) {
    match known.iter_mut().find(|temperature| temperature.sensor == reading.sensor) {
        Some(temperature) => temperature.end_celsius = reading.end_celsius,
        None => known.push(reading),
    }
}
