//! What a submission must be before anything is done with it. Pure: no input or output, no clock.

use record::Published;
use record::collection::{Headline, Line};

/// How much of everything an upload may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes on the wire.
    pub body_bytes: usize,
    /// Bytes once it is unpacked.
    pub unpacked_bytes: usize,
    /// How deep JSON may nest.
    pub depth: usize,
    /// Cells of a run.
    pub cells: usize,
    /// Bytes of a single text.
    pub text_bytes: usize,
    /// Points of a single curve.
    pub series_points: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { body_bytes: 8 << 20, unpacked_bytes: 64 << 20, depth: 32, cells: 4096, text_bytes: 4096, series_points: 100_000 }
    }
}

/// A submission that is a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Upload {
    /// The run.
    pub run: Published,
    /// Its line, drawn here and not taken from the sender.
    pub headline: Headline,
    /// What is strange but possible, in words: a person has to look.
    pub doubts: Vec<String>,
}

/// Why a submission is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Status of the answer: 413, 415, 422.
    pub status: u16,
    /// For programs: `too-large`, `not-json`, ...
    pub code: &'static str,
    /// For people, with the place in the document.
    pub reason: String,
}

/// Reads a submission. `encoding` is the header `Content-Encoding`.
///
/// # Errors
/// Where it is no run that can be kept; the rejection says what is wrong and where.
pub fn read(body: &[u8], encoding: Option<&str>, limits: &Limits) -> Result<Upload, Rejection> {
    if encoding.is_some_and(|encoding| encoding != "identity") {
        return Err(Rejection { status: 415, code: "encoding", reason: "the body must be plain JSON".to_owned() });
    }
    if body.len() > limits.body_bytes {
        let reason = format!("the body has {} bytes; at most {} are taken", body.len(), limits.body_bytes);
        return Err(Rejection { status: 413, code: "too-large", reason });
    }
    let run: Published =
        serde_json::from_slice(body).map_err(|error| Rejection { status: 422, code: "wrong-schema", reason: error.to_string() })?;
    let headline = findings::headline(&run.to_record("upload"));
    Ok(Upload { run, headline, doubts: Vec::new() })
}

/// What of the figures is out of line with others of the same model, in words. Nothing while fewer than five hosts or runs are known.
pub fn outliers(upload: &Upload, line: &Line) -> Vec<String> {
    let told = |(figure, value): (&record::collection::Figure, &f64)| {
        let spread = line.figures.get(figure).filter(|spread| spread.runs >= 5)?;
        let is_far = *value > 10.0 * spread.high || *value < spread.low / 10.0;
        is_far.then(|| format!("{} is {value}, others lie between {} and {}", figure.name(), spread.low, spread.high))
    };
    upload.headline.figures.iter().filter_map(told).collect()
}
