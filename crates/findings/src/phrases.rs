//! Phrases of statements that other code looks for: written and recognised here only.

/// Start of the verdict on a medium that fails a check.
pub const DO_NOT_USE: &str = "Do not use it.";
/// Start of the statement on a fake.
pub const IS_FAKE: &str = "It is a fake:";
/// First advice for a medium that reports errors.
pub const COPY_NOW: &str = "Copy what is on it now, before anything else.";
/// Statement and advice for a device that was removed during the measurement.
pub const WENT_AWAY: &str = "it was unplugged, or its reader or its port reset it. Nothing is known of the medium itself by that. Try another reader, port or cable, and run it again.";
/// Statement on errors all over the medium.
pub const MANY_PLACES: &str = "It fails in places all over it.";
/// Statement on a part that fails with errors: on a fake it would lose data without errors.
pub const DAMAGED_OR_FAKE: &str = "Whether it is damaged or a fake cannot be told.";
/// Start of the statement on errors close together.
pub const ONE_AREA: &str = "One area fails:";
/// Start of the verdict on a medium that is faster in benchmarks than in use.
pub const OVERSTATED: &str = "Benchmarks overstate it:";
/// Reason: a dishonest flush.
pub const FLUSH_LIES: &str = "its flush does not wait for flash";
/// End of the statement on a flush that empties a cache.
pub const FLUSH_EMPTIES: &str = "as it should";
/// Caveat: the flush was not tested.
pub const FLUSH_UNTESTED: &str = "whether its flush is honest";
/// Caveat: nothing was measured for long enough to fill caches, or to heat the medium up.
pub const STAYS_FAST: &str = "whether it stays this fast";
/// Caveat of an uncertain verdict.
pub const FEW_SAMPLES: &str = "few samples";
/// Subject of a verdict by random writes.
pub const RANDOM_WRITES: &str = "random writes";
/// Reason why nothing is said of the uses of a medium.
pub const ONCE_LOST: &str = "its probe lost data or failed, which was not tried twice";
/// Reason why rates of a device in its host's memory are not reported.
pub const HOST_CACHED: &str = "the host's page cache answers in its place";
