//! Properties of the crate on anything drawn at random.

mod drawn_media;
mod drawn_runs;
mod drawn_tallies;
mod plans;

use std::collections::BTreeMap;

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
