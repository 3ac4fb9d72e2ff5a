//! Import of other tools' output as records.
//!
//! [`read`] takes the bytes of a file, finds out from their content (never from the name) which
//! tool printed them, and makes a record of each medium in it. A cell has the name and the
//! parameters of our own test if the procedure is the same, and else the name of the tool and of
//! its work (`fio:randrw`); the label `tool` names the tool, and flags list what the text leaves
//! open. docs/importing.md describes for each tool the fields that are read and their units.
//!
//! Nothing in a file is trusted: sizes are bounded, an impossible number (negative, not finite,
//! more than any medium does) is refused with the reason, and no text of any kind makes this panic.

mod assemble;
mod badblocks;
mod bonnie;
mod clean;
mod dd;
mod diskmark;
mod errno;
mod f3;
mod failed;
mod fio;
mod flashbench;
mod gnome_disks;
mod h2testw;
mod hdparm;
mod imported_run;
mod ioping;
mod iostat;
mod iozone;
mod lists;
mod media;
mod morton_table;
mod pibenchmarks;
mod prelude;
mod reading;
mod seeker;
mod state;
mod sysbench;
mod table;
mod text;

use record::{Medium, Record};

use self::imported_run::ImportedRun;
use self::reading::Reading;
use self::table::Tool;
use self::text::ImportText;

/// Longest file that is read, in bytes.
pub const MAX_BYTES: usize = 16 << 20;
/// Most lines of a file.
pub const MAX_LINES: usize = 2_000_000;
/// Most media of a file.
const MAX_MEDIA: usize = 1000;
/// Most cells of a file.
pub const MAX_CELLS: usize = 20_000;

/// Most lines that are listed as not understood; the rest are counted.
pub const MAX_LISTED: usize = 200;

/// Result of reading a text.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// Records, one for each medium.
    pub records: Vec<Record>,
    /// Lines that look like a figure and were not read, in their order.
    pub left: Vec<UnreadLine>,
    /// Number of such lines, also those that are not listed.
    pub left_count: usize,
}

/// A line that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadLine {
    /// Number of the line in the file, from 1.
    pub line: u32,
    /// Text of the line, cut and without control characters.
    pub text: String,
    /// Reason, if the line is of a known tool and cannot be read or is impossible.
    pub why: Option<String>,
}

/// A file could not be imported. The message names the tool it resembles and the fault, but not the
/// file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// It is longer than any output of these tools.
    #[error("it has {0} bytes; more than 16 MiB are not read")]
    TooLong(usize),
    /// It has more lines than any output of these tools.
    #[error("it has more than {MAX_LINES} lines; cut it into several files")]
    TooManyLines,
    /// The file is empty.
    #[error("it is empty")]
    Empty,
    /// The file holds bytes that a text cannot have.
    #[error("it is not a text")]
    NotText,
    /// No importer recognises it.
    #[error("{}", unknown(nearest))]
    Unknown {
        /// The tool whose output it resembles, and the missing signs of that; `None` if it
        /// resembles none.
        nearest: Option<(&'static str, Vec<&'static str>)>,
    },
    /// It is the output of this tool, but something in it cannot be read or is impossible.
    #[error("it looks like {tool}, but {what}")]
    Broken {
        /// Name of the tool.
        tool: &'static str,
        /// Fault, and the number of its line.
        what: String,
    },
}

fn unknown(nearest: &Option<(&'static str, Vec<&'static str>)>) -> String {
    match nearest {
        None => {
            "no output of a tool that is known is in it; `flashmark import --help` lists the tools"
                .to_owned()
        }
        Some((tool, missing)) => {
            format!("it is not understood: it begins like {tool}, but lacks {}", missing.join("; "))
        }
    }
}

/// Unit of the figures in an iozone table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IozoneUnit {
    /// Records a second (`-O`).
    Operations,
    /// Kilobytes of 1024 bytes a second.
    Kilobytes,
}

/// All importers; a file may hold the output of several tools.
static IMPORTERS: [&Tool; 24] = [
    &fio::JSON,
    &fio::JOBS,
    &fio::NORMAL,
    &iozone::TABLE,
    &dd::RUNS,
    &dd::SWEEP,
    &flashbench::ALIGN,
    &flashbench::AREAS,
    &f3::TABLE,
    &h2testw::TABLE,
    &hdparm::TABLE,
    &ioping::TABLE,
    &seeker::TABLE,
    &lists::RATES,
    &morton_table::TABLE,
    &diskmark::TABLE,
    &iostat::TABLE,
    &lists::COMPLETIONS,
    &bonnie::TABLE,
    &sysbench::TABLE,
    &pibenchmarks::TABLE,
    &state::TABLE,
    &badblocks::TABLE,
    &gnome_disks::TABLE,
];

/// Reads the records of a file. `name` is only for people: it names a medium without a name.
///
/// # Errors
/// If nothing in it is understood, with the reason.
pub fn read(name: &str, bytes: &[u8]) -> Result<Vec<Record>, ImportError> {
    understand(name, bytes, None).map(|import| import.records)
}

/// Reads as [`read`] does, with the unit of iozone tables whose head was cut off, if the user knows
/// it, and also returns the lines that look like figures and were not read.
///
/// # Errors
/// As of [`read`].
pub fn understand(
    name: &str,
    bytes: &[u8],
    unit: Option<IozoneUnit>,
) -> Result<Import, ImportError> {
    if bytes.len() > MAX_BYTES {
        return Err(ImportError::TooLong(bytes.len()));
    }
    if bytes.iter().filter(|byte| **byte == b'\n').count() > MAX_LINES {
        return Err(ImportError::TooManyLines);
    }
    let cleaned = clean::clean(bytes);
    if cleaned.text.trim().is_empty() {
        let is_empty = cleaned.damaged.is_empty();
        return Err(if is_empty { ImportError::Empty } else { ImportError::NotText });
    }
    if let Some(records) = own(&cleaned.text) {
        return records.map(|records| Import { records, ..Import::default() });
    }
    let source = ImportText::new(&cleaned.text);
    let mut reading = Reading::new(&cleaned, &source);
    let (mut found, tool) = all(&source, unit, &mut reading);
    if found.is_empty() {
        return Err(match tool.zip(reading.first_refusal()) {
            Some((tool, what)) => ImportError::Broken { tool, what },
            None if !cleaned.damaged.is_empty() => ImportError::NotText,
            None => ImportError::Unknown { nearest: nearest(&source) },
        });
    }
    pibenchmarks::take_one_medium(&source, &mut found);
    let (left, left_count) = reading.left();
    Ok(Import { records: assemble::records(name, bytes, &source, found), left, left_count })
}

/// Replaces the label of a record, and vendor, model, capacity and kind of its medium, by those that
/// are known otherwise.
pub fn state(record: &mut Record, label: Option<&str>, known: &Medium) {
    record.medium = assemble::both(known.clone(), std::mem::take(&mut record.medium));
    record.run.label = label.map(str::to_owned).or(record.run.label.take());
}

/// Results of all importers, and the first error of any of them.
fn all(
    source: &ImportText,
    unit: Option<IozoneUnit>,
    reading: &mut Reading,
) -> (Vec<ImportedRun>, Option<&'static str>) {
    let mut found = Vec::new();
    let mut tool = None;
    for importer in &IMPORTERS {
        if !importer.table.signs.iter().all(|sign| (sign.is_there)(source)) {
            continue;
        }
        let before = reading.refusals();
        found.extend(importer.read(source, unit, reading));
        if reading.refusals() > before {
            tool.get_or_insert(importer.table.output);
        }
    }
    fio::keep_fullest_form(&mut found);
    failed::add(&mut found, source, reading);
    found.retain(|one| !one.cells.is_empty() || one.is_identity());
    (found, tool)
}

/// Reads a record of our own.
fn own(text: &str) -> Option<Result<Vec<Record>, ImportError>> {
    let head: String = text.chars().take(200).collect();
    if !head.starts_with('{') || !head.contains("\"flashmark/") {
        return None;
    }
    let broken = |what| ImportError::Broken { tool: "a flashmark record", what };
    Some(Record::from_json(text).map(|it| vec![it]).map_err(|error| broken(error.to_string())))
}

/// The importer whose first sign is there, if it is only one, and its missing signs: the first sign
/// is unique to its output.
fn nearest(source: &ImportText) -> Option<(&'static str, Vec<&'static str>)> {
    let is_begun = |importer: &&&Tool| {
        importer.table.signs.first().is_some_and(|sign| (sign.is_there)(source))
    };
    let mut begun = IMPORTERS.iter().filter(is_begun);
    let best = begun.next().filter(|_| begun.next().is_none())?;
    let missing: Vec<&str> = best
        .table
        .signs
        .iter()
        .filter(|sign| !(sign.is_there)(source))
        .map(|sign| sign.what)
        .collect();
    let missing = if missing.is_empty() { vec!["a figure"] } else { missing };
    Some((best.table.output, missing))
}
