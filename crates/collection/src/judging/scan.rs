//! Scan of the whole document without storing it: depth, counts, lengths, characters and schema.
//! The parser afterwards allocates a vector for every list, so the lists have to be counted first.

use std::fmt;

use record::{Histogram, SCHEMA};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{Rejection, UploadLimits};

/// Most values in all. The longest known honest run, a matrix of 420 cells, has a tenth of that.
const MAX_VALUES: usize = 4_000_000;
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
/// Most filled buckets in the histograms of a run, after the first [`FEW_HISTOGRAMS`]. A full run
/// has 300,000. A few bytes can unpack to the 33,000 buckets of one histogram.
const MAX_PLACES: usize = 2_000_000;
/// Number of histograms that cannot exceed [`MAX_PLACES`].
const FEW_HISTOGRAMS: usize = 60;
/// Beginning of the schema name of every version.
const FAMILY: &str = "flashmark/";

/// Members that only a whole record has, not its published part.
const WHOLE: [&str; 3] = ["run", "medium", "plan"];

/// Scans a document; rejects it at the first fault.
pub(super) fn scan(json: &[u8], limits: &UploadLimits) -> Result<(), Rejection> {
    let mut scan = ScanState {
        limits,
        path: Vec::new(),
        values: 0,
        histograms: 0,
        places: 0,
        schema: false,
        parts: 0,
        fault: None,
    };
    let mut text = serde_json::Deserializer::from_slice(json);
    let walked =
        ValueVisitor { scan: &mut scan, depth: 0 }.deserialize(&mut text).and_then(|()| text.end());
    if let Some(fault) = scan.fault.take() {
        return Err(fault);
    }
    walked.map_err(|error| scan.broken(&error))?;
    if !scan.schema {
        let reason = format!(
            "the document does not say what it is; a run begins with \"schema\": \"{SCHEMA}\""
        );
        return Err(Rejection::invalid("wrong-schema", reason));
    }
    if scan.parts == WHOLE.len() {
        let reason = "the document is a whole record; only the published part of one is taken, which is what `flashmark submit` sends";
        return Err(Rejection::invalid("not-a-run", reason.to_owned()));
    }
    Ok(())
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
    values: usize,
    histograms: usize,
    /// Filled buckets of the histograms beyond [`FEW_HISTOGRAMS`].
    places: usize,
    /// True once the document names a Flashmark schema.
    schema: bool,
    /// Number of members that only a whole record has.
    parts: usize,
    fault: Option<Rejection>,
}

impl ScanState<'_> {
    /// Path of the current value.
    fn place(&self) -> String {
        let place = text_of(&self.path);
        if place.is_empty() { "the document".to_owned() } else { quoted_short(&place) }
    }

    /// Notes the reason and place of a rejection; returns the error that ends the parsing.
    fn refuse<E: Error>(&mut self, code: &'static str, what: impl fmt::Display) -> E {
        self.fault = Some(Rejection::invalid(code, format!("{}: {what}", self.place())));
        E::custom("refused")
    }

    fn broken(&self, error: &serde_json::Error) -> Rejection {
        let message = error.to_string();
        if message.starts_with("number out of range") {
            return Rejection::invalid("out-of-range", format!("{}: {message}", self.place()));
        }
        if message.starts_with("recursion limit") {
            return Rejection::invalid("too-deep", format!("{}: {message}", self.place()));
        }
        Rejection::invalid("not-json", format!("the body is not JSON: {}", quoted_short(&message)))
    }

    fn count<E: Error>(&mut self) -> Result<(), E> {
        self.values += 1;
        if self.values > MAX_VALUES {
            Err(self.refuse("too-many", format_args!("more than {MAX_VALUES} values")))
        } else {
            Ok(())
        }
    }

    fn number<E: Error>(&mut self, value: f64) -> Result<(), E> {
        self.count()?;
        let (low, high) = range_at(&self.path);
        if (low..=high).contains(&value) {
            return Ok(());
        }
        let what = format_args!("{value:?} cannot be; it would be from {low:?} to {high:?}");
        Err(self.refuse("out-of-range", what))
    }

    fn name<E: Error>(&mut self, name: &str) -> Result<(), E> {
        if name.len() > NAME_BYTES {
            return Err(self.refuse(
                "text",
                format_args!("a name of {} bytes; at most {NAME_BYTES} are taken", name.len()),
            ));
        }
        self.characters(name)
    }

    fn text<E: Error>(&mut self, text: &str) -> Result<(), E> {
        self.count()?;
        match self.path.as_slice() {
            [Step::Member(name)] if name == "schema" => return self.schema(text),
            [Step::Member(cells), _, Step::Member(name)]
                if cells == "cells" && name == "histogram" =>
            {
                self.long(text, HISTOGRAM_BYTES)?;
                return self.histogram(text);
            }
            _ => {}
        }
        self.long(text, self.limits.text_bytes)?;
        self.characters(text)?;
        if holds_markup(text) {
            return Err(self.refuse("markup", "a text with a tag in it; write it without"));
        }
        Ok(())
    }

    fn histogram<E: Error>(&mut self, text: &str) -> Result<(), E> {
        self.histograms += 1;
        if self.histograms <= FEW_HISTOGRAMS {
            return Ok(());
        }
        self.places += Histogram::decode(text).map_or(0, |histogram| histogram.buckets().count());
        if self.places > MAX_PLACES {
            let what = format_args!("more than {MAX_PLACES} places of histograms are filled");
            return Err(self.refuse("too-many", what));
        }
        Ok(())
    }

    fn schema<E: Error>(&mut self, text: &str) -> Result<(), E> {
        let found = quoted_short(text);
        match text {
            SCHEMA => {
                self.schema = true;
                Ok(())
            }
            newer if newer.starts_with(FAMILY) => Err(self.refuse(
                "newer-schema",
                format_args!("'{found}' is newer than what this version reads, '{SCHEMA}'"),
            )),
            _ => Err(self.refuse(
                "wrong-schema",
                format_args!("'{found}' is no run of Flashmark; that would be '{SCHEMA}'"),
            )),
        }
    }

    fn long<E: Error>(&mut self, text: &str, most: usize) -> Result<(), E> {
        if text.len() <= most {
            return Ok(());
        }
        Err(self.refuse(
            "text",
            format_args!("a text of {} bytes; at most {most} are taken", text.len()),
        ))
    }

    fn characters<E: Error>(&mut self, text: &str) -> Result<(), E> {
        match text.chars().find(|c| !is_plain(*c)) {
            None => Ok(()),
            Some(c) => Err(self.refuse(
                "text",
                format_args!("the character U+{:04X}, which cannot be printed", u32::from(c)),
            )),
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

/// Visitor of one value.
struct ValueVisitor<'s, 'l> {
    scan: &'s mut ScanState<'l>,
    depth: usize,
}

impl<'l> ValueVisitor<'_, 'l> {
    /// Enters one more level; fails at the depth limit.
    fn down<E: Error>(&mut self) -> Result<(), E> {
        self.depth += 1;
        let most = self.scan.limits.depth;
        if self.depth > most {
            Err(self.scan.refuse("too-deep", format_args!("nested more than {most} deep")))
        } else {
            Ok(())
        }
    }

    fn within(&mut self) -> ValueVisitor<'_, 'l> {
        ValueVisitor { scan: &mut *self.scan, depth: self.depth }
    }
}

impl<'de> DeserializeSeed<'de> for ValueVisitor<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueVisitor<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.scan.count()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.scan.count()
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.scan.number(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.scan.number(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.scan.number(value)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.scan.text(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        self.down()?;
        self.scan.count()?;
        let most = self.scan.longest_list();
        for number in 0.. {
            self.scan.path.push(Step::Number(number));
            let found = list.next_element_seed(self.within())?;
            self.scan.path.pop();
            if found.is_none() {
                break;
            }
            if number >= most {
                return Err(self.scan.refuse("too-many", format_args!("more than {most} entries")));
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<(), A::Error> {
        self.down()?;
        self.scan.count()?;
        let mut members = 0;
        while object.next_key_seed(Name { scan: &mut *self.scan })?.is_some() {
            members += 1;
            if members > MAX_MEMBERS {
                self.scan.path.pop();
                return Err(self
                    .scan
                    .refuse("too-many", format_args!("more than {MAX_MEMBERS} members")));
            }
            object.next_value_seed(self.within())?;
            self.scan.path.pop();
        }
        Ok(())
    }
}

/// Visitor of a member's name, which it adds to the path.
struct Name<'s, 'l> {
    scan: &'s mut ScanState<'l>,
}

impl<'de> DeserializeSeed<'de> for Name<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        self.scan.name(name)?;
        self.scan.parts += usize::from(self.scan.path.is_empty() && WHOLE.contains(&name));
        self.scan.path.push(Step::Member(name.to_owned()));
        Ok(())
    }
}
