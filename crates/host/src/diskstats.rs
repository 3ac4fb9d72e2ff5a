//! `/proc/diskstats` (flash.md A8; kernel documentation admin-guide/iostats).

use std::fs;

use crate::roots::{DeviceNumber, Roots};

/// The counters of one device since the system started. Sectors are 512 bytes, whatever the medium's own are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskStats {
    /// Device number.
    pub number: DeviceNumber,
    /// Kernel name.
    pub name: String,
    /// Reads completed.
    pub reads: u64,
    /// Reads merged with a neighbour before they were issued.
    pub reads_merged: u64,
    /// Sectors read.
    pub sectors_read: u64,
    /// Time all reads took together, in ms.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Writes merged.
    pub writes_merged: u64,
    /// Sectors written.
    pub sectors_written: u64,
    /// Time all writes took together, in ms.
    pub write_ms: u64,
    /// I/Os in flight now: the only figure that is no running total.
    pub in_flight: u64,
    /// Time with at least one I/O in flight, in ms; counted in jiffies since Linux 5.0.
    pub busy_ms: u64,
    /// Time times I/Os in flight, in ms.
    pub weighted_ms: u64,
    /// Discards, since Linux 4.18.
    pub discards: Option<Discards>,
    /// Flushes, since Linux 5.5; whole devices only.
    pub flushes: Option<Flushes>,
}

/// Discard counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discards {
    /// Completed.
    pub discards: u64,
    /// Merged.
    pub merged: u64,
    /// Sectors discarded.
    pub sectors: u64,
    /// Time all took together, in ms.
    pub ms: u64,
}

/// Flush counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flushes {
    /// Completed.
    pub flushes: u64,
    /// Time all took together, in ms.
    pub ms: u64,
}

/// All devices, in the kernel's order; empty where the file cannot be read.
pub fn diskstats(roots: &Roots) -> Vec<DiskStats> {
    parse_diskstats(&fs::read_to_string(roots.proc.join("diskstats")).unwrap_or_default())
}

/// Reads the text of `/proc/diskstats`; lines of another form are passed over.
pub fn parse_diskstats(text: &str) -> Vec<DiskStats> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<DiskStats> {
    let mut words = line.split_whitespace();
    let major = words.next()?.parse().ok()?;
    let minor = words.next()?.parse().ok()?;
    let name = words.next()?.to_owned();
    let fields: Vec<u64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    let [
        reads,
        reads_merged,
        sectors_read,
        read_ms,
        writes,
        writes_merged,
        sectors_written,
        write_ms,
        in_flight,
        busy_ms,
        weighted_ms,
        later @ ..,
    ] = fields.as_slice()
    else {
        return None;
    };
    let discards = match later {
        [discards, merged, sectors, ms, ..] => Some(Discards { discards: *discards, merged: *merged, sectors: *sectors, ms: *ms }),
        _ => None,
    };
    let flushes = match later {
        [_, _, _, _, flushes, ms, ..] => Some(Flushes { flushes: *flushes, ms: *ms }),
        _ => None,
    };
    Some(DiskStats {
        number: DeviceNumber { major, minor },
        name,
        reads: *reads,
        reads_merged: *reads_merged,
        sectors_read: *sectors_read,
        read_ms: *read_ms,
        writes: *writes,
        writes_merged: *writes_merged,
        sectors_written: *sectors_written,
        write_ms: *write_ms,
        in_flight: *in_flight,
        busy_ms: *busy_ms,
        weighted_ms: *weighted_ms,
        discards,
        flushes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_three_kernel_generations_are_read() {
        let text = "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n 179 0 mmcblk0 1 2 3 4 5 6 7 8 0 10 11 12 13 14 15\n\
                    254 0 vda 1 2 3 4 5 6 7 8 0 10 11 12 13 14 15 16 17 18\n   3 1 hda1 35486 0 35496 38030\ngarbage\n";
        let all = parse_diskstats(text);
        let names: Vec<&str> = all.iter().map(|disk| disk.name.as_str()).collect();
        assert_eq!(names, ["sda", "mmcblk0", "vda"]);
        assert_eq!((all[0].reads, all[0].write_ms, all[0].in_flight, all[0].weighted_ms), (1, 8, 9, 11));
        assert_eq!((all[0].discards, all[0].flushes, all[1].flushes), (None, None, None));
        assert_eq!(all[1].discards, Some(Discards { discards: 12, merged: 13, sectors: 14, ms: 15 }));
        assert_eq!(all[2].flushes, Some(Flushes { flushes: 16, ms: 17 }));
        assert_eq!(all[2].number.to_string(), "254:0");
    }

    #[test]
    fn every_listed_device_of_this_machine_has_counters() {
        let roots = Roots::default();
        let known: Vec<DeviceNumber> = diskstats(&roots).iter().map(|disk| disk.number).collect();
        for disk in crate::list(&roots).iter().filter(|disk| disk.size_bytes > 0 && !disk.name.starts_with("loop")) {
            assert!(known.contains(&disk.number), "{}", disk.name);
        }
    }
}
