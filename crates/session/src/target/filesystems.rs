//! A device on which file systems are made: a medium that was given away, or a loop device over a
//! file that was, or that is made in a directory.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use blockio::{ExpectedFile, FileIdentity, OpenOptions, OpenSettings, RealDevice};
use device::Device;
use host::{Access, BlockTarget, Changes, LoopOptions, ResolvedTarget, Roots};
use record::units::{Bytes, MIB};
use record::{Flag, Host, TargetKind};
use suite::TargetInfo;

use super::{Target, check_name, opening, state_dir, target_failure};
use crate::request::RunRequest;
use program::exit::{OrExit, Result, refuse};

/// A device on which file systems are made, with the notes of what is changed for that.
pub struct FilesystemDevice {
    /// The device.
    pub block: BlockTarget,
    /// What is changed: files, loop devices, settings of the queue.
    pub changes: Changes,
}

/// Opens what was found, and holds it so that nothing else mounts it meanwhile.
pub fn open(roots: Roots, found: ResolvedTarget, request: &RunRequest) -> Result<Target> {
    let mut changes = Changes::begin(&state_dir()).or_internal()?;
    let mut flags = found.flags().to_vec();
    let (kind, block) = match &found {
        ResolvedTarget::Block(block) => {
            let part = block.partition.as_ref();
            let ids = block.disk.ids_for(part);
            is_given(request, &block.path, &ids, |erase| block.disk.answers_for(part, erase))?;
            (TargetKind::Block, (**block).clone())
        }
        ResolvedTarget::File(file) => {
            let path = &file.place.path;
            let is_named = |erase: &str| std::fs::canonicalize(erase).is_ok_and(|it| it == *path);
            is_given(request, path, &[path.display().to_string()], is_named)?;
            let block = over_file(&mut changes, path, Some(file.identity), &mut flags)?;
            (TargetKind::File, block)
        }
        ResolvedTarget::Directory(directory) => {
            let folder = &directory.place.path;
            fits(folder, request)?;
            let file = changes.make_file(folder, request.file_bytes, true).or_io()?;
            (TargetKind::Directory, over_file(&mut changes, &file, None, &mut flags)?)
        }
    };
    let claim = host::claim(&roots, &block).or_refuse()?;
    // held: what is looked at now is what is there until the end
    let contents = match &found {
        ResolvedTarget::Block(block) => Some(host::contents_of(&roots, block)),
        ResolvedTarget::File(file) => {
            Some(host::contents_of_file(&file.place.path, file.size_bytes))
        }
        ResolvedTarget::Directory(_) => None,
    };
    let facts = opening(device_of(&block, false))?.facts().clone();
    let medium = found.medium().map_or_else(|| &block.disk.medium, |disk| &disk.medium).clone();
    let host = Host { memory_bps: None, ..host::facts(&roots) };
    Ok(Target {
        info: TargetInfo { au_bytes: medium.au_bytes, ..TargetInfo::unrestricted(kind, facts) },
        medium,
        target: found.record(&roots, &request.target),
        host: Some(host),
        flags,
        contents,
        stage: Box::new(suite::NoStage),
        device: None,
        filesystems: Some(FilesystemDevice { block, changes }),
        watch: None,
        claim: Some(Rc::new(RefCell::new(claim))),
        disk: found.medium().cloned(),
        roots,
    })
}

/// Opens a block device that this program holds.
///
/// # Errors
/// It cannot be opened, or is another device now.
pub fn device_of(
    block: &BlockTarget,
    writable: bool,
) -> std::result::Result<RealDevice, blockio::OpenError> {
    let settings = OpenSettings { claimed: true, ..OpenSettings::default() };
    let expect = ExpectedFile::Block { number: block.number().to_raw() };
    RealDevice::open(&OpenOptions { path: block.path.clone(), writable, expect, settings })
}

/// Refuses what was not given away by one of its names.
fn is_given(
    request: &RunRequest,
    path: &Path,
    ids: &[String],
    is_named: impl Fn(&str) -> bool,
) -> Result<()> {
    if request.erase.is_none() {
        return refuse(format_args!(
            "all of {} would be overwritten, again and again; if that is meant, say --erase {}",
            path.display(),
            ids.first().map_or("ID", String::as_str)
        ));
    }
    check_name(request, path, ids, is_named)
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
        return Err(blockio::OpenError::Replaced(file.to_owned())).or_refuse();
    }
    if !attached.direct_io() {
        flags.push(Flag::HostCached);
    }
    let block = as_block(attached.path())?;
    // it is noted, and goes with the other changes
    attached.keep();
    Ok(block)
}

/// The block device at a path.
///
/// # Errors
/// It is not there, or in use.
pub fn as_block(path: &Path) -> Result<BlockTarget> {
    let target = path.display().to_string();
    match host::resolve(&Roots::default(), &target, Access::Write).map_err(target_failure)? {
        ResolvedTarget::Block(block) => Ok(*block),
        _ => Err(target_failure(host::TargetError::Gone(target))),
    }
}

/// Checks that the file to be made fits, with a reserve for other users of the file system.
fn fits(folder: &Path, request: &RunRequest) -> Result<()> {
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
