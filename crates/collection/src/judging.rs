//! What a submission must be before anything is done with it. Pure: no input or output, no clock.
//!
//! Every byte is hostile until it is parsed, and each step protects the next one: `unpack` bounds
//! the bytes, `scan` looks over the document without keeping any of it (depth, counts, texts,
//! schema), then serde takes what [`Published`] names and drops the rest, then `possible` holds the
//! numbers against what can be, against each other, and against the latencies they are made of.
//! What is strange but possible is a doubt, and a person looks at it (`doubts`). Conclusions that a
//! document brings along are thrown away: they are drawn anew from its cells.

use record::collection::{CollectionLine, RunHeadline};
use record::{Published, Record};

mod curves;
mod doubts;
mod latencies;
mod limits;
mod possible;
mod range;
mod rates;
mod scan;
mod shapes;
mod simulated;
#[cfg(test)]
mod tests;
mod unpack;

pub(crate) use limits::of_interface as interface_bps;
pub use unpack::unpack;

/// How much of everything an upload may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadLimits {
    /// Bytes on the wire.
    pub body_bytes: usize,
    /// Bytes once it is unpacked.
    pub unpacked_bytes: usize,
    /// How deep JSON may nest.
    pub depth: usize,
    /// Cells of a run, and entries of any other list in it.
    pub cells: usize,
    /// Bytes of a single text.
    pub text_bytes: usize,
    /// Points of a single curve.
    pub series_points: usize,
}

impl Default for UploadLimits {
    fn default() -> UploadLimits {
        UploadLimits {
            body_bytes: 8 << 20,
            unpacked_bytes: 64 << 20,
            depth: 32,
            cells: 4096,
            text_bytes: 4096,
            series_points: 10_000,
        }
    }
}

/// A submission that is a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Upload {
    /// The run, without the findings it brought along.
    pub run: Published,
    /// Its line, drawn here and not taken from the sender.
    pub headline: RunHeadline,
    /// What is strange but possible, in words: a person has to look.
    pub doubts: Vec<String>,
}

/// Why a submission is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Status of the answer: 413 (too much), 415 (not what it says it is), 422 (no run, or none
    /// that can be).
    pub status: u16,
    /// For programs: `too-large`, `encoding`, `not-json`, `too-deep`, `too-many`, `text`, `markup`,
    /// `wrong-schema`, `newer-schema`, `not-a-run`, `out-of-range`, `contradiction`, `impossible`.
    pub code: &'static str,
    /// For people, with the place in the document. One printable line, whatever was sent.
    pub reason: String,
}

impl Rejection {
    /// More than is taken.
    fn too_large(reason: String) -> Rejection {
        Rejection { status: 413, code: "too-large", reason }
    }

    /// Not what its headers say.
    fn not(code: &'static str, reason: String) -> Rejection {
        Rejection { status: 415, code, reason }
    }

    /// JSON, but no run that can be kept.
    fn invalid(code: &'static str, reason: String) -> Rejection {
        Rejection { status: 422, code, reason }
    }
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code, self.reason)
    }
}

impl std::error::Error for Rejection {}

/// Reads a submission. `encoding` is the header `Content-Encoding`.
///
/// # Errors
/// Where it is no run that can be kept; the rejection says what is wrong and where.
pub fn read(
    body: &[u8],
    encoding: Option<&str>,
    limits: &UploadLimits,
) -> Result<Upload, Rejection> {
    let json = unpack::unpack(body, encoding, limits)?;
    scan::scan(&json, limits)?;
    let run = parse(&json)?;
    drop(json);
    judge(run)
}

/// Judges a run as if it had been sent.
///
/// # Errors
/// As [`read`] of its JSON.
pub fn read_run(mut run: Published, limits: &UploadLimits) -> Result<Upload, Rejection> {
    let curves = curves::take(&mut run, limits);
    let json = serde_json::to_vec(&run)
        .map_err(|error| Rejection::invalid("not-a-run", scan::printable(&error.to_string())))?;
    scan::scan(&unpack::unpack(&json, None, limits)?, limits)?;
    drop(json);
    curves::put_back(&mut run, curves);
    judge(run)
}

/// Judges a run: what is wrong with it, or what a person has to look at. Conclusions that it brings
/// along are dropped and drawn anew.
///
/// # Errors
/// Where a number of it cannot be true; the rejection names the place.
pub fn judge(mut run: Published) -> Result<Upload, Rejection> {
    run.findings.clear();
    check(&run)?;
    let (run, headline) = drawn(run);
    let doubts = doubts::of(&run, &headline);
    Ok(Upload { run, headline, doubts })
}

/// Holds the numbers of a run against what can be, against each other, and against the latencies
/// they are made of.
///
/// # Errors
/// Where one of them cannot be true; the rejection names the place.
pub fn check(run: &Published) -> Result<(), Rejection> {
    possible::check(run)
}

/// What of the figures is out of line with others of the same model, in words. Nothing while fewer
/// than five runs or hosts are known.
///
/// A line has the median and the extremes of its model, so a figure is out of line where it lies
/// farther from the median, as a ratio, than twice as far as the farthest one that is known, and
/// farther than a factor of 4: media of one name differ by as much
/// (docs/field/classes.md#speed-classes).
pub fn outliers(upload: &Upload, line: &CollectionLine) -> Vec<String> {
    doubts::outliers(&upload.headline, line)
}

/// The document as the type that names all that is published. What is not named there is gone after
/// this.
fn parse(json: &[u8]) -> Result<Published, Rejection> {
    if let Ok(run) = serde_json::from_slice(json) {
        return Ok(run);
    }
    // Once more, keeping account of the place, which takes longer.
    let mut text = serde_json::Deserializer::from_slice(json);
    serde_path_to_error::deserialize(&mut text).map_err(|error| {
        let place = error.path().to_string();
        let place = if place == "." { String::new() } else { format!("{place}: ") };
        let said = scan::printable(&error.into_inner().to_string());
        Rejection::invalid("not-a-run", format!("{place}{said}"))
    })
}

/// The run and its line. Cells go into the record and back: they are most of it, and are not
/// copied.
fn drawn(mut run: Published) -> (Published, RunHeadline) {
    let cells = std::mem::take(&mut run.cells);
    let record = Record { cells, ..run.to_record("upload") };
    let headline = findings::headline(&record);
    run.cells = record.cells;
    (run, headline)
}
