//! Lists of the time that a work took on each file system and scheduler: "ext2: 117s", "xfs/cfq:
//! 94-96s". The articles behind Flashmark give the completion times of a monitoring system's update
//! in this form.

use record::{Cell, Params};
use regex::Captures;

use super::imported_run::{ImportTrouble, ImportedRun, cell, label, note, other, whole_ns};
use super::text::{group, number, re, wanted};
use super::{Importer, sign};

/// An entry: file system (a name may go on: "xfslazy", "ext4nj"), scheduler, least and largest
/// seconds.
const ENTRY: &str = r"(?m)^[ \t]*((?:ext[234]|xfs|jfs|btrfs|f2fs|nilfs2|vfat|exfat|reiserfs)[A-Za-z0-9_-]{0,23})(?:/([A-Za-z0-9_-]{0,29}))?:[ \t]*([^\s-][^\n-]*?)(?:-(.*?))?s[ \t]*$";

pub(super) const IMPORTER: Importer = Importer {
    name: "a list of completion times",
    signs: &[sign!("lines 'ext4: 123s' or 'xfs/cfq: 94-96s'", ENTRY)],
    read: |source, _, reading| {
        let mut found = ImportedRun::by("stopwatch");
        for (at, entry) in source.captures(re!(ENTRY)) {
            if let Some(cell) = reading.accept(at, of_entry(at, &entry)) {
                reading.add(&mut found, at, cell);
            }
        }
        let text = "a list of completion times; what was done, and on what, is not in the text";
        found.notes.push(text.into());
        vec![found]
    },
    is_ignored_line: |_| false,
};

fn of_entry(at: usize, entry: &Captures) -> Result<Cell, ImportTrouble> {
    let low = wanted(at, "the time", number(group(entry, 3)))?;
    let high = entry.get(4).map(|high| wanted(at, "the end of the range", number(high.as_str())));
    let high = high.transpose()?.unwrap_or(low);
    if high < low {
        return Err(ImportTrouble::at(at, "the range ends before it begins"));
    }
    let mut cell = cell("completion", Params::default());
    label(&mut cell, "work", "completion");
    label(&mut cell, "filesystem", group(entry, 1));
    label(&mut cell, "scheduler", group(entry, 2));
    cell.elapsed_ns = whole_ns((low + high) / 2.0 * 1e9);
    other(&mut cell, "completion_ns", (low + high) / 2.0 * 1e9, 1);
    if low < high {
        other(&mut cell, "least_completion_ns", low * 1e9, 1);
        other(&mut cell, "largest_completion_ns", high * 1e9, 1);
        note(&mut cell, format!("a range is given, {low} to {high} s; shown is its middle"));
    }
    Ok(cell)
}
