//! Storage under a mounted file system: a device, memory, or unknown. For an overlay that is its
//! upper layer, which takes all writes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::filesystems::{FsClass, fs_class};
use crate::mounts::{Mount, mount_of, unescape, without_backslashes};
use crate::roots::{DeviceNumber, flag};
use crate::topology::{BackedBy, BlockDeviceEntry, BlockTopology};

/// Greatest depth of layers that is followed. The kernel allows two overlays over one another;
/// files under loop devices may be stacked any number of times.
const DEEPEST: usize = 8;

/// Storage of the data written to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredOn {
    /// A block device.
    Device(DeviceNumber),
    /// Main memory (tmpfs and its like).
    Memory,
    /// Unknown: a network, or layers that this process cannot see.
    Unknown,
}

/// Storage of a directory or file (absolute, links resolved) on this mount.
///
/// On an overlay, the storage of a directory is that of its upper layer. A file in a lower layer is
/// read there and written above, so its storage is unknown unless both are on one device. Without
/// an upper layer nothing can be written: a file is stored in the first lower layer that has it, a
/// directory only if all are on one device.
pub(crate) fn stored_on(topology: &BlockTopology<'_>, mount: &Mount, path: &Path) -> StoredOn {
    follow(topology, mount, path, 0)
}

/// One level of the storage of a block device.
pub(crate) enum Level<'a> {
    /// The device itself, or one below it.
    Device(&'a BlockDeviceEntry),
    /// The mount with a file that holds the content of one, and what it is stored on.
    File(&'a Mount, StoredOn),
}

/// True if a block device or something that its data is stored on is `wanted`.
pub(crate) fn any_level(
    topology: &BlockTopology<'_>,
    number: DeviceNumber,
    wanted: &mut dyn FnMut(Level<'_>) -> bool,
) -> bool {
    any_from(topology, number, 0, wanted)
}

fn any_from(
    topology: &BlockTopology<'_>,
    number: DeviceNumber,
    depth: usize,
    wanted: &mut dyn FnMut(Level<'_>) -> bool,
) -> bool {
    let Some((slot, _)) = topology.find(number).filter(|_| depth <= DEEPEST) else { return false };
    if wanted(Level::Device(slot)) {
        return true;
    }
    slot.backed_by.iter().any(|below| {
        let number = match below {
            BackedBy::Device(number) => *number,
            BackedBy::File(file) => {
                let mount = mount_of(topology.roots, &topology.mounts, &file.path);
                let Some(mount) = mount else { return false };
                match follow(topology, mount, &file.path, depth) {
                    on if wanted(Level::File(mount, on)) => return true,
                    StoredOn::Device(number) => number,
                    StoredOn::Memory | StoredOn::Unknown => return false,
                }
            }
        };
        any_from(topology, number, depth + 1, wanted)
    })
}

/// True if a block device keeps its data in memory: the device itself, or its backing file.
pub(crate) fn in_memory(topology: &BlockTopology<'_>, number: DeviceNumber) -> bool {
    any_level(topology, number, &mut |level| match level {
        Level::Device(slot) => {
            let driver = slot.name.trim_end_matches(|c: char| c.is_ascii_digit());
            matches!(driver, "ram" | "zram")
        }
        Level::File(_, stored_on) => stored_on == StoredOn::Memory,
    })
}

/// True if a file is kept in memory, by its mount.
pub(crate) fn file_in_memory(topology: &BlockTopology<'_>, path: &Path) -> bool {
    let mount = mount_of(topology.roots, &topology.mounts, path);
    match mount.map(|mount| stored_on(topology, mount, path)) {
        Some(StoredOn::Memory) => true,
        Some(StoredOn::Device(number)) => in_memory(topology, number),
        Some(StoredOn::Unknown) | None => false,
    }
}

/// True if a block device, or one below it, is a loop device through the page cache.
pub(crate) fn is_host_cached(topology: &BlockTopology<'_>, number: DeviceNumber) -> bool {
    any_level(
        topology,
        number,
        &mut |level| matches!(level, Level::Device(slot) if flag(&slot.dir.join("loop/dio")) == Some(false)),
    )
}

fn follow(topology: &BlockTopology<'_>, mount: &Mount, path: &Path, depth: usize) -> StoredOn {
    match fs_class(&mount.kind) {
        _ if depth > DEEPEST => StoredOn::Unknown,
        // whatever its source is called: `mount -t tmpfs /dev/sda1 /mnt` is memory
        FsClass::Memory => StoredOn::Memory,
        FsClass::Overlay if mount.kind == "overlay" => overlay(topology, mount, path, depth),
        FsClass::Overlay | FsClass::Remote | FsClass::Pseudo => StoredOn::Unknown,
        FsClass::Local => topology.device_of(mount).map_or(StoredOn::Unknown, StoredOn::Device),
    }
}

fn overlay(topology: &BlockTopology<'_>, mount: &Mount, path: &Path, depth: usize) -> StoredOn {
    let of_layer = |layer: &PathBuf| {
        let under =
            mount_of(topology.roots, &topology.mounts, layer).filter(|under| under.id != mount.id);
        under.map_or(StoredOn::Unknown, |under| follow(topology, under, layer, depth + 1))
    };
    let inside = inside(mount, path);
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let has_it = |layer: &&PathBuf| fs::symlink_metadata(layer.join(&inside)).is_ok();
    let lower = || {
        let layers = lower_layers(mount)?;
        let mut places = if is_file {
            layers.iter().find(has_it).map(of_layer).into_iter().collect()
        } else {
            layers.iter().map(of_layer).collect::<Vec<_>>()
        };
        places.dedup();
        (places.len() == 1).then(|| places[0])
    };
    match upper_layer(mount) {
        UpperLayer::None => lower().unwrap_or(StoredOn::Unknown),
        UpperLayer::Hidden => StoredOn::Unknown,
        UpperLayer::At(upper) => {
            let above = of_layer(&upper);
            let split =
                is_file && above != StoredOn::Memory && !has_it(&&upper) && lower() != Some(above);
            if split { StoredOn::Unknown } else { above }
        }
    }
}

/// A path relative to the root of its overlay.
fn inside(mount: &Mount, path: &Path) -> PathBuf {
    let below = path.strip_prefix(&mount.at).unwrap_or(Path::new(""));
    Path::new(mount.root.trim_start_matches('/')).join(below)
}

/// The writable layer of an overlay.
enum UpperLayer {
    /// There is none, so nothing can be written.
    None,
    /// There is one that this process cannot see.
    Hidden,
    At(PathBuf),
}

fn upper_layer(mount: &Mount) -> UpperLayer {
    let Some(raw) = mount.option("upperdir") else { return UpperLayer::None };
    let plain = unescape(raw);
    // older kernels show the path as it was given, with a backslash before what the option's syntax
    // minds
    let found = directory(&plain).or_else(|| directory(&without_backslashes(&plain)));
    found.map_or(UpperLayer::Hidden, UpperLayer::At)
}

/// The read-only layers, uppermost first; `None` if one of them cannot be seen. One list in
/// `lowerdir`, or since Linux 6.8 one `lowerdir+` for each (the kernel's
/// Documentation/filesystems/overlayfs.rst).
fn lower_layers(mount: &Mount) -> Option<Vec<PathBuf>> {
    let single = mount
        .super_options
        .split(',')
        .filter_map(|option| option.strip_prefix("lowerdir+="))
        .map(unescape);
    let listed = mount.option("lowerdir").map(split_list).unwrap_or_default();
    let layers: Option<Vec<PathBuf>> = single
        .chain(listed)
        .map(|layer| directory(&layer).or_else(|| directory(&without_backslashes(&layer))))
        .collect();
    layers.filter(|layers| !layers.is_empty())
}

/// The parts of `lowerdir`. A colon in a path has a backslash before it, which the mount table
/// writes as `\134`, or is written as `\072`. Paths after `::` hold only data, no names, and are
/// left out.
fn split_list(raw: &str) -> Vec<String> {
    const PLACEHOLDER: char = '\u{0}';
    let guarded = raw.replace("\\134:", "\u{0}").replace("\\:", "\u{0}");
    let named = guarded.split("::").next().unwrap_or_default();
    named.split(':').map(|part| unescape(&part.replace(PLACEHOLDER, "\\072"))).collect()
}

/// A directory with that absolute path that this process can see, links resolved.
fn directory(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let real = path.is_absolute().then(|| fs::canonicalize(path).ok()).flatten()?;
    real.is_dir().then_some(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_layers_are_read_as_the_mount_table_writes_them() {
        assert_eq!(split_list("/a:/b\\040c"), ["/a", "/b c"]);
        assert_eq!(split_list("/a\\134:b:/c\\072d:/e\\054f"), ["/a:b", "/c:d", "/e,f"]);
        assert_eq!(split_list("/a\\:b::/data"), ["/a:b"]);
        assert_eq!(without_backslashes("/a\\,b\\\\c"), "/a,b\\c");
        assert!(directory("l/ABC").is_none() && directory("/no/such/layer").is_none());
    }

    proptest::proptest! {
        #[test]
        fn no_option_makes_it_panic(text in r"[\\0-9:a-f,/]*") {
            let _ = split_list(&text);
            let _ = without_backslashes(&text);
        }
    }
}
