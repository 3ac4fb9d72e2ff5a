//! Real medium on which combinations are tried: scheduler, mkfs, mount and verification, and all of
//! it undone.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use host::{BlockTarget, Changes, Claim, Roots, Staged, recipe};
use record::Combination;

use super::{MatrixBackend, MediumFailure, Prepared, Unready};

/// Block device that is held, with notes of all changes to it.
pub struct MediumBackend {
    target: BlockTarget,
    claim: Rc<RefCell<Claim>>,
    changes: Option<Changes>,
    state_dir: PathBuf,
    au_bytes: u64,
    /// Label of its file systems.
    label: String,
    staged: Option<Staged>,
    probe: Probe,
}

/// Checks that a block device still reads and writes, without changing its contents; an error is
/// the failure of the medium.
pub type Probe = fn(&BlockTarget) -> Result<(), MediumFailure>;

impl MediumBackend {
    /// Backend on `target`, which `claim` holds. `changes` notes changes of its queue, and
    /// `state_dir` holds the notes of mounts. File systems get the label `label`, and are fitted to
    /// `au_bytes` if a combination says so. `probe` checks the medium after a failure.
    pub fn new(
        target: BlockTarget,
        claim: Rc<RefCell<Claim>>,
        changes: Changes,
        state_dir: PathBuf,
        (au_bytes, label): (u64, String),
        probe: Probe,
    ) -> MediumBackend {
        let changes = Some(changes);
        MediumBackend { target, claim, changes, state_dir, au_bytes, label, staged: None, probe }
    }

    /// Sets a scheduler to find out whether the kernel has it for this device.
    pub fn try_scheduler(&mut self, name: &str) -> Result<(), String> {
        let changes = self.changes.as_mut().ok_or("the medium is released")?;
        changes.set_queue(&self.target.disk, "scheduler", name).map_err(|error| error.to_string())
    }

    /// Undoes everything, settings included.
    ///
    /// # Errors
    /// The reason in words; changes that could not be undone stay noted, for the next start.
    pub fn leave(&mut self) -> Result<(), String> {
        let ended = self.end();
        let changes = self.changes.take();
        let restored = changes.map_or(Ok(()), Changes::undo).map_err(|error| error.to_string());
        ended.and(restored)
    }
}

/// Makes the directory of the works on a file system; where it is, and free bytes there.
fn directory_on(staged: &Staged) -> Result<(PathBuf, u64), Box<dyn std::error::Error>> {
    let directory = staged.mount_point().join("work");
    std::fs::create_dir(&directory)?;
    host::prove_on_device(&Roots::default(), &directory, staged.number())?;
    let free_bytes = host::free_space(&directory)?.free_bytes;
    Ok((directory, free_bytes))
}

impl MatrixBackend for MediumBackend {
    fn begin(&mut self, combination: &Combination) -> Result<Prepared, Unready> {
        let Combination { filesystem, align, mount_options, scheduler, .. } = combination;
        self.claim.borrow_mut().retake().map_err(|error| Unready::Medium(error.to_string()))?;
        let recipe = recipe(filesystem).ok_or_else(|| {
            Unready::Combination(format!("there is no file system '{filesystem}'"))
        })?;
        self.try_scheduler(scheduler).map_err(Unready::Combination)?;
        let options = mount_options.split(',').filter(|option| !option.is_empty());
        let options: Vec<String> = options.map(str::to_owned).collect();
        let au_bytes = align.then_some(self.au_bytes);
        let spec = recipe.spec(au_bytes, &options).labelled(&self.label);
        let (mut claim, bytes) = (self.claim.borrow_mut(), self.target.size_bytes());
        let staged =
            host::stage_filesystem(&mut claim, &self.target, 0, bytes, &spec, &self.state_dir)
                .map_err(|error| Unready::Combination(error.to_string()))?;
        drop(claim);
        let on = format!("{}, scheduler {scheduler}", staged.description());
        match directory_on(&staged) {
            Ok((directory, free_bytes)) => {
                self.staged = Some(staged);
                let mkfs = recipe.mkfs_line(au_bytes, "DEVICE");
                Ok(Prepared { directory, on, mkfs, free_bytes })
            }
            Err(error) => {
                let error = Unready::Combination(error.to_string());
                staged.undo().map_err(|error| Unready::Medium(error.to_string()))?;
                Err(error)
            }
        }
    }

    fn end(&mut self) -> Result<(), String> {
        match self.staged.take() {
            Some(staged) => staged.undo().map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    fn answers(&mut self) -> Result<(), MediumFailure> {
        self.claim.borrow_mut().retake().map_err(|error| error.to_string())?;
        (self.probe)(&self.target)
    }
}
