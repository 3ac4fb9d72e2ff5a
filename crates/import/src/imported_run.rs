//! Results of an importer before they become a record, and the check that all of them are possible.

use std::borrow::BorrowMut;

use record::limits::{MAX_BPS, MAX_BYTES, MAX_IOPS, MAX_NS, most_of};
use record::text::one_line as short;
use record::units::saturating_sum;
use record::{
    Cell, Content, Direction, Estimate, Flag, Host, Latency, Medium, MediumKind, Params, Path,
    Pattern, Region, Target, TargetKind, metric, test,
};
use stats::smallest_sample;

/// The results of one tool on one medium.
#[derive(Clone, Debug, Default)]
pub(super) struct ImportedRun {
    /// Name of the tool that measured: "fio", "iozone".
    pub tool: &'static str,
    /// Version of the tool, such as "3.33"; empty if the text has none.
    pub version: String,
    /// Form of the output, for a tool that prints one result in several forms.
    pub form: &'static str,
    /// Results, each with its line in the text, from 0; the record gives them their ids.
    pub cells: Vec<(usize, Cell)>,
    /// Line with which it begins, from 0, for one without results.
    pub begin: usize,
    /// Number of the medium, from 1, if the text has results of several without their names.
    pub ordinal: Option<u32>,
    /// Medium as far as the text describes it.
    pub medium: Medium,
    /// Path, device and file system as far as the text names them.
    pub target: Target,
    /// Host as far as the text describes it.
    pub host: Option<Host>,
    /// Time of the beginning in RFC 3339, if the text has it with its time zone.
    pub started: Option<String>,
    /// Time of the end, likewise.
    pub finished: Option<String>,
    /// Command line, if the text has it.
    pub command: Vec<String>,
    /// Caveats about the whole run.
    pub notes: Vec<String>,
}

impl ImportedRun {
    pub fn by(tool: &'static str) -> ImportedRun {
        ImportedRun { tool, ..ImportedRun::default() }
    }

    /// Adds a caveat about the whole run, once.
    pub fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Takes a command line, if there is none yet.
    pub fn take_command(&mut self, command: &str) {
        if self.command.is_empty() {
            let words = command.split_whitespace().take(60);
            self.command = words.map(|word| short(word, 200)).collect();
        }
    }

    /// Line of the first result; of the begin, where there is none.
    pub fn first_place(&self) -> usize {
        self.cells.iter().map(|(at, _)| *at).min().unwrap_or(self.begin)
    }

    /// True if it says what a medium is, and has no result.
    pub fn is_identity(&self) -> bool {
        let is_described = self.medium.model.is_some() || self.medium.health.is_some();
        self.cells.is_empty() && is_described
    }

    /// Takes a path in the text as the target: a device below /dev, or a file.
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

/// A cell in the making, of I/O to the medium where these are known.
pub(crate) fn cell(
    test: impl Into<String>,
    direction: impl Into<Option<Direction>>,
    pattern: impl Into<Option<Pattern>>,
    block_bytes: impl Into<Option<u64>>,
) -> Cell {
    let (direction, pattern, block_bytes) = (direction.into(), pattern.into(), block_bytes.into());
    of_params(test, Params { direction, pattern, block_bytes, ..Params::default() })
}

/// A cell with these parameters.
pub(crate) fn of_params(test: impl Into<String>, params: Params) -> Cell {
    let (queue_depth, threads) = (params.queue_depth.max(1), params.threads.max(1));
    Cell::begun("", test, Params { queue_depth, threads, ..params })
}

/// Relative width of the time buckets of tools: a percentile may be so far beyond the extremes and
/// still be one of them.
const BUCKET: f64 = 1.0 / 64.0;

/// What fills a cell.
pub(crate) trait Fill: Sized + BorrowMut<Cell> {
    fn region(self, region: Region) -> Self {
        self.with(|cell| cell.params.region = Some(region))
    }

    fn path(self, path: Path) -> Self {
        self.with(|cell| cell.params.path = path)
    }

    fn form(self, form: impl Into<String>) -> Self {
        self.with(|cell| cell.params.form = Some(form.into()))
    }

    fn span(self, bytes: impl Into<Option<u64>>) -> Self {
        self.with(|cell| cell.params.span_bytes = bytes.into())
    }

    /// Sets what is written; a read has none.
    fn writes(self, content: Content) -> Self {
        self.with(|cell| {
            let is_write = cell.params.direction == Some(Direction::Write);
            cell.params.content = is_write.then_some(content);
        })
    }

    /// Sets the rates, which rest on `n` I/Os.
    fn rates(self, iops: Option<f64>, bps: Option<f64>, n: u64) -> Self {
        self.with(|Cell { metrics, .. }| {
            metrics.iops = iops.map(|iops| Estimate::of(iops, n)).or(metrics.iops);
            metrics.bps = bps.map(|bps| Estimate::of(bps, n)).or(metrics.bps);
        })
    }

    /// Sets the rate in bytes a second alone.
    fn bps(self, bps: f64, n: u64) -> Self {
        self.rates(None, Some(bps), n)
    }

    /// Sets the rate in bytes a second, and the IOPS that follow from the block size.
    fn rate(self, bps: f64, n: u64) -> Self {
        let block = self.borrow().params.block_bytes.filter(|block| *block > 0);
        self.rates(block.map(|block| bps / block as f64), Some(bps), n)
    }

    /// Sets bytes and I/Os; those of a write count as written.
    fn moved(self, bytes: u64, ops: u64) -> Self {
        self.with(|cell| {
            let is_write = cell.params.direction == Some(Direction::Write);
            let written = if is_write { bytes } else { 0 };
            (cell.bytes, cell.ops, cell.written_bytes) = (bytes, ops, written);
        })
    }

    /// Sets the time of all of it, in nanoseconds.
    fn took(self, ns: f64) -> Self {
        self.with(|cell| cell.elapsed_ns = whole_ns(ns))
    }

    /// Adds another metric, if it is known.
    fn other(self, name: &str, value: impl Into<Option<f64>>, n: u64) -> Self {
        self.with(|cell| cell.metrics.put(name, value, n))
    }

    /// Sets the times of the I/Os, with percentiles by share (0.5, 0.999); those with too few samples
    /// are left out. One that contradicts the extremes comes from another clock, and is kept as
    /// another metric.
    fn times(self, mut times: Latency, by_share: impl Fn(f64) -> Option<f64>) -> Self {
        let us = |ns: u64| record::units::significant(ns as f64 / 1e3);
        let (n, low, high) = (times.n, times.min, times.max.max(times.min).max(1));
        let likely = low as f64 * (1.0 - BUCKET)..=high as f64 * (1.0 + BUCKET);
        let mut cell = self;
        for (share, name, percentile) in [
            (0.50, "p50", &mut times.p50),
            (0.90, "p90", &mut times.p90),
            (0.95, "p95", &mut times.p95),
            (0.99, "p99", &mut times.p99),
            (0.999, "p99_9", &mut times.p99_9),
        ] {
            *percentile = None;
            let has_samples = |ns: &f64| *ns > 0.0 && n >= smallest_sample(share);
            let Some(ns) = by_share(share).filter(has_samples) else { continue };
            if likely.contains(&ns) {
                *percentile = Some(whole_ns(ns).clamp(low, high));
                continue;
            }
            let (kept, shown) = (format!("completion_{name}_ns"), name.replace('_', "."));
            let text = format!(
                "{shown} of {} us is not between the shortest and the longest time, {} to {} us: it \
                 leaves out the submission, and is kept as {kept}",
                us(whole_ns(ns)),
                us(low),
                us(times.max)
            );
            cell = cell.other(&kept, whole_ns(ns) as f64, n).note(text);
        }
        cell.with(|cell| cell.metrics.latency_ns = Some(times))
    }

    /// Adds another parameter.
    fn param(self, name: &str, value: f64) -> Self {
        self.with(|cell| cell.params.other.extend([(name.into(), value)]))
    }

    /// Adds a label that is not empty.
    fn label(self, name: &str, text: &str) -> Self {
        let text = short(text, 100);
        self.with(|cell| cell.labels.extend((!text.is_empty()).then(|| (name.to_owned(), text))))
    }

    /// Adds a caveat, once.
    fn note(self, text: impl Into<String>) -> Self {
        let flag = Flag::Note { text: text.into() };
        let is_new = !self.borrow().flags.contains(&flag);
        self.with(|cell| cell.flags.extend(is_new.then_some(flag)))
    }

    /// Adds a caveat if it holds.
    fn note_if(self, holds: bool, text: &str) -> Self {
        if holds { self.note(text) } else { self }
    }

    fn with(mut self, change: impl FnOnce(&mut Cell)) -> Self {
        change(self.borrow_mut());
        self
    }
}

impl Fill for Cell {}
impl Fill for &mut Cell {}

/// "read", "write", or "mix" of both.
pub(crate) fn word(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::Read) => "read",
        Some(Direction::Write) => "write",
        None => "mix",
    }
}

/// Name of our test of this order and direction, for tools with one I/O at a time past the page
/// cache.
pub(crate) fn our_test(pattern: Pattern, direction: Direction) -> &'static str {
    match (pattern, direction) {
        (Pattern::Sequential, Direction::Read) => test::SEQUENTIAL_READ,
        (Pattern::Sequential, Direction::Write) => test::SEQUENTIAL_WRITE,
        (_, Direction::Read) => test::RANDOM_READ,
        (_, Direction::Write) => test::RANDOM_WRITE,
    }
}

/// Note about figures that went through the page cache.
pub(crate) const BUFFERED: &str = "through the page cache: part of this may be the speed of memory";

/// Cell with sectors of 512 bytes by state, under the names of `verify`: good, changed, overwritten,
/// corrupted.
pub(super) fn of_sectors(counts: [u64; 4]) -> Result<Cell, String> {
    let n = saturating_sum(counts);
    let span = n.checked_mul(512).ok_or("more sectors than there can be")?;
    let whole = cell(test::VERIFY, Direction::Read, Pattern::Sequential, None);
    let whole = whole.region(Region::File).path(Path::Buffered).form("read");
    let states = [
        metric::GOOD_SECTORS,
        metric::CHANGED_SECTORS,
        metric::OVERWRITTEN_SECTORS,
        metric::CORRUPTED_SECTORS,
    ];
    let mut cell = whole.span(span).moved(span, 0);
    states.iter().zip(counts).for_each(|(name, count)| cell.metrics.put(name, count as f64, n));
    Ok(cell)
}

/// Cell of the mean rate over the files of 1 GiB that a tool writes or reads.
pub(crate) fn over_files(tool: &str, way: &str, path: Path, bps: f64) -> Cell {
    let direction = if way == "write" { Direction::Write } else { Direction::Read };
    let cached = if path == Path::Buffered { " and the page cache" } else { "" };
    let text = format!("files of 1 GiB through a file system{cached}, the mean over all of them");
    cell(format!("{tool}:{way}"), direction, Pattern::Sequential, None)
        .region(Region::File)
        .path(path)
        .writes(Content::Incompressible)
        .bps(bps, 1)
        .note(text)
}

/// Rounds a time to whole nanoseconds.
pub(super) fn whole_ns(ns: f64) -> u64 {
    ns.round() as u64
}

/// Returns an error if a result is impossible: not finite, negative, or more than any medium does.
pub(super) fn check_cell(cell: &Cell) -> Result<(), String> {
    let (metrics, params) = (&cell.metrics, &cell.params);
    let bytes_of = |bytes: Option<u64>| bytes.unwrap_or(0) as f64;
    let value_of = |figure: Option<Estimate>| figure.map_or(0.0, |figure| figure.value);
    let times = metrics.latency_ns.clone().unwrap_or_default();
    let figures = [
        ("iops", value_of(metrics.iops), MAX_IOPS),
        ("bps", value_of(metrics.bps), MAX_BPS),
        ("a latency", times.mean, MAX_NS),
        ("a latency", times.max as f64, MAX_NS),
        ("a least latency", times.min as f64, times.max as f64),
        ("elapsed_ns", cell.elapsed_ns as f64, MAX_NS),
        ("bytes", cell.bytes as f64, MAX_BYTES),
        ("block_bytes", bytes_of(params.block_bytes), MAX_BYTES),
        ("span_bytes", bytes_of(params.span_bytes), MAX_BYTES),
    ];
    let others = metrics.other.iter();
    let others =
        others.map(|(name, it)| (name.as_str(), it.value, most_of(name).unwrap_or(MAX_BYTES)));
    let odd = figures.into_iter().chain(others).find(|it| !(0.0..=it.2).contains(&it.1));
    let points = cell.series.iter().flat_map(|series| &series.points).flatten();
    let mut numbers = params.other.values().chain(points);
    let odd = odd.map(|(name, value, _)| format!("{name} of {value:?}")).or_else(|| {
        numbers.find(|it| !it.is_finite() || it.abs() > MAX_NS).map(|value| format!("{value:?}"))
    });
    odd.map_or(Ok(()), |odd| Err(format!("{}: {odd} cannot be", cell.test)))
}
