//! Time that a run gets: `--precision` and `--time`, expressed in the settings of its tests.

use record::units::{MILLISECOND_NS, SECOND_NS, saturating_sum};
use suite::catalogue::find;
use suite::definition::{Suite, SuiteEntry};
use suite::{Choice, Plan, SettingValue};

use program::exit::{Result, usage};

/// Settings that say how narrow the interval of a figure must be before its cell ends.
const CERTAINTY: [&str; 2] = ["certainty", "slow_certainty"];
/// Setting of the longest time of a cell.
const MOST: &str = "max_time";
/// Setting of the shortest time of a cell that is precise enough.
const LEAST: &str = "min_time";
/// Most times the suite's time that a cell gets.
const MAX_TIMES: f64 = 100.0;

/// Reads `--precision`: a share of the figure, as "2%" or "0.02".
pub fn read_precision(text: &str) -> Result<f64> {
    match SettingValue::from(text).share() {
        Ok(share) if share > 0.0 && share <= 0.5 => Ok(share),
        _ => usage(format_args!("--precision {text}: write a share up to 50 %, for example 2%")),
    }
}

/// All entries of the suite. A test that only `--only` names is in no suite: it is added, with its
/// published settings, so that it can be changed like the others.
fn all_entries<'a>(
    suite: &'a mut Suite,
    choice: &Choice,
) -> impl Iterator<Item = &'a mut SuiteEntry> {
    for only in &choice.only {
        if !suite.tests.iter().any(|entry| entry.test == *only) {
            suite.tests.push(SuiteEntry { test: only.clone(), ..SuiteEntry::default() });
        }
    }
    suite.tests.iter_mut()
}

/// A setting as the suite has it, or else its published value; `None` if the test has no such
/// setting.
fn value(entry: &SuiteEntry, name: &str) -> Option<SettingValue> {
    let own = entry.settings.iter().rev().find(|(known, _)| known == name);
    let published = || {
        let settings = find(&entry.test).ok()?.settings();
        settings.iter().find(|setting| setting.name == name).map(|it| it.default.into())
    };
    own.map(|(_, value)| value.clone()).or_else(published)
}

fn set(entry: &mut SuiteEntry, name: &str, value: SettingValue) {
    entry.settings.retain(|(known, _)| known != name);
    entry.settings.push((name.to_owned(), value));
}

fn duration_ns(entry: &SuiteEntry, name: &str) -> Option<u64> {
    value(entry, name)?.duration_ns().ok()
}

/// Sets how narrow the intervals of a test must be, as a share, where it has such a setting.
fn set_certainty(entry: &mut SuiteEntry, share: f64) {
    for name in CERTAINTY {
        if value(entry, name).is_some() {
            set(entry, name, SettingValue::Share(share));
        }
    }
}

/// A time as a setting takes it: whole milliseconds, at least one.
fn whole_ms(ns: f64) -> SettingValue {
    let ms = (ns / MILLISECOND_NS as f64).round().max(1.0);
    SettingValue::Ns((ms * MILLISECOND_NS as f64) as u64)
}

/// Measures every rate until its interval is ± `wanted` (a share of the figure). Half the width
/// needs four times the time, so the time limits grow. A test without such a setting does not
/// change.
pub fn be_precise(suite: &mut Suite, choice: &mut Choice, wanted: f64) {
    let mut longest = 1.0_f64;
    for entry in all_entries(suite, choice) {
        let Some(own) = CERTAINTY.iter().find_map(|name| value(entry, name)?.share().ok()) else {
            continue;
        };
        // 0 % is never reached: such a cell takes all of its time already.
        let times = if own > 0.0 { (own / wanted).powi(2).clamp(1.0, MAX_TIMES) } else { 1.0 };
        longest = longest.max(times);
        set_certainty(entry, wanted);
        if let Some(most_ns) = duration_ns(entry, MOST) {
            set(entry, MOST, whole_ms(most_ns as f64 * times));
        }
    }
    if choice.time_limit_ns.is_none() {
        choice.time_limit_ns = suite.time_limit_ns.map(|limit| (limit as f64 * longest) as u64);
    }
}

/// Makes the run take about `time_ns`: the cells that can run for longer share, in proportion, the
/// time that the others leave. `plan` is the plan of the unchanged suite.
pub fn fit_to_time(suite: &mut Suite, choice: &mut Choice, plan: &Plan, time_ns: u64) {
    let can_stretch = |test: &str| {
        let test = find(test).map(|test| test.settings()).unwrap_or_default();
        let has = |name: &str| test.iter().any(|setting| setting.name == name);
        has(MOST) && CERTAINTY.iter().any(|name| has(name))
    };
    let sum = |wanted: bool| {
        let cells = plan.cells.iter().filter(|cell| can_stretch(&cell.test) == wanted);
        saturating_sum(cells.map(|cell| cell.max_ns)) as f64
    };
    let (stretched, fixed) = (sum(true), sum(false));
    let time = time_ns as f64;
    // Where the others alone would take nearly all of it, all give way.
    let (of_stretched, of_fixed) = if fixed < time / 2.0 {
        ((time - fixed) / stretched.max(1.0), 1.0)
    } else {
        (time / (stretched + fixed).max(1.0), time / (stretched + fixed).max(1.0))
    };
    for entry in all_entries(suite, choice) {
        let can_stretch = can_stretch(&entry.test);
        let times = if can_stretch { of_stretched } else { of_fixed };
        if can_stretch {
            set_certainty(entry, 0.0);
        }
        let Some(most_ns) = duration_ns(entry, MOST) else { continue };
        let most_ns = most_ns as f64 * times;
        set(entry, MOST, whole_ms(most_ns));
        if let Some(least_ns) = duration_ns(entry, LEAST).filter(|least| *least as f64 > most_ns) {
            set(entry, LEAST, whole_ms((least_ns as f64).min(most_ns)));
        }
    }
    choice.time_limit_ns = Some(time_ns.max(SECOND_NS));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quick() -> (Suite, Choice) {
        (Suite::built_in("quick").unwrap(), Choice::default())
    }

    fn of(suite: &Suite, test: &str, name: &str) -> SettingValue {
        value(suite.tests.iter().find(|entry| entry.test == test).unwrap(), name).unwrap()
    }

    #[test]
    fn twice_as_precise_takes_four_times_as_long() {
        let (mut suite, mut choice) = quick();
        be_precise(&mut suite, &mut choice, 0.025);
        assert_eq!(of(&suite, "random-write", "certainty"), SettingValue::Share(0.025));
        assert_eq!(of(&suite, "random-write", "slow_certainty"), SettingValue::Share(0.025));
        assert_eq!(of(&suite, "random-write", "max_time"), SettingValue::Ns(40 * SECOND_NS));
        assert_eq!(of(&suite, "prime", "max_time"), "19s".into(), "it has no certainty");
        assert_eq!(choice.time_limit_ns, Some(4 * 74 * SECOND_NS));
    }

    #[test]
    fn less_precise_takes_no_longer() {
        let (mut suite, mut choice) = quick();
        be_precise(&mut suite, &mut choice, 0.2);
        assert_eq!(of(&suite, "random-read", "certainty"), SettingValue::Share(0.2));
        assert_eq!(of(&suite, "random-read", "max_time"), SettingValue::Ns(4 * SECOND_NS));
        assert_eq!(choice.time_limit_ns, Some(74 * SECOND_NS));
    }

    #[test]
    fn precisions_are_shares() {
        for (text, share) in [("2%", 0.02), ("0.5 %", 0.005), ("0.1", 0.1)] {
            assert_eq!(read_precision(text).ok(), Some(share), "{text}");
        }
        for text in ["", "0", "0%", "-1%", "80%", "2 %%", "x"] {
            assert!(read_precision(text).is_err(), "{text}");
        }
    }
}
