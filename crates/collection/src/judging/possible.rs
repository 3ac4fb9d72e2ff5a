//! Physical and logical consistency of a run: each number alone, the numbers of a cell together,
//! and the cells together.
//!
//! Rules that hold for every tool are checked for every cell. Rules that hold only because of how
//! Flashmark measures (an I/O is one block, no more I/Os are in flight than the queue depth) are
//! checked if the run says that Flashmark measured it, and for the tests in [`PLAIN`].

use std::collections::BTreeSet;
use std::fmt;

use findings::LINK_SLACK;
use record::collection::Origin;
use record::limits::{MAX_BPS, MAX_BYTES, MAX_IOPS, MAX_NS, most_of};
use record::units::{Nanos, saturating_sum};
use record::{
    Cell, Claims, Content, CountUnit, Flag, Moment, Params, Path, Published, Series, SeriesAxis,
    Stop, TargetKind, test,
};

use super::range::{MAX_OPS, MOST, contradiction, figure, within, within_if};
use super::{Rejection, latencies, limits, rates};

/// Tests of Flashmark in which every I/O is one block of one kind, with as many in flight as the
/// parameters say.
pub(super) const PLAIN: [&str; 7] = [
    test::RANDOM_WRITE,
    test::RANDOM_READ,
    test::SEQUENTIAL_WRITE,
    test::SEQUENTIAL_READ,
    test::RANDOM_FILL,
    test::ZERO_FILL,
    test::SECTOR_WRITE,
];
/// Most curves, labels or flags of one cell: Flashmark writes at most 4, 8 and 5.
const MAX_PARTS: usize = 64;
/// Most samples of the kernel's counters in one cell: Flashmark writes at most 64.
const MAX_SAMPLES: usize = 1024;
/// Tolerance of Little's law: the summed latencies exceed elapsed time times I/Os in flight only by
/// the rounding of the histogram. In 542 cells the excess was 0.05 %.
const LITTLE_SLACK: f64 = 1.02;
/// The last block of a span may be shorter.
const TAIL: u64 = 1;
/// Tolerance in ns: the clocks of a cell and of the run are read at different moments.
const SUM_SLACK_NS: u64 = 1_000_000_000;

/// Rejects a run that cannot be true.
pub(super) fn check(run: &Published) -> Result<(), Rejection> {
    if run.cells.is_empty() {
        return Err(Rejection::invalid(
            "not-a-run",
            "cells: there is none, so nothing was measured".to_owned(),
        ));
    }
    if let Some(why) = record::not_medium_reason(&run.flags, &run.cells) {
        return Err(Rejection::invalid("impossible", format!("flags: the run {why}")));
    }
    check_head(run)?;
    check_simulated(run)?;
    let mut ids = BTreeSet::new();
    for (number, cell) in run.cells.iter().enumerate() {
        let place = CellPath { number, id: &cell.id };
        if !ids.insert(cell.id.as_str()) {
            return Err(contradiction(place, "another cell has the same id"));
        }
        check_cell(place, cell)?;
        if run.software.is_flashmark() {
            check_ours(place, cell, run)?;
        }
    }
    check_sum(run)
}

/// A cell as named in messages: `cells[3] (random-write/2)`.
#[derive(Clone, Copy)]
struct CellPath<'a> {
    number: usize,
    id: &'a str,
}

impl fmt::Display for CellPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cells[{}] ({})", self.number, super::scan::quoted_short(self.id))
    }
}

fn check_head(run: &Published) -> Result<(), Rejection> {
    within("elapsed_ns", run.elapsed_ns as f64, 0.0, MAX_NS)?;
    within_if("capacity_bytes", run.capacity_bytes, 0.0, MAX_BYTES)?;
    let whole_bytes = run.part_of.as_ref().map(|whole| whole.capacity_bytes);
    within_if("part_of.capacity_bytes", whole_bytes, 0.0, MAX_BYTES)?;
    within_if("cpus", run.cpus.map(u64::from), 1.0, 65_536.0)?;
    run.claims.as_ref().map_or(Ok(()), check_claims)?;
    if let Some(classes) = &run.classes {
        for (name, class) in [
            ("speed_class", classes.speed_class),
            ("uhs_grade", classes.uhs_grade),
            ("video_class", classes.video_class),
            ("app_class", classes.app_class),
        ] {
            within_if(format_args!("classes.{name}"), class.map(u64::from), 0.0, 1000.0)?;
        }
        within_if("classes.au_bytes", classes.au_bytes, 0.0, MAX_BYTES)?;
        within_if("classes.uhs_au_bytes", classes.uhs_au_bytes, 0.0, MAX_BYTES)?;
    }
    if let Some(bps) = run.link.as_ref().and_then(|link| link.max_bps) {
        within("link.max_bps", bps, 1.0, MAX_BPS)?;
    }
    match &run.started {
        Some(text) if Moment::read(text).is_none() => Err(Rejection::invalid(
            "out-of-range",
            "started: no time as RFC 3339 writes it, for example 2026-05-01T12:00:00Z".to_owned(),
        )),
        _ => check_flags("flags", &run.flags),
    }
}

fn check_claims(claims: &Claims) -> Result<(), Rejection> {
    within_if("claims.capacity_bytes", claims.capacity_bytes, 0.0, MAX_BYTES)?;
    for (name, class) in [
        ("speed_class", claims.speed_class),
        ("uhs_grade", claims.uhs_grade),
        ("video_class", claims.video_class),
        ("app_class", claims.app_class),
    ] {
        within_if(format_args!("claims.{name}"), class.map(u64::from), 0.0, 1000.0)?;
    }
    for (name, bps) in [("read_bps", claims.read_bps), ("write_bps", claims.write_bps)] {
        bps.map_or(Ok(()), |bps| within(format_args!("claims.{name}"), bps, 0.0, MAX_BPS))?;
    }
    Ok(())
}

/// Rejects a run in virtual time that is not marked as simulated: runs on simulated media are kept
/// apart from all others.
fn check_simulated(run: &Published) -> Result<(), Rejection> {
    let in_virtual_time = run.engine.as_deref() == Some("virtual time");
    if in_virtual_time && Origin::of(run) != Origin::Simulated {
        return Err(contradiction(
            "engine",
            "virtual time is that of simulated media, and this medium is not simulated by its kind, target and profile",
        ));
    }
    Ok(())
}

/// Rejects a run whose cells of the tests in [`PLAIN`] together take longer than the run: they are
/// measured one after the other. (The cells of a replay are several views of the same time.)
fn check_sum(run: &Published) -> Result<(), Rejection> {
    let in_turn = run.cells.iter().filter(|cell| PLAIN.contains(&cell.test.as_str()));
    let sum = saturating_sum(in_turn.map(|cell| cell.elapsed_ns));
    if !run.software.is_flashmark()
        || sum <= run.elapsed_ns.saturating_add(run.elapsed_ns / 10).saturating_add(SUM_SLACK_NS)
    {
        return Ok(());
    }
    Err(contradiction(
        "elapsed_ns",
        format_args!("{} ns, but the cells took {sum} ns together", run.elapsed_ns),
    ))
}

fn check_cell(place: CellPath, cell: &Cell) -> Result<(), Rejection> {
    within(format_args!("{place}.ops"), cell.ops as f64, 0.0, MAX_OPS)?;
    within(format_args!("{place}.bytes"), cell.bytes as f64, 0.0, MAX_BYTES)?;
    within(format_args!("{place}.written_bytes"), cell.written_bytes as f64, 0.0, MAX_BYTES)?;
    within(format_args!("{place}.elapsed_ns"), cell.elapsed_ns as f64, 0.0, MAX_NS)?;
    for (name, parts, most) in [
        ("series", cell.series.len(), MAX_PARTS),
        ("flags", cell.flags.len(), MAX_PARTS),
        ("labels", cell.labels.len(), MAX_PARTS),
        ("activity", cell.activity.len(), MAX_SAMPLES),
    ] {
        if parts > most {
            return Err(Rejection::invalid(
                "too-many",
                format!("{place}.{name}: {parts} entries; at most {most} are taken"),
            ));
        }
    }
    check_params(place, &cell.params)?;
    check_metrics(place, cell)?;
    check_flags(format_args!("{place}.flags"), &cell.flags)?;
    cell.series.iter().enumerate().try_for_each(|(number, series)| {
        check_series(format_args!("{place}.series[{number}]"), series)
    })?;
    latencies::check(place, cell)
}

fn check_params(place: CellPath, params: &Params) -> Result<(), Rejection> {
    within(
        format_args!("{place}.params.queue_depth"),
        f64::from(params.queue_depth),
        1.0,
        65_536.0,
    )?;
    within(format_args!("{place}.params.threads"), f64::from(params.threads), 1.0, 65_536.0)?;
    within_if(format_args!("{place}.params.block_bytes"), params.block_bytes, 1.0, MAX_BYTES)?;
    within_if(
        format_args!("{place}.params.span_offset_bytes"),
        params.span_offset_bytes,
        0.0,
        MAX_BYTES,
    )?;
    within_if(format_args!("{place}.params.span_bytes"), params.span_bytes, 0.0, MAX_BYTES)?;
    if let Some(Content::Compressible(percent)) = params.content {
        within(format_args!("{place}.params.content"), f64::from(percent), 0.0, 100.0)?;
    }
    for (name, value) in &params.other {
        within(format_args!("{place}.params.{name}"), *value, -MOST, MOST)?;
    }
    Ok(())
}

fn check_metrics(place: CellPath, cell: &Cell) -> Result<(), Rejection> {
    let metrics = &cell.metrics;
    if let Some(iops) = &metrics.iops {
        figure(format_args!("{place}.metrics.iops"), iops, 0.0, MAX_IOPS)?;
    }
    if let Some(bps) = &metrics.bps {
        figure(format_args!("{place}.metrics.bps"), bps, 0.0, MAX_BPS)?;
    }
    for (name, estimate) in &metrics.other {
        // A rate, a time or a size is never negative; a number without a unit may be a difference.
        let (least, most) = most_of(name).map_or((-MOST, MOST), |most| (0.0, most));
        figure(format_args!("{place}.metrics.{name}"), estimate, least, most)?;
    }
    Ok(())
}

fn check_series(place: impl fmt::Display, series: &Series) -> Result<(), Rejection> {
    for [x, y] in &series.points {
        on_axis(&place, series.x, *x)?;
        on_axis(&place, series.y, *y)?;
    }
    Ok(())
}

fn on_axis(place: impl fmt::Display, axis: SeriesAxis, value: f64) -> Result<(), Rejection> {
    let (low, high) = match axis {
        // A curve may show a difference of two times.
        SeriesAxis::LatencyNs => (-MAX_NS, MAX_NS),
        SeriesAxis::ElapsedNs => (0.0, MAX_NS),
        SeriesAxis::Bytes | SeriesAxis::OffsetBytes => (0.0, MAX_BYTES),
        SeriesAxis::Ops => (0.0, MAX_OPS),
        SeriesAxis::Bps => (0.0, MAX_BPS),
        SeriesAxis::Iops => (0.0, MAX_IOPS),
        SeriesAxis::Celsius => (-273.15, 1000.0),
    };
    within(place, value, low, high)
}

/// Checks the numbers in flags that Flashmark writes.
fn check_flags(place: impl fmt::Display, flags: &[Flag]) -> Result<(), Rejection> {
    for flag in flags {
        let (values, most): (&[f64], f64) = match flag {
            Flag::NotConverged { relative_half_width } => (&[*relative_half_width], MOST),
            Flag::Drifting { range, .. } => (&[*range], MOST),
            Flag::FasterThanLink { bps, link_bps } => (&[*bps, *link_bps], MAX_BPS),
            Flag::FasterThanMemory { bps, memory_bps } => (&[*bps, *memory_bps], MAX_BPS),
            Flag::MayGetHot { bps, .. } => (&[*bps], MAX_BPS),
            Flag::SmallWriteBypass { ratio } => (&[*ratio], MOST),
            Flag::BusyHost { load_per_core } => (&[*load_per_core], MOST),
            _ => (&[], MOST),
        };
        values.iter().try_for_each(|value| within(&place, *value, 0.0, most))?;
    }
    Ok(())
}

/// Rules for cells that Flashmark measured.
fn check_ours(place: CellPath, cell: &Cell, run: &Published) -> Result<(), Rejection> {
    check_span(place, cell, run)?;
    check_link(place, cell, run)?;
    rates::check_sustained(place, cell)?;
    if cell.count_unit() == CountUnit::Commits {
        rates::check_commits(place, cell)?;
    }
    if !PLAIN.contains(&cell.test.as_str()) {
        return Ok(());
    }
    check_blocks(place, cell)?;
    rates::check(place, cell)?;
    check_little(place, cell)
}

/// Rejects a span that ends beyond the medium.
fn check_span(place: CellPath, cell: &Cell, run: &Published) -> Result<(), Rejection> {
    let is_whole = matches!(run.target, TargetKind::Block | TargetKind::Simulated);
    let Some(capacity) = run.capacity_bytes.filter(|_| is_whole) else { return Ok(()) };
    let end = cell
        .params
        .span_offset_bytes
        .unwrap_or(0)
        .saturating_add(cell.params.span_bytes.unwrap_or(0));
    if end <= capacity {
        return Ok(());
    }
    let what = format!("a span that ends at byte {end} of a medium of {capacity} bytes");
    Err(Rejection::invalid("impossible", format!("{place}.params: {what}")))
}

/// Rejects rates above that of the link, by its reported speed and by the standard of its
/// generation. Flashmark flags such cells itself, and flagged cells are not used for conclusions.
fn check_link(place: CellPath, cell: &Cell, run: &Published) -> Result<(), Rejection> {
    let reported_bps = run.link.as_ref().and_then(|link| link.max_bps);
    let standard = run.interface_words().and_then(|words| limits::of_interface(&words));
    let slowest = reported_bps.into_iter().chain(standard).min_by(f64::total_cmp);
    let Some(link_bps) = slowest.filter(|_| cell.params.path == Path::Direct) else {
        return Ok(());
    };
    let Some(bps) =
        cell.metrics.bps.map(|bps| bps.value).filter(|bps| *bps > link_bps * LINK_SLACK)
    else {
        return Ok(());
    };
    if cell.flags.iter().any(Flag::is_impossible) {
        return Ok(());
    }
    let what = format!(
        "{bps:.0} bytes per second over a link of {link_bps:.0}, without the flag for that"
    );
    Err(Rejection::invalid("impossible", format!("{place}.metrics.bps: {what}")))
}

/// Rejects bytes that are not one block for each I/O.
fn check_blocks(place: CellPath, cell: &Cell) -> Result<(), Rejection> {
    let Some(block) = cell.params.block_bytes else {
        let moved = (cell.bytes > 0).then(|| {
            let place = format_args!("{place}.params.block_bytes");
            contradiction(place, format_args!("none, but {} bytes were moved", cell.bytes))
        });
        return moved.map_or(Ok(()), Err);
    };
    let most = cell.ops.saturating_mul(block);
    // Around a bad block a write is split into pieces.
    let is_whole = cell.stop != Stop::Error;
    let least = if is_whole { cell.ops.saturating_sub(TAIL).saturating_mul(block) } else { 0 };
    if (least..=most).contains(&cell.bytes) {
        return Ok(());
    }
    Err(contradiction(
        format_args!("{place}.bytes"),
        format_args!("{} bytes in {} I/Os of {block}", cell.bytes, cell.ops),
    ))
}

/// Rejects summed latencies above elapsed time times I/Os in flight (Little's law).
fn check_little(place: CellPath, cell: &Cell) -> Result<(), Rejection> {
    let Some(share) = share_under_way(cell).filter(|share| *share > LITTLE_SLACK) else {
        return Ok(());
    };
    let what = format!(
        "I/Os that took {share:.3} times as long as {} times {} under way",
        Nanos(cell.elapsed_ns),
        under_way(cell)
    );
    Err(contradiction(format_args!("{place}.metrics.latency_ns"), what))
}

/// Summed latencies as a share of elapsed time times the possible I/Os in flight: near 1 if the
/// queue is always full. `None` without latencies or time.
pub(super) fn share_under_way(cell: &Cell) -> Option<f64> {
    // The histogram holds all I/Os, whatever the metrics say.
    let histogram = cell.histogram.as_ref().filter(|histogram| !histogram.is_empty())?;
    // The upper bound of a bucket is up to 0.1 % above its latencies.
    let took: f64 = histogram.buckets().map(|(ns, count)| ns as f64 * count as f64).sum();
    let share = took / (cell.elapsed_ns as f64 * under_way(cell));
    (!share.is_nan()).then_some(share)
}

/// Possible I/Os in flight.
fn under_way(cell: &Cell) -> f64 {
    f64::from(cell.params.queue_depth) * f64::from(cell.params.threads)
}
