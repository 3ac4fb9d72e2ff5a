//! Curves kept with a cell.

use serde::{Deserialize, Serialize};

use crate::units::rounded;

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

/// A curve of at most a few hundred points; measured values have three significant digits.
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

/// Significant digits of the values of a curve: as many as are shown, and as a histogram has.
const DIGITS: usize = 3;

impl Series {
    /// A curve of these points, with the meanings of x and y.
    pub fn new(name: impl Into<String>, [x, y]: [SeriesAxis; 2], points: Vec<[f64; 2]>) -> Series {
        Series { name: name.into(), x, y, points }
    }

    /// Rounds measured values (rates and times) to three significant digits: further ones are noise,
    /// and most of the size of a record.
    pub fn round(&mut self) {
        use SeriesAxis::{Bps, Iops, LatencyNs};
        if matches!(self.y, Bps | Iops | LatencyNs) {
            self.points.iter_mut().for_each(|[_, y]| *y = rounded(*y, DIGITS));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_three_digits_and_places_all_of_theirs() {
        let of = |y: SeriesAxis| {
            let points = vec![[123_456.0, 123_456.0], [2.0, -98.765_4], [3.0, 0.0], [4.0, 0.25]];
            let mut series = Series { name: "a".into(), x: SeriesAxis::Ops, y, points };
            series.round();
            series.points
        };
        assert_eq!(
            of(SeriesAxis::Bps),
            [[123_456.0, 123_000.0], [2.0, -98.8], [3.0, 0.0], [4.0, 0.25]]
        );
        assert_eq!(of(SeriesAxis::OffsetBytes)[0][1], 123_456.0);
    }
}
