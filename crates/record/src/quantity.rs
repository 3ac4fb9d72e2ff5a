//! Columns for which a cell has figures. A figure has its published unit.

use crate::columns::{
    FigureColumn, THREAD_VIEWS, completion_column, cpu_column, dd_column, random_column,
    record_column, test_column, threads_column,
};
use crate::units::{KIB, MIB};
use crate::{Cell, Content, Estimate, metric, test};

/// One figure of a cell as a quantity: value and interval in the quantity's unit.
pub type QuantityFigure = (FigureColumn, Estimate);

const MB: f64 = 1e6;

/// Every quantity of a cell; empty for cells without a column.
pub fn quantities(cell: &Cell) -> Vec<QuantityFigure> {
    let mut found: Vec<QuantityFigure> = [of_record, of_dd, of_random, of_named]
        .iter()
        .flat_map(|of| of(cell))
        .chain(of_threads(cell))
        .chain(of_completion(cell))
        .collect();
    let cpu = found.first().and_then(|(column, _)| of_cpu(cell, column));
    found.extend(cpu);
    found.retain(|(_, figure)| figure.value.is_finite());
    found
}

fn scaled(found: &Estimate, divisor: f64) -> Estimate {
    let ci95 = found.ci95.map(|ends| ends.map(|end| end / divisor));
    Estimate { value: found.value / divisor, ci95, n: found.n }
}

/// True for queue depth 1 and one thread: several I/Os in flight are another quantity.
fn is_single(cell: &Cell) -> bool {
    cell.params.in_flight() == 1
}

/// Form of iozone that a cell has, from our tests or from iozone's own output.
fn record_form(cell: &Cell) -> Option<&str> {
    let is_iozone = cell.test == test::RECORD_OPS || cell.test.starts_with("iozone");
    cell.params.form.as_deref().filter(|_| is_iozone)
}

fn of_record(cell: &Cell) -> Vec<QuantityFigure> {
    let of = || {
        let (form, block) = (record_form(cell)?, cell.params.block_bytes?);
        Some((record_column(form, block), cell.metrics.iops?))
    };
    of().filter(|_| is_single(cell)).into_iter().collect()
}

fn of_dd(cell: &Cell) -> Vec<QuantityFigure> {
    let way = match cell.test.as_str() {
        test::SEQUENTIAL_WRITE => "write",
        test::SEQUENTIAL_READ => "read",
        _ => return Vec::new(),
    };
    let is_zeros = cell.params.content == Some(Content::Zeros);
    let of = || {
        let column = dd_column(way, cell.params.block_bytes?, is_zeros);
        Some((column, scaled(cell.metrics.bps.as_ref()?, MB)))
    };
    of().filter(|_| is_single(cell)).into_iter().collect()
}

fn of_random(cell: &Cell) -> Vec<QuantityFigure> {
    let way = match cell.test.as_str() {
        test::RANDOM_WRITE => "write",
        test::RANDOM_READ => "read",
        _ => return Vec::new(),
    };
    let of = || Some((random_column(way, cell.params.block_bytes?), cell.metrics.iops?));
    of().filter(|_| is_single(cell)).into_iter().collect()
}

/// Quantities of tests that have one or two.
fn of_named(cell: &Cell) -> Vec<QuantityFigure> {
    let rate = |divisor| cell.metrics.bps.as_ref().map(|bps| scaled(bps, divisor));
    let other =
        |name: &str, divisor: f64| cell.metrics.other.get(name).map(|found| scaled(found, divisor));
    let form = cell.params.form.as_deref();
    let found = match cell.test.as_str() {
        test::ZERO_FILL | test::RANDOM_FILL => vec![(None, rate(MB))],
        test::EXT2_FILL => vec![(form, rate(MB))],
        // The mean, or the access time that other tools print.
        test::SECTOR_WRITE => {
            vec![(None, other("mean_ms", 1.0).or_else(|| other(metric::ACCESS_TIME_NS, 1e6)))]
        }
        test::EXT2_FORMAT => vec![(form, other(metric::GROUPS_PER_S, 1.0))],
        test::SEEK if cell.params.block_bytes.is_none_or(|bytes| bytes <= 4 * KIB) => vec![
            (None, other(metric::SEEKS_PER_S, 1.0).or(cell.metrics.iops)),
            (Some(metric::ACCESS_TIME_NS), other(metric::ACCESS_TIME_NS, 1e6)),
        ],
        test::BUFFERED_READ => vec![(form, rate(MIB as f64))],
        _ => Vec::new(),
    };
    let figure = |(form, found): (Option<&str>, Option<Estimate>)| {
        Some((test_column(&cell.test, form)?, found?))
    };
    found.into_iter().filter_map(figure).collect()
}

/// Thread view of iozone itself, or of our work of threads, whose published form it is.
fn of_threads(cell: &Cell) -> Vec<QuantityFigure> {
    let Some((form, is_honest)) = thread_form(cell) else { return Vec::new() };
    let (Some(block), threads) = (cell.params.block_bytes, cell.params.threads) else {
        return Vec::new();
    };
    if threads < 2 {
        return Vec::new();
    }
    let figure = |(view, _): (&str, &str)| {
        let figure = thread_figure(cell, view, block as f64)?;
        let column = threads_column(form, is_honest, block, threads, view)?;
        Some((column, scaled(&figure, MB)))
    };
    THREAD_VIEWS.into_iter().filter_map(figure).collect()
}

/// Thread view of a cell in MB/s: all children together, the parent, the slowest and the fastest
/// thread; `None` for cells without several threads.
pub fn thread_views(cell: &Cell) -> Option<[Option<f64>; 4]> {
    thread_form(cell).filter(|_| cell.params.threads > 1)?;
    let block = cell.params.block_bytes? as f64;
    let view = |view| Some(thread_figure(cell, view, block)?.value / MB);
    let views = ["children", "parent", "minimum", "maximum"].map(view);
    views.iter().any(Option::is_some).then_some(views)
}

/// Operation of the threads, and true if their files are larger than a cache.
fn thread_form(cell: &Cell) -> Option<(&str, bool)> {
    let form = cell.params.form.as_deref()?;
    match cell.test.as_str() {
        "threads" => form
            .strip_prefix("published-")
            .map(|form| (form, false))
            .or_else(|| form.strip_prefix("honest-").map(|form| (form, true))),
        _ => record_form(cell).map(|form| (form, false)),
    }
}

/// Figure that iozone prints, or our work of threads records, in bytes a second.
fn thread_figure(cell: &Cell, view: &str, block: f64) -> Option<Estimate> {
    let (printed, ours) = match view {
        "children" => return cell.metrics.bps,
        "minimum" => ("slowest_thread_bps", "thread_min_iops"),
        "maximum" => ("fastest_thread_bps", "thread_max_iops"),
        _ => ("parent_bps", "parent_iops"),
    };
    let ours = || cell.metrics.other.get(ours).map(|found| scaled(found, 1.0 / block));
    cell.metrics.other.get(printed).copied().or_else(ours)
}

/// Time of a poll of a monitoring server on a file system with a scheduler.
fn of_completion(cell: &Cell) -> Vec<QuantityFigure> {
    let (fs, scheduler) = (cell.label("filesystem"), cell.label("scheduler"));
    if fs.is_empty() || scheduler.is_empty() {
        return Vec::new();
    }
    let printed = cell.metrics.other.get("completion_time_ns");
    // Ours is the mean of its polls, which write as rrdtool does.
    let is_ours = cell.test == "rrd" && cell.params.form.as_deref() == Some("buffered");
    let polls = || cell.metrics.other.get("poll_ns").filter(|_| is_ours);
    let Some(found) = printed.or_else(polls) else { return Vec::new() };
    // Our own cells have our names already.
    let (fs, scheduler) = match cell.label("tool") {
        "" => (fs, scheduler),
        _ => (our_filesystem(fs), our_scheduler(scheduler)),
    };
    vec![(completion_column(fs, scheduler), scaled(found, 1e9))]
}

/// Our name of a file system of a publication: in 2012 XFS kept its counters eagerly by default.
fn our_filesystem(name: &str) -> &str {
    match name {
        "ext4nj" => "ext4-nojournal",
        "xfs" => "xfs-nolazy",
        "xfslazy" => "xfs",
        name => name,
    }
}

/// Scheduler of today in place of one of the kernels of 2012.
fn our_scheduler(name: &str) -> &str {
    match name {
        "cfq" => "bfq",
        "deadline" => "mq-deadline",
        "noop" => "none",
        name => name,
    }
}

/// Share of one processor that its I/Os took.
fn of_cpu(cell: &Cell, of: &FigureColumn) -> Option<QuantityFigure> {
    let (per_io, iops) = (cell.metrics.other.get(metric::CPU_NS_PER_IO)?, cell.metrics.iops?);
    let share = Estimate::of(per_io.value * iops.value / 1e7, per_io.n);
    Some((cpu_column(of), share))
}

/// Command that repeats the work of another tool for which there is no quantity: the same kind of
/// work with other figures.
pub fn nearest_command(cell: &Cell) -> Option<&'static str> {
    let tool = cell.test.split_once(':').map_or(cell.test.as_str(), |(tool, _)| tool);
    let is_align = || cell.metrics.other.keys().any(|name| name.starts_with("align"));
    let is = |what: &str| cell.test.ends_with(what);
    Some(match tool {
        "flashbench" if is_align() || is("size") => "run TARGET --only align-read",
        "flashbench" => "run TARGET --only open-aus",
        "iostat" => "watch TARGET --interval 10s",
        "cacti" => "matrix TARGET --work rrd",
        "f3" => "run TARGET --only verify",
        "crystaldiskmark" | "fio" | "published" | "iozone" | "dd" if is("random-write") => {
            "run TARGET --only random-write"
        }
        "crystaldiskmark" | "fio" | "iozone" | "thrash" | "iotest" if is("random-read") => {
            "run TARGET --only random-read"
        }
        "crystaldiskmark" | "dd" | "fio" | "published" | "iozone"
            if is("write") || is("rewrite") =>
        {
            "run TARGET --only sequential-write"
        }
        "crystaldiskmark" | "dd" | "fio" | "published" | "iozone"
            if is("read") || is("reread") || is("transfer") =>
        {
            "run TARGET --only sequential-read"
        }
        _ => return None,
    })
}
