//! What a run is refused for, and what a person looks at before it is public. Figures are not among
//! it: they are drawn from their evidence (`figures`).

use std::collections::BTreeSet;

use findings::LINK_SLACK;
use record::collection::{FigureUnit, HeadlineFigure, Origin, RunHeadline};
use record::units::{BytesPerSecond, Iops, Nanos};
use record::{Cell, CountUnit, Flag, MediumKind, Moment, Path, Published, TargetKind, test};

use super::figures::OF_BLOCKS;
use super::{Rejection, figures, limits, scan};

/// A rule: code of a rejection, and the place and the reason if a run breaks it.
type Rule = (&'static str, fn(&Published) -> Option<String>);

/// What cannot be true of a run.
const REFUSALS: [Rule; 8] = [
    ("not-a-run", |run| {
        run.cells.is_empty().then(|| "cells: there is none, so nothing was measured".to_owned())
    }),
    ("impossible", |run| {
        let why = record::not_medium_reason(&run.flags, &run.cells)?;
        Some(format!("flags: the run {why}"))
    }),
    ("contradiction", |run| {
        let is_virtual = run.engine.as_deref() == Some("virtual time");
        (is_virtual && Origin::of(run) != Origin::Simulated).then(|| {
            "engine: virtual time is that of simulated media, and this medium is not simulated by its kind, target and profile".to_owned()
        })
    }),
    ("out-of-range", |run| {
        let is_moment = run.started.as_deref().is_none_or(|text| Moment::read(text).is_some());
        (!is_moment).then(|| {
            "started: no time as RFC 3339 writes it, for example 2026-05-01T12:00:00Z".to_owned()
        })
    }),
    ("contradiction", |run| {
        let mut ids = BTreeSet::new();
        of_a_cell(run, |cell| {
            (!ids.insert(cell.id.as_str())).then(|| ": another cell has the same id".to_owned())
        })
    }),
    ("contradiction", |run| of_a_cell(run, uncounted)),
    ("impossible", |run| of_a_cell(run, |cell| beyond_the_medium(cell, run))),
    ("impossible", |run| of_a_cell(run, |cell| beyond_the_link(cell, run))),
];

/// Number of I/Os that may be missing because of a host stall, however few there are in all.
const FEW_OF_THE_HOST: u64 = 16;
/// Longest plausible run: a test of a month is not a test of a medium.
const LONG_NS: u64 = 31 * 86_400 * 1_000_000_000;
/// Number of I/Os from which on equal latencies (to three digits) are implausible on a real medium.
const MANY_ALIKE: u64 = 100;
/// Shortest time of an I/O on any link, in nanoseconds (our choice): no figure at queue depth 1 can
/// be faster.
const LEAST_NS: f64 = 1000.0;

/// Rejects a run that cannot be true.
pub(super) fn check(run: &Published) -> Result<(), Rejection> {
    let broken = REFUSALS.iter().find_map(|(code, test)| Some((*code, test(run)?)));
    broken.map_or(Ok(()), |(code, reason)| Err(Rejection::invalid(code, reason)))
}

/// The first cell of which something is said, as `cells[3] (random-write/2)` with what is said.
fn of_a_cell<'a>(
    run: &'a Published,
    mut said: impl FnMut(&'a Cell) -> Option<String>,
) -> Option<String> {
    run.cells.iter().enumerate().find_map(|(number, cell)| {
        let what = said(cell)?;
        Some(format!("cells[{number}] ({}){what}", scan::quoted_short(&cell.id)))
    })
}

/// A histogram with another number of entries than the cell has I/Os. Those during a host stall
/// count, but have no latency: at most [`FEW_OF_THE_HOST`] or a tenth of all, so that a sender cannot
/// claim any number. Each commit and each line takes at least one I/O.
fn uncounted(cell: &Cell) -> Option<String> {
    let entries = cell.histogram.as_ref()?.len();
    let claimed = cell.host_state.as_ref().map_or(0, |host_state| host_state.left_out);
    let is_of_ios = cell.count_unit() == CountUnit::Ios || figures::is_of_ios(cell);
    let most = if is_of_ios {
        entries + claimed.min((entries / 10).max(FEW_OF_THE_HOST))
    } else {
        u64::MAX
    };
    (!(entries..=most).contains(&cell.ops))
        .then(|| format!(".histogram: it has {entries} entries, the cell {} I/Os", cell.ops))
}

/// A span that ends beyond the medium.
fn beyond_the_medium(cell: &Cell, run: &Published) -> Option<String> {
    let is_whole = matches!(run.target, TargetKind::Block | TargetKind::Simulated);
    let capacity = run.capacity_bytes.filter(|_| is_whole && run.software.is_flashmark())?;
    let (from, length) = (cell.params.span_offset_bytes, cell.params.span_bytes);
    let end = from.unwrap_or(0).saturating_add(length.unwrap_or(0));
    (end > capacity)
        .then(|| format!(".params: a span that ends at byte {end} of a medium of {capacity} bytes"))
}

/// A rate above that of the link, by its reported speed and by the standard of its generation.
/// Flashmark flags such cells itself, and flagged cells are not used for conclusions.
fn beyond_the_link(cell: &Cell, run: &Published) -> Option<String> {
    let reported_bps = run.link.as_ref().and_then(|link| link.max_bps);
    let standard = run.interface_words().and_then(|words| limits::of_interface(&words));
    let slowest = reported_bps.into_iter().chain(standard).min_by(f64::total_cmp);
    let is_direct = cell.params.path == Path::Direct && run.software.is_flashmark();
    let link_bps = slowest.filter(|_| is_direct)?;
    let bps = cell.metrics.bps.map(|bps| bps.value).filter(|bps| *bps > link_bps * LINK_SLACK)?;
    (!cell.flags.iter().any(Flag::is_impossible)).then(|| {
        format!(
            ".metrics.bps: {bps:.0} bytes per second over a link of {link_bps:.0}, without the flag for that"
        )
    })
}

/// Sentences about a run that is unusual but possible: a person reviews it before it is public. There
/// are none of runs on simulated media, which are kept apart.
pub(super) fn caveats(run: &Published, headline: &RunHeadline) -> Vec<String> {
    let mut caveats = Vec::new();
    if Origin::of(run) == Origin::Simulated {
        return caveats;
    }
    caveats.extend(run.cells.iter().find_map(|cell| unlike_a_medium(cell, run)));
    caveats.extend(crate::names::caveat(run));
    caveats.extend(too_large(run));
    caveats.extend(
        HeadlineFigure::ALL
            .into_iter()
            .filter_map(|figure| too_fast(figure, *headline.figures.get(&figure)?, run.kind)),
    );
    if run.cells.iter().all(|cell| cell.ops == 0 && cell.metrics == record::Metrics::default()) {
        caveats.push("no cell has a result".to_owned());
    }
    if run.elapsed_ns > LONG_NS {
        caveats.push(format!("it took {}", Nanos(run.elapsed_ns)));
    }
    caveats
}

/// A cell with values that no medium produces. Cells of other tools may lack latencies.
fn unlike_a_medium(cell: &Cell, run: &Published) -> Option<String> {
    if cell.metrics.iops.is_none() || !OF_BLOCKS.contains(&cell.test.as_str()) {
        return None;
    }
    let Some(histogram) = &cell.histogram else {
        let is_ours = run.software.is_flashmark();
        return is_ours
            .then(|| format!("{} has a rate, but no latencies that it is made of", cell.id));
    };
    let samples = histogram.len();
    let most = histogram.buckets().map(|(_, count)| count).max().unwrap_or(0);
    (samples >= MANY_ALIKE && most * 100 >= samples * 99)
        .then(|| format!("{most} of {samples} I/Os of {} took the same time", cell.id))
}

/// A capacity larger than any medium of its kind on sale, with room to grow.
fn too_large(run: &Published) -> Option<String> {
    let most: u64 = match run.kind {
        MediumKind::CompactFlash => 2_000_000_000_000,
        MediumKind::Sd | MediumKind::Emmc => 8_000_000_000_000,
        MediumKind::Usb => 64_000_000_000_000,
        _ => 1_000_000_000_000_000,
    };
    let bytes = run.capacity_bytes.filter(|bytes| *bytes > most)?;
    Some(format!("{} TB is more than any {} has", bytes / 1_000_000_000_000, run.kind.words()))
}

/// A figure that no medium of its kind reaches. Headline figures of random I/O are those with one I/O
/// at a time.
fn too_fast(figure: HeadlineFigure, value: f64, kind: MediumKind) -> Option<String> {
    let limit = limits::of_kind(kind);
    let is_read = figure.entry().test == test::RANDOM_READ;
    let most_iops = if is_read { limit.random_reads } else { limit.iops };
    let (is_beyond, words) = match figure.unit() {
        FigureUnit::Bps => (value > limit.bps, BytesPerSecond(value).to_string()),
        FigureUnit::Iops => (value > most_iops.min(1e9 / LEAST_NS), Iops(value).to_string()),
        FigureUnit::Ns => (value < LEAST_NS / 10.0, Nanos(value as u64).to_string()),
    };
    let whom = match kind {
        MediumKind::Unknown => "medium but an NVMe drive does; say of which kind it is".to_owned(),
        kind => format!("{} does", kind.words()),
    };
    is_beyond.then(|| format!("{} of {words} is beyond what any {whom}", figure.name()))
}
