//! Uses for which people want a medium.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::alike::closest;

/// A use. Written `root-disk`, `camera`, `video=100Mbit`, `logger`, `database`; names of things for
/// which people buy a card (pi, phone, dashcam, etcd) are read as their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Use {
    /// The system disk of a small computer.
    RootDisk,
    /// A camera's card: pictures one after the other.
    Camera,
    /// Recording video at so many megabits (10^6) a second.
    Video {
        /// The rate of the recording, in Mbit/s.
        mbit: u32,
    },
    /// A data logger: small records, a few at a time, all day.
    Logger,
    /// A database that commits often, as SQLite does.
    Database,
}

/// Words that people type: the name of a use, or of the thing for which they buy a card.
const NAMES: &[(Use, &[&str])] = &[
    (
        Use::RootDisk,
        &[
            "root-disk",
            "pi",
            "rpi",
            "raspberry-pi",
            "raspberrypi",
            "raspberry",
            "raspi",
            "phone",
            "smartphone",
            "android",
            "tablet",
            "octoprint",
            "home-assistant",
            "nas",
            "server",
            "steam-deck",
        ],
    ),
    (Use::Camera, &["camera", "photo", "photos"]),
    (Use::Video { mbit: 50 }, &["dashcam", "dash-cam"]),
    (Use::Video { mbit: 100 }, &["action-camera", "gopro", "drone", "4k"]),
    (Use::Logger, &["logger", "data-logger", "datalogger", "logging", "log"]),
    (
        Use::Database,
        &["database", "db", "sqlite", "postgres", "postgresql", "mysql", "mariadb", "etcd", "k3s"],
    ),
];

/// A text is not the name of a use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseError {
    given: String,
}

impl fmt::Display for UseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a known use; ", self.given)?;
        let name = self.given.split('=').next().unwrap_or_default();
        let near = closest(name, ["root-disk", "camera", "video=100Mbit", "logger", "database"]);
        if !near.is_empty() && !self.given.is_empty() {
            write!(f, "did you mean {}? Else ", near.join(" or "))?;
        }
        f.write_str("type root-disk, camera, video=100Mbit, logger or database")
    }
}

impl std::error::Error for UseError {}

impl FromStr for Use {
    type Err = UseError;

    /// Parses the names of [`NAMES`] and "video=100Mbit" (or "video=100"), a rate of 1 to 100000
    /// Mbit/s.
    fn from_str(text: &str) -> Result<Use, UseError> {
        let wrong = || UseError { given: text.to_owned() };
        let typed = text.trim().to_ascii_lowercase();
        let name = typed.replace([' ', '_'], "-");
        if let Some((wanted, _)) = NAMES.iter().find(|(_, names)| names.contains(&name.as_str())) {
            return Ok(*wanted);
        }
        let rate = typed.strip_prefix("video=").ok_or_else(wrong)?;
        let digits = ["mbit/s", "mbits", "mbps", "mbit"]
            .iter()
            .find_map(|unit| rate.strip_suffix(unit))
            .unwrap_or(rate);
        let mbit = digits.trim().parse::<u32>().ok().filter(|mbit| (1..=100_000).contains(mbit));
        Ok(Use::Video { mbit: mbit.ok_or_else(wrong)? })
    }
}

impl TryFrom<String> for Use {
    type Error = UseError;
    fn try_from(text: String) -> Result<Use, UseError> {
        text.parse()
    }
}

impl From<Use> for String {
    fn from(wanted: Use) -> String {
        match wanted {
            Use::RootDisk => "root-disk".into(),
            Use::Camera => "camera".into(),
            Use::Video { mbit } => format!("video={mbit}Mbit"),
            Use::Logger => "logger".into(),
            Use::Database => "database".into(),
        }
    }
}

impl fmt::Display for Use {
    /// Writes the use as in "good for ...".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Use::Video { mbit } => write!(f, "{} at {mbit} Mbit/s", self.noun()),
            _ => write!(f, "a {}", self.noun()),
        }
    }
}

impl Use {
    /// Noun for the use, without an article and a rate: "root disk", "video".
    pub fn noun(self) -> &'static str {
        match self {
            Use::RootDisk => "root disk",
            Use::Camera => "camera",
            Use::Video { .. } => "video",
            Use::Logger => "data logger",
            Use::Database => "database",
        }
    }

    /// Id of the finding with the verdict on this use.
    pub fn verdict_id(self) -> &'static str {
        match self {
            Use::RootDisk => "verdict-root-disk",
            Use::Camera => "verdict-camera",
            Use::Video { .. } => "verdict-video",
            Use::Logger => "verdict-logger",
            Use::Database => "verdict-database",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_read_as_people_write_them() {
        let read =
            |text: &str| text.parse::<Use>().map_or_else(|error| error.to_string(), String::from);
        crate::cases::check_rows("src/uses.txt", read);
    }

    #[test]
    fn a_use_survives_json() {
        for wanted in [Use::RootDisk, Use::Video { mbit: 100 }] {
            let text = serde_json::to_string(&wanted).unwrap();
            assert_eq!(serde_json::from_str::<Use>(&text).unwrap(), wanted);
        }
        assert!(serde_json::from_str::<Use>("\"x\"").is_err());
    }
}
