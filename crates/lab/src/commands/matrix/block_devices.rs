//! Medium on which combinations are tried: finds it, asks for permission, holds it, makes a loop
//! device over a file, and finds out which file systems this machine can make.

use record::text::printable;
use std::path::Path;

use blockio::FileIdentity;
use host::{
    Access, BlockTarget, Changes, Claim, LoopOptions, ResolvedTarget, Roots, TargetError, recipe,
};
use record::units::{Bytes, MIB};
use record::{Fingerprint, FingerprintMark, Flag, Host, Medium, Record, Target, TargetKind};
use workloads::matrix::{LeftOut, MediumBackend};

use store::{JournalFingerprints, RunDir};
use suite::fingerprint::Recognition;

use super::probe::probe;
use super::recognise;
use super::request::{ALL, DEFAULT_AU_BYTES, MatrixRequest};
use program::exit::{OrExit, Result, refuse};
use session::consent::{self, Question};
use session::flags::ResumeFlags;
use session::open_target::{clean_up_after_killed_runs, state_dir, target_failure};
use session::reopened_medium::ReopenedMedium;

/// Size in bytes of the sparse file on which a file system is tried out.
const TRY_OUT_BYTES: u64 = 512 * MIB;

/// Place at which combinations are tried.
pub struct MatrixTestArea {
    /// The thing under test.
    pub medium: Medium,
    /// The way to it.
    pub target: Target,
    /// The machine that measures; its memory bandwidth is not measured.
    pub host: Host,
    /// Caveats about everything measured here.
    pub flags: Vec<Flag>,
    block: BlockTarget,
    changes: Option<Changes>,
    au_bytes: u64,
    stand: Option<MediumBackend>,
}

impl MatrixTestArea {
    /// Finds and checks the target, asks what has to be asked before it is overwritten, and makes a
    /// loop device over a file. Nothing is written to a medium yet.
    pub fn open(
        request: &MatrixRequest,
        ask: &dyn Fn(&Question<'_>) -> Result<()>,
    ) -> Result<MatrixTestArea> {
        clean_up_after_killed_runs();
        let roots = Roots::default();
        let found =
            host::resolve(&roots, &request.target, Access::Write).map_err(target_failure)?;
        let mut changes = Changes::begin(&state_dir()).or_internal()?;
        let target = found.record(&roots, &request.target);
        let (medium, mut flags) =
            (found.medium().map(|disk| disk.medium.clone()), found.flags().to_vec());
        let block = match &found {
            ResolvedTarget::Block(block) => {
                let part = block.partition.as_ref();
                let id = allow(
                    request.erase.as_deref(),
                    &block.disk.ids_for(part),
                    &block.path,
                    |erase| request.reopened || block.disk.answers_for(part, erase),
                )?;
                let contents = host::contents_of(&roots, block);
                ask(&Question {
                    what: &request.target,
                    id,
                    contents: &contents,
                    yes: request.yes,
                })?;
                (**block).clone()
            }
            ResolvedTarget::File(file) => {
                let path = &file.place.path;
                let is_it =
                    |erase: &str| std::fs::canonicalize(erase).is_ok_and(|named| named == *path);
                let id =
                    allow(request.erase.as_deref(), &[path.display().to_string()], path, is_it)?;
                let contents = host::contents_of_file(path, file.size_bytes);
                ask(&Question {
                    what: &request.target,
                    id,
                    contents: &contents,
                    yes: request.yes,
                })?;
                over_file(&mut changes, path, Some(file.identity), &mut flags)?
            }
            ResolvedTarget::Directory(directory) => {
                let folder = &directory.place.path;
                fits(folder, request)?;
                let file = changes.make_file(folder, request.file_bytes, true).or_io()?;
                over_file(&mut changes, &file, None, &mut flags)?
            }
        };
        let medium = medium.unwrap_or_else(|| block.disk.medium.clone());
        let au_bytes = request.au_bytes.or(medium.au_bytes).unwrap_or(DEFAULT_AU_BYTES);
        flags.extend(off_boundary(&block, au_bytes, request));
        let host = Host { memory_bps: None, ..host::facts(&roots) };
        Ok(MatrixTestArea {
            medium,
            target,
            host,
            flags,
            block,
            changes: Some(changes),
            au_bytes,
            stand: None,
        })
    }

    /// The time of day.
    pub fn now(&self) -> Option<String> {
        Some(program::clock::now())
    }

    /// A short name for the run's directory.
    pub fn short_name(&self) -> String {
        let name = self
            .medium
            .model
            .clone()
            .or_else(|| self.target.device.clone())
            .unwrap_or_else(|| "storage".into());
        let plain: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        plain.trim_matches('-').to_owned()
    }

    /// Function that returns the bytes written to the medium since this call.
    pub fn count_written(&self) -> impl Fn() -> u64 + use<> {
        let disk = self.block.disk.clone();
        let before = host::written_bytes(&disk);
        move || host::written_bytes(&disk).saturating_sub(before)
    }

    /// One line about it.
    pub fn describe(&self) -> String {
        let size = self.block.size_bytes();
        format!(
            "{}: {} on {}",
            printable(&self.target.path),
            Bytes(size),
            self.block.path.display()
        )
    }

    /// Fingerprint of the medium before anything is made on it; `None` if the file is made for the
    /// matrix.
    pub fn fingerprint(&self, seed: u64) -> Result<Option<Fingerprint>> {
        if self.target.kind == TargetKind::Directory {
            return Ok(None);
        }
        recognise::before(&self.block, self.target.diskseq, seed).map(Some)
    }

    /// Recognises the medium as the matrix left it. Reads only.
    pub fn recognise(&self, traces: &JournalFingerprints, seed: u64) -> Result<Recognition> {
        if self.target.kind == TargetKind::Directory {
            return Ok(Recognition::Ours);
        }
        recognise::recognise(&self.block, traces, seed)
    }

    /// Function that reads the places by which the medium is recognised; it returns nothing if the
    /// file is made for the matrix.
    pub fn marks(&self, seed: u64) -> impl Fn() -> Result<Vec<FingerprintMark>> + use<> {
        let (block, kind) = (self.block.clone(), self.target.kind);
        move || {
            if kind == TargetKind::Directory {
                Ok(Vec::new())
            } else {
                recognise::marks(&block, seed)
            }
        }
    }

    /// Permits or refuses to go on with a matrix on the medium; see [`ReopenedMedium::permit`].
    pub fn permit(
        &self,
        recognised: Recognition,
        dir: &RunDir,
        flags: &ResumeFlags,
    ) -> Result<bool> {
        let contents = host::contents_of(&Roots::default(), &self.block);
        // A loop device over a file may have another number the next time.
        let ids = match self.target.kind {
            TargetKind::Block => self.block.disk.ids_for(self.block.partition.as_ref()),
            _ => Vec::new(),
        };
        let medium = ReopenedMedium {
            path: &self.target.path,
            id: ids.into_iter().next().unwrap_or_else(|| self.target.path.clone()),
            contents: Some(&contents),
            answers_to: &|id| self.answers_to(id),
        };
        medium.permit(recognised, dir, flags)
    }

    /// True if `--erase ID` names exactly this.
    fn answers_to(&self, id: &str) -> bool {
        let is_its_path = || {
            std::fs::canonicalize(id).is_ok_and(|named| {
                std::fs::canonicalize(&self.target.path).is_ok_and(|path| path == named)
            })
        };
        self.block.disk.answers_for(self.block.partition.as_ref(), id) || is_its_path()
    }

    /// Checks that the run began on this very medium: by CID and serial number, or by its size if
    /// the user named the place.
    pub fn same_as(&self, record: &Record, by_hand: bool) -> Result<()> {
        let (now, then) = (&self.medium, &record.medium);
        let identity = |medium: &Medium| (medium.cid.clone(), medium.serial.clone());
        if now.capacity_bytes == then.capacity_bytes && (by_hand || identity(now) == identity(then))
        {
            return Ok(());
        }
        refuse(
            "this is not the medium the matrix began on; put the first one back, or start a new one",
        )
    }

    /// Holds the medium, so that nothing else mounts it meanwhile.
    pub fn hold_medium(&mut self, seed: u64) -> Result<&mut MediumBackend> {
        if self.stand.is_none() {
            let claim: Claim = host::claim(&Roots::default(), &self.block).or_refuse()?;
            let changes = self.changes.take().expect("the changes are handed over once");
            self.stand = Some(MediumBackend::new(
                self.block.clone(),
                claim,
                changes,
                state_dir(),
                (self.au_bytes, recognise::label(seed)),
                probe,
            ));
        }
        Ok(self.stand.as_mut().expect("it was just made"))
    }

    /// Releases the medium as it was, but for what was written.
    pub fn leave(mut self) -> Result<()> {
        match self.stand.take() {
            Some(stand) => stand
                .leave()
                .map_err(|error| anyhow::anyhow!("{error}; the next start tries again"))
                .or_internal(),
            None => Ok(()),
        }
    }

    /// Finds out which file systems this machine can make, by making each on a file of its own, and
    /// fills the combinations of the request. Returns what cannot be made, with the reason.
    pub fn try_out(&mut self, request: &mut MatrixRequest) -> Result<Vec<LeftOut>> {
        let mut left_out = Vec::new();
        let size_bytes = self.block.size_bytes();
        request.au_bytes = Some(self.au_bytes);
        request.axes.filesystems.retain(|name| {
            let tried = possible(name, size_bytes);
            left_out.extend(tried.err().map(|why| LeftOut { what: name.clone(), why }));
            left_out.last().is_none_or(|left| left.what != *name)
        });
        let before = self.block.disk.queue(&Roots::default());
        if request.axes.schedulers.iter().any(|name| name == ALL) {
            request.axes.schedulers = before.schedulers.clone();
        }
        let stand = self.hold_medium(request.seed)?;
        request.axes.schedulers.retain(|name| {
            let tried = stand.try_scheduler(name);
            let left = tried.err().map(|why| LeftOut { what: format!("scheduler {name}"), why });
            let possible = left.is_none();
            left_out.extend(left);
            possible
        });
        let (combinations, not_suitable) = request.combine();
        request.combinations = combinations;
        left_out.extend(not_suitable);
        Ok(left_out)
    }
}

/// Checks that a file system can be made and mounted here, by doing so.
fn possible(name: &str, size_bytes: u64) -> std::result::Result<(), String> {
    let recipe = recipe(name).ok_or_else(|| format!("there is no file system '{name}'"))?;
    recipe.available(&Roots::default()).map_err(|error| error.to_string())?;
    if size_bytes < recipe.least_bytes {
        return Err(format!(
            "needs at least {}, the target has {}",
            Bytes(recipe.least_bytes),
            Bytes(size_bytes)
        ));
    }
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let mut changes = Changes::begin(&state_dir()).map_err(|error| failed(&error))?;
    let file =
        changes.make_file(&state_dir(), TRY_OUT_BYTES, false).map_err(|error| failed(&error))?;
    let attached = changes.attach(&file, LoopOptions::default()).map_err(|error| failed(&error))?;
    let block = as_block(attached.path()).map_err(|error| failed(&error))?;
    let mut claim = host::claim(&Roots::default(), &block).map_err(|error| failed(&error))?;
    let spec = recipe.spec(None, &[]);
    let staged =
        host::stage_filesystem(&mut claim, &block, 0, block.size_bytes(), &spec, &state_dir())
            .map_err(|error| failed(&error))?;
    staged.undo().map_err(|error| failed(&error))?;
    drop(claim);
    attached.detach().map_err(|error| failed(&error))?;
    changes.undo().map_err(|error| failed(&error))
}

/// Loop device over a file, past the page cache if the file's file system can do that; over exactly
/// the file that was examined before.
fn over_file(
    changes: &mut Changes,
    file: &Path,
    looked_at: Option<FileIdentity>,
    flags: &mut Vec<Flag>,
) -> Result<BlockTarget> {
    let options = LoopOptions { direct_io: true, ..LoopOptions::default() };
    let attached = changes.attach(file, options).or_internal()?;
    if looked_at.is_some_and(|identity| !attached.is_over(identity)) {
        return Err(blockio::OpenError::Replaced { path: file.to_owned() }).or_refuse();
    }
    if !attached.direct_io() {
        flags.push(Flag::HostCached);
    }
    let block = as_block(attached.path()).map_err(target_failure)?;
    // it is noted, and goes with the other changes
    attached.keep();
    Ok(block)
}

fn as_block(path: &Path) -> std::result::Result<BlockTarget, TargetError> {
    match host::resolve(&Roots::default(), &path.display().to_string(), Access::Write)? {
        ResolvedTarget::Block(block) => Ok(*block),
        _ => Err(TargetError::Gone { target: path.display().to_string() }),
    }
}

/// Contents of the target that would be erased, for `--plan`. A plan does not need a target that is
/// there.
pub fn erased(request: &MatrixRequest) -> String {
    let roots = Roots::default();
    let contents = match host::resolve(&roots, &request.target, Access::Read) {
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
    consent::plan(&contents, Some(request.erase.as_deref().unwrap_or("ID")))
}

/// Name by which the user allowed this very target to be overwritten; refused if no name fits.
fn allow<'a>(
    erase: Option<&'a str>,
    ids: &[String],
    path: &Path,
    is_it: impl Fn(&str) -> bool,
) -> Result<&'a str> {
    match erase {
        Some(erase) if is_it(erase) => Ok(erase),
        Some(erase) => refuse(format_args!(
            "--erase {erase} does not name {}: its own {} {}; nothing was written",
            path.display(),
            if ids.len() == 1 { "name is" } else { "names are" },
            ids.join(" or ")
        )),
        None => refuse(format_args!(
            "all of {} would be overwritten, again and again; if that is meant, say --erase {}",
            path.display(),
            ids.first().map_or("ID", String::as_str)
        )),
    }
}

/// Checks that the file to be made fits, with a reserve for other users of the file system.
fn fits(folder: &Path, request: &MatrixRequest) -> Result<()> {
    let space = host::free_space(folder).or_io()?;
    let reserve = (space.size_bytes / 20).clamp(16 * MIB, 1 << 30);
    if space.free_bytes >= request.file_bytes + reserve {
        return Ok(());
    }
    refuse(format_args!(
        "'{}' has {} free; a file of {} and a reserve of {} must fit: delete something, name another directory, or say --size",
        request.target,
        Bytes(space.free_bytes),
        Bytes(request.file_bytes),
        Bytes(reserve)
    ))
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
