//! Pure conclusions from a record: suitable uses of a medium, claims on its box and if they hold,
//! tricks of its controller, and advice.
//!
//! [`conclude`] reads a record and nothing else. Tests measure and do not conclude; findings
//! conclude and do not measure, so anyone can draw every conclusion again from the record. Three
//! rules hold for each of them:
//! - a finding without enough evidence is not made, and an uncertain one says so;
//! - its confidence is a probability computed from intervals or fits, or null;
//! - no record makes it panic (an empty or partial one, numbers that are not finite).
//!
//! Every id has a page in `docs/findings/` with its evidence, its thresholds, and their source.
//!
//! Its rooms lie in a row, and each uses only those before it: `figures` (which cell stands for a
//! figure, and may it), `conclusions`, `verdict`, `conclude`, `compare`, `words`. Begin reading at
//! `figures/figure.rs`, then any file of `conclusions/`, then `conclude.rs`.

#[cfg(test)]
#[path = "../../../tests/cases.rs"]
#[allow(clippy::disallowed_methods, reason = "the cases are a file")]
mod cases;
mod caveats;
mod compare;
mod conclude;
mod conclusions;
mod figures;
mod finding_builder;
mod kinds;
pub mod matrix;
pub mod phrases;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

pub use caveats::{LINK_SLACK, add_caveats};
pub use compare::{
    BlockSizePoint, ChangedFigure, CombinationRow, Compared, ComparedBy, ComparedFigure,
    ComparisonSide, Crossing, Curve, FasterMedium, FastestMedium, FigureRow, LevelComparison,
    LevelFigure, MatrixComparison, MediaComparison, MediaRatio, MoreRuns, Rank, RankPlace,
    Regression, WorkComparison, WorkRow, compare, compare_by, compare_change, compare_curves,
    compare_runs, compare_sides, is_one_medium, letters, regression, unclear, with_medium_named,
};
pub use conclude::{conclude, conclude_for};
pub use conclusions::geometry::write_unit::{UnitFit, fit_unit};
pub use conclusions::geometry::{Levels, fit_levels, fit_page};
pub use conclusions::health::failing::is_failing;
pub use conclusions::speed::stalls::{LongestWrite, longest_write};
pub use figures::primary::metrics_of;
pub use figures::{
    Figures, KnownFigure, standard_cell, streaming_cell, sustained_estimate, usability,
};
pub use kinds::{IDS, Importance, about, importance};
pub use verdict::benchmark_bias::overstatement;
pub use verdict::findings::repeats;
pub use verdict::is_verdict;
pub use verdict::use_names::{name_of_use, noun_of_use};
pub use words::analysis::{Analysis, use_levels};
pub use words::asked::undecided;
pub use words::brief::{Brief, brief};
pub use words::evidence::evidence_text;
pub use words::headline::headline;
pub use words::next_steps::{NextStep, next_steps};
