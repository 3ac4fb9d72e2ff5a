//! Part of a run that others get to see: the same for `submit`, `publish` and `export`, so that a
//! run has one name everywhere.

use std::mem;

use record::text::printable;
use record::{Cell, Histogram, Published, Record, Sample};
use serde_json::Value;

use program::exit::{Result, usage};

/// Replacement of private text.
const BLANK: &str = "[not published]";
/// Length in characters below which a private word is not searched for: it would be found in too
/// many others.
const SHORTEST: usize = 5;

/// The published part of a record, and the number of its texts in which something was blanked. A
/// test may have put a path into the words for an error, or a medium its serial number into its
/// name: the record's own private words are blanked in every text. Characters that cannot be
/// printed are removed.
///
/// # Errors
/// A number of it is not finite.
pub fn of(record: &Record) -> Result<(Published, usize)> {
    let mut run = Published::from(record);
    let numbers: Vec<CellNumbers> = run.cells.iter_mut().map(CellNumbers::take).collect();
    let mut value = run.json();
    let private = private(record);
    let mut blanked = 0;
    each_text(&mut value, &mut |text| {
        let printable = printable(text);
        let kept =
            private.iter().fold(printable.clone(), |text, word| text.replace(word.as_str(), BLANK));
        blanked += usize::from(kept != printable);
        *text = kept;
    });
    let sound = Published::decode(&value.to_string()).ok();
    let Some(mut run) = sound.filter(|_| numbers.iter().all(CellNumbers::are_finite)) else {
        return usage(
            "a number in the record is not finite, so the record cannot be sent; measure again",
        );
    };
    run.cells.iter_mut().zip(numbers).for_each(|(cell, numbers)| numbers.put_back(cell));
    Ok((run, blanked))
}

/// Numbers of a cell without its texts: nearly all of it, and nothing in them is private.
struct CellNumbers {
    histogram: Option<Histogram>,
    activity: Vec<Sample>,
    curves: Vec<Vec<[f64; 2]>>,
}

impl CellNumbers {
    fn take(cell: &mut Cell) -> CellNumbers {
        let curves = cell.series.iter_mut().map(|series| mem::take(&mut series.points));
        CellNumbers {
            curves: curves.collect(),
            histogram: cell.histogram.take(),
            activity: mem::take(&mut cell.activity),
        }
    }

    fn are_finite(&self) -> bool {
        self.curves.iter().flatten().flatten().all(|number| number.is_finite())
    }

    fn put_back(self, cell: &mut Cell) {
        cell.histogram = self.histogram;
        cell.activity = self.activity;
        for (series, points) in cell.series.iter_mut().zip(self.curves) {
            series.points = points;
        }
    }
}

/// Words of a record that are not published, the longest first, so that one that contains another
/// is blanked as a whole.
pub fn private(record: &Record) -> Vec<String> {
    let (medium, target) = (&record.medium, &record.target);
    let host = record.host.as_ref().and_then(|host| host.id.clone());
    let mut words: Vec<String> = [&medium.serial, &medium.cid, &target.backing, &host]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    words.extend(medium.by_id.iter().cloned());
    // A path is one where it leads somewhere; that of a device tells nothing of anyone.
    let is_path =
        |path: &&str| path.contains('/') && !path.starts_with("/dev/") && !path.starts_with("sim:");
    words.extend(Some(target.path.as_str()).filter(is_path).map(str::to_owned));
    words.extend(std::env::var("HOME").ok().filter(|home| is_path(&home.as_str())));
    words.iter_mut().for_each(|word| *word = printable(word));
    words.retain(|word| word.len() >= SHORTEST);
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words
}

/// Calls `change` with every text of a value; names of members are the program's own.
fn each_text(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(list) => list.iter_mut().for_each(|value| each_text(value, change)),
        Value::Object(members) => members.values_mut().for_each(|value| each_text(value, change)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::exit::Exit;

    fn record() -> Record {
        let text = include_str!("../../../fixtures/records/check-a1.json");
        Record::from_json(text).unwrap()
    }

    #[test]
    fn numbers_are_published_as_they_are_and_words_without_what_is_private() {
        let mut record = record();
        record.medium.serial = Some("S1234567".to_owned());
        record.cells[0].labels.insert("note".to_owned(), "seen on S1234567".to_owned());
        record.cells[0].series[0].name = "rate of S1234567".to_owned();
        let (run, blanked) = of(&record).unwrap();
        assert_eq!(blanked, 2);
        assert_eq!(run.cells[0].labels["note"], "seen on [not published]");
        assert_eq!(run.cells[0].series[0].name, "rate of [not published]");
        let numbers = |cells: &[Cell]| {
            let of = |cell: &Cell| {
                (
                    cell.histogram.clone(),
                    cell.series[..].iter().map(|it| it.points.clone()).collect::<Vec<_>>(),
                )
            };
            cells.iter().map(of).collect::<Vec<_>>()
        };
        assert!(numbers(&run.cells).iter().any(|(_, curves)| !curves.is_empty()));
        assert_eq!(numbers(&run.cells), numbers(&record.cells));
    }

    #[test]
    fn a_number_that_is_none_is_not_published() {
        let mut curve = record();
        let cell = curve.cells.iter_mut().find(|cell| !cell.series.is_empty()).unwrap();
        cell.series[0].points[0][1] = f64::NAN;
        let mut figure = record();
        figure.run.label = Some("a".to_owned());
        let rate = figure.cells.iter_mut().find_map(|cell| cell.metrics.bps.as_mut()).unwrap();
        rate.value = f64::INFINITY;
        for record in [curve, figure] {
            assert_eq!(of(&record).unwrap_err().exit, Exit::Usage);
        }
    }
}
