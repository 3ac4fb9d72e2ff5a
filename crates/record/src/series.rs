//! Curves kept with a cell.

use serde::{Deserialize, Serialize};

/// What an axis of a series means; names carry the unit.
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
    /// Number of the operation: of an I/O, a poll, or a round of `steady-state`.
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

/// A curve of at most a few hundred points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// What it shows ("rate along the fill", "slowest I/O in each window").
    pub name: String,
    /// Meaning of the first number of a point.
    pub x: SeriesAxis,
    /// Meaning of the second number of a point.
    pub y: SeriesAxis,
    /// The points in order of x.
    pub points: Vec<[f64; 2]>,
}
