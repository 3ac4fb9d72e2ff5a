//! Sizes, times and rates in a profile: text with a unit.

use std::fmt;

use record::units::{Bytes, Nanos};
use serde::de::{self, Deserialize, Deserializer, Visitor};

/// Slowest rate that a profile may have, in bytes per second.
const SLOWEST: u64 = 1000;

/// Longest time in nanoseconds that a profile may have, and an I/O may take: ten days.
pub(crate) const LONGEST_NS: u64 = 864_000 * 1_000_000_000;

/// A size in bytes: `"4 MiB"`, `"64 GB"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// A length of time in nanoseconds: `"0.8 ms"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Time(pub f64);

/// A rate in bytes per second: `"9.2 MB/s"`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

impl Time {
    fn parse(text: &str) -> Result<Time, String> {
        match text.parse::<Nanos>() {
            Ok(Nanos(ns)) if ns > LONGEST_NS => Err(format!("'{text}' is more than ten days")),
            Ok(Nanos(ns)) => Ok(Time(ns as f64)),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Rate {
    /// Nanoseconds for one byte at this rate.
    pub(crate) fn ns_per_byte(self) -> f64 {
        1e9 / self.0
    }

    fn parse(text: &str) -> Result<Rate, String> {
        let wrong = || {
            format!(
                "'{text}' is not a rate; write a number with kB/s, MB/s, GB/s or MiB/s, for example \"9.2 MB/s\""
            )
        };
        let size = text.trim().strip_suffix("/s").ok_or_else(wrong)?;
        // A bare "M" would be binary for a size; a rate always says which it is.
        if !size.ends_with(['B', 'b']) {
            return Err(wrong());
        }
        match size.parse::<Bytes>() {
            Ok(Bytes(bytes)) if bytes < SLOWEST => {
                Err(format!("'{text}' is under 1 kB/s, which would hardly end"))
            }
            Ok(Bytes(bytes)) => Ok(Rate(bytes as f64)),
            Err(_) => Err(wrong()),
        }
    }
}

/// Reads a value of a profile from text; an error has the reason.
struct FromText<T> {
    what: &'static str,
    parse: fn(&str) -> Result<T, String>,
}

impl<T> Visitor<'_> for FromText<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.parse)(text).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(FromText {
            what: "a size as text with its unit, for example \"4 MiB\"",
            parse: |text| {
                text.parse::<Bytes>().map(|bytes| ByteSize(bytes.0)).map_err(|e| e.to_string())
            },
        })
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(FromText {
            what: "a time as text with its unit, for example \"0.8 ms\"",
            parse: Time::parse,
        })
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(FromText {
            what: "a rate as text with its unit, for example \"9.2 MB/s\"",
            parse: Rate::parse,
        })
    }
}
