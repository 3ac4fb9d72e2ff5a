//! The record in a page: JSON with its curves in a form that compresses well, gzip, base64.
//!
//! Curves are most of a record, and most digits of a curve are redundant: positions increase in
//! equal steps, and a rate of 17 digits is a step divided by a short time. So points become
//! `"packed"` (steps of x, values of y), or `"rates"` (steps of x, nanoseconds for each) if that
//! gives exactly the same rate again. In their place stands an empty array; the steps of all curves
//! follow behind the JSON, a line each, and then the values. Other points stay unchanged. The page's
//! script restores them.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use record::Record;

/// Start of the points in the JSON of a record. Within a text its quotes would be escaped.
const POINTS: &str = r#""points":[["#;
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
            Some([kind, steps, values]) => {
                out += &format!(r#""{kind}":[]"#);
                all_steps += &format!("\n{steps}");
                all_values += &format!("\n{values}");
            }
            None => out += &format!("{POINTS}{points}]]"),
        }
        rest = &rest[from + length + 2..];
    }
    out + rest + &all_steps + &all_values
}

/// Points `a,b],[c,d` as columns behind their kind; `None` if a position is not an integer.
fn columns(points: &str) -> Option<[String; 3]> {
    let mut before = 0;
    let (mut steps, mut values): (Vec<i64>, Vec<&str>) = (Vec::new(), Vec::new());
    for point in points.split("],[") {
        let (x, y) = point.split_once(',')?;
        let x: i64 = x.strip_suffix(".0")?.parse().ok().filter(|x: &i64| x.abs() < EXACT)?;
        steps.push(x - before);
        values.push(y);
        before = x;
    }
    let times: Option<Vec<String>> =
        steps.iter().zip(&values).map(|(step, y)| Some(time_of(*step, y)?.to_string())).collect();
    let (kind, values) = match times {
        Some(times) => ("rates", times.join(",")),
        None => ("packed", values.join(",")),
    };
    let steps: Vec<String> = steps.iter().map(i64::to_string).collect();
    Some([kind.to_owned(), steps.join(","), values])
}

/// Nanoseconds in which a step has exactly this rate; `None` if there is no such integer.
fn time_of(step: i64, rate: &str) -> Option<i64> {
    let rate: f64 = rate.parse().ok().filter(|rate| *rate > 0.0)?;
    let scaled = step as f64 * 1e9;
    let time = (scaled / rate).round();
    ((1.0..EXACT as f64).contains(&time) && scaled / time == rate).then_some(time as i64)
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
            let find = |kind| Some((rest.find(&format!(r#""{kind}":[]"#))?, kind));
            let next = ["packed", "rates"].into_iter().filter_map(find).min();
            let (at, kind) = next.expect("a place for each curve");
            let mut x = 0;
            let points = steps.split(',').zip(values.split(',')).map(|(step, value)| {
                let step: i64 = step.parse().expect("a step");
                x += step;
                match kind {
                    "rates" => {
                        let time: f64 = value.parse().expect("a time");
                        format!("[{x}.0,{:?}]", step as f64 * 1e9 / time)
                    }
                    _ => format!("[{x}.0,{value}]"),
                }
            });
            out += &rest[..at];
            out += &format!(r#""points":[{}]"#, points.collect::<Vec<_>>().join(","));
            rest = &rest[at + kind.len() + 5..];
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
        check(r#"{"points":[[4.0,null],[8.0,0.5]]}"#, "{\"packed\":[]}\n4,4\nnull,0.5");
        check(r#"{"points":[[8.0,7.0],[4.0,0.1]]} x"#, "{\"packed\":[]} x\n8,-4\n7.0,0.1");
        check(
            r#"{"points":[[4096.0,35772925.76419214],[8192.0,4096000000000.0]],"points":[[1.0,null]]}"#,
            "{\"rates\":[],\"packed\":[]}\n4096,4096\n1\n114500,1\nnull",
        );
        let whole = r#"{"points":[[9007199254740992.0,1.0]]}"#;
        check(whole, whole);
        let text = r#"{"label":"\"points\":[[1.0,2.0]]"}"#;
        check(text, text);
    }
}
