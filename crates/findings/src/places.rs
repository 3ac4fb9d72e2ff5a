//! Differences between places: the front of the medium compared with its middle, and the rate along
//! the whole medium (docs/field/allocation-units.md#front-area,
//! docs/field/classic-tools.md#rate-along-the-medium).

use record::text::capitalised;
use record::units::{GIB, decimal};
use record::{Cell, Finding, Record, Series, SeriesAxis, metric, test};

use crate::figure::{self, UsableEstimate};
use crate::finding_builder::FindingBuilder;
use crate::levels::known_points;
use crate::usability;

/// Ratio of rates from which on units are of another kind
/// (docs/field/allocation-units.md#front-area).
const DIFFERENT: f64 = 1.4;

/// The findings `front-area` and `along-the-medium`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    let slow = slow_part(record).map(|part| {
        FindingBuilder::warning("along-the-medium", format!("{}.", capitalised(&part.text)))
            .note(format!("slow_from {}", part.from))
            .note(format!("slow_to {}", part.to))
            .note(format!("{}: medians of its parts", figure::named(part.figure.cell)))
            .done()
    });
    [front_area(record), slow.or_else(|| along(record))].into_iter().flatten().collect()
}

/// A part of the medium that is written at a much lower rate than all others.
pub(crate) struct SlowPart<'a> {
    /// Its rate.
    pub figure: UsableEstimate<'a>,
    /// Its place and rate, and the rate elsewhere.
    pub text: String,
    /// Its ends, in bytes from the start of the medium.
    from: u64,
    to: u64,
}

/// Factor by which writes of a slow part take longer than nearly all others, of which those of a
/// full cache or a hot medium may be a tenth; and the fewest windows that show it.
const SLOW: f64 = 2.0;
const NEARLY_ALL: f64 = 0.9;
const FEWEST_WINDOWS: usize = 32;

/// The one slow part of a medium that was filled in pieces in another order than that of places.
pub(crate) fn slow_part(record: &Record) -> Option<SlowPart<'_>> {
    let filled = figure::sustained(record)?;
    let is_of_places = |series: &&Series| series.y == SeriesAxis::LatencyNs;
    let points = known_points(filled.cell.series.iter().find(is_of_places)?);
    // Where little was written, there are gaps between all windows.
    let piece_bytes = *filled.cell.params.other.get("piece_bytes")?;
    let window = points.windows(2).map(|pair| pair[1][0] - pair[0][0]).fold(piece_bytes, f64::min);
    let mut times: Vec<f64> = points.iter().map(|point| point[1]).collect();
    times.sort_by(f64::total_cmp);
    let usual_ns = times[((times.len() - 1) as f64 * NEARLY_ALL) as usize];
    let is_slow = |point: &[f64; 2]| point[1] > SLOW * usual_ns;
    let first = points.iter().position(is_slow)?;
    let last = points.iter().rposition(is_slow)?;
    let part = &points[first..=last];
    if points.len() < FEWEST_WINDOWS || !part.iter().all(is_slow) {
        return None;
    }
    let bps = |times: &mut [f64]| {
        Some(filled.cell.params.block_bytes? as f64 * 1e9 / stats::median(times)?)
    };
    let value = bps(&mut part.iter().map(|point| point[1]).collect::<Vec<_>>())?;
    let figure = UsableEstimate { value, ci95: None, name: metric::BPS, ..filled };
    let (from, to) = (part[0][0] as u64, (part[part.len() - 1][0] + window) as u64);
    let text = format!(
        "what was written within {} from {} on reached only {}, elsewhere {}",
        decimal(to - from),
        decimal(from),
        figure.text(),
        figure::quantity(metric::BPS, bps(&mut times)?)
    );
    Some(SlowPart { figure, text, from, to })
}

/// A piece of the front: its place, and its typical rate.
struct FrontPiece {
    unit: u64,
    from: f64,
    to: f64,
    bps: f64,
}

/// Pieces in which a unit is examined: the area may end within an assumed unit.
const PIECES: usize = 4;
/// Fewest writes of a piece for a meaningful median.
const FEWEST: usize = 8;

/// The typical rates of the pieces of a unit, or of the whole unit if there are too few writes.
/// Medians are used: occasional merges do not move them.
fn pieces(cell: &Cell, unit: u64) -> Vec<FrontPiece> {
    let start = cell.params.span_offset_bytes.unwrap_or(0) as f64;
    let bytes = cell.params.span_bytes.unwrap_or(0) as f64;
    let Some(curve) =
        cell.series.iter().find(|series| series.name == "rate" && series.y == SeriesAxis::Bps)
    else {
        return Vec::new();
    };
    let points = known_points(curve);
    let many = if points.len() >= PIECES * FEWEST { PIECES } else { 1 };
    (0..many)
        .filter_map(|piece| {
            let [from, to] = [piece, piece + 1].map(|piece| bytes * piece as f64 / many as f64);
            // A point is at the end of its stretch.
            let mut rates: Vec<f64> =
                points.iter().filter(|[x, _]| *x > from && *x <= to).map(|[_, y]| *y).collect();
            (rates.len() >= FEWEST)
                .then(|| stats::median(&mut rates))
                .flatten()
                .map(|bps| FrontPiece { unit, from: start + from, to: start + to, bps })
        })
        .collect()
}

/// Number of first units in which an area for tables may begin; on real cards it is the first, the
/// second, or both (docs/field/allocation-units.md#front-area).
const FIRST_UNITS: u64 = 2;
/// Least share of different pieces between the ends of the area: a cache may delay the visible end
/// by some MiB.
const FILLED: f64 = 0.7;

/// True if the different pieces are together at the front. Those caused by other work of the host
/// are anywhere. Within the last unit they may be anywhere, too: a unit is written several times,
/// and a cache may delay the effect by a part of a pass.
fn is_an_area(odd: &[&FrontPiece], all: &[FrontPiece]) -> bool {
    let (Some(first), Some(last)) = (odd.first(), odd.last()) else { return false };
    let in_last = odd.iter().filter(|piece| piece.unit == last.unit).count();
    let before_last =
        all.iter().filter(|piece| piece.from >= first.from && piece.unit < last.unit).count();
    first.unit < FIRST_UNITS && odd.len() as f64 >= FILLED * (before_last + in_last) as f64
}

/// Factor on the planned number of preceding writes up to which they define the state of a unit: a
/// visible cache takes some more.
const SET_WITHIN: f64 = 2.0;

/// Cells of `front-area`, one for each unit that was written. A unit in which the area ends has two
/// levels and no lasting one, but is used if preceding writes defined its state.
fn front_area_cells(record: &Record) -> impl Iterator<Item = &Cell> {
    let is_set = |cell: &Cell| {
        let before = cell.metrics.other.get(metric::WARM_UP_NS).map_or(0, |before| before.n);
        before as f64 <= SET_WITHIN * cell.params.other.get("warm_up_ops").copied().unwrap_or(0.0)
    };
    let may_be_used = move |cell: &Cell| {
        usability::of_any(cell).is_none() && (cell.transient().is_none() || is_set(cell))
    };
    usability::of_a_medium(record)
        .filter(move |cell| cell.test == test::FRONT_AREA && may_be_used(cell))
}

/// Finding on allocation units at the front that are written faster or slower than one in the
/// middle.
fn front_area(record: &Record) -> Option<Finding> {
    let mut front: Vec<(u64, &Cell)> = Vec::new();
    let mut middle: Option<&Cell> = None;
    for cell in front_area_cells(record) {
        let index = cell
            .params
            .other
            .get("au_index")
            .copied()
            .or_else(|| Some(cell.metrics.other.get("au_index")?.value));
        let in_middle = cell.params.form.as_deref() == Some("middle")
            || cell.params.region == Some(record::Region::Middle);
        match (in_middle, index.filter(|index| *index >= 0.0)) {
            (true, _) => middle = middle.or(Some(cell)),
            (false, Some(index)) => front.push((index as u64, cell)),
            _ => {}
        }
    }
    let middle = middle?;
    front.sort_by_key(|(index, _)| *index);
    let usual: Vec<f64> = pieces(middle, 0).iter().map(|piece| piece.bps).collect();
    // A cache makes pieces of the middle differ too.
    let (low, high) =
        (usual.iter().copied().reduce(f64::min)?, usual.iter().copied().reduce(f64::max)?);
    let all: Vec<FrontPiece> =
        front.iter().flat_map(|(index, cell)| pieces(cell, *index)).collect();
    let factor = |piece: &FrontPiece| (piece.bps / high).max(low / piece.bps);
    let strange: Vec<&FrontPiece> = all.iter().filter(|piece| factor(piece) > DIFFERENT).collect();
    let strongest = strange.iter().max_by(|a, b| factor(a).total_cmp(&factor(b)))?;
    let faster = strongest.bps > high;
    let odd: Vec<&FrontPiece> =
        strange.iter().copied().filter(|piece| (piece.bps > high) == faster).collect();
    if !is_an_area(&odd, &all) {
        return None;
    }
    let mut indices: Vec<u64> = odd.iter().map(|piece| piece.unit).collect();
    indices.dedup();
    let units = indices.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let units = match indices.len() {
        1 => format!("erase block {units} is"),
        _ => format!("erase blocks {units} are"),
    };
    let (how, why) = if faster {
        (
            "faster",
            "another kind of flash for the tables of the file system. A benchmark at the front overstates the medium",
        )
    } else {
        (
            "slower",
            "it is mapped in small pieces for the tables of the file system. Do not put a log or a database there",
        )
    };
    let statement = format!(
        "The front differs from the rest: {units} up to {} {how} than the middle: {why}.",
        figure::times(factor(strongest))
    );
    // It ends between the last different piece and the next examined one.
    let last = odd.last()?;
    let next = all.iter().find(|piece| piece.from >= last.to).map_or(last.to, |piece| piece.from);
    let extent =
        format!("front_bytes {} (between {} and {next})", (last.to * next).sqrt().round(), last.to);
    let lines = front.iter().filter_map(|(index, cell)| {
        Some(format!("unit {index}: {}", UsableEstimate::of(cell, metric::BPS)?))
    });
    let typical = format!(
        "typically {} where it differs most, {} in the middle",
        figure::quantity(metric::BPS, strongest.bps),
        figure::quantity(metric::BPS, if faster { high } else { low })
    );
    Some(
        FindingBuilder::warning("front-area", statement)
            .note(extent)
            .notes(lines)
            .notes(UsableEstimate::of(middle, metric::BPS).map(|figure| figure.to_string()))
            .note(typical)
            .note(format!("medians of pieces; threshold {DIFFERENT}x (docs/field/allocation-units.md#front-area)"))
            .done(),
    )
}

/// The rate along the whole medium: slowest, fastest, and the first GiB compared with the rest.
fn along(record: &Record) -> Option<Finding> {
    let (cell, series) = figure::cells(record, test::WHOLE_VIEW).find_map(|cell| {
        Some((
            cell,
            cell.series.iter().find(|series| {
                series.x == SeriesAxis::OffsetBytes && series.y == SeriesAxis::Bps
            })?,
        ))
    })?;
    let points = known_points(series);
    if points.len() < 10 {
        return None;
    }
    let median = |wanted: &dyn Fn(f64) -> bool| {
        stats::median(
            &mut points.iter().filter(|[x, _]| wanted(*x)).map(|[_, y]| *y).collect::<Vec<_>>(),
        )
    };
    let all = median(&|_| true)?;
    let (low, high) = points
        .iter()
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), [_, y]| (low.min(*y), high.max(*y)));
    let rate = |bps: f64| figure::quantity(metric::BPS, bps);
    let mut statement = format!(
        "Along the whole medium, reads reach {} (median), {} to {}.",
        rate(all),
        rate(low),
        rate(high)
    );
    let front = median(&|x| x < GIB as f64).zip(median(&|x| x >= GIB as f64));
    let differs = front.filter(|(front, rest)| (front / rest).max(rest / front) >= DIFFERENT);
    if let Some((front, rest)) = differs {
        statement += &format!(" The first GiB reaches {}, the rest {}.", rate(front), rate(rest));
    }
    let draft = if differs.is_some() {
        FindingBuilder::warning("along-the-medium", statement)
    } else {
        FindingBuilder::info("along-the-medium", statement)
    };
    Some(draft.note(format!("{}: {} places", figure::named(cell), points.len())).done())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(odd: &[u64], is: bool) {
        let all: Vec<FrontPiece> = (0..16)
            .map(|unit| FrontPiece {
                unit,
                from: unit as f64 * 4e6,
                to: (unit + 1) as f64 * 4e6,
                bps: 10e6,
            })
            .collect();
        let odd: Vec<&FrontPiece> = all.iter().filter(|piece| odd.contains(&piece.unit)).collect();
        assert_eq!(is_an_area(&odd, &all), is);
    }

    #[test]
    fn an_area_lies_together_at_the_front() {
        check(&[0, 1], true);
        check(&[1], true);
        check(&[0, 1, 2, 3, 5], true);
        check(&[12], false);
        check(&[3, 4, 6], false);
        check(&[1, 8], false);
        check(&[], false);
    }

    /// A unit at the front, or in the middle, whose windows have these rates.
    fn unit(index: Option<u64>, rates: &[f64]) -> Cell {
        let number = index.map_or(99, |index| index as u32);
        let mut cell = crate::testing::cell(test::FRONT_AREA, number, 4096);
        cell.params.region = index.is_none().then_some(record::Region::Middle);
        cell.params.span_offset_bytes = Some(index.unwrap_or(50) * 6400);
        cell.params.span_bytes = Some(6400);
        cell.params.other.extend(index.map(|index| ("au_index".to_owned(), index as f64)));
        cell.series.push(record::Series {
            name: "rate".into(),
            x: SeriesAxis::Bytes,
            y: SeriesAxis::Bps,
            points: rates
                .iter()
                .zip(1..)
                .map(|(bps, n)| [f64::from(n) * 6400.0 / rates.len() as f64, *bps])
                .collect(),
        });
        cell
    }

    #[test]
    fn a_unit_is_looked_at_in_four_pieces_of_eight_writes() {
        let many = |writes: usize| pieces(&unit(Some(0), &vec![9.0; writes]), 0).len();
        assert_eq!([7, 8, 31, 32, 33].map(many), [0, 1, 1, 4, 4]);
        let of = |rates: &[f64]| -> Vec<(f64, f64, f64)> {
            let cell = unit(Some(2), rates);
            pieces(&cell, 2).iter().map(|piece| (piece.from, piece.to, piece.bps)).collect()
        };
        let quarters = [1.0, 2.0, 3.0, 4.0].map(|rate| vec![rate; 8]).concat();
        assert_eq!(
            of(&quarters),
            [
                (12_800.0, 14_400.0, 1.0),
                (14_400.0, 16_000.0, 2.0),
                (16_000.0, 17_600.0, 3.0),
                (17_600.0, 19_200.0, 4.0)
            ]
        );
        let mut merged = vec![9.0; 8];
        merged[3] = 1.0;
        assert_eq!(of(&merged), [(12_800.0, 19_200.0, 9.0)]);
    }

    #[test]
    fn only_rates_that_are_finite_and_positive_are_typical() {
        let mut cell = unit(Some(0), &[10e6]);
        let with = |bps: f64| (1..=9).map(move |n| [f64::from(n) * 700.0, bps]);
        let mut points: Vec<[f64; 2]> = [0.0, -1.0, f64::NAN].into_iter().flat_map(with).collect();
        points.extend(with(10e6));
        cell.series[0].points = points;
        assert_eq!(pieces(&cell, 0).iter().map(|piece| piece.bps).collect::<Vec<_>>(), [10e6]);
    }
}
