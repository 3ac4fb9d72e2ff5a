//! Table of Morton's article, copied from a page: a row for each medium
//! (docs/field/ext2.md#mortons-benchmark).

use std::sync::LazyLock;

use record::{Cell, Claims, Params, metric, test};
use regex::Regex;

use super::Sign;
use super::imported_run::{ImportedRun, cell, estimate, note, other, rates, room_for_another};
use super::table::{Does, Line, Tool};
use super::text::{decimal_rate, group, number, short};

pub(super) static TABLE: Tool = Tool::by_hand(
    "the table of Morton's article",
    &[Sign {
        what: "columns 'Sequential (zero)', 'Random access', 'Filesystem fill'",
        is_there: |source| source.lines.iter().any(|line| is_head(line)),
    }],
    &[Line(r"(?i)sequential \(zero\)", Does::Repeats)],
    |source, reading| {
        let (mut media, mut head) = (Vec::new(), Head::default());
        for (at, line) in source.numbered() {
            if is_head(line) {
                head = Head::of(line);
                continue;
            }
            let Some((name, cells)) = head.row(line).filter(|(_, cells)| !cells.is_empty()) else {
                continue;
            };
            let mut found = ImportedRun::by("Morton's benchmark");
            found.medium.model = Some(short(CLAIM.replace(name, "").trim(), 60));
            if let Some(claim) = CLAIM.captures(line) {
                let write_bps = number(group(&claim, 1)).map(|mb| mb * 1e6);
                found.medium.claims = Some(Claims { write_bps, ..Claims::default() });
            }
            cells.into_iter().for_each(|cell| reading.add(&mut found, at, cell));
            if reading.accept(at, room_for_another(&media)).is_some() {
                media.push(found);
            }
        }
        media
    },
);

/// What the package promises: "5MB/s write".
static CLAIM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"([\d.]+) ?MB/s write\b").expect("a pattern of ours"));

/// A head: the tests of its columns, and what is between them: a tab, a bar, or blanks alone.
#[derive(Default)]
struct Head {
    tests: Vec<Option<&'static str>>,
    apart: Option<char>,
    row: Option<Regex>,
}

impl Head {
    fn of(line: &str) -> Head {
        let apart = ['\t', '|'].into_iter().find(|apart| line.contains(*apart));
        let Some(apart) = apart else {
            let tests: Vec<_> = columns(line).into_iter().map(Some).collect();
            let figure = r"\s+([\d.]+(?: (?:[MkG]B/s|ms|s|groups/s))?)".repeat(tests.len());
            let row = Regex::new(&format!(r"^\s*(\S.*?){figure}\s*$")).ok();
            return Head { tests, apart, row };
        };
        let fields = line.trim_matches(apart).split(apart);
        let tests = fields.skip(1).map(|text| columns(text).first().copied()).collect();
        Head { tests, apart: Some(apart), row: None }
    }

    /// Name of a medium and its figures. In a line with blanks alone all of the figures must be
    /// there, and are the last of it.
    fn row<'a>(&self, line: &'a str) -> Option<(&'a str, Vec<Cell>)> {
        let fields: Vec<&str> = match (self.apart, &self.row) {
            (Some(apart), _) => line.trim_matches(apart).split(apart).map(str::trim).collect(),
            (None, row) => {
                let found = row.as_ref()?.captures(line)?;
                (1..found.len()).map(|at| group(&found, at)).collect()
            }
        };
        let (name, figures) = fields.split_first().filter(|(name, _)| !name.is_empty())?;
        let cells =
            self.tests.iter().zip(figures).filter_map(|(test, text)| figure((*test)?, text));
        Some((name, cells.collect()))
    }
}

/// Headings of the columns, with their tests.
const HEADINGS: [(&str, &str); 5] = [
    ("sequential (zero)", test::ZERO_FILL),
    ("sequential (random)", test::RANDOM_FILL),
    ("random access", test::SECTOR_WRITE),
    ("filesystem format", test::EXT2_FORMAT),
    ("filesystem fill", test::EXT2_FILL),
];

/// Tests of the columns that a head names, in their order.
fn columns(head: &str) -> Vec<&'static str> {
    let head = head.to_lowercase();
    let mut found: Vec<(usize, &str)> =
        HEADINGS.iter().filter_map(|(text, test)| Some((head.find(text)?, *test))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, test)| test).collect()
}

fn is_head(line: &str) -> bool {
    columns(line).len() >= 2 && line.len() < 300
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
