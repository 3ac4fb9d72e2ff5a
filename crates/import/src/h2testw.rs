//! H2testw, in English and German: lost sectors and rates.
//!
//! Its KByte, MByte and GByte are powers of 1024.

use super::prelude::*;

const SECTOR: u64 = 512;

/// An output begins with its verdict, and ends with the version.
pub(super) static TABLE: Tool = tool! {
    "H2testw", "H2testw output", 1024.0, ends: of_output;
    ["a line 'Writing speed: .. MByte/s' or '.. GByte OK (.. sectors)'": r"(?m)^[ \t]*(?:(?:Writing|Reading) speed|Schreibrate|Leserate):.*Byte/s|OK \(.*?\d+ (?:sectors|Sektoren)\)"]
    // "Warning: Only 31982 of 31983 MByte tested."
    Begins r"^\s*(?:Warning: Only|Warnung: Nur|Achtung: Nur) (?<part>\d+) .*MByte ";
    Says r"(?<fine>Test finished without errors|kein Fehler aufgetreten)";
    Says r"OK \(.*?(?<good>\d+) (?:sectors|Sektoren)\)";
    Says r"(?:DATA LOST|DATEN VERLOREN).*?(?<lost>\d+) (?:sectors|Sektoren)\)";
    Says r"(?:overwritten|überschrieben).*?(?<overwritten>\d+) (?:sectors|Sektoren)\)";
    Says r"(?:slightly changed|leicht verändert|leicht geändert).*?(?<changed>\d+) (?:sectors|Sektoren)\)";
    Says r"^\s*(?:First error at offset:|Erster Fehler bei Offset:)\s*0x(?<first>\S+)";
    Says r"^\s*(?:Writing speed|Schreibrate):(?<write>.*Byte/s)";
    Says r"^\s*(?:Reading speed|Leserate):(?<read>.*Byte/s)";
    Begins r"^\s*H2testw v(?<version>\d.*)";
    Repeats r"\d+ (?:sectors|Sektoren)\)|^\s*Details:";
};

fn of_output(known: &Known) -> Made {
    let mut cells: Vec<Cell> = verified(known)?.into_iter().collect();
    for name in ["write", "read"].into_iter().filter(|name| known.has(name)) {
        let bps = wanted("the rate", known.rate(name))?;
        cells.push(over_files("H2testw", name, Path::Direct, bps));
    }
    Ok(cells)
}

/// Sectors by state, under the names of `verify`; `None` where the text has no count.
fn verified(known: &Known) -> Result<Option<Cell>, String> {
    let count = |name: &str| known.count(name).unwrap_or(0);
    let Some(good) = known.count("good") else {
        // Without errors it counts no sectors, but names the tested size if that is not the whole
        // medium.
        let part = known.count("part").filter(|_| known.has("fine"));
        let sectors = part.map(|mib| mib.saturating_mul(MIB / SECTOR));
        return sectors.map(|good| of_sectors([good, 0, 0, 0])).transpose();
    };
    let (lost, overwritten, changed) = (count("lost"), count("overwritten"), count("changed"));
    let corrupted = lost
        .checked_sub(overwritten.saturating_add(changed))
        .ok_or_else(|| format!("{lost} sectors are lost, but more are listed"))?;
    let cell = of_sectors([good, changed, overwritten, corrupted])?;
    let first = u64::from_str_radix(known.text("first"), 16).ok();
    let first = first.map(|at| format!("the first error is at byte {at} of what was written"));
    Ok(Some(first.into_iter().fold(cell, Fill::note)))
}
