//! The record in a page: JSON with its curves and histograms in a form that compresses well, gzip,
//! base64.
//!
//! Curves are most of a record, and most of their digits are redundant: positions increase in equal
//! steps, and values have four digits before their zeros. In place of a curve's points stands
//! `"packed":[]`; behind the JSON follow the steps of all curves, a line each, and then the lines of
//! their values, each after the zeros at the end of every value of its curve. Points that are at no
//! whole number stay unchanged.
//!
//! A histogram's own text is compressed, alone and worse than together. In its place stands an empty
//! text; behind the curves follow, a line each, how many empty buckets there are before each that is
//! not, and then lines with their counts. The page's script restores both.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use record::Record;

/// Start of the points in the JSON of a record. Within a text its quotes would be escaped.
const POINTS: &str = r#""points":[["#;
/// What stands in the place of packed points.
const PACKED: &str = r#""packed":[]"#;
/// Start of the text of a histogram, and what stands in its place.
const HISTOGRAM: &str = r#""histogram":""#;
const EMPTY: &str = r#""histogram":"""#;
/// Integers below this are exact in JavaScript, too.
const EXACT: i64 = 1 << 53;

/// A record as text for a script element.
pub(super) fn embedded_record(record: &Record) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let [before, counts] = histograms(record);
    let text = packed(&record.encode()) + &before + &counts;
    encoder.write_all(text.as_bytes()).expect("memory takes every byte");
    STANDARD.encode(encoder.finish().expect("memory takes every byte"))
}

/// The same JSON with packed curves, and their columns in lines behind it.
fn packed(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut all_steps, mut all_values) = (String::new(), String::new());
    let mut rest = json;
    while let Some(at) = rest.find(POINTS) {
        let from = at + POINTS.len();
        let Some(length) = rest[from..].find("]]") else { break };
        let points = &rest[from..from + length];
        out.push_str(&rest[..at]);
        match columns(points) {
            Some([steps, values]) => {
                out += PACKED;
                all_steps += &format!("\n{steps}");
                all_values += &format!("\n{values}");
            }
            None => out += &format!("{POINTS}{points}]]"),
        }
        rest = &rest[from + length + 2..];
    }
    let mut json = String::with_capacity(out.len());
    for (at, part) in (out + rest).split(HISTOGRAM).enumerate() {
        let after =
            if at == 0 { part } else { part.split_once('"').map_or("", |(_, after)| after) };
        json += if at == 0 { "" } else { EMPTY };
        json += after;
    }
    json + &all_steps + &all_values
}

/// Lines of empty buckets before each that is not empty, and lines of counts, one for each histogram.
fn histograms(record: &Record) -> [String; 2] {
    let mut lines = [String::new(), String::new()];
    for histogram in record.cells.iter().filter_map(|cell| cell.histogram.as_ref()) {
        lines.iter_mut().for_each(|lines| lines.push('\n'));
        let mut next = 0;
        for (place, count) in histogram.places() {
            lines[0] += &number(u64::from(place) - next);
            lines[1] += &number(count);
            next = u64::from(place) + 1;
        }
    }
    lines
}

/// A small number as one character from `#` on, a larger one as `!`, its digits and a space.
fn number(value: u64) -> String {
    match u8::try_from(value) {
        Ok(small @ ..80) => char::from(b'#' + small).to_string(),
        _ => format!("!{value} "),
    }
}

/// Points `a,b],[c,d` as a line of steps and one of values; `None` if a position is not an integer.
fn columns(points: &str) -> Option<[String; 2]> {
    let mut before = 0;
    let (mut steps, mut values): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    for point in points.split("],[") {
        let (x, y) = point.split_once(',')?;
        let x: i64 = x.strip_suffix(".0")?.parse().ok().filter(|x: &i64| x.abs() < EXACT)?;
        steps.push((x - before).to_string());
        values.push(y);
        before = x;
    }
    let whole: Option<Vec<&str>> = values.iter().map(|y| y.strip_suffix(".0")).collect();
    let values = whole.unwrap_or(values);
    let zeros = |y: &&str| y.len() - y.trim_end_matches('0').len();
    let shared = values.iter().map(zeros).min().unwrap_or(0);
    let values: Vec<&str> = values.iter().map(|y| &y[..y.len() - shared]).collect();
    Some([steps.join(","), format!("{},{}", "0".repeat(shared), values.join(","))])
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Read as _;

    use super::*;

    /// Restores the record from a page, as the page's script does.
    pub fn taken_out(embedded_record: &str) -> String {
        let bytes = STANDARD.decode(embedded_record).expect("base64");
        let mut text = String::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("gzip");
        unpacked(&text)
    }

    fn unpacked(text: &str) -> String {
        let mut lines = text.split('\n');
        let (mut out, mut rest) = (String::new(), lines.next().expect("the JSON"));
        let columns: Vec<&str> = lines.collect();
        let (curves, counted) = columns.split_at(2 * rest.matches(PACKED).count());
        let (steps, values) = curves.split_at(curves.len() / 2);
        for (steps, values) in steps.iter().zip(values) {
            let (before, after) = rest.split_once(PACKED).expect("a place for each curve");
            let (zeros, values) = values.split_once(',').expect("zeros and values");
            let mut x = 0;
            let points = steps.split(',').zip(values.split(',')).map(|(step, value)| {
                x += step.parse::<i64>().expect("a step");
                let is_whole =
                    value.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
                format!("[{x}.0,{value}{zeros}{}]", if is_whole { ".0" } else { "" })
            });
            let points: Vec<String> = points.collect();
            out += &format!(r#"{before}"points":[{}]"#, points.join(","));
            rest = after;
        }
        let (before, counts) = counted.split_at(counted.len() / 2);
        let mut texts = before.iter().zip(counts).map(|(before, counts)| histogram(before, counts));
        let text = out + rest;
        let mut parts = text.split(EMPTY);
        let first = parts.next().expect("the JSON").to_owned();
        parts
            .fold(first, |out, part| format!(r#"{out}{HISTOGRAM}{}"{part}"#, texts.next().unwrap()))
    }

    /// The text of a histogram from its two lines.
    fn histogram(before: &str, counts: &str) -> String {
        let varint = |mut number: u64, to: &mut Vec<u8>| {
            while number > 127 {
                to.push((number & 127 | 128) as u8);
                number >>= 7;
            }
            to.push(number as u8);
        };
        let mut coded = Vec::new();
        for (before, count) in numbers(before).into_iter().zip(numbers(counts)) {
            if before > 0 {
                varint(2 * before - 1, &mut coded);
            }
            varint(2 * count, &mut coded);
        }
        let mut bytes = 0x1c84_9313_u32.to_be_bytes().to_vec();
        bytes.extend((coded.len() as u32).to_be_bytes());
        bytes.extend([0_u32, 3].map(u32::to_be_bytes).concat());
        bytes.extend([1_u64, 3_600_000_000_000].map(u64::to_be_bytes).concat());
        bytes.extend(1_f64.to_be_bytes());
        bytes.extend(coded);
        record::Histogram::decode(&STANDARD.encode(bytes)).expect("a histogram").encode()
    }

    fn numbers(mut line: &str) -> Vec<u64> {
        let mut numbers = Vec::new();
        while let Some(first) = line.bytes().next() {
            let (text, after) = line[1..].split_once(' ').unwrap_or_default();
            let is_small = first != b'!';
            numbers.push(if is_small { u64::from(first - b'#') } else { text.parse().unwrap() });
            line = if is_small { &line[1..] } else { after };
        }
        numbers
    }

    fn check(json: &str, expected: &str) {
        assert_eq!(packed(json), expected);
        assert_eq!(unpacked(expected), json);
    }

    #[test]
    fn curves_are_packed_as_far_as_nothing_is_lost() {
        check(r#"{"points":[]}"#, r#"{"points":[]}"#);
        check(r#"{"points":[[1.5,2.0],[2.0,3.0]]}"#, r#"{"points":[[1.5,2.0],[2.0,3.0]]}"#);
        check(r#"{"points":[[4.0,null],[8.0,0.5]]}"#, "{\"packed\":[]}\n4,4\n,null,0.5");
        check(r#"{"points":[[8.0,7.0],[4.0,0.1]]} x"#, "{\"packed\":[]} x\n8,-4\n,7.0,0.1");
        check(
            r#"{"points":[[4096.0,35770000.0],[8192.0,100000.0]],"points":[[1.0,0.0]]}"#,
            "{\"packed\":[],\"packed\":[]}\n4096,4096\n1\n0000,3577,10\n0,",
        );
        let whole = r#"{"points":[[9007199254740992.0,1.0]]}"#;
        check(whole, whole);
        let text = r#"{"label":"\"points\":[[1.0,2.0]]"}"#;
        check(text, text);
    }
}
