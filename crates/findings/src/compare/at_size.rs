//! The cells of several media at one kind of work and block size.

use std::collections::BTreeSet;

use record::{Cell, Record};

use super::RunGroup;
use crate::figures::figure::{self, LARGE_SPAN, UsableEstimate};

/// Spans that differ by less than this factor are compared as they are: no two media have the same
/// size.
const OTHER_SPAN: u64 = 2;

/// Kind of work at a block size, and the span in which it is compared.
pub(super) struct AtSize<'a> {
    test: &'a str,
    block_bytes: u64,
    /// Span in bytes that all runs have measured, where their standard cells have others.
    span_bytes: Option<u64>,
}

impl<'a> AtSize<'a> {
    pub fn of<'g>(
        groups: impl IntoIterator<Item = &'g RunGroup<'a>>,
        test: &'a str,
        block_bytes: u64,
    ) -> AtSize<'a>
    where
        'a: 'g,
    {
        let own = AtSize { test, block_bytes, span_bytes: None };
        let records: Vec<&Record> =
            groups.into_iter().flat_map(|it| &it.records).copied().collect();
        AtSize { span_bytes: own.shared_span(&records), ..own }
    }

    /// The cell that stands for a run.
    pub fn cell(&self, record: &'a Record) -> Option<&'a Cell> {
        figure::representative(record, self.test, self.cells(record))
    }

    /// I/Os in flight in the cell of the first run that has one.
    pub fn in_flight(&self, group: &RunGroup<'a>) -> Option<u64> {
        let cell = group.records.iter().find_map(|record| self.cell(record))?;
        Some(cell.params.in_flight())
    }

    /// The figures of all runs of a medium with so many I/Os in flight.
    pub fn figures(
        &self,
        group: &RunGroup<'a>,
        metric: &'a str,
        in_flight: u64,
    ) -> Vec<UsableEstimate<'a>> {
        let of_run = |record: &&'a Record| UsableEstimate::of(self.cell(record)?, metric);
        let figures = group.records.iter().filter_map(of_run);
        figures.filter(|found| found.cell.params.in_flight() == in_flight).collect()
    }

    fn cells<'r>(&self, record: &'r Record) -> impl Iterator<Item = &'r Cell>
    where
        'a: 'r,
    {
        let (block_bytes, span_bytes) = (Some(self.block_bytes), self.span_bytes);
        figure::cells(record, self.test).filter(move |cell| {
            cell.params.block_bytes == block_bytes
                && (span_bytes.is_none() || cell.params.span_bytes == span_bytes)
        })
    }

    /// The largest span that all runs with this block size have measured, if their standard cells
    /// have others.
    fn shared_span(&self, records: &[&'a Record]) -> Option<u64> {
        let own = records.iter().filter_map(|record| self.cell(record)?.params.span_bytes);
        let own: BTreeSet<u64> = own.collect();
        if own.last()? / OTHER_SPAN < *own.first()? {
            return None;
        }
        let spans = |record: &&Record| -> BTreeSet<u64> {
            self.cells(record).filter_map(|cell| cell.params.span_bytes).collect()
        };
        let all = records.iter().map(spans).filter(|spans| !spans.is_empty());
        let shared = all.reduce(|a, b| &a & &b)?;
        shared.last().copied().filter(|span| *span >= LARGE_SPAN)
    }
}
