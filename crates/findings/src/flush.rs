//! What a flush says of itself: whether it can be true that data is safe
//! (docs/field/cheats.md#cheats-and-caches, docs/field/ftl.md#nand).

use crate::levels;
use record::units::{MIB, Nanos};
use record::{Cell, Finding, MediumKind, Record, metric, test};

use crate::figure::{self, SoundFigure, between};
use crate::finding_builder::FindingBuilder;
use crate::phrases::{FLUSH_EMPTIES, FLUSH_LIES, FLUSH_UNTESTED};

/// Data that is durable at so many times the rate the medium can write at all is not on flash: the
/// grain of both figures is a fifth.
const IMPLAUSIBLE: f64 = 1.5;
/// No flash programs a page in less, of whatever kind (docs/field/ftl.md#nand: SLC 200 us); half of
/// it for parts that are faster. A flush that has anything to write takes as much longer than one
/// that has nothing.
const FASTEST_PROGRAM_NS: f64 = 100_000.0;

/// What is known of the flush.
pub(crate) enum Flush<'a> {
    /// There is no cell of writes with a flush after each, or the medium is a turning disk.
    Untested,
    /// Data is said to be safe faster than the medium can write it: that rate, and the fastest it
    /// writes in bytes a second.
    Lies(SoundFigure<'a>, f64),
    /// A flush after a write takes longer than one with nothing to do, for certain: it empties
    /// something.
    Empties(Times<'a>),
    /// A write with its flush is faster than any flash, for certain.
    TooFast(Times<'a>),
    /// A flush costs nothing, or too little to tell from nothing.
    Unclear(Option<Times<'a>>),
}

/// The three times of a cell of `flush-cost`, as medians with their intervals.
pub(crate) struct Times<'a> {
    write: SoundFigure<'a>,
    flush: SoundFigure<'a>,
    /// Of a flush with nothing to do, which may take no time at all: value, interval.
    idle: (f64, [f64; 2]),
    idle_line: String,
}

impl<'a> Times<'a> {
    /// `None` where one of them has no interval: then no two of them can be told apart.
    fn of(cell: &'a Cell) -> Option<Times<'a>> {
        let known = |name| SoundFigure::of(cell, name).filter(|figure| figure.ci95.is_some());
        let idle = cell.metrics.other.get(metric::IDLE_FLUSH_NS)?;
        let idle_ends = idle.ci95.filter(|[low, high]| {
            *low >= 0.0 && low <= high && high.is_finite() && idle.value >= 0.0
        })?;
        let idle_line = format!(
            "{}: idle flush {} ({}, n {})",
            figure::named(cell),
            Nanos(idle.value as u64),
            between("_ns", idle_ends[0], idle_ends[1]),
            idle.n
        );
        Some(Times {
            write: known(metric::WRITE_NS)?,
            flush: known(metric::FLUSH_NS)?,
            idle: (idle.value, idle_ends),
            idle_line,
        })
    }

    /// What a flush with something to do takes longer, at the least.
    fn emptying_ns(&self) -> f64 {
        ends(&self.flush)[0] - self.idle.1[1]
    }

    /// What a write and its flush take, at the least and at the most.
    fn both_ns(&self) -> [f64; 2] {
        let ([write_low, write_high], [flush_low, flush_high]) =
            (ends(&self.write), ends(&self.flush));
        [write_low + flush_low, write_high + flush_high]
    }
}

fn ends(figure: &SoundFigure) -> [f64; 2] {
    figure.ci95.unwrap_or([figure.value; 2])
}

impl Flush<'_> {
    /// What the record tells of the flush.
    pub fn of(record: &Record) -> Flush<'_> {
        let Some(small) = flushed(record).min_by_key(|cell| cell.params.block_bytes) else {
            return Flush::Untested;
        };
        if let Some((durable, fastest)) = lies(record) {
            return Flush::Lies(durable, fastest);
        }
        match Times::of(small) {
            Some(times) if times.both_ns()[1] < FASTEST_PROGRAM_NS => Flush::TooFast(times),
            Some(times) if times.emptying_ns() > FASTEST_PROGRAM_NS => Flush::Empties(times),
            times => Flush::Unclear(times),
        }
    }
}

/// What the medium says is safe faster than it can write it, for certain, and the fastest it writes
/// for long enough to be flash, in bytes a second. Such a flush does not wait for flash. Below a loop
/// device or a virtual disk is no flash that is known: a host that lets bursts through shows the same.
fn lies(record: &Record) -> Option<(SoundFigure<'_>, f64)> {
    if matches!(record.medium.kind, MediumKind::Loop | MediumKind::Virtual) {
        return None;
    }
    let beginning = figure::form(record, test::SUSTAINED, "first")
        .and_then(|cell| Some(levels::mean_until(levels::along(cell)?, 256.0 * MIB as f64)?.1));
    // A fast part of the flash is flash too.
    let long = [test::SEQUENTIAL_WRITE, test::SUSTAINED, test::PRIME, test::RANDOM_FILL]
        .into_iter()
        .flat_map(|test| figure::cells(record, test));
    let long = long
        .filter(|cell| cell.bytes >= 16 * MIB)
        .filter_map(|cell| Some(SoundFigure::of(cell, metric::BPS)?.value));
    let fastest = long.chain(beginning).reduce(f64::max)?;
    let durable = durable(flushed(record).max_by_key(|cell| cell.params.block_bytes)?)?;
    (ends(&durable)[0] > IMPLAUSIBLE * fastest).then_some((durable, fastest))
}

/// The rate at which data is said to be safe, with its interval: its own, or that of the times it
/// is made of.
fn durable(cell: &Cell) -> Option<SoundFigure<'_>> {
    let durable = SoundFigure::of(cell, metric::DURABLE_BPS)?;
    if durable.ci95.is_some() {
        return Some(durable);
    }
    let [fast_ns, slow_ns] = Times::of(cell)?.both_ns();
    let rate = |ns: f64| cell.params.block_bytes.map(|bytes| bytes as f64 * 1e9 / ns);
    let (low, high) = rate(slow_ns).zip(rate(fast_ns))?;
    Some(SoundFigure { ci95: Some([low.min(durable.value), high.max(durable.value)]), ..durable })
}

/// Small writes a second that were durable before the next began; `None` where their times have no
/// interval.
pub(crate) fn durable_writes(record: &Record) -> Option<SoundFigure<'_>> {
    let small = figure::cells(record, test::FLUSH_COST)
        .filter(|cell| cell.params.form.as_deref() == Some("flushed"))
        .min_by_key(|cell| cell.params.block_bytes)?;
    let [fast_ns, slow_ns] = Times::of(small)?.both_ns();
    let ns = SoundFigure::of(small, metric::WRITE_NS)?.value
        + SoundFigure::of(small, metric::FLUSH_NS)?.value;
    Some(SoundFigure {
        name: metric::IOPS,
        value: 1e9 / ns,
        ci95: Some([1e9 / slow_ns, 1e9 / fast_ns]),
        ..SoundFigure::of(small, metric::WRITE_NS)?
    })
}

/// Writes with a flush after each. A disk's flush is no business of flash.
fn flushed(record: &Record) -> impl Iterator<Item = &Cell> {
    let is_flash = record.medium.rotational != Some(true);
    let is_flushed = |cell: &&Cell| {
        cell.params.form.as_deref() == Some("flushed")
            && cell.metrics.other.contains_key(metric::FLUSH_NS)
    };
    figure::cells(record, test::FLUSH_COST).filter(move |cell| is_flash && is_flushed(cell))
}

/// `flush`: what making data durable costs, and whether that can be true.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let ns = |value: f64| Nanos(value.max(0.0) as u64);
    let draft = match Flush::of(record) {
        Flush::Untested => return None,
        Flush::Lies(durable, fastest) => FindingBuilder::warning(
            "flush",
            format!(
                "It reports data as safe at {}, but can write only {}: {FLUSH_LIES}. Data it reports as safe can be lost in a power cut.",
                durable.text(),
                figure::quantity(metric::BPS, fastest)
            ),
        )
        .figure(&durable)
        .note(format!("its fastest rate over 16 MiB and more: {}", figure::quantity(metric::BPS, fastest))),
        Flush::TooFast(times) => {
            let [low, high] = times.both_ns();
            // It accuses nobody: a cache that outlives a power cut is honest, and the kernel may
            // have sent no flush at all.
            FindingBuilder::info(
                "flush",
                format!(
                    "A write and its flush together take {}. No flash programs a page that fast: either its cache survives a power cut, or its flush does not wait. Only a power cut can show which.",
                    between("_ns", low, high)
                ),
            )
            .figures([&times.write, &times.flush])
            .note(format!("both together: {}", between("_ns", low, high)))
        }
        Flush::Empties(times) => FindingBuilder::info(
            "flush",
            format!(
                "A flush after a small write takes {}, an idle flush {}: the flush empties its cache, {FLUSH_EMPTIES}.",
                ns(times.flush.value),
                ns(times.idle.0)
            ),
        )
        .figures([&times.write, &times.flush])
        .note(times.idle_line),
        Flush::Unclear(times) => {
            let cost = times.as_ref().map(|times| {
                format!("a flush after a small write takes {}, an idle flush {}. ", ns(times.flush.value), ns(times.idle.0))
            });
            let statement = format!(
                "Cannot be told here: {FLUSH_UNTESTED}; {}Only a power cut can show it.",
                cost.unwrap_or_else(|| "the cost of a flush is not certain enough. ".to_owned())
            );
            times.iter().fold(FindingBuilder::info("flush", statement), |draft, times| {
                draft.figures([&times.write, &times.flush]).note(times.idle_line.clone())
            })
        }
    };
    Some(draft.note("a flush that empties a cache takes at least 0.1 ms longer than an idle one (docs/field/cheats.md#cheats-and-caches, docs/field/ftl.md#nand)").done())
}

#[cfg(test)]
mod tests {
    use record::units::KIB;
    use record::{Estimate, Severity, TargetKind};

    use super::*;
    use crate::testing::{cell, empty, iops};

    /// A medium whose small write, flush and idle flush take so many microseconds, each with its
    /// interval.
    fn flushing(times_us: [(f64, [f64; 2]); 3]) -> Record {
        let mut flushed = cell("flush-cost", 1, 4 * KIB);
        flushed.params.form = Some("flushed".into());
        for (name, (value, ends)) in
            ["write_ns", "flush_ns", "idle_flush_ns"].into_iter().zip(times_us)
        {
            let estimate =
                Estimate { value: value * 1e3, ci95: Some(ends.map(|us| us * 1e3)), n: 24 };
            flushed.metrics.other.insert(name.into(), estimate);
        }
        let cells = vec![
            iops("random-write", 1, 4 * KIB, 653.0, 1),
            iops("random-write", 2, 16 * KIB, 556.0, 1),
            flushed,
        ];
        let mut record = Record { cells, ..empty() };
        record.target.kind = TargetKind::Block;
        record
    }

    fn told(record: &Record, id: &str) -> (Severity, String) {
        let found = crate::conclude(record).into_iter().find(|finding| finding.id == id).unwrap();
        (found.severity, found.statement)
    }

    #[test]
    fn a_flush_that_may_lie_is_praised_for_nothing_flatly() {
        // What `standard` measured of sim:flush-liar; its flush has no cost.
        let liar =
            flushing([(151.2, [150.0, 152.0]), (250.0, [249.0, 251.0]), (250.0, [249.0, 251.0])]);
        insta::assert_snapshot!(told(&liar, "flush").1, @"Cannot be told here: whether its flush is honest; a flush after a small write takes 250 us, an idle flush 250 us. Only a power cut can show it.");
        let mut committing = liar.clone();
        let mut commit = iops("commit", 1, 4 * KIB, 163.0, 1);
        commit.params.form = Some("rollback".into());
        committing.cells.push(commit);
        insta::assert_snapshot!(told(&committing, "verdict-database").1, @"Good for a database if its flush is honest, which only a power cut can show: 163 commits per second (158 to 168) with a rollback journal.");
        insta::assert_snapshot!(told(&committing, "verdict").1, @"Good for a root disk. Good for a database only if its flush is honest, which only a power cut can show. Not tested: whether it is genuine. Random writes of 4 KiB reach 653 IOPS (633 to 673); a laptop disk reaches 90.");
        // Eight writes in a row, each flushed, promise a database nothing.
        assert!(told(&liar, "verdict-database").1.contains("commits were not measured"));
        let mut few = liar.clone();
        for figure in few.cells[2].metrics.other.values_mut() {
            figure.ci95 = None;
        }
        insta::assert_snapshot!(told(&few, "flush").1, @"Cannot be told here: whether its flush is honest; the cost of a flush is not certain enough. Only a power cut can show it.");
        assert!(!told(&few, "verdict").1.contains("database"), "{}", told(&few, "verdict").1);
    }

    #[test]
    fn a_tenth_of_a_millisecond_of_the_host_decides_nothing() {
        // Three media whose flush costs nothing; what the host added differs from run to run.
        for flush_us in [340.0, 250.0, 290.0, 410.0] {
            let spread = [flush_us - 60.0, flush_us + 120.0];
            let record =
                flushing([(300.0, [280.0, 330.0]), (flush_us, spread), (250.0, [240.0, 320.0])]);
            assert!(told(&record, "flush").1.starts_with("Cannot be told here"), "{flush_us}");
        }
        let honest = flushing([
            (300.0, [280.0, 330.0]),
            (2300.0, [2100.0, 2500.0]),
            (250.0, [240.0, 320.0]),
        ]);
        insta::assert_snapshot!(told(&honest, "flush").1, @"A flush after a small write takes 2.30 ms, an idle flush 250 us: the flush empties its cache, as it should.");
        assert!(
            !told(&honest, "verdict").1.contains(record::Condition::FlushHonest.short()),
            "{}",
            told(&honest, "verdict").1
        );
    }

    #[test]
    fn what_is_safe_faster_than_it_can_be_written_is_a_lie() {
        let mut record = flushing([
            (2000.0, [1900.0, 2100.0]),
            (300.0, [290.0, 310.0]),
            (250.0, [249.0, 251.0]),
        ]);
        let mut writing = iops("sequential-write", 1, MIB, 40.0, 1);
        writing.bytes = 400 * MIB;
        record.cells.push(writing);
        record.cells[2].params.block_bytes = Some(MIB);
        let durable = Estimate { value: 4.5e8, ci95: None, n: 24 };
        record.cells[2].metrics.other.insert("durable_bps".into(), durable);
        assert_eq!(told(&record, "flush").0, Severity::Warning);
        assert!(told(&record, "verdict-database").1.starts_with("Poor for a database"));
        // A loop device under a throttle that lets a first MiB through was called a liar.
        record.medium.kind = MediumKind::Loop;
        assert_eq!(told(&record, "flush").0, Severity::Info);
    }
}
