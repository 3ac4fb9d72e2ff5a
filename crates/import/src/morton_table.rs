//! Table of Morton's article, copied from a page: a row for each medium
//! (docs/field/ext2.md#mortons-benchmark).

use record::Claims;
use regex::Regex;

use super::prelude::*;

const HEAD: &str = r"(?im)^.*(?:sequential \((?:zero|random)\)|random access|filesystem f(?:ormat|ill)).*(?:sequential \((?:zero|random)\)|random access|filesystem f(?:ormat|ill))";
/// What the package promises: "5MB/s write".
const CLAIM: &str = r"([\d.]+) ?MB/s write\b";

pub(super) static TABLE: Tool = tool! {
    "", "the table of Morton's article", 1000.0, by_hand: Some(read);
    ["columns 'Sequential (zero)', 'Random access', 'Filesystem fill'": HEAD]
    Repeats r"(?i)sequential \(zero\)";
};

fn read(source: &ImportText, reading: &mut Reading) -> Vec<ImportedRun> {
    let (mut media, mut table) = (Vec::new(), None);
    for (at, line) in source.numbered() {
        if line.len() < 300 && re!(HEAD).is_match(line) {
            table = head(line);
            continue;
        }
        let Some((tests, row)) = &table else { continue };
        let Some(row) = row.captures(line) else { continue };
        let figures = tests.iter().zip(2..);
        let cells = figures.filter_map(|(test, at)| figure((*test)?, group(&row, at)));
        let mut cells = cells.peekable();
        if group(&row, 1).is_empty() || cells.peek().is_none() {
            continue;
        }
        let mut found = ImportedRun::by("Morton's benchmark");
        let name = re!(CLAIM).replace(group(&row, 1), "");
        found.medium.model = Some(short(name.trim(), 60));
        if let Some(claim) = re!(CLAIM).captures(line) {
            let write_bps = number(group(&claim, 1)).map(|mb| mb * 1e6);
            found.medium.claims = Some(Claims { write_bps, ..Claims::default() });
        }
        cells.for_each(|cell| reading.add(&mut found, at, cell));
        if reading.has_room(at, media.len()) {
            media.push(found);
        }
    }
    media
}

/// Tests of the columns of a head, and the pattern of its rows: a name, and figures. Between them is
/// what is between those of the head: a tab, a bar, or blanks alone. With blanks alone all of the
/// figures must be there, and are the last of the line.
fn head(line: &str) -> Option<(Vec<Option<&'static str>>, Regex)> {
    let Some(apart) = ['\t', '|'].into_iter().find(|apart| line.contains(*apart)) else {
        let tests: Vec<_> = columns(line).into_iter().map(Some).collect();
        let figures = r"\s+([\d.]+(?: (?:[MkG]B/s|ms|s|groups/s))?)".repeat(tests.len());
        return Regex::new(&format!(r"^\s*(\S.*?){figures}\s*$")).ok().map(|row| (tests, row));
    };
    let fields = line.trim_matches(apart).split(apart).skip(1).take(MOST_COLUMNS);
    let tests: Vec<_> = fields.map(|text| columns(text).first().copied()).collect();
    let figures = format!("(?:[{apart}]([^{apart}]*))?").repeat(tests.len());
    Regex::new(&format!("^[{apart}]*([^{apart}]+){figures}")).ok().map(|row| (tests, row))
}

/// Most columns of a table.
const MOST_COLUMNS: usize = 20;

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

/// Parses a figure with its unit, or without one in that of the article: MB/s, ms, groups/s.
fn figure(test: &'static str, text: &str) -> Option<Cell> {
    let (value, unit) = text.split_once(' ').unwrap_or((text, ""));
    let value = number(value)?;
    let cell = cell(test, None, None, (test == test::SECTOR_WRITE).then_some(512));
    let cell = match (test, unit.trim()) {
        (test::SECTOR_WRITE, unit @ ("" | "ms" | "s")) => {
            let ms = if unit == "s" { value * 1e3 } else { value };
            cell.other("mean_ms", ms, 1).rates(Some(1e3 / ms), None, 1)
        }
        (test::SECTOR_WRITE, _) => return None,
        (test::EXT2_FORMAT, _) => cell.form("simple").other(metric::GROUPS_PER_S, value, 1),
        (_, "") => cell.bps(rate_in(value, "MB/s", 1000.0)?, 1),
        (_, unit) => cell.bps(rate_in(value, unit, 1000.0)?, 1),
    };
    Some(cell.note("a figure of a table: how many I/Os it rests on is not in the text"))
}
