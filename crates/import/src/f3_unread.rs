//! Files that f3read could not read to their ends.

use record::units::saturating_sum;
use record::{Cell, Stop};

use super::errno::{Errno, ErrorSide};
use super::failed;
use super::reading::Reading;
use super::text::{ImportText, whole};

/// Sectors of all files but the last.
const SECTORS: u64 = 2 << 20;
/// The number of EIO, which f3 names in its own words as well.
const EIO: u32 = 5;

/// Ends what was verified by the error that f3read met.
pub(super) fn end(cell: &mut Cell, source: &ImportText, reading: &mut Reading) {
    let files: Vec<(usize, &str, Errno)> =
        source.numbered().filter_map(|(at, line)| Some((at, line, error(line)?))).collect();
    let of_medium = files.iter().find(|(.., error)| error.origin == ErrorSide::Medium);
    let Some((_, _, first)) = of_medium.or(files.first()) else {
        if source.contains("Not all data was read due to I/O error") {
            failed::end(cell, "f3", &Errno::of_number(EIO));
        }
        return;
    };
    failed::end(cell, "f3", first);
    if first.origin == ErrorSide::Medium {
        let which: Vec<String> =
            files.iter().take(3).filter_map(|(at, line, _)| unread(source, *at, line)).collect();
        cell.stop = Stop::Error;
        cell.reason = Some(format!("{}: {first}", which.join(", ")));
    }
    files.iter().for_each(|(at, ..)| reading.take(*at));
}

/// "Validating file 1.h2w ...  833792/ 0/ 0/ 0 - NOT fully read due to "Input/output error"".
fn error(line: &str) -> Option<Errno> {
    let (_, words) = line.split_once("NOT fully read due to ")?;
    Errno::in_text(words.trim().trim_matches('"'))
}

/// "file 1 had 833792 of 2097152 sectors read"; how many the last file has is not said.
fn unread(source: &ImportText, at: usize, line: &str) -> Option<String> {
    let (file, rest) = line.trim().strip_prefix("Validating file ")?.split_once('.')?;
    let counts = rest.split_once("...")?.1.split(" - ").next()?;
    let read = saturating_sum(counts.split('/').filter_map(whole));
    let is_last = !source
        .numbered()
        .any(|(place, line)| place > at && line.trim().starts_with("Validating file "));
    let all = if is_last { String::new() } else { format!(" of {SECTORS}") };
    Some(format!("file {file} had {read}{all} sectors read"))
}
