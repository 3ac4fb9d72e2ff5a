//! Controllers tuned for a benchmark, writes that do not fit their units, and flushes that cannot be true (flash.md C2, B3.7).

use record::units::{KIB, MIB, Nanos, significant};
use record::{Cell, Finding, Record};

use crate::draft::Draft;
use crate::figure::{self, Figure, Ratio, size};
use crate::throttling;

/// The benchmark's pattern this much faster than the same load elsewhere is a trick.
const CHEAT: f64 = 2.0;
/// A penalty for writes that do not fit.
const PENALTY: f64 = 1.3;

/// `pattern-cheat`, `misalignment`, `management-unit`, `flush`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        [pattern(record), misalignment(record), management_unit(record), flush(record)].into_iter().flatten().collect();
    findings.extend(steady(record));
    findings
}

fn rate(cell: &Cell) -> Option<Figure<'_>> {
    Figure::of(cell, "iops").or_else(|| Figure::of(cell, "bps"))
}

/// The common benchmark's pattern against the same load over a span that no benchmark has; shifted, where that was not measured.
fn pattern(record: &Record) -> Option<Finding> {
    let form = |form| figure::form(record, "pattern", form).and_then(rate);
    let tuned = form("common")?;
    // Shifting itself costs a medium with units something: a misalignment measured apart explains as much.
    let (other, explained) = match form("odd-span") {
        Some(odd) => (odd, 1.0),
        None => (form("shifted")?, worst_misalignment(record).map_or(1.0, |(_, ratio)| ratio.value)),
    };
    let mean = Ratio::of(&tuned, &other);
    // A fast way may be short: the fastest stretch of one against the fastest of the other.
    let stretch = fastest(tuned.cell).zip(fastest(other.cell).or(Figure::of(other.cell, "bps").map(|figure| figure.value)));
    let stretch = stretch.map(|(tuned, other)| tuned / other).filter(|ratio| *ratio > CHEAT * explained);
    let ratio = stretch.filter(|_| !mean.is_above(CHEAT * explained)).map_or(mean, |value| Ratio { value, ci95: None });
    (stretch.is_some() || ratio.is_above(CHEAT * explained)).then(|| {
        let statement = format!(
            "It is tuned for a benchmark: the pattern that common benchmarks write is {} times as fast ({}) as the same load over another span ({}). Their figures do not hold for work.",
            significant(ratio.value),
            tuned.text(),
            other.text()
        );
        Draft::warning("pattern-cheat", statement).figures([&tuned, &other]).note(format!("{ratio}; told from {CHEAT} on (flash.md C2)")).surely(ratio.above(CHEAT * explained)).done()
    })
}

/// Parts of a cell, one of which is its fastest stretch, and I/Os of each at least: chance makes no such difference between so many.
const STRETCHES: usize = 8;
const STRETCH_OPS: u64 = 64;

/// The highest rate over an eighth of what was written, in bytes a second; `None` of few writes.
fn fastest(cell: &Cell) -> Option<f64> {
    let curve = cell.series.iter().find(|series| series.name == "rate" && series.y == record::Axis::Bps)?;
    let ends: Vec<[f64; 2]> = curve
        .points
        .iter()
        .scan([0.0; 2], |[bytes, seconds], [end, bps]| {
            *seconds += (end - *bytes) / bps;
            *bytes = *end;
            Some([*bytes, *seconds])
        })
        .collect();
    let many = ends.len() / STRETCHES;
    let is_usable = cell.ops >= STRETCH_OPS * STRETCHES as u64 && many > 0 && ends.last().is_some_and(|[_, s]| s.is_finite() && *s > 0.0);
    let rate = |pair: (&[f64; 2], &[f64; 2])| (pair.1[0] - pair.0[0]) / (pair.1[1] - pair.0[1]);
    is_usable.then(|| ends.iter().zip(&ends[many..]).map(rate).filter(|bps| bps.is_finite()).reduce(f64::max)).flatten()
}

/// The dearest of the misaligned writes against the aligned ones of its size.
fn worst_misalignment(record: &Record) -> Option<(u64, Ratio)> {
    misaligned(record).into_iter().map(|(block, _, _, ratio)| (block, ratio)).max_by(|a, b| a.1.value.total_cmp(&b.1.value))
}

/// Each misaligned cell of the test with the aligned one of its size: (block, aligned, misaligned, aligned over misaligned).
fn misaligned(record: &Record) -> Vec<(u64, Figure<'_>, Figure<'_>, Ratio)> {
    let shift = |cell: &Cell| cell.params.other.get("shift_bytes").copied().unwrap_or(0.0);
    let mut pairs = Vec::new();
    for shifted in figure::cells(record, "misalign").filter(|cell| shift(cell) > 0.0) {
        let block = shifted.params.block_bytes;
        let fits = |cell: &&Cell| shift(cell) == 0.0 && cell.params.block_bytes == block && cell.params.form == shifted.params.form;
        let fitting = figure::cells(record, "misalign").find(fits);
        let figures = fitting.and_then(rate).zip(rate(shifted));
        pairs.extend(
            figures.zip(block).map(|((aligned, shifted), block)| (block, aligned.clone(), shifted.clone(), Ratio::of(&aligned, &shifted))),
        );
    }
    pairs
}

/// `misalignment`: what it costs to write beside the units.
fn misalignment(record: &Record) -> Option<Finding> {
    let pairs = misaligned(record);
    let (block, aligned, shifted, ratio) =
        pairs.iter().filter(|pair| pair.3.is_above(PENALTY)).max_by(|a, b| a.3.value.total_cmp(&b.3.value))?;
    let order = if shifted.cell.params.form.as_deref() == Some("random") { "in random order" } else { "in a row" };
    let shift = size(shifted.cell.params.other.get("shift_bytes").map_or(0, |bytes| *bytes as u64));
    let statement = format!(
        "Writes of {} {order} that are shifted by {shift} are {} times slower: partitions must begin at a multiple of its allocation unit.",
        size(*block),
        significant(ratio.value)
    );
    Some(
        Draft::warning("misalignment", statement)
            .figures([aligned, shifted])
            .note(format!("{ratio}; told from {PENALTY} on (flash.md C2)"))
            .surely(ratio.above(PENALTY))
            .done(),
    )
}

/// `management-unit`: the smallest size whose aligned writes are free of a cost that shifted ones have (flash.md B3.7): it covers a whole
/// unit. Medians, because merges of allocation units come now and then.
fn management_unit(record: &Record) -> Option<Finding> {
    if record.medium.rotational == Some(true) {
        return None;
    }
    let cells = |form: &'static str| figure::cells(record, "management-unit").filter(move |cell| cell.params.form.as_deref() == Some(form));
    let median = |cell: &Cell| cell.metrics.latency_ns.as_ref().filter(|latency| latency.n >= 16)?.p50.filter(|ns| *ns > 0);
    let mut pairs: Vec<(u64, &Cell, u64, &Cell, u64)> = cells("aligned")
        .filter_map(|aligned| {
            let shifted = cells("misaligned").find(|cell| cell.params.block_bytes == aligned.params.block_bytes)?;
            Some((aligned.params.block_bytes?, aligned, median(aligned)?, shifted, median(shifted)?))
        })
        .collect();
    pairs.sort_by_key(|pair| pair.0);
    let dearer = |(_, _, aligned_ns, _, shifted_ns): &&(u64, &Cell, u64, &Cell, u64)| *shifted_ns as f64 >= PENALTY * *aligned_ns as f64;
    let (block, aligned, aligned_ns, shifted, shifted_ns) = *pairs.iter().find(dearer)?;
    // With the penalty at the smallest size of all, the unit may be smaller still.
    let at_most = if pairs.first().is_some_and(|first| first.0 == block) { "at most " } else { "" };
    let statement = format!(
        "It manages data in pieces of {at_most}{}: writes of that size are cheap where they are aligned, and cost {} more where they are not.",
        size(block),
        Nanos(shifted_ns - aligned_ns)
    );
    let line = |cell: &Cell, ns: u64| format!("{}: median {}", figure::named(cell), Nanos(ns));
    Some(
        Draft::info("management-unit", statement)
            .note(format!("management_unit_bytes {block}"))
            .note(line(aligned, aligned_ns))
            .note(line(shifted, shifted_ns))
            .note("flash.md B3.7")
            .done(),
    )
}

/// Data that is durable at so many times the rate the medium can write at all is not on flash: the grain of both figures is a fifth.
const IMPLAUSIBLE: f64 = 1.5;
/// No flash programs a page in less, of whatever kind (flash.md E1: SLC 200 us); half of it for parts that are faster.
const FASTEST_PROGRAM_NS: f64 = 100_000.0;

/// What the medium says is safe faster than it can write it, and the fastest it writes for long enough to be flash, in bytes a second. Such a
/// flush does not wait for flash.
pub(crate) fn lying_flush(record: &Record) -> Option<(Figure<'_>, f64)> {
    let beginning = figure::form(record, "sustained", "first").and_then(|cell| throttling::mean_until(cell, 256.0 * MIB as f64));
    // A fast part of the flash is flash too.
    let long = ["sequential-write", "sustained", "prime", "random-fill"].into_iter().flat_map(|test| figure::cells(record, test));
    let long = long.filter(|cell| cell.bytes >= 16 * MIB).filter_map(|cell| Some(Figure::of(cell, "bps")?.value));
    let fastest = long.chain(beginning).reduce(f64::max)?;
    let durable = Figure::of(flushed(record).max_by_key(|cell| cell.params.block_bytes)?, "durable_bps")?;
    (durable.value > IMPLAUSIBLE * fastest).then_some((durable, fastest))
}

/// Writes with a flush after each. A disk's flush is no business of flash.
fn flushed(record: &Record) -> impl Iterator<Item = &Cell> {
    let is_flash = record.medium.rotational != Some(true);
    figure::cells(record, "flush-cost").filter(move |cell| is_flash && cell.params.form.as_deref() == Some("flushed"))
}

/// `flush`: what making data durable costs, and whether that can be true.
fn flush(record: &Record) -> Option<Finding> {
    let small = flushed(record).min_by_key(|cell| cell.params.block_bytes)?;
    let number = |cell: &Cell, name: &str| cell.metrics.other.get(name).map(|found| found.value).filter(|ns| ns.is_finite() && *ns >= 0.0);
    let (write_ns, flush_ns) = (number(small, "write_ns")?, number(small, "flush_ns")?);
    // What a flush with nothing to do takes is the way of the command, no emptying of a cache.
    let emptying_ns = (flush_ns - number(small, "idle_flush_ns").unwrap_or(0.0)).max(0.0);
    let lines = [format!("{}: write {}, flush {}", figure::named(small), Nanos(write_ns as u64), Nanos(flush_ns as u64))];
    let draft = match lying_flush(record) {
        Some((durable, fastest)) => Draft::warning(
            "flush",
            format!("It says that data is safe at {}, but writes {} at most: its flush does not wait for flash. What it says is safe may be lost when the power goes.", durable.text(), figure::quantity("bps", fastest)),
        )
        .figure(&durable),
        None if write_ns + flush_ns < FASTEST_PROGRAM_NS => Draft::warning(
            "flush",
            format!("A write and its flush together take {}: no flash programs a page that fast. Either its cache survives a power cut or its flush does not wait; only cutting the power can tell.", Nanos((write_ns + flush_ns) as u64)),
        ),
        None if emptying_ns > 0.2 * write_ns => Draft::info("flush", format!("A flush after a small write takes {}, the write itself {}: it has a cache that a flush empties, as it should.", Nanos(flush_ns as u64), Nanos(write_ns as u64))),
        None => Draft::info("flush", format!("A flush after a small write takes {} beside the write's {}: it has no volatile cache, or ignores flushes. That can only be told by cutting its power.", Nanos(flush_ns as u64), Nanos(write_ns as u64))),
    };
    Some(draft.notes(lines).note("flash.md C2, E1").done())
}

/// `steady-state`: whether SNIA's rounds came to rest (flash.md D2).
fn steady(record: &Record) -> Option<Finding> {
    let (cell, series) = figure::cells(record, "steady-state").find_map(|cell| {
        let rounds = cell.series.iter().find(|series| series.y == record::Axis::Iops && series.name.contains("round"))?;
        Some((cell, rounds))
    })?;
    let mut search = stats::SteadyState::new(25);
    let rounds: Vec<f64> = series.points.iter().map(|point| point[1]).filter(|iops| iops.is_finite() && *iops > 0.0).collect();
    let state = rounds.iter().map(|iops| search.push(*iops)).last()?;
    let first = *rounds.first()?;
    let draft = match state {
        stats::Rounds::Reached { first: from, mean, .. } => {
            let fell =
                if first > mean * 1.25 { format!(", {} times less than at first", significant(first / mean)) } else { String::new() };
            Draft::info(
                "steady-state",
                format!(
                    "Steady from round {} on: {} random writes of {} a second{fell}.",
                    from + 1,
                    significant(mean),
                    size(cell.params.block_bytes.unwrap_or(4 * KIB))
                ),
            )
        }
        _ => Draft::warning(
            "steady-state",
            format!("It came to no steady state in {} rounds; its figures depend on what was written before.", rounds.len()),
        ),
    };
    Some(
        draft
            .note(format!("{}: {} rounds", figure::named(cell), rounds.len()))
            .note("five rounds within 20 %, their slope within 10 % (SNIA; flash.md D2)")
            .done(),
    )
}
