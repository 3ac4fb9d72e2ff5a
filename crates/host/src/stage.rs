//! A file system on a region of a raw medium, for the tests that need one
//! (docs/field/classic-tools.md#dd, docs/field/iozone.md#single-file), and its undoing.
//!
//! Nothing is written to the medium outside the region. If the region is the whole target, it is
//! the target itself; otherwise the kernel shows it as a partition without a partition table
//! (`addpart`), or, if the kernel refuses one (a region that overlaps a partition, a target that is
//! a partition itself, a driver without partitions), as a loop device over that part of it. Each
//! step is noted in a file before it is done, so that the next run can undo a run that was killed
//! ([`clean_leftovers`]).

mod note;
mod region;

use std::ffi::CString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use record::units::Bytes;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::claim::{Claim, ClaimError};
use crate::location::{NotProved, prove_on_device};
use crate::loopdev::LoopError;
use crate::roots::{DeviceNumber, Roots};
use crate::target::BlockTarget;
use crate::tool::{self, ToolError};
use note::Note;
pub use note::boot_id;
pub use note::{Leftover, clean_leftovers};
pub(crate) use note::{NoteFile, abandoned};
use region::StagedRegion;

/// Alignment of regions in bytes: the page of every file system and the largest logical block of a
/// medium.
pub const REGION_ALIGN_BYTES: u64 = 4096;

/// Prefix of the names of private directories.
const DIRECTORY_PREFIX: &str = "flashmark-stage-";

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
        let mkfs =
            std::iter::once(self.kind.as_str()).chain(self.options.iter().map(String::as_str));
        let mkfs = mkfs.collect::<Vec<_>>().join(" ");
        std::iter::once(mkfs)
            .chain(self.mount_options.iter().cloned())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// The error of a file system that could not be staged or undone.
#[derive(Debug, thiserror::Error)]
pub enum StagingError {
    /// The region is not within the medium, or not aligned.
    #[error("a region of {} at {} does not fit {device} ({}): it must lie inside and begin and end at multiples of 4 KiB", Bytes(*bytes), Bytes(*offset_bytes), Bytes(*device_bytes))]
    Region {
        /// Kernel name of the whole device: "sdb".
        device: String,
        /// Size of the device.
        device_bytes: u64,
        /// Requested offset of the region in bytes.
        offset_bytes: u64,
        /// Requested length of the region in bytes.
        bytes: u64,
    },
    /// The medium has come into use, or is another one.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// A program failed: mkfs, delpart, or losetup when it detaches.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The loop device failed.
    #[error(transparent)]
    Loop(#[from] LoopError),
    /// The kernel showed no device for the region.
    #[error(
        "the kernel made no device for the region on {device}; is /dev served (devtmpfs or udev)?"
    )]
    NoDevice {
        /// Kernel name of the disk, "a loop device", or the node of a target that is used whole.
        device: String,
    },
    /// The new file system could not be mounted.
    #[error("cannot mount {kind} from {}: {source}", device.display())]
    Mount {
        /// The kernel's name for the file system: "ext4".
        kind: String,
        /// Node of the region's device that was to be mounted.
        device: PathBuf,
        /// Error of mount(2), or a NUL in the mount options.
        source: io::Error,
    },
    /// The mount is not on the expected device.
    #[error(transparent)]
    NotProved(#[from] NotProved),
    /// Unmounting failed for about two seconds.
    #[error("cannot unmount {}: {source}; a program is still in it (lsof or fuser name it)", at.display())]
    Unmount {
        /// Mount point, in the private directory.
        at: PathBuf,
        /// Error of the last try of umount(2).
        source: io::Error,
    },
    /// A file or directory of the stage itself failed.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// The failed action, as a verb: "make", "remove", "write".
        what: &'static str,
        /// The file or directory that was to be made, removed or written.
        path: PathBuf,
        /// Error of the system call.
        source: io::Error,
    },
}

/// A mounted file system on a region of a medium. Undone on drop; [`Staged::undo`] returns the
/// errors.
#[derive(Debug)]
pub struct Staged {
    mount_point: PathBuf,
    number: DeviceNumber,
    description: String,
    /// Steps done so far, in their order; undone from the end.
    note: Note,
    file: Option<NoteFile>,
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
    /// [`clean_leftovers`].
    pub fn undo(mut self) -> Result<(), StagingError> {
        self.undo_once()
    }

    fn undo_once(&mut self) -> Result<(), StagingError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        self.note.undo()?;
        file.remove();
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // nobody is left to hear of a failure; the note stays and the next run cleans up
        let _ = self.undo_once();
    }
}

/// Makes and mounts a file system on `bytes` of a medium from `offset_bytes` on. Destroys the data
/// of the region. Needs root.
///
/// `claim` must be of `target`; it is checked, and released if the kernel would refuse to mount a
/// partition of a claimed device: take it again ([`Claim::retake`]) after [`Staged::undo`]. The
/// note for [`clean_leftovers`] is kept in `state_dir`.
pub fn stage_filesystem(
    claim: &mut Claim,
    target: &BlockTarget,
    offset_bytes: u64,
    bytes: u64,
    spec: &MkfsSpec,
    state_dir: &Path,
) -> Result<Staged, StagingError> {
    check_region(target, offset_bytes, bytes)?;
    claim.still_same()?;
    let mut file = NoteFile::create(state_dir, note::SUFFIX)?;
    let mut note = Note::default();
    let built = build(claim, target, (offset_bytes, bytes), spec, &mut file, &mut note);
    match built {
        Ok(number) => Ok(Staged {
            mount_point: note.mount_point(),
            number,
            description: if bytes == target.size_bytes() {
                format!("{}, on all of the {}", spec.words(), Bytes(bytes))
            } else {
                format!("{}, on a {} region at {}", spec.words(), Bytes(bytes), Bytes(offset_bytes))
            },
            note,
            file: Some(file),
        }),
        Err(error) => {
            if note.undo().is_ok() {
                file.remove();
            }
            Err(error)
        }
    }
}

fn check_region(target: &BlockTarget, offset_bytes: u64, bytes: u64) -> Result<(), StagingError> {
    let device_bytes = target.size_bytes();
    if can_be_region(device_bytes, offset_bytes, bytes) {
        return Ok(());
    }
    let device = target.disk.name.clone();
    Err(StagingError::Region { device, device_bytes, offset_bytes, bytes })
}

fn can_be_region(device_bytes: u64, offset_bytes: u64, bytes: u64) -> bool {
    let aligned =
        offset_bytes.is_multiple_of(REGION_ALIGN_BYTES) && bytes.is_multiple_of(REGION_ALIGN_BYTES);
    let inside = offset_bytes.checked_add(bytes).is_some_and(|end| end <= device_bytes);
    let whole = offset_bytes == 0 && bytes == device_bytes;
    (aligned || whole) && inside && bytes > 0
}

/// Makes directory, region, file system and mount, and proves it; each step is noted before it is
/// done. Returns the region's device number.
fn build(
    claim: &mut Claim,
    target: &BlockTarget,
    (offset_bytes, bytes): (u64, u64),
    spec: &MkfsSpec,
    file: &mut NoteFile,
    note: &mut Note,
) -> Result<DeviceNumber, StagingError> {
    note.directory = fresh_directory_name();
    file.write(note)?;
    make_private(&note.directory)?;
    make_private(&note.mount_point())?;

    let region = StagedRegion::make(target, offset_bytes, bytes, |planned| {
        note.region = Some(planned.clone());
        file.write(note)
    })?;
    let (device, number) = region.device()?;
    if region.is_on_the_claimed() {
        claim.release();
    }

    mkfs(spec, &device)?;
    note.mounted = Some(number);
    file.write(note)?;
    mount_at(spec, &device, &note.mount_point())?;
    prove_on_device(&Roots::default(), &note.mount_point(), number)?;
    Ok(number)
}

/// A unique name: the process, and a count within it.
fn fresh_directory_name() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("{DIRECTORY_PREFIX}{}-{count}", std::process::id()))
}

/// Makes a directory that only its owner may enter; it must not exist before.
fn make_private(path: &Path) -> Result<(), StagingError> {
    let failed = |source| StagingError::Io { what: "make", path: path.to_owned(), source };
    DirBuilder::new().mode(0o700).create(path).map_err(failed)
}

fn mkfs(spec: &MkfsSpec, device: &Path) -> Result<(), StagingError> {
    let unasked: &[&str] = match spec.kind.as_str() {
        "ext2" | "ext3" | "ext4" => &["-q", "-F"],
        "xfs" | "btrfs" | "f2fs" => &["-q", "-f"],
        "jfs" => &["-q"],
        "nilfs2" => &["-q", "-f"],
        // a whole device without a partition table
        "vfat" => &["-I"],
        _ => &[],
    };
    let labelled =
        spec.label.iter().flat_map(|label| [label_option(&spec.kind).to_owned(), label.clone()]);
    let words = unasked
        .iter()
        .map(|word| (*word).to_owned())
        .chain(spec.options.iter().cloned())
        .chain(labelled);
    tool::run(&format!("mkfs.{}", spec.kind), words.chain([device.display().to_string()]))?;
    Ok(())
}

/// Option of mkfs for a label.
fn label_option(kind: &str) -> &'static str {
    match kind {
        "vfat" => "-n",
        "f2fs" => "-l",
        _ => "-L",
    }
}

fn mount_at(spec: &MkfsSpec, device: &Path, at: &Path) -> Result<(), StagingError> {
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
    let failed = |source: io::Error| StagingError::Mount {
        kind: spec.kind.clone(),
        device: device.to_owned(),
        source,
    };
    let data = CString::new(data.join(",")).map_err(|error| failed(error.into()))?;
    mount(device, at, spec.kind.as_str(), flags, data.as_c_str())
        .map_err(|errno| failed(errno.into()))
}

/// Repeats `attempt` while udev or an indexer has the device open: `tries` times, a tenth of a
/// second apart.
fn retry_while_busy<T, E>(tries: u32, mut attempt: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for _ in 1..tries {
        if let Ok(done) = attempt() {
            return Ok(done);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    attempt()
}

/// Unmounts the file system at `at`, if it is on the device `number`.
fn unmount_ours(at: &Path, number: DeviceNumber) -> Result<(), StagingError> {
    let roots = Roots::default();
    let is_ours =
        |mount: &crate::Mount| mount.at == at && prove_on_device(&roots, at, number).is_ok();
    while crate::mounts(&roots).iter().any(is_ours) {
        retry_while_busy(20, || unmount(at, UnmountFlags::empty()))
            .map_err(|errno| StagingError::Unmount { at: at.to_owned(), source: errno.into() })?;
    }
    Ok(())
}

/// Removes an empty directory; ignores a missing one.
fn remove_directory(path: &Path) -> Result<(), StagingError> {
    match fs::remove_dir(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(StagingError::Io { what: "remove", path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
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
