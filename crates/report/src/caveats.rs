//! Information that a reader needs before trusting the numbers: how the run ended, caveats, errors,
//! and left-out tests.

use std::collections::BTreeMap;

use record::text::{capitalised, printable};
use record::units::Nanos;
use record::{Cell, Ended, Flag, Outcome, PlannedCell, Record, SLOW_NS, Skip, Stop};

use crate::{figure, words};

/// Sentence on an incomplete run: how it ended, and how many cells are done.
pub fn state(record: &Record) -> Option<String> {
    let done = record.cells.iter().filter(|cell| cell.stop != Stop::Interrupted).count();
    let planned = record.plan.len().max(done);
    let progress = format!("{done} of {planned} planned cells are done");
    match record.run.ended {
        Ended::Complete if done == 0 => Some("Nothing was measured.".to_owned()),
        Ended::Complete => None,
        // A published run has neither its plan nor how it ended, and was sent after its end.
        Ended::Running if done > 0 && record.plan.is_empty() => None,
        Ended::Running if done == 0 => {
            Some("Nothing measured yet: the run has started and no cell is done.".to_owned())
        }
        Ended::Running => Some(format!("The run is not finished: {progress}.")),
        Ended::Interrupted => {
            Some(format!("The run was interrupted: {progress}; it can be resumed."))
        }
        Ended::Error => match first_error(record) {
            error if error.is_empty() => {
                Some(format!("The run stopped: {progress}; it can be resumed."))
            }
            _ if has_gone(record) => Some(format!(
                "The device went away: it was unplugged, or its reader or its port reset it. {}. \
                 Try another reader, port or cable.",
                capitalised(&progress)
            )),
            error => Some(format!("The medium failed: {progress}.{error}")),
        },
    }
}

/// True if a run ended because its device was removed, which says nothing about the medium.
fn has_gone(record: &Record) -> bool {
    record.findings.iter().any(|finding| finding.outcome == Some(Outcome::DeviceGone))
}

/// " random write 4 KiB: input/output error at byte 512.", or empty.
fn first_error(record: &Record) -> String {
    let failed = record.cells.iter().find(|cell| cell.stop == Stop::Error);
    failed
        .map(|cell| {
            format!(" {}: {}.", capitalised(&words::cell(cell)), error(cell).trim_end_matches('.'))
        })
        .unwrap_or_default()
}

/// The reason why a cell failed, in words.
pub(crate) fn error(cell: &Cell) -> String {
    cell.reason.as_deref().map(printable).unwrap_or_else(|| "no reason was recorded".to_owned())
}

/// A caveat with the cells that it concerns (none: the whole run).
pub struct RecordCaveat {
    /// The cells in words: "random write 4 KiB", or "random read (7 cells)".
    pub about: String,
    /// Observation and advice.
    pub text: String,
    /// True if numbers were withheld because of it, or a cell failed.
    pub severe: bool,
    /// Ids of those cells.
    pub cells: Vec<String>,
}

impl RecordCaveat {
    /// A caveat of the whole run.
    pub fn of_run(text: String) -> RecordCaveat {
        RecordCaveat { about: String::new(), text, severe: false, cells: Vec::new() }
    }

    /// True if it concerns every figure: a caveat of the run, or a reason for withholding numbers.
    pub fn is_of_all(&self) -> bool {
        self.severe || self.about.is_empty()
    }

    /// "random write 4 KiB: not converged: .."; without a cell name for the whole run.
    pub fn full_text(&self) -> String {
        if self.about.is_empty() {
            self.text.clone()
        } else {
            format!("{}: {}", self.about, self.text)
        }
    }
}

/// Errors and impossible numbers first, then the run's own flags, then the cells', one line for
/// each kind and test.
pub fn of_record(record: &Record) -> Vec<RecordCaveat> {
    let mut lines = Vec::new();
    for cell in record.cells.iter().filter(|cell| cell.stop == Stop::Error) {
        lines.push(RecordCaveat {
            about: words::cell(cell),
            text: format!("stopped by an error: {}", error(cell)),
            severe: true,
            cells: vec![cell.id.clone()],
        });
    }
    lines.extend(grouped(record, |cell| figure::impossible_flags(cell).collect()));
    let of_run = record.flags.iter().filter(|flag| !matches!(flag, Flag::Waited(_)));
    lines.extend(of_run.map(|flag| RecordCaveat {
        severe: flag.is_impossible(),
        ..RecordCaveat::of_run(words::caveat(flag))
    }));
    lines.extend(waits(record).map(RecordCaveat::of_run));
    lines.extend(grouped(record, |cell| {
        figure::caveats(cell).filter(|flag| !flag.is_impossible()).collect()
    }));
    lines
}

/// All long waits in one line, with the longest.
fn waits(record: &Record) -> Option<String> {
    let waits = record.flags.iter().filter_map(|flag| match flag {
        Flag::Waited(wait) => Some(wait),
        _ => None,
    });
    let longest = waits.clone().max_by_key(|wait| wait.silent_ns)?;
    Some(match waits.count() {
        1 => format!("one long wait: {longest}"),
        many => format!("{many} waits of {} or more, the longest: {longest}", Nanos(SLOW_NS)),
    })
}

/// Flags of the same kind on cells of the same test become one line, in order of first appearance.
fn grouped<'a>(
    record: &'a Record,
    wanted: impl Fn(&'a Cell) -> Vec<&'a Flag>,
) -> Vec<RecordCaveat> {
    let mut groups: Vec<(&Flag, Vec<&Cell>)> = Vec::new();
    for cell in &record.cells {
        for flag in wanted(cell) {
            let same = |(first, cells): &&mut (&Flag, Vec<&Cell>)| {
                alike(first, flag) && cells[0].test == cell.test
            };
            match groups.iter_mut().find(same) {
                Some((_, cells)) => cells.push(cell),
                None => groups.push((flag, vec![cell])),
            }
        }
    }
    groups.into_iter().map(|(flag, cells)| line(record, flag, &cells)).collect()
}

fn line(record: &Record, flag: &Flag, cells: &[&Cell]) -> RecordCaveat {
    let about = match cells {
        [one] => words::cell_among(record, one),
        many => format!("{} ({} cells)", words::test(&many[0].test), many.len()),
    };
    let differ = cells.iter().any(|cell| !cell.flags.contains(flag));
    let text =
        if flag.is_impossible() { figure::impossible_text(flag) } else { words::caveat(flag) };
    let about = if differ { format!("one of {about}") } else { about };
    let cells = cells.iter().map(|cell| cell.id.clone()).collect();
    RecordCaveat { about, text, severe: flag.is_impossible(), cells }
}

/// True if two flags can share a line: notes with the same words, other flags of the same kind.
fn alike(a: &Flag, b: &Flag) -> bool {
    match (a, b) {
        (Flag::Note { text: a }, Flag::Note { text: b }) => a == b,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// Left-out tests by reason.
pub fn skipped(record: &Record) -> BTreeMap<String, Vec<String>> {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for skip in &record.skipped {
        by_reason.entry(printable(&skip.reason)).or_default().push(printable(&skip.test));
    }
    by_reason
}

/// Reason for a test that was not in the plan.
pub(crate) const NOT_PLANNED: &str = "not part of this run";

/// Phrase with the reason why a test (at a block size, if given) has no cell in this record.
pub fn reason_of_absence(record: &Record, test: &str, block_bytes: Option<u64>) -> String {
    let asked = |cell: &&PlannedCell| {
        cell.test == test && (block_bytes.is_none() || cell.params.block_bytes == block_bytes)
    };
    let planned: Vec<&PlannedCell> = record.plan.iter().filter(asked).collect();
    let about = |name: &str| name == test || planned.iter().any(|cell| cell.id == name);
    // A reason about the test as a whole may concern another block size, if this size was planned.
    let of_cell = |name: &str| planned.iter().any(|cell| cell.id == name);
    let is_of_size = |skip: &Skip| {
        block_bytes.is_none() || skip.block_bytes.is_none_or(|of| Some(of) == block_bytes)
    };
    // A test skipped during the run was skipped last, and this reason counts.
    let skips = || record.skipped.iter().rev();
    // If the run ended before the test, that is the reason.
    let is_cut_short = !planned.is_empty() && record.run.ended != Ended::Complete;
    let fitting = skips().find(|skip| of_cell(&skip.test)).or_else(|| {
        skips().filter(|_| !is_cut_short).find(|skip| about(&skip.test) && is_of_size(skip))
    });
    if let Some(skip) = fitting {
        return format!("skipped: {}", printable(&skip.reason));
    }
    match record.run.ended {
        _ if planned.is_empty() => NOT_PLANNED.to_owned(),
        Ended::Running => "not measured yet".to_owned(),
        Ended::Interrupted => "the run was interrupted first".to_owned(),
        Ended::Error if has_gone(record) => "the device went away first".to_owned(),
        Ended::Error => "the medium failed first".to_owned(),
        Ended::Complete => "not measured".to_owned(),
    }
}

/// Known facts about the run: "standard suite", "12 min 34 s", "1.50 GB written".
pub fn run_facts(record: &Record) -> Vec<String> {
    let run = &record.run;
    let mut facts = Vec::new();
    if !run.suite.is_empty() {
        facts.push(format!("{} suite", printable(&run.suite)));
    }
    facts.extend(run.started.as_deref().map(|when| printable(when).chars().take(10).collect()));
    if run.elapsed_ns > 0 {
        facts.push(Nanos(run.elapsed_ns).to_string());
    }
    match record.written_bytes() {
        0 => {}
        bytes => facts.push(format!("{} written", record::units::Bytes(bytes))),
    }
    facts
}
