//! Directories and regular files.

use std::path::Path;

use blockio::{Directory, ExpectedFile, OpenOptions, RealDevice};
use device::Device;
use host::{DirectoryTarget, FileTarget, ResolvedTarget, Roots};
use record::units::{Bytes, MIB};
use record::{Flag, Medium, TargetKind};
use rustix::process::{Resource, getrlimit};
use suite::TargetInfo;

use super::{
    Target, UnclaimedDevice, check_name, check_span, commands_at_once, engine, host_caveats,
    machine, opening, stages,
};
use crate::request::RunRequest;
use program::exit::{OrExit, Result, refuse, usage};

/// Smallest test file that gives useful figures, in bytes.
const MIN_BYTES: u64 = 16 * MIB;

/// Opens a directory: a test file without a name is made in it, so that nothing is left however the
/// process ends.
pub fn open_directory(
    roots: Roots,
    found: DirectoryTarget,
    request: &RunRequest,
) -> Result<Target> {
    let path = found.place.path.clone();
    let bytes = file_size(&path, request)?;
    check_size_limit(bytes)?;
    // The directory must be on the device it was found on: a mount that failed must never send a
    // fill to the root disk. By the number stat gives, which btrfs and its like make up for
    // themselves, but always the same.
    let now = host::device_of_directory(&roots, &path).or_io()?.number;
    if now != found.place.number {
        return refuse(format_args!(
            "'{}' is on device {now} now and was on {} a moment ago: something was mounted or unmounted there; nothing was written, start again",
            request.target, found.place.number
        ));
    }
    let directory = opening(Directory::open(&path, found.place.number.to_raw()))?;
    let device = opening(RealDevice::create_at(&directory, bytes, &settings(request)))?;
    let stage = stages::DirectoryFiles::new(directory, settings(request));
    let found = ResolvedTarget::Directory(Box::new(found));
    Ok(assemble(roots, &found, request, device, (Ok(()), Ok(())), Box::new(stage)))
}

/// Opens a regular file. It is somebody's data, so it is only read unless `--erase` names it.
pub fn open_file(roots: Roots, found: FileTarget, request: &RunRequest) -> Result<Target> {
    let path = found.place.path.clone();
    let is_named = |erase: &str| std::fs::canonicalize(erase).is_ok_and(|named| named == path);
    check_name(request, &path, std::slice::from_ref(&request.target), is_named)?;
    let capacity_bytes = found.size_bytes / 4096 * 4096;
    if capacity_bytes == 0 {
        return usage(format_args!(
            "'{}' is smaller than one block; name a larger file, or a directory",
            request.target
        ));
    }
    check_span(request, capacity_bytes)?;
    let writable = request.erase.is_some();
    if writable {
        check_size_limit(capacity_bytes)?;
    }
    let expect = ExpectedFile::File { capacity_bytes, identity: found.identity };
    let options = OpenOptions { path: path.clone(), writable, expect, settings: settings(request) };
    let device = opening(RealDevice::open(&options))?;
    let may_write = if writable {
        Ok(())
    } else {
        Err(format!(
            "what is in '{}' is kept; --erase {} allows it to be overwritten",
            request.target, request.target
        ))
    };
    let files = Err("needs a directory to put its own files in".to_owned());
    let found = ResolvedTarget::File(Box::new(found));
    Ok(assemble(roots, &found, request, device, (may_write, files), Box::new(suite::NoStage)))
}

type AccessResults = (std::result::Result<(), String>, std::result::Result<(), String>);

fn assemble(
    roots: Roots,
    found: &ResolvedTarget,
    request: &RunRequest,
    device: RealDevice,
    allowed: AccessResults,
    stage: Box<dyn suite::FileStage>,
) -> Target {
    let mut target = found.record(&roots, &request.target);
    let facts = device.facts().clone();
    target.engine = Some(facts.engine.clone());
    let medium = found.medium().map_or_else(Medium::default, |disk| disk.medium.clone());
    let host = machine(&roots);
    let contents = match found {
        ResolvedTarget::File(file) => {
            Some(host::contents_of_file(&file.place.path, file.size_bytes))
        }
        ResolvedTarget::Directory(_) | ResolvedTarget::Block(_) => None,
    };
    let mut flags = found.flags().to_vec();
    if device.facts().direct_refused {
        flags.push(Flag::Cached);
    }
    let kind = if matches!(found, ResolvedTarget::Directory(_)) {
        TargetKind::Directory
    } else {
        TargetKind::File
    };
    let (writable, files) = allowed;
    let info = TargetInfo {
        kind,
        facts,
        au_bytes: medium.au_bytes,
        writable,
        must_restore: None,
        files,
        way_to_raw: None,
        only: request.only(),
        commands_at_once: commands_at_once(target.link.as_ref(), &medium),
    };
    flags.extend(host_caveats(&host, &roots));
    let disk = found.medium().cloned();
    let watch = Some(device.watch());
    Target {
        info,
        medium,
        target,
        host: Some(host),
        flags,
        contents,
        stage,
        filesystems: None,
        device: Some(UnclaimedDevice::Open(Box::new(device))),
        watch,
        claim: None,
        disk,
        roots,
    }
}

/// Size of the test file in bytes: as the suite needs it, but a reserve stays free for other users
/// of the file system.
fn file_size(path: &Path, request: &RunRequest) -> Result<u64> {
    let space = host::free_space(path).or_io()?;
    let reserve = (space.size_bytes / 20).clamp(16 * MIB, 1 << 30);
    let usable = space.free_bytes.saturating_sub(reserve) / MIB * MIB;
    if let Some(only) = request.only() {
        return usage(format_args!(
            "--span {}+{} is for raw media and files; a test file in a directory has no place of its own",
            only.offset_bytes, only.bytes
        ));
    }
    if usable < MIN_BYTES {
        return refuse(format_args!(
            "'{}' has {} free; a test file of at least {} and a reserve of {} must fit: delete something there or name another directory",
            request.target,
            Bytes(space.free_bytes),
            Bytes(MIN_BYTES),
            Bytes(reserve)
        ));
    }
    Ok(request.file_bytes.min(usable))
}

/// Refuses a file longer than this session may write (`ulimit -f`): that is no fault of the medium.
fn check_size_limit(bytes: u64) -> Result<()> {
    match getrlimit(Resource::Fsize).current {
        Some(most_bytes) if most_bytes < bytes => Err(anyhow::anyhow!(
            "the limit of file size in this session (ulimit -f) is {}, and the test writes a file of {}: type `ulimit -f unlimited` (or open a new session where that is refused) and start again; nothing was measured",
            Bytes(most_bytes),
            Bytes(bytes)
        ))
        .or_internal(),
        _ => Ok(()),
    }
}

/// Settings with which the device is opened.
pub fn settings(request: &RunRequest) -> blockio::OpenSettings {
    blockio::OpenSettings { engine: engine(request), ..blockio::OpenSettings::default() }
}
