//! Phrases of statements that other code looks for: written and recognised here only.

/// Start of the verdict on a medium that fails a check.
pub const DO_NOT_USE: &str = "Do not use it.";
/// Start of the statement on a fake.
pub const IS_FAKE: &str = "It is a fake:";
/// First advice for a medium that reports errors.
pub const COPY_NOW: &str = "Copy what is on it now, before anything else.";
/// Statement on a part that fails with errors: on a fake it would lose data without errors.
pub const DAMAGED_OR_FAKE: &str = "Whether it is damaged or a fake cannot be told.";
/// Reason: a dishonest flush.
pub const FLUSH_LIES: &str = "its flush does not wait for flash";
/// End of the statement on a flush that empties a cache.
pub const FLUSH_EMPTIES: &str = "as it should";
/// Caveat: the flush was not tested.
pub const FLUSH_UNTESTED: &str = "whether its flush is honest";
/// Caveat of an uncertain verdict.
pub const FEW_SAMPLES: &str = "few samples";
/// Subject of a verdict by random writes.
pub const RANDOM_WRITES: &str = "random writes";
/// Reason why rates of a device in its host's memory are not reported.
pub const HOST_CACHED: &str = "the host's page cache answers in its place";
