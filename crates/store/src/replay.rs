//! Replay of a journal to the record so far.

use std::collections::HashMap;

use record::{
    Cell, Ended, Ending, Fingerprint, FingerprintMark, Flag, Host, JournalEntry, Opening, Record,
    Resumed, SCHEMA, Software, Temperature,
};

use crate::reading::{JournalContents, Unread};

/// Result of replaying a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The record so far, without findings.
    ///
    /// Cells are in the order in which their ids first appeared; of several with one id the last
    /// counts (a cell that was repeated after an interruption). A run whose journal has no ending
    /// is `Interrupted`: its process was killed before it wrote one. Its `elapsed_ns` is then that
    /// of its last ending plus the measured parts of the cells since. The host is the one on which
    /// the run began; a resumption on another host, or by another version, is a flag.
    pub record: Record,
    /// The caller's own part of the opening.
    pub command: serde_json::Value,
    /// Content by which the medium is recognised.
    pub traces: JournalFingerprints,
    /// Lines of the journal that are not used. None of it is a caveat about the numbers: each comes
    /// from a line that passed its checksum.
    pub unread: Option<Unread>,
}

/// Content of the medium as the journal describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JournalFingerprints {
    /// Content before the run wrote anything; `None` where there is no raw medium.
    pub fingerprint: Option<Fingerprint>,
    /// Content of places that the run had written, in the order of reading: for each place the last
    /// counts.
    pub marks: Vec<FingerprintMark>,
    /// For each of the marks, the number of writing cells that had begun when it was read: a mark
    /// shows what those wrote.
    pub marked_after: Vec<usize>,
    /// Ids of the writing cells that had begun, in order. One without a finished cell was cut
    /// short.
    pub begun: Vec<String>,
}

impl Replayed {
    /// Cells that need not be repeated: those that were neither interrupted nor ended by an error.
    pub fn finished_cells(&self) -> impl Iterator<Item = &Cell> {
        self.record.cells.iter().filter(|cell| !cell.stop.cut_short())
    }
}

/// Builds the record so far.
pub(crate) fn replay(contents: JournalContents<JournalEntry>) -> Replayed {
    let Opening { run, medium, host, target, plan, skipped, flags, command, fingerprint } =
        contents.opening;
    let schema = SCHEMA.to_owned();
    let mut record = Record {
        schema,
        run,
        medium,
        host,
        target,
        plan,
        cells: Vec::new(),
        skipped,
        flags,
        findings: Vec::new(),
        summary: None,
    };
    record.run.ended = Ended::Interrupted;
    let mut traces = JournalFingerprints { fingerprint, ..JournalFingerprints::default() };
    let mut place_of = HashMap::new();
    for entry in contents.entries {
        match entry {
            JournalEntry::Cell(cell) => {
                let place = *place_of.entry(cell.id.clone()).or_insert(record.cells.len());
                match record.cells.get_mut(place) {
                    Some(earlier) => {
                        // The time of a revised cell includes that of its earlier results.
                        let before_ns =
                            if earlier.stop.cut_short() { 0 } else { earlier.elapsed_ns };
                        let more_ns = cell.elapsed_ns.saturating_sub(before_ns);
                        record.run.elapsed_ns = record.run.elapsed_ns.saturating_add(more_ns);
                        *earlier = *cell;
                    }
                    None => {
                        record.run.elapsed_ns =
                            record.run.elapsed_ns.saturating_add(cell.elapsed_ns);
                        record.cells.push(*cell);
                    }
                }
            }
            JournalEntry::Skip(skip) => add_once(&mut record.skipped, skip),
            JournalEntry::Flag(flag) => add_once(&mut record.flags, flag),
            JournalEntry::Resumed(resumed) => take_up_again(&mut record, &resumed),
            JournalEntry::Ended(ending) => end(&mut record, ending),
            JournalEntry::Begun(cell) => traces.begun.push(cell),
            JournalEntry::Marked(marks) => {
                traces.marked_after.extend(std::iter::repeat_n(traces.begun.len(), marks.len()));
                traces.marks.extend(marks);
            }
        }
    }
    let mut unread = contents.unread;
    if let Some(unread) = &mut unread {
        unread.cells.retain(|id| is_unfinished(&record, id));
    }
    Replayed { record, command, traces, unread }
}

/// True if a planned cell has to be measured.
fn is_unfinished(record: &Record, id: &str) -> bool {
    record.plan.iter().any(|planned| planned.id == id)
        && !record.cells.iter().any(|cell| cell.id == id && !cell.stop.cut_short())
}

/// Adds an item unless the list has it: a resumed run finds again what it had found before.
fn add_once<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn take_up_again(record: &mut Record, resumed: &Resumed) {
    record.run.resumed = record.run.resumed.saturating_add(1);
    record.run.ended = Ended::Interrupted;
    record.run.finished = None;
    let changes = [
        software_change(&record.run.software, &resumed.software),
        host_change(record.host.as_ref(), resumed.host.as_ref()),
    ];
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

/// Text about changes of the host between the two sessions that affect the numbers; `None` without
/// any.
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
    let texts: Vec<_> = changed
        .map(|(name, before, after)| format!("{name} '{}', then '{}'", known(before), known(after)))
        .collect();
    (!texts.is_empty()).then(|| format!("resumed on a changed host: {}", texts.join("; ")))
}

fn end(record: &mut Record, ending: Ending) {
    let Ending { ended, finished, elapsed_ns, temperatures, health } = ending;
    record.run.ended = ended;
    record.run.finished = finished;
    record.run.elapsed_ns = elapsed_ns;
    record.medium.health_after = health.or(record.medium.health_after.take());
    if let Some(host) = &mut record.host {
        temperatures
            .into_iter()
            .for_each(|reading| take_end_temperature(&mut host.temperatures, reading));
    }
}

fn take_end_temperature(known: &mut Vec<Temperature>, reading: Temperature) {
    match known.iter_mut().find(|temperature| temperature.sensor == reading.sensor) {
        Some(temperature) => temperature.end_celsius = reading.end_celsius,
        None => known.push(reading),
    }
}
