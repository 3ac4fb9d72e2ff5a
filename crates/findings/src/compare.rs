//! Several media side by side: which is faster at what, by how much, where the curves cross, and
//! what of the hosts could explain it (docs/field/peers.md#host-side,
//! docs/field/peers.md#statistics).
//!
//! Runs of the same medium are repeats of one another; with two or more of each, their variance
//! decides whether a difference is one (docs/field/statistics.md#comparing-runs). With a single run
//! the intervals of its figures do, which know nothing of differences between runs, and that is
//! said.

use record::{Medium, Record, metric, test};
use serde::Serialize;

use crate::figure::{self, Ratio, SoundFigure};
use crate::{Fitness, Use, verdict};

mod hosts;

/// Several media compared. The first is held against each of the others, and so on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MediaComparison {
    /// What was compared, in the order given.
    pub media: Vec<Compared>,
    /// What differs about the hosts and the runs and could explain a difference; to be read first.
    pub differences: Vec<String>,
    /// Each pair, each kind of work.
    pub curves: Vec<Curve>,
    /// Who is best for what.
    pub ranks: Vec<Rank>,
}

/// A medium and its runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// What it is called here; told apart by a letter where two have the same name.
    pub name: String,
    /// Ids of its runs.
    pub runs: Vec<String>,
}

/// One pair of media at one kind of work, over all block sizes that both were measured at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// Name of the first medium, A, as in [`Compared`].
    pub a: String,
    /// Name of the second medium, B, as in [`Compared`].
    pub b: String,
    /// "random-write", "random-read", "sequential-write", "sequential-read".
    pub test: String,
    /// "iops" for random I/O, "bps" for sequential I/O.
    pub metric: String,
    /// At each block size, ascending.
    pub points: Vec<BlockSizePoint>,
    /// Where one overtakes the other.
    pub crossings: Vec<Crossing>,
}

/// Both media at one block size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockSizePoint {
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// A's figure: the median of its runs.
    pub a: f64,
    /// B's figure: the median of its runs.
    pub b: f64,
    /// How many times A's figure is B's.
    pub ratio: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// What can be said.
    pub judgement: FasterMedium,
}

/// Which of two is faster, if that can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FasterMedium {
    /// A is faster than B.
    Faster,
    /// A is slower than B.
    Slower,
    /// They differ by less than 10 %, surely.
    Same,
    /// Too few runs, or too unlike each other, to say.
    Unclear,
}

/// Where one curve overtakes another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crossing {
    /// Block size at which both are equal, interpolated between the two measured ones in the
    /// logarithm.
    pub block_bytes: f64,
    /// Where it may lie as far as the intervals of the ratio tell; null where these do not cross on
    /// both sides.
    pub ci95: Option<[f64; 2]>,
    /// Which is faster above it: "a" or "b".
    pub above: &'static str,
}

/// The media in order for one use, the best first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rank {
    /// The use, as it is typed.
    pub wanted: String,
    /// Name, what it comes to in a word, and the figure that decides, as text.
    pub order: Vec<RankPlace>,
}

/// A place in a ranking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankPlace {
    /// Name of the medium.
    pub name: String,
    /// "good", "usable", "poor", "not suitable".
    pub level: &'static str,
    /// The figure that decides.
    pub figure: String,
}

/// What is compared: test, metric.
const WORK: [(&str, &str); 4] = [
    (test::RANDOM_WRITE, metric::IOPS),
    (test::RANDOM_READ, metric::IOPS),
    (test::SEQUENTIAL_WRITE, metric::BPS),
    (test::SEQUENTIAL_READ, metric::BPS),
];
const USES: [Use; 5] =
    [Use::RootDisk, Use::Camera, Use::Video { mbit: 100 }, Use::Logger, Use::Database];

/// A medium with its records.
struct Group<'a> {
    name: String,
    records: Vec<&'a Record>,
}

/// Compares the media of these records. Runs of one medium (same serial number, profile, or name
/// and size) are its repeats.
pub fn compare(records: &[Record]) -> MediaComparison {
    let groups = groups(records);
    let pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
    let curves = pairs.flat_map(|(a, b)| {
        WORK.iter()
            .filter_map(|(test, metric)| curve(&groups[a], &groups[b], test, metric))
            .collect::<Vec<_>>()
    });
    MediaComparison {
        curves: curves.collect(),
        ranks: USES
            .iter()
            .map(|wanted| rank(&groups, *wanted))
            .filter(|rank| !rank.order.is_empty())
            .collect(),
        differences: hosts::differences(&groups),
        media: groups
            .iter()
            .map(|group| Compared {
                name: group.name.clone(),
                runs: group.records.iter().map(|record| record.run.id.clone()).collect(),
            })
            .collect(),
    }
}

fn groups(records: &[Record]) -> Vec<Group<'_>> {
    let mut keyed: Vec<(String, Group)> = Vec::new();
    for record in records {
        let key = identity(&record.medium);
        match keyed.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.records.push(record),
            None => keyed.push((key, Group { name: name(&record.medium), records: vec![record] })),
        }
    }
    let mut groups: Vec<Group> = keyed.into_iter().map(|(_, group)| group).collect();
    let names: Vec<String> = groups.iter().map(|group| group.name.clone()).collect();
    for (at, group) in groups.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == group.name).count() > 1 {
            group.name = format!("{} ({})", group.name, letters(at));
        }
    }
    groups
}

/// A to Z, then AA, AB and so on, as the columns of a table.
fn letters(at: usize) -> String {
    let last = char::from(b'A' + (at % 26) as u8);
    if at < 26 { last.to_string() } else { format!("{}{last}", letters(at / 26 - 1)) }
}

/// What makes two runs runs of one medium.
fn identity(medium: &Medium) -> String {
    let own = medium.serial.clone().or_else(|| medium.cid.clone()).unwrap_or_default();
    format!(
        "{own}|{:?}|{:?}|{:?}|{:?}",
        medium.profile, medium.vendor, medium.model, medium.capacity_bytes
    )
}

fn name(medium: &Medium) -> String {
    let words: Vec<&str> = [medium.vendor.as_deref(), medium.model.as_deref()]
        .into_iter()
        .flatten()
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        medium
            .capacity_bytes
            .map_or("a medium".into(), |bytes| format!("a medium of {}", figure::size(bytes)))
    } else {
        words.join(" ")
    }
}

/// The figures of all runs of a medium at a block size.
fn figures<'a>(
    group: &Group<'a>,
    test: &'a str,
    metric: &'a str,
    block_bytes: u64,
) -> Vec<SoundFigure<'a>> {
    group
        .records
        .iter()
        .filter_map(|record| SoundFigure::of(figure::standard(record, test, block_bytes)?, metric))
        .collect()
}

fn curve<'a>(a: &Group<'a>, b: &Group<'a>, test: &'a str, metric: &'a str) -> Option<Curve> {
    let mut sizes: Vec<u64> = a
        .records
        .iter()
        .flat_map(|record| figure::cells(record, test))
        .filter_map(|cell| cell.params.block_bytes)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let point = |block: u64| {
        point(block, &figures(a, test, metric, block), &figures(b, test, metric, block))
    };
    let points: Vec<BlockSizePoint> = sizes.into_iter().filter_map(point).collect();
    let crossings = crossings(&points);
    (!points.is_empty()).then(|| Curve {
        a: a.name.clone(),
        b: b.name.clone(),
        test: test.into(),
        metric: metric.into(),
        points,
        crossings,
    })
}

fn point(block_bytes: u64, a: &[SoundFigure], b: &[SoundFigure]) -> Option<BlockSizePoint> {
    let values =
        |figures: &[SoundFigure]| figures.iter().map(|figure| figure.value).collect::<Vec<f64>>();
    let (va, vb) = (values(a), values(b));
    let (ma, mb) = (stats::median(&mut va.clone())?, stats::median(&mut vb.clone())?);
    let (ratio, ci95, judgement) = match stats::compare(&va, &vb) {
        Some(found) => {
            let judgement = match found.judgement {
                stats::LargerRate::Larger => FasterMedium::Faster,
                stats::LargerRate::Smaller => FasterMedium::Slower,
                stats::LargerRate::Same => FasterMedium::Same,
                stats::LargerRate::Unclear => FasterMedium::Unclear,
            };
            (found.ratio, Some([found.ci95.low, found.ci95.high]), judgement)
        }
        None => {
            let found = Ratio::of(a.first()?, b.first()?);
            let ratio = ma / mb;
            // Moved to the medians, should one side have several runs.
            let ci95 = found
                .ci95
                .map(|[low, high]| [low * ratio / found.value, high * ratio / found.value]);
            (ratio, ci95, single(ratio, ci95))
        }
    };
    Some(BlockSizePoint { block_bytes, a: ma, b: mb, ratio, ci95, judgement })
}

/// What a single run each allows to say: a difference of less than 10 % is noise between runs
/// (docs/field/statistics.md#comparing-runs).
fn single(ratio: f64, ci95: Option<[f64; 2]>) -> FasterMedium {
    match ci95 {
        Some([low, _]) if low > 1.0 && ratio > 1.1 => FasterMedium::Faster,
        Some([_, high]) if high < 1.0 && ratio < 1.0 / 1.1 => FasterMedium::Slower,
        Some([low, high]) if low > 1.0 / 1.1 && high < 1.1 => FasterMedium::Same,
        _ => FasterMedium::Unclear,
    }
}

/// Where the ratio crosses 1 between two sizes, with the sizes where the ends of its interval do.
fn crossings(points: &[BlockSizePoint]) -> Vec<Crossing> {
    let decided = |point: &BlockSizePoint| {
        matches!(point.judgement, FasterMedium::Faster | FasterMedium::Slower)
    };
    let clear: Vec<&BlockSizePoint> = points.iter().filter(|point| decided(point)).collect();
    let turns = clear.windows(2).filter(|pair| pair[0].judgement != pair[1].judgement);
    turns
        .filter_map(|pair| {
            let (from, to) = (pair[0], pair[1]);
            let at = |pick: &dyn Fn(&BlockSizePoint) -> Option<f64>| {
                crossing_of(points, from.block_bytes, to.block_bytes, pick)
            };
            let block_bytes = at(&|point| Some(point.ratio))?;
            let ends = at(&|point| point.ci95.map(|ci| ci[0]))
                .zip(at(&|point| point.ci95.map(|ci| ci[1])));
            let ci95 = ends.map(|(x, y)| [x.min(y), x.max(y)]);
            Some(Crossing {
                block_bytes,
                ci95,
                above: if to.judgement == FasterMedium::Faster { "a" } else { "b" },
            })
        })
        .collect()
}

/// The size between two at which a curve of ratios is 1, linear in the logarithms.
fn crossing_of(
    points: &[BlockSizePoint],
    from: u64,
    to: u64,
    pick: &dyn Fn(&BlockSizePoint) -> Option<f64>,
) -> Option<f64> {
    let within: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| (from..=to).contains(&point.block_bytes))
        .filter_map(|point| {
            Some(((point.block_bytes as f64).ln(), pick(point).filter(|ratio| *ratio > 0.0)?.ln()))
        })
        .collect();
    within.windows(2).find(|pair| pair[0].1 * pair[1].1 <= 0.0 && pair[0].1 != pair[1].1).map(
        |pair| {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            (x0 + (x1 - x0) * y0 / (y0 - y1)).exp()
        },
    )
}

fn rank(groups: &[Group], wanted: Use) -> Rank {
    let mut order: Vec<(Fitness, f64, RankPlace)> = groups
        .iter()
        .filter_map(|group| {
            let judged: Vec<(Fitness, f64, String)> = group
                .records
                .iter()
                .filter_map(|record| verdict::standing(record, wanted))
                .collect();
            // Of several runs the middle one, by the figure that decides.
            let mut judged = judged;
            judged.sort_by(|a, b| a.1.total_cmp(&b.1));
            let (level, key, figure) = judged.get(judged.len() / 2)?.clone();
            Some((level, key, RankPlace { name: group.name.clone(), level: level.word(), figure }))
        })
        .collect();
    order.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
    Rank { wanted: wanted.into(), order: order.into_iter().map(|(_, _, place)| place).collect() }
}

#[cfg(test)]
mod tests;
