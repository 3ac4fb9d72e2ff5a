//! Choice of the cell for a figure: the same rule for verdicts, headlines, tables, comparisons and
//! pages.

pub(crate) mod cell_usability;
pub(crate) mod figure;
pub(crate) mod genuineness;
pub(crate) mod levels;
pub(crate) mod likelihood;
pub(crate) mod other_tools;
pub(crate) mod primary;
pub(crate) mod sectors;
pub(crate) mod span_sweep;
pub mod usability;
pub(crate) mod written_share;

use record::collection::{Figure, FigureUnit, HeadlineFigure};
use record::units::{KIB, MIB};
use record::{Bound, Cell, Estimate, Record, metric, test};

use self::figure::{Ratio, UsableEstimate};

/// The figures of a record.
#[derive(Clone, Copy)]
pub struct Figures<'a> {
    record: &'a Record,
}

/// A figure with its cell.
pub struct KnownFigure<'a> {
    /// Cell in which it was measured.
    pub cell: &'a Cell,
    /// The metric of the cell.
    pub metric: &'a str,
    /// Its value, in the unit of the metric.
    pub estimate: Estimate,
}

impl<'a> Figures<'a> {
    /// Figures of a record; each is looked up on request.
    pub fn of(record: &'a Record) -> Figures<'a> {
        Figures { record }
    }

    /// A figure as shown on every screen and used in verdicts. `None` if there is no usable one,
    /// and for the longest stall, which concerns all cells.
    pub fn get(self, wanted: HeadlineFigure) -> Option<KnownFigure<'a>> {
        self.sound(wanted).map(|UsableEstimate { cell, name, value, ci95, n, .. }| KnownFigure {
            cell,
            metric: name,
            estimate: Estimate { value, ci95, n },
        })
    }

    /// The cell of a figure, even if its numbers are not the medium's.
    pub fn cell(self, wanted: HeadlineFigure) -> Option<&'a Cell> {
        let Figure { test, block_bytes, .. } = *wanted.entry();
        if is_sequential(test) {
            return streaming_cell(self.record, test);
        }
        standard_cell(self.record, test, block_bytes)
    }

    /// A level, or else a bound, or else a figure without an interval.
    pub(crate) fn sound(self, wanted: HeadlineFigure) -> Option<UsableEstimate<'a>> {
        let Figure { test, block_bytes, unit, .. } = *wanted.entry();
        match block_bytes {
            _ if unit == FigureUnit::Ns => None,
            Some(_) => self.judged(wanted).or_else(|| self.bare(wanted)),
            None if is_sequential(test) => self.sequential(test),
            None => UsableEstimate::of(self.cell(wanted)?, metric::BPS),
        }
    }

    /// Random I/O at a block size for verdicts: a level with its interval, or else a bound.
    pub(crate) fn judged(self, wanted: HeadlineFigure) -> Option<UsableEstimate<'a>> {
        let Figure { test, block_bytes, .. } = *wanted.entry();
        figure::qd1_estimate(self.record, test, block_bytes?)
            .or_else(|| figure::bound_of(self.record, test, block_bytes?))
    }

    /// Random writes of 4 and 16 KiB for verdicts, the weaker first, as it is named. Those of 16
    /// KiB come first only if they are significantly slower, or without intervals less than half
    /// as fast: the slower of two similar figures is chance, and another run would name the other.
    /// Media exist with 261 IOPS at 4 KiB and 4 at 16 KiB
    /// (docs/field/published-figures.md#survey-of-microsd-cards).
    pub(crate) fn small_writes(self) -> Vec<UsableEstimate<'a>> {
        let sizes = [HeadlineFigure::RandomWrite4k, HeadlineFigure::RandomWrite16k];
        let mut figures: Vec<UsableEstimate> =
            sizes.into_iter().filter_map(|wanted| self.judged(wanted)).collect();
        if let [small, large] = &figures[..] {
            let ratio = Ratio::of(small, large);
            let is_slower = ratio.value > 2.0 && large.bound != Some(Bound::AtLeast);
            if ratio.is_above(1.0) || ratio.ci95.is_none() && is_slower {
                figures.reverse();
            }
        }
        figures
    }

    /// The size of random writes that decides: 16 KiB where these are the slower ones.
    pub fn deciding_write(self) -> Option<HeadlineFigure> {
        let block_bytes = self.small_writes().first()?.cell.params.block_bytes?;
        HeadlineFigure::at(test::RANDOM_WRITE, block_bytes)
    }

    /// The weaker of random writes of 4 and 16 KiB whose level is known.
    pub(crate) fn weaker_small_write(self) -> Option<UsableEstimate<'a>> {
        self.small_writes().into_iter().find(|figure| figure.bound.is_none())
    }

    fn bare(self, wanted: HeadlineFigure) -> Option<UsableEstimate<'a>> {
        let cell = self.cell(wanted)?;
        UsableEstimate::of(cell, metric::IOPS).filter(|_| cell.params.in_flight() == 1)
    }

    fn sequential(self, test: &'a str) -> Option<UsableEstimate<'a>> {
        figure::sustained(self.record)
            .filter(|_| test == test::SEQUENTIAL_WRITE)
            .or_else(|| figure::sequential(self.record, test))
            .or_else(|| large_sequential(self.record, test))
    }
}

fn is_sequential(test: &str) -> bool {
    matches!(test, test::SEQUENTIAL_WRITE | test::SEQUENTIAL_READ)
}

/// Sequential rate of large blocks, or of blocks of unknown size.
fn large_sequential<'a>(record: &'a Record, test: &'a str) -> Option<UsableEstimate<'a>> {
    let cell = streaming_cell(record, test)
        .filter(|cell| cell.params.block_bytes.is_none_or(|bytes| bytes >= 64 * KIB))?;
    UsableEstimate::of(cell, metric::SUSTAINED_BPS)
        .or_else(|| UsableEstimate::of(cell, metric::BPS))
}

/// Standard cell of a test, at a block size if given. Its numbers may not be the medium's.
pub fn standard_cell<'a>(
    record: &'a Record,
    test: &'a str,
    block_bytes: Option<u64>,
) -> Option<&'a Cell> {
    let fits = |cell: &&Cell| block_bytes.is_none() || cell.params.block_bytes == block_bytes;
    figure::representative(record, test, record.cells_of(test).filter(fits))
}

/// Standard cell of a sequential test: at the largest measured block up to 1 MiB.
pub fn streaming_cell<'a>(record: &'a Record, test: &'a str) -> Option<&'a Cell> {
    let largest = record
        .cells_of(test)
        .filter_map(|cell| cell.params.block_bytes)
        .filter(|&bytes| bytes <= MIB)
        .max();
    standard_cell(record, test, largest)
}

/// Final rate of a fill, with the interval from its curve; `None` for a cell without such a rate,
/// or with numbers that are not a medium's.
pub fn sustained_estimate(cell: &Cell) -> Option<Estimate> {
    figure::sustained_of(cell).map(|UsableEstimate { value, ci95, n, .. }| Estimate {
        value,
        ci95,
        n,
    })
}
