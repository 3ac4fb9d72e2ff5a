//! Distinction between heat and caches (docs/field/cheats.md#cheats-and-caches). A full cache
//! becomes slow once and stays slow while it is written to. A hot medium is fast again as soon as
//! it is cool, without a pause, and its rate follows the temperature if there is a thermometer.
//! Without either, reads help: a hot medium reads more slowly by as much as it writes, one with a
//! full cache does not. A pause helps, too: a cache cannot be emptied faster than the medium writes
//! with a full cache; recovery from heat does not depend on the bytes written.

use record::units::{Nanos, quantity, significant};
use record::{Cell, Evidence, Finding, Flag, Record, Series, SeriesAxis, metric, test};

use crate::conclusions::speed::places;
use crate::figures::figure::{self, UsableEstimate};
use crate::figures::levels::{
    self, DIP, along, cliff, first_fall, levels, longest_fills, mean_until, without_dips,
    without_memory,
};
use crate::finding_builder::FindingBuilder;

/// Least ratio of a step up or down (docs/field/statistics.md#change-points).
const STEP: f64 = 1.25;
/// Degrees above the start from which on heat is an explanation.
const WARMER: f64 = 10.0;

/// Evidence of heat in one cell.
struct HeatEvidence<'a> {
    cell: &'a Cell,
    evidence: String,
    fast_bps: f64,
    slow_bps: f64,
}

/// True if any cell shows heat.
pub(crate) fn is_heat(record: &Record) -> bool {
    heat(record).is_some()
}

/// The lowest rate of the fill, where it is lower than that of its last quarter: a hot medium is
/// slow again and again. A slow part has its own.
pub(crate) fn fallen(record: &Record) -> Option<UsableEstimate<'_>> {
    let end = figure::sustained(record).filter(|_| places::slow_part(record).is_none())?;
    let lowest = heat(record).map(|heat| heat.slow_bps).or_else(|| lowest(along(end.cell)?))?;
    (lowest * STEP < end.value).then_some(UsableEstimate { value: lowest, ci95: None, ..end })
}

/// "Writes fall to 7.45 MB/s when it is hot."
pub(crate) fn fall_in_words(record: &Record) -> Option<String> {
    heat(record)?;
    let low = fallen(record).or_else(|| figure::sustained(record))?;
    Some(format!("Writes fall to {} when it is hot.", low.text()))
}

/// The lowest of the levels that, with those that are alike, make up a tenth of the time.
fn lowest(series: &Series) -> Option<f64> {
    let mut from = levels::begun_at(series, 0.0);
    let stretches: Vec<(f64, f64)> = levels(series)
        .into_iter()
        .map(|(to, bps)| ((to - std::mem::replace(&mut from, to)) / bps, bps))
        .collect();
    let time = |up_to: f64| -> f64 {
        stretches.iter().filter(|(_, bps)| *bps < up_to).map(|(time, _)| time).sum()
    };
    let lasts = |bps: &f64| time(STEP * bps) >= DIP * time(f64::INFINITY);
    stretches.iter().map(|(_, bps)| *bps).filter(lasts).reduce(f64::min)
}

/// Transformation of a curve before its analysis.
type CurveTransform = fn(&Series) -> Series;

/// The curve unchanged, and without its start in volatile memory, which is fast whether the medium
/// is hot or not.
const VIEWS: [CurveTransform; 2] = [Series::clone, |series| without_memory(series, 0.0)];

fn heat(record: &Record) -> Option<HeatEvidence<'_>> {
    VIEWS.into_iter().find_map(|view| {
        longest_fills(record)
            .iter()
            .flat_map(|test| figure::cells(record, test))
            .find_map(|cell| of_cell(record, cell, view))
            .or_else(|| reads(record, view))
            .or_else(|| cooled(record, view))
    })
}

/// Largest ratios of the slowdown of writes to that of reads, and of reads to writes. The second is
/// larger, as a level of writes has warm and hot parts.
const ALIKE: [f64; 2] = [1.35, 1.45];
/// Ratio from which on reads during the emptying of a cache are slower than reads after a pause.
const WAITED: f64 = 1.3;

/// The cells of `sustained`, in order.
fn turns(record: &Record) -> impl Iterator<Item = &Cell> {
    ["first", "after-idle-30", "after-idle-300"]
        .into_iter()
        .filter_map(|form| figure::form(record, test::SUSTAINED, form))
}

/// Rates of reads at the beginning of the span, the slowest first: right after it was written,
/// after all writes, and after each pause. It is unknown which of them were hot: a medium just
/// below the limit cools within moments. If a flush does not empty the cache, reads right after
/// writes wait for it: then only reads after pauses count.
fn readings(record: &Record) -> Vec<UsableEstimate<'_>> {
    let read = |cell, name| UsableEstimate::of(cell, name).filter(|read| read.value > 0.0);
    let after_pauses = || {
        turns(record)
            .filter(|cell| cell.params.form.as_deref() != Some("first"))
            .filter_map(|cell| read(cell, metric::READ_BPS))
    };
    let first = figure::form(record, test::SUSTAINED, "first");
    let rested_bps = after_pauses().map(|read| read.value).fold(0.0, f64::max);
    let cool = first
        .and_then(|cell| read(cell, metric::COOL_READ_BPS))
        .filter(|cool| cool.value * WAITED >= rested_bps);
    let hot = first.and_then(|cell| read(cell, metric::READ_BPS)).filter(|_| cool.is_some());
    let mut reads: Vec<UsableEstimate> = after_pauses().chain(cool).chain(hot).collect();
    reads.sort_by(|a, b| a.value.total_cmp(&b.value));
    reads
}

/// True if reads right after writes were as fast as after pauses.
fn reads_on(record: &Record) -> bool {
    matches!(readings(record).as_slice(), [slow, .., fast] if fast.value / slow.value < STEP)
}

fn reads(record: &Record, view: CurveTransform) -> Option<HeatEvidence<'_>> {
    let mut rates: Vec<f64> =
        turns(record).filter_map(along).flat_map(|series| lasting(&view(series))).collect();
    rates.sort_by(|a, b| b.total_cmp(a));
    let (&slow_bps, faster_ones) = rates.split_last()?;
    let reads = readings(record);
    let best = reads.last()?;
    // Reads right after writes may also have waited, and the fastest level may be a cache's: any
    // pair may be due to heat alone.
    let mut pairs = faster_ones
        .iter()
        .filter(|fast| **fast >= STEP * slow_bps)
        .flat_map(|fast| reads.iter().map(move |read| (*fast, read)));
    let is_heat = |written: f64, read: f64| {
        read >= STEP && written / read <= ALIKE[0] && read / written <= ALIKE[1]
    };
    let (fast_bps, hot) =
        pairs.find(|(fast_bps, read)| is_heat(fast_bps / slow_bps, best.value / read.value))?;
    let times = figure::times(best.value / hot.value);
    let evidence = format!(
        "reads were up to {times} slower after writes than before them or after a pause, as writes were"
    );
    Some(HeatEvidence { cell: hot.cell, evidence, fast_bps, slow_bps })
}

/// Rates of a curve's levels that lasted long enough for heat to build up or dissipate.
fn lasting(series: &Series) -> Vec<f64> {
    let ends = levels(series);
    let begins =
        std::iter::once(levels::begun_at(series, 0.0)).chain(ends.iter().map(|level| level.0));
    begins
        .zip(&ends)
        .filter(|(begin, (end, bps))| (end - begin) / bps >= SOONEST_S)
        .map(|(_, level)| level.1)
        .collect()
}

/// Least ratio of the recovered bytes to those that a cache could have emptied, for heat as the
/// cause.
const TOO_MUCH: f64 = 1.2;

/// Recovery after pauses, compared with what a cache could have emptied: (cell after the pause,
/// fast bytes, bytes that a cache could have emptied during the pause and while they were written).
fn came_back(record: &Record, view: CurveTransform) -> Vec<(&Cell, f64, f64)> {
    let Some(first) = figure::form(record, test::SUSTAINED, "first") else { return Vec::new() };
    let Some((_, slow_bps)) = fall(first, view) else { return Vec::new() };
    let pauses = [("after-idle-30", 30.0), ("after-idle-300", 300.0)];
    pauses
        .into_iter()
        .filter_map(|(form, idle_s)| {
            let cell = figure::form(record, test::SUSTAINED, form)?;
            let to_bytes = fall(cell, view).map_or(cell.bytes as f64, |(bytes, _)| bytes);
            let (bytes, fast_bps) = mean_until(&view(along(cell)?), to_bytes)?;
            let emptied = slow_bps * (idle_s + bytes / fast_bps);
            // If the rate was never fast, nothing was recovered.
            Some((cell, if fast_bps > STEP * slow_bps { bytes } else { 0.0 }, emptied))
        })
        .collect()
}

/// Position in bytes of the first fall of a cell's rate, and its slowest level. A hot medium may be
/// fast again before the cell ends.
fn fall(cell: &Cell, view: CurveTransform) -> Option<(f64, f64)> {
    let found = first_fall(&view(along(cell)?), 0.0)?;
    Some((found.at, found.levels.iter().map(|level| level.1).fold(f64::INFINITY, f64::min)))
}

fn cooled(record: &Record, view: CurveTransform) -> Option<HeatEvidence<'_>> {
    let (cell, bytes, emptied) = came_back(record, view)
        .into_iter()
        .find(|(_, bytes, emptied)| *bytes > TOO_MUCH * emptied)?;
    let first = figure::form(record, test::SUSTAINED, "first")?;
    let (at, slow_bps) = fall(first, view)?;
    let evidence = format!(
        "after a pause {} were fast again, well above the {} that a cache could have emptied in that time",
        quantity("_bytes", bytes),
        quantity("_bytes", emptied)
    );
    Some(HeatEvidence {
        cell,
        evidence,
        fast_bps: mean_until(&view(along(first)?), at)?.1,
        slow_bps,
    })
}

/// True if heat may have made this cell slower, with the reason.
pub(crate) fn heat_caveat(record: &Record, cell: &Cell) -> (bool, &'static str) {
    if cell.test != test::SUSTAINED || came_back(record, VIEWS[0]).is_empty() {
        return (true, "heat is not ruled out: recovery after a pause was not measured");
    }
    if reads_on(record) {
        return (false, "heat is ruled out: reads stayed as fast as after a pause");
    }
    let why = if readings(record).len() > 1 {
        "heat is not ruled out: recovery after a pause fits a cache, but reads were slower after writes"
    } else {
        "heat is not ruled out: recovery after a pause fits a cache, but reads after writes were not measured"
    };
    (true, why)
}

fn of_cell<'a>(record: &Record, cell: &'a Cell, view: CurveTransform) -> Option<HeatEvidence<'a>> {
    // A fill in pieces comes to a slow part again and again.
    let is_of_place = cell.test == test::SUSTAINED && places::slow_part(record).is_some();
    let rates = cell.series.iter().filter(|series| series.y == SeriesAxis::Bps && !is_of_place);
    let rates = rates.map(view);
    let heat_in_rates = rates.into_iter().find_map(|series| {
        let segments = Some(levels(&series)).filter(|levels| levels.len() > 1)?;
        if lasted_s(cell, &series, segments[0]) < SOONEST_S {
            return None;
        }
        let (fast_bps, slow_bps) = (
            segments.iter().map(|s| s.1).fold(0.0, f64::max),
            segments.iter().map(|s| s.1).fold(f64::INFINITY, f64::min),
        );
        // If the medium is hot for most of the time but reads as fast as ever, it is not hot.
        let short_recoveries =
            || short_recoveries(&series, &segments).filter(|_| !reads_on(record));
        // Clusters of pauses and host stalls make a stretch a little slower, too.
        let is_clear = fast_bps >= STEP * STEP * slow_bps || !reads_on(record);
        let alternates = alternation(&segments).filter(|_| is_clear);
        let reason = alternates
            .or_else(short_recoveries)
            .or_else(|| temperature_at_fall(cell, &series, &segments))?;
        Some(HeatEvidence { cell, evidence: reason, fast_bps, slow_bps })
    });
    heat_in_rates.or_else(|| {
        let flagged = cell.flags.contains(&Flag::Throttled);
        let bps = cell.metrics.bps.map(|bps| bps.value).filter(|bps| *bps > 0.0)?;
        flagged.then(|| HeatEvidence {
            cell,
            evidence: "the host reported that it was throttled".into(),
            fast_bps: bps,
            slow_bps: bps,
        })
    })
}

/// Shortest time in seconds until heat has an effect: an earlier fall has another reason (for
/// example other work of a shared host).
const SOONEST_S: f64 = 5.0;

/// Duration of the first level of a series in seconds.
fn lasted_s(cell: &Cell, series: &Series, (to, bps): (f64, f64)) -> f64 {
    match series.x {
        SeriesAxis::ElapsedNs => to / 1e9,
        SeriesAxis::OffsetBytes => (to - cell.params.span_offset_bytes.unwrap_or(0) as f64) / bps,
        _ => to / bps,
    }
}

/// Evidence of a fall followed by a recovery (to [`BACK`] of the first level) as long as a level,
/// without a pause. A single one may be a dip: a pause of host or medium.
fn alternation(levels: &[(f64, f64)]) -> Option<String> {
    let first = levels.first()?.1;
    let count = |levels: &[(f64, f64)]| {
        let falls = levels.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
        let fallen = levels.windows(2).skip_while(|pair| pair[1].1 > pair[0].1);
        (falls, fallen.filter(|pair| pair[1].1 > pair[0].1 && pair[1].1 >= BACK * first).count())
    };
    let (falls, back) = count(levels);
    let is_more = back > 1 || count(&without_dips(levels.to_vec())).1 == 1;
    let times = |n: usize| if n == 1 { "once".to_owned() } else { format!("{n} times") };
    (falls >= 1 && back >= 1 && is_more).then(|| {
        format!("fell {} and was fast again {}, without a pause", times(falls), times(back))
    })
}

/// Share of the first level that counts as a full recovery.
const BACK: f64 = 0.8;
/// Consecutive windows of a short recovery, or of the slow stretch before it; a single one may be
/// chance.
const SHORT: usize = 2;
/// Fewest short recoveries as evidence. A cache that empties a little while idle may be fast once
/// more.
const RETURNS: usize = 2;

/// Evidence of a fall followed by recoveries too short for a level: a medium that cools to just
/// below the limit exceeds it again soon.
fn short_recoveries(series: &Series, levels: &[(f64, f64)]) -> Option<String> {
    let &(fell_at, first) = levels.first()?;
    let slow = levels.iter().map(|level| level.1).fold(f64::INFINITY, f64::min);
    let (mut fast_run, mut slow_run, mut count) = (0, 0, 0);
    for [_, bps] in series.points.iter().filter(|[x, bps]| *x > fell_at && bps.is_finite()) {
        if *bps < (first * slow).sqrt() {
            (slow_run, fast_run) = (slow_run + 1, 0);
        } else if *bps >= BACK * first {
            fast_run += 1;
            if fast_run == SHORT && slow_run >= SHORT {
                (count, slow_run) = (count + 1, 0);
            }
        }
    }
    (first >= STEP * STEP * slow && count >= RETURNS)
        .then(|| format!("fell and was fast again {count} times for a moment, without a pause"))
}

/// Temperature at the first fall, if it is higher than at the beginning and the rate fell while it
/// rose.
fn temperature_at_fall(cell: &Cell, rates: &Series, levels: &[(f64, f64)]) -> Option<String> {
    let warm =
        cell.series.iter().find(|series| series.y == SeriesAxis::Celsius && series.x == rates.x)?;
    let [_, start] = *warm.points.first()?;
    let at_fall =
        warm.points.iter().rev().find(|[x, _]| *x <= levels[0].0).map(|[_, celsius]| *celsius)?;
    let fell = levels[1].1 < levels[0].1;
    (fell && at_fall >= start + WARMER && at_fall >= 60.0).then(|| {
        format!(
            "began at {} degrees Celsius and fell at {}",
            significant(start),
            significant(at_fall)
        )
    })
}

/// `throttling`, and `idle-recovery`: the effect of a pause.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    let hot = heat(record).map(|heat| {
        let statement = format!(
            "It throttles when hot: {} falls to {} and recovers as it cools. Long writes need pauses, a heat sink or a lower rate.",
            quantity(metric::BPS, heat.fast_bps),
            quantity(metric::BPS, heat.slow_bps)
        );
        FindingBuilder::warning("throttling", statement).note(Evidence::on(heat.cell, heat.evidence)).note("docs/field/cheats.md#cheats-and-caches").done()
    });
    hot.into_iter().chain(recovery(record)).collect()
}

/// Finding on the bytes that the cache takes after a pause, compared with those at first.
fn recovery(record: &Record) -> Option<Finding> {
    let burst = |form: &str| {
        let cell = figure::form(record, test::SUSTAINED, form)?;
        let (series, origin) = figure::rates_over_bytes(cell).next()?;
        Some((cell, series, cliff(series, origin)))
    };
    let (first_cell, _, first) = burst("first")?;
    let first = first?;
    let slow = first.levels.last()?.1;
    let fast_for = |cell: &Cell, bytes: f64| {
        Evidence::on(cell, format!("fast for the first {}", quantity("_bytes", bytes)))
    };
    let mut lines = vec![fast_for(first_cell, first.at)];
    let mut recoveries = Vec::new();
    for (form, idle_ns) in [("after-idle-30", 30_000_000_000), ("after-idle-300", 300_000_000_000)]
    {
        let Some((cell, series, again)) = burst(form) else { continue };
        // Without a cliff it was fast throughout, or slow throughout.
        let fast_bytes = match &again {
            Some(again) => again.at,
            None => {
                let mean = series
                    .points
                    .iter()
                    .map(|point| point[1])
                    .filter(|bps| bps.is_finite())
                    .sum::<f64>()
                    / series.points.len().max(1) as f64;
                if mean > slow * STEP { cell.bytes as f64 } else { 0.0 }
            }
        };
        let share = (fast_bytes / first.at).min(1.0);
        if share.is_finite() {
            recoveries.push(format!(
                "{} % after a pause of {}",
                significant((share * 100.0).round()),
                Nanos(idle_ns)
            ));
            lines.push(fast_for(cell, fast_bytes));
        }
    }
    let statement = format!("Its fast cache recovers: {}.", recoveries.join(", "));
    (!recoveries.is_empty() && !is_heat(record)).then(|| {
        FindingBuilder::info("idle-recovery", statement)
            .notes(lines)
            .note("docs/field/cheats.md#cheats-and-caches, docs/field/statistics.md#change-points")
            .done()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_level_lasted_by_its_axis() {
        let mut cell = crate::testing::cell(test::SUSTAINED, 1, 1 << 20);
        cell.params.span_offset_bytes = Some(100);
        for (x, expected) in [
            (SeriesAxis::ElapsedNs, 7e-7),
            (SeriesAxis::OffsetBytes, 60.0),
            (SeriesAxis::Bytes, 70.0),
        ] {
            let series = Series { name: "rate".into(), x, y: SeriesAxis::Bps, points: vec![] };
            assert_eq!(lasted_s(&cell, &series, (700.0, 10.0)), expected, "{x:?}");
        }
    }

    fn series(y: SeriesAxis, points: Vec<[f64; 2]>) -> Series {
        Series { name: "a".into(), x: SeriesAxis::Bytes, y, points }
    }

    /// Whether a fall shows alternation, warmth or short returns.
    fn answer(question: &str) -> String {
        let (what, numbers) = question.split_once(' ').unwrap();
        let numbers: Vec<f64> = numbers.split(' ').map(|word| word.parse().unwrap()).collect();
        let shown = match (what, &numbers[..]) {
            ("alternation", rates) => {
                let levels = (1..).map(|end| f64::from(end) * 100.0).zip(rates.iter().copied());
                alternation(&levels.collect::<Vec<_>>())
            }
            ("warm", [start, at_fall, first, slow]) => {
                let mut cell = crate::testing::cell(test::SUSTAINED, 1, 1 << 20);
                let celsius = vec![[0.0, *start], [50.0, *at_fall], [51.0, 90.0]];
                cell.series.push(series(SeriesAxis::Celsius, celsius));
                let curve = series(SeriesAxis::Bps, vec![]);
                let levels = [(50.0, *first), (90.0, *slow)];
                temperature_at_fall(&cell, &curve, &levels).map(|_| "yes".to_owned())
            }
            (_, [first, slow, rates @ ..]) => {
                let points = rates.iter().zip(1..).map(|(bps, n)| [100.0 + f64::from(n), *bps]);
                let curve = series(SeriesAxis::Bps, points.collect());
                let levels = [(100.0, *first), (200.0, *slow)];
                short_recoveries(&curve, &levels).map(|_| "yes".to_owned())
            }
            _ => panic!("{question}: no question to a fall"),
        };
        shown.unwrap_or_else(|| "no".to_owned())
    }

    #[test]
    fn falls_show_alternation_warmth_and_short_returns_from_the_limits_of_the_rows() {
        crate::cases::check_rows("src/conclusions/speed/throttling/rows.txt", answer);
    }
}
