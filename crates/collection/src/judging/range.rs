//! What numbers can be at all, and the words for one that cannot.

use std::fmt;

use record::Estimate;

use super::Rejection;

/// No medium moves so many bytes in a second: a hundred times what the fastest link of a drive
/// carries.
pub(super) const MOST_BPS: f64 = 1e12;
/// Nor does so many I/Os.
pub(super) const MOST_IOPS: f64 = 1e9;
/// No run takes ten years.
pub(super) const MOST_NS: f64 = 3.2e17;
/// No medium holds so many bytes, nor has so many been written to one.
pub(super) const MOST_BYTES: f64 = (1u64 << 60) as f64;
/// Nobody waits for so many I/Os.
pub(super) const MOST_OPS: f64 = 1e15;
/// Of a number nobody here knows the meaning of.
pub(super) const MOST: f64 = 1e19;

/// Whether a number is one and lies between these.
pub(super) fn within(
    place: impl fmt::Display,
    value: f64,
    low: f64,
    high: f64,
) -> Result<(), Rejection> {
    if value.is_finite() && (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Rejection::invalid(
        "out-of-range",
        format!("{place}: {value:?} cannot be; it would be from {low:?} to {high:?}"),
    ))
}

/// The same for a number that may be absent.
pub(super) fn within_if(
    place: impl fmt::Display,
    value: Option<u64>,
    low: f64,
    high: f64,
) -> Result<(), Rejection> {
    value.map_or(Ok(()), |value| within(place, value as f64, low, high))
}

/// A figure with its interval and its count.
pub(super) fn figure(
    place: impl fmt::Display,
    found: &Estimate,
    low: f64,
    high: f64,
) -> Result<(), Rejection> {
    within(format_args!("{place}.value"), found.value, low, high)?;
    within(format_args!("{place}.n"), found.n as f64, 0.0, MOST_OPS)?;
    let Some([from, to]) = found.ci95 else { return Ok(()) };
    // An interval may reach beyond what can be, for few samples; but not by much.
    let slack = high.max(-low);
    within(format_args!("{place}.ci95[0]"), from, -slack, slack)?;
    within(format_args!("{place}.ci95[1]"), to, -slack, slack)?;
    if from <= to {
        return Ok(());
    }
    Err(contradiction(
        &place,
        format_args!("the interval from {from:?} to {to:?} is the wrong way round"),
    ))
}

/// Two things in one document that cannot both be true.
pub(super) fn contradiction(place: impl fmt::Display, what: impl fmt::Display) -> Rejection {
    Rejection::invalid("contradiction", format!("{place}: {what}"))
}

/// The largest value a metric or a parameter can have, by the unit its name ends with.
pub(super) fn most_of(name: &str) -> f64 {
    match name {
        name if name.ends_with("_ns") => MOST_NS,
        name if name.ends_with("bps") => MOST_BPS,
        name if name.ends_with("iops") || name.ends_with("_per_s") => MOST_IOPS,
        name if name.ends_with("_bytes") => MOST_BYTES,
        _ => MOST,
    }
}
