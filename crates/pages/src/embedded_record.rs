//! The record in a page: JSON with its curves in a form that compresses well, gzip, base64.
//!
//! Curves are most of a record, and most of their digits are redundant: positions increase in equal
//! steps, and values have four digits before their zeros. In place of a curve's points stands
//! `"packed":[]`; behind the JSON follow the steps of all curves, a line each, and then the lines of
//! their values, each after the zeros at the end of every value of its curve. Points that are at no
//! whole number stay unchanged. The page's script restores them.

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
/// Integers below this are exact in JavaScript, too.
const EXACT: i64 = 1 << 53;

/// A record as text for a script element.
pub(super) fn embedded_record(record: &Record) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(packed(&record.encode()).as_bytes()).expect("memory takes every byte");
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
    out + rest + &all_steps + &all_values
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
        let (steps, values) = columns.split_at(columns.len() / 2);
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
        out + rest
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
