//! Fields of a line that are held in memory.

use record::MediumKind;
use record::collection::{HeadlineFigure, Origin};

/// Fields of a line by which it can be found or sorted.
pub(super) struct LineIndexEntry {
    pub number: u64,
    /// Number in the audit of its last change.
    pub(super) changed: i64,
    pub slug: Box<str>,
    /// Name in small letters, as are interface and classes.
    pub name: Box<str>,
    pub interface: Box<str>,
    /// Speed classes: " c10 u1 a1 ".
    pub classes: Box<str>,
    pub latest: Box<str>,
    pub kind: MediumKind,
    pub origin: Origin,
    pub is_fake: bool,
    pub capacity_gb: u64,
    pub runs: u64,
    pub(super) medians: Medians,
    /// Bit for each figure on which enough senders agree.
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
