//! Claims of the packaging, as they are typed. `findings` decides whether they hold.

use record::Claims;
use record::units::{Bytes, Nanos};

use program::exit::{Result, usage};

/// Names of what may be claimed, or set as a limit.
const NAMES: [&str; 11] = [
    "capacity",
    "class",
    "uhs",
    "video",
    "app",
    "read",
    "write",
    "random-read",
    "random-write",
    "p99",
    "longest",
];

/// Reads the words of `--claim`, such as `capacity=32GB,class=10,app=A1,read=95MB/s`.
pub fn read(text: &str) -> Result<Claims> {
    let mut claims = Claims::default();
    let mut seen = Vec::new();
    for item in text.split(',') {
        let Some((name, value)) = item.split_once('=') else {
            return usage(format_args!(
                "--claim {item}: write NAME=VALUE, for example capacity=32GB"
            ));
        };
        let value = value.trim();
        let class = |letter| class_number(value, letter);
        let size = value.trim_end_matches("/s").parse::<Bytes>().ok().map(|bytes| bytes.0);
        let name = name.trim();
        if seen.contains(&name) {
            return usage(format_args!("--claim {name}: given twice; the box can claim it once"));
        }
        seen.push(name);
        let ok = match name {
            "capacity" => replace(&mut claims.capacity_bytes, size),
            "class" => replace(
                &mut claims.speed_class,
                class('C').filter(|class| [2, 4, 6, 10].contains(class)),
            ),
            "uhs" => {
                replace(&mut claims.uhs_grade, class('U').filter(|grade| [1, 3].contains(grade)))
            }
            "video" => replace(
                &mut claims.video_class,
                class('V').filter(|class| [6, 10, 30, 60, 90].contains(class)),
            ),
            "app" => {
                replace(&mut claims.app_class, class('A').filter(|class| [1, 2].contains(class)))
            }
            "read" => replace(&mut claims.read_bps, size.map(|rate| rate as f64)),
            "write" => replace(&mut claims.write_bps, size.map(|rate| rate as f64)),
            "random-read" => replace(&mut claims.random_read_iops, iops(value)),
            "random-write" => replace(&mut claims.random_write_iops, iops(value)),
            "p99" => replace(&mut claims.write_p99_ns, time_ns(value)),
            "longest" => replace(&mut claims.write_max_ns, time_ns(value)),
            other => {
                let near = match record::alike::closest(other, NAMES).first() {
                    Some(near) => format!("; did you mean {near}?"),
                    None => String::new(),
                };
                return usage(format_args!(
                    "--claim {other}: known are {}{near}",
                    NAMES.join(", ")
                ));
            }
        };
        if !ok {
            return usage(format_args!(
                "--claim {name}: '{value}' does not fit; examples: capacity=32GB, class=10, uhs=3, video=30, app=A1, read=95MB/s, random-write=500IOPS, p99=20ms, longest=1s"
            ));
        }
    }
    Ok(claims)
}

/// A class as a number, with or without the letter it is printed with: "10", "C10", "A1".
fn class_number(text: &str, letter: char) -> Option<u32> {
    let digits = text.strip_prefix([letter, letter.to_ascii_lowercase()]).unwrap_or(text);
    digits.parse().ok()
}

/// Reads "500IOPS". The unit must be there: a bare number may be meant as MB/s, as it is for
/// `write`.
fn iops(text: &str) -> Option<f64> {
    let text = text.to_ascii_lowercase();
    let number = text.strip_suffix("iops")?.trim().parse::<f64>().ok()?;
    (number.is_finite() && number > 0.0).then_some(number)
}

/// Reads "20ms" as nanoseconds; the unit must be there.
fn time_ns(text: &str) -> Option<u64> {
    let has_unit = text.ends_with(|c: char| c.is_ascii_alphabetic());
    text.parse::<Nanos>().ok().map(|ns| ns.0).filter(|ns| has_unit && *ns > 0)
}

fn replace<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    *slot = value;
    slot.is_some()
}
