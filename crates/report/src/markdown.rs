//! Runs and comparisons as short Markdown, to paste into a forum or an issue. The figures are those
//! of the screens.

use findings::MediaComparison;
use record::Record;
use record::text::printable;

use crate::compare::Ranges;
use crate::tables::Table;
use crate::text::{DetailsLocation, RowTexts, ScreenContent, content};
use crate::{caveats, compare, figure, matrix, words};

/// Replacement of a private word.
const LEFT_OUT: &str = "[left out]";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A run: the medium, the result, and the table of figures of its screen. `rest` names the files
/// that the screen lists; `private` words are replaced wherever they occur.
pub fn run(record: &Record, rest: &DetailsLocation<'_>, private: &[String]) -> String {
    let mut out = Markdown { text: String::new(), private };
    let facts = caveats::run_facts(record).join(", ");
    let joint = if facts.is_empty() { "" } else { ": " };
    out.heading(&format!("{}{joint}{facts}", words::medium_line(record)));
    if let Some(found) = findings::matrix::of(record) {
        out.matrix(record, &found);
    } else {
        out.content(&content(record, rest));
    }
    out.paragraph(&measured_with(record));
    out.text
}

/// A comparison: a table for each kind of work, a column for each medium, and the faster one.
pub fn comparison(comparison: &MediaComparison, private: &[String]) -> String {
    let mut out = Markdown { text: String::new(), private };
    let found = compare::content(comparison, Ranges::With);
    out.heading(&found.heading);
    out.list(found.media.iter().chain(&found.faults).cloned());
    if !found.differences.is_empty() {
        out.paragraph(&format!("{}:", found.differ));
        out.list(found.differences.iter().cloned());
    }
    let parts: Vec<_> = found.levels.iter().chain(found.tables()).collect();
    for part in &parts {
        out.strong(&part.title);
        part.sentences.iter().for_each(|sentence| out.paragraph(sentence));
        out.table(&part.table);
    }
    if !parts.is_empty() {
        out.paragraph(compare::RANGES_MEAN);
    }
    found.more_runs.iter().for_each(|line| out.paragraph(line));
    found.nothing.or(found.one_medium).into_iter().for_each(|statement| out.paragraph(statement));
    if !found.not_compared.is_empty() {
        out.paragraph("Not compared:");
        out.list(found.not_compared.into_iter());
    }
    out.paragraph(&format!("Compared with Flashmark {VERSION}"));
    out.text
}

/// The program that measured, from the record; a run of another tool was shown, not measured, by
/// Flashmark.
fn measured_with(record: &Record) -> String {
    let software = &record.run.software;
    let (name, version) = (printable(&software.name), printable(&software.version));
    if software.is_flashmark() {
        return format!("Measured with Flashmark {version}").trim_end().to_owned();
    }
    let tool = format!("{name} {version}");
    format!("Measured with {}, shown by Flashmark {VERSION}", tool.trim_end())
}

/// The text under construction; parts are separated by an empty line.
struct Markdown<'a> {
    text: String,
    private: &'a [String],
}

impl Markdown<'_> {
    fn block(&mut self, block: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(block.trim_end());
        self.text.push('\n');
    }

    fn heading(&mut self, text: &str) {
        let text = self.safe(text);
        self.block(&format!("### {text}"));
    }

    fn strong(&mut self, text: &str) {
        let text = self.safe(text);
        self.block(&format!("**{text}**"));
    }

    fn paragraph(&mut self, text: &str) {
        let text = self.safe(text);
        self.block(&text);
    }

    fn list(&mut self, items: impl Iterator<Item = String>) {
        let lines: Vec<String> = items.map(|item| format!("- {}\n", self.safe(&item))).collect();
        if !lines.is_empty() {
            self.block(&lines.concat());
        }
    }

    fn content(&mut self, content: &ScreenContent) {
        self.list(content.sentences.iter().cloned());
        if content.rows.is_empty() {
            return;
        }
        self.table(&figures(content));
        if content.rows.iter().any(|row| row.is_single) {
            self.paragraph(figure::ONE_RUN_MEANS);
        }
    }

    /// Each work with its best combination, and all combinations.
    fn matrix(&mut self, record: &Record, found: &findings::matrix::Matrix) {
        let state = matrix::state(record).into_iter();
        let best = found.overall.first().map(|best| best.statement());
        self.list(state.chain(best));
        for work in &found.works {
            self.paragraph(&work.statement());
            self.table(&matrix::ranking(work));
        }
    }

    fn table(&mut self, table: &Table) {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let heads = table.columns.iter().map(|column| self.safe(&column.name)).collect();
        let rule = |numeric: bool| if numeric { "---:" } else { "---" }.to_owned();
        let rules = table.columns.iter().map(|column| rule(column.numeric)).collect();
        let rows = table.rows.iter();
        let rows = rows.map(|row| line(row.cells.iter().map(|cell| self.safe(cell)).collect()));
        let lines: Vec<String> = [line(heads), line(rules)].into_iter().chain(rows).collect();
        self.block(&lines.concat());
    }

    /// Text escaped for Markdown, without private words.
    fn safe(&self, text: &str) -> String {
        let clean = printable(text);
        let words = self.private.iter().filter(|word| !word.is_empty());
        escaped(&words.fold(clean, |text, word| text.replace(word.as_str(), LEFT_OUT)))
    }
}

/// The rows of a screen; without latencies of single I/Os if none are known.
fn figures(content: &ScreenContent) -> Table {
    let times: &[&str] = if content.has_times { &["#p99", "#Slowest"] } else { &[] };
    let heads = [&["Test", "#Figure", "95 % interval", "#n"], times].concat();
    let mut table = Table::named(heads.iter().map(|head| (*head).to_owned()).collect());
    for row in &content.rows {
        let mut cells = row_cells(row);
        cells.truncate(heads.len());
        table.push(cells, Vec::new());
    }
    table
}

fn row_cells(row: &RowTexts) -> Vec<String> {
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let [figure, interval, n, p99, slowest] = match &row.figure {
        Ok(texts) => [
            texts.text.clone(),
            record::units::without_unit(&texts.interval, &texts.text).to_owned(),
            texts.n.to_string(),
            or_none(&texts.p99),
            or_none(&texts.slowest),
        ],
        // The reason is in the column of the interval.
        Err(why) => ["-", why, "-", "-", "-"].map(str::to_owned),
    };
    vec![row.label.clone(), figure, interval, n, p99, slowest]
}

/// Escapes every character with a meaning in Markdown or GitHub's variant of it.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '#' | '$' => {
                out.extend(['\\', c]);
            }
            // Prevents mentions of users and links to mail addresses.
            '@' => out.push_str("@&#8203;"),
            _ => out.push(c),
        }
    }
    let out = out.replace("://", "\\://").replace("www.", "www\\.");
    begun(&out)
}

/// Escapes text that would begin a list or underline a heading.
fn begun(text: &str) -> String {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let begins_list = rest.starts_with(['.', ')']) && rest.len() < text.len();
    match text.len() - rest.len() {
        0 if text.len() > 1 && text.starts_with(['-', '+', '=']) => format!("\\{text}"),
        digits if begins_list && !rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            format!("{}\\{rest}", &text[..digits])
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;

    fn shown(record: &Record) -> String {
        run(record, &DetailsLocation::default(), &[])
    }

    #[test]
    fn a_good_card() {
        insta::assert_snapshot!("good", shown(&demo::good()));
    }

    #[test]
    fn rows_are_those_of_the_screen() {
        for record in demo::all() {
            let screen = crate::text::summary(&record, 80, false);
            let rows = content(&record, &DetailsLocation::default()).rows;
            let table = shown(&record);
            for row in &rows {
                assert!(screen.contains(&row.label[..10]), "{}: {screen}", row.label);
                assert!(table.contains(&format!("| {} |", escaped(&row.label))), "{table}");
                let figure = row.figure.as_ref().map(|texts| texts.text.as_str()).unwrap_or("-");
                assert!(screen.contains(figure), "{}: {screen}", row.label);
            }
        }
    }

    #[test]
    fn a_comparison_of_two_cards() {
        let found = findings::compare(&[demo::slow_card(), demo::good()]);
        insta::assert_snapshot!("comparison", comparison(&found, &[]));
    }

    #[test]
    fn names_have_no_meaning_and_private_words_are_left_out() {
        let mut record = demo::good();
        record.medium.model = Some("a|b <img> [x](http://y) *z* @root SN-12345".into());
        let text = run(&record, &DetailsLocation::default(), &["SN-12345".to_owned()]);
        insta::assert_snapshot!(text.lines().next().unwrap_or_default(), @r"### SanDisk a\|b \<img\> \[x\](http\://y) \*z\* @&#8203;root \[left out\], SD card, 31.9 GB, DDR50, 4 bit, 50 MHz: standard suite, 2026-11-20, 11 min 41 s, 2.37 GB written");
        assert!(!text.contains("SN-12345"), "{text}");
    }

    #[test]
    fn nothing_begins_a_list() {
        let begun = ["- a", "1. a", "2) a", "1.5 a", "-", "= a"].map(escaped);
        assert_eq!(begun, ["\\- a", "1\\. a", "2\\) a", "1.5 a", "-", "\\= a"]);
    }
}
