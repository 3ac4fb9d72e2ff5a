//! What the crate does, on anything drawn at random, held against what it did before.

mod drawn_media;
mod drawn_runs;
mod drawn_tallies;

use std::collections::BTreeMap;

use crc::{CRC_64_XZ, Crc};
use serde::Serialize;
use serde_json::{Number, Value};
use stats::Random;

fn one_in(random: &mut Random, many: u64) -> bool {
    random.below(many) == 0
}

/// As JSON, names in order, with figures of five digits: what a library of mathematics does in the
/// last is not ours, nor in which order another crate of the workspace has `serde_json` keep names.
fn in_text(of: &impl Serialize) -> String {
    let mut value = serde_json::to_value(of).expect("what a record holds can be written");
    shorten(&mut value);
    serde_json::to_string(&Ordered::of(value)).expect("what could be made can be written")
}

#[derive(Serialize)]
#[serde(untagged)]
enum Ordered {
    Plain(Value),
    List(Vec<Ordered>),
    Named(BTreeMap<String, Ordered>),
}

impl Ordered {
    fn of(value: Value) -> Ordered {
        match value {
            Value::Array(list) => Ordered::List(list.into_iter().map(Ordered::of).collect()),
            Value::Object(entries) => {
                let named = entries.into_iter().map(|(name, value)| (name, Ordered::of(value)));
                Ordered::Named(named.collect())
            }
            plain => Ordered::Plain(plain),
        }
    }
}

fn shorten(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let shortened = number.as_f64().map(|figure| format!("{figure:.4e}"));
            let figure = shortened.and_then(|text| text.parse().ok());
            *number = figure.and_then(Number::from_f64).unwrap_or_else(|| Number::from(0));
        }
        // Packed by one library or another, whichever the workspace is built with.
        Value::String(text) if text.starts_with("HISTF") => *text = "histogram".to_owned(),
        Value::Array(list) => list.iter_mut().for_each(shorten),
        Value::Object(entries) => entries.iter_mut().for_each(|(_, value)| shorten(value)),
        _ => {}
    }
}

/// The checksum of a text or of data, the same on every machine.
fn sum_of(text: impl AsRef<[u8]>) -> u64 {
    const CRC: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);
    CRC.checksum(text.as_ref())
}

/// For whoever renews the sums: `FLASHMARK_DRAWN=7 cargo test -p flashmark-suite --lib drawn --
/// --nocapture` prints what number 7 comes to; print it before and after.
#[allow(clippy::disallowed_methods, reason = "a test, and nobody's record")]
fn print_on_demand(number: u64, text: &str) {
    if std::env::var("FLASHMARK_DRAWN").is_ok_and(|wanted| wanted == number.to_string()) {
        println!("{text}");
    }
}

/// What came of all that were drawn, so many in a line.
fn table_of(drawn: u64, a_line: u64, told: impl Fn(u64) -> String) -> String {
    let told = |number| {
        let text = told(number);
        print_on_demand(number, &text);
        text
    };
    let line = |first| {
        let text: String = (first..first + a_line).map(told).collect();
        format!("{first} {:016x}\n", sum_of(text))
    };
    (0..drawn).step_by(a_line as usize).map(line).collect()
}
