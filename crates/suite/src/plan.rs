//! Planning: turns a suite into the cells for a target. All I/O is planned before the run begins.

use std::num::NonZeroU32;

use device::{Device, ExtentGuard, Extents};
use record::units::saturating_sum;
use record::{PlannedCell, Skip, TargetKind, test};

use crate::catalogue::read_back::{LEAST_RUN_NS, TOO_SHORT};
use crate::definition::{Suite, SuiteEntry};
use crate::planned::{CellList, PROBE, span_of};
use crate::settings::{SettingError, SettingValue, TestSettings};
use crate::{Guarded, TargetInfo, Test, catalogue, round_plan};

/// Name of the suite of `flashmark check`.
pub const CHECK: &str = "check";

/// Choices of the user for a suite.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Only these tests, if any are named.
    pub only: Vec<String>,
    /// Names of the tests that are left out, as `--skip` names them.
    pub skip: Vec<String>,
    /// Changes of `--set test.setting=value`, as (test, setting, value).
    pub set: Vec<(String, String, SettingValue)>,
    /// A time limit in place of the suite's, in nanoseconds.
    pub time_limit_ns: Option<u64>,
    /// Number of times that everything is measured; once if it is `None`.
    pub repeat: Option<NonZeroU32>,
}

/// The reason why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// An invalid test or setting.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Nothing of the suite can be run here; the reason.
    #[error("nothing to do: {0}")]
    Empty(String),
}

/// True if later cells need the data that this one leaves on the medium: if it is lost between two
/// parts of a run, the cell is repeated first.
pub fn is_filling(cell: &PlannedCell) -> bool {
    cell.test == test::PRIME || catalogue::verify::is_writing(cell)
}

/// Cells to run, and skipped tests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Name of the suite.
    pub suite: String,
    /// The cells in order.
    pub cells: Vec<PlannedCell>,
    /// Skipped tests, with the reasons.
    pub skipped: Vec<Skip>,
    /// Time limit of the whole run, in nanoseconds.
    pub time_limit_ns: Option<u64>,
    /// True if cells that turn out to be fast are measured in rounds.
    pub rounds: bool,
    /// Number of times that every cell with a rate is measured, each time as planned; once if it is
    /// `None`.
    pub repeat: Option<NonZeroU32>,
}

impl Plan {
    /// The flag that gives a run of this plan more time.
    pub(crate) fn time_flag(&self) -> &'static str {
        if self.suite == CHECK { "--budget" } else { "--time-limit" }
    }

    /// Plans `suite` on `target`.
    pub fn make(suite: &Suite, choice: &Choice, target: &TargetInfo) -> Result<Plan, PlanError> {
        for name in
            choice.only.iter().chain(&choice.skip).chain(choice.set.iter().map(|(test, _, _)| test))
        {
            catalogue::find(name)?;
        }
        let times = choice.repeat.map_or(1, |repeat| u64::from(repeat.get()));
        let suite_limit_ns = suite.time_limit_ns.map(|limit_ns| limit_ns.saturating_mul(times));
        let mut plan = Plan {
            suite: suite.name.clone(),
            time_limit_ns: choice.time_limit_ns.or(suite_limit_ns),
            rounds: suite.rounds,
            repeat: choice.repeat,
            ..Plan::default()
        };
        for entry in chosen(suite, choice, target) {
            let test = catalogue::find(&entry.test)?;
            let is_short = plan.time_limit_ns.is_some_and(|limit_ns| limit_ns < LEAST_RUN_NS);
            if entry.test == test::READ_BACK && is_short {
                let skip = Skip::new(test.name(), TOO_SHORT);
                if !plan.skipped.contains(&skip) {
                    plan.skipped.push(skip);
                }
                continue;
            }
            plan.add(test, &settings_of(test, &entry, choice)?, target)?;
        }
        if plan.cells.is_empty() {
            let reason = plan.skipped.first().map_or("no test was chosen".to_owned(), |skip| {
                format!("{}: {}", skip.test, skip.reason)
            });
            return Err(PlanError::Empty(reason));
        }
        Ok(plan)
    }

    fn add(
        &mut self,
        test: &'static dyn Test,
        settings: &TestSettings,
        target: &TargetInfo,
    ) -> Result<(), SettingError> {
        let mut list = CellList {
            test: test.name(),
            logical_block_bytes: target.facts.logical_block_bytes.max(1),
            cells: &mut self.cells,
            skipped: &mut self.skipped,
        };
        match refusal(test, target) {
            Some(reason) => {
                list.skip(reason);
                Ok(())
            }
            None => test.plan(settings, target, &mut list),
        }
    }

    /// Every byte that the cells may write, for the extent guard. Cells on staged files write
    /// through their own device.
    pub fn writes(&self) -> Extents {
        Extents::of(self.cells.iter().filter(|cell| cell.max_written_bytes > 0).map(span_of))
    }

    /// The medium under the guard of this plan: only its spans are written, and no more than it
    /// announces.
    pub fn guard(&self, medium: impl Device + 'static) -> Guarded {
        let medium: Box<dyn Device> = Box::new(medium);
        ExtentGuard::new(medium, self.writes()).with_budget(self.max_written_bytes())
    }

    /// True if any cell checks the data that it reads; if not, a simulated medium need not keep
    /// data.
    pub fn needs_data(&self) -> bool {
        self.cells
            .iter()
            .any(|cell| catalogue::find(&cell.test).is_ok_and(|test| test.needs().data))
    }

    /// Number of times that everything is measured.
    pub fn times(&self) -> u64 {
        self.repeat.map_or(1, |repeat| u64::from(repeat.get()))
    }

    /// Most bytes that will be written: by the cells, and by rounds of those that turn out to be
    /// fast.
    pub fn max_written_bytes(&self) -> u64 {
        self.sum_of(|cell| cell.max_written_bytes)
    }

    /// Sum of a quantity over everything that is measured, rounds included.
    pub fn sum_of(&self, quantity: impl Fn(&PlannedCell) -> u64) -> u64 {
        let once = saturating_sum(self.cells.iter().map(&quantity));
        let of_rounds = match self.times() {
            1 if self.rounds => {
                saturating_sum(round_plan::planned(&self.cells).map(|round| quantity(&round)))
            }
            _ => 0,
        };
        once.saturating_mul(self.times()).saturating_add(of_rounds)
    }

    /// Size in bytes of the largest file that a test makes for itself, beside the test file.
    pub fn staged_bytes(&self) -> u64 {
        let staged = self.cells.iter().filter(|cell| catalogue::record_ops::is_staged(cell));
        staged.map(|cell| span_of(cell).bytes).max().unwrap_or(0)
    }

    /// Most nanoseconds of the run.
    pub fn max_ns(&self) -> u64 {
        let once = saturating_sum(self.cells.iter().map(|cell| cell.max_ns));
        let sum = once.saturating_mul(self.times());
        self.time_limit_ns.map_or(sum, |limit| limit.min(sum))
    }
}

/// The suite's entries that the user wants. A test that only `--only` names has its published
/// settings, and so has the capacity probe: a user who names it wants the full test. On a directory
/// the test file must be written before anything is read from it, so `prime` is always included.
fn chosen(suite: &Suite, choice: &Choice, target: &TargetInfo) -> Vec<SuiteEntry> {
    let wanted = |name: &str| {
        (choice.only.is_empty() || choice.only.iter().any(|only| only == name))
            && !choice.skip.iter().any(|skip| skip == name)
    };
    let prime_needed = target.kind == TargetKind::Directory;
    let mut entries: Vec<SuiteEntry> = suite
        .tests
        .iter()
        .filter(|entry| wanted(&entry.test) || (prime_needed && entry.test == test::PRIME))
        .cloned()
        .collect();
    if choice.only.iter().any(|only| only == PROBE) {
        entries.retain(|entry| entry.test != PROBE);
    }
    for only in &choice.only {
        if !entries.iter().any(|entry| entry.test == *only) && wanted(only) {
            entries.push(SuiteEntry { test: only.clone(), ..SuiteEntry::default() });
        }
    }
    if prime_needed && !entries.iter().any(|entry| entry.test == test::PRIME) {
        entries.insert(0, SuiteEntry::from(format!("{} passes=1", test::PRIME).as_str()));
    }
    entries
}

fn settings_of(
    test: &'static dyn Test,
    entry: &SuiteEntry,
    choice: &Choice,
) -> Result<TestSettings, SettingError> {
    let mut settings = TestSettings::defaults(test);
    let chosen = choice
        .set
        .iter()
        .filter(|(name, _, _)| name == test.name())
        .map(|(_, name, value)| (name, value));
    for (name, value) in &entry.settings {
        settings.set(name, value)?;
    }
    for (name, value) in chosen {
        settings.ask(name, value)?;
    }
    Ok(settings)
}

/// The reason why this test cannot be run here at all.
fn refusal(test: &dyn Test, target: &TargetInfo) -> Option<String> {
    let needs = test.needs();
    if needs.raw && target.is_file() {
        let way = target.way_to_raw.as_deref();
        let way = way.unwrap_or("name the device itself, for example /dev/sdX");
        return Some(format!("needs a raw medium; {way}"));
    }
    if needs.writing
        && let Err(reason) = &target.writable
    {
        return Some(reason.clone());
    }
    if needs.writing
        && !needs.restores
        && let Some(reason) = &target.must_restore
    {
        return Some(reason.clone());
    }
    if needs.data && !target.facts.keeps_data {
        return Some("this simulated medium keeps no data; there is nothing to read back".into());
    }
    if needs.files
        && let Err(reason) = &target.files
    {
        return Some(reason.clone());
    }
    None
}
