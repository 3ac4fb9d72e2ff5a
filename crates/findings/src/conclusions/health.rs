//! Does it fail: errors, damaged places, waits without an answer, wear, data not restored.

pub(crate) mod damaged_places;
pub(crate) mod failing;
pub(crate) mod not_restored;
pub(crate) mod waits;
pub(crate) mod wear;
