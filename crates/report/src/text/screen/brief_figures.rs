//! The main figures of a record in a line: rates of small I/O a second, then sequential ones.

use findings::{Figures, KnownFigure};
use record::collection::{FigureUnit, HeadlineFigure};
use record::units::significant;
use record::{Record, UnsteadyRounds};

use crate::figure;

/// Figures of the line with their short names. The second is shown if it decides on the use for an
/// operating system.
const SHOWN: [(HeadlineFigure, &str); 5] = [
    (HeadlineFigure::RandomWrite4k, "4k write"),
    (HeadlineFigure::RandomWrite16k, "16k write"),
    (HeadlineFigure::RandomRead4k, "4k read"),
    (HeadlineFigure::SequentialWrite, "write"),
    (HeadlineFigure::SequentialRead, "read"),
];

/// "4k write 780 ±30/s, 4k read 2900 ±60/s, write 41.0 ±1.2, read 88.1 ±2.0 MB/s": with the random
/// writes of 16 KiB if these are slower, without them, and with bounds as signs. "±" is half of the
/// 95 % interval, "~" a figure without one.
pub(super) fn in_a_line(record: &Record) -> [String; 3] {
    let decides = Figures::of(record).deciding_write();
    let [all, main] = [decides, None].map(|also| {
        let shown = SHOWN.into_iter().filter(|(figure, _)| {
            *figure != HeadlineFigure::RandomWrite16k || also == Some(*figure)
        });
        let (mut known, mut missing) = (Vec::new(), Vec::new());
        for (figure, name) in shown {
            match in_short(record, figure) {
                Some((number, unit)) => known.push((format!("{name} {number}"), unit)),
                None => missing.push(name),
            }
        }
        if known.is_empty() {
            return "No speed was measured.".to_owned();
        }
        // A unit of several figures stands behind the last of them.
        let units: Vec<&str> = known.iter().map(|(_, unit)| *unit).collect();
        let is_last = |at: usize| units[at] == "/s" || units.get(at + 1).is_none();
        let texts = known.into_iter().enumerate().map(|(at, (text, unit))| match is_last(at) {
            true => text + unit,
            false => text,
        });
        let missing = Some(missing.join(", ")).filter(|names| !names.is_empty());
        let missing = missing.map(|names| format!("no figure: {names}"));
        let texts: Vec<String> = texts.chain(missing).map(|it| it.replace(' ', "\u{a0}")).collect();
        texts.join(", ")
    });
    let signs = main.replace("at\u{a0}most\u{a0}", "≤").replace("at\u{a0}least\u{a0}", "≥");
    [all, main, signs]
}

/// "780 ±30" and "/s", "at least 18.0" and " MB/s"; `None` if there is no sound figure.
fn in_short(record: &Record, wanted: HeadlineFigure) -> Option<(String, &'static str)> {
    let KnownFigure { cell, metric, estimate } = Figures::of(record).get(wanted)?;
    let value = figure::show(cell, metric, &estimate).drawn()?;
    let (unit, scale) = match wanted.entry().unit {
        FigureUnit::Bps => (" MB/s", 1e6),
        FigureUnit::Iops | FigureUnit::Ns => ("/s", 1.0),
    };
    let number = |value: f64| significant(value / scale);
    let finite = estimate.ci95.filter(|ends| ends.iter().all(|end| end.is_finite()));
    let text = match (cell.bound(), cell.variation(metric), finite) {
        (Some(bound), ..) => format!("{} {}", bound.words(), number(value)),
        (_, Some(UnsteadyRounds::Range([low, high]) | UnsteadyRounds::Levels([low, high])), _) => {
            format!("{} to {}", number(low), number(high))
        }
        (.., Some([low, high])) if !cell.is_one_look() && !estimate.is_open() => {
            if high - low > value {
                return Some((format!("{} to {}", number(low), number(high)), unit));
            }
            format!("{} ±{}", number(value), two_digits((high - low) / 2.0 / scale))
        }
        _ => format!("~{}", number(value)),
    };
    Some((text, unit))
}

/// A number with two digits: "0.51", "1.8", "30".
fn two_digits(value: f64) -> String {
    if !(value > 0.0 && value.is_finite()) {
        return "0".to_owned();
    }
    let step = 10f64.powi(value.log10().floor() as i32 - 1);
    let decimals = (-step.log10()).round().max(0.0) as usize;
    format!("{:.decimals$}", (value / step).round() * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_an_interval_has_two_digits() {
        let of = [0.512, 1.84, 30.2, 75.0, 147.0, 0.0, 1234.0, 9.96].map(two_digits);
        assert_eq!(of, ["0.51", "1.8", "30", "75", "150", "0", "1200", "10.0"]);
    }
}
