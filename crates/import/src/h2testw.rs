//! H2testw, in English and German: what was lost of what was written, and the rates.
//!
//! Its KByte, MByte and GByte are powers of 1024.

use record::units::MIB;
use record::{Cell, Content, Direction, Params, Path, Pattern, Region, metric, test};

use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, note, other};
use super::reading::Reading;
use super::text::{ImportText, binary_rate, short, wanted, whole, with_unit};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "H2testw output",
    signs: &[Sign {
        what: "a line 'Writing speed: .. MByte/s' or '.. GByte OK (.. sectors)'",
        is_there: |source| source.has(|line| speed(line).is_some() || sectors(line, &OK).is_some()),
    }],
    read,
    chatter: |line| {
        let line = line.trim();
        sectors(line, &["aliased memory"]).is_some() || line.starts_with("Details:")
    },
};

const SECTOR: u64 = 512;
const OK: [&str; 1] = ["OK ("];
const LOST: [&str; 2] = ["DATA LOST", "DATEN VERLOREN"];
const OVERWRITTEN: [&str; 2] = ["overwritten", "überschrieben"];
const CHANGED: [&str; 3] = ["slightly changed", "leicht verändert", "leicht geändert"];
const WITHOUT_ERRORS: [&str; 2] = ["Test finished without errors", "kein Fehler aufgetreten"];
const SPEEDS: [(&str, Direction); 4] = [
    ("Writing speed:", Direction::Write),
    ("Schreibrate:", Direction::Write),
    ("Reading speed:", Direction::Read),
    ("Leserate:", Direction::Read),
];

/// One output after the other: each begins with the part that was tested, where that is not all of
/// it, and ends with the version.
fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let is_ended = std::cell::Cell::new(true);
    let has_content = std::cell::Cell::new(false);
    let begins = |line: &str| {
        let is_part = part_tested(line).is_some();
        let is_new = is_ended.get() && !line.trim().is_empty() || is_part && has_content.get();
        let is_result = speed(line).is_some() || sectors(line, &OK).is_some();
        has_content.set(is_part || is_result || has_content.get() && !is_new);
        let version = line.trim().strip_prefix("H2testw v");
        let is_version = version.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        is_ended.set(is_ended.get() && !is_new || is_version && has_content.get());
        is_new
    };
    source.parts(begins).iter().map(|part| read_one(part, reading)).collect()
}

fn read_one(source: &ImportText, reading: &mut Reading) -> ImportedRun {
    let mut found = ImportedRun::by("H2testw");
    let mut version = source.lines.iter().filter_map(|line| line.trim().strip_prefix("H2testw v"));
    found.version = version.next_back().map(|version| short(version, 20)).unwrap_or_default();
    if let Some((at, cell)) = verified(source) {
        if let Some(cell) = reading.accept(at, cell) {
            reading.add(&mut found, at, cell);
        }
        let counted = |line: &str| sectors(line, &[""]).is_some() || part_tested(line).is_some();
        source.numbered().filter(|(_, line)| counted(line)).for_each(|(at, _)| reading.take(at));
    }
    for (at, line) in source.numbered() {
        let Some((direction, rest)) = speed(line) else { continue };
        if let Some(cell) = reading.accept(at, of_speed(at, direction, rest)) {
            reading.add(&mut found, at, cell);
        }
    }
    found
}

/// "3.8 GByte OK (8099392 sectors)": the sectors of a line that has one of these words.
fn sectors(line: &str, words: &[&str]) -> Option<u64> {
    let head = line.rsplit_once(" sectors)").or_else(|| line.rsplit_once(" Sektoren)"))?.0;
    words.iter().any(|word| line.contains(word)).then_some(())?;
    whole(head.rsplit(['(', ' ']).next()?)
}

/// "Warning: Only 31982 of 31983 MByte tested.": MByte tested.
fn part_tested(line: &str) -> Option<u64> {
    let rest = line.trim();
    let leads = ["Warning: Only ", "Warnung: Nur ", "Achtung: Nur "];
    let rest = leads.iter().find_map(|lead| rest.strip_prefix(lead))?;
    rest.contains(" MByte ").then(|| whole(rest.split(' ').next()?)).flatten()
}

fn speed(line: &str) -> Option<(Direction, &str)> {
    let line = line.trim();
    let of = |(words, direction): &(&str, Direction)| Some((*direction, line.strip_prefix(words)?));
    SPEEDS.iter().find_map(of).filter(|(_, rest)| rest.contains("Byte/s"))
}

/// Sectors by what became of them, under the names of `verify`; none where the text has no count.
fn verified(source: &ImportText) -> Option<(usize, Result<Cell, ImportTrouble>)> {
    let count =
        |words: &[&str]| source.numbered().find_map(|(at, line)| Some((at, sectors(line, words)?)));
    if let Some((at, good)) = count(&OK) {
        let of = |words: &[&str]| count(words).map_or(0, |(_, sectors)| sectors);
        return Some((at, of_sectors(good, of(&LOST), of(&OVERWRITTEN), of(&CHANGED), source)));
    }
    // Without errors it counts no sectors, but says how much it tested where that is not all.
    let is_good = WITHOUT_ERRORS.iter().any(|words| source.contains(words));
    let tested = source.numbered().find_map(|(at, line)| Some((at, part_tested(line)?)));
    let (at, mib) = tested.filter(|_| is_good)?;
    Some((at, of_sectors(mib.saturating_mul(MIB / SECTOR), 0, 0, 0, source)))
}

fn of_sectors(
    good: u64,
    lost: u64,
    overwritten: u64,
    changed: u64,
    source: &ImportText,
) -> Result<Cell, ImportTrouble> {
    let corrupted = lost.checked_sub(overwritten.saturating_add(changed)).ok_or_else(|| {
        ImportTrouble::new(format_args!("{lost} sectors are lost, but more are listed"))
    })?;
    let n = good.saturating_add(lost);
    let bytes = n
        .checked_mul(SECTOR)
        .ok_or_else(|| ImportTrouble::new("more sectors than there can be"))?;
    let params = Params {
        direction: Some(Direction::Read),
        pattern: Some(Pattern::Sequential),
        region: Some(Region::File),
        span_bytes: Some(bytes),
        path: Path::Buffered,
        form: Some("read".into()),
        ..Params::default()
    };
    let mut cell = cell(test::VERIFY, params);
    cell.bytes = bytes;
    let counts = [
        (metric::GOOD_SECTORS, good),
        (metric::CHANGED_SECTORS, changed),
        (metric::OVERWRITTEN_SECTORS, overwritten),
        (metric::CORRUPTED_SECTORS, corrupted),
    ];
    counts.into_iter().for_each(|(name, value)| other(&mut cell, name, value as f64, n));
    if let Some(at) = first_error(source) {
        note(&mut cell, format!("the first error is at byte {at} of what was written"));
    }
    Ok(cell)
}

/// "First error at offset: 0x00000000ea3e4000".
fn first_error(source: &ImportText) -> Option<u64> {
    let leads = ["First error at offset:", "Erster Fehler bei Offset:"];
    let mut lines = source.lines.iter().map(|line| line.trim());
    let offset = lines.find_map(|line| leads.iter().find_map(|lead| line.strip_prefix(lead)))?;
    let hex = offset.trim().strip_prefix("0x")?;
    u64::from_str_radix(hex, 16).ok()
}

fn of_speed(at: usize, direction: Direction, text: &str) -> Result<Cell, ImportTrouble> {
    let bps = with_unit(text).and_then(|(value, unit)| binary_rate(value, unit));
    let (test, content) = match direction {
        Direction::Read => ("H2testw:read", None),
        Direction::Write => ("H2testw:write", Some(Content::Incompressible)),
    };
    let params = Params {
        direction: Some(direction),
        pattern: Some(Pattern::Sequential),
        region: Some(Region::File),
        path: Path::Direct,
        content,
        ..Params::default()
    };
    let mut cell = cell(test, params);
    cell.metrics.bps = Some(estimate(wanted(at, "the rate", bps)?, 1));
    note(&mut cell, "files of 1 GiB through a file system, the mean over all of them");
    Ok(cell)
}
