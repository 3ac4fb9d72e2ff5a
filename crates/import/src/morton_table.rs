//! Table of Morton's article, copied from a page: a row for each medium, columns separated by tabs
//! (docs/field/ext2.md#mortons-benchmark).

use record::{Cell, Params, metric, test};

use super::imported_run::{ImportedRun, cell, estimate, note, other, rates};
use super::media_list::MediaList;
use super::text::{decimal_rate, number, short};
use super::{Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "the table of Morton's article",
    signs: &[Sign {
        what: "columns 'Sequential (zero)', 'Random access', 'Filesystem fill'",
        is_there: |source| source.has(is_head),
    }],
    read: |source, _, reading| {
        let (mut media, mut tests) = (MediaList::default(), Vec::new());
        for (at, line) in source.numbered() {
            if is_head(line) {
                tests = columns(line);
                continue;
            }
            let mut fields = line.split('\t').map(str::trim);
            let Some(name) = fields.next().filter(|name| !name.is_empty()) else { continue };
            let figures = tests.iter().skip(1).zip(fields);
            let cells: Vec<Cell> =
                figures.filter_map(|(test, text)| figure((*test)?, text)).collect();
            if cells.is_empty() {
                continue;
            }
            let mut found = ImportedRun::by("Morton's benchmark");
            found.medium.model = Some(short(name, 60));
            cells.into_iter().for_each(|cell| reading.add(&mut found, at, cell));
            media.push(at, found, reading);
        }
        media.0
    },
    is_ignored_line: is_head,
};

/// Headings of the columns, with their tests.
const HEADINGS: [(&str, &str); 5] = [
    ("sequential (zero)", test::ZERO_FILL),
    ("sequential (random)", test::RANDOM_FILL),
    ("random access", test::SECTOR_WRITE),
    ("filesystem format", test::EXT2_FORMAT),
    ("filesystem fill", test::EXT2_FILL),
];

/// Test of each column of a line; `None` for the name of the medium and for unknown columns.
fn columns(line: &str) -> Vec<Option<&'static str>> {
    let of_heading = |heading: &str| {
        let heading = heading.trim().to_lowercase();
        HEADINGS.iter().find(|(text, _)| heading.starts_with(text)).map(|(_, test)| *test)
    };
    line.split('\t').map(of_heading).collect()
}

fn is_head(line: &str) -> bool {
    line.contains('\t') && columns(line).iter().flatten().count() >= 2
}

/// Parses a figure with its unit, or without one in that of the article: MB/s, ms, groups/s.
fn figure(test: &'static str, text: &str) -> Option<Cell> {
    let (value, unit) = text.split_once(' ').unwrap_or((text, ""));
    let value = number(value)?;
    let mut cell = cell(test, Params::default());
    match (test, unit.trim()) {
        (test::SECTOR_WRITE, unit @ ("" | "ms" | "s")) => {
            cell.params.block_bytes = Some(512);
            let ms = if unit == "s" { value * 1e3 } else { value };
            other(&mut cell, "mean_ms", ms, 1);
            cell.metrics.iops = Some(estimate(1e3 / ms, 1));
        }
        (test::SECTOR_WRITE, _) => return None,
        (test::EXT2_FORMAT, _) => {
            cell.params.form = Some("simple".to_owned());
            other(&mut cell, metric::GROUPS_PER_S, value, 1);
        }
        (_, unit) => {
            let unit = if unit.is_empty() { "MB/s" } else { unit };
            rates(&mut cell, None, Some(decimal_rate(value, unit)?), 1);
        }
    }
    note(&mut cell, "a figure of a table: how many I/Os it rests on is not in the text");
    Some(cell)
}
