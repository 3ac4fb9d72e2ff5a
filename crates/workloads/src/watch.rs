//! Activity of a device over time, by the kernel's own counters: the columns of `iostat -x`
//! (docs/field/linux-io.md#iostat-columns).
//!
//! The columns are [`record::Activity`], a pure function of two readings of the counters and the
//! time between. This module finds a device by any of its names, reads its counters, and notices
//! when it is gone. Needs no rights.

mod table;

use std::fs;
use std::path::{Path, PathBuf};

use host::{DeviceNumber, DiskStats, Node, Roots};
use record::alike::closest;
use record::{Activity, Counters};

pub use table::{header, line, object, shown};

/// Reason why a device cannot be watched, or not any longer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WatchError(String);

/// Device or partition that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Kernel name of the disk or partition: "sda1".
    pub name: String,
    /// Device number, by which it is recognised from here on.
    pub number: DeviceNumber,
    /// The kernel's count of media: another medium in the same slot has another count.
    diskseq: Option<String>,
}

/// The counters of some devices at one moment.
#[derive(Clone, Debug)]
pub struct CounterSnapshot {
    at_ns: u64,
    all: Vec<DiskStats>,
}

/// Finds a device by its kernel name (`sda1`), any path to its node, or its name under
/// `/dev/disk/by-id`.
pub fn find(roots: &Roots, asked: &str) -> Result<Watched, WatchError> {
    let known = host::diskstats(roots);
    let path = Path::new(asked);
    let places =
        [path.to_owned(), Path::new("/dev").join(asked), Path::new("/dev/disk/by-id").join(asked)];
    // A bare word is a name of the kernel's before it is a file that happens to lie here.
    let by_name = known
        .iter()
        .find(|disk| disk.name == asked || disk.name.replace('!', "/") == asked)
        .map(|disk| disk.number);
    let number = by_name.or_else(|| places.iter().find_map(|place| roots.block_number(place)));
    let Some(number) = number else { return Err(not_found(roots, asked, &known)) };
    let name = known.iter().find(|disk| disk.number == number).map(|disk| disk.name.clone());
    let name = name.ok_or_else(|| {
        WatchError(format!(
            "the kernel counts nothing for {asked}: /proc/diskstats does not name it"
        ))
    })?;
    let watched = Watched { diskseq: attribute(roots, number, "diskseq"), name, number };
    match watched.size(roots).as_deref() {
        Some("0") => Err(WatchError(format!(
            "{} holds no medium (size 0); put one in, or see `flashmark list`",
            watched.name
        ))),
        _ => Ok(watched),
    }
}

/// Error that says what is there instead.
fn not_found(roots: &Roots, asked: &str, known: &[DiskStats]) -> WatchError {
    let path = Path::new(asked);
    let what = match roots.node(path) {
        Ok(Node::Directory) => "a directory",
        Ok(Node::File) => "a file",
        Ok(Node::Character) => "a character device",
        Ok(Node::Fifo | Node::Socket) => "a pipe or socket",
        Ok(Node::Block(_)) | Err(_) => {
            let by_id = names_in(&roots.dev.join("disk/by-id"));
            let names =
                known.iter().map(|disk| disk.name.as_str()).chain(by_id.iter().map(String::as_str));
            let near = closest(asked.rsplit('/').next().unwrap_or(asked), names);
            let else_type = match near.as_slice() {
                [] => "`flashmark list` shows what is plugged in".to_owned(),
                near => format!("did you mean {}?", near.join(" or ")),
            };
            return WatchError(format!("there is no device '{asked}'; {else_type}"));
        }
    };
    let place = host::device_of_directory(roots, path).ok();
    let on = place.and_then(|place| {
        place.partition.map(|part| part.name).or(place.disk.map(|disk| disk.name))
    });
    let on = on.map(|on| format!("; it is on {on}")).unwrap_or_default();
    WatchError(format!("'{asked}' is {what}, not a block device{on}"))
}

fn names_in(dir: &Path) -> Vec<String> {
    fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

/// Short text of a sysfs attribute of a device.
fn attribute(roots: &Roots, number: DeviceNumber, name: &str) -> Option<String> {
    let directory: PathBuf = roots.sys.join("dev/block").join(number.to_string());
    fs::read_to_string(directory.join(name)).ok().map(|text| text.trim().to_owned())
}

impl Watched {
    fn size(&self, roots: &Roots) -> Option<String> {
        attribute(roots, self.number, "size")
    }

    /// Activity between two snapshots; an error if the device is gone, or another one has its name.
    pub fn activity(
        &self,
        roots: &Roots,
        before: &CounterSnapshot,
        after: &CounterSnapshot,
    ) -> Result<Activity, WatchError> {
        let gone = |how| WatchError(format!("{} is gone: {how}", self.name));
        let counters = |look: &CounterSnapshot| {
            let is_it = |disk: &&DiskStats| disk.number == self.number && disk.name == self.name;
            look.all.iter().find(is_it).map(|disk| disk.counters)
        };
        let (Some(first), Some(last)) = (counters(before), counters(after)) else {
            return Err(gone("the kernel does not know it any more"));
        };
        if self.size(roots).as_deref() == Some("0") {
            return Err(gone("there is no medium in it any more"));
        }
        let another = || gone("another medium has taken its place");
        if attribute(roots, self.number, "diskseq") != self.diskseq {
            return Err(another());
        }
        Activity::between(&first, &last, after.at_ns.saturating_sub(before.at_ns))
            .ok_or_else(another)
    }
}

/// Reads the counters of all devices at once.
pub fn look(roots: &Roots) -> CounterSnapshot {
    CounterSnapshot { at_ns: blockio::now_ns(), all: host::diskstats(roots) }
}

/// Every disk that has moved anything since boot, and a look at boot, when nothing was counted.
pub fn since_boot(roots: &Roots) -> (Vec<Watched>, CounterSnapshot) {
    let has_moved = |disk: &DiskStats| disk.counters != Counters::default();
    let is_disk = |disk: &DiskStats| roots.sys.join("block").join(&disk.name).exists();
    let known = host::diskstats(roots).into_iter().filter(|disk| is_disk(disk) && has_moved(disk));
    let all: Vec<DiskStats> =
        known.map(|disk| DiskStats { counters: Counters::default(), ..disk }).collect();
    let watched = all.iter().filter_map(|disk| find(roots, &disk.name).ok()).collect();
    (watched, CounterSnapshot { at_ns: 0, all })
}

#[cfg(test)]
mod tests;
