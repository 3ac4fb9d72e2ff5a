//! The device on which combinations are tried: which file systems and schedulers this machine has for
//! it, and how it is known again.

use anyhow::{Context as _, anyhow, ensure};
use host::{Access, BlockTarget, Changes, LoopOptions, ResolvedTarget, Roots, recipe};
use record::text::printable;
use record::units::{Bytes, MIB};
use record::{Fingerprint, FingerprintMark, Flag, TargetKind};
use session::consent;
use session::target::{FilesystemDevice, Target, as_block, state_dir};
use store::JournalFingerprints;
use suite::fingerprint::Recognition;
use workloads::matrix::{LeftOut, MediumBackend};

use super::probe::probe;
use super::recognise;
use super::request::{ALL, DEFAULT_AU_BYTES, MatrixRequest};
use program::exit::{OrExit, Result};

/// Size in bytes of the sparse file on which a file system is tried out.
const TRY_OUT_BYTES: u64 = 512 * MIB;

/// Device on which combinations are tried.
pub struct MatrixArea {
    /// What tries them.
    pub backend: MediumBackend,
    block: BlockTarget,
    kind: TargetKind,
    au_bytes: u64,
    seed: u64,
}

impl MatrixArea {
    /// The device of a target that was opened for file systems.
    pub fn of(target: &mut Target, request: &MatrixRequest) -> MatrixArea {
        let au_bytes = request.au_bytes.or(target.medium.au_bytes).unwrap_or(DEFAULT_AU_BYTES);
        let (FilesystemDevice { block, changes }, claim) = target.take_filesystems();
        target.flags.extend(off_boundary(&block, au_bytes, request));
        let seed = request.run.seed;
        let fitted = (au_bytes, recognise::label(seed));
        let backend = MediumBackend::new(block.clone(), claim, changes, state_dir(), fitted, probe);
        MatrixArea { backend, block, kind: target.target.kind, au_bytes, seed }
    }

    /// Function that returns the bytes written to the medium since this call.
    pub fn count_written(&self) -> impl Fn() -> u64 + use<> {
        let disk = self.block.disk.clone();
        let before = host::written_bytes(&disk);
        move || host::written_bytes(&disk).saturating_sub(before)
    }

    /// Fingerprint of the medium before anything is made on it; `None` if the file is made for the
    /// matrix.
    pub fn fingerprint(&self, diskseq: Option<u64>) -> Result<Option<Fingerprint>> {
        if self.kind == TargetKind::Directory {
            return Ok(None);
        }
        recognise::before(&self.block, diskseq, self.seed).map(Some)
    }

    /// Function that reads the places by which the medium is recognised; it returns nothing if the
    /// file is made for the matrix.
    pub fn marks(&self) -> impl Fn() -> Result<Vec<FingerprintMark>> + use<> {
        let (block, kind, seed) = (self.block.clone(), self.kind, self.seed);
        move || match kind {
            TargetKind::Directory => Ok(Vec::new()),
            _ => recognise::marks(&block, seed),
        }
    }

    /// Finds out which file systems this machine can make, by making each on a file of its own, and
    /// fills the combinations of the request. Returns what cannot be made, with the reason.
    pub fn try_out(&mut self, request: &mut MatrixRequest) -> Vec<LeftOut> {
        let mut left_out = Vec::new();
        let size_bytes = self.block.size_bytes();
        request.au_bytes = Some(self.au_bytes);
        let mut is_possible = |what: String, tried: std::result::Result<(), String>| {
            let left = tried.err().map(|why| LeftOut { what, why });
            let is_possible = left.is_none();
            left_out.extend(left);
            is_possible
        };
        let axes = &mut request.axes;
        axes.filesystems.retain(|name| {
            let tried = possible(name, size_bytes).map_err(|error| error.to_string());
            is_possible(name.clone(), tried)
        });
        if axes.schedulers.iter().any(|name| name == ALL) {
            axes.schedulers = self.block.disk.queue(&Roots::default()).schedulers;
        }
        let backend = &mut self.backend;
        axes.schedulers
            .retain(|name| is_possible(format!("scheduler {name}"), backend.try_scheduler(name)));
        let (combinations, not_suitable) = request.combine();
        request.combinations = combinations;
        left_out.extend(not_suitable);
        left_out
    }

    /// Releases the medium as it was, but for what was written.
    pub fn leave(&mut self) -> Result<()> {
        let left = self.backend.leave();
        left.map_err(|error| anyhow!("{error}; the next start tries again")).or_internal()
    }
}

/// Recognises a target that was opened for file systems as the matrix left it. Reads only.
pub fn recognise(target: &Target, traces: &JournalFingerprints, seed: u64) -> Result<Recognition> {
    match &target.filesystems {
        Some(device) if target.target.kind != TargetKind::Directory => {
            recognise::recognise(&device.block, traces, seed)
        }
        _ => Ok(Recognition::Ours),
    }
}

/// Checks that a file system can be made and mounted here, by doing so.
fn possible(name: &str, size_bytes: u64) -> anyhow::Result<()> {
    let recipe = recipe(name).with_context(|| format!("there is no file system '{name}'"))?;
    recipe.available(&Roots::default())?;
    let least_bytes = recipe.least_bytes;
    ensure!(
        size_bytes >= least_bytes,
        "needs at least {}, the target has {}",
        Bytes(least_bytes),
        Bytes(size_bytes)
    );
    let mut changes = Changes::begin(&state_dir())?;
    let file = changes.make_file(&state_dir(), TRY_OUT_BYTES, false)?;
    let attached = changes.attach(&file, LoopOptions::default())?;
    let block = as_block(attached.path()).map_err(|failure| anyhow!("{failure}"))?;
    let mut claim = host::claim(&Roots::default(), &block)?;
    let (bytes, spec) = (block.size_bytes(), recipe.spec(None, &[]));
    host::stage_filesystem(&mut claim, &block, 0, bytes, &spec, &state_dir())?.undo()?;
    drop(claim);
    attached.detach()?;
    Ok(changes.undo()?)
}

/// Contents of the target that would be erased, for `--plan`. A plan does not need a target that is
/// there.
pub fn erased(request: &MatrixRequest) -> String {
    let roots = Roots::default();
    let contents = match host::resolve(&roots, &request.run.target, Access::Read) {
        Ok(ResolvedTarget::Block(block)) => host::contents_of(&roots, &block),
        Ok(ResolvedTarget::File(file)) => host::contents_of_file(&file.place.path, file.size_bytes),
        Ok(ResolvedTarget::Directory(_)) => return String::new(),
        Err(error) => {
            return format!(
                "What would be erased cannot be told: {}\n",
                printable(&error.to_string())
            );
        }
    };
    consent::plan(&contents, Some(request.run.erase.as_deref().unwrap_or("ID")))
}

/// Caveat for a partition that begins within an allocation unit: no option of mkfs makes up for
/// that.
fn off_boundary(block: &BlockTarget, au_bytes: u64, request: &MatrixRequest) -> Option<Flag> {
    let offset_bytes = block.partition.as_ref()?.offset_bytes;
    let off = request.axes.aligns.contains(&true) && !offset_bytes.is_multiple_of(au_bytes);
    off.then(|| Flag::Note {
        text: format!(
            "the partition begins {} into an allocation unit of {}: what is fitted to the AU cannot lie on its boundaries",
            Bytes(offset_bytes % au_bytes),
            Bytes(au_bytes)
        ),
    })
}
