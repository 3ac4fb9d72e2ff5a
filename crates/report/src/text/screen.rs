//! One screen: the results of a run in the lines of a small terminal. Parts that do not fit are
//! counted, and their place is given at the end.

use findings::{LongestWrite, UseLevel, use_levels};
use record::test::RANDOM_WRITE;
use record::text::printable;
use record::{Cell, Finding, Fitness, Record, Severity, Use};

use super::wrap::{self, cut};
use super::{AnsiStyle, FIGURE, INTERVAL, LABEL, NOT_RESTORED, joined_columns, short, spread};
use crate::caveats::{self, RecordCaveat};
use crate::figure::{self, PrintedFigure, Shown};
use crate::headline::{self, HeadlineRow};
use crate::{display, words};

/// Lines of a small terminal, without the one for the next command.
const LINES: usize = 23;
/// Width of a terminal with so few lines; a narrower one may use more lines in proportion.
const WIDTH: usize = 80;
/// Columns of a row, from the left: label and figure, interval and n, p99, slowest.
const COUNT: usize = INTERVAL + 7;
const P99: usize = 10;
const SLOWEST: usize = 9;
/// Largest width of a label.
const WIDEST: usize = 40;
const ROW: usize = FIGURE + 2 + COUNT + TIMES;
const TIMES: usize = 2 + P99 + SLOWEST;

/// Most claims shown that did not fail.
const CLAIMS: usize = 4;

/// Sentence for a medium that failed.
const NO_USE: &str = "Not suitable for any use.";

/// Start of the line with the command for the details.
const DETAILS: &str = "Details";

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
    if super::host_effects::is_one(record) {
        let text = super::host_effects::text(record, width, false);
        return format!("{text}\n{}\n", screen.elsewhere(&[]).join("\n"));
    }
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

/// A row of figures with its cell.
struct Row<'a> {
    lines: Vec<String>,
    cell: Option<&'a Cell>,
    texts: RowTexts,
}

/// The lines of a screen, its rows of figures, and true if every size of random write is among
/// them.
struct ScreenLayout {
    lines: Vec<String>,
    rows: Vec<RowTexts>,
    has_all: bool,
}

/// Levels of a medium by use, and the verdict beside them.
struct LevelsByUse {
    uses: Vec<String>,
    verdict: Option<String>,
    severity: Severity,
    /// True if the verdict is positive: then it comes after the uses.
    is_praise: bool,
}

impl LevelsByUse {
    /// The uses and the verdict in their order: a negative verdict comes first, a positive one
    /// last.
    fn ordered<T>(&self, uses: T, verdict: T) -> [T; 2] {
        if self.is_praise { [uses, verdict] } else { [verdict, uses] }
    }
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
        let of_rows = |rows: &[Row<'_>]| rows.iter().map(|row| row.lines.len()).sum::<usize>();
        let heads = if rows.is_empty() && wanted.is_empty() { Vec::new() } else { self.heads() };

        let shown_cells = |rows: &[Row<'_>]| rows.iter().filter(|row| row.cell.is_some()).count();
        let bottom_of = |rows: &[Row<'_>]| {
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
        let is_write = |row: &Row<'_>| row.cell.is_some_and(|cell| cell.test == RANDOM_WRITE);
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

    /// Lines of a matrix: each work with its best combination, and those near it.
    fn of_matrix(
        &self,
        matrix: &findings::matrix::Matrix,
        caps: &LineLimits,
        most: usize,
    ) -> Vec<String> {
        let record = self.record;
        let mut lines = self.prose(&words::medium_line(record), 2, caps.medium, AnsiStyle::strong);
        lines.extend(self.facts());
        let not_restored = record.findings.iter().find(|finding| finding.id == NOT_RESTORED);
        lines.extend(not_restored.into_iter().flat_map(|finding| {
            self.prose(&printable(&finding.statement), 2, caps.not_restored, AnsiStyle::alarm)
        }));
        if let Some(state) = crate::matrix::state(record) {
            lines.extend(self.prose(&state, 2, caps.state, AnsiStyle::warn));
        }
        if let Some(best) = matrix.overall.first() {
            lines.extend(self.prose(&printable(&best.statement()), 2, 2, AnsiStyle::strong));
        }
        let failed: usize = matrix.works.iter().map(|work| work.failed.len()).sum();
        let skipped = self.skipped(&[], caps.skipped);
        let left = [counted(failed, "failure")];
        let tables = ["all ranks, their intervals, and the lines to type".to_owned()];
        let bottom: Vec<String> = skipped
            .into_iter()
            .chain(self.elsewhere(&left.into_iter().chain(tables).collect::<Vec<_>>()))
            .collect();
        let room = most.saturating_sub(lines.len() + bottom.len());
        let each = (room / matrix.works.len().max(1)).max(1);
        let mut works = Vec::new();
        for work in &matrix.works {
            let mut work_lines =
                self.prose(&printable(&work.statement()), 2, each.min(2), AnsiStyle::strong);
            let places = work.places.iter().map(|place| place_line(work, place));
            work_lines.extend(places.flat_map(|place| self.prose(&place, 4, 1, AnsiStyle::faint)));
            work_lines.truncate(each);
            works.extend(work_lines);
        }
        // Works without a line are counted and named.
        if works.len() > room {
            works.truncate(room.saturating_sub(1));
            works.push(format!("{} of {} works are shown.", works.len(), matrix.works.len()));
        }
        lines.extend(works);
        lines.extend(bottom);
        lines
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

    /// Data at risk and failures, and the number of failures without room.
    fn faults(&self, caps: &LineLimits) -> (Vec<String>, usize) {
        let record = self.record;
        let mut lines = Vec::new();
        for finding in record.findings.iter().filter(|finding| finding.id == NOT_RESTORED) {
            lines.extend(self.prose(
                &printable(&finding.statement),
                2,
                caps.not_restored,
                AnsiStyle::alarm,
            ));
        }
        let faults = self.fault_findings();
        for finding in faults.iter().take(caps.faults) {
            let style = of_severity(finding.severity);
            lines.extend(self.prose(&printable(&finding.statement), 2, caps.fault, style));
        }
        (lines, faults.len().saturating_sub(caps.faults))
    }

    /// Failures that are not in the verdict.
    fn fault_findings(&self) -> Vec<&'s Finding> {
        let verdict = self.verdict();
        let is_in_verdict =
            |finding: &Finding| verdict.is_some_and(|verdict| findings::repeats(verdict, finding));
        let is_fault = |finding: &&Finding| {
            let is_own = finding.severity == Severity::Failure && finding.id != NOT_RESTORED;
            (is_own || finding.id == "standstill")
                && !findings::is_verdict(finding)
                && !is_in_verdict(finding)
        };
        self.record.findings.iter().filter(is_fault).collect()
    }

    fn judged(&self) -> LevelsByUse {
        let (uses, reasoned) = self.uses();
        let is_overstated = findings::is_overstated(&self.record.findings);
        let verdict = self.verdict();
        let severity = verdict.map_or(Severity::Info, |verdict| verdict.severity);
        let sentence = verdict.map(|it| if uses.is_empty() { &it.statement } else { &reasoned });
        let verdict =
            sentence.map(|sentence| printable(sentence)).filter(|sentence| !sentence.is_empty());
        let is_praise = severity == Severity::Info && !is_overstated;
        LevelsByUse { uses, verdict, severity, is_praise }
    }

    /// Results of the claims that did not fail; the others are among the faults.
    fn claims(&self, caps: &LineLimits) -> Vec<String> {
        let claims = self.claims_not_failed().take(CLAIMS);
        claims
            .flat_map(|claim| {
                let style = of_severity(claim.severity);
                self.prose(&printable(&claim.statement), 2, caps.fault, style)
            })
            .collect()
    }

    fn claims_not_failed(&self) -> impl Iterator<Item = &Finding> {
        let findings = self.record.findings.iter();
        findings.filter(|it| it.id == "claim" && it.severity != Severity::Failure)
    }

    /// Levels of the medium by use, at most three sentences, and the verdict beside them. Each use
    /// is in only one of the two.
    fn uses(&self) -> (Vec<String>, String) {
        let record = self.record;
        let is_fault = |finding: &Finding| {
            finding.severity == Severity::Failure
                && !findings::is_verdict(finding)
                && !finding.id.ends_with("claim")
        };
        let is_refused =
            self.verdict().is_some_and(|verdict| verdict.severity == Severity::Failure);
        let statement =
            || self.verdict().map(|verdict| verdict.statement.clone()).unwrap_or_default();
        if record.cells.is_empty() {
            return (Vec::new(), statement());
        }
        if is_refused && record.findings.iter().any(is_fault) {
            return (vec![NO_USE.to_owned()], statement());
        }
        let (beside, reasoned) = self.verdict().map(findings::beside_levels).unwrap_or_default();
        let mut all = use_levels(record);
        all.retain(|one| !reasoned.contains(&one.level));
        // Conditions are shown if there is room; caveats about few samples are dropped first.
        let whole = levels(&all, Notes::All);
        let has_room = self.of_uses(&whole).len() <= 3;
        (if has_room { whole } else { levels(&all, Notes::Conditions) }, beside)
    }

    fn of_uses(&self, uses: &[String]) -> Vec<String> {
        let plain = |_: &AnsiStyle, line: &str| line.to_owned();
        let laid = |sentence: &String| match sentence.as_str() {
            NO_USE => self.prose(sentence, 2, 1, AnsiStyle::alarm),
            _ => self.prose(sentence, 2, 3, plain),
        };
        uses.iter().flat_map(laid).collect()
    }

    /// Width of a label: larger on a wider terminal.
    fn label(&self) -> usize {
        let times = if self.has_times || self.width < ROW { 0 } else { TIMES };
        LABEL + times + self.width.saturating_sub(ROW).min(WIDEST - LABEL)
    }

    /// Width of a label with its figure.
    fn figure(&self) -> usize {
        FIGURE - LABEL + self.label()
    }

    fn heads(&self) -> Vec<String> {
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

    /// The four main figures, and the names of those that were not in the plan.
    fn four(&self) -> (Vec<Row<'_>>, Vec<String>) {
        let rows = headline::four_figures(self.record);
        let is_unplanned = |row: &HeadlineRow<'_>| {
            row.cell.is_none()
                && matches!(&row.shown, Shown::Withheld(why) if why == caveats::NOT_PLANNED)
        };
        let (unplanned, planned): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_unplanned);
        let names = unplanned.into_iter().map(|row| {
            // "Random read, 4 KiB" is an element of a list.
            row.label.to_lowercase().replace("kib", "KiB").replace(", ", " ")
        });
        // The common reason for all of them is shown once, by the state of the run or the left-out
        // tests.
        let why = |row: &HeadlineRow<'_>| match &row.shown {
            Shown::Withheld(why) if row.cell.is_none() => Some(why.clone()),
            _ => None,
        };
        if self.record.cells.is_empty() && self.record.plan.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let first = planned.first().and_then(why);
        let is_explained = caveats::state(self.record).is_some() || !self.record.skipped.is_empty();
        let is_one = is_explained && first.is_some() && planned.iter().all(|row| why(row) == first);
        let rows = planned.iter().filter(|_| !is_one).map(|row| self.of_headline(row));
        (rows.collect(), names.collect())
    }

    /// Other measured figures: random writes of other sizes, fills, then the main figure of every
    /// other test.
    fn others<'r>(&'r self, shown: &[Row<'_>]) -> Vec<Row<'r>> {
        let is_shown = |cell: &Cell| {
            shown.iter().any(|row| row.cell.is_some_and(|other| std::ptr::eq(other, cell)))
        };
        let longest = findings::longest_write(self.record);
        // If its line is shown, its latency is already in a column.
        let longest = longest.filter(|longest| !is_shown(longest.cell));
        let rows = headline::rows(self.record);
        let measured = rows.iter().filter(|row| row.cell.is_some_and(|cell| !is_shown(cell)));
        let mut others: Vec<Row<'r>> =
            longest.iter().map(|longest| self.of_longest(longest)).collect();
        others.extend(measured.map(|row| self.of_headline(row)));
        let is_row = |cell: &Cell| {
            is_shown(cell)
                || rows.iter().any(|row| row.cell.is_some_and(|it| std::ptr::eq(it, cell)))
        };
        for cell in &self.record.cells {
            let is_headline = headline::TESTS.contains(&cell.test.as_str());
            // Other block sizes of an import are shown nowhere else.
            if is_row(cell) || is_headline && !figure::is_imported(cell) {
                continue;
            }
            let Some(primary) = figure::primary(cell) else { continue };
            if matches!(&primary.shown, Shown::Withheld(why) if !why.starts_with("impossible")) {
                continue;
            }
            let label = words::whole_label(&cell.test, &cell.params);
            others.push(self.row(&label, &primary.shown, Some(cell)));
        }
        others
    }

    /// The longest single write among all that are part of real work.
    fn of_longest<'r>(&self, longest: &LongestWrite<'_>) -> Row<'r> {
        let shown = Shown::Number {
            value: longest.ns as f64,
            text: words::stall(longest.ns as f64),
            interval: "maximum".to_owned(),
            n: longest.n,
        };
        self.row("Slowest small write", &shown, None)
    }

    fn of_headline<'r>(&self, row: &HeadlineRow<'r>) -> Row<'r> {
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

    fn row<'r>(&self, full: &str, shown: &Shown, cell: Option<&'r Cell>) -> Row<'r> {
        let texts = RowTexts::of(full, shown, cell);
        let lines = match &texts.figure {
            Err(why) => self.withheld(&short(full, self.label()), why),
            Ok(figure) => self.of_figure(full, figure, cell),
        };
        Row { lines, cell, texts }
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
        let counted = spread(words::without_unit(interval, text), &n.to_string(), COUNT);
        let [p99, slowest] = [p99, slowest].map(|text| text.as_deref().unwrap_or("-"));
        let times = self.times(p99, slowest);
        let row = format!("{label}{gap}{figure}  {}", joined_columns(counted, times, COUNT));
        above.into_iter().chain([row]).collect()
    }

    /// Explanation of "one run", if a row is marked so.
    fn legend(&self, rows: &[Row<'_>]) -> Vec<String> {
        if !rows.iter().any(|row| row.texts.is_single) {
            return Vec::new();
        }
        self.prose(figure::ONE_RUN_MEANS, 2, 2, AnsiStyle::faint)
    }

    /// A row with the reason why its number is missing.
    fn withheld(&self, label: &str, why: &str) -> Vec<String> {
        let style = if why.starts_with("impossible") { AnsiStyle::alarm } else { AnsiStyle::faint };
        if self.width < ROW {
            let why = cut(why, self.width - 4, 0, 2);
            let below = why.iter().map(|line| format!("    {}", style(&self.style, line)));
            return std::iter::once(spread(label, "-", self.figure())).chain(below).collect();
        }
        let why = cut(why, self.width - self.figure() - 2, 0, 1).join(" ");
        vec![format!("{}  {}", spread(label, "-", self.figure()), style(&self.style, &why))]
    }

    /// The most important caveats, a line each, and the number of the others: withheld figures and
    /// failures first, then caveats about the shown rows.
    fn caveats(&self, rows: &[Row<'_>], most: usize) -> (Vec<String>, usize) {
        let of_row = |caveat: &RecordCaveat| {
            let mut cells = rows.iter().filter_map(|row| row.cell);
            cells.any(|cell| caveat.cells.contains(&cell.id))
        };
        let mut ranked = caveats::of_record(self.record);
        ranked.sort_by_key(|caveat| match caveat {
            caveat if caveat.severe => 0,
            caveat if caveat.about.is_empty() => 1,
            caveat if of_row(caveat) => 2,
            _ => 3,
        });
        let lines = ranked.iter().take(most).flat_map(|caveat| {
            // The usual regions are left out.
            let about = caveat.about.replace(", middle", "").replace(", in a file", "");
            let name =
                if about.is_empty() { "Caveat".to_owned() } else { format!("Caveat: {about}") };
            let style = if caveat.severe { AnsiStyle::alarm } else { AnsiStyle::warn };
            let laid = wrap::cut_after(&name, &caveat.text, self.width, self.most(1));
            self.styled(&laid, 2, style)
        });
        (lines.collect(), ranked.len().saturating_sub(most))
    }

    /// Left-out tests, with reasons if there is room. A test with other measured cells was left out
    /// in part.
    fn skipped(&self, unplanned: &[String], most: usize) -> Vec<String> {
        let plain = |_: &AnsiStyle, line: &str| line.to_owned();
        let is_known = |test: &str| self.record.cells_of(test).next().is_some();
        let named = |tests: &[&str]| {
            let (parts, whole): (Vec<&str>, Vec<&str>) =
                tests.iter().copied().partition(|test| is_known(test));
            let parts = (!parts.is_empty()).then(|| format!("parts of {}", parts.join(", ")));
            let whole = (!whole.is_empty()).then(|| whole.join(", "));
            whole.into_iter().chain(parts).collect::<Vec<_>>().join(", ")
        };
        let unplanned = Some(unplanned.join(", ")).filter(|names| !names.is_empty());
        let reasons = caveats::skipped(self.record);
        let full = reasons.iter().map(|(reason, tests)| {
            format!("{} ({reason})", named(&tests.split(", ").collect::<Vec<_>>()))
        });
        let full: Vec<String> = unplanned.iter().cloned().chain(full).collect();
        if full.is_empty() {
            return Vec::new();
        }
        let whole = format!("Not run: {}", full.join("; "));
        let scaled = if self.width < WIDTH { most * WIDTH / self.width } else { most };
        if wrap::wrapped(&whole, self.width - 2).len() <= scaled {
            return self.prose(&whole, 2, most, plain);
        }
        // The reason for most left-out tests comes first.
        let mut by_number: Vec<&(String, String)> = reasons.iter().collect();
        by_number.sort_by_key(|(_, tests)| std::cmp::Reverse(tests.split(", ").count()));
        let mut tests: Vec<&str> = Vec::new();
        for test in by_number.iter().flat_map(|(_, tests)| tests.split(", ")) {
            if !tests.contains(&test) {
                tests.push(test);
            }
        }
        let names: Vec<String> = unplanned.into_iter().chain([named(&tests)]).collect();
        self.prose(&format!("Not run (why: --details): {}", names.join(", ")), 2, most, plain)
    }

    fn cells_left(&self, shown: usize) -> String {
        let all = self.record.cells.len();
        match all.saturating_sub(shown) {
            0 => String::new(),
            left => format!("{left} of {all} cells"),
        }
    }

    fn findings_left(&self) -> usize {
        let is_shown = |finding: &&Finding| {
            findings::is_verdict(finding)
                || finding.severity == Severity::Failure
                || finding.id == "standstill"
        };
        let shown = self.record.findings.iter().filter(is_shown).count()
            + self.claims_not_failed().take(CLAIMS).count();
        self.record.findings.len() - shown
    }

    /// Parts that are not on the screen, and where to find them.
    fn elsewhere(&self, left: &[String]) -> Vec<String> {
        let left: Vec<&str> =
            left.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let mut lines = Vec::new();
        if !left.is_empty() {
            lines.extend(self.prose(
                &format!("Not shown: {}.", left.join(", ")),
                2,
                2,
                AnsiStyle::faint,
            ));
        }
        lines.extend(self.next.lines().map(str::to_owned));
        let run = Some(self.rest.run).filter(|run| !run.is_empty()).unwrap_or("latest");
        let command = format!("flashmark show {run} --details");
        let files = self.rest.files.iter().map(|(what, path)| (*what, path.clone()));
        let all: Vec<(&str, String)> = std::iter::once((DETAILS, command)).chain(files).collect();
        let longest = all.iter().map(|(what, _)| what.len()).max().unwrap_or_default() + 2;
        let line = |(what, text): &(&str, String)| {
            format!("{what:longest$}{}", display::unbroken_where(text, self.width - longest))
        };
        lines.extend(all.iter().map(line));
        lines
    }
}

/// A sentence for each level, with the uses that have it.
fn levels(all: &[UseLevel], notes: Notes) -> Vec<String> {
    let mut kinds: Vec<String> = [
        ("Good for", Fitness::Good),
        ("Usable for", Fitness::Usable),
        ("Poor for", Fitness::Poor),
        ("Not suitable for", Fitness::NotSuitable),
        ("Cannot be told here:", Fitness::CannotTell),
        ("Not tested:", Fitness::NotTested),
    ]
    .into_iter()
    .filter_map(|(lead, level)| {
        let of_level = all.iter().filter(|one| one.level == level);
        let names: Vec<String> = of_level.map(|one| named(one, notes)).collect();
        (!names.is_empty()).then(|| format!("{lead} {}.", names.join(", ")))
    })
    .collect();
    if kinds.len() > 3 {
        let last = kinds.split_off(2).join(" ");
        kinds.push(last);
    }
    kinds
}

/// Notes beside the level of a use.
#[derive(Clone, Copy, PartialEq)]
enum Notes {
    All,
    Conditions,
}

/// A use in a few words: "video (100 Mbit/s)", "database (if its flush is honest)".
fn named(one: &UseLevel, notes: Notes) -> String {
    let name = match one.wanted {
        Use::RootDisk => "root disk".to_owned(),
        Use::Camera => "camera".to_owned(),
        Use::Video { .. } if one.level == Fitness::NotTested => "video".to_owned(),
        Use::Video { mbit } => format!("video at {mbit} Mbit/s"),
        Use::Logger => "data logger".to_owned(),
        Use::Database => "database".to_owned(),
    };
    let condition = one.condition.map(|condition| condition.short().to_owned());
    let few = one.few_samples.clone().filter(|_| notes == Notes::All);
    let notes: Vec<String> = condition.into_iter().chain(few).collect();
    if notes.is_empty() { name } else { format!("{name} ({})", notes.join(", ")) }
}

/// One combination of a work with its result: "ext4 (noatime), bfq: 0.52 of the best".
fn place_line(
    work: &findings::matrix::WorkPlaces,
    place: &findings::matrix::CombinationResult,
) -> String {
    let unit = if work.larger_is_better { "a second" } else { "seconds" };
    format!(
        "{}: {} {unit}, {} times the best, n {}",
        printable(&place.combination.words()),
        record::units::significant(place.centre),
        record::units::significant(place.relative),
        place.figures.len()
    )
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
