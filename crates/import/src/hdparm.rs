//! hdparm -t, -T and -t --direct. Its MB are 2^20 bytes, its kB 2^10.

use record::units::MIB;
use record::{Cell, Direction, Flag, Params, Path, Pattern, test};

use super::imported_run::{ImportTrouble, cell, estimate, io, note, whole_ns};
use super::sign;
use super::table::{Does, Known, Line, Tool};

const HEAD: &str = r"(?m)^\s*Timing (?:.* reads.*: .* seconds|.*read\(\) failed: )|(?i:\bhdparm\b[^.\n]*? (?:is|was|of|gives|gave|says|said|shows|showed|reports|reported|got) (?:about |only )?\d[\d.]* ?M)";

pub(super) static TABLE: Tool = Tool::new(
    "hdparm",
    "hdparm output",
    &[sign!(
        "'Timing .. reads: .. MB in .. seconds = .. MB/sec', or this rate in a sentence",
        HEAD
    )],
    1024.0,
    &[
        Line(r"^\s*(?<device>/dev/\S+):\s*$", Does::Begins),
        // hdparm's GB of an offset are 2^30 bytes.
        Line(
            r"^\s*Timing (?<kind>.*?) reads\s*(?:\(offset (?<offset>.*?)\)\s*)?:\s*(?<mib>\S*) .*? in\s+(?<seconds>\S*) seconds[^=]*=\s*(?<rate>\S+ \S+/sec)",
            Does::Gives(timed),
        ),
        Line(r"^\s*Timing (?<kind>.*?) reads.*:.*/sec", Does::Gives(timed)),
        Line(r"^\s*Timing .* reads", Does::Wraps),
        // "According to hdparm the rate is 9.2megbytes per second".
        Line(
            r"(?i)\bhdparm\b[^.]*? (?:is|was|of|gives|gave|says|said|shows|showed|reports|reported|got) (?:about |only )?(?<words>\d[\d.]*) ?(?:meg ?a?bytes?|MBytes?|MB)(?: per sec(?:ond)?| ?/ ?s(?:ec)?)\b",
            Does::Gives(in_words),
        ),
    ],
);

/// Size of each read that `hdparm -t` and `-T` make.
const READ_BYTES: u64 = 2 * MIB;

fn begun(form: &str, path: Path) -> Cell {
    let form = Some(form.to_owned());
    cell(
        test::BUFFERED_READ,
        Params { path, form, ..io(Direction::Read, Pattern::Sequential, READ_BYTES) },
    )
}

fn timed(known: &Known) -> Result<Vec<Cell>, ImportTrouble> {
    let (form, path) = match known.text("kind") {
        "buffered disk" => ("device", Path::Buffered),
        "O_DIRECT disk" => ("direct", Path::Direct),
        "cached" | "buffer-cache" | "O_DIRECT cached" => ("cache", Path::Buffered),
        other => return Err(known.bad(format_args!("'{other}' is nothing that hdparm times"))),
    };
    let megabytes = known.wanted("the megabytes", known.count("mib").map(|n| n as f64))?;
    let mut cell = begun(form, path);
    cell.params.span_offset_bytes =
        if known.has("offset") { known.size("offset") } else { Some(0) };
    cell.bytes = (megabytes * MIB as f64) as u64;
    cell.ops = cell.bytes / READ_BYTES;
    cell.elapsed_ns = whole_ns(known.wanted("the seconds", known.number("seconds"))? * 1e9);
    cell.metrics.bps = Some(estimate(known.wanted("the rate", known.rate("rate"))?, 1));
    if form == "cache" {
        // This measures memory, never the medium.
        cell.flags.push(Flag::Cached);
    } else {
        note(
            &mut cell,
            "one run: the first after other work may be several times too fast (the page cache)",
        );
    }
    Ok(vec![cell])
}

fn in_words(known: &Known) -> Result<Vec<Cell>, ImportTrouble> {
    let mut cell = begun("device", Path::Buffered);
    let rate = known.wanted("the rate", known.number("words"))?;
    cell.metrics.bps = Some(estimate(rate * MIB as f64, 1));
    note(
        &mut cell,
        "a rate in a sentence: taken for that of hdparm -t, which calls 2^20 bytes a megabyte",
    );
    Ok(vec![cell])
}
