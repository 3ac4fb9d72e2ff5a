//! Ratio of two media, and its significance.

use serde::Serialize;
use stats::{RatioEstimate, RunRate};

/// The geometric mean of the runs; `None` for no runs.
fn mean(runs: &[RunRate]) -> Option<f64> {
    stats::geometric_mean(&runs.iter().map(|run| run.rate).collect::<Vec<_>>())
}

/// Ratio of one medium's figure to that of another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MediaRatio {
    /// Ratio of the geometric means of the runs.
    pub ratio: f64,
    /// Its 95 % interval; null if the variation between runs is unknown.
    pub ci95: Option<[f64; 2]>,
    /// Result of the comparison.
    pub judgement: FasterMedium,
    /// Further runs that would show a difference of 10 %, if the result is unclear; absent if it is
    /// clear, or without an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_runs: Option<MoreRuns>,
    #[serde(skip)]
    estimate: Option<RatioEstimate>,
}

/// The faster one of two media, if known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FasterMedium {
    /// A is faster than B.
    Faster,
    /// A is slower than B.
    Slower,
    /// They differ by less than 10 %, with 95 % confidence.
    Same,
    /// Too few runs, or too much variation between them.
    Unclear,
}

impl From<stats::LargerRate> for FasterMedium {
    fn from(larger: stats::LargerRate) -> FasterMedium {
        match larger {
            stats::LargerRate::Larger => FasterMedium::Faster,
            stats::LargerRate::Smaller => FasterMedium::Slower,
            stats::LargerRate::Same => FasterMedium::Same,
            stats::LargerRate::Unclear => FasterMedium::Unclear,
        }
    }
}

/// Further runs that would make the result clear, if they vary like the existing ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MoreRuns {
    /// True if even these are too few.
    pub is_too_few: bool,
    /// Runs to add on each side, at most 20.
    pub of_each: u32,
    /// True if estimated from a single run of each side, which has no information on changes
    /// between runs.
    pub is_from_single_runs: bool,
}

impl MoreRuns {
    fn of(found: &RatioEstimate, runs: Option<u32>) -> MoreRuns {
        let is_from_single_runs = found.is_single();
        MoreRuns { is_too_few: runs.is_none(), of_each: runs.unwrap_or(20), is_from_single_runs }
    }
}

impl MediaRatio {
    /// Ratio of speeds, one for each run; `None` if a side has no run.
    pub(super) fn of(over: &[RunRate], under: &[RunRate]) -> Option<MediaRatio> {
        let estimate = stats::compare_runs(over, under);
        let judgement = estimate.map_or(FasterMedium::Unclear, |found| found.judgement.into());
        let found = MediaRatio {
            ratio: mean(over)? / mean(under)?,
            ci95: estimate.map(|found| [found.ci95.low, found.ci95.high]),
            judgement,
            more_runs: None,
            estimate,
        };
        let is_unclear = judgement == FasterMedium::Unclear;
        let more_runs = estimate.filter(|_| is_unclear).map(|it| MoreRuns::of(&it, it.more_runs()));
        Some(MediaRatio { more_runs, ..found })
    }

    /// The inverse ratio.
    fn turned(self) -> MediaRatio {
        let judgement = match self.judgement {
            FasterMedium::Faster => FasterMedium::Slower,
            FasterMedium::Slower => FasterMedium::Faster,
            other => other,
        };
        let ci95 = self.ci95.map(|[low, high]| [1.0 / high, 1.0 / low]);
        MediaRatio { ratio: 1.0 / self.ratio, ci95, judgement, ..self }
    }

    /// Further runs that would show if the ratio is below a limit.
    pub(super) fn more_runs_from(&self, limit: f64) -> Option<MoreRuns> {
        self.estimate.map(|found| MoreRuns::of(&found, found.more_runs_from(limit)))
    }
}

/// The fastest medium and the next one, as indices into [`super::MediaComparison::media`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FastestMedium {
    /// The one with the highest figure.
    pub medium: usize,
    /// The one with the next figure.
    pub next: usize,
    /// Ratio of the highest figure to the next: never [`FasterMedium::Slower`].
    #[serde(flatten)]
    pub found: MediaRatio,
}

impl FastestMedium {
    /// Compares one medium with another, by the speeds of the runs of each.
    pub(super) fn of(speeds: &[Vec<RunRate>], medium: usize, next: usize) -> Option<FastestMedium> {
        let found = MediaRatio::of(&speeds[medium], &speeds[next])?;
        Some(FastestMedium { medium, next, found })
    }

    /// The fastest medium with runs, by the geometric means of their speeds.
    pub(super) fn among(speeds: &[Vec<RunRate>]) -> Option<FastestMedium> {
        let known = speeds.iter().enumerate();
        let mut order: Vec<(usize, f64)> =
            known.filter_map(|(at, runs)| Some((at, mean(runs)?))).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let [(medium, _), (next, _), ..] = order[..] else { return None };
        FastestMedium::of(speeds, medium, next)
    }

    /// For two media: the ratio of the first to the second, whichever is faster.
    pub fn of_first(self) -> MediaRatio {
        if self.medium < self.next { self.found } else { self.found.turned() }
    }
}
