//! Lists that people make: the rates of several media, "5.2 MB/s -- 1 Gigabyte Kingston", and the
//! time of a work on each file system and scheduler, "ext2: 117s", "xfs/cfq: 94-96s"
//! (docs/field/classic-tools.md#iotest).

use super::prelude::*;

pub(super) static RATES: Tool = tool! {
    "not stated", "a list of rates", 1000.0;
    ["lines '5.2 MB/s -- name of a medium'": r"(?m)^\s*[\d.]\S* \S+/s(?:ec)?\s*(?:--|–|—)\s*\S"]
    Gives r"^\s*(?<rate>[\d.]\S* \S+/s(?:ec)?)\s*(?:--|–|—)\s*(?<model>\S.*)$" => of_rate;
};

fn of_rate(known: &Known) -> Made {
    let Some(bps) = known.rate("rate") else { return Ok(Vec::new()) };
    // As for the published row: direction and block size are unknown.
    let cell = cell("published:transfer", None, Pattern::Sequential, None).bps(bps, 1);
    let text = "a rate in a list: neither tool nor direction nor block size is in the text";
    Ok(vec![cell.note(text)])
}

/// File system (a name may go on: "xfslazy", "ext4nj"), scheduler, least and largest seconds.
const ENTRY: &str = r"(?m)^[ \t]*(?<fs>(?:ext[234]|xfs|jfs|btrfs|f2fs|nilfs2|vfat|exfat|reiserfs)[A-Za-z0-9_-]{0,23})(?:/(?<scheduler>[A-Za-z0-9_-]{0,29}))?:[ \t]*(?<least>[^\s-][^\n-]*?)(?:-(?<most>.*?))?s[ \t]*$";

pub(super) static COMPLETIONS: Tool = tool! {
    "stopwatch", "a list of completion times", 1000.0, facts: of_run;
    ["lines 'ext4: 123s' or 'xfs/cfq: 94-96s'": ENTRY]
    Gives ENTRY => of_entry;
};

fn of_run(_: &mut Known, run: &mut ImportedRun) {
    run.note("a list of completion times; what was done, and on what, is not in the text");
}

fn of_entry(known: &Known) -> Made {
    let low = wanted("the time", known.number("least"))?;
    let high =
        if known.has("most") { wanted("the end of the range", known.number("most"))? } else { low };
    if high < low {
        return Err("the range ends before it begins".to_owned());
    }
    let middle = (low + high) / 2.0;
    let is_range = low < high;
    let text = format!("a range is given, {low} to {high} s; shown is its middle");
    let cell = cell("completion", None, None, None)
        .label("work", "completion")
        .label("filesystem", known.text("fs"))
        .label("scheduler", known.text("scheduler"))
        .took(middle * 1e9)
        .other("completion_ns", middle * 1e9, 1)
        .other("least_completion_ns", is_range.then_some(low * 1e9), 1)
        .other("largest_completion_ns", is_range.then_some(high * 1e9), 1)
        .note_if(is_range, &text);
    Ok(vec![cell])
}
