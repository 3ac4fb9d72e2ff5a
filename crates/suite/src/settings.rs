//! Settings of a test: the published values are the defaults, a suite file overrides them, `--set
//! test.name=value` overrides both.

use std::collections::{BTreeMap, BTreeSet};

use record::alike::closest;
use record::units::Nanos;

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

/// The value of a setting.
#[derive(Clone, Copy)]
pub struct GivenSetting<'a> {
    /// As it was typed or computed.
    pub value: &'a SettingValue,
    /// True if a user chose it, and not a suite.
    pub is_asked: bool,
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

    /// All settings: name and value.
    pub fn all(&self) -> Vec<(String, SettingValue)> {
        self.values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    }

    /// The value of a setting that the test has.
    pub fn given(&self, name: &str) -> GivenSetting<'_> {
        GivenSetting { value: &self.values[name], is_asked: self.asked.contains(name) }
    }

    /// An error about one of these settings.
    pub fn bad(&self, name: &str, reason: impl Into<String>) -> SettingError {
        SettingError::BadValue { test: self.test.into(), name: name.into(), reason: reason.into() }
    }
}
