//! Words of statements that are looked for elsewhere: written from here and read back from here.

/// What the verdict on a medium that fails a check begins with.
pub const DO_NOT_USE: &str = "Do not use it.";
/// What a fake is called.
pub const IS_FAKE: &str = "It is a fake:";
/// What to do first with a medium that reports errors.
pub const COPY_NOW: &str = "Copy what is on it now, before anything else.";
/// A device that went away while it was measured, and what to do then.
pub const WENT_AWAY: &str = "it was unplugged, or its reader or its port reset it. Nothing is known of the medium itself by that. Try another reader, port or cable, and run it again.";
/// The next step where what was named is on no medium that can be seen.
pub const NAME_ONE: &str =
    "Name a directory on a medium, or its device; `flashmark list` shows them.";
/// Errors all over the medium.
pub const MANY_PLACES: &str = "It fails in places all over it.";
/// A part that fails with errors: of a fake it would lose data without one.
pub const DAMAGED_OR_FAKE: &str = "Whether it is damaged or a fake cannot be told.";
/// Errors that lie close together.
pub const ONE_AREA: &str = "One area fails:";
/// What stands before the verdict on a medium that is faster in benchmarks than in use.
pub const OVERSTATED: &str = "Benchmarks overstate it:";
/// A flush that lies.
pub const FLUSH_LIES: &str = "its flush does not wait for flash";
/// A flush that empties a cache.
pub const FLUSH_EMPTIES: &str = "as it should";
/// A caveat: the flush was not tested.
pub const FLUSH_UNTESTED: &str = "whether its flush is honest";
/// A caveat: nothing was measured for long enough to fill caches, or to heat it up.
pub const STAYS_FAST: &str = "whether it stays this fast";
/// A caveat of a verdict that is not certain.
pub const FEW_SAMPLES: &str = "few samples";
/// What a verdict by random writes speaks of.
pub const RANDOM_WRITES: &str = "random writes";
/// The reason why nothing is said of how fast a device is that lies in the memory of its host.
pub const HOST_CACHED: &str = "the host's page cache answers in its place";
