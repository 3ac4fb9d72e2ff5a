//! Largest possible values of figures: no medium and no run has more.

/// Largest rate in bytes per second: a hundred times that of the fastest link of a drive.
pub const MAX_BPS: f64 = 1e12;
/// Largest rate in I/Os per second.
pub const MAX_IOPS: f64 = 1e9;
/// Longest time in nanoseconds, ten years: no I/O takes one year, and no run ten.
pub const MAX_NS: f64 = 3.2e17;
/// Largest capacity, and largest amount written, in bytes.
pub const MAX_BYTES: f64 = (1u64 << 60) as f64;

/// Largest value of a metric or a parameter, by the unit at the end of its name; `None` if the name
/// has no such unit.
pub fn most_of(name: &str) -> Option<f64> {
    match name {
        name if name.ends_with("_ns") => Some(MAX_NS),
        name if name.ends_with("bps") => Some(MAX_BPS),
        name if name.ends_with("iops") || name.ends_with("_per_s") => Some(MAX_IOPS),
        name if name.ends_with("_bytes") => Some(MAX_BYTES),
        _ => None,
    }
}
