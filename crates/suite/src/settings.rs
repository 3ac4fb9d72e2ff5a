//! Settings of a test: the published values are the defaults, a suite file overrides them, `--set
//! test.name=value` overrides both.

use std::collections::{BTreeMap, BTreeSet};

use device::Extent;
use record::alike::closest;
use record::units::{Bytes, Nanos};
use record::{Content, Region};

use crate::TargetInfo;

/// The largest block in bytes: published results of dd have blocks of 100 MiB.
const MAX_BLOCK_BYTES: u64 = 128 << 20;

/// A setting of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name; a unit in the name is that of a bare number.
    pub name: &'static str,
    /// The published value, as it is typed.
    pub default: &'static str,
    /// Description in one line.
    pub about: &'static str,
}

/// Value of a setting: a text as it was typed, or a number that the program has computed.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// As typed; it is parsed when the test reads it.
    Typed(String),
    /// Of one: 0.05 is 5 %.
    Share(f64),
    /// Nanoseconds.
    Ns(u64),
}

impl From<&str> for SettingValue {
    fn from(text: &str) -> SettingValue {
        SettingValue::Typed(text.to_owned())
    }
}

impl SettingValue {
    /// The text, if it was typed.
    pub fn as_typed(&self) -> Option<&str> {
        if let SettingValue::Typed(text) = self { Some(text) } else { None }
    }

    /// A duration in nanoseconds.
    ///
    /// # Errors
    /// It is none; the reason.
    pub fn duration_ns(&self) -> Result<u64, String> {
        match self {
            SettingValue::Ns(ns) => Ok(*ns),
            SettingValue::Share(_) => Err("a share is no duration".to_owned()),
            SettingValue::Typed(text) => {
                text.trim().parse::<Nanos>().map(|ns| ns.0).map_err(|error| error.to_string())
            }
        }
    }

    /// A share between 0 and 1, or a percentage written "5%".
    ///
    /// # Errors
    /// It is none; the reason.
    pub fn share(&self) -> Result<f64, String> {
        let text = match self {
            SettingValue::Share(share) => return Ok(*share),
            SettingValue::Ns(_) => return Err("a duration is no share".to_owned()),
            SettingValue::Typed(text) => text.trim(),
        };
        let value = match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
            None => text.parse::<f64>(),
        };
        let share = value.ok().filter(|share| (0.0..=1.0).contains(share));
        share.ok_or_else(|| format!("'{text}' is not a share between 0 and 100 %"))
    }
}

/// The error of an invalid setting, with its name and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no test of this name.
    #[error("there is no test '{test}'{hint}")]
    UnknownTest {
        /// Name that was given.
        test: String,
        /// Suggestion: "; did you mean seek?".
        hint: String,
    },
    /// The test has no such setting.
    #[error("{test} has no setting '{name}'; {hint}it has {known}")]
    UnknownSetting {
        /// Name of the test that was to be set.
        test: String,
        /// Name that was given.
        name: String,
        /// Suggestion: "did you mean block? ", or empty.
        hint: String,
        /// Names of all settings it has, separated by commas.
        known: String,
    },
    /// The value is invalid.
    #[error("{test}.{name}: {reason}")]
    BadValue {
        /// Name of the test that the setting belongs to.
        test: String,
        /// Name of the setting that cannot have this value.
        name: String,
        /// The problem and the valid values.
        reason: String,
    },
}

/// The settings of one test in one suite.
#[derive(Clone, Debug)]
pub struct TestSettings {
    test: &'static str,
    values: BTreeMap<&'static str, SettingValue>,
    /// Settings that a user chose, in place of a suite's or published value.
    asked: BTreeSet<&'static str>,
}

impl TestSettings {
    /// All settings of a test, at their published values.
    pub fn defaults(test: &dyn crate::Test) -> TestSettings {
        TestSettings::of(test.name(), test.settings())
    }

    /// The published values of settings that belong to no test of a suite.
    pub fn of(test: &'static str, settings: &[Setting]) -> TestSettings {
        TestSettings {
            test,
            values: settings.iter().map(|s| (s.name, s.default.into())).collect(),
            asked: BTreeSet::new(),
        }
    }

    /// Changes one setting.
    pub fn set(&mut self, name: &str, value: &SettingValue) -> Result<(), SettingError> {
        let Some(slot) = self.values.get_mut(name) else {
            let known = self.values.keys().copied().collect::<Vec<_>>().join(", ");
            let hint = match closest(name, self.values.keys().copied()).as_slice() {
                [] => String::new(),
                near => format!("did you mean {}? ", near.join(" or ")),
            };
            return Err(SettingError::UnknownSetting {
                test: self.test.into(),
                name: name.into(),
                hint,
                known,
            });
        };
        slot.clone_from(value);
        Ok(())
    }

    /// The same for a setting that a user chose: if it cannot be followed exactly, that is an
    /// error.
    pub fn ask(&mut self, name: &str, value: &SettingValue) -> Result<(), SettingError> {
        self.set(name, value)?;
        self.asked.extend(self.values.keys().find(|known| **known == name).copied());
        Ok(())
    }

    /// The range of the size of the setting `span` in this region, or the reason why there is none;
    /// as [`TestSettings::range`].
    pub fn span(
        &self,
        target: &TargetInfo,
        region: Region,
    ) -> Result<Result<Extent, String>, SettingError> {
        self.range(target, region, self.size("span")?)
    }

    /// The range of so many bytes in this region, or the reason why there is none. If a user chose
    /// a `span` that does not fit, that is an error; one of a suite is reduced to the room that
    /// there is.
    pub fn range(
        &self,
        target: &TargetInfo,
        region: Region,
        wanted_bytes: u64,
    ) -> Result<Result<Extent, String>, SettingError> {
        let found = target.region(region, wanted_bytes);
        let block_bytes = target.facts.logical_block_bytes.max(1);
        let least_bytes = wanted_bytes / block_bytes * block_bytes;
        match &found {
            Ok(span)
                if self.asked.contains("span")
                    && region != Region::Whole
                    && span.bytes < least_bytes =>
            {
                let there = Bytes(span.bytes);
                let rest = if self.values.contains_key("region") {
                    format!("; {}.region=whole takes all of it", self.test)
                } else {
                    String::new()
                };
                let why = format!("there are only {there} in this part of the medium{rest}");
                Err(self.bad("span", why))
            }
            _ => Ok(found),
        }
    }

    /// All settings: name and value.
    pub fn all(&self) -> Vec<(String, SettingValue)> {
        self.values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    /// A text as it was given.
    pub fn text(&self, name: &str) -> &str {
        self.value(name).as_typed().unwrap_or_default()
    }

    fn value(&self, name: &str) -> &SettingValue {
        self.values.get(name).unwrap_or_else(|| {
            panic!("{} asks for its setting '{name}', which it does not declare", self.test)
        })
    }

    /// An error about one of these settings.
    pub fn bad(&self, name: &str, reason: impl Into<String>) -> SettingError {
        SettingError::BadValue { test: self.test.into(), name: name.into(), reason: reason.into() }
    }

    fn read<T: std::str::FromStr<Err: std::fmt::Display>>(
        &self,
        name: &str,
        text: &str,
    ) -> Result<T, SettingError> {
        text.trim().parse().map_err(|error: T::Err| self.bad(name, error.to_string()))
    }

    fn list<T>(
        &self,
        name: &str,
        read: impl Fn(&str) -> Result<T, SettingError>,
    ) -> Result<Vec<T>, SettingError> {
        let list: Vec<T> =
            self.text(name).split(',').map(|item| read(item.trim())).collect::<Result<_, _>>()?;
        if list.is_empty() { Err(self.bad(name, "the list is empty")) } else { Ok(list) }
    }

    /// A size in bytes; never 0.
    pub fn size(&self, name: &str) -> Result<u64, SettingError> {
        match self.read::<Bytes>(name, self.text(name))?.0 {
            0 => Err(self.bad(name, "must be more than 0")),
            bytes => Ok(bytes),
        }
    }

    /// An offset in bytes; may be 0.
    pub fn place(&self, name: &str) -> Result<u64, SettingError> {
        Ok(self.read::<Bytes>(name, self.text(name))?.0)
    }

    /// A list of offsets in bytes.
    pub fn places(&self, name: &str) -> Result<Vec<u64>, SettingError> {
        self.list(name, |item| Ok(self.read::<Bytes>(name, item)?.0))
    }

    /// A list of sizes in bytes.
    pub fn sizes(&self, name: &str) -> Result<Vec<u64>, SettingError> {
        self.list(name, |item| match self.read::<Bytes>(name, item)?.0 {
            0 => Err(self.bad(name, "must be more than 0")),
            bytes => Ok(bytes),
        })
    }

    /// A list of block sizes: multiples of 512 bytes, up to 128 MiB.
    pub fn blocks(&self, name: &str) -> Result<Vec<u64>, SettingError> {
        let blocks = self.sizes(name)?;
        for &block in &blocks {
            if block % 512 != 0 || block > MAX_BLOCK_BYTES {
                return Err(self.bad(
                    name,
                    format!("{block} bytes is no block: use a multiple of 512 bytes up to 128 MiB"),
                ));
            }
        }
        Ok(blocks)
    }

    /// One block size, for a test with a single one.
    pub fn block(&self, name: &str) -> Result<u64, SettingError> {
        match self.blocks(name)?[..] {
            [block_bytes] => Ok(block_bytes),
            _ => Err(self.bad(name, "takes one size")),
        }
    }

    /// A duration in nanoseconds.
    pub fn duration_ns(&self, name: &str) -> Result<u64, SettingError> {
        self.value(name).duration_ns().map_err(|reason| self.bad(name, reason))
    }

    /// A whole number of at least 1.
    pub fn count(&self, name: &str) -> Result<u64, SettingError> {
        match self.read::<u64>(name, self.text(name)) {
            Ok(0) | Err(_) => Err(self
                .bad(name, format!("'{}' is not a whole number of at least 1", self.text(name)))),
            Ok(count) => Ok(count),
        }
    }

    /// A list of whole numbers of at least 1.
    pub fn counts(&self, name: &str) -> Result<Vec<u32>, SettingError> {
        self.list(name, |item| match item.parse::<u32>() {
            Ok(count) if count >= 1 => Ok(count),
            _ => Err(self.bad(name, format!("'{item}' is not a whole number of at least 1"))),
        })
    }

    /// A share between 0 and 1, or a percentage written "5%".
    pub fn share(&self, name: &str) -> Result<f64, SettingError> {
        self.value(name).share().map_err(|reason| self.bad(name, reason))
    }

    /// One of `words`.
    pub fn choice<'a>(&self, name: &str, words: &[&'a str]) -> Result<&'a str, SettingError> {
        let text = self.text(name).trim();
        let found = words.iter().find(|word| **word == text).copied();
        found.ok_or_else(|| self.bad(name, format!("'{text}' is not one of {}", words.join(", "))))
    }

    /// A list of some of `words`.
    pub fn choices<'a>(&self, name: &str, words: &[&'a str]) -> Result<Vec<&'a str>, SettingError> {
        self.list(name, |item| {
            let found = words.iter().find(|word| **word == item).copied();
            found.ok_or_else(|| {
                self.bad(name, format!("'{item}' is not one of {}", words.join(", ")))
            })
        })
    }

    /// A choice between "yes" and "no"; `true` for "yes".
    pub fn yes(&self, name: &str) -> Result<bool, SettingError> {
        Ok(self.choice(name, &["yes", "no"])? == "yes")
    }

    /// One kind of data, for a test with a single one.
    pub fn content(&self, name: &str) -> Result<Content, SettingError> {
        match self.contents(name)?[..] {
            [content] => Ok(content),
            _ => Err(self.bad(name, "takes one kind")),
        }
    }

    /// Kinds of data: zeros, repeated, incompressible, byte:N, compressible:N%.
    pub fn contents(&self, name: &str) -> Result<Vec<Content>, SettingError> {
        self.list(name, |item| {
            let number = |text: &str| text.trim_end_matches('%').parse::<u8>().ok();
            match item.split_once(':') {
                None if item == "zeros" => Some(Content::Zeros),
                None if item == "repeated" => Some(Content::Repeated),
                None if item == "incompressible" => Some(Content::Incompressible),
                Some(("byte", value)) => number(value).map(Content::Byte),
                Some(("compressible", percent)) => number(percent).filter(|p| *p <= 100).map(Content::Compressible),
                _ => None,
            }
            .ok_or_else(|| {
                self.bad(name, format!("'{item}' is not one of zeros, repeated, incompressible, byte:0..255, compressible:0..100%"))
            })
        })
    }
}
