//! hdparm -t, -T and -t --direct. Its MB are 2^20 bytes, its kB 2^10.

use super::prelude::*;

const HEAD: &str = r"(?m)^\s*Timing (?:.* reads.*: .* seconds|.*read\(\) failed: )|(?i:\bhdparm\b[^.\n]*? (?:is|was|of|gives|gave|says|said|shows|showed|reports|reported|got) (?:about |only )?\d[\d.]* ?M)";

pub(super) static TABLE: Tool = tool! {
    "hdparm", "hdparm output", 1024.0;
    ["'Timing .. reads: .. MB in .. seconds = .. MB/sec', or this rate in a sentence": HEAD]
    Begins r"^\s*(?<device>/dev/\S+):\s*$";
    // hdparm's GB of an offset are 2^30 bytes.
    Gives r"^\s*Timing (?<kind>.*?) reads\s*(?:\(offset (?<offset>.*?)\)\s*)?:\s*(?<mib>\S*) .*? in\s+(?<seconds>\S*) seconds[^=]*=\s*(?<rate>\S+ \S+/sec)" => timed;
    Gives r"^\s*Timing (?<kind>.*?) reads.*:.*/sec" => timed;
    Wraps r"^\s*Timing .* reads";
    // "According to hdparm the rate is 9.2megbytes per second".
    Gives r"(?i)\bhdparm\b[^.]*? (?:is|was|of|gives|gave|says|said|shows|showed|reports|reported|got) (?:about |only )?(?<words>\d[\d.]*) ?(?:meg ?a?bytes?|MBytes?|MB)(?: per sec(?:ond)?| ?/ ?s(?:ec)?)\b" => in_words;
};

/// Size of each read that `hdparm -t` and `-T` make.
const READ_BYTES: u64 = 2 * MIB;

fn begun(form: &str, path: Path, bps: f64) -> Cell {
    let cell = cell(test::BUFFERED_READ, Direction::Read, Pattern::Sequential, READ_BYTES);
    cell.form(form).path(path).bps(bps, 1)
}

fn timed(known: &Known) -> Made {
    let (form, path) = match known.text("kind") {
        "buffered disk" => ("device", Path::Buffered),
        "O_DIRECT disk" => ("direct", Path::Direct),
        "cached" | "buffer-cache" | "O_DIRECT cached" => ("cache", Path::Buffered),
        other => return Err(format!("'{other}' is nothing that hdparm times")),
    };
    let bytes = wanted("the megabytes", known.count("mib"))?.saturating_mul(MIB);
    let seconds = wanted("the seconds", known.number("seconds"))?;
    let mut cell = begun(form, path, wanted("the rate", known.rate("rate"))?)
        .moved(bytes, bytes / READ_BYTES)
        .took(seconds * 1e9);
    let offset = if known.has("offset") { known.size("offset") } else { Some(0) };
    cell.params.span_offset_bytes = offset;
    // This measures memory, never the medium.
    cell.flags.extend((form == "cache").then_some(Flag::Cached));
    let text = "one run: the first after other work may be several times too fast (the page cache)";
    Ok(vec![cell.note_if(form != "cache", text)])
}

fn in_words(known: &Known) -> Made {
    let rate = wanted("the rate", known.number("words"))?;
    let text =
        "a rate in a sentence: taken for that of hdparm -t, which calls 2^20 bytes a megabyte";
    Ok(vec![begun("device", Path::Buffered, rate * MIB as f64).note(text)])
}
