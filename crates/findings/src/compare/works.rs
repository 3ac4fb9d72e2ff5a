//! All media at one kind of work: a row a block size, a figure a medium, and which is fastest by how
//! much.

use serde::Serialize;

use super::{Curve, FasterMedium, RunGroup, WORK, figures, in_flight};
use crate::figure;

/// All media at one kind of work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkComparison {
    /// "random-write", "random-read", "sequential-write", "sequential-read".
    pub test: String,
    /// "iops" for random I/O, "bps" for sequential I/O.
    pub metric: String,
    /// At each block size, ascending.
    pub rows: Vec<WorkRow>,
}

/// All media at one block size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkRow {
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// A figure for each medium, in the order of the media; null where there is none, or where it
    /// was measured with another number of I/Os in flight than the first.
    pub figures: Vec<Option<ComparedFigure>>,
    /// Which is fastest, where two or more have a figure with a range.
    pub fastest: Option<FastestMedium>,
}

/// What a medium reaches, over its runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ComparedFigure {
    /// The geometric mean of the runs.
    pub value: f64,
    /// Of a single run its 95 % interval; of several the lowest and the highest run.
    pub range: Option<[f64; 2]>,
    /// How many runs.
    pub runs: usize,
}

/// The fastest medium and the next one, as numbers of [`super::MediaComparison::media`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FastestMedium {
    /// The one with the highest figure.
    pub medium: usize,
    /// The one with the next figure.
    pub next: usize,
    /// How many times the next one's figure the highest is.
    pub ratio: f64,
    /// The 95 % interval of the ratio.
    pub ci95: Option<[f64; 2]>,
    /// Whether it is faster than the next: never [`FasterMedium::Slower`].
    pub judgement: FasterMedium,
}

/// The works that at least one pair of the media shares.
pub(super) fn works(groups: &[RunGroup], curves: &[Curve]) -> Vec<WorkComparison> {
    WORK.iter().filter_map(|(test, metric)| work(groups, curves, test, metric)).collect()
}

fn work(groups: &[RunGroup], curves: &[Curve], test: &str, metric: &str) -> Option<WorkComparison> {
    let of_work: Vec<&Curve> = curves.iter().filter(|curve| curve.test == test).collect();
    let mut sizes: Vec<u64> =
        of_work.iter().flat_map(|curve| &curve.points).map(|point| point.block_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let row = |block_bytes: u64| {
        let depth = groups.iter().find_map(|group| in_flight(group, test, block_bytes));
        let figure =
            |group: &RunGroup| compared(&figures(group, test, metric, [block_bytes, depth?]));
        let figures: Vec<Option<ComparedFigure>> = groups.iter().map(figure).collect();
        let fastest = fastest(groups, &of_work, block_bytes, &figures);
        WorkRow { block_bytes, figures, fastest }
    };
    let rows: Vec<WorkRow> = sizes.into_iter().map(row).collect();
    (!rows.is_empty()).then(|| WorkComparison { test: test.into(), metric: metric.into(), rows })
}

/// What the runs of a medium come to.
pub(super) fn compared(found: &[figure::SoundFigure]) -> Option<ComparedFigure> {
    let values: Vec<f64> = found.iter().map(|figure| figure.value).collect();
    let value = stats::geometric_mean(&values)?;
    let range = match found {
        [only] => only.ci95,
        _ => Some([
            values.iter().copied().fold(f64::MAX, f64::min),
            values.iter().copied().fold(f64::MIN, f64::max),
        ]),
    };
    Some(ComparedFigure { value, range, runs: found.len() })
}

fn fastest(
    groups: &[RunGroup],
    curves: &[&Curve],
    block_bytes: u64,
    figures: &[Option<ComparedFigure>],
) -> Option<FastestMedium> {
    let mut order: Vec<(usize, f64)> = figures
        .iter()
        .enumerate()
        .filter_map(|(at, figure)| Some((at, figure.filter(|it| it.range.is_some())?.value)))
        .collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let [(medium, _), (next, _), ..] = order[..] else { return None };
    let (a, b) = (medium.min(next), medium.max(next));
    let curve =
        curves.iter().find(|curve| curve.a == groups[a].name && curve.b == groups[b].name)?;
    let point = curve.points.iter().find(|point| point.block_bytes == block_bytes)?;
    let found = FastestMedium {
        medium: a,
        next: b,
        ratio: point.ratio,
        ci95: point.ci95,
        judgement: point.judgement,
    };
    Some(if medium == a { found } else { found.turned() })
}

impl FastestMedium {
    /// The same said of the other one.
    fn turned(self) -> FastestMedium {
        let judgement = match self.judgement {
            FasterMedium::Faster => FasterMedium::Slower,
            FasterMedium::Slower => FasterMedium::Faster,
            other => other,
        };
        let ci95 = self.ci95.filter(|[low, _]| *low > 0.0);
        FastestMedium {
            medium: self.next,
            next: self.medium,
            ratio: 1.0 / self.ratio,
            ci95: ci95.map(|[low, high]| [1.0 / high, 1.0 / low]),
            judgement,
        }
    }

    /// Of two: the first held against the second, whichever is faster.
    pub fn of_first(self) -> FastestMedium {
        if self.medium < self.next { self } else { self.turned() }
    }
}

#[cfg(test)]
mod tests {
    use record::units::KIB;
    use record::{Record, test};

    use crate::testing::{iops, record_of};

    #[test]
    fn a_figure_without_an_interval_is_never_the_fastest() {
        let medium = |name: &str, value: f64, is_known: bool| {
            let mut read = iops(test::RANDOM_READ, 1, 4 * KIB, value, 1);
            if let Some(found) = read.metrics.iops.as_mut().filter(|_| !is_known) {
                found.ci95 = None;
            }
            let mut record: Record = record_of(vec![read]);
            record.medium.model = Some(name.into());
            record
        };
        let media =
            [medium("a", 9000.0, false), medium("b", 1000.0, true), medium("c", 2000.0, true)];
        let fastest = |media: &[Record]| {
            crate::compare(media).works[0].rows[0].fastest.map(|it| (it.medium, it.next))
        };
        assert_eq!(fastest(&media), Some((2, 1)));
        assert_eq!(fastest(&media[..2]), None);
    }
}
