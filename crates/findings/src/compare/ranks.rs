//! Ranking of media for a use. Media with figures that do not differ significantly share a place,
//! and a medium that cannot be judged is named with the reason.

use serde::Serialize;

use super::{Compared, RunGroup};
use crate::verdict::{self, UseFigure};
use record::Use;

/// The media in order for one use, the best first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rank {
    /// The use, as typed by users.
    pub wanted: String,
    /// Places, each with the name, the level and the deciding figure as text.
    pub order: Vec<RankPlace>,
    /// Names of media that cannot be judged for this use, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// A place in a ranking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankPlace {
    /// From 1 on. Media that do not differ significantly share a place; the next ones have the
    /// place as if they did not.
    pub place: usize,
    /// Name of the medium.
    pub name: String,
    /// "good", "usable", "poor", "not suitable".
    pub level: &'static str,
    /// The figure that decides.
    pub figure: String,
    /// Condition of the level: few samples, or a fact that no run can tell.
    pub caveat: Option<String>,
}

/// Reason why a fake or a failing medium is not ranked; its fault is given with its name.
const MUST_NOT_BE_USED: &str = "must not be used";

const USES: [Use; 5] =
    [Use::RootDisk, Use::Camera, Use::Video { mbit: 100 }, Use::Logger, Use::Database];

/// A ranking for each use that at least one of the media is judged for.
pub(super) fn ranks(groups: &[RunGroup], media: &[Compared]) -> Vec<Rank> {
    let ranks = USES.iter().map(|wanted| rank(groups, media, *wanted));
    ranks.filter(|rank| !rank.order.is_empty()).collect()
}

fn rank(groups: &[RunGroup], media: &[Compared], wanted: Use) -> Rank {
    let (mut judged, mut left_out) = (Vec::new(), Vec::new());
    for (group, medium) in groups.iter().zip(media) {
        let name = group.name.clone();
        match (&medium.fault, of_group(group, wanted)) {
            (Some(_), _) => left_out.push((name, MUST_NOT_BE_USED.to_owned())),
            (None, Some(figure)) => judged.push((name, figure)),
            (None, None) => left_out.push((name, why_not(group, wanted))),
        }
    }
    judged.sort_by(|(_, a), (_, b)| b.level.cmp(&a.level).then(b.key.total_cmp(&a.key)));
    let mut order: Vec<RankPlace> = Vec::new();
    let mut first: Option<(usize, &UseFigure)> = None;
    for (at, (name, figure)) in judged.iter().enumerate() {
        let shared = first.filter(|(_, best)| is_alike(best, figure));
        let (place, best) = shared.unwrap_or((at + 1, figure));
        first = Some((place, best));
        order.push(RankPlace {
            place,
            name: name.clone(),
            level: figure.level.word(),
            figure: figure.text.clone(),
            caveat: figure.caveat.clone(),
        });
    }
    Rank { wanted: wanted.into(), order, left_out }
}

/// The figure of the median run, by the deciding figure.
fn of_group(group: &RunGroup, wanted: Use) -> Option<UseFigure> {
    let judged = group.records.iter().filter_map(|record| verdict::use_figure(record, wanted));
    let mut judged: Vec<UseFigure> = judged.collect();
    judged.sort_by(|a, b| a.key.total_cmp(&b.key));
    (!judged.is_empty()).then(|| judged.swap_remove(judged.len() / 2))
}

fn why_not(group: &RunGroup, wanted: Use) -> String {
    group.records.first().map_or(String::new(), |record| verdict::why_untested(record, wanted).1)
}

/// True for the same level with overlapping intervals.
fn is_alike(a: &UseFigure, b: &UseFigure) -> bool {
    let overlap =
        |[a_low, a_high]: [f64; 2], [b_low, b_high]: [f64; 2]| a_low <= b_high && b_low <= a_high;
    a.level == b.level && a.ends.zip(b.ends).is_some_and(|(a, b)| overlap(a, b))
}

#[cfg(test)]
mod tests {
    use record::units::{KIB, MIB};
    use record::{Record, test};

    use super::MUST_NOT_BE_USED;
    use crate::testing::{empty, iops, known};

    /// A medium of so many bytes a second of sequential I/O, known to a share of it.
    fn medium(name: &str, bps: f64, share: f64) -> Record {
        let mut writing = iops(test::SEQUENTIAL_WRITE, 1, MIB, 1.0, 1_000_000);
        writing.metrics.bps = Some(known(bps, share, 200));
        let mut record = Record { cells: vec![writing], ..empty() };
        record.medium.model = Some(name.into());
        record
    }

    fn camera(records: &[Record]) -> Vec<(usize, String)> {
        let found = crate::compare(records);
        let rank = found.ranks.into_iter().find(|rank| rank.wanted == "camera").unwrap();
        rank.order.into_iter().map(|place| (place.place, place.name)).collect()
    }

    /// 60.3 MB/s (58.2 to 60.8) was ranked before 60.2 MB/s (59.3 to 60.9).
    #[test]
    fn what_cannot_be_told_apart_shares_a_place() {
        let media =
            [medium("a", 60.2e6, 0.013), medium("b", 60.3e6, 0.02), medium("c", 30e6, 0.02)];
        let place = |place, name: &str| (place, name.to_owned());
        assert_eq!(camera(&media), [place(1, "b"), place(1, "a"), place(3, "c")]);
        let apart = [medium("a", 60.2e6, 0.001), medium("b", 62e6, 0.001)];
        assert_eq!(camera(&apart), [place(1, "b"), place(2, "a")]);
    }

    /// The comparison of a fake with a good card never said that it is one.
    #[test]
    fn a_fake_is_named_and_ranked_nowhere() {
        let good = medium("good", 20e6, 0.02);
        let mut fake = medium("fake", 60e6, 0.02);
        let mut probe = crate::testing::cell(test::CAPACITY, 1, 4096);
        let known = |value| record::Estimate { value, ci95: None, n: 1 };
        probe.metrics.other.insert("type".into(), known(record::CapacityKind::Limbo.code()));
        probe.metrics.other.insert("real_bytes".into(), known(8e9));
        fake.cells.push(probe);
        let found = crate::compare(&[good, fake]);
        assert_eq!((&found.media[0].fault, found.media[0].name.as_str()), (&None, "good"));
        let fault = found.media[1].fault.as_deref().unwrap_or_default();
        assert!(fault.starts_with("Do not use it. It is a fake"), "{fault}");
        let rank = found.ranks.iter().find(|rank| rank.wanted == "camera").unwrap();
        let named: Vec<&str> = rank.order.iter().map(|place| place.name.as_str()).collect();
        assert_eq!(named, ["good"]);
        assert_eq!(rank.left_out, [("fake".to_owned(), MUST_NOT_BE_USED.to_owned())]);
    }

    /// A medium without commits was missing from the rank for databases without a word.
    #[test]
    fn who_is_left_out_is_named_with_the_reason() {
        let mut commits = iops(test::COMMIT, 1, 4 * KIB, 300.0, 1_000_000);
        commits.metrics.iops = Some(known(300.0, 0.02, 200));
        commits.params.form = Some("rollback".into());
        let mut with = medium("with", 60e6, 0.02);
        with.cells.push(commits);
        let found = crate::compare(&[with, medium("without", 60e6, 0.02)]);
        let rank = found.ranks.iter().find(|rank| rank.wanted == "database").unwrap();
        let left_out = [("without".to_owned(), "commits were not measured".to_owned())];
        assert_eq!((rank.order.len(), rank.left_out.as_slice()), (1, left_out.as_slice()));
        let caveat = rank.order[0].caveat.as_deref();
        assert_eq!(caveat, Some("if its flush is honest, which was not tested"));
    }
}
