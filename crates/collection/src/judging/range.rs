//! Value ranges of numbers, and the messages for numbers outside them.

use std::fmt;

use record::Estimate;

use super::Rejection;

/// Largest number of I/Os.
pub(super) const MAX_OPS: f64 = 1e15;
/// Largest value of a number without a known meaning.
pub(super) const MOST: f64 = 1e19;

/// Rejects a number that is not finite or is outside `low..=high`.
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

/// Checks the range of a number that may be absent.
pub(super) fn within_if(
    place: impl fmt::Display,
    value: Option<u64>,
    low: f64,
    high: f64,
) -> Result<(), Rejection> {
    value.map_or(Ok(()), |value| within(place, value as f64, low, high))
}

/// Checks an estimate with its interval and its sample count.
pub(super) fn figure(
    place: impl fmt::Display,
    found: &Estimate,
    low: f64,
    high: f64,
) -> Result<(), Rejection> {
    within(format_args!("{place}.value"), found.value, low, high)?;
    within(format_args!("{place}.n"), found.n as f64, 0.0, MAX_OPS)?;
    let Some([from, to]) = found.ci95 else { return Ok(()) };
    // With few samples an interval may exceed the range, but not by much.
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

/// Rejection for two values of one document that cannot both be true.
pub(super) fn contradiction(place: impl fmt::Display, what: impl fmt::Display) -> Rejection {
    Rejection::invalid("contradiction", format!("{place}: {what}"))
}
