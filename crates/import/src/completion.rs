//! Lists of how long a work took on each file system and scheduler: "ext2: 117s", "xfs/cfq:
//! 94-96s". The form in which the articles that Flashmark grew out of give the completion times of
//! a monitoring system's update.

use record::{Cell, Params};

use super::imported_run::{ImportTrouble, ImportedRun, cell, label, note, other, whole_ns};
use super::reading::Reading;
use super::text::{ImportText, number, wanted};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "a list of completion times",
    signs: &[Sign {
        what: "lines 'ext4: 123s' or 'xfs/cfq: 94-96s'",
        is_there: |source| source.has(|line| entry(line).is_some()),
    }],
    read,
    chatter: |_| false,
};

/// File systems as such lists call them (a name may go on: "xfslazy", "ext4nj").
const FILESYSTEMS: [&str; 11] =
    ["ext2", "ext3", "ext4", "xfs", "jfs", "btrfs", "f2fs", "nilfs2", "vfat", "exfat", "reiserfs"];

/// File system, scheduler, least and largest seconds as printed.
fn entry(line: &str) -> Option<(&str, &str, &str, &str)> {
    let (what, time) = line.trim().split_once(':')?;
    let (filesystem, scheduler) = what.split_once('/').unwrap_or((what, ""));
    FILESYSTEMS.iter().any(|known| filesystem.starts_with(known)).then_some(())?;
    let seconds = time.trim().strip_suffix('s')?;
    let (low, high) = seconds.split_once('-').unwrap_or((seconds, seconds));
    let plain = |text: &str| {
        !text.is_empty()
            && text.len() < 30
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    };
    (plain(filesystem) && (scheduler.is_empty() || plain(scheduler))).then_some((
        filesystem,
        scheduler,
        low.trim(),
        high.trim(),
    ))
}

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("stopwatch");
    for (at, line) in source.numbered() {
        let Some((filesystem, scheduler, low, high)) = entry(line) else { continue };
        if let Some((low, high)) = reading.accept(at, range(at, low, high)) {
            reading.add(&mut found, at, of_times(filesystem, scheduler, low, high));
        }
    }
    found
        .notes
        .push("a list of completion times; what was done, and on what, is not in the text".into());
    vec![found]
}

fn range(at: usize, low: &str, high: &str) -> Result<(f64, f64), ImportTrouble> {
    let low = wanted(at, "the time", number(low))?;
    let high = wanted(at, "the end of the range", number(high))?;
    if high < low {
        return Err(ImportTrouble::at(at, "the range ends before it begins"));
    }
    Ok((low, high))
}

fn of_times(filesystem: &str, scheduler: &str, low: f64, high: f64) -> Cell {
    let mut cell = cell("completion", Params::default());
    label(&mut cell, "work", "completion");
    label(&mut cell, "filesystem", filesystem);
    label(&mut cell, "scheduler", scheduler);
    cell.elapsed_ns = whole_ns((low + high) / 2.0 * 1e9);
    other(&mut cell, "completion_ns", (low + high) / 2.0 * 1e9, 1);
    if low < high {
        other(&mut cell, "least_completion_ns", low * 1e9, 1);
        other(&mut cell, "largest_completion_ns", high * 1e9, 1);
        note(&mut cell, format!("a range is given, {low} to {high} s; shown is its middle"));
    }
    cell
}
