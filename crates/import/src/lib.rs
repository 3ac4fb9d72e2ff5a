//! What other tools printed, as records.
//!
//! [`read`] takes the bytes of a file, finds out from their content (never from the name) which
//! tool printed them, and makes a record of each medium in it. A cell has the name and the
//! parameters of our own test where the procedure is the same, and else the name of the tool and
//! what it did (`fio:randrw`); the label `tool` says what measured it, and a flag says what the
//! text leaves open. docs/importing.md tells for each tool what is read and in which units.
//!
//! Nothing in a file is believed: sizes are bounded, a number that cannot be (negative, not finite,
//! more than any medium does) is refused with the reason, and no text of any kind makes this panic.

mod as_ssd;
mod assemble;
mod bonnie;
mod by_medium;
mod clean;
mod completion;
mod dd;
mod diskmark;
mod diskspd;
mod elbencho;
mod errno;
mod f3;
mod failed;
mod fio;
mod flashbench;
mod h2testw;
mod hdparm;
mod imported_run;
mod ioping;
mod iostat;
mod iozone;
mod known_medium;
mod media_list;
mod morton_table;
mod network;
mod pibenchmarks;
mod rate_list;
mod reading;
pub mod reference;
mod seeker;
mod sysbench;
mod table;
mod text;
mod yabs;

use record::Record;

use self::imported_run::ImportedRun;
use self::reading::Reading;
use self::text::ImportText;

pub use self::clean::plain_text;
pub use self::known_medium::KnownMedium;

/// The longest file that is read.
pub const MOST_BYTES: usize = 16 << 20;
/// The most lines of one.
pub const MOST_LINES: usize = 2_000_000;
/// The most media in one.
const MOST_MEDIA: usize = 1000;
/// The most cells one file makes.
pub const MOST_CELLS: usize = 20_000;

/// The most lines that are listed as not understood; the rest are counted.
pub const MOST_LISTED: usize = 200;

/// What became of a text.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// What was made of it, one for each medium.
    pub records: Vec<Record>,
    /// Lines that look like a figure and were not taken, in their order.
    pub left: Vec<UnreadLine>,
    /// How many there are, also those that are not listed.
    pub left_count: usize,
}

/// A line that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadLine {
    /// Its number in the file, counted from 1.
    pub line: u32,
    /// The line, cut and without control characters.
    pub text: String,
    /// Why, where it is of a tool and cannot be read or cannot be true.
    pub why: Option<String>,
}

/// A file could not be imported. Says what it looks like and what is wrong with it, but not its
/// name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// It is longer than any output of these tools.
    #[error("it has {0} bytes; more than 16 MiB are not read")]
    TooLong(usize),
    /// It has more lines than any output of these tools.
    #[error("it has more than {MOST_LINES} lines; cut it into several files")]
    TooManyLines,
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It holds bytes that no text has.
    #[error("it is not a text")]
    NotText,
    /// No importer takes it.
    #[error("{}", unknown(nearest))]
    Unknown {
        /// The tool whose output it begins like, and what of that is missing; none where that
        /// cannot be told.
        nearest: Option<(&'static str, Vec<&'static str>)>,
    },
    /// It is the output of this tool, but something in it cannot be read or cannot be true.
    #[error("it looks like {tool}, but {what}")]
    Broken {
        /// Whose output it is.
        tool: &'static str,
        /// What is wrong, and in which line.
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

/// What the user knows and the text does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Unit of figures in iozone tables whose head was cut off.
    pub iozone_unit: Option<IozoneUnit>,
}

/// What an iozone table counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IozoneUnit {
    /// Records a second (`-O`).
    Operations,
    /// Kilobytes of 1024 bytes a second.
    Kilobytes,
}

/// Something by which the output of a tool is known.
struct Sign {
    /// What it is, in words: "a line '.. copied, .. s, ..'".
    what: &'static str,
    is_there: fn(&ImportText) -> bool,
}

/// A sign by a regular expression, which stands somewhere in the text.
macro_rules! sign {
    ($what:expr, $pattern:expr) => {
        $crate::Sign {
            what: $what,
            is_there: |source| $crate::text::re!($pattern).is_match(source.text),
        }
    };
}
use sign;

/// Reads the output of one tool.
struct Importer {
    /// What it reads, for messages: "iozone output".
    name: &'static str,
    /// All of them have to be there.
    signs: &'static [Sign],
    read: fn(&ImportText, &Hints, &mut Reading) -> Vec<ImportedRun>,
    /// Lines of its output that are no results, though they may look so.
    chatter: fn(&str) -> bool,
}

/// All of them; a file may hold the output of several.
const IMPORTERS: [&Importer; 28] = [
    &fio::JSON,
    &fio::TERSE,
    &fio::JOBS,
    &fio::NORMAL,
    &iozone::TABLE,
    &iozone::THREADS,
    &dd::RUNS,
    &dd::SWEEP,
    &flashbench::ALIGN,
    &flashbench::AREAS,
    &f3::IMPORTER,
    &h2testw::IMPORTER,
    &hdparm::IMPORTER,
    &ioping::IMPORTER,
    &seeker::IMPORTER,
    &rate_list::IMPORTER,
    &morton_table::IMPORTER,
    &diskmark::IMPORTER,
    &as_ssd::IMPORTER,
    &iostat::IMPORTER,
    &completion::IMPORTER,
    &bonnie::IMPORTER,
    &sysbench::IMPORTER,
    &pibenchmarks::IMPORTER,
    &diskspd::IMPORTER,
    &diskspd::XML,
    &elbencho::IMPORTER,
    &yabs::IMPORTER,
];

/// What is read, in words: "iozone output".
#[must_use]
pub fn names() -> Vec<&'static str> {
    IMPORTERS.iter().map(|importer| importer.name).chain([table::NAME]).collect()
}

/// The records in a file. `name` is only for people: what a medium is called that does not say what
/// it is.
///
/// # Errors
/// Where nothing in it is understood, with the reason.
pub fn read(name: &str, bytes: &[u8]) -> Result<Vec<Record>, ImportError> {
    read_with(name, bytes, &Hints::default())
}

/// As [`read`], with what the user knows and the text does not say.
///
/// # Errors
/// As [`read`].
pub fn read_with(name: &str, bytes: &[u8], hints: &Hints) -> Result<Vec<Record>, ImportError> {
    understand(name, bytes, hints).map(|import| import.records)
}

/// As [`read_with`], and which lines were not taken though they look like figures.
///
/// # Errors
/// As [`read`].
pub fn understand(name: &str, bytes: &[u8], hints: &Hints) -> Result<Import, ImportError> {
    if bytes.len() > MOST_BYTES {
        return Err(ImportError::TooLong(bytes.len()));
    }
    if bytes.iter().filter(|byte| **byte == b'\n').count() > MOST_LINES {
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
    let lines = text::lines_of(&cleaned.text);
    let source = ImportText::new(&cleaned.text, &lines);
    let mut reading = Reading::new(&cleaned, &source);
    let (found, tool) = all(&source, hints, &mut reading);
    if found.is_empty() {
        return Err(nothing(&source, &reading, tool, !cleaned.damaged.is_empty()));
    }
    let mut found = found;
    pibenchmarks::take_one_medium(&source, &mut found);
    let (left, left_count) = reading.left();
    Ok(Import { records: assemble::records(name, bytes, found), left, left_count })
}

/// What all importers find, and the first of them that found something wrong.
fn all(
    source: &ImportText,
    hints: &Hints,
    reading: &mut Reading,
) -> (Vec<ImportedRun>, Option<&'static str>) {
    let mut found = Vec::new();
    let mut tool = None;
    for importer in IMPORTERS {
        if !importer.signs.iter().all(|sign| (sign.is_there)(source)) {
            continue;
        }
        let before = reading.refusals();
        let these = (importer.read)(source, hints, reading);
        if reading.refusals() > before {
            tool.get_or_insert(importer.name);
        }
        if these.iter().any(|one| !one.cells.is_empty()) {
            reading.take_chatter(importer.chatter);
        }
        found.extend(these);
    }
    fio::keep_fullest_form(&mut found);
    failed::add(&mut found, source, reading);
    found.retain(|one| !one.cells.is_empty());
    (found, tool)
}

fn nothing(
    source: &ImportText,
    reading: &Reading,
    tool: Option<&'static str>,
    is_damaged: bool,
) -> ImportError {
    match tool.zip(reading.first_refusal()) {
        Some((tool, what)) => ImportError::Broken { tool, what },
        None if is_damaged => ImportError::NotText,
        None => ImportError::Unknown { nearest: nearest(source) },
    }
}

/// A record of our own as JSON, or the CSV that `flashmark export` writes.
fn own(text: &str) -> Option<Result<Vec<Record>, ImportError>> {
    let broken = |tool, what: String| Err(ImportError::Broken { tool, what });
    let head: String = text.chars().take(200).collect();
    if head.starts_with('{') && head.contains("\"flashmark/") {
        let read = Record::from_json(text).map_err(|error| error.to_string());
        return Some(
            read.map_or_else(|what| broken("a flashmark record", what), |record| Ok(vec![record])),
        );
    }
    let read = table::read(text)?;
    Some(read.map_or_else(|trouble| broken(table::NAME, trouble.what), Ok))
}

/// The importer whose first sign is there, if that is one alone, and its signs that are missing:
/// the first is what only its output has.
fn nearest(source: &ImportText) -> Option<(&'static str, Vec<&'static str>)> {
    let is_begun =
        |importer: &&&Importer| importer.signs.first().is_some_and(|sign| (sign.is_there)(source));
    let mut begun = IMPORTERS.iter().filter(is_begun);
    let best = begun.next().filter(|_| begun.next().is_none())?;
    let missing: Vec<&str> =
        best.signs.iter().filter(|sign| !(sign.is_there)(source)).map(|sign| sign.what).collect();
    let missing = if missing.is_empty() { vec!["a figure"] } else { missing };
    Some((best.name, missing))
}
