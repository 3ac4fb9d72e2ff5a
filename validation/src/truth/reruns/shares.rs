//! Agreement among runs of one command, from their figures and intervals.

use super::checks::Figure;

/// Measure of how well the intervals of one figure predict the other runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Percent of the figures of other runs that are inside a run's interval.
    pub inside: f64,
    /// Mean half-width of the intervals, in percent of the logarithm.
    pub half_width: f64,
    /// Standard deviation of the figures, in percent of the logarithm.
    pub deviation: f64,
}

impl Agreement {
    /// Agreement of the runs of one target; `None` for fewer than two, or if none has an interval.
    pub fn of(runs: &[Figure]) -> Option<Agreement> {
        let intervals: Vec<(usize, [f64; 2])> =
            runs.iter().enumerate().filter_map(|(at, run)| Some((at, run.ci95?))).collect();
        if runs.len() < 2 || intervals.is_empty() {
            return None;
        }
        let held: usize = intervals.iter().map(|(at, ci95)| held(runs, *at, *ci95)).sum();
        let pairs = intervals.len() * (runs.len() - 1);
        let half_widths = intervals.iter().map(|(_, [low, high])| (high / low).ln() / 2.0);
        Some(Agreement {
            inside: 100.0 * held as f64 / pairs as f64,
            half_width: 100.0 * half_widths.sum::<f64>() / intervals.len() as f64,
            deviation: 100.0 * deviation(runs.iter().map(|run| run.value.ln())),
        })
    }
}

/// Number of other runs whose figure is inside the interval of run `at`.
fn held(runs: &[Figure], at: usize, [low, high]: [f64; 2]) -> usize {
    let others = runs.iter().enumerate().filter(|(other, _)| *other != at);
    others.filter(|(_, run)| (low..=high).contains(&run.value)).count()
}

/// Standard deviation of a sample of two or more.
fn deviation(samples: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = samples.clone().count() as f64;
    let mean = samples.clone().sum::<f64>() / n;
    (samples.map(|sample| (sample - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, low: f64, high: f64) -> Figure {
        Figure { value, ci95: Some([low, high]) }
    }

    #[test]
    fn a_run_is_not_held_against_itself() {
        // The first interval contains one of two others, the second both, the third none.
        let runs = [figure(10.0, 9.0, 11.0), figure(11.0, 5.0, 20.0), figure(15.0, 14.0, 16.0)];
        let agreement = Agreement::of(&runs).unwrap();
        assert_eq!(agreement.inside, 50.0);
        assert_eq!(Agreement::of(&runs[..1]), None);
    }

    #[test]
    fn a_run_without_an_interval_is_only_held_against_others() {
        let bare = |value| Figure { value, ci95: None };
        let runs = [figure(10.0, 9.0, 11.0), bare(10.5), bare(12.0)];
        assert_eq!(Agreement::of(&runs).unwrap().inside, 50.0);
        assert_eq!(Agreement::of(&[bare(1.0), bare(1.0)]), None);
    }

    #[test]
    fn widths_and_deviations_are_those_of_the_logarithm() {
        let e = std::f64::consts::E;
        let runs = [figure(1.0, 1.0 / e, e), figure(e * e, e, e.powi(5))];
        let agreement = Agreement::of(&runs).unwrap();
        // Half-widths 1 and 2; logarithms 0 and 2, whose deviation is the root of two.
        assert!((agreement.half_width - 150.0).abs() < 1e-9, "{agreement:?}");
        assert!((agreement.deviation - 100.0 * 2f64.sqrt()).abs() < 1e-9, "{agreement:?}");
    }
}
