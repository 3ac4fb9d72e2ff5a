//! What an importer found, before it is a record; and the check that all of it can be true.

use std::collections::BTreeMap;
use std::fmt;

use record::units::saturating_sum;
use record::{
    Cell, Direction, Estimate, Flag, Host, Latency, Medium, MediumKind, Params, Path, Pattern,
    Region, Target, TargetKind, metric, test,
};

use super::MOST_MEDIA;

/// No medium moves so many bytes in a second.
const MOST_BPS: f64 = 1e12;
/// Nor does so many I/Os.
const MOST_IOPS: f64 = 1e9;
/// No I/O takes a year, and no test ten.
const MOST_NS: f64 = 3.2e17;
/// No medium holds so many bytes.
const MOST_BYTES: u64 = 1 << 60;

/// The reason why a line or a whole output cannot be read, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ImportTrouble {
    /// The place of the line in the text, counted from 0, where it is one.
    pub at: Option<usize>,
    /// What is wrong with it.
    pub what: String,
}

impl ImportTrouble {
    pub fn at(line: usize, what: impl fmt::Display) -> ImportTrouble {
        ImportTrouble { at: Some(line), what: what.to_string() }
    }

    pub fn new(what: impl fmt::Display) -> ImportTrouble {
        ImportTrouble { at: None, what: what.to_string() }
    }
}

/// The results of one tool on one medium.
#[derive(Clone, Debug, Default)]
pub(super) struct ImportedRun {
    /// Name of the tool that measured: "fio", "iozone".
    pub tool: &'static str,
    /// "3.33", or nothing where the text does not say.
    pub version: String,
    /// Which of its forms of output this is, where a tool prints one result in several of them.
    pub form: &'static str,
    /// The results; assembling the record gives them their ids.
    pub cells: Vec<Cell>,
    /// The place in the text of each of them.
    pub places: Vec<usize>,
    /// Which of several media that the text does not name this is of, counted from 1.
    pub ordinal: Option<u32>,
    /// What the text says of the medium.
    pub medium: Medium,
    /// And of the way to it.
    pub target: Target,
    /// And of the machine.
    pub host: Option<Host>,
    /// RFC 3339, where the text says it with its zone.
    pub started: Option<String>,
    /// The same for the end.
    pub finished: Option<String>,
    /// The command line, where the text has it.
    pub command: Vec<String>,
    /// Caveats about all of it.
    pub notes: Vec<String>,
}

impl ImportedRun {
    pub fn by(tool: &'static str) -> ImportedRun {
        ImportedRun { tool, ..ImportedRun::default() }
    }

    /// Adds a result that stands at this place of the text.
    pub fn push(&mut self, place: usize, cell: Cell) {
        self.cells.push(cell);
        self.places.push(place);
    }

    /// Keeps the results of which this is true; it is asked in their order.
    pub fn retain(&mut self, mut is_kept: impl FnMut(usize) -> bool) {
        let kept: Vec<bool> = (0..self.cells.len()).map(&mut is_kept).collect();
        let (mut cells, mut places) = (kept.iter(), kept.iter());
        self.cells.retain(|_| cells.next() == Some(&true));
        self.places.retain(|_| places.next() == Some(&true));
    }

    /// Where the first of its results stands.
    pub fn first_place(&self) -> usize {
        self.places.iter().copied().min().unwrap_or(0)
    }

    /// Takes the path that a text names for where it was measured: a device below /dev, or a file.
    pub fn on(&mut self, path: &str) {
        let path = short(path, 200);
        if path.is_empty() {
            return;
        }
        if let Some(device) = path.strip_prefix("/dev/") {
            self.target.kind = TargetKind::Block;
            self.target.device = Some(device.to_owned());
            let name = device.rsplit('/').next().unwrap_or(device);
            self.medium.kind = match name {
                name if name.starts_with("nvme") => MediumKind::Nvme,
                name if name.starts_with("loop") => MediumKind::Loop,
                name if name.starts_with("vd") => MediumKind::Virtual,
                _ => self.medium.kind,
            };
        } else {
            self.target.kind = TargetKind::File;
        }
        self.target.path = path;
    }
}

/// A cell in the making.
pub(super) fn cell(test: impl Into<String>, params: Params) -> Cell {
    let (queue_depth, threads) = (params.queue_depth.max(1), params.threads.max(1));
    Cell::begun("", test, Params { queue_depth, threads, ..params })
}

/// What was done to the medium: the rest of the parameters is the default.
pub(crate) fn io(
    direction: impl Into<Option<Direction>>,
    pattern: impl Into<Option<Pattern>>,
    block_bytes: impl Into<Option<u64>>,
) -> Params {
    Params {
        direction: direction.into(),
        pattern: pattern.into(),
        block_bytes: block_bytes.into(),
        ..Params::default()
    }
}

/// "read", "write", or "mix" of both.
pub(crate) fn word(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::Read) => "read",
        Some(Direction::Write) => "write",
        None => "mix",
    }
}

/// Our test of this order and direction: what it is where a tool does one I/O at a time past the
/// page cache.
pub(crate) fn our_test(pattern: Pattern, direction: Direction) -> &'static str {
    match (pattern, direction) {
        (Pattern::Sequential, Direction::Read) => test::SEQUENTIAL_READ,
        (Pattern::Sequential, Direction::Write) => test::SEQUENTIAL_WRITE,
        (_, Direction::Read) => test::RANDOM_READ,
        (_, Direction::Write) => test::RANDOM_WRITE,
    }
}

/// Said of figures that went through the page cache.
pub(crate) const BUFFERED: &str = "through the page cache: part of this may be the speed of memory";

/// Puts rates that rest on `n` I/Os into a cell.
pub(crate) fn rates(cell: &mut Cell, iops: Option<f64>, bps: Option<f64>, n: u64) {
    cell.metrics.iops = iops.map(|iops| estimate(iops, n)).or(cell.metrics.iops);
    cell.metrics.bps = bps.map(|bps| estimate(bps, n)).or(cell.metrics.bps);
}

/// Puts a rate into a cell, and with its block size the I/Os a second that follow from it.
pub(crate) fn rate(cell: &mut Cell, bps: f64, n: u64) {
    let block = cell.params.block_bytes.filter(|block| *block > 0);
    rates(cell, block.map(|block| bps / block as f64), Some(bps), n);
}

/// Says how much a cell moved: a direction that writes has written it.
pub(crate) fn moved(cell: &mut Cell, bytes: u64, ops: u64) {
    let is_written = cell.params.direction == Some(Direction::Write);
    (cell.bytes, cell.ops, cell.written_bytes) = (bytes, ops, if is_written { bytes } else { 0 });
}

/// Sectors of 512 bytes by what became of them, under the names of `verify`.
pub(crate) fn of_sectors(
    good: u64,
    changed: u64,
    overwritten: u64,
    corrupted: u64,
) -> Result<Cell, ImportTrouble> {
    let n = saturating_sum([good, changed, overwritten, corrupted]);
    let span =
        n.checked_mul(512).ok_or_else(|| ImportTrouble::new("more sectors than there can be"))?;
    let params = Params {
        region: Some(Region::File),
        span_bytes: Some(span),
        path: Path::Buffered,
        form: Some("read".into()),
        ..io(Direction::Read, Pattern::Sequential, None)
    };
    let mut cell = cell(test::VERIFY, params);
    other(&mut cell, metric::GOOD_SECTORS, good as f64, n);
    other(&mut cell, metric::CHANGED_SECTORS, changed as f64, n);
    other(&mut cell, metric::OVERWRITTEN_SECTORS, overwritten as f64, n);
    other(&mut cell, metric::CORRUPTED_SECTORS, corrupted as f64, n);
    cell.bytes = span;
    Ok(cell)
}

/// Refuses one more medium than a file may have results of.
pub(super) fn room_for_another<T>(media: &[T]) -> Result<(), ImportTrouble> {
    if media.len() < MOST_MEDIA {
        Ok(())
    } else {
        Err(ImportTrouble::new(format_args!("it has results of more than {MOST_MEDIA} media")))
    }
}

/// Puts a label on a cell.
pub(crate) fn label(cell: &mut Cell, name: &str, text: &str) {
    let text = short(text, 100);
    if !text.is_empty() {
        cell.labels.insert(name.to_owned(), text);
    }
}

/// Says a caveat about a cell, once.
pub(crate) fn note(cell: &mut Cell, text: impl Into<String>) {
    let flag = Flag::Note { text: text.into() };
    if !cell.flags.contains(&flag) {
        cell.flags.push(flag);
    }
}

/// A figure that rests on `n` I/Os or repeats, without an interval: other tools print none that
/// holds under autocorrelation.
pub(crate) fn estimate(value: f64, n: u64) -> Estimate {
    Estimate { value, ci95: None, n }
}

/// Puts another metric into a cell.
pub(crate) fn other(cell: &mut Cell, name: &str, value: f64, n: u64) {
    cell.metrics.other.insert(name.to_owned(), estimate(value, n));
}

/// A time as a whole number of nanoseconds.
pub(super) fn whole_ns(ns: f64) -> u64 {
    ns.round() as u64
}

/// The smallest number of samples a percentile is shown for: one of them lies beyond it with 95 %
/// probability (docs/field/statistics.md#percentiles).
pub(super) fn enough_for(share: f64, n: u64) -> bool {
    n as f64 >= (0.05_f64.ln() / share.ln()).ceil()
}

/// Tools count times in buckets a sixty-fourth wide: a percentile may lie so far beyond the
/// extremes and be one of them.
const BUCKET: f64 = 1.0 / 64.0;

/// A percentile and its time in nanoseconds.
pub(super) type Percentile = (&'static str, u64);

/// Percentiles by share (0.5, 0.999), those with too few samples left out. Gives back those that
/// contradict the extremes, being of another clock: they are left out as well.
#[must_use]
pub(super) fn percentiles(
    latency: &mut Latency,
    by_share: impl Fn(f64) -> Option<f64>,
) -> Vec<Percentile> {
    let n = latency.n;
    let (low, high) = (latency.min, latency.max.max(latency.min).max(1));
    let (least, most) = (low as f64 * (1.0 - BUCKET), high as f64 * (1.0 + BUCKET));
    let mut odd = Vec::new();
    let mut at = |share: f64, name| {
        let ns = by_share(share).filter(|value| *value > 0.0 && enough_for(share, n))?;
        if (least..=most).contains(&ns) {
            return Some(whole_ns(ns).clamp(low, high));
        }
        odd.push((name, whole_ns(ns)));
        None
    };
    latency.p50 = at(0.50, "p50");
    latency.p90 = at(0.90, "p90");
    latency.p95 = at(0.95, "p95");
    latency.p99 = at(0.99, "p99");
    latency.p99_9 = at(0.999, "p99_9");
    odd
}

/// Keeps percentiles that contradict the extremes beside the others, and says so.
pub(super) fn keep_odd(cell: &mut Cell, latency: &Latency, odd: &[Percentile]) {
    let us = |ns: u64| record::units::significant(ns as f64 / 1e3);
    for (name, ns) in odd {
        let shown = name.replace('_', ".");
        other(cell, &format!("completion_{name}_ns"), *ns as f64, latency.n);
        note(
            cell,
            format!(
                "{shown} of {} us is not between the shortest and the longest time, {} to {} us: it \
                 leaves out the submission, and is kept as completion_{name}_ns",
                us(*ns),
                us(latency.min),
                us(latency.max)
            ),
        );
    }
}

/// True if a result can be true: finite, not negative, and no more than any medium does.
pub(super) fn check_cell(cell: &Cell) -> Result<(), ImportTrouble> {
    let metrics = &cell.metrics;
    let limit = |name: &str, value: f64, most: f64| {
        let fits = value.is_finite() && (0.0..=most).contains(&value);
        if fits {
            Ok(())
        } else {
            Err(ImportTrouble::new(format_args!("{}: {name} of {value:?} cannot be", cell.test)))
        }
    };
    if let Some(iops) = metrics.iops {
        limit("iops", iops.value, MOST_IOPS)?;
    }
    if let Some(bps) = metrics.bps {
        limit("bps", bps.value, MOST_BPS)?;
    }
    if let Some(latency) = &metrics.latency_ns {
        limit("a latency", latency.mean, MOST_NS)?;
        limit("a latency", latency.max as f64, MOST_NS)?;
        limit("a least latency", latency.min as f64, latency.max as f64)?;
    }
    for (name, estimate) in &metrics.other {
        limit(name, estimate.value, most_of(name))?;
    }
    limit("elapsed_ns", cell.elapsed_ns as f64, MOST_NS)?;
    limit("bytes", cell.bytes as f64, MOST_BYTES as f64)?;
    limit("block_bytes", cell.params.block_bytes.unwrap_or(0) as f64, MOST_BYTES as f64)?;
    limit("span_bytes", cell.params.span_bytes.unwrap_or(0) as f64, MOST_BYTES as f64)?;
    check_params(&cell.params.other, cell)
}

fn check_params(params: &BTreeMap<String, f64>, cell: &Cell) -> Result<(), ImportTrouble> {
    let points = cell.series.iter().flat_map(|series| &series.points).flatten();
    match params.values().chain(points).find(|value| !value.is_finite() || value.abs() > MOST_NS) {
        Some(value) => Err(ImportTrouble::new(format_args!("{}: {value:?} cannot be", cell.test))),
        None => Ok(()),
    }
}

fn most_of(name: &str) -> f64 {
    match name {
        name if name.ends_with("_ns") => MOST_NS,
        name if name.ends_with("bps") => MOST_BPS,
        name if name.ends_with("iops") || name.ends_with("_per_s") => MOST_IOPS,
        _ => MOST_BYTES as f64,
    }
}

/// A short text for people: one line, no control characters, at most `most` letters.
pub(crate) fn short(text: &str, most: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(most).collect::<String>().trim().to_owned()
}
