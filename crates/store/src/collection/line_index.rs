//! What is held in memory of a line.

use record::MediumKind;
use record::collection::{HeadlineFigure, Origin};

/// A line as far as it can be asked for.
pub(super) struct LineIndexEntry {
    pub number: u64,
    /// When it became what it is, as a number in the audit.
    pub(super) changed: i64,
    pub slug: Box<str>,
    /// In small letters, as are interface and classes.
    pub name: Box<str>,
    pub interface: Box<str>,
    /// " c10 u1 a1 ".
    pub classes: Box<str>,
    pub latest: Box<str>,
    pub kind: MediumKind,
    pub origin: Origin,
    pub is_fake: bool,
    pub capacity_gb: u64,
    pub runs: u64,
    pub(super) medians: Medians,
    /// A bit for each figure on which enough senders agree.
    pub(super) confirmed: u64,
}

impl LineIndexEntry {
    pub fn median(&self, figure: HeadlineFigure) -> Option<f64> {
        Some(self.medians[figure as usize]).filter(|median| !median.is_nan())
    }

    pub fn is_confirmed(&self, figure: HeadlineFigure) -> bool {
        self.confirmed >> figure as u64 & 1 == 1
    }
}

/// Figures of a line, in the order of `HeadlineFigure::ALL`; NaN where there is none.
pub(super) type Medians = [f64; HeadlineFigure::ALL.len()];
