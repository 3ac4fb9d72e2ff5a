//! Scan of the whole document before it becomes a run: depth, counts, lengths, characters and
//! ranges, also of what is dropped afterwards.

use record::{Histogram, SCHEMA};
use serde_json::Value;

use super::{Rejection, UploadLimits};

/// Largest number of I/Os, and of a number without a unit: larger than a seed.
const MAX_OPS: f64 = 1e15;
const MOST: f64 = 2e19;
/// Most samples of the kernel's counters in one cell: Flashmark writes at most 64.
const MAX_SAMPLES: usize = 1024;
/// Most members of one object. A cell has twenty, its metrics a dozen.
const MAX_MEMBERS: usize = 256;
/// Most bytes of a name. The longest one of Flashmark has 21.
const NAME_BYTES: usize = 128;
/// Most bytes of a histogram as text: Flashmark writes up to 8 kB; one with every bucket filled has
/// 90 kB.
const HISTOGRAM_BYTES: usize = 256 << 10;
/// Most filled buckets in the histograms of a run. A full run has 300,000. A few bytes can unpack to
/// the 33,000 buckets of one histogram.
const MAX_PLACES: usize = 600_000;
/// Beginning of the schema name of every version.
const FAMILY: &str = "flashmark/";

/// Members that only a whole record has, not its published part.
const WHOLE: [&str; 3] = ["run", "medium", "plan"];

/// Scans a document; rejects it at its first fault. Returns the places of the texts with a web
/// address: these are more often advertisements than facts of a medium.
pub(super) fn scan(json: &[u8], limits: &UploadLimits) -> Result<Vec<String>, Rejection> {
    let document: Value = serde_json::from_slice(json).map_err(|error| unparsed(&error, json))?;
    check_schema(document.get("schema"))?;
    let mut scan = ScanState { limits, path: Vec::new(), places: 0, addresses: Vec::new() };
    scan.value(&document)?;
    if WHOLE.iter().all(|name| document.get(name).is_some()) {
        let reason = "the document is a whole record; only the published part of one is taken, which is what `flashmark submit` sends";
        return Err(Rejection::invalid("not-a-run", reason.to_owned()));
    }
    Ok(scan.addresses)
}

/// Rejection of a text that is no JSON.
fn unparsed(error: &serde_json::Error, json: &[u8]) -> Rejection {
    let message = error.to_string();
    let code = match () {
        () if message.starts_with("number out of range") => "out-of-range",
        () if message.starts_with("recursion limit") => "too-deep",
        () => {
            let message = quoted_short(&message);
            return Rejection::invalid("not-json", format!("the body is not JSON: {message}"));
        }
    };
    let place = place_of(error, &String::from_utf8_lossy(json));
    Rejection::invalid(code, format!("{place}: {message}"))
}

fn check_schema(schema: Option<&Value>) -> Result<(), Rejection> {
    let refused = |code, what: String| Err(Rejection::invalid(code, what));
    let Some(text) = schema.and_then(Value::as_str) else {
        let what = format!(
            "the document does not say what it is; a run begins with \"schema\": \"{SCHEMA}\""
        );
        return refused("wrong-schema", what);
    };
    let found = quoted_short(text);
    match text {
        SCHEMA => Ok(()),
        newer if newer.starts_with(FAMILY) => refused(
            "newer-schema",
            format!("schema: '{found}' is newer than what this version reads, '{SCHEMA}'"),
        ),
        _ => refused(
            "wrong-schema",
            format!("schema: '{found}' is no run of Flashmark; that would be '{SCHEMA}'"),
        ),
    }
}

/// A text that may be shown anywhere: one line, no control characters, limited in length.
pub(super) fn quoted_short(text: &str) -> String {
    let shown: String = text.chars().take(160).map(|c| if is_plain(c) { c } else { ' ' }).collect();
    if shown.len() < text.len() { format!("{shown}..") } else { shown }
}

/// True unless it is a control character, or one that changes the direction of writing. Others
/// without a shape join letters of Persian or parts of an emoji.
fn is_plain(c: char) -> bool {
    !c.is_control() && !record::text::turns_direction(c)
}

/// True if a browser might take part of the text for a tag. Pages escape every text, but no honest
/// text needs it.
fn holds_markup(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| {
        pair[0] == b'<' && (pair[1].is_ascii_alphabetic() || matches!(pair[1], b'/' | b'!' | b'?'))
    })
}

fn holds_address(text: &str) -> bool {
    let begins =
        |at: &[u8]| at.starts_with(b"://") || at[..4.min(at.len())].eq_ignore_ascii_case(b"www.");
    (0..text.len()).any(|at| begins(&text.as_bytes()[at..]))
}

/// A step on the path from the document to a value.
enum Step {
    Member(String),
    Number(usize),
}

/// Range of a number by the innermost name on its path that has one, mostly by its unit.
fn range_at(path: &[Step]) -> (f64, f64) {
    let mut is_interval = false;
    for step in path.iter().rev() {
        let Step::Member(name) = step else { continue };
        let (low, high) = match name.as_str() {
            // A curve may show a difference of two times.
            "points" => return (-MOST, MOST),
            "ci95" => {
                is_interval = true;
                continue;
            }
            "queue_depth" | "threads" | "cpus" => (1.0, 65_536.0),
            "compressible" => (0.0, 100.0),
            "ops" | "n" => (0.0, MAX_OPS),
            name if name.ends_with("_class") || name.ends_with("_grade") => (0.0, 1000.0),
            name => match record::limits::most_of(name) {
                Some(most) => (0.0, most),
                None => continue,
            },
        };
        // With few samples an interval may exceed the range, but not by much.
        return if is_interval { (-high, high) } else { (low, high) };
    }
    (-MOST, MOST)
}

/// Path of a value as text: `cells[3].metrics`.
fn text_of(path: &[Step]) -> String {
    let mut place = String::new();
    for step in path {
        match step {
            Step::Member(name) if place.is_empty() => place += name,
            Step::Member(name) => place += &format!(".{name}"),
            Step::Number(number) => place += &format!("[{number}]"),
        }
    }
    place
}

/// Path of the value at which a parser refused a text that is JSON; empty for the whole of it.
pub(super) fn place_of(error: &serde_json::Error, json: &str) -> String {
    let lines = json.split_inclusive('\n').take(error.line().saturating_sub(1));
    let end = lines.map(str::len).sum::<usize>() + error.column();
    let (mut path, mut name) = (Vec::new(), String::new());
    let mut bytes = json.bytes().take(end);
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                name.clear();
                while let Some(byte) = bytes.next().filter(|byte| *byte != b'"') {
                    name.push(char::from(byte));
                    name.extend((byte == b'\\').then(|| bytes.next().map(char::from)).flatten());
                }
            }
            b'{' => path.push(Step::Member(String::new())),
            b'[' => path.push(Step::Number(0)),
            b'}' | b']' => drop(path.pop()),
            b':' => drop(path.last_mut().map(|step| *step = Step::Member(name.clone()))),
            b',' => match path.last_mut() {
                Some(Step::Number(number)) => *number += 1,
                Some(Step::Member(member)) => member.clear(),
                None => {}
            },
            _ => {}
        }
    }
    path.retain(|step| !matches!(step, Step::Member(name) if name.is_empty()));
    quoted_short(&text_of(&path))
}

/// State of the scan.
struct ScanState<'l> {
    limits: &'l UploadLimits,
    path: Vec<Step>,
    /// Filled buckets of the histograms so far.
    places: usize,
    /// Places of texts with a web address.
    addresses: Vec<String>,
}

impl ScanState<'_> {
    /// The reason and place of a rejection.
    fn refuse(&self, code: &'static str, what: impl std::fmt::Display) -> Result<(), Rejection> {
        let place = text_of(&self.path);
        let place = if place.is_empty() { "the document".into() } else { quoted_short(&place) };
        Err(Rejection::invalid(code, format!("{place}: {what}")))
    }

    fn value(&mut self, value: &Value) -> Result<(), Rejection> {
        let most = self.limits.depth;
        if (value.is_array() || value.is_object()) && self.path.len() >= most {
            return self.refuse("too-deep", format_args!("nested more than {most} deep"));
        }
        match value {
            Value::Null | Value::Bool(_) => Ok(()),
            Value::Number(number) => self.number(number.as_f64().unwrap_or(f64::NAN)),
            Value::String(text) => self.text(text),
            Value::Array(list) => {
                let most = self.longest_list();
                if list.len() > most {
                    return self.refuse("too-many", format_args!("more than {most} entries"));
                }
                let steps = (0..list.len()).map(Step::Number);
                steps.zip(list).try_for_each(|(step, value)| self.within(step, value))
            }
            Value::Object(members) => {
                if members.len() > MAX_MEMBERS {
                    let what = format_args!("more than {MAX_MEMBERS} members");
                    return self.refuse("too-many", what);
                }
                for (name, value) in members {
                    self.long(name, NAME_BYTES)?;
                    self.characters(name)?;
                    self.within(Step::Member(name.clone()), value)?;
                }
                Ok(())
            }
        }
    }

    fn within(&mut self, step: Step, value: &Value) -> Result<(), Rejection> {
        self.path.push(step);
        let found = self.value(value);
        self.path.pop();
        found
    }

    fn number(&self, value: f64) -> Result<(), Rejection> {
        let (low, high) = range_at(&self.path);
        if (low..=high).contains(&value) {
            return Ok(());
        }
        let what = format_args!("{value:?} cannot be; it would be from {low:?} to {high:?}");
        self.refuse("out-of-range", what)
    }

    fn text(&mut self, text: &str) -> Result<(), Rejection> {
        if let [Step::Member(cells), _, Step::Member(name)] = self.path.as_slice()
            && cells == "cells"
            && name == "histogram"
        {
            self.long(text, HISTOGRAM_BYTES)?;
            return self.histogram(text);
        }
        self.long(text, self.limits.text_bytes)?;
        self.characters(text)?;
        if holds_markup(text) {
            return self.refuse("markup", "a text with a tag in it; write it without");
        }
        if holds_address(text) {
            self.addresses.push(quoted_short(&text_of(&self.path)));
        }
        Ok(())
    }

    fn histogram(&mut self, text: &str) -> Result<(), Rejection> {
        self.places += Histogram::decode(text).map_or(0, |histogram| histogram.buckets().count());
        if self.places > MAX_PLACES {
            let what = format_args!("more than {MAX_PLACES} places of histograms are filled");
            return self.refuse("too-many", what);
        }
        Ok(())
    }

    fn long(&self, text: &str, most: usize) -> Result<(), Rejection> {
        if text.len() <= most {
            return Ok(());
        }
        let what = format_args!("a text of {} bytes; at most {most} are taken", text.len());
        self.refuse("text", what)
    }

    fn characters(&self, text: &str) -> Result<(), Rejection> {
        match text.chars().find(|c| !is_plain(*c)) {
            None => Ok(()),
            Some(c) => {
                let what = "which cannot be printed";
                self.refuse("text", format_args!("the character U+{:04X}, {what}", u32::from(c)))
            }
        }
    }

    /// Longest allowed list at the current path.
    fn longest_list(&self) -> usize {
        match self.path.last() {
            Some(Step::Member(name)) if name == "points" => self.limits.series_points,
            Some(Step::Member(name)) if name == "activity" => MAX_SAMPLES,
            _ => self.limits.cells,
        }
    }
}
