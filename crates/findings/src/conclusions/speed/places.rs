//! `along-the-medium`: a slow part, and the rate along all of it
//! (docs/field/classic-tools.md#rate-along-the-medium).

use record::text::capitalised;
use record::units::{GIB, decimal, quantity};
use record::{Evidence, EvidenceNumber, Finding, Record, Series, SeriesAxis, metric, test};

use crate::figures::figure::{self, UsableEstimate};
use crate::figures::levels::known_points;
use crate::finding_builder::FindingBuilder;

/// Ratio of rates from which on the front is of another kind
/// (docs/field/allocation-units.md#front-area).
const DIFFERENT: f64 = 1.4;

/// A slow part, or else the rate along the whole medium.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let slow = slow_part(record).map(|part| {
        FindingBuilder::warning("along-the-medium", format!("{}.", capitalised(&part.text)))
            .note(EvidenceNumber::new("slow_from_bytes", part.from as f64))
            .note(EvidenceNumber::new("slow_to_bytes", part.to as f64))
            .note(Evidence::on(part.figure.cell, "medians of its parts"))
            .done()
    });
    slow.or_else(|| along(record))
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
        quantity(metric::BPS, bps(&mut times)?)
    );
    Some(SlowPart { figure, text, from, to })
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
    let rate = |bps: f64| quantity(metric::BPS, bps);
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
    Some(draft.note(Evidence::on(cell, format!("{} places", points.len()))).done())
}
