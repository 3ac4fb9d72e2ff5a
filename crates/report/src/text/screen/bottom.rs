//! The lines below the figures: caveats, left-out tests, and where the rest is.

use record::Finding;

use super::figures::ScreenRow;
use super::{Screen, WIDTH, view};

use crate::caveats::{self, RecordCaveat};
use crate::display;
use crate::text::{AnsiStyle, CLAIM, wrap};
use crate::words::counted;

/// Start of the line with the command for the details.
const DETAILS: &str = "Details";

/// Most caveats of figures that a screen shows.
const CAVEATS: usize = 2;

impl Screen<'_> {
    /// All of these lines, where these rows are shown.
    pub(super) fn bottom(&self, rows: &[ScreenRow<'_>]) -> Vec<String> {
        let mut lines = self.legend(rows);
        let caution = view::caution(self.record);
        lines.extend(caution.iter().flat_map(|caution| self.lines_of(caution)));
        let found = view::found(self.record);
        lines.extend(found.iter().flat_map(|found| self.lines_of(found)));
        let (caveats, more_caveats) = self
            .caveats(rows, CAVEATS.saturating_sub(caution.iter().count() + found.iter().count()));
        lines.extend(caveats);
        lines.extend(self.skipped(1));
        let shown = rows.iter().filter(|row| row.cell.is_some()).count();
        let left = [
            self.cells_left(shown),
            counted(self.findings_left() - found.iter().count(), "finding"),
            counted(more_caveats, "caveat"),
        ];
        lines.extend(self.elsewhere(&left));
        lines
    }

    /// Findings that are no answer of the screen.
    fn findings_left(&self) -> usize {
        let is_shown = |finding: &&Finding| findings::is_verdict(finding) || finding.id == CLAIM;
        self.record.findings.iter().filter(|finding| !is_shown(finding)).count()
    }

    /// The most important caveats, a line each, and the number of the others: withheld figures and
    /// failures first, then caveats about the shown rows.
    fn caveats(&self, rows: &[ScreenRow<'_>], most: usize) -> (Vec<String>, usize) {
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
    pub(super) fn skipped(&self, most: usize) -> Vec<String> {
        let plain = |_: &AnsiStyle, line: &str| line.to_owned();
        let is_known = |test: &str| self.record.cells_of(test).next().is_some();
        let named = |tests: &[String]| {
            let (parts, whole): (Vec<&str>, Vec<&str>) =
                tests.iter().map(String::as_str).partition(|test| is_known(test));
            let parts = (!parts.is_empty()).then(|| format!("parts of {}", parts.join(", ")));
            let whole = (!whole.is_empty()).then(|| whole.join(", "));
            whole.into_iter().chain(parts).collect::<Vec<_>>().join(", ")
        };
        let reasons = caveats::skipped(self.record);
        let full = reasons.iter().map(|(reason, tests)| format!("{} ({reason})", named(tests)));
        let full: Vec<String> = full.collect();
        if full.is_empty() {
            return Vec::new();
        }
        let whole = format!("Not run: {}", full.join("; "));
        let scaled = if self.width < WIDTH { most * WIDTH / self.width } else { most };
        if wrap::wrapped(&whole, self.width - 2).len() <= scaled {
            return self.prose(&whole, 2, most, plain);
        }
        // The reason for most left-out tests comes first.
        let mut by_number: Vec<&Vec<String>> = reasons.values().collect();
        by_number.sort_by_key(|tests| std::cmp::Reverse(tests.len()));
        let mut tests: Vec<String> = Vec::new();
        for test in by_number.into_iter().flatten() {
            if !tests.contains(test) {
                tests.push(test.clone());
            }
        }
        self.prose(&format!("Not run (why: --details): {}", named(&tests)), 2, most, plain)
    }

    fn cells_left(&self, shown: usize) -> String {
        let all = self.record.cells.len();
        match all.saturating_sub(shown) {
            0 => String::new(),
            left => format!("{left} of {all} cells"),
        }
    }

    /// Parts that are not on the screen, and where to find them.
    pub(super) fn elsewhere(&self, left: &[String]) -> Vec<String> {
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
