//! Raw block devices.

use std::cell::RefCell;
use std::rc::Rc;

use blockio::{ExpectedFile, OpenOptions, RealDevice};
use device::Device;
use host::{BlockTarget, Claim, ResolvedTarget, Roots};
use record::TargetKind;
use suite::TargetInfo;

use super::{
    Target, UnclaimedDevice, check_name, check_span, commands_at_once, file, host_caveats, machine,
    opening, stages,
};
use crate::request::RunRequest;
use program::exit::{OrExit, Result};

/// Opens a block device: read-only unless `--erase` names this very medium, and held so that
/// nothing else mounts it meanwhile.
pub fn open(roots: Roots, found: BlockTarget, request: &RunRequest) -> Result<Target> {
    let ids = found.disk.ids_for(found.partition.as_ref());
    let is_named = |erase: &str| found.disk.answers_for(found.partition.as_ref(), erase);
    check_name(request, &found.path, &ids, is_named)?;
    check_span(request, found.size_bytes())?;
    let claim: Claim = host::claim(&roots, &found).or_refuse()?;
    let claim = Rc::new(RefCell::new(claim));
    // held: what is looked at now is what is there until the end
    let contents = host::contents_of(&roots, &found);
    // Without --erase a test that restores what it overwrites may write, where it was asked for by
    // name.
    let must_restore = request.must_restore();
    let writable = request.erase.is_some() || must_restore;
    let queue = found.disk.queue(&roots);
    let settings = blockio::OpenSettings {
        max_transfer_bytes: queue.max_sectors_kb.map(|kb| kb * 1024),
        claimed: true,
        ..file::settings(request)
    };
    let expect = ExpectedFile::Block { number: found.number().to_raw() };
    let options =
        OpenOptions { path: found.path.clone(), writable, expect, settings: settings.clone() };
    let device = opening(RealDevice::open(&options))?;
    let facts = device.facts().clone();
    let is_protected = found.is_read_only(&roots);
    let read_only = || {
        if is_protected {
            return format!(
                "{} is write-protected; move the lock slider of the card or adapter",
                request.target
            );
        }
        format!(
            "what lies on {} is kept; --erase {} allows it to be overwritten",
            request.target, ids[0]
        )
    };
    let mut medium = found.disk.medium.clone();
    medium.capacity_bytes = Some(found.size_bytes());
    let host = machine(&roots);
    let stage = stages::StagedFiles::new(Rc::clone(&claim), found.clone(), settings);
    let watch = device.watch();
    let found = ResolvedTarget::Block(Box::new(found));
    let mut target = found.record(&roots, &request.target);
    target.engine = Some(facts.engine.clone());
    let info = TargetInfo {
        kind: TargetKind::Block,
        facts,
        au_bytes: medium.au_bytes,
        writable: if writable { Ok(()) } else { Err(read_only()) },
        must_restore: must_restore.then(read_only),
        files: if writable && !must_restore { Ok(()) } else { Err(read_only()) },
        way_to_raw: None,
        only: request.only(),
        commands_at_once: commands_at_once(target.link.as_ref(), &medium),
    };
    let flags = [found.flags().to_vec(), host_caveats(&host, &roots)].concat();
    let disk = found.medium().cloned();
    Ok(Target {
        info,
        medium,
        target,
        host: Some(host),
        flags,
        contents: Some(contents),
        stage: Box::new(stage),
        filesystems: None,
        device: Some(UnclaimedDevice::Open(Box::new(device))),
        watch: Some(watch),
        claim: Some(claim),
        disk,
        roots,
    })
}
