//! The kernel's table of file locks, `/proc/locks` (proc_locks(5)).

use std::fs;

use blockio::FileIdentity;

use super::process::own_number;
use super::{LockKind, Process};
use crate::roots::{DeviceNumber, Roots};

/// One lock that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeldLock {
    pub kind: LockKind,
    device: DeviceNumber,
    inode: u64,
    /// The process that took it; `None` for a lock that belongs to no process.
    process: Option<Process>,
    ours: bool,
}

impl HeldLock {
    /// True if it is on this file.
    pub fn is_on(&self, file: FileIdentity) -> bool {
        (self.device, self.inode) == (DeviceNumber::from_raw(file.device), file.inode)
    }

    /// True if this process took it.
    pub fn is_ours(&self) -> bool {
        self.ours
    }

    /// The process that took it, if that is known.
    pub fn process(&self) -> Option<Process> {
        self.process.clone()
    }
}

/// All locks that are held.
pub(super) fn all(roots: &Roots) -> Vec<HeldLock> {
    let table = fs::read_to_string(roots.proc.join("locks")).unwrap_or_default();
    let own = own_number(roots);
    table.lines().filter_map(|line| parse(roots, own, line)).collect()
}

/// Parses one line: `1: FLOCK ADVISORY WRITE 4242 08:01:12345 0 EOF`. A waiting lock has `->`
/// before its kind and holds nothing.
fn parse(roots: &Roots, own: u32, line: &str) -> Option<HeldLock> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let kind = LockKind::named(words.get(1)?)?;
    let mut place = words.get(5)?.split(':');
    let mut hex = || u32::from_str_radix(place.next()?, 16).ok();
    let device = DeviceNumber { major: hex()?, minor: hex()? };
    let inode = place.next()?.parse().ok()?;
    let number: Option<u32> = words.get(4)?.parse().ok().filter(|number| *number > 0);
    let process = number.and_then(|number| Process::find(roots, number));
    Some(HeldLock { kind, device, inode, process, ours: number == Some(own) })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn no_line_makes_it_panic(line in "\\PC*", words in "[0-9: A-Z>-]*") {
            let roots = Roots::copied(std::path::Path::new("/nowhere"));
            let _ = parse(&roots, 1, &line);
            let _ = parse(&roots, 1, &words);
        }
    }
}
