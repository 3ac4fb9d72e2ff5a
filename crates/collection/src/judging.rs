//! Checks of a submission before anything else is done with it. Pure: no input or output, no clock.
//!
//! Every byte is hostile until it is parsed, and each step protects the next one. `unpacked` bounds
//! the bytes. `scan` checks depth, counts, texts, ranges of numbers and schema of the document without
//! storing it. serde then takes the fields that [`Published`] names and drops the rest. Conclusions in
//! the document are discarded, and `figures` draws its figures anew from its latencies, counts and
//! times: nobody has to be believed about a figure. `rules` refuses what is beyond physical limits, and
//! lists what is unusual but possible for manual review.

use record::collection::RunHeadline;
use record::{Published, Record, UnpackError, unpacked};

mod figures;
mod limits;
mod rules;
mod scan;
#[cfg(test)]
mod tests;

/// Limits on the size of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadLimits {
    /// Most bytes after decompression.
    pub unpacked_bytes: usize,
    /// Deepest nesting of the JSON.
    pub depth: usize,
    /// Most cells of a run, and entries of any other list in it.
    pub cells: usize,
    /// Most bytes of a single text.
    pub text_bytes: usize,
    /// Most points of a single curve.
    pub series_points: usize,
}

impl Default for UploadLimits {
    fn default() -> UploadLimits {
        UploadLimits {
            unpacked_bytes: 2 << 20,
            depth: 32,
            cells: 500,
            text_bytes: 4096,
            series_points: 10_000,
        }
    }
}

/// A submission that is a valid run.
#[derive(Clone, Debug, PartialEq)]
pub struct Upload {
    /// The run, without the findings that it was sent with.
    pub run: Published,
    /// Its line, computed here and not taken from the sender.
    pub headline: RunHeadline,
    /// Sentences about what is unusual but possible; a person has to review them.
    pub caveats: Vec<String>,
}

/// Rejection of a submission, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Code for programs: `too-large`, `encoding`, `not-json`, `too-deep`, `too-many`, `text`,
    /// `markup`, `wrong-schema`, `newer-schema`, `not-a-run`, `out-of-range`, `contradiction`,
    /// `impossible`.
    pub code: &'static str,
    /// Reason for people, with the place in the document. One printable line, whatever was sent.
    pub reason: String,
}

impl Rejection {
    fn invalid(code: &'static str, reason: String) -> Rejection {
        Rejection { code, reason }
    }
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.reason)
    }
}

impl std::error::Error for Rejection {}

impl From<UnpackError> for Rejection {
    fn from(error: UnpackError) -> Rejection {
        let code = match error {
            UnpackError::Long { .. } | UnpackError::LongUnpacked(_) => "too-large",
            UnpackError::Damaged(_) | UnpackError::Followed(_) => "encoding",
        };
        Rejection::invalid(code, error.to_string())
    }
}

/// Reads a submission, plain or packed with gzip.
///
/// # Errors
/// If it is not a run that can be accepted; the rejection says what is wrong and where.
pub fn read(body: &[u8], limits: &UploadLimits) -> Result<Upload, Rejection> {
    let json = unpacked(body, limits.unpacked_bytes)?;
    let addresses = scan::scan(&json, limits)?;
    let run = parse(&json)?;
    drop(json);
    let mut upload = judge(run)?;
    // A run of another tool says where it was published.
    let is_source = |place: &str| place.starts_with("flags") && !upload.run.software.is_flashmark();
    let addresses: Vec<String> = addresses
        .into_iter()
        .filter(|place| !is_source(place))
        .map(|place| format!("{place} has an address in it"))
        .collect();
    upload.caveats.splice(..0, addresses);
    Ok(upload)
}

/// Checks a run as if it had been sent.
///
/// # Errors
/// As [`read`] of its JSON.
pub fn read_run(run: &Published, limits: &UploadLimits) -> Result<Upload, Rejection> {
    read(run.encode().as_bytes(), limits)
}

/// Draws the figures of a run from its evidence, checks it, and lists what a person has to review.
/// Conclusions in the run are dropped and drawn anew.
///
/// # Errors
/// If something cannot be true; the rejection names its place.
pub fn judge(mut run: Published) -> Result<Upload, Rejection> {
    run.findings.clear();
    figures::draw(&mut run);
    rules::check(&run)?;
    let (run, headline) = concluded(run);
    let caveats = rules::caveats(&run, &headline);
    Ok(Upload { run, headline, caveats })
}

/// Checks a run against physical limits, with its figures as they are stated.
///
/// # Errors
/// If something cannot be true; the rejection names its place.
pub fn check(run: &Published) -> Result<(), Rejection> {
    rules::check(run)
}

/// Parses the document as the type that names all published fields. All other fields are dropped.
fn parse(json: &[u8]) -> Result<Published, Rejection> {
    let refused = |what: String| Rejection::invalid("not-a-run", what);
    let json = str::from_utf8(json).map_err(|error| refused(error.to_string()))?;
    Published::decode(json).map_err(|error| {
        let place = scan::place_of(&error, json);
        let place = if place.is_empty() { place } else { format!("{place}: ") };
        refused(format!("{place}{}", scan::quoted_short(&error.to_string())))
    })
}

/// The run and its line. Cells are moved into the record and back: they are most of it, so they are
/// not copied.
fn concluded(mut run: Published) -> (Published, RunHeadline) {
    let cells = std::mem::take(&mut run.cells);
    let record = Record { cells, ..run.to_record("upload") };
    let headline = findings::headline(&record);
    run.cells = record.cells;
    (run, headline)
}
