//! Caveats about a run that is unusual but possible: a person reviews it before it is public. Each
//! caveat is a sentence that says what was found.

use record::collection::{FigureUnit, HeadlineFigure, Origin, RunHeadline};
use record::units::{BytesPerSecond, Iops, Nanos, significant};
use record::{Cell, MediumKind, Published, test};

use super::possible::PLAIN;
use super::{limits, simulated};

/// Longest plausible run: a test of a month is not a test of a medium.
const LONG_NS: u64 = 31 * 86_400 * 1_000_000_000;
/// Least share of a cell's time in which I/Os are in flight; in 542 cells of simulated and real
/// media it was 99 %.
const MIN_UNDER_WAY: f64 = 0.3;
/// Number of I/Os from which on equal latencies (to three digits) are implausible on a real medium.
const MANY_ALIKE: u64 = 100;

/// Caveats about a run. A run on a simulated medium gets only those about web addresses: such runs
/// are kept apart.
pub(super) fn of(run: &Published, headline: &RunHeadline) -> Vec<String> {
    let mut caveats = addresses(run);
    if Origin::of(run) == Origin::Simulated {
        return caveats;
    }
    caveats.extend(run.cells.iter().find_map(|cell| unlike_a_medium(cell, run)));
    caveats.extend(simulated(run));
    caveats.extend(crate::names::caveats(run));
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

/// Texts that contain a web address: these are more often advertisements than names of media.
fn addresses(run: &Published) -> Vec<String> {
    let named = [
        ("label", &run.label),
        ("vendor", &run.vendor),
        ("model", &run.model),
        ("manufacturer", &run.manufacturer),
        ("oem", &run.oem),
        ("profile", &run.profile),
        ("board", &run.board),
        ("cpu", &run.cpu),
    ];
    let holds = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.contains("://") || text.contains("www.")
    };
    let caveat = |(name, text): (&str, &Option<String>)| {
        text.as_deref().is_some_and(holds).then(|| format!("{name} has an address in it"))
    };
    named.into_iter().filter_map(caveat).collect()
}

/// A cell with values that no medium produces. Cells of other tools may lack latencies.
fn unlike_a_medium(cell: &Cell, run: &Published) -> Option<String> {
    if cell.metrics.iops.is_none() || !PLAIN.contains(&cell.test.as_str()) {
        return None;
    }
    let is_ours = run.software.is_flashmark();
    let Some(histogram) = &cell.histogram else {
        return is_ours
            .then(|| format!("{} has a rate, but no latencies that it is made of", cell.id));
    };
    let share = super::possible::share_under_way(cell).unwrap_or(1.0);
    if is_ours && cell.params.path == record::Path::Direct && share < MIN_UNDER_WAY {
        return Some(format!(
            "I/Os of {} took {} % of its time together, and more of it passed between them",
            cell.id,
            significant(share * 100.0)
        ));
    }
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

/// A figure that no medium of its kind reaches.
fn too_fast(figure: HeadlineFigure, value: f64, kind: MediumKind) -> Option<String> {
    let limit = limits::of_kind(kind);
    let most_iops =
        if figure.entry().test == test::RANDOM_READ { limit.random_reads } else { limit.iops };
    let is_beyond = match figure.unit() {
        FigureUnit::Bps => value > limit.bps,
        FigureUnit::Iops => value > most_iops,
        FigureUnit::Ns => value < 100.0,
    };
    let whom = match kind {
        MediumKind::Unknown => "medium but an NVMe drive does; say of which kind it is".to_owned(),
        kind => format!("{} does", kind.words()),
    };
    is_beyond.then(|| {
        format!("{} of {} is beyond what any {whom}", figure.name(), in_words(figure, value))
    })
}

/// Latencies with a distribution that only simulated media have.
fn simulated(run: &Published) -> Option<String> {
    let cells = simulated::signature(run);
    let Some((first, others)) = cells.split_first() else {
        let (one, other) = simulated::lognormal(run)?;
        return Some(format!(
            "latencies of {one} and {other} are spread as those of a simulated medium are (lognormal)"
        ));
    };
    Some(format!(
        "latencies of {first} and {} other cells have one shape, as those of a simulated medium have",
        others.len()
    ))
}

fn in_words(figure: HeadlineFigure, value: f64) -> String {
    match figure.unit() {
        FigureUnit::Iops => Iops(value).to_string(),
        FigureUnit::Bps => BytesPerSecond(value).to_string(),
        FigureUnit::Ns => Nanos(value as u64).to_string(),
    }
}
