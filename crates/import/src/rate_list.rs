//! Lists of the rates of several media, "5.2 MB/s -- 1 Gigabyte Kingston": the form in which an
//! article gives sequential transfers (docs/field/classic-tools.md#iotest).

use record::{Cell, Params, Pattern};

use super::imported_run::{ImportedRun, cell, estimate, note, room_for_another};
use super::reading::Reading;
use super::text::{ImportText, decimal_rate, number, short};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "a list of rates",
    signs: &[Sign {
        what: "lines '5.2 MB/s -- name of a medium'",
        is_there: |source| source.has(|line| entry(line).is_some()),
    }],
    read,
    chatter: |_| false,
};

/// Bytes a second and the medium.
fn entry(line: &str) -> Option<(f64, &str)> {
    let (rate, name) = ["--", "–", "—"].iter().find_map(|dash| line.split_once(dash))?;
    let (value, unit) = rate.trim().split_once(' ')?;
    let name = name.trim();
    Some((decimal_rate(number(value)?, unit.trim())?, name)).filter(|_| !name.is_empty())
}

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut media: Vec<ImportedRun> = Vec::new();
    for (at, line) in source.numbered() {
        let Some((bps, name)) = entry(line) else { continue };
        let mut found = ImportedRun::by("not stated");
        found.medium.model = Some(short(name, 60));
        reading.add(&mut found, at, transfer(bps));
        if reading.accept(at, room_for_another(&media)).is_some() {
            media.push(found);
        }
    }
    media
}

/// As the published row of it: neither direction nor block size is said.
fn transfer(bps: f64) -> Cell {
    let params = Params { pattern: Some(Pattern::Sequential), ..Params::default() };
    let mut cell = cell("published:transfer", params);
    cell.metrics.bps = Some(estimate(bps, 1));
    note(&mut cell, "a rate in a list: neither tool nor direction nor block size is in the text");
    cell
}
