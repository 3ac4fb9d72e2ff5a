//! A file system on a region of a raw medium, for the tests that need one
//! (docs/field/classic-tools.md#dd, docs/field/iozone.md#single-file), and its undoing.
//!
//! Nothing is written to the medium outside the region. If the region is the whole target, it is
//! the target itself; otherwise the kernel shows it as a partition without a partition table
//! (`addpart`), or, if the kernel refuses one (a region that overlaps a partition, a target that is
//! a partition itself, a driver without partitions), as a loop device over that part of it. Each
//! step is noted before it is done, so that the next run can undo a run that was killed
//! ([`clean_changes`](crate::clean_changes)).

use std::ffi::CString;
use std::path::{Path, PathBuf};

use record::units::Bytes;
use rustix::mount::{MountFlags, mount};

use crate::change_error::ChangeError;
use crate::changes::{Change, Changes, KernelPartition, retry_while_busy};
use crate::claim::Claim;
use crate::location::prove_on_device;
use crate::loopdev::LoopOptions;
use crate::roots::{DeviceNumber, Roots};
use crate::target::BlockTarget;
use crate::tool::{self, MKFS};

/// Alignment of regions in bytes: the page of every file system and the largest logical block of a
/// medium.
const REGION_ALIGN_BYTES: u64 = 4096;

/// A file system, and its options for mkfs and mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MkfsSpec {
    /// The kernel's name for the file system and the end of `mkfs.KIND`: "ext4".
    pub kind: String,
    /// Options of `mkfs.KIND`, besides those that keep it from asking.
    pub options: Vec<String>,
    /// Options of mount; "noatime", "nodiratime", "sync" become flags, others go to the file
    /// system.
    pub mount_options: Vec<String>,
    /// A label, by which the file system is recognised; at most 11 capital letters and digits,
    /// which all file systems accept.
    pub label: Option<String>,
}

impl MkfsSpec {
    /// The same with a label.
    pub fn labelled(self, label: &str) -> MkfsSpec {
        MkfsSpec { label: Some(label.to_owned()), ..self }
    }

    /// The published form of `record-ops` (docs/field/classic-tools.md#dd): ext4 without a journal,
    /// mounted noatime. `noinit_itable` keeps the kernel from zeroing inode tables in the
    /// background while the medium is measured.
    pub fn record_ops() -> MkfsSpec {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        MkfsSpec {
            kind: "ext4".to_owned(),
            options: words("-b 4096 -E stride=1,stripe-width=16 -O ^has_journal"),
            mount_options: words("noatime noinit_itable"),
            label: None,
        }
    }

    /// Description: "ext4 -b 4096, noatime".
    pub fn words(&self) -> String {
        let mkfs = [std::slice::from_ref(&self.kind), &self.options].concat().join(" ");
        [&[mkfs][..], &self.mount_options].concat().join(", ")
    }
}

/// A mounted file system on a region of a medium. Undone on drop; [`Staged::undo`] returns the
/// errors.
#[derive(Debug)]
pub struct Staged {
    mount_point: PathBuf,
    number: DeviceNumber,
    description: String,
    changes: Changes,
}

impl Staged {
    /// Mount point, in a private directory (mode 700).
    pub fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    /// The number of the region's device; [`prove_on_device`] expects it of everything under the
    /// mount point.
    pub fn number(&self) -> DeviceNumber {
        self.number
    }

    /// Description: "ext4 -b 4096 -E stride=1,stripe-width=16 -O ^has_journal, noatime, on a 600
    /// MiB region at 1 GiB".
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Unmounts, removes the region's device and the directory. Failed steps stay noted for
    /// [`clean_changes`](crate::clean_changes).
    pub fn undo(self) -> Result<(), ChangeError> {
        self.changes.undo()
    }
}

/// Makes and mounts a file system on `bytes` of a medium from `offset_bytes` on. Destroys the data
/// of the region. Needs root.
///
/// `claim` must be of `target`; it is checked, and released if the kernel would refuse to mount a
/// partition of a claimed device: take it again ([`Claim::retake`]) after [`Staged::undo`]. The
/// notes for [`clean_changes`](crate::clean_changes) are kept in `state_dir`.
pub fn stage_filesystem(
    claim: &mut Claim,
    target: &BlockTarget,
    offset_bytes: u64,
    bytes: u64,
    spec: &MkfsSpec,
    state_dir: &Path,
) -> Result<Staged, ChangeError> {
    let device_bytes = target.size_bytes();
    if !can_be_region(device_bytes, offset_bytes, bytes) {
        return Err(ChangeError::Other(format!(
            "a region of {} at {} does not fit {} ({}): it must lie inside and begin and end at multiples of 4 KiB",
            Bytes(bytes),
            Bytes(offset_bytes),
            target.disk.name,
            Bytes(device_bytes)
        )));
    }
    claim.still_same()?;
    let mut changes = Changes::begin(state_dir)?;
    let mount_point = changes.make_mount_point()?;
    let (device, number) = region(claim, target, (offset_bytes, bytes), &mut changes)?;
    mkfs(spec, &device)?;
    changes.note(Change::Mount { at: mount_point.clone(), number })?;
    mount_at(spec, &device, &mount_point)?;
    prove_on_device(&Roots::default(), &mount_point, number)?;
    let description = if bytes == device_bytes {
        format!("{}, on all of the {}", spec.words(), Bytes(bytes))
    } else {
        format!("{}, on a {} region at {}", spec.words(), Bytes(bytes), Bytes(offset_bytes))
    };
    Ok(Staged { mount_point, number, description, changes })
}

fn can_be_region(device_bytes: u64, offset_bytes: u64, bytes: u64) -> bool {
    let aligned =
        offset_bytes.is_multiple_of(REGION_ALIGN_BYTES) && bytes.is_multiple_of(REGION_ALIGN_BYTES);
    let inside = offset_bytes.checked_add(bytes).is_some_and(|end| end <= device_bytes);
    let whole = offset_bytes == 0 && bytes == device_bytes;
    (aligned || whole) && inside && bytes > 0
}

/// Makes the region's device, if it is not the target itself, and releases the claim if the kernel
/// would not mount it otherwise. Returns its node and number, once the kernel and udev have made
/// them.
fn region(
    claim: &mut Claim,
    target: &BlockTarget,
    (offset_bytes, bytes): (u64, u64),
    changes: &mut Changes,
) -> Result<(PathBuf, DeviceNumber), ChangeError> {
    if bytes == target.size_bytes() {
        claim.release();
        return is_there(&target.path.display().to_string(), || {
            Some((target.path.clone(), target.number()))
        });
    }
    if target.partition.is_none() {
        let partition = KernelPartition::planned(target, offset_bytes, bytes);
        changes.note(Change::Partition(partition.clone()))?;
        if partition.add().is_ok() {
            let found = is_there(partition.disk(), || partition.find(&Roots::default()))?;
            claim.release();
            return Ok(found);
        }
    }
    let options =
        LoopOptions { direct_io: true, offset_bytes, size_bytes: bytes, ..LoopOptions::default() };
    let attached = changes.attach(&target.path, options)?;
    let found = is_there("a loop device", || Some((attached.path().to_owned(), attached.number())));
    attached.keep();
    found
}

/// Waits for the node of a device that was just made.
fn is_there(
    device: &str,
    find: impl Fn() -> Option<(PathBuf, DeviceNumber)>,
) -> Result<(PathBuf, DeviceNumber), ChangeError> {
    let roots = Roots::default();
    let found = || find().filter(|(path, number)| roots.block_number(path) == Some(*number));
    retry_while_busy(30, || found().ok_or(())).map_err(|()| {
        let why = "is /dev served (devtmpfs or udev)?";
        ChangeError::Other(format!("the kernel made no device for the region on {device}; {why}"))
    })
}

fn mkfs(spec: &MkfsSpec, device: &Path) -> Result<(), ChangeError> {
    let (_, _, unasked, label_option) =
        MKFS.iter().find(|(kind, ..)| *kind == spec.kind).unwrap_or(&("", "", &[], "-L"));
    let labelled = spec.label.iter().flat_map(|label| [(*label_option).to_owned(), label.clone()]);
    let words = unasked
        .iter()
        .map(|word| (*word).to_owned())
        .chain(spec.options.iter().cloned())
        .chain(labelled);
    tool::run(&format!("mkfs.{}", spec.kind), words.chain([device.display().to_string()]))?;
    Ok(())
}

fn mount_at(spec: &MkfsSpec, device: &Path, at: &Path) -> Result<(), ChangeError> {
    let mut flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let mut data = Vec::new();
    for option in &spec.mount_options {
        match option.as_str() {
            "noatime" => flags |= MountFlags::NOATIME,
            "nodiratime" => flags |= MountFlags::NODIRATIME,
            "relatime" => flags |= MountFlags::RELATIME,
            "sync" => flags |= MountFlags::SYNCHRONOUS,
            "dirsync" => flags |= MountFlags::DIRSYNC,
            "lazytime" => flags |= MountFlags::LAZYTIME,
            other => data.push(other),
        }
    }
    let failed = |source| {
        let what = format!("mount {} from {}", spec.kind, device.display());
        ChangeError::Io { what, source }
    };
    let data = CString::new(data.join(",")).map_err(|error| failed(error.into()))?;
    mount(device, at, spec.kind.as_str(), flags, data.as_c_str())
        .map_err(|errno| failed(errno.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_lies_inside_and_is_aligned_or_is_all_there_is() {
        let (unit, device_bytes) = (REGION_ALIGN_BYTES, 10 * REGION_ALIGN_BYTES);
        let can = |offset_bytes, bytes| can_be_region(device_bytes, offset_bytes, bytes);
        assert!(can(0, unit) && can(9 * unit, unit) && can(0, device_bytes));
        assert!(!can(9 * unit, 2 * unit) && !can(10 * unit, unit) && !can(unit, 0));
        assert!(!can(unit / 2, unit) && !can(unit, unit / 2) && !can(0, unit / 2));
        assert!(!can(u64::MAX - unit + 1, 2 * unit));
        assert!(can_be_region(device_bytes + 512, 0, device_bytes + 512));
        assert!(!can_be_region(device_bytes + 512, unit, device_bytes - unit + 512));
        assert!(!can_be_region(0, 0, 0));
    }
}
