//! What f3 says of each of its files since version 9: their average, slowest and fastest rates.

use record::units::GIB;
use record::{Series, SeriesAxis};

use super::reading::Reading;
use super::text::{ImportText, binary_rate, number, whole};

/// Average, slowest and fastest.
const NAMES: [&str; 3] =
    ["rate of each file", "slowest rate within each file", "fastest rate within each file"];

/// Curves over the files, which are of 1 GiB each, in bytes a second; none where the text has none.
pub(super) fn curves(source: &ImportText, reading: &mut Reading) -> Vec<Series> {
    let mut curves = NAMES.map(|name| Series {
        name: name.to_owned(),
        x: SeriesAxis::Bytes,
        y: SeriesAxis::Bps,
        points: Vec::new(),
    });
    let mut end = None;
    for (at, line) in source.numbered() {
        if let Some((file, bps)) = average(line) {
            end = Some(file.saturating_mul(GIB) as f64);
            curves[0].points.extend(end.map(|end| [end, bps]));
            reading.take(at);
        } else if let (Some(end), Some((least, most))) = (end, extremes(line)) {
            curves[1].points.push([end, least]);
            curves[2].points.push([end, most]);
            reading.take(at);
        }
    }
    curves.into_iter().filter(|curve| !curve.points.is_empty()).collect()
}

/// "Creating file 1.h2w ... OK! Avg: 20.13 MB/s": its number and rate.
fn average(line: &str) -> Option<(u64, f64)> {
    let line = line.trim();
    let rest =
        line.strip_prefix("Creating file ").or_else(|| line.strip_prefix("Validating file "))?;
    let file = whole(rest.split('.').next()?)?;
    Some((file, rate(rest.split_once("Avg: ")?.1)?))
}

/// "Min: 9.91 MB/s, Max: 22.40 MB/s, 51 samples".
fn extremes(line: &str) -> Option<(f64, f64)> {
    let (least, rest) = line.trim().strip_prefix("Min: ")?.split_once(", Max: ")?;
    Some((rate(least)?, rate(rest)?))
}

fn rate(text: &str) -> Option<f64> {
    let mut words = text.split([' ', ',']);
    binary_rate(number(words.next()?)?, words.next()?)
}
