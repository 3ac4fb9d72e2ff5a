//! Curves kept with a cell.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// Meaning of an axis of a series; names carry the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Axis"))]
#[serde(rename_all = "snake_case")]
pub enum SeriesAxis {
    /// Time since the cell began.
    ElapsedNs,
    /// Bytes moved since the cell began.
    Bytes,
    /// Position on the medium.
    OffsetBytes,
    /// Number of the operation: of an I/O or a poll.
    Ops,
    /// Rate in bytes a second.
    Bps,
    /// Rate in I/Os a second.
    Iops,
    /// Time of one I/O.
    LatencyNs,
    /// Temperature in degrees Celsius.
    Celsius,
}

/// A curve of at most a few hundred points; measured values have four significant digits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// Description ("rate along the fill", "slowest I/O in each window").
    pub name: String,
    /// Meaning of the first number of a point.
    pub x: SeriesAxis,
    /// Meaning of the second number of a point.
    pub y: SeriesAxis,
    /// The points in order of x.
    pub points: Vec<[f64; 2]>,
}

/// Significant digits of the values of a curve: ten times finer than the steps of a histogram.
const DIGITS: i32 = 4;

impl Series {
    /// A curve of these points, with the meanings of x and y.
    pub fn new(name: impl Into<String>, [x, y]: [SeriesAxis; 2], points: Vec<[f64; 2]>) -> Series {
        Series { name: name.into(), x, y, points }
    }

    /// Rounds measured values (rates and times) to four significant digits: further ones are noise,
    /// and most of the size of a record.
    pub fn round(&mut self) {
        use SeriesAxis::{Bps, Iops, LatencyNs};
        if matches!(self.y, Bps | Iops | LatencyNs) {
            self.points.iter_mut().for_each(|[_, y]| *y = rounded(*y));
        }
    }
}

/// Rounds a value so that its three shown digits stay the same: a last digit of 5 that is not exact
/// is rounded to the side of the value.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = value.abs().log10().floor() as i32 + 1 - DIGITS;
    // Powers of ten above one are exact, those below are not.
    let unit = 10f64.powi(exponent.abs());
    let units = if exponent >= 0 { value / unit } else { value * unit };
    let whole = units.round();
    let is_tie = whole % 10.0 == 5.0 || whole % 10.0 == -5.0;
    let whole = match (units - whole).partial_cmp(&0.0) {
        Some(Ordering::Greater) if is_tie => whole + 1.0,
        Some(Ordering::Less) if is_tie => whole - 1.0,
        _ => whole,
    };
    if exponent >= 0 { whole * unit } else { whole / unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_four_digits_and_places_all_of_theirs() {
        let of = |y: SeriesAxis| {
            let points = vec![[123_456.0, 123_456.0], [2.0, -98.765_4], [3.0, 0.0], [4.0, 0.25]];
            let mut series = Series { name: "a".into(), x: SeriesAxis::Ops, y, points };
            series.round();
            series.points
        };
        assert_eq!(
            of(SeriesAxis::Bps),
            [[123_456.0, 123_400.0], [2.0, -98.77], [3.0, 0.0], [4.0, 0.25]]
        );
        assert_eq!(of(SeriesAxis::OffsetBytes)[0][1], 123_456.0);
        assert_eq!(rounded(17_976.0), 17_980.0);
        assert_eq!(
            [161_480.0, 162_520.0, 162_500.0].map(rounded),
            [161_400.0, 162_600.0, 162_500.0]
        );
        assert!(rounded(f64::NAN).is_nan() && rounded(f64::INFINITY).is_infinite());
    }
}
