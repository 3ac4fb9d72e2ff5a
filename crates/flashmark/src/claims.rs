//! What the box claims, and whether the measured figures hold it.

use record::units::{Bytes, BytesPerSecond, Iops, MIB};
use record::{Cell, Claims, Direction, Finding, Record, Severity};

use crate::exit::{Result, usage};

/// Reads `capacity=32GB,class=10,app=A1,read=95MB/s`.
pub fn read(text: &str) -> Result<Claims> {
    let mut claims = Claims::default();
    let mut seen = Vec::new();
    for item in text.split(',') {
        let Some((name, value)) = item.split_once('=') else {
            return usage(format_args!("--claim {item}: write NAME=VALUE, for example capacity=32GB"));
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
            "class" => replace(&mut claims.speed_class, class('C').filter(|class| [2, 4, 6, 10].contains(class))),
            "uhs" => replace(&mut claims.uhs_grade, class('U').filter(|grade| [1, 3].contains(grade))),
            "video" => replace(&mut claims.video_class, class('V').filter(|class| [6, 10, 30, 60, 90].contains(class))),
            "app" => replace(&mut claims.app_class, class('A').filter(|class| [1, 2].contains(class))),
            "read" => replace(&mut claims.read_bps, size.map(|rate| rate as f64)),
            "write" => replace(&mut claims.write_bps, size.map(|rate| rate as f64)),
            other => return usage(format_args!("--claim {other}: known are capacity, class, uhs, video, app, read, write")),
        };
        if !ok {
            return usage(format_args!(
                "--claim {name}: '{value}' does not fit; examples: capacity=32GB, class=10, uhs=3, video=30, app=A1, read=95MB/s"
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

fn replace<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    *slot = value;
    slot.is_some()
}

/// A claim that can be held against a figure: the least it promises, and what was measured.
struct Held {
    claim: String,
    promised: f64,
    measured: Option<(f64, String)>,
    show: fn(f64) -> String,
}

/// Holds the claims against the record. A claim that was not measured is said to be so; one that fails is a failure.
/// Thresholds: flash.md D1 (MB = 10^6 bytes); a capacity may be 7 % below the printed one, as formatted media are.
pub fn check(record: &Record, claims: &Claims) -> Vec<Finding> {
    let rate = |value: f64| BytesPerSecond(value).to_string();
    let iops = |value: f64| Iops(value).to_string();
    let sequential = |direction| best_sequential(record, direction);
    let mut held = Vec::new();
    let mut hold = |claim: String, promised: f64, measured: Option<(f64, String)>, show: fn(f64) -> String| {
        held.push(Held { claim, promised, measured, show });
    };
    if let Some(bytes) = claims.capacity_bytes {
        let size = record.medium.capacity_bytes.map(|size| (size as f64, "declared size".to_owned()));
        hold(format!("capacity {}", Bytes(bytes)), bytes as f64 * 0.93, size, |value| Bytes(value as u64).to_string());
    }
    let classes = [
        ("class", claims.speed_class.map(f64::from)),
        ("U", claims.uhs_grade.map(|grade| f64::from(grade) * 10.0)),
        ("V", claims.video_class.map(f64::from)),
    ];
    for (name, megabytes) in classes.into_iter().filter_map(|(name, mb)| Some((name, mb?))) {
        hold(format!("{name} with at least {megabytes} MB/s sequential write"), megabytes * 1e6, sequential(Direction::Write), rate);
    }
    if let Some(class) = claims.app_class {
        let (reads, writes) = if class == 1 { (1500.0, 500.0) } else { (4000.0, 2000.0) };
        hold(format!("A{class} with {reads} random reads a second"), reads, random(record, "random-read"), iops);
        hold(format!("A{class} with {writes} random writes a second"), writes, random(record, "random-write"), iops);
    }
    for (direction, promised) in [(Direction::Read, claims.read_bps), (Direction::Write, claims.write_bps)] {
        if let Some(promised) = promised {
            hold(format!("{} at {}", if direction == Direction::Read { "reading" } else { "writing" }, rate(promised)), promised, sequential(direction), rate);
        }
    }
    held.into_iter().map(finding).collect()
}

fn finding(held: Held) -> Finding {
    let Held { claim, promised, measured, show } = held;
    let (severity, statement, evidence) = match measured {
        None => (Severity::Info, format!("The claim of {claim} was not tested by this suite."), vec![]),
        Some((value, cell)) if value >= promised => {
            (Severity::Info, format!("The claim of {claim} holds: {}.", show(value)), vec![format!("{cell}: {}", show(value))])
        }
        Some((value, cell)) => {
            (Severity::Failure, format!("The claim of {claim} does not hold: {} measured.", show(value)), vec![format!("{cell}: {}", show(value))])
        }
    };
    Finding { id: "claim".into(), severity, statement, evidence, confidence: None }
}

fn sound(cell: &&Cell) -> bool {
    !cell.flags.iter().any(record::Flag::is_impossible)
}

fn best_sequential(record: &Record, direction: Direction) -> Option<(f64, String)> {
    let name = if direction == Direction::Read { "sequential-read" } else { "sequential-write" };
    let large = record.cells_of(name).filter(sound).filter(|cell| cell.params.block_bytes >= Some(MIB / 4));
    large.filter_map(|cell| Some((cell.metrics.bps?.value, cell.id.clone()))).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// The 4 KiB figure of a random test.
fn random(record: &Record, test: &str) -> Option<(f64, String)> {
    let cells = record.cells_of(test).filter(sound).filter(|cell| cell.params.block_bytes == Some(4096));
    cells.filter_map(|cell| Some((cell.metrics.iops?.value, cell.id.clone()))).max_by(|a, b| a.0.total_cmp(&b.0))
}
