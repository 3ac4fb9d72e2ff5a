//! Words for a reader: the brief answers, a headline, the summary, next steps.

pub(crate) mod analysis;
pub(crate) mod asked;
pub(crate) mod brief;
pub(crate) mod evidence;
pub(crate) mod headline;
pub(crate) mod next_steps;
pub(crate) mod summary;
pub(crate) mod use_levels;
