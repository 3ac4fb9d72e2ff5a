//! The first screen of a run: eight lines with what decides, and for a run of a suite the table of
//! its figures below. Parts that do not fit are counted, and their place is given at the end.

mod bottom;
mod brief_figures;
mod figures;
mod matrix;
mod view;

use record::Record;
use record::text::printable;

use self::figures::ScreenRow;
use self::view::Part;
use super::AnsiStyle;
use super::wrap::cut;
use crate::markup::plain;
use crate::{caveats, display, figure};

pub(crate) use self::figures::RowTexts;
pub use self::view::Tone;

/// Lines of the first screen.
const FIRST: usize = 8;
/// Lines for claims above a table of figures.
const CLAIMS: usize = 2;
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

/// The screen of a check: the medium, its suitable uses, whether it is genuine and healthy, its main
/// figures, and the next step; at most eight lines of 80 columns, and one for each claim.
pub fn check(record: &Record, width: usize, colour: bool, rest: &DetailsLocation<'_>) -> String {
    let screen = Screen::of(record, width.max(super::MIN_WIDTH), colour, rest);
    let mut parts = view::opening(record);
    // The table of its article has the figures of a suite "seeds:004".
    if !record.run.suite.starts_with("seeds:") {
        parts.push(view::figures(record));
    }
    parts.extend(view::caution(record));
    parts.extend(view::next(record));
    let most = screen.most(FIRST + view::claims(record).count());
    let lines = screen.laid(parts, most - 1).into_iter().chain(screen.all_of_it());
    ended(lines)
}

/// The answers on the first screen, each whole: its uses, whether it is genuine, the claims, its
/// health.
pub fn answers(record: &Record) -> Vec<(Tone, String)> {
    let whole = |part: Part| Some((part.tone, plain(part.texts.first()?)));
    view::answers(record).into_iter().filter_map(whole).collect()
}

/// Screen at the end of a run: the answers of a check, the table of its figures, and where the
/// details are; at most 24 lines of 80 columns.
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
    let screen = Screen::of(record, width, colour, rest);
    // A path is not broken, but may take several rows of the terminal.
    let rows = |line: &String| display::width(line).div_ceil(width).saturating_sub(1);
    let more: usize = screen.elsewhere(&[]).iter().map(rows).sum();
    ended(screen.of_record(screen.most(LINES).saturating_sub(more)).lines.into_iter())
}

fn ended(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Content of the screen of 80 columns, for forms without aligned columns.
pub(crate) fn content(record: &Record, rest: &DetailsLocation<'_>) -> ScreenContent {
    let screen = Screen::of(record, WIDTH, false, rest);
    ScreenContent {
        sentences: view::opening(record)
            .into_iter()
            .skip(1)
            .filter_map(|part| part.texts.into_iter().next())
            .collect(),
        rows: screen.of_record(LINES).rows,
        has_times: screen.has_times,
    }
}

/// Content of a screen as texts.
pub(crate) struct ScreenContent {
    /// The answers above the figures, in the order of the screen.
    pub sentences: Vec<String>,
    /// The table of figures.
    pub rows: Vec<RowTexts>,
    /// True if latencies of single I/Os are known.
    pub has_times: bool,
}

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

/// The lines of a screen, and its rows of figures.
struct ScreenLayout {
    lines: Vec<String>,
    rows: Vec<RowTexts>,
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

    fn of_record(&self, most: usize) -> ScreenLayout {
        match findings::matrix::of(self.record) {
            Some(matrix) => ScreenLayout { lines: self.of_matrix(&matrix, most), rows: Vec::new() },
            None => self.of_run(most),
        }
    }

    /// The parts in at most `most` lines: those of the smallest rank give up a line first.
    fn laid(&self, mut parts: Vec<Part>, most: usize) -> Vec<String> {
        let mut laid: Vec<Vec<String>> = parts.iter().map(|part| self.lines_of(part)).collect();
        while laid.iter().map(Vec::len).sum::<usize>() > most {
            let gives = |(_, (part, lines)): &(usize, (&Part, &Vec<String>))| {
                lines.len() > 1 && part.lines > 1 || part.may_go
            };
            let all = parts.iter().zip(&laid).enumerate();
            let Some((at, _)) = all.filter(gives).min_by_key(|(_, (part, _))| part.rank) else {
                break;
            };
            if laid[at].len() > 1 && parts[at].lines > 1 {
                parts[at].lines -= 1;
                laid[at] = self.lines_of(&parts[at]);
            } else {
                parts.remove(at);
                laid.remove(at);
            }
        }
        laid.concat()
    }

    /// The longest of its texts that fits its lines; if none does, the shortest, cut.
    fn lines_of(&self, part: &Part) -> Vec<String> {
        let most = self.most(part.lines);
        let laid = part.texts.iter().map(|text| cut(text, self.width, 2, usize::MAX));
        let fits = |lines: &Vec<String>| {
            lines.len() <= most && lines.iter().all(|line| display::width(line) <= self.width)
        };
        let mut laid = laid;
        let laid = laid.find(&fits).unwrap_or_else(|| {
            let shortest = part.texts.last().map(String::as_str).unwrap_or_default();
            let mut whole = sentences(shortest).map(|text| cut(&text, self.width, 2, usize::MAX));
            whole.find(&fits).unwrap_or_else(|| cut(shortest, self.width, 2, most))
        });
        self.styled(&laid, 2, |style, line| style.toned(part.tone, line))
    }

    /// "All of it: flashmark show RUN --details".
    fn all_of_it(&self) -> Vec<String> {
        let run = Some(self.rest.run).filter(|run| !run.is_empty()).unwrap_or("latest");
        let command = display::unbroken(&format!("flashmark show {run} --details"));
        cut(&format!("All of it: {command}"), self.width, 2, usize::MAX)
    }

    /// The lines of a run.
    fn of_run(&self, most: usize) -> ScreenLayout {
        let claims = view::claims(self.record).count();
        let mut top =
            self.laid(view::opening(self.record), self.most(FIRST - 1 + claims.min(CLAIMS)));
        top.extend(self.facts());
        let mut rows = self.four();
        let wanted = self.others(&rows);
        let of_rows =
            |rows: &[ScreenRow<'_>]| rows.iter().map(|row| row.lines.len()).sum::<usize>();
        let heads = if rows.is_empty() && wanted.is_empty() { Vec::new() } else { self.heads() };
        let bottom_of = |rows: &[ScreenRow<'_>]| self.bottom(rows);

        let fixed = top.len() + heads.len() + bottom_of(&rows).len();
        // One line above the figures stays empty.
        let mut room = most.saturating_sub(fixed + of_rows(&rows) + 1);
        // Random writes of every size, whatever test or tool made them, come before the rest.
        let is_write = |row: &ScreenRow<'_>| row.cell.is_some_and(figures::is_random_write);
        let (writes, others): (Vec<_>, Vec<_>) = wanted.into_iter().partition(is_write);
        for row in writes.into_iter().chain(others) {
            if row.lines.len() > room {
                break;
            }
            room -= row.lines.len();
            rows.push(row);
        }
        let bottom = bottom_of(&rows);
        let mut lines = top;
        let mut blanks =
            most.saturating_sub(lines.len() + heads.len() + of_rows(&rows) + bottom.len());
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
        ScreenLayout { lines, rows: texts }
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

impl AnsiStyle {
    fn toned(&self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Strong => self.strong(text),
            Tone::Warn => self.warn(text),
            Tone::Alarm => self.alarm(text),
        }
    }
}

/// The text up to the end of each of its sentences and clauses, the longest first.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let ends = text
        .char_indices()
        .filter(|(at, mark)| matches!(mark, '.' | ';') && text[at + 1..].starts_with(' '));
    let ends: Vec<usize> = ends.map(|(at, _)| at).collect();
    ends.into_iter().rev().map(|at| format!("{}.", &text[..at]))
}
