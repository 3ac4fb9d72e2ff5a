//! Time of day in the formats of records and names.

use jiff::Timestamp;

/// Now: RFC 3339 in UTC, to the second.
pub fn now() -> String {
    to_the_second(Timestamp::now())
}

/// A moment in the same form.
pub fn to_the_second(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Present time as the beginning of a run's name: "20261121-220000".
pub fn for_names() -> String {
    Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string()
}
