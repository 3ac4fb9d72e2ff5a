//! Places that differ: the front of the medium against its middle, and the rate along all of it (flash.md B3.6, S1).

use record::units::{GIB, significant};
use record::{Axis, Finding, Record};

use crate::draft::Draft;
use crate::figure::{self, Figure, Ratio};

/// Units whose rates differ more are of another kind (flash.md B3.6).
const DIFFERENT: f64 = 1.4;

/// `front-area` and `along-the-medium`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    [front_area(record), along(record)].into_iter().flatten().collect()
}

/// Allocation units at the front that are written faster or slower than one in the middle.
fn front_area(record: &Record) -> Option<Finding> {
    let mut front: Vec<(u64, Figure)> = Vec::new();
    let mut middle: Option<Figure> = None;
    for cell in figure::cells(record, "front-area") {
        let index = cell.params.other.get("au_index").copied().or_else(|| Some(cell.metrics.other.get("au_index")?.value));
        let figure = Figure::of(cell, "bps");
        let in_middle = cell.params.form.as_deref() == Some("middle") || cell.params.region == Some(record::Region::Middle);
        match (in_middle, index.filter(|index| *index >= 0.0), figure) {
            (true, _, figure @ Some(_)) => middle = middle.or(figure),
            (false, Some(index), Some(figure)) => front.push((index as u64, figure)),
            _ => {}
        }
    }
    let middle = middle?;
    front.sort_by_key(|(index, _)| *index);
    let is_fast = |figure: &Figure| Ratio::of(figure, &middle).is_above(DIFFERENT);
    let is_slow = |figure: &Figure| Ratio::of(&middle, figure).is_above(DIFFERENT);
    let odd: Vec<&(u64, Figure)> = front.iter().filter(|(_, figure)| is_fast(figure) || is_slow(figure)).collect();
    let strongest = odd.iter().max_by(|a, b| (a.1.value / middle.value).ln().abs().total_cmp(&(b.1.value / middle.value).ln().abs()))?;
    let indices = odd.iter().map(|(index, _)| index.to_string()).collect::<Vec<_>>().join(", ");
    let (how, why) = if is_fast(&strongest.1) {
        ("faster", "a part of another kind of flash for the file system's tables. A benchmark at the front flatters the medium")
    } else {
        ("slower", "kept in small pieces for the file system's tables. Do not put a log or a database there")
    };
    let ratio = if how == "faster" { Ratio::of(&strongest.1, &middle) } else { Ratio::of(&middle, &strongest.1) };
    let statement = format!(
        "The front is not like the rest: allocation units {indices} are up to {} times {how} than the middle: {why}.",
        significant(ratio.value)
    );
    let lines = front.iter().map(|(index, figure)| format!("unit {index}: {figure}"));
    Some(
        Draft::warning("front-area", statement)
            .notes(lines)
            .figure(&middle)
            .note(format!("{ratio}; told from {DIFFERENT} on (flash.md B3.6)"))
            .surely(ratio.above(DIFFERENT))
            .done(),
    )
}

/// The rate along the whole medium: slowest, fastest, and the first GiB against the rest.
fn along(record: &Record) -> Option<Finding> {
    let (cell, series) = figure::cells(record, "whole-view")
        .find_map(|cell| Some((cell, cell.series.iter().find(|series| series.x == Axis::OffsetBytes && series.y == Axis::Bps)?)))?;
    let points: Vec<[f64; 2]> = series.points.iter().copied().filter(|[x, y]| x.is_finite() && y.is_finite() && *y > 0.0).collect();
    if points.len() < 10 {
        return None;
    }
    let median =
        |wanted: &dyn Fn(f64) -> bool| stats::median(&mut points.iter().filter(|[x, _]| wanted(*x)).map(|[_, y]| *y).collect::<Vec<_>>());
    let all = median(&|_| true)?;
    let (low, high) = points.iter().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), [_, y]| (low.min(*y), high.max(*y)));
    let rate = |bps: f64| figure::quantity("bps", bps);
    let mut statement = format!("Along the whole medium it reads {} (median), from {} to {}.", rate(all), rate(low), rate(high));
    let front = median(&|x| x < GIB as f64).zip(median(&|x| x >= GIB as f64));
    let differs = front.filter(|(front, rest)| (front / rest).max(rest / front) >= DIFFERENT);
    if let Some((front, rest)) = differs {
        statement += &format!(" The first GiB has {}, the rest {}.", rate(front), rate(rest));
    }
    let draft = if differs.is_some() { Draft::warning("along-the-medium", statement) } else { Draft::info("along-the-medium", statement) };
    Some(draft.note(format!("{}: {} places", figure::named(cell), points.len())).done())
}
