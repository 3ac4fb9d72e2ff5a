//! Reports for a terminal.

mod explained;
pub mod glossary;
mod matrix;
mod screen;
mod wrap;

use record::text::{capitalised, printable};
use record::{Answer, Cell, Finding, Record, Severity};

use crate::CellNames;
use crate::figure::{self, PrintedFigure, Shown};
use crate::tables::{self, Table, TableColumn, TableRow};
use crate::{caveats, display, headline, words};

pub use explained::explained;
pub use screen::{DetailsLocation, Tone, answers, check, one_screen, summary};
pub(crate) use screen::{RowTexts, ScreenContent, content};
pub use wrap::fold;
use wrap::joined;
pub(crate) use wrap::wrapped;

/// Everything about a run: the medium, a few plain sentences, the headline, every other test, then
/// caveats and left-out tests. Lines are at most `width` columns wide; `colour` adds only ANSI
/// colours. `run` is the name of the run for `flashmark show`, which may differ from the id in its
/// record.
pub fn details(record: &Record, run: &str, width: usize, colour: bool) -> String {
    let width = width.max(MIN_WIDTH);
    if let Some(found) = findings::matrix::of(record) {
        return self::matrix::details(record, &found, width);
    }
    let mut out = Page { text: String::new(), width, style: AnsiStyle(colour) };
    out.opening(record);
    out.headline(record);
    out.findings(record, run);
    out.other_tests(record);
    out.legend(record);
    out.caveats(record);
    out.skipped(record);
    out.text
}

/// Next steps for the user, a line or two for each; lines of at most `width` columns, except for
/// longer commands. Empty if there is nothing to do.
pub fn next_steps(record: &Record, width: usize) -> String {
    let mut out =
        Page { text: String::new(), width: width.max(MIN_WIDTH), style: AnsiStyle(false) };
    for step in findings::next_steps(record) {
        out.prose(&next_step(&step), 2, |_, text| text.to_owned());
    }
    out.text
}

/// "Next: More samples: flashmark check /dev/sdb"; its command is not broken.
fn next_step(step: &findings::NextStep) -> String {
    let typed: Vec<String> = step.command.iter().map(|word| display::shell_word(word)).collect();
    match typed.is_empty() {
        true => format!("Next: {}", step.words),
        false => format!("Next: {}: {}", step.words, display::unbroken(&typed.join(" "))),
    }
}

/// Every finding with its evidence, its confidence, and its meaning; lines of at most `width`
/// columns.
pub fn findings(record: &Record, width: usize) -> String {
    let mut out =
        Page { text: String::new(), width: width.max(MIN_WIDTH), style: AnsiStyle(false) };
    out.prose(&words::medium_line(record), 2, |_, text| text.to_owned());
    if record.findings.is_empty() {
        out.line("\nNothing can be concluded from what was measured.");
    }
    for finding in &record.findings {
        out.line("");
        out.prose(
            &format!("[{}] {}", words::severity(finding.severity), printable(&finding.statement)),
            2,
            |_, text| text.to_owned(),
        );
        for line in &finding.evidence {
            let line = printable(&findings::evidence_text(line, record));
            out.indented(&line, [4, 6], |_, text| text.to_owned());
        }
        let confidence =
            words::confidence(finding).map(|text| format!("{text}; ")).unwrap_or_default();
        let page = findings::about(&finding.id)
            .map(|_| {
                let command = display::unbroken(&format!("flashmark explain {}", finding.id));
                format!("what it means: {command}")
            })
            .unwrap_or_default();
        out.indented(&format!("{confidence}{page}"), [4, 6], |_, text| text.to_owned());
    }
    out.text
}

/// Every cell with every metric, one table for each test, footnotes below; lines of at most `width`
/// columns.
pub fn table(record: &Record, width: usize) -> String {
    let width = width.max(MIN_WIDTH);
    let mut text = paragraph(&words::medium_line(record), width);
    for (test, table) in tables::all(record) {
        text.push_str(&format!("\n{test}\n{}", plain(&table, width)));
    }
    if record.cells.is_empty() {
        text.push_str("\nNothing measured yet.\n");
    }
    text
}

/// A table in aligned columns with its footnotes, if it fits. Else its first column gets lines of
/// its own, or each row becomes a sentence.
pub(crate) fn plain(table: &Table, width: usize) -> String {
    let is_narrow = |text: &String| text.lines().all(|line| display::width(line) <= width);
    let mut text = Some(aligned(table))
        .filter(is_narrow)
        .or_else(|| Some(stacked(table)).filter(is_narrow))
        .unwrap_or_else(|| in_words(table, width));
    for (at, note) in table.notes.iter().enumerate() {
        let lead = format!("  [{}] ", at + 1);
        let indent = display::width(&lead);
        for (at, line) in wrapped(note, width - indent).iter().enumerate() {
            let lead = if at == 0 { lead.clone() } else { " ".repeat(indent) };
            text.push_str(&format!("{lead}{line}\n"));
        }
    }
    text
}

fn notes(row: &TableRow) -> String {
    row.notes.iter().map(|n| format!("[{n}]")).collect()
}

fn aligned(table: &Table) -> String {
    let rows = table.rows.iter().map(|row| [row.cells.clone(), vec![notes(row)]].concat());
    grid(&table.columns, rows.collect())
}

fn grid(columns: &[TableColumn], rows: Vec<Vec<String>>) -> String {
    let heads = columns.iter().map(|column| column.name.to_string()).chain([String::new()]);
    let lines: Vec<Vec<String>> = [vec![heads.collect()], rows].concat();
    let cells = |at: usize| lines.iter().filter_map(move |line| line.get(at));
    let width_of = |at| cells(at).map(|cell| display::width(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=columns.len()).map(width_of).collect();
    let mut text = String::new();
    for line in &lines {
        let start = text.len();
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let blanks = " ".repeat(width - display::width(cell));
            let is_number = columns.get(at).is_some_and(|column| column.numeric);
            let (before, after) =
                if is_number { (blanks.as_str(), "") } else { ("", blanks.as_str()) };
            text += &format!(" {before}{cell}{after} ");
        }
        text.truncate(start + text[start..].trim_end().len());
        text.push('\n');
    }
    text
}

/// The first column on lines of its own, the others below it.
fn stacked(table: &Table) -> String {
    let rest = table.columns.get(1..).unwrap_or_default();
    let rows = table
        .rows
        .iter()
        .map(|row| [row.cells.get(1..).unwrap_or_default().to_vec(), vec![notes(row)]].concat());
    let grid = grid(rest, rows.collect());
    let mut lines = grid.lines();
    let mut text = lines.next().map(|heads| format!(" {heads}\n")).unwrap_or_default();
    for (row, line) in table.rows.iter().zip(lines) {
        if let Some(first) = row.cells.first().filter(|first| !first.is_empty()) {
            text.push_str(&format!(" {first}\n"));
        }
        text.push_str(&format!(" {line}\n"));
    }
    text
}

/// Each row in words, each figure with the name of its column.
fn in_words(table: &Table, width: usize) -> String {
    let mut text = String::new();
    for row in &table.rows {
        let mut cells = row.cells.iter().zip(&table.columns);
        let first = cells.next().map(|(text, _)| text.clone()).unwrap_or_default();
        for line in wrapped(&first, width - 1).iter().filter(|line| !line.is_empty()) {
            text.push_str(&format!(" {line}\n"));
        }
        let texts = cells.filter(|(text, _)| !text.is_empty()).map(|(text, column)| {
            let name = column.name.to_lowercase();
            if column.numeric || column.name.contains('%') {
                format!("{name} {text}")
            } else {
                text.clone()
            }
        });
        let notes = Some(notes(row)).filter(|notes| !notes.is_empty());
        let parts: Vec<String> = texts.chain(notes).collect();
        for line in joined(&parts, width - 3) {
            text.push_str(&format!("   {line}\n"));
        }
    }
    text
}

/// Finding that compares the claims on the label with the figures.
const CLAIM: &str = "claim";

fn claim_answer(finding: &Finding) -> Answer {
    match finding.severity {
        Severity::Failure => Answer::No,
        Severity::Warning => Answer::Inconclusive,
        Severity::Info => Answer::Yes,
    }
}

/// Finding about data that was not restored; it comes before the verdict.
pub const NOT_RESTORED: &str = "not-put-back";
/// Column in which the answers of a check begin.
const ANSWER: usize = 13;
/// Least width of any output, in columns.
const MIN_WIDTH: usize = 40;
/// Columns of the headline: label and figure, two blanks, interval and n, two blanks, stop,
/// slowest: 80 in all. On a narrower terminal, the parts after the figure are below it.
const LABEL: usize = 23;
const FIGURE: usize = LABEL + 11;
const INTERVAL: usize = 16;
const COUNT: usize = INTERVAL + 7;
const STOP: usize = 11;
const SLOWEST: usize = 8;
/// Width of a whole row of the headline.
const ROW: usize = FIGURE + 2 + COUNT + 2 + STOP + SLOWEST;

/// ANSI colours, or none.
struct AnsiStyle(bool);

impl AnsiStyle {
    fn paint(&self, code: &str, text: &str) -> String {
        if self.0 && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
    fn strong(&self, text: &str) -> String {
        self.paint("1", text)
    }
    fn faint(&self, text: &str) -> String {
        self.paint("2", text)
    }
    fn warn(&self, text: &str) -> String {
        self.paint("33", text)
    }
    fn alarm(&self, text: &str) -> String {
        self.paint("31", text)
    }
}

/// The text under construction.
struct Page {
    text: String,
    width: usize,
    style: AnsiStyle,
}

impl Page {
    fn line(&mut self, line: &str) {
        let line = line.trim_end();
        // Only a line that is too wide needs parts that stay together.
        match display::width(line) <= self.width {
            true => self.text.push_str(&line.replace('\u{a0}', " ")),
            false => self.text.push_str(line),
        }
        self.text.push('\n');
    }

    /// Text broken at the width; lines after the first are indented.
    fn prose(&mut self, text: &str, indent: usize, style: impl Fn(&AnsiStyle, &str) -> String) {
        self.indented(text, [0, indent], style);
    }

    /// Adds wrapped text with the first line indented too, by no more than the others.
    fn indented(
        &mut self,
        text: &str,
        [first, indent]: [usize; 2],
        style: impl Fn(&AnsiStyle, &str) -> String,
    ) {
        for (at, line) in wrapped(text, self.width - indent).iter().enumerate() {
            let pad = if at == 0 { first } else { indent };
            let styled = style(&self.style, line);
            self.line(&format!("{:pad$}{styled}", ""));
        }
    }

    /// The medium, how the run went, and the three answers with their whole reasons.
    fn opening(&mut self, record: &Record) {
        self.prose(&words::medium_line(record), 2, AnsiStyle::strong);
        for finding in record.findings.iter().filter(|finding| finding.id == NOT_RESTORED) {
            self.statement(finding, "");
        }
        let label = record.run.label.as_deref().map(printable).filter(|label| !label.is_empty());
        let facts: Vec<String> = label.into_iter().chain(caveats::run_facts(record)).collect();
        if !facts.is_empty() {
            self.prose(&facts.join(", "), 2, AnsiStyle::faint);
        }
        self.line("");
        if let Some(state) = caveats::state(record) {
            self.prose(&state, 0, AnsiStyle::warn);
        }
        if record.cells.is_empty() {
            return;
        }
        let summary = record.summary.clone().unwrap_or_default();
        self.answer("Genuine?", summary.genuine, &summary.genuine_reason);
        self.answer("Fit?", summary.fit, &summary.fit_reason);
        self.answer("Healthy?", summary.healthy, &summary.healthy_reason);
        for finding in record.findings.iter().filter(|finding| finding.id == CLAIM) {
            self.answer("As claimed?", claim_answer(finding), &finding.statement);
        }
        let is_told = |finding: &Finding| {
            let reasons = [&summary.genuine_reason, &summary.fit_reason, &summary.healthy_reason];
            findings::is_verdict(finding)
                || [CLAIM, NOT_RESTORED].contains(&finding.id.as_str())
                || reasons.contains(&&finding.statement)
        };
        for finding in record.findings.iter().filter(|it| it.severity == Severity::Failure) {
            if !is_told(finding) {
                self.statement(finding, "");
            }
        }
    }

    /// "Genuine?     yes. Its capacity is real: ...".
    fn answer(&mut self, question: &str, answer: Answer, because: &str) {
        let style = match answer {
            Answer::Yes | Answer::NoSign => AnsiStyle::strong,
            Answer::No => AnsiStyle::alarm,
            Answer::Partly | Answer::Inconclusive | Answer::NotTested => AnsiStyle::warn,
        };
        let word = answer.words();
        let joint = if because.is_empty() { "" } else { ":" };
        let text = format!("{question:ANSWER$}{word}{joint} {}", printable(because));
        let lead = format!("{question:ANSWER$}{word}");
        let painted = format!("{question:ANSWER$}{}", style(&self.style, word));
        for (at, line) in wrapped_after(&text, ANSWER, self.width).iter().enumerate() {
            match line.strip_prefix(&lead).filter(|_| at == 0) {
                Some(rest) => self.line(&format!("{painted}{rest}")),
                None => self.line(line),
            }
        }
    }

    fn statement(&mut self, finding: &Finding, lead: &str) {
        let style = match finding.severity {
            Severity::Info => AnsiStyle::strong,
            Severity::Warning => AnsiStyle::warn,
            Severity::Failure => AnsiStyle::alarm,
        };
        self.prose(&format!("{lead}{}", printable(&finding.statement)), 2, style);
    }

    /// Levels of the uses and the main warnings; the rest is counted.
    fn findings(&mut self, record: &Record, run: &str) {
        let loud = |finding: &&Finding| match finding.severity {
            Severity::Failure => false,
            // Impossible figures are among the caveats.
            Severity::Warning => {
                !["verdict", "impossible", NOT_RESTORED].contains(&finding.id.as_str())
            }
            Severity::Info => finding.id != "verdict" && findings::is_verdict(finding),
        };
        let shown: Vec<&Finding> = record.findings.iter().filter(loud).collect();
        let others = record
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Info && !findings::is_verdict(finding))
            .count();
        if shown.is_empty() && others == 0 {
            return;
        }
        self.section("Findings");
        for finding in shown {
            self.statement(finding, "- ");
        }
        let more = if others == 0 {
            "evidence".to_owned()
        } else {
            format!("{} more, and the evidence", others)
        };
        let command = format!("flashmark show {} --findings", printable(run));
        let command = display::unbroken(&command);
        self.indented(&format!("{more}: {command}"), [2, 2], AnsiStyle::faint);
    }

    fn headline(&mut self, record: &Record) {
        if record.cells.is_empty() && record.plan.is_empty() {
            return;
        }
        self.heads();
        for row in headline::rows(record) {
            self.row(&row.label, &row.shown, row.stop(), &row.worst());
        }
    }

    /// Explanation of "one run", if a figure was marked so.
    fn legend(&mut self, record: &Record) {
        let is_single = |cell: &Cell| figure::primary(cell).is_some_and(|it| it.shown.is_single());
        if record.cells.iter().any(is_single) {
            self.line("");
            self.prose(figure::ONE_RUN_MEANS, 2, AnsiStyle::faint);
        }
    }

    fn heads(&mut self) {
        self.line("");
        if self.width < ROW {
            return;
        }
        let heads = format!(
            "{}  {}  {:STOP$}{:>SLOWEST$}",
            spread("", "figure", FIGURE),
            spread("95 % interval", "n", COUNT),
            "stop",
            "slowest"
        );
        let heads = self.style.faint(&heads);
        self.line(&heads);
    }

    fn row(&mut self, label: &str, shown: &Shown, stop: &str, worst: &str) {
        let label = short(label, LABEL);
        match shown.printed() {
            Ok(PrintedFigure { text, interval, n }) => {
                let gap = " "
                    .repeat(FIGURE.saturating_sub(display::width(&label) + display::width(text)));
                let figure = self.style.strong(text);
                if self.width < ROW {
                    self.line(&format!("{label}{gap}{figure}"));
                    let parts = [interval.to_owned(), format!("n {n}"), stop.to_owned()];
                    let slowest = (worst != "-").then(|| format!("slowest {worst}"));
                    let parts: Vec<String> = parts.into_iter().chain(slowest).collect();
                    return self.below(&parts);
                }
                let counted =
                    spread(record::units::without_unit(interval, text), &n.to_string(), COUNT);
                let rest = format!("  {stop:STOP$}{worst:>SLOWEST$}");
                self.line(&format!(
                    "{label}{gap}{figure}  {}",
                    joined_columns(counted, rest, COUNT)
                ));
            }
            Err(why) if self.width < ROW => {
                self.line(&spread(&label, "-", FIGURE));
                self.below(&[why.to_owned()]);
            }
            Err(why) => {
                let style = if shown.is_impossible() { AnsiStyle::alarm } else { AnsiStyle::faint };
                for (at, line) in wrapped(why, self.width - FIGURE - 2).iter().enumerate() {
                    let start =
                        if at == 0 { spread(&label, "-", FIGURE) } else { " ".repeat(FIGURE) };
                    let why = style(&self.style, line);
                    self.line(&format!("{start}  {why}"));
                }
            }
        }
    }

    /// Parts of the row above that did not fit there.
    fn below(&mut self, parts: &[String]) {
        for line in joined(parts, self.width - 4) {
            let line = self.style.faint(&line);
            self.line(&format!("    {line}"));
        }
    }

    /// Tests outside the headline, one row for each cell with its main figure.
    fn other_tests(&mut self, record: &Record) {
        let mut last = "";
        let names = names(record);
        for cell in record.cells.iter().filter(|cell| is_other(cell)) {
            if last != cell.test {
                let name = capitalised(&words::test(&cell.test));
                self.line("");
                let name = self.style.faint(&name);
                self.line(&name);
                last = &cell.test;
            }
            let Some(primary) = figure::primary(cell) else { continue };
            let what = match names
                .get(&cell.id)
                .and_then(|name| name.strip_prefix(&format!("{}: ", cell.test)))
            {
                Some(params) if !params.is_empty() => params.to_owned(),
                _ => words::metric(&primary.name),
            };
            // The distinguishing part of a name is often at its end.
            let is_long = display::width(&what) > LABEL - 3;
            if is_long {
                self.indented(&what, [2, 4], |_, text| text.to_owned());
            }
            let label = if is_long { String::new() } else { format!("  {what}") };
            let worst = figure::worst_ns(cell).map(words::stall).unwrap_or_else(|| "-".to_owned());
            self.row(&label, &primary.shown, words::stop_of(cell), &worst);
        }
    }

    fn caveats(&mut self, record: &Record) {
        let caveats = caveats::of_record(record);
        if caveats.is_empty() {
            return;
        }
        self.section("Caveats");
        for caveat in caveats {
            let about =
                if caveat.about.is_empty() { String::new() } else { format!("{}: ", caveat.about) };
            self.prose(
                &format!("- {about}{}", caveat.text),
                2,
                if caveat.severe { AnsiStyle::alarm } else { AnsiStyle::warn },
            );
        }
    }

    fn skipped(&mut self, record: &Record) {
        if record.skipped.is_empty() {
            return;
        }
        self.section("Not run");
        for (reason, tests) in caveats::skipped(record) {
            self.prose(&format!("- {}: {reason}", tests.join(", ")), 2, |_, text| text.to_owned());
        }
    }

    fn section(&mut self, name: &str) {
        let name = self.style.strong(name);
        self.line("");
        self.line(&name);
    }
}

/// True for a cell of a test outside the headline, or one of many imported ones.
fn is_other(cell: &Cell) -> bool {
    !headline::TESTS.contains(&cell.test.as_str()) || figure::is_imported(cell)
}

/// Names that distinguish cells of one test, after the test's name and a colon.
fn names(record: &Record) -> CellNames {
    let cells = record.cells.iter().filter(|cell| is_other(cell));
    CellNames::of(cells.map(|cell| {
        (&*cell.id, format!("{}: {}", cell.test, words::row(&cell.params)), &cell.params)
    }))
}

/// Wrapped text, with lines after the first indented.
pub(crate) fn paragraph(text: &str, width: usize) -> String {
    let mut out =
        Page { text: String::new(), width: width.max(MIN_WIDTH), style: AnsiStyle(false) };
    out.prose(text, 2, |_, text| text.to_owned());
    out.text
}

/// A name cut to this many columns; two dots mark the cut, as every terminal can show them.
pub(crate) fn short(text: &str, width: usize) -> String {
    if display::width(text) <= width {
        return text.to_owned();
    }
    let (kept, _) = display::split(text, width.saturating_sub(2));
    kept.trim_end_matches([' ', ',']).to_owned() + ".."
}

/// A text on the left and one on the right, with at least one blank between them.
fn spread(left: &str, right: &str, width: usize) -> String {
    let room = width.saturating_sub(display::width(left)).max(display::width(right) + 1);
    format!("{left}{}{right}", " ".repeat(room - display::width(right)))
}

/// A text of `width` columns and the rest of its row; if the text is wider, blanks of the rest are
/// removed.
fn joined_columns(text: String, mut rest: String, width: usize) -> String {
    for _ in width..display::width(&text) {
        if let Some(blanks) = rest.find("  ") {
            rest.remove(blanks);
        }
    }
    text + &rest
}

/// Text whose first `lead` columns hold a label: lines of at most `width` columns, with the others
/// indented as far.
fn wrapped_after(text: &str, lead: usize, width: usize) -> Vec<String> {
    let (label, rest) = display::split(text, lead);
    let lines = wrapped(rest, width.saturating_sub(lead).max(1));
    let lead_of = |at| if at == 0 { label.to_owned() } else { " ".repeat(lead) };
    lines.iter().enumerate().map(|(at, line)| lead_of(at) + line).collect()
}

#[cfg(test)]
mod tests;
