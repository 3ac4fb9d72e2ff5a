//! What is strange but possible: a person looks at it before others see it. Each doubt is a
//! sentence that says what was seen.

use record::collection::{
    CollectionLine, FigureUnit, HeadlineFigure, HostSpread, Origin, RunHeadline,
};
use record::units::{BytesPerSecond, Iops, Nanos, significant};
use record::{Cell, MediumKind, Published, test};

/// Runs or hosts of a model that say together what is usual.
const ENOUGH: u64 = 5;
/// Media of one name differ by as much (docs/field/classes.md#speed-classes: one label, several
/// controllers).
const USUAL_FACTOR: f64 = 4.0;
/// And a run may be so much farther from the median, in logarithms, than the farthest one that is
/// known.
const BEYOND_THE_FARTHEST: f64 = 2.0;
/// A test of a month is no test of a medium.
const LONG_NS: u64 = 31 * 86_400 * 1_000_000_000;
/// Real media never take the same time again and again, to three digits.
const MANY_ALIKE: u64 = 100;

/// What is strange about a run. Nothing is, of one on a simulated medium: those are kept apart.
pub(super) fn of(run: &Published, headline: &RunHeadline) -> Vec<String> {
    let mut doubts = addresses(run);
    if Origin::of(run) == Origin::Simulated {
        return doubts;
    }
    doubts.extend(run.cells.iter().find_map(|cell| unlike_a_medium(cell, run)));
    doubts.extend(too_large(run));
    doubts.extend(
        HeadlineFigure::ALL
            .into_iter()
            .filter_map(|figure| too_fast(figure, *headline.figures.get(&figure)?, run.kind)),
    );
    if run.cells.iter().all(|cell| cell.ops == 0 && cell.metrics == record::Metrics::default()) {
        doubts.push("no cell has a result".to_owned());
    }
    if run.elapsed_ns > LONG_NS {
        doubts.push(format!("it took {}", Nanos(run.elapsed_ns)));
    }
    doubts
}

/// Texts with an address on the web in them are more often advertisements than names of media.
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
    let told = |(name, text): (&str, &Option<String>)| {
        text.as_deref().is_some_and(holds).then(|| format!("{name} has an address in it"))
    };
    named.into_iter().filter_map(told).collect()
}

/// A cell that Flashmark says it measured, and that no medium gives.
fn unlike_a_medium(cell: &Cell, run: &Published) -> Option<String> {
    if run.software.name != "flashmark" || cell.metrics.iops.is_none() {
        return None;
    }
    // A copy, as in `latencies`.
    let Some(histogram) = cell.histogram.clone() else {
        return Some(format!("{} has a rate, but no latencies that it is made of", cell.id));
    };
    let is_one = histogram.len() >= MANY_ALIKE && histogram.buckets().nth(1).is_none();
    is_one.then(|| format!("all {} I/Os of {} took the same time", histogram.len(), cell.id))
}

/// Larger than what is sold: bytes by kind of medium, with room to grow.
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

/// A figure that no medium of its kind reaches. The links are the limit: CompactFlash UDMA 7 167
/// MB/s, eMMC HS400 400 MB/s, SD UHS-II 312 MB/s and SD Express 985 MB/s a lane of PCIe 3, SAS 2.4
/// GB/s, USB 3.2 2x2 2.5 GB/s, PCIe 5 x4 16 GB/s; a turning disk turns.
fn too_fast(figure: HeadlineFigure, value: f64, kind: MediumKind) -> Option<String> {
    let most_bps = match kind {
        MediumKind::CompactFlash => 170e6,
        MediumKind::Emmc => 450e6,
        MediumKind::Sd => 4e9,
        MediumKind::Usb => 5e9,
        MediumKind::Disk => 1e9,
        MediumKind::Ssd => 2.5e9,
        _ => 32e9,
    };
    let most_iops = match (kind, figure) {
        // A cache takes writes; reads of places nobody can foresee wait for the arm.
        (MediumKind::Disk, figure) if figure.entry().test == test::RANDOM_READ => 1000.0,
        _ => most_bps / 512.0,
    };
    let is_beyond = match figure.unit() {
        FigureUnit::Bps => value > most_bps,
        FigureUnit::Iops => value > most_iops,
        FigureUnit::Ns => value < 100.0,
    };
    is_beyond.then(|| {
        format!(
            "{} of {} is beyond what any {} does",
            figure.name(),
            in_words(figure, value),
            kind.words()
        )
    })
}

/// What of a run's figures is out of line with others of its model.
pub(super) fn outliers(headline: &RunHeadline, line: &CollectionLine) -> Vec<String> {
    if headline.is_fake != line.is_fake {
        return Vec::new();
    }
    let told = |(figure, value): (&HeadlineFigure, &f64)| {
        let spread = line.figures.get(figure)?;
        let allowed = allowed_factor(spread)?;
        let factor = (value / spread.median).max(spread.median / value);
        (factor > allowed).then(|| {
            format!(
                "{} is {}, and the median of {} runs is {}: a factor of {}, where {} would be usual at most",
                figure.name(),
                in_words(*figure, *value),
                spread.runs,
                in_words(*figure, spread.median),
                significant(factor),
                significant(allowed),
            )
        })
    };
    headline.figures.iter().filter_map(told).collect()
}

/// How far from the median is no surprise, as a factor. Only the extremes are known of a line, so
/// the farthest of them stands for the spread.
fn allowed_factor(spread: &HostSpread) -> Option<f64> {
    let is_known = (spread.runs >= ENOUGH || spread.hosts >= ENOUGH)
        && spread.low > 0.0
        && spread.median >= spread.low;
    let farthest = (spread.high / spread.median).max(spread.median / spread.low);
    (is_known && farthest.is_finite()).then(|| farthest.powf(BEYOND_THE_FARTHEST).max(USUAL_FACTOR))
}

fn in_words(figure: HeadlineFigure, value: f64) -> String {
    match figure.unit() {
        FigureUnit::Iops => Iops(value).to_string(),
        FigureUnit::Bps => BytesPerSecond(value).to_string(),
        FigureUnit::Ns => Nanos(value as u64).to_string(),
    }
}
