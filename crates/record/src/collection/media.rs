//! Media of one model that differ from the rest, in a collection whose runs identify their medium
//! ([`crate::Published::medium_key`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::HeadlineFigure;

/// A run whose medium has a key.
#[derive(Clone, Debug, PartialEq)]
pub struct MediumRun {
    /// Name of the run in the collection.
    pub id: String,
    /// Key of its medium.
    pub medium_key: String,
    /// Key of the host, the same for all its runs, if it is known.
    pub host: Option<String>,
    /// Its headline figures.
    pub figures: BTreeMap<HeadlineFigure, f64>,
}

/// The media of a line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Media {
    /// Number of media that have a key.
    pub media: u64,
    /// Number of their runs; other runs do not identify their medium.
    pub runs: u64,
    /// Media that differ from the others of the line, the farthest first.
    pub apart: Vec<MediumApart>,
}

/// A medium that differs from its siblings, which are the other media of its line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MediumApart {
    /// Key of the medium.
    pub medium_key: String,
    /// Names of its runs in the collection, the newest first.
    pub runs: Vec<String>,
    /// True if it was measured on hosts that measured none of its siblings: the hosts may differ,
    /// not the media.
    pub has_own_hosts: bool,
    /// The figures that differ, the farthest first.
    pub figures: Vec<MediumFigure>,
}

/// A figure of a medium that lies apart from those of its siblings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MediumFigure {
    /// Name of the figure.
    pub figure: HeadlineFigure,
    /// Median over the runs of the medium.
    pub value: f64,
    /// Number of these runs.
    pub runs: u64,
    /// Median over the siblings, each counted once by the median of its runs.
    pub siblings_median: f64,
    /// Lowest value of the siblings, without the tenth of them at each end.
    pub siblings_low: f64,
    /// Highest value of the siblings, without the tenth of them at each end.
    pub siblings_high: f64,
    /// Number of siblings that have the figure.
    pub siblings: u64,
    /// The value over the median of the siblings: 0.5 is half of it.
    pub ratio: f64,
}
