//! Time of day in the formats of records and names.

use std::time::{SystemTime, UNIX_EPOCH};

use record::Moment;

/// This moment.
pub fn moment() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment(since.as_nanos() as i128)
}

/// Now: RFC 3339 in UTC, to the second.
pub fn now() -> String {
    moment().to_the_second().to_string()
}

/// Present time as the beginning of a run's name: "20261121-220000".
pub fn for_names() -> String {
    now().replace(['-', ':', 'Z'], "").replace('T', "-")
}
