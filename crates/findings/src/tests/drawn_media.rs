//! Media drawn at random from mechanisms, and not from the list that comes with the program: caches
//! that are small or large, honest or lying; pauses; tails; allocation units that are no power of
//! two; few or many open ones. In virtual time the long run of each is known, so that a verdict can
//! be held against it: what fails at a use is never called good or usable for it.

use std::thread;

use record::figures::DISK_IOPS;
use record::units::{KIB, SECOND_NS};
use record::{Fitness, Record, Use, test};
use sim::Profile;
use sim::truth::{self, SteadyLoad};
use suite::Choice;

use super::on_media::measured_as;
use crate::verdict::findings::finding;
use crate::verdict::{conditions, is_sure, verdict_on};

/// Media that are drawn, as many as the gate has time for. Of 1000, five are praised wrongly, each
/// by `check` for its 53 to 80 lines, of which none met a tail of one in 500.
const DRAWN: u64 = 60;
/// Praise that may be wrong: a level is said flatly from 95 % on.
const WRONG: usize = 1;
/// A medium fails at a use where it comes to less than this share of what the use needs, or is
/// later than the limit by as much: near the border a level is a matter of chance.
const CLEARLY: f64 = 0.6;
/// Lines a second of `log-append`.
const LINES: f64 = 10.0;
/// A line that is later than this is lost.
const LATE_NS: f64 = SECOND_NS as f64;

/// A medium as it was drawn.
struct DrawnMedium {
    number: u64,
    profile: Profile,
    is_honest: bool,
}

impl DrawnMedium {
    fn draw(number: u64) -> DrawnMedium {
        let (text, is_honest) = truth::drawn(41, number);
        let profile =
            Profile::parse("drawn", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        DrawnMedium { number, profile, is_honest }
    }

    fn measured(&self, suite: &str, choice: &Choice) -> Record {
        measured_as(&self.profile, suite, choice, self.number)
    }

    /// Random writes of 4 KiB over all of it, in the long run.
    fn writes_per_s(&self) -> f64 {
        let capacity = self.profile.spec().medium.capacity.0;
        let load =
            SteadyLoad { offset_bytes: Some(0), ..SteadyLoad::random_write(4 * KIB, capacity) };
        truth::iops(&self.profile, &load, self.number)
    }

    /// A logger that appends for a quarter of an hour: its lines a second, and the third latest.
    fn lines(&self) -> (f64, u64) {
        let set = |setting: &str, value: &str| {
            (test::LOG_APPEND.to_owned(), setting.to_owned(), value.into())
        };
        let choice = Choice {
            only: vec![test::LOG_APPEND.to_owned()],
            set: vec![set("time", "15m"), set("span", "256MiB"), set("in_a_row", "60s")],
            time_limit_ns: Some(3600 * SECOND_NS),
            ..Choice::default()
        };
        let record = self.measured("standard", &choice);
        let cell = record.cells_of(test::LOG_APPEND).next().expect("it is measured");
        let rate = cell.metrics.iops.as_ref().map_or(0.0, |rate| rate.value);
        let late = cell.series.iter().find(|series| series.name.starts_with("slowest line"));
        let mut late: Vec<u64> = late
            .into_iter()
            .flat_map(|series| &series.points)
            .map(|point| point[1] as u64)
            .collect();
        late.sort_unstable_by(|a, b| b.cmp(a));
        (rate, late.get(2).copied().unwrap_or(0))
    }

    /// The uses it is called good or usable for, without a condition, and fails at.
    fn wrongly_praised(&self) -> Vec<String> {
        let suite = ["check", "quick", "standard"][(self.number % 3) as usize];
        let record = self.measured(suite, &Choice::default());
        let praised = |wanted: Use| {
            verdict_on(&record, wanted)
                .filter(|verdict| verdict.level >= Fitness::Usable)
                .filter(|verdict| verdict.condition.is_none() && is_sure(verdict))
        };
        let mut wrong = Vec::new();
        let mut hold = |wanted: Use, truth: &dyn Fn() -> (bool, String)| {
            let Some(verdict) = praised(wanted) else { return };
            let (fails, truth) = truth();
            if fails {
                wrong.push(format!(
                    "{} {suite}: {} {wanted}: {}; truth: {truth}",
                    self.number,
                    verdict.level.word(),
                    finding(&verdict, true).statement
                ));
            }
        };
        let is_full_untested = conditions::caveats_of_positive(&record, false, false)
            .is_some_and(|untested| untested.contains("with full caches"));
        let writes = || {
            let per_s = self.writes_per_s();
            (
                per_s < DISK_IOPS * CLEARLY && !is_full_untested,
                format!("{per_s:.1} writes a second"),
            )
        };
        hold(Use::RootDisk, &writes);
        hold(Use::Database, &|| {
            let (slow, claimed) = writes();
            (slow || !self.is_honest, format!("{claimed}, honest: {}", self.is_honest))
        });
        hold(Use::Logger, &|| {
            let (rate, late_ns) = self.lines();
            let fails = rate < LINES * CLEARLY || late_ns as f64 > LATE_NS / CLEARLY;
            (fails, format!("{rate:.1} lines a second, the third latest {late_ns} ns"))
        });
        wrong
    }
}

#[test]
fn what_fails_at_a_use_is_never_called_good_for_it() {
    let of = |from: u64| {
        (from..DRAWN).step_by(2).flat_map(|number| DrawnMedium::draw(number).wrongly_praised())
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let odd = scope.spawn(|| of(1).collect::<Vec<_>>());
        let even: Vec<String> = of(0).collect();
        even.into_iter().chain(odd.join().expect("no medium makes a suite panic")).collect()
    });
    assert!(wrong.len() <= WRONG, "{}\n{}", wrong.len(), wrong.join("\n"));
}
