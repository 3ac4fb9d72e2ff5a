//! Ranking of media for a use. Media with figures that do not differ significantly share a place,
//! and a medium that cannot be judged is named with the reason.

use serde::Serialize;

use super::{Compared, RunGroup};
use crate::figures::figure;
use crate::verdict::use_names::name_of_use;
use crate::verdict::{self, UseFigure};
use record::Use;

/// The media in order for one use, the best first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rank {
    /// The use, as typed by users.
    pub wanted: String,
    /// The use, as people name it.
    pub name: String,
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
    // What holds for small files only comes after all that holds.
    judged.sort_by(|(_, a), (_, b)| {
        let order = (a.is_narrow, b.level).cmp(&(b.is_narrow, a.level));
        order.then(b.key.total_cmp(&a.key))
    });
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
    let records = || groups.iter().flat_map(|group| &group.records);
    let mut names = records().map(|record| name_of_use(record, wanted));
    let first = names.next().unwrap_or_default();
    // Cards beside a disk.
    let name = if names.all(|name| name == first) { first } else { wanted.to_string() };
    Rank { wanted: wanted.into(), name, order, left_out }
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
    (a.level, a.is_narrow) == (b.level, b.is_narrow) && figure::overlap(a.ends, b.ends)
}
