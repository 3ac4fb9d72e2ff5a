//! H2testw, in English and German: lost sectors and rates.
//!
//! Its KByte, MByte and GByte are powers of 1024.

use record::units::MIB;
use record::{Cell, Content, Direction, Params, Path, Pattern, Region};
use regex::Regex;

use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, io, note, of_sectors};
use super::reading::Reading;
use super::text::{ImportText, binary_rate, group, re, short, wanted, whole, with_unit};
use super::{Importer, sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "H2testw output",
    signs: &[sign!(
        "a line 'Writing speed: .. MByte/s' or '.. GByte OK (.. sectors)'",
        r"(?m)^[ \t]*(?:(?:Writing|Reading) speed|Schreibrate|Leserate):.*Byte/s|OK \(.*?\d+ (?:sectors|Sektoren)\)"
    )],
    read: |source, _, reading| parts(source).iter().map(|part| read_one(part, reading)).collect(),
    is_ignored_line: |line| re!(r"aliased memory.*\d+ sectors\)|^\s*Details:").is_match(line),
};

const SECTOR: u64 = 512;
const SPEED: &str = r"^\s*(?:(Writing speed|Schreibrate)|Reading speed|Leserate):(.*Byte/s.*)";
const GOOD: &str = r"OK \(.*?(\d+) (?:sectors|Sektoren)\)";
/// The line "Warning: Only 31982 of 31983 MByte tested."
const PART: &str = r"^\s*(?:Warning: Only|Warnung: Nur|Achtung: Nur) (\d+) .*MByte ";

/// Splits a text into outputs: each begins with the size that was tested, if that is not the whole
/// medium, and ends with the version.
fn parts<'a>(source: &ImportText<'a>) -> Vec<ImportText<'a>> {
    let (mut is_ended, mut has_content) = (true, false);
    let begins = source.lines.iter().map(|line| {
        let is_part = re!(PART).is_match(line);
        let is_new = is_ended && !line.trim().is_empty() || is_part && has_content;
        let is_result = re!(SPEED).is_match(line) || re!(GOOD).is_match(line);
        has_content = is_part || is_result || has_content && !is_new;
        let is_version = re!(r"^\s*H2testw v\d").is_match(line);
        is_ended = is_ended && !is_new || is_version && has_content;
        is_new
    });
    let begins: Vec<bool> = begins.collect();
    source.parts_at(|at| begins[at])
}

fn read_one(source: &ImportText, reading: &mut Reading) -> ImportedRun {
    let mut found = ImportedRun::by("H2testw");
    let version = source.captures(re!(r"^\s*H2testw v(.*)")).last();
    found.version = version.map(|(_, version)| short(group(&version, 1), 20)).unwrap_or_default();
    if let Some((at, cell)) = verified(source) {
        if let Some(cell) = reading.accept(at, cell) {
            reading.add(&mut found, at, cell);
        }
        let counted = re!(&format!(r"\d+ (?:sectors|Sektoren)\)|{PART}"));
        source.captures(counted).for_each(|(at, _)| reading.take(at));
    }
    for (at, line) in source.captures(re!(SPEED)) {
        let (test, direction, content) = match line.get(1) {
            Some(_) => ("H2testw:write", Direction::Write, Some(Content::Incompressible)),
            None => ("H2testw:read", Direction::Read, None),
        };
        let bps = with_unit(group(&line, 2)).and_then(|(value, unit)| binary_rate(value, unit));
        let Some(bps) = reading.accept(at, wanted(at, "the rate", bps)) else { continue };
        let (region, path) = (Some(Region::File), Path::Direct);
        let params = Params { region, path, content, ..io(direction, Pattern::Sequential, None) };
        let mut cell = cell(test, params);
        cell.metrics.bps = Some(estimate(bps, 1));
        note(&mut cell, "files of 1 GiB through a file system, the mean over all of them");
        reading.add(&mut found, at, cell);
    }
    found
}

/// Sectors by state, under the names of `verify`; `None` where the text has no count.
fn verified(source: &ImportText) -> Option<(usize, Result<Cell, ImportTrouble>)> {
    let count = |pattern: &Regex| {
        let (at, found) = source.captures(pattern).next()?;
        Some((at, whole(group(&found, 1))?))
    };
    let first_error = re!(r"^\s*(?:First error at offset:|Erster Fehler bei Offset:)\s*0x(\S+)");
    let first_error =
        source.first(first_error).and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    let counted = |good: u64, lost: u64, overwritten: u64, changed: u64| {
        let corrupted = lost.checked_sub(overwritten.saturating_add(changed)).ok_or_else(|| {
            ImportTrouble::new(format_args!("{lost} sectors are lost, but more are listed"))
        })?;
        let mut cell = of_sectors(good, changed, overwritten, corrupted)?;
        if let Some(at) = first_error {
            note(&mut cell, format!("the first error is at byte {at} of what was written"));
        }
        Ok(cell)
    };
    if let Some((at, good)) = count(re!(GOOD)) {
        let of = |pattern: &Regex| count(pattern).map_or(0, |(_, sectors)| sectors);
        let lost = of(re!(r"(?:DATA LOST|DATEN VERLOREN).*?(\d+) (?:sectors|Sektoren)\)"));
        let overwritten = of(re!(r"(?:overwritten|überschrieben).*?(\d+) (?:sectors|Sektoren)\)"));
        let changed = of(re!(
            r"(?:slightly changed|leicht verändert|leicht geändert).*?(\d+) (?:sectors|Sektoren)\)"
        ));
        return Some((at, counted(good, lost, overwritten, changed)));
    }
    // Without errors it counts no sectors, but names the tested size if that is not the whole
    // medium.
    let is_good = re!("Test finished without errors|kein Fehler aufgetreten").is_match(source.text);
    let (at, mib) = count(re!(PART)).filter(|_| is_good)?;
    Some((at, counted(mib.saturating_mul(MIB / SECTOR), 0, 0, 0)))
}
