//! The table of figures: its rows, its columns, and the main figures among the others.

use std::collections::BTreeSet;

use findings::LongestWrite;
use record::test::RANDOM_WRITE;
use record::units::KIB;
use record::{Cell, Direction, Pattern};

use super::Screen;
use crate::figure::{self, PrintedFigure, Shown};
use crate::headline::{self, HeadlineRow};
use crate::text::wrap::{self, cut};
use crate::text::{AnsiStyle, FIGURE, INTERVAL, LABEL, joined_columns, short, spread};
use crate::{caveats, display, words};

/// Columns of a row, from the left: label and figure, interval and n, p99, slowest.
const COUNT: usize = INTERVAL + 7;
const P99: usize = 10;
const SLOWEST: usize = 9;
/// Largest width of a label.
const WIDEST: usize = 40;
const ROW: usize = FIGURE + 2 + COUNT + TIMES;
const TIMES: usize = 2 + P99 + SLOWEST;

/// A row of the table of figures.
#[derive(Clone)]
pub(crate) struct RowTexts {
    /// Whole name: "Random write, 4 KiB".
    pub label: String,
    /// The figure, or the reason why it is missing.
    pub figure: Result<FigureTexts, String>,
    /// True for a single figure without an interval.
    pub is_single: bool,
}

/// A figure with the texts beside it.
#[derive(Clone)]
pub(crate) struct FigureTexts {
    /// The figure with its unit.
    pub text: String,
    /// Its interval or bound, or a note that it has none.
    pub interval: String,
    /// Number of I/Os or repeats.
    pub n: u64,
    /// 99th percentile of the latency, if enough I/Os were measured.
    pub p99: Option<String>,
    /// Longest latency.
    pub slowest: Option<String>,
}

impl RowTexts {
    /// Texts of a figure, with the latencies of its cell.
    pub fn of(label: &str, shown: &Shown, cell: Option<&Cell>) -> RowTexts {
        let figure = shown.printed().map(|PrintedFigure { text, interval, n }| FigureTexts {
            text: text.to_owned(),
            interval: interval.to_owned(),
            n,
            p99: cell
                .filter(|cell| figure::impossible(cell).is_none())
                .and_then(|cell| Some(words::stall(cell.metrics.latency_ns.as_ref()?.p99? as f64))),
            slowest: cell.and_then(figure::worst_ns).map(words::stall),
        });
        let figure = figure.map_err(str::to_owned);
        RowTexts { label: label.to_owned(), figure, is_single: shown.is_single() }
    }
}

/// A row of figures with its cell.
pub(super) struct ScreenRow<'a> {
    pub(super) lines: Vec<String>,
    pub(super) cell: Option<&'a Cell>,
    pub(super) texts: RowTexts,
}

/// True for random writes of small blocks, which decide on most uses: those of the test, and those of
/// another tool whatever it calls them.
pub(super) fn is_random_write(cell: &Cell) -> bool {
    let params = &cell.params;
    if cell.test == RANDOM_WRITE || !figure::is_imported(cell) {
        return cell.test == RANDOM_WRITE;
    }
    matches!(params.pattern, Some(Pattern::Uniform | Pattern::Permutation))
        && params.direction == Some(Direction::Write)
        && params.block_bytes.is_some_and(|bytes| bytes <= 64 * KIB)
}

impl Screen<'_> {
    /// Width of a label: larger on a wider terminal.
    fn label(&self) -> usize {
        let times = if self.has_times || self.width < ROW { 0 } else { TIMES };
        LABEL + times + self.width.saturating_sub(ROW).min(WIDEST - LABEL)
    }

    /// Width of a label with its figure.
    fn figure(&self) -> usize {
        FIGURE - LABEL + self.label()
    }

    pub(super) fn heads(&self) -> Vec<String> {
        if self.width < ROW {
            return Vec::new();
        }
        let heads = format!(
            "{}  {}{}",
            spread("", "figure", self.figure()),
            spread("95 % interval", "n", COUNT),
            self.times("p99", "slowest")
        );
        vec![self.style.faint(&heads)]
    }

    /// The columns for latencies of single I/Os; empty if none are known.
    fn times(&self, p99: &str, slowest: &str) -> String {
        if self.has_times { format!("  {p99:>P99$}{slowest:>SLOWEST$}") } else { String::new() }
    }

    /// Those of the four main figures that were in the plan.
    pub(super) fn four(&self) -> Vec<ScreenRow<'_>> {
        let [reads, writes, random_reads, random_writes] = headline::main_figures(self.record);
        let is_unplanned = |row: &HeadlineRow<'_>| {
            row.cell.is_none()
                && matches!(&row.shown, Shown::Withheld(why) if why == caveats::NOT_PLANNED)
        };
        let rows = [reads, writes, random_reads, random_writes].into_iter();
        let planned: Vec<HeadlineRow<'_>> = rows.filter(|row| !is_unplanned(row)).collect();
        // The common reason for all of them is shown once, by the state of the run or the left-out
        // tests.
        let why = |row: &HeadlineRow<'_>| match &row.shown {
            Shown::Withheld(why) if row.cell.is_none() => Some(why.clone()),
            _ => None,
        };
        if self.record.cells.is_empty() && self.record.plan.is_empty() {
            return Vec::new();
        }
        let first = planned.first().and_then(why);
        let is_explained = caveats::state(self.record).is_some() || !self.record.skipped.is_empty();
        let is_one = is_explained && first.is_some() && planned.iter().all(|row| why(row) == first);
        let rows = planned.iter().filter(|_| !is_one).map(|row| self.of_headline(row));
        rows.collect()
    }

    /// Other measured figures: random writes of other sizes, fills, then the main figure of every
    /// other test.
    pub(super) fn others<'r>(&'r self, shown: &[ScreenRow<'_>]) -> Vec<ScreenRow<'r>> {
        let is_shown = |cell: &Cell| {
            shown.iter().any(|row| row.cell.is_some_and(|other| std::ptr::eq(other, cell)))
        };
        let longest = findings::longest_write(self.record);
        // If its line is shown, its latency is already in a column.
        let longest = longest.filter(|longest| !is_shown(longest.cell));
        let rows = headline::rows(self.record);
        let measured = rows.iter().filter(|row| row.cell.is_some_and(|cell| !is_shown(cell)));
        let mut others: Vec<ScreenRow<'r>> =
            longest.iter().map(|longest| self.of_longest(longest)).collect();
        others.extend(measured.map(|row| self.of_headline(row)));
        let is_row = |cell: &Cell| {
            is_shown(cell)
                || rows.iter().any(|row| row.cell.is_some_and(|it| std::ptr::eq(it, cell)))
        };
        let tests: BTreeSet<&str> = self.record.cells.iter().map(|cell| &*cell.test).collect();
        for cell in &self.record.cells {
            let is_headline = headline::TESTS.contains(&cell.test.as_str());
            // Other block sizes are left out where there are other tests; of an import they are shown
            // nowhere else.
            if is_row(cell) || is_headline && tests.len() > 1 && !figure::is_imported(cell) {
                continue;
            }
            let Some(primary) = figure::primary(cell) else { continue };
            if matches!(&primary.shown, Shown::Withheld(_)) {
                continue;
            }
            let label = words::whole_label(&cell.test, &cell.params);
            others.push(self.row(&label, &primary.shown, Some(cell)));
        }
        others
    }

    /// The longest single write among all that are part of real work.
    fn of_longest<'r>(&self, longest: &LongestWrite<'_>) -> ScreenRow<'r> {
        let shown = Shown::Number {
            value: longest.ns as f64,
            text: words::stall(longest.ns as f64),
            interval: "maximum".to_owned(),
            n: longest.n,
        };
        self.row("Slowest small write", &shown, None)
    }

    fn of_headline<'r>(&self, row: &HeadlineRow<'r>) -> ScreenRow<'r> {
        self.row(&row.label, &row.shown, row.cell)
    }

    /// A label that fits into `room` columns, and a line above it if the label of an import does
    /// not fit: shortened labels of its cells would look alike.
    fn fitted(&self, label: &str, cell: Option<&Cell>, room: usize) -> (String, Option<String>) {
        let without_tool = label.rsplit_once(" (").map_or(label, |(label, _)| label);
        let fits = |text: &str| display::width(text) <= room;
        match cell.filter(|cell| figure::is_imported(cell)) {
            _ if fits(label) => (label.to_owned(), None),
            None => (short(&short(label, self.label()), room), None),
            Some(_) if fits(without_tool) => (without_tool.to_owned(), None),
            Some(_) => (String::new(), Some(short(label, self.width))),
        }
    }

    fn row<'r>(&self, full: &str, shown: &Shown, cell: Option<&'r Cell>) -> ScreenRow<'r> {
        let texts = RowTexts::of(full, shown, cell);
        let lines = match &texts.figure {
            Err(why) => self.withheld(&short(full, self.label()), why, shown.is_impossible()),
            Ok(figure) => self.of_figure(full, figure, cell),
        };
        ScreenRow { lines, cell, texts }
    }

    fn of_figure(&self, full: &str, figure: &FigureTexts, cell: Option<&Cell>) -> Vec<String> {
        let FigureTexts { text, interval, n, p99, slowest } = figure;
        let room = self.figure().saturating_sub(display::width(text));
        let (label, above) = self.fitted(full, cell, room.saturating_sub(1));
        let gap = " ".repeat(room.saturating_sub(display::width(&label)));
        let figure = self.style.strong(text);
        if self.width < ROW {
            let with_lead = |lead: &str, text: &Option<String>| {
                text.as_ref().map(|text| format!("{lead} {text}"))
            };
            let parts = [Some(interval.clone()), Some(format!("n {n}"))];
            let times = [with_lead("p99", p99), with_lead("slowest", slowest)];
            let parts: Vec<String> = parts.into_iter().chain(times).flatten().collect();
            let below = wrap::joined(&parts, self.width - 4);
            let below = below.iter().map(|line| format!("    {}", self.style.faint(line)));
            let row = std::iter::once(format!("{label}{gap}{figure}"));
            return above.into_iter().chain(row).chain(below).collect();
        }
        let counted = spread(record::units::without_unit(interval, text), &n.to_string(), COUNT);
        let [p99, slowest] = [p99, slowest].map(|text| text.as_deref().unwrap_or("-"));
        let times = self.times(p99, slowest);
        let row = format!("{label}{gap}{figure}  {}", joined_columns(counted, times, COUNT));
        above.into_iter().chain([row]).collect()
    }

    /// Explanation of "one run", if a row is marked so.
    pub(super) fn legend(&self, rows: &[ScreenRow<'_>]) -> Vec<String> {
        if !rows.iter().any(|row| row.texts.is_single) {
            return Vec::new();
        }
        self.prose(figure::ONE_RUN_MEANS, 2, 2, AnsiStyle::faint)
    }

    /// A row with the reason why its number is missing.
    fn withheld(&self, label: &str, why: &str, is_impossible: bool) -> Vec<String> {
        let style = if is_impossible { AnsiStyle::alarm } else { AnsiStyle::faint };
        if self.width < ROW {
            let why = cut(why, self.width - 4, 0, 2);
            let below = why.iter().map(|line| format!("    {}", style(&self.style, line)));
            return std::iter::once(spread(label, "-", self.figure())).chain(below).collect();
        }
        let why = cut(why, self.width - self.figure() - 2, 0, 1).join(" ");
        vec![format!("{}  {}", spread(label, "-", self.figure()), style(&self.style, &why))]
    }
}
