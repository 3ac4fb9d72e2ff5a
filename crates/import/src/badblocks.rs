//! badblocks: its verdict, with the blocks that it tried. Its blocks are of 1024 bytes unless `-b`
//! says otherwise.
//!
//! It writes one byte everywhere, so a fake that wraps round passes: this is no proof of a capacity.

use super::prelude::*;

const VERDICT: &str = r"(?m)^\s*Pass completed, (?<bad>\d+) bad blocks found\.(?: \((?<reading>\d+)/(?<writing>\d+)/(?<comparing>\d+) errors\))?";

pub(super) static TABLE: Tool = tool! {
    "badblocks", "badblocks output", 1024.0;
    ["a line 'Pass completed, .. bad blocks found.'": VERDICT]
    Begins r"\bbadblocks .*-\w*b\s*(?<block>\d+).*?(?<device>/dev/\S+)";
    Begins r"\bbadblocks .*?(?<device>/dev/\S+)";
    Says r"^\s*(?:Checking blocks|From block) (?<first>\d+) to (?<last>\d+)";
    Says r"(?i)^\s*checking for bad blocks.*(?<way>read-only|read-write|non-destructive)";
    Repeats r"^\s*Testing with .*pattern";
    Gives VERDICT => verdict;
};

fn verdict(known: &Known) -> Made {
    let way = if known.has("way") { known.text("way") } else { "pass" };
    let block = known.count("block").unwrap_or(KIB);
    let blocks = known.count("last").zip(known.count("first"));
    let blocks = blocks.and_then(|(last, first)| last.checked_sub(first)?.checked_add(1));
    let span = blocks.and_then(|blocks| blocks.checked_mul(block));
    let n = blocks.unwrap_or(1);
    let is_bad = known.number("bad").is_some_and(|bad| bad > 0.0);
    let cell = cell(format!("badblocks:{way}"), None, None, block)
        .region(Region::Whole)
        .span(span)
        .moved(span.unwrap_or(0), 0)
        .other("bad_blocks", known.number("bad"), n)
        .other("read_errors", known.number("reading"), n)
        .other("write_errors", known.number("writing"), n)
        .other("compare_errors", known.number("comparing"), n)
        .note_if(is_bad, "badblocks found places that cannot be read or that changed")
        .note("one byte is written everywhere: a fake that wraps round passes this");
    Ok(vec![cell])
}
