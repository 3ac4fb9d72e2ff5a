//! Requirements of a use: a figure compared with three thresholds. The weakest need decides, and is
//! the reason given.

use record::units::{Nanos, quantity};
use record::{Bound, Condition, Evidence, Fitness, Use};

use crate::conclusions::speed::stalls::Stalls;
use crate::figures::figure::UsableEstimate;
use crate::finding_builder::rounded;

/// Width of an interval (high divided by low) from which on a figure may be anything, if it also
/// spans more than two levels.
const ANYTHING: f64 = 10.0;

/// Level that one need gives a use, with its reason.
pub(crate) struct NeedLevel {
    pub level: Fitness,
    /// Reason, as in "random writes of 4 KiB reach 1.06 IOPS; a laptop disk reaches 90".
    pub reason: String,
    pub evidence: Vec<Evidence>,
    pub confidence: Option<f64>,
}

/// The verdict on one use.
pub(crate) struct UseVerdict {
    pub wanted: Use,
    pub level: Fitness,
    pub reason: String,
    pub evidence: Vec<Evidence>,
    pub confidence: Option<f64>,
    /// Measurements that are missing for a certain verdict.
    pub untested: Vec<&'static str>,
    /// A condition that no run can test.
    pub condition: Option<Condition>,
    /// Bytes of the medium that were looked at, if that was not all of it.
    pub within_bytes: Option<u64>,
}

/// A use without a verdict, and the reason.
pub(crate) struct OpenVerdict {
    /// Not tested, or cannot be told.
    pub level: Fitness,
    /// Reason: the end of a sentence, or sentences.
    pub why: String,
    pub evidence: Vec<Evidence>,
}

impl OpenVerdict {
    pub fn new(level: Fitness, why: String) -> OpenVerdict {
        OpenVerdict { level, why, evidence: Vec::new() }
    }
}

impl NeedLevel {
    /// Need for a figure of which more is better. `None` for a figure that may be anything, and for
    /// a bound that does not decide: a low lower bound, or a high upper bound.
    pub fn at_least(
        figure: &UsableEstimate,
        [poor, fair, good]: [f64; 3],
        reason: String,
        source: &str,
    ) -> Option<NeedLevel> {
        let level_of = |value: f64| match value {
            value if value >= good => Fitness::Good,
            value if value >= fair => Fitness::Usable,
            value if value >= poor => Fitness::Poor,
            _ => Fitness::NotSuitable,
        };
        let level = level_of(figure.value);
        let is_known = figure.ci95.is_none_or(|[low, high]| {
            high < ANYTHING * low || (level_of(high) as u8).saturating_sub(level_of(low) as u8) <= 1
        });
        let is_decided = match figure.bound {
            None => is_known,
            Some(Bound::AtLeast) => level >= Fitness::Usable,
            Some(Bound::AtMost) => level <= Fitness::Poor,
        };
        let (from, to) = match level {
            Fitness::Good => (Some(good), None),
            Fitness::Usable => (Some(fair), Some(good)),
            Fitness::Poor => (Some(poor), Some(fair)),
            Fitness::NotSuitable | Fitness::CannotTell | Fitness::NotTested => (None, Some(poor)),
        };
        let share = |threshold: Option<f64>, missing: f64| {
            threshold.map_or(Some(missing), |t| figure.above(t))
        };
        let confidence = figure.ci95.and_then(|_| Some(share(from, 1.0)? - share(to, 0.0)?));
        let asked = format!(
            "poor from {}, usable from {}, good from {} ({source})",
            quantity(figure.name, poor),
            quantity(figure.name, fair),
            quantity(figure.name, good)
        );
        // A level that is probably another is none.
        let is_likely = confidence.is_none_or(|share| share >= 0.5);
        (is_decided && is_likely).then(|| NeedLevel {
            level,
            reason,
            evidence: vec![figure.into(), asked.into()],
            confidence,
        })
    }

    /// Need for the longest single writes, of which less is better. The third longest decides,
    /// since fewer events may be the host's; `None` with fewer writes. Without a limit for poor, no
    /// length makes a medium unsuitable.
    pub fn at_most(
        stalls: &Stalls,
        [good_ns, fair_ns]: [u64; 2],
        poor_ns: Option<u64>,
        reason: impl FnOnce(&str, u64) -> String,
        source: &str,
    ) -> Option<NeedLevel> {
        let third = stalls.lasting()?;
        let level = match third.ns {
            ns if ns <= good_ns => Fitness::Good,
            ns if ns <= fair_ns => Fitness::Usable,
            ns if poor_ns.is_none_or(|poor_ns| ns <= poor_ns) => Fitness::Poor,
            _ => Fitness::NotSuitable,
        };
        let (no_better_than, no_worse_than) = match level {
            Fitness::Good => (None, Some(good_ns)),
            Fitness::Usable => (Some(good_ns), Some(fair_ns)),
            Fitness::Poor => (Some(fair_ns), poor_ns),
            Fitness::NotSuitable | Fitness::CannotTell | Fitness::NotTested => (poor_ns, None),
        };
        let beyond = no_better_than.map_or(1.0, |ns| stalls.chance_beyond(ns));
        let within = no_worse_than.map_or(1.0, |ns| 1.0 - stalls.chance_beyond(ns));
        let confidence = Some(beyond.min(within));
        let poor = poor_ns
            .map(|ns| format!(", poor up to {}", Nanos(ns)))
            .unwrap_or_else(|| ", poor beyond that".into());
        let asked = format!(
            "good up to {}, usable up to {}{poor} ({source})",
            Nanos(good_ns),
            Nanos(fair_ns)
        );
        let statement = format!(
            "the third slowest of {} writes took {} ({})",
            stalls.n,
            Nanos(third.ns),
            third.cell.test
        );
        let few = stalls.too_few(good_ns).into_iter().chain([asked]).map(Evidence::from);
        let evidence = stalls.evidence().into_iter().chain(few).collect();
        Some(NeedLevel { level, reason: reason(&statement, third.ns), evidence, confidence })
    }
}

/// The verdict from these needs: the weakest decides. `None` if no need was measured.
pub(crate) fn weakest_verdict(
    wanted: Use,
    needs: Vec<NeedLevel>,
    untested: Vec<&'static str>,
) -> Option<UseVerdict> {
    let level = needs.iter().map(|need| need.level).min()?;
    let evidence = needs.iter().flat_map(|need| need.evidence.clone()).fold(
        Vec::new(),
        |mut all: Vec<Evidence>, line| {
            if !all.contains(&line) {
                all.push(line);
            }
            all
        },
    );
    let weakest = needs.into_iter().find(|need| need.level == level)?;
    Some(UseVerdict {
        wanted,
        level,
        reason: weakest.reason,
        evidence,
        confidence: weakest.confidence.and_then(rounded),
        untested,
        condition: None,
        within_bytes: None,
    })
}
