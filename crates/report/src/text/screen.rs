//! One screen: the results of a run in the lines of a small terminal. Parts that do not fit are
//! counted, and their place is given at the end.

mod bottom;
mod faults;
mod figures;
mod matrix;
mod uses;

use record::test::RANDOM_WRITE;
use record::text::printable;
use record::{Finding, Record, Severity};

use self::faults::CLAIMS;
use self::figures::ScreenRow;
use super::AnsiStyle;
use super::wrap::cut;
use crate::{caveats, display, figure, words};

pub(crate) use self::figures::RowTexts;

/// Lines of a small terminal, without the one for the next command.
const LINES: usize = 23;
/// Width of a terminal with so few lines; a narrower one may use more lines in proportion.
const WIDTH: usize = 80;

/// Places of the details of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct DetailsLocation<'a> {
    /// Name of the run for `flashmark show`.
    pub run: &'a str,
    /// Files of the run: name and path.
    pub files: &'a [(&'static str, String)],
}

/// Screen at the end of a run: the medium, its faults, its suitable uses, the main figures, and
/// where the details are; at most 24 lines of 80 columns.
pub fn summary(record: &Record, width: usize, colour: bool) -> String {
    let run = printable(&record.run.id);
    one_screen(record, width, colour, &DetailsLocation { run: &run, ..DetailsLocation::default() })
}

/// The screen with the files of the run, whose lines count among the 24.
pub fn one_screen(
    record: &Record,
    width: usize,
    colour: bool,
    rest: &DetailsLocation<'_>,
) -> String {
    let width = width.max(super::MIN_WIDTH);
    let most = if width < WIDTH { LINES * WIDTH / width } else { LINES };
    let screen = Screen::of(record, width, colour, rest);
    // A path is not broken, but may take several rows of the terminal.
    let rows = |line: &String| display::width(line).div_ceil(width).saturating_sub(1);
    let more: usize = screen.elsewhere(&[]).iter().map(rows).sum();
    let lines = screen.laid(most.saturating_sub(more)).lines;
    lines.into_iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Content of the screen of 80 columns, for forms without aligned columns.
pub(crate) fn content(record: &Record, rest: &DetailsLocation<'_>) -> ScreenContent {
    let screen = Screen::of(record, WIDTH, false, rest);
    ScreenContent {
        sentences: screen.sentences(),
        rows: screen.laid(LINES).rows,
        has_times: screen.has_times,
    }
}

/// Content of a screen as texts.
pub(crate) struct ScreenContent {
    /// Faults and uses of the medium, in the order of the screen.
    pub sentences: Vec<String>,
    /// The table of figures.
    pub rows: Vec<RowTexts>,
    /// True if latencies of single I/Os are known.
    pub has_times: bool,
}

/// Most lines of each part.
struct LineLimits {
    medium: usize,
    not_restored: usize,
    state: usize,
    faults: usize,
    fault: usize,
    verdict: usize,
    skipped: usize,
    caveats: usize,
}

const LAST: usize = 4;
const CAPS: [LineLimits; LAST + 1] = [
    LineLimits {
        medium: 2,
        not_restored: 3,
        state: 3,
        faults: 3,
        fault: 2,
        verdict: 3,
        skipped: 2,
        caveats: 2,
    },
    LineLimits {
        medium: 1,
        not_restored: 3,
        state: 2,
        faults: 3,
        fault: 2,
        verdict: 3,
        skipped: 1,
        caveats: 2,
    },
    LineLimits {
        medium: 1,
        not_restored: 3,
        state: 2,
        faults: 2,
        fault: 2,
        verdict: 3,
        skipped: 1,
        caveats: 2,
    },
    LineLimits {
        medium: 1,
        not_restored: 2,
        state: 2,
        faults: 1,
        fault: 2,
        verdict: 3,
        skipped: 1,
        caveats: 2,
    },
    LineLimits {
        medium: 1,
        not_restored: 2,
        state: 1,
        faults: 1,
        fault: 1,
        verdict: 3,
        skipped: 1,
        caveats: 1,
    },
];

struct Screen<'a> {
    record: &'a Record,
    width: usize,
    style: AnsiStyle,
    rest: &'a DetailsLocation<'a>,
    /// True if latencies of single I/Os are known.
    has_times: bool,
    /// Next steps for the user, as lines.
    next: String,
}

/// The lines of a screen, its rows of figures, and true if every size of random write is among
/// them.
struct ScreenLayout {
    lines: Vec<String>,
    rows: Vec<RowTexts>,
    has_all: bool,
}

impl<'s> Screen<'s> {
    fn of(
        record: &'s Record,
        width: usize,
        colour: bool,
        rest: &'s DetailsLocation<'s>,
    ) -> Screen<'s> {
        // Results of other tools often have no latencies of single I/Os.
        let has_times = !record.cells.iter().all(figure::is_imported)
            || record.cells.iter().any(|cell| figure::worst_ns(cell).is_some());
        let next = super::next_steps(record, width);
        Screen { record, width, style: AnsiStyle(colour), rest, has_times, next }
    }

    /// The first layout that has room for every random write; else the first one that fits, which
    /// the last always does.
    fn laid(&self, most: usize) -> ScreenLayout {
        let matrix = findings::matrix::of(self.record);
        let laid = |caps: &LineLimits| match &matrix {
            Some(matrix) => {
                let lines = self.of_matrix(matrix, caps, most);
                ScreenLayout { lines, rows: Vec::new(), has_all: true }
            }
            None => self.of_run(caps, most),
        };
        let mut tries: Vec<ScreenLayout> =
            CAPS.iter().map(laid).filter(|laid| laid.lines.len() <= most).collect();
        if tries.is_empty() {
            return laid(&CAPS[LAST]);
        }
        let best = tries.iter().position(|laid| laid.has_all).unwrap_or(0);
        tries.swap_remove(best)
    }

    /// The sentences above the figures, not shortened.
    fn sentences(&self) -> Vec<String> {
        let faults = self.fault_findings().into_iter();
        let mut sentences: Vec<String> = faults.map(|it| printable(&it.statement)).collect();
        sentences.extend(caveats::state(self.record));
        let judged = self.judged();
        let verdict = judged.verdict.iter().cloned().collect();
        sentences.extend(judged.ordered(judged.uses.clone(), verdict).concat());
        sentences.extend(self.claims_not_failed().take(CLAIMS).map(|it| printable(&it.statement)));
        sentences
    }

    /// The lines of a run.
    fn of_run(&self, caps: &LineLimits, most: usize) -> ScreenLayout {
        let record = self.record;
        let mut top = self.prose(&words::medium_line(record), 2, caps.medium, AnsiStyle::strong);
        let (faults, faults_left) = self.faults(caps);
        top.extend(faults);
        // The result is read first; if the medium must not be used, the state of the run does not
        // matter.
        let is_refused =
            self.verdict().is_some_and(|verdict| verdict.severity == Severity::Failure);
        let state = caveats::state(record).map(|state| {
            let most = if is_refused { 1 } else { caps.state };
            self.prose(&state, 2, most, AnsiStyle::warn)
        });
        let state = state.unwrap_or_default();
        let (before, after) = if is_refused { (vec![], state) } else { (state, vec![]) };
        top.extend(before);
        let judged = self.judged();
        let verdict = judged.verdict.as_ref().map(|statement| {
            let most = caps.verdict + usize::from(judged.severity == Severity::Failure);
            self.prose(statement, 2, most, of_severity(judged.severity))
        });
        let uses = self.of_uses(&judged.uses);
        top.extend(judged.ordered(uses, verdict.unwrap_or_default()).concat());
        top.extend(self.claims(caps));
        top.extend(after);
        top.extend(self.facts());

        let (rows, unplanned) = self.four();
        let wanted = self.others(&rows);
        let of_rows =
            |rows: &[ScreenRow<'_>]| rows.iter().map(|row| row.lines.len()).sum::<usize>();
        let heads = if rows.is_empty() && wanted.is_empty() { Vec::new() } else { self.heads() };

        let shown_cells =
            |rows: &[ScreenRow<'_>]| rows.iter().filter(|row| row.cell.is_some()).count();
        let bottom_of = |rows: &[ScreenRow<'_>]| {
            let ranked = self.caveats(rows, caps.caveats);
            let mut bottom = self.legend(rows);
            bottom.extend(ranked.0);
            bottom.extend(self.skipped(&unplanned, caps.skipped));
            let left = [
                self.cells_left(shown_cells(rows)),
                counted(faults_left, "failure"),
                counted(self.findings_left(), "finding"),
                counted(ranked.1, "caveat"),
            ];
            bottom.extend(self.elsewhere(&left));
            bottom
        };

        let mut rows = rows;
        let fixed = top.len() + heads.len() + bottom_of(&rows).len();
        // One line above the figures stays empty.
        let mut room = most.saturating_sub(fixed + of_rows(&rows) + 1);
        let mut wanted = wanted.into_iter().peekable();
        while let Some(row) = wanted.next_if(|row| row.lines.len() <= room) {
            room -= row.lines.len();
            rows.push(row);
        }
        let is_write = |row: &ScreenRow<'_>| row.cell.is_some_and(|cell| cell.test == RANDOM_WRITE);
        let has_all = !wanted.any(|row| is_write(&row));
        let bottom = bottom_of(&rows);
        let mut lines = top;
        let used = lines.len() + heads.len() + of_rows(&rows) + bottom.len();
        let mut blanks = most.saturating_sub(used);
        if !rows.is_empty() && blanks > 0 {
            lines.push(String::new());
            blanks -= 1;
        }
        lines.extend(heads);
        let texts = rows.iter().map(|row| row.texts.clone()).collect();
        lines.extend(rows.into_iter().flat_map(|row| row.lines));
        if blanks > 0 && !bottom.is_empty() {
            lines.push(String::new());
        }
        lines.extend(bottom);
        ScreenLayout { lines, rows: texts, has_all }
    }

    /// At most `most` lines of a text, each in its colour.
    fn prose(
        &self,
        text: &str,
        indent: usize,
        most: usize,
        style: impl Fn(&AnsiStyle, &str) -> String,
    ) -> Vec<String> {
        self.styled(&cut(text, self.width, indent, self.most(most)), indent, style)
    }

    /// Number of lines on this terminal for lines of 80 columns.
    fn most(&self, lines: usize) -> usize {
        if self.width < WIDTH { lines * WIDTH / self.width } else { lines }
    }

    fn styled(
        &self,
        laid: &[String],
        indent: usize,
        style: impl Fn(&AnsiStyle, &str) -> String,
    ) -> Vec<String> {
        let pad = |at: usize| " ".repeat(if at == 0 { 0 } else { indent });
        laid.iter().enumerate().map(|(at, line)| pad(at) + &style(&self.style, line)).collect()
    }

    fn verdict(&self) -> Option<&Finding> {
        self.record.findings.iter().find(|finding| finding.id == "verdict")
    }

    fn facts(&self) -> Vec<String> {
        let label = self.record.run.label.as_deref().map(printable);
        let label = label.filter(|label| !label.is_empty());
        let facts: Vec<String> = caveats::run_facts(self.record).into_iter().chain(label).collect();
        if facts.is_empty() {
            return Vec::new();
        }
        self.prose(&facts.join(", "), 2, 1, AnsiStyle::faint)
    }
}

fn of_severity(severity: Severity) -> impl Fn(&AnsiStyle, &str) -> String {
    match severity {
        Severity::Info => AnsiStyle::strong,
        Severity::Warning => AnsiStyle::warn,
        Severity::Failure => AnsiStyle::alarm,
    }
}

fn counted(n: usize, noun: &str) -> String {
    if n == 0 { String::new() } else { words::count(n, noun) }
}
