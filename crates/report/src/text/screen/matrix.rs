//! The screen of a matrix: each work with its best combination, and those near it.

use record::text::printable;

use super::Screen;
use crate::text::{AnsiStyle, NOT_RESTORED};
use crate::words::{self, counted};

impl Screen<'_> {
    /// Lines of a matrix: each work with its best combination, and those near it.
    pub(super) fn of_matrix(&self, matrix: &findings::matrix::Matrix, most: usize) -> Vec<String> {
        let record = self.record;
        let mut lines = self.prose(&words::medium_line(record), 2, 1, AnsiStyle::strong);
        lines.extend(self.facts());
        let not_restored = record.findings.iter().find(|finding| finding.id == NOT_RESTORED);
        lines.extend(not_restored.into_iter().flat_map(|finding| {
            self.prose(&printable(&finding.statement), 2, 3, AnsiStyle::alarm)
        }));
        if let Some(state) = crate::matrix::state(record) {
            lines.extend(self.prose(&state, 2, 2, AnsiStyle::warn));
        }
        if let Some(best) = matrix.overall.first() {
            lines.extend(self.prose(&printable(&best.statement()), 2, 2, AnsiStyle::strong));
        }
        let failed: usize = matrix.works.iter().map(|work| work.failed.len()).sum();
        let skipped = self.skipped(1);
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
}

/// One combination of a work with its result: "ext4 (noatime), bfq: 0.52 of the best speed, n 3".
fn place_line(
    work: &findings::matrix::WorkPlaces,
    place: &findings::matrix::CombinationResult,
) -> String {
    let unit = if work.larger_is_better { "a second" } else { "seconds" };
    format!(
        "{}: {} {unit}, {} of the best speed, n {}",
        printable(&place.combination.words()),
        record::units::significant(place.centre),
        record::units::significant(place.relative),
        place.figures.len()
    )
}
