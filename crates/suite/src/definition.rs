//! Suites: TOML files that users can copy and change.

use std::fmt;

use toml::Table;

use crate::catalogue::test_name;
use crate::settings::SettingValue;

/// A suite, as in its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suite {
    /// Its name, such as "standard"; the name of the file if the text has none.
    pub name: String,
    /// Description in one line.
    pub about: String,
    /// Time limit of a run, in nanoseconds of the device's clock; `None` for no limit.
    pub time_limit_ns: Option<u64>,
    /// True if cells that turn out to be fast are measured in rounds.
    pub rounds: bool,
    /// Its tests in order, each with the settings that differ from the published ones.
    pub tests: Vec<SuiteEntry>,
}

/// A test in a suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuiteEntry {
    /// Name of the test, such as "random-write".
    pub test: String,
    /// Settings: name to value.
    pub settings: Vec<(String, SettingValue)>,
    /// Numbers of the articles that published it, such as "004"; in suite "seeds" only.
    pub articles: Vec<String>,
}

impl From<&str> for SuiteEntry {
    /// Reads "seek path=direct": a test and its settings.
    fn from(words: &str) -> SuiteEntry {
        let mut words = words.split_whitespace();
        let test = words.next().unwrap_or_default().to_owned();
        let settings = words.filter_map(|word| word.split_once('='));
        let settings = settings.map(|(name, value)| (name.to_owned(), value.into())).collect();
        SuiteEntry { test, settings, articles: Vec::new() }
    }
}

/// The error of a suite file that cannot be read, with file, line and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteError {
    file: String,
    line: Option<usize>,
    reason: String,
}

impl fmt::Display for SuiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for SuiteError {}

const BUILT_IN: [(&str, &str); 5] = [
    ("check", include_str!("../suites/check.toml")),
    ("quick", include_str!("../suites/quick.toml")),
    ("standard", include_str!("../suites/standard.toml")),
    ("full", include_str!("../suites/full.toml")),
    ("seeds", include_str!("../suites/seeds.toml")),
];

/// Settings that limit the time of a test.
const TIMES: [&str; 3] = ["time", "min_time", "max_time"];

impl Suite {
    /// The built-in suite of this name; "seeds:004" is the part of "seeds" for article 004.
    pub fn built_in(name: &str) -> Option<Suite> {
        let (base, article) = name.split_once(':').map_or((name, None), |(a, b)| (a, Some(b)));
        let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == base)?;
        let mut suite = Suite::parse(base, text).expect("the built-in suites are read by a test");
        if let Some(article) = article {
            suite.tests.retain(|entry| entry.articles.iter().any(|of| of == article));
            suite.name = name.to_owned();
        }
        (!suite.tests.is_empty()).then_some(suite)
    }

    /// Names of the built-in suites: "check", "quick", "standard", "full", "seeds".
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The same with another time limit, in nanoseconds: the limits of its tests keep their shares.
    pub fn within(mut self, time_limit_ns: u64) -> Suite {
        let Some(before_ns) = self.time_limit_ns.replace(time_limit_ns) else { return self };
        let share = time_limit_ns as f64 / before_ns as f64;
        let settings = self.tests.iter_mut().flat_map(|entry| &mut entry.settings);
        for (_, value) in settings.filter(|(name, _)| TIMES.contains(&name.as_str())) {
            if let Ok(ns) = value.duration_ns() {
                *value = SettingValue::Ns((ns as f64 * share).max(1000.0) as u64);
            }
        }
        self
    }

    /// Parses a suite's text. `file` is its name in errors.
    pub fn parse(file: &str, text: &str) -> Result<Suite, SuiteError> {
        let at_key = |key: &str, reason: String| SuiteError {
            file: file.into(),
            line: line_of(text, key),
            reason,
        };
        let table: Table = text.parse().map_err(|error: toml::de::Error| SuiteError {
            file: file.into(),
            line: error
                .span()
                .map(|span| text[..span.start.min(text.len())].lines().count().max(1)),
            reason: error.message().to_owned(),
        })?;
        if let Some(key) = table
            .keys()
            .find(|key| !["name", "about", "time_limit", "rounds", "test"].contains(&key.as_str()))
        {
            return Err(at_key(
                key,
                format!(
                    "unknown key '{key}'; a suite has name, about, time_limit, rounds and [[test]]"
                ),
            ));
        }
        let word = |key: &str| table.get(key).and_then(|value| value.as_str()).map(str::to_owned);
        let time_limit_ns =
            match table.get("time_limit").map(|value| typed(value).unwrap_or_default()) {
                None => None,
                Some(limit) => Some(
                    limit
                        .parse::<record::units::Nanos>()
                        .map_err(|e| at_key("time_limit", e.to_string()))?
                        .0,
                ),
            };
        let rounds = match table.get("rounds") {
            None => false,
            Some(value) => {
                value.as_bool().ok_or_else(|| at_key("rounds", "rounds is true or false".into()))?
            }
        };
        let entries =
            table.get("test").and_then(|value| value.as_array()).filter(|list| !list.is_empty());
        let entries = entries.ok_or_else(|| SuiteError {
            file: file.into(),
            line: None,
            reason: "has no [[test]]".into(),
        })?;
        let tests = entries
            .iter()
            .map(|entry| read_entry(entry).map_err(|(key, reason)| at_key(&key, reason)))
            .collect::<Result<_, _>>()?;
        Ok(Suite {
            name: word("name").unwrap_or_else(|| file.to_owned()),
            about: word("about").unwrap_or_default(),
            time_limit_ns,
            rounds,
            tests,
        })
    }
}

/// Line of the first place where `key` is given a value or opens a table.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let names = |line: &str| {
        line.split('=').next().is_some_and(|left| left.trim().trim_matches(['[', ']']) == key)
    };
    text.lines().position(names).map(|index| index + 1)
}

fn read_entry(entry: &toml::Value) -> Result<SuiteEntry, (String, String)> {
    let table = entry
        .as_table()
        .ok_or_else(|| ("test".to_owned(), "each [[test]] is a table".to_owned()))?;
    let test = table
        .get("name")
        .and_then(|value| value.as_str())
        .ok_or_else(|| ("name".to_owned(), "a [[test]] has no name".to_owned()))?;
    let articles = table.get("articles").and_then(typed).unwrap_or_default();
    let articles = articles.split(',').filter(|of| !of.is_empty()).map(str::to_owned).collect();
    let mut settings = Vec::new();
    for (key, value) in
        table.iter().filter(|(key, _)| !["name", "articles"].contains(&key.as_str()))
    {
        settings.push((
            key.clone(),
            typed(value).map(SettingValue::Typed).ok_or_else(|| {
                (key.clone(), format!("'{key}' is neither a word, a number nor a list of these"))
            })?,
        ));
    }
    Ok(SuiteEntry { test: test_name(test).to_owned(), settings, articles })
}

/// A TOML value as it is typed on the command line.
fn typed(value: &toml::Value) -> Option<String> {
    Some(match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        toml::Value::Array(list) => list.iter().map(typed).collect::<Option<Vec<_>>>()?.join(","),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Suite::parse("mine.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn a_time_limit_may_be_a_number_of_seconds() {
        let suite = Suite::parse("mine.toml", "time_limit = 60\n[[test]]\nname='seek'");
        assert_eq!(suite.map(|suite| suite.time_limit_ns), Ok(Some(60_000_000_000)));
    }

    #[test]
    fn a_malformed_suite_names_file_line_and_key() {
        insta::assert_snapshot!(error("name = 'x'\ntime_limit = '4kk'\n[[test]]\nname='seek'"), @"mine.toml, line 2: '4kk' is not a duration; write a number with ms, s, m or h, for example 90s or 10m");
        insta::assert_snapshot!(error("nmae = 'x'\n[[test]]\nname='seek'"), @"mine.toml, line 1: unknown key 'nmae'; a suite has name, about, time_limit, rounds and [[test]]");
        insta::assert_snapshot!(error("name = 'x'\n[[tests]]\nname='seek'"), @"mine.toml, line 2: unknown key 'tests'; a suite has name, about, time_limit, rounds and [[test]]");
        insta::assert_snapshot!(error("name = "), @"mine.toml, line 1: string values must be quoted, expected literal string");
        insta::assert_snapshot!(error("name = 'x'"), @"mine.toml: has no [[test]]");
        insta::assert_snapshot!(error("[[test]]\nblock = 1"), @"mine.toml: a [[test]] has no name");
        insta::assert_snapshot!(error("[[test]]\nname = 'seek'\nblock = 2020-01-01"), @"mine.toml, line 3: 'block' is neither a word, a number nor a list of these");
    }
}
