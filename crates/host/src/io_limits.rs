//! Limits of control groups on the I/O of this process to a device
//! (docs/field/linux-io.md#control-groups).

use std::fs;
use std::path::{Path, PathBuf};

use record::{Flag, IoLimitKind};

use crate::mounts::{Mount, mounts};
use crate::roots::{DeviceNumber, Roots};

/// File of cgroup version 2 that holds all limits of a group.
const IO_MAX: &str = "io.max";

/// Flags for the limits that apply to this process on a device, in bytes or requests per second:
/// the lowest of each kind. Groups above a container's own are not visible.
pub fn io_limits(roots: &Roots, number: DeviceNumber) -> Vec<Flag> {
    let found: Vec<(IoLimitKind, u64)> =
        files(roots).iter().flat_map(|file| limits_of(file, number)).collect();
    let lowest = |limit| {
        let of_kind = found.iter().filter(|(kind, _)| *kind == limit);
        let per_second = of_kind.map(|(_, per_second)| *per_second).min()?;
        Some(Flag::IoLimit { limit, per_second })
    };
    IoLimitKind::ALL.into_iter().filter_map(lowest).collect()
}

/// Every file that may hold a limit: in cgroup version 2 those of the group and all above it, in
/// version 1 of the group alone, whose limits do not add up along the tree.
fn files(roots: &Roots) -> Vec<PathBuf> {
    let groups = fs::read_to_string(roots.proc.join("self/cgroup")).unwrap_or_default();
    let mounts = mounts(roots);
    groups.lines().filter_map(|line| files_of(line, &mounts)).flatten().collect()
}

/// The files of one line of `/proc/self/cgroup`: `number:controllers:path`.
fn files_of(line: &str, mounts: &[Mount]) -> Option<Vec<PathBuf>> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    let is_v2 = controllers.is_empty();
    if !is_v2 && !controllers.split(',').any(|name| name == "blkio") {
        return None;
    }
    let is_it = |mount: &&Mount| match is_v2 {
        true => mount.kind == "cgroup2",
        false => mount.kind == "cgroup" && mount.has_option("blkio"),
    };
    let mount = mounts.iter().find(is_it)?;
    let below = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let below = below.strip_prefix("/").unwrap_or(below);
    Some(match is_v2 {
        true => below.ancestors().map(|group| mount.at.join(group).join(IO_MAX)).collect(),
        false => {
            let file = |kind: IoLimitKind| mount.at.join(below).join(names(kind).0);
            IoLimitKind::ALL.map(file).to_vec()
        }
    })
}

/// The file of a kind in version 1, and its key in `io.max`.
fn names(kind: IoLimitKind) -> (&'static str, &'static str) {
    match kind {
        IoLimitKind::ReadBps => ("blkio.throttle.read_bps_device", "rbps"),
        IoLimitKind::WriteBps => ("blkio.throttle.write_bps_device", "wbps"),
        IoLimitKind::ReadIops => ("blkio.throttle.read_iops_device", "riops"),
        IoLimitKind::WriteIops => ("blkio.throttle.write_iops_device", "wiops"),
    }
}

fn limits_of(file: &Path, number: DeviceNumber) -> Vec<(IoLimitKind, u64)> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let of_device = text.lines().filter_map(|line| {
        let (device, values) = line.split_once(' ')?;
        (device.parse() == Ok(number)).then_some(values)
    });
    of_device.flat_map(str::split_whitespace).filter_map(|word| limit(file, word)).collect()
}

/// Parses `rbps=1048576` of version 2, or the bare number of version 1; `None` for "max", which is
/// no limit.
fn limit(file: &Path, word: &str) -> Option<(IoLimitKind, u64)> {
    let is_kind = |kind: &IoLimitKind| match word.split_once('=') {
        Some((name, _)) => names(*kind).1 == name,
        None => file.ends_with(names(*kind).0),
    };
    let kind = IoLimitKind::ALL.into_iter().find(is_kind)?;
    Some((kind, word.rsplit('=').next()?.parse().ok()?))
}
