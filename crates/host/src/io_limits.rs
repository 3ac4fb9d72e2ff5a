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

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: DeviceNumber = DeviceNumber { major: 8, minor: 16 };

    /// A copied tree with control groups at `/cg`, as seen by a process in `group`.
    fn tree(group: &str, mount: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, Roots) {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("cg");
        let own = dir.path().join("proc/self");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("cgroup"), group).unwrap();
        fs::write(own.join("mountinfo"), mount.replace("/cg", at.to_str().unwrap())).unwrap();
        for (file, text) in files {
            fs::create_dir_all(at.join(file).parent().unwrap()).unwrap();
            fs::write(at.join(file), text).unwrap();
        }
        let roots = Roots::copied(dir.path());
        (dir, roots)
    }

    fn found(roots: &Roots) -> Vec<(IoLimitKind, u64)> {
        let flags = io_limits(roots, DEVICE);
        let limits = flags.iter().map(|flag| match flag {
            Flag::IoLimit { limit, per_second } => (*limit, *per_second),
            other => panic!("{other:?}"),
        });
        limits.collect()
    }

    #[test]
    fn the_lowest_limit_along_the_tree_holds() {
        let (_dir, roots) = tree(
            "0::/user/job\n",
            "30 1 0:27 / /cg rw - cgroup2 cgroup2 rw\n",
            &[
                (
                    "user/job/io.max",
                    "8:0 rbps=1 wbps=1 riops=1 wiops=1\n8:16 rbps=5000 wbps=max riops=max wiops=70\n",
                ),
                ("user/io.max", "8:16 rbps=4000 wbps=max riops=max wiops=80\n"),
            ],
        );
        assert_eq!(found(&roots), [(IoLimitKind::ReadBps, 4000), (IoLimitKind::WriteIops, 70)]);
    }

    #[test]
    fn version_1_limits_the_group_alone_and_mounts_may_begin_below_the_root() {
        let files = [
            ("job/blkio.throttle.read_iops_device", "8:16 500\n"),
            ("blkio.throttle.read_iops_device", "8:16 100\n"),
        ];
        let mount = "31 1 0:28 /outer /cg rw - cgroup cgroup rw,blkio\n";
        let (_dir, roots) = tree("7:blkio:/outer/job\n3:cpu:/\n", mount, &files);
        assert_eq!(found(&roots), [(IoLimitKind::ReadIops, 500)]);
    }

    #[test]
    fn without_control_groups_or_limits_nothing_is_found() {
        let (_dir, roots) = tree("0::/\n", "30 1 0:27 / /cg rw - cgroup2 cgroup2 rw\n", &[]);
        assert_eq!(found(&roots), []);
        let (_dir, roots) = tree("garbage\n", "", &[]);
        assert_eq!(found(&roots), []);
    }
}
