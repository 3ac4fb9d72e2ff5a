//! Files to measure on: in the user's directory, on a file system made for the purpose, or on a
//! model of one.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use blockio::{Directory, OpenSettings, RealDevice};
use device::Extent;
use host::{BlockTarget, Claim, MkfsSpec, Roots};
use record::text;
use record::units::{Bytes, MIB};
use sim::{Profile, SimDevice, SimOptions};
use store::Store;
use suite::{FileStage, FileStageError, StagedFile};

/// Room that a file system needs beside the file, in bytes.
const OVERHEAD_BYTES: u64 = 64 * MIB;

/// Directory of the notes on staged file systems, by which the next start cleans up after a killed
/// run. Hidden, as it is not a run.
pub fn state_dir() -> PathBuf {
    Store::default_root().join(".staged")
}

/// Undoes mounts and devices that a killed run has left behind.
pub fn clean_up_after_killed_runs() {
    let folder = state_dir();
    if !folder.is_dir() {
        return;
    }
    let all = host::clean_changes(&folder).unwrap_or_else(|error| {
        program::say!(
            "flashmark: cannot look for leftovers of killed runs in {}: {error}",
            folder.display()
        );
        Vec::new()
    });
    for left in all {
        let what = text::escaped(&left.what.join(", "));
        match left.undone {
            Ok(()) => {
                program::say!(
                    "flashmark: a run that was killed had left {what}; that is undone now"
                )
            }
            Err(error) => {
                program::say!("flashmark: a run that was killed has left {what}: {error}")
            }
        }
    }
}

/// Files in the user's directory, on the file system that is there.
pub struct DirectoryFiles {
    directory: Directory,
    settings: OpenSettings,
}

impl DirectoryFiles {
    /// Files in this directory.
    pub fn new(directory: Directory, settings: OpenSettings) -> Self {
        DirectoryFiles { directory, settings }
    }
}

impl FileStage for DirectoryFiles {
    fn file(&mut self, bytes: u64, _: Extent) -> Result<StagedFile, FileStageError> {
        let space = host::free_space(self.directory.path())
            .map_err(|error| FileStageError::Failed(error.to_string()))?;
        let needed = bytes + OVERHEAD_BYTES;
        if space.free_bytes < needed {
            return Err(FileStageError::Unavailable(format!(
                "needs {} free in the directory; there are {}",
                Bytes(needed),
                Bytes(space.free_bytes)
            )));
        }
        let place = host::device_of_directory(&Roots::default(), self.directory.path())
            .map_err(|error| FileStageError::Failed(error.to_string()))?;
        let device = RealDevice::create_at(&self.directory, bytes, &self.settings)
            .map_err(|error| FileStageError::Failed(error.to_string()))?;
        let on = format!(
            "{}, {}, the file system that is there",
            place.mount.kind,
            place.mount.joined_options()
        );
        Ok(StagedFile { device: Box::new(device), on, keep: Box::new(()) })
    }
}

/// Files on an ext4 made in a region of the raw medium, as the published test does.
pub struct StagedFiles {
    claim: Rc<RefCell<Claim>>,
    found: BlockTarget,
    settings: OpenSettings,
}

impl StagedFiles {
    /// Files on `found`, which is held by `claim`.
    pub fn new(claim: Rc<RefCell<Claim>>, found: BlockTarget, settings: OpenSettings) -> Self {
        StagedFiles { claim, found, settings }
    }
}

/// Undoes a staged file system and takes the medium again.
struct Undo {
    staged: Option<host::Staged>,
    claim: Rc<RefCell<Claim>>,
}

impl Drop for Undo {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.staged.take().map(host::Staged::undo) {
            program::say!("flashmark: {error}; the next run tries again");
        }
        if let Err(error) = self.claim.borrow_mut().retake() {
            program::say!("flashmark: {error}");
        }
    }
}

impl FileStage for StagedFiles {
    fn file(&mut self, bytes: u64, region: Extent) -> Result<StagedFile, FileStageError> {
        let failed = |error: &dyn std::fmt::Display| FileStageError::Failed(error.to_string());
        let folder = state_dir();
        std::fs::create_dir_all(&folder).map_err(|error| failed(&error))?;
        let spec = MkfsSpec::record_ops();
        let mut claim = self.claim.borrow_mut();
        let staged = host::stage_filesystem(
            &mut claim,
            &self.found,
            region.offset_bytes,
            region.bytes,
            &spec,
            &folder,
        );
        drop(claim);
        let undo = |staged| Undo { staged, claim: Rc::clone(&self.claim) };
        let staged = match staged {
            Ok(staged) => staged,
            Err(error) => {
                drop(undo(None));
                return Err(failed(&error));
            }
        };
        let (mount_point, on) = (staged.mount_point().to_owned(), staged.description().to_owned());
        let keep = undo(Some(staged));
        let device = RealDevice::create_in(&mount_point, bytes, &self.settings)
            .map_err(|error| failed(&error))?;
        Ok(StagedFile { device: Box::new(device), on, keep: Box::new(keep) })
    }
}

/// Files on a simulated medium: every synchronous write also writes the inode's block
/// (docs/field/iozone.md#single-file).
pub struct SimulatedFiles {
    profile: Profile,
    seed: u64,
}

impl SimulatedFiles {
    /// Files on a medium of this profile.
    pub fn new(profile: Profile, seed: u64) -> Self {
        SimulatedFiles { profile, seed }
    }
}

impl FileStage for SimulatedFiles {
    fn file(&mut self, bytes: u64, _: Extent) -> Result<StagedFile, FileStageError> {
        let options = SimOptions { seed: self.seed, capacity: None, keep_data: false };
        let device = sim::FileForm::new(SimDevice::new(&self.profile, options), bytes);
        Ok(StagedFile {
            device: Box::new(device),
            on: "a model of a file: each write and its inode's block".into(),
            keep: Box::new(()),
        })
    }
}
