//! Pure conclusions from a record: what a medium is good for, what its box promises and whether it holds, where it cheats, and what to do.
//!
//! [`conclude`] reads a record and nothing else. Tests measure and conclude nothing; findings conclude and measure nothing, so every
//! conclusion can be drawn again from the record, by anyone. Three rules hold for each of them:
//! - a finding without enough evidence is not made, and one that is uncertain says so;
//! - its confidence is a probability worked out from intervals or fits, or it is null;
//! - whatever the record holds (nothing, half a run, numbers that are none), nothing here panics.
//!
//! Every id has a page in `docs/findings/` that says what is concluded from what, with which thresholds, and whose they are.

mod draft;
mod figure;
mod likelihood;
mod stalls;
mod uses;
mod verdict;

use record::{Finding, Record};

pub use uses::{Use, UseError};

/// All conclusions of a record, the verdict first, then failures, warnings, and what is good to know.
pub fn conclude(record: &Record) -> Vec<Finding> {
    conclude_for(record, &[])
}

/// The same for someone who wants the medium for these uses: a use it is surely unfit for is a failure.
pub fn conclude_for(record: &Record, wanted: &[Use]) -> Vec<Finding> {
    verdict::conclude(record, wanted)
}
