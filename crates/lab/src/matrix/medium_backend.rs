//! A real medium that combinations are tried on: scheduler, mkfs, mount, proof, and all of it
//! undone.

use std::path::PathBuf;

use host::{BlockTarget, Changes, Claim, Roots, Staged, recipe};

use super::{Combination, MatrixBackend, MediumFailure, Prepared, Unready};

/// A block device, held, with what is changed of it noted.
pub struct MediumBackend {
    target: BlockTarget,
    claim: Claim,
    changes: Changes,
    state_dir: PathBuf,
    au_bytes: u64,
    /// What its file systems are called.
    label: String,
    staged: Option<Staged>,
    probe: Probe,
}

/// Whether a block device still reads and writes. It leaves
/// what is on it as it is; what it answers instead is the error.
pub type Probe = fn(&BlockTarget) -> Result<(), MediumFailure>;

impl MediumBackend {
    /// On `target`, which `claim` holds. `changes` notes what is changed of its queue, `state_dir`
    /// is where mounts are noted; `au_bytes` is what file systems are fitted to where a combination
    /// says so, `label` what they are called. `probe` asks the medium after a failure.
    pub fn new(
        target: BlockTarget,
        claim: Claim,
        changes: Changes,
        state_dir: PathBuf,
        (au_bytes, label): (u64, String),
        probe: Probe,
    ) -> MediumBackend {
        MediumBackend { target, claim, changes, state_dir, au_bytes, label, staged: None, probe }
    }

    /// Takes a scheduler on trial: whether the kernel has it for this device.
    pub fn try_scheduler(&mut self, name: &str) -> Result<(), String> {
        self.changes
            .set_queue(&self.target.disk, "scheduler", name)
            .map_err(|error| error.to_string())
    }

    /// Undoes everything, settings included, and lets go of the medium.
    ///
    /// # Errors
    /// In words; what could not be undone stays noted, for the next start.
    pub fn leave(mut self) -> Result<(), String> {
        let ended = self.end();
        let restored = self.changes.undo().map_err(|error| error.to_string());
        ended.and(restored)
    }
}

impl MatrixBackend for MediumBackend {
    fn begin(&mut self, combination: &Combination) -> Result<Prepared, Unready> {
        let cannot = |error: &dyn std::fmt::Display| Unready::Combination(error.to_string());
        self.claim.retake().map_err(|error| Unready::Medium(error.to_string()))?;
        let recipe = recipe(&combination.filesystem).ok_or_else(|| {
            Unready::Combination(format!("there is no file system '{}'", combination.filesystem))
        })?;
        self.try_scheduler(&combination.scheduler).map_err(Unready::Combination)?;
        let options: Vec<String> = combination
            .mount_options
            .split(',')
            .filter(|option| !option.is_empty())
            .map(str::to_owned)
            .collect();
        let au_bytes = combination.align.then_some(self.au_bytes);
        let spec = recipe.spec(au_bytes, &options).labelled(&self.label);
        let bytes = self.target.size_bytes();
        let staged =
            host::stage_filesystem(&mut self.claim, &self.target, 0, bytes, &spec, &self.state_dir)
                .map_err(|error| cannot(&error))?;
        let directory = staged.mount_point().join("work");
        let ready = std::fs::create_dir(&directory)
            .map_err(|error| cannot(&error))
            .and_then(|()| {
                host::prove_on_device(&Roots::default(), &directory, staged.number())
                    .map_err(|error| cannot(&error))
            })
            .and_then(|()| host::free_space(&directory).map_err(|error| cannot(&error)));
        let on = format!("{}, scheduler {}", staged.description(), combination.scheduler);
        match ready {
            Ok(space) => {
                self.staged = Some(staged);
                Ok(Prepared {
                    directory,
                    on,
                    mkfs: recipe.mkfs_line(au_bytes, "DEVICE"),
                    free_bytes: space.free_bytes,
                })
            }
            Err(error) => {
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
        self.claim.retake().map_err(|error| error.to_string())?;
        (self.probe)(&self.target)
    }
}
