//! `/proc/diskstats` and `stat` in sysfs (docs/field/linux-io.md#iostat-columns; kernel
//! documentation admin-guide/iostats).

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use record::Counters;

use crate::roots::{DeviceNumber, Roots};

/// The counters of one device since the system started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskStats {
    /// Device number of the disk or partition.
    pub number: DeviceNumber,
    /// Kernel name of the disk or partition: "sda1".
    pub name: String,
    /// Number of I/Os in flight now.
    pub in_flight: u64,
    /// Running totals of I/Os, sectors and milliseconds, as the kernel keeps them.
    pub counters: Counters,
}

/// Counters of all devices and partitions, in the kernel's order; empty if the file cannot be read.
pub fn diskstats(roots: &Roots) -> Vec<DiskStats> {
    parse_diskstats(&fs::read_to_string(roots.proc.join("diskstats")).unwrap_or_default())
}

/// Parses the text of `/proc/diskstats`; ignores lines of another form.
fn parse_diskstats(text: &str) -> Vec<DiskStats> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<DiskStats> {
    let mut words = line.split_whitespace();
    let major = words.next()?.parse().ok()?;
    let minor = words.next()?.parse().ok()?;
    let name = words.next()?.to_owned();
    let fields = numbers(words)?;
    Some(DiskStats {
        number: DeviceNumber { major, minor },
        name,
        in_flight: *fields.get(8)?,
        counters: Counters::from_fields(&fields)?,
    })
}

fn numbers<'a>(words: impl Iterator<Item = &'a str>) -> Option<Vec<u64>> {
    words.map(str::parse).collect::<Result<_, _>>().ok()
}

/// The open counters of one device for repeated reads: a tenth of the cost of the list of all.
#[derive(Debug)]
pub struct StatFile(File);

impl StatFile {
    /// Opens `stat` of the device or partition with that number.
    pub fn open(roots: &Roots, number: DeviceNumber) -> io::Result<StatFile> {
        File::open(roots.sys.join(format!("dev/block/{number}/stat"))).map(StatFile)
    }

    /// Present counters. An error once the device is gone.
    pub fn read(&self) -> io::Result<Counters> {
        // 17 numbers of at most 20 digits, and what later kernels may add
        let mut text = [0; 1024];
        let length = self.0.read_at(&mut text, 0)?;
        let text = str::from_utf8(&text[..length]).unwrap_or_default();
        let counters = numbers(text.split_whitespace()).as_deref().and_then(Counters::from_fields);
        counters.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "the kernel's counters are not in the form known",
            )
        })
    }
}

/// True if the kernel's counters of a device include all of its I/O: they are enabled, have ever
/// counted anything, and the file system on it is on no other device too. `filesystem` is the kind
/// of the file system through which it is used.
pub fn counts_all(roots: &Roots, number: DeviceNumber, filesystem: Option<&str>) -> bool {
    let dir = roots.sys.join(format!("dev/block/{number}"));
    // The queue of a partition is that of its disk.
    let is_off = ["queue/iostats", "../queue/iostats"]
        .iter()
        .any(|path| crate::roots::flag(&dir.join(path)) == Some(false));
    // Some drivers (a disk with several paths before Linux 6.4) count nothing at all; who finds a
    // medium has read of it.
    let counts = StatFile::open(roots, number)
        .and_then(|stat| stat.read())
        .is_ok_and(|all| all.read.ios + all.write.ios > 0);
    counts && !is_off && !is_one_of_several(roots, &dir, filesystem)
}

/// True if the file system is on several devices, of which this is one.
fn is_one_of_several(roots: &Roots, dir: &std::path::Path, filesystem: Option<&str>) -> bool {
    match filesystem {
        Some("btrfs") => {
            let name = fs::canonicalize(dir).ok().and_then(|dir| Some(dir.file_name()?.to_owned()));
            let volumes = fs::read_dir(roots.sys.join("fs/btrfs"))
                .into_iter()
                .flatten()
                .flatten()
                .map(|volume| volume.path().join("devices"));
            let ours = volumes
                .filter(|devices| name.as_ref().is_some_and(|name| devices.join(name).exists()));
            ours.into_iter().any(|devices| fs::read_dir(devices).into_iter().flatten().count() > 1)
        }
        // They do not say in sysfs what they lie on.
        Some("zfs" | "bcachefs") => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_device_of_this_machine_has_counters() {
        let roots = Roots::default();
        let known: Vec<DeviceNumber> = diskstats(&roots).iter().map(|disk| disk.number).collect();
        for disk in crate::list(&roots)
            .iter()
            .filter(|disk| disk.size_bytes > 0 && !disk.name.starts_with("loop"))
        {
            assert!(known.contains(&disk.number), "{}", disk.name);
        }
    }
}
