//! How fast it is, and for how long: caches, flushes, heat, stalls, slow places.

pub(crate) mod burst;
pub(crate) mod caches;
pub(crate) mod flush;
pub(crate) mod imported_curves;
pub(crate) mod places;
pub(crate) mod random_write;
pub(crate) mod stalls;
pub(crate) mod throttling;
