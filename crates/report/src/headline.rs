//! Main figures that decide if a medium is usable, in order: random write first, always at four
//! sizes.

use findings::usability::{self, ExclusionReason};
use findings::{Figures, KnownFigure, standard_cell};
use record::collection::{Figure, HeadlineFigure};
use record::units::{Bytes, KIB};
use record::{Cell, Record, metric, test};

use crate::figure::{self, Shown};
use crate::{caveats, words};

/// Block sizes at which random write is always shown: media exist with 261 IOPS at 4 KiB and 4 at
/// 16 KiB (docs/field/published-figures.md#survey-of-microsd-cards).
pub const RANDOM_WRITE_SIZES: [u64; 4] = [512, 4 * KIB, 16 * KIB, 64 * KIB];

/// One row of the headline.
pub struct HeadlineRow<'a> {
    /// "Random write, 4 KiB".
    pub label: String,
    /// The number, or the reason why it is missing.
    pub shown: Shown,
    /// Ratio to the yardstick disk.
    pub times_disk: Option<f64>,
    /// The cell it comes from.
    pub cell: Option<&'a Cell>,
}

impl HeadlineRow<'_> {
    /// Reason why the cell ended.
    pub fn stop(&self) -> &'static str {
        self.cell.map_or("", words::stop_of)
    }

    /// Longest latency of a single I/O.
    pub fn worst(&self) -> String {
        self.cell.and_then(figure::worst_ns).map(words::stall).unwrap_or_else(|| "-".to_owned())
    }
}

/// Relation of a cell to the standard cell of its test and block size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellRelation {
    /// The standard cell itself.
    Standard,
    /// The same test over another span, or repeated.
    Repeat,
    /// Another region, or other threads or data.
    Variant,
}

/// Relation of a cell to the standard cell.
pub fn kind(record: &Record, cell: &Cell) -> CellRelation {
    if record.cells_of(&cell.test).map(|other| other.params.representative_rank()).min()
        != Some(cell.params.representative_rank())
    {
        return CellRelation::Variant;
    }
    let stands = standard_cell(record, &cell.test, cell.params.block_bytes);
    if stands.is_some_and(|best| std::ptr::eq(best, cell)) {
        CellRelation::Standard
    } else {
        CellRelation::Repeat
    }
}

/// A row before its number is known.
struct RowRequest<'a> {
    label: String,
    test: &'static str,
    block_bytes: Option<u64>,
    /// The figure that verdicts use too; if it is missing, the cell has the reason.
    known: Option<KnownFigure<'a>>,
    cell: Option<&'a Cell>,
    /// Metrics in order of preference.
    metrics: &'static [&'static str],
    /// Value of the yardstick disk.
    disk: f64,
}

impl<'a> RowRequest<'a> {
    fn of(record: &'a Record, wanted: HeadlineFigure) -> RowRequest<'a> {
        let Figure { label, test, block_bytes, metrics, yardstick, .. } = *wanted.entry();
        let figures = Figures::of(record);
        let known = figures.get(wanted);
        let cell = known.as_ref().map(|known| known.cell).or_else(|| figures.cell(wanted));
        let label = label.to_owned();
        RowRequest { label, test, block_bytes, known, cell, metrics, disk: yardstick.value }
    }

    /// Preconditioning of the medium; a verdict uses it if no other sequential writes were
    /// measured.
    fn precondition(record: &'a Record) -> RowRequest<'a> {
        RowRequest {
            label: "Precondition".to_owned(),
            test: test::PRIME,
            cell: standard_cell(record, test::PRIME, None),
            ..RowRequest::of(record, HeadlineFigure::RandomFill)
        }
    }
}

fn row<'a>(record: &'a Record, ask: RowRequest<'a>) -> HeadlineRow<'a> {
    let cell = ask.cell;
    let refused = cell
        .and_then(|cell| usability::exclusion(record, cell))
        .filter(|why| matches!(why, ExclusionReason::NoMedium | ExclusionReason::Fake));
    let own =
        |cell| ask.metrics.iter().find_map(|name| Some((*name, figure::estimate(cell, name)?)));
    let found = match &ask.known {
        Some(known) => Some((known.metric, &known.estimate)),
        None => cell.and_then(own),
    };
    let shown = match (cell, found) {
        (Some(cell), _) if refused.is_some() && figure::impossible(cell).is_none() => {
            Shown::Withheld(refused.map(|why| why.to_string()).unwrap_or_default())
        }
        (None, _) => Shown::Withheld(caveats::reason_of_absence(record, ask.test, ask.block_bytes)),
        (Some(cell), Some((name, estimate))) => figure::show(cell, name, estimate),
        (Some(cell), None) => figure::missing(cell, "nothing measured"),
    };
    let is_level = cell.is_none_or(|cell| cell.bound().is_none());
    let times_disk = shown.value().filter(|_| is_level).map(|value| value / ask.disk);
    HeadlineRow { label: ask.label, shown, times_disk, cell }
}

/// Random write at the four sizes; sizes that a run did not plan are mentioned.
pub(crate) fn random_writes(record: &Record) -> Vec<HeadlineRow<'_>> {
    let figures =
        RANDOM_WRITE_SIZES.iter().filter_map(|size| HeadlineFigure::at(test::RANDOM_WRITE, *size));
    figures.map(|wanted| row(record, RowRequest::of(record, wanted))).collect()
}

/// The four main figures in their usual order: sequential read and write, 4 KiB random read and
/// write. Those that were not measured are mentioned.
pub fn main_figures(record: &Record) -> [HeadlineRow<'_>; 4] {
    [
        HeadlineFigure::SequentialRead,
        HeadlineFigure::SequentialWrite,
        HeadlineFigure::RandomRead4k,
        HeadlineFigure::RandomWrite4k,
    ]
    .map(|wanted| row(record, RowRequest::of(record, wanted)))
}

/// The figures of a check: the four main ones, and measured random writes of other sizes, which
/// decide the verdict on a root disk.
pub fn check_figures(record: &Record) -> Vec<HeadlineRow<'_>> {
    let sizes = [
        HeadlineFigure::RandomWrite512,
        HeadlineFigure::RandomWrite16k,
        HeadlineFigure::RandomWrite64k,
    ];
    let others = sizes.map(|wanted| RowRequest::of(record, wanted));
    let measured = others.into_iter().filter(|ask| ask.known.is_some());
    main_figures(record).into_iter().chain(measured.map(|ask| row(record, ask))).collect()
}

/// The rows after random write, if the run planned them: sustained write, random read, sequential
/// read, fills.
fn others(record: &Record) -> Vec<HeadlineRow<'_>> {
    let sequential = |wanted| {
        let ask = RowRequest::of(record, wanted);
        let is_sustained =
            ask.known.as_ref().is_some_and(|known| known.metric == metric::SUSTAINED_BPS);
        let is_write = ask.test == test::SEQUENTIAL_WRITE;
        let name = if is_sustained && is_write { "Sustained write" } else { &ask.label };
        RowRequest { label: sized(name, ask.cell), ..ask }
    };
    let writes = sequential(HeadlineFigure::SequentialWrite);
    let fills = [HeadlineFigure::RandomFill, HeadlineFigure::ZeroFill];
    let fills = fills.map(|wanted| RowRequest::of(record, wanted));
    let is_known_in_order = writes.known.is_some() || fills[0].known.is_some();
    let precondition = Some(RowRequest::precondition(record)).filter(|ask| ask.cell.is_some());
    let precondition = precondition.filter(|_| !is_known_in_order);
    let asks = [
        writes,
        RowRequest::of(record, HeadlineFigure::RandomRead4k),
        sequential(HeadlineFigure::SequentialRead),
    ];
    let asks = asks.into_iter().chain(fills).chain(precondition);
    asks.filter(|ask| is_known(record, ask.test)).map(|ask| row(record, ask)).collect()
}

/// A name with the block size of its standard cell.
fn sized(name: &str, cell: Option<&Cell>) -> String {
    match cell.and_then(|cell| cell.params.block_bytes) {
        Some(bytes) => format!("{name}, {}", Bytes(bytes)),
        None => name.to_owned(),
    }
}

/// True if a record mentions a test at all.
fn is_known(record: &Record, test: &str) -> bool {
    let planned = || record.plan.iter().any(|cell| cell.test == test);
    let skipped = || record.skipped.iter().any(|skip| skip.test == test);
    record.cells_of(test).next().is_some() || planned() || skipped()
}

/// The whole headline; empty for a run without these tests, such as a replay.
pub fn rows(record: &Record) -> Vec<HeadlineRow<'_>> {
    if !TESTS.iter().any(|test| is_known(record, test)) {
        return Vec::new();
    }
    let mut rows = random_writes(record);
    if !is_known(record, test::RANDOM_WRITE) {
        // Once instead of four times.
        rows.truncate(1);
        rows[0].label = "Random write".to_owned();
    }
    rows.extend(others(record));
    rows
}

/// Tests of the headline; all others have a table of their own.
pub(crate) const TESTS: [&str; 7] = [
    test::PRIME,
    test::ZERO_FILL,
    test::RANDOM_FILL,
    test::SEQUENTIAL_READ,
    test::SEQUENTIAL_WRITE,
    test::RANDOM_READ,
    test::RANDOM_WRITE,
];
