//! Regular files, and the reasons to refuse one.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use blockio::FileIdentity;
use record::Flag;
use rustix::fs::{Access as Rights, Mode, OFlags, open};

use super::{Access, FileTarget, TargetError, filesystem, locate, may_write, space};
use crate::open_files::{Hold, Holding, OpenFiles, settled};
use crate::roots::Roots;
use crate::topology::{BlockDeviceEntry, BlockTopology};

/// A regular file that nobody else uses, or the refusal.
pub(super) fn find(roots: &Roots, target: &str, access: Access) -> Result<FileTarget, TargetError> {
    let place = locate(roots, target)?;
    let failed = |source| TargetError::Io(target.to_owned(), source);
    let metadata = fs::symlink_metadata(&place.path).map_err(failed)?;
    let identity = FileIdentity::of(&metadata);
    let topology = BlockTopology::read(roots);
    let in_use = |what: String| TargetError::FileInUse(target.to_owned(), what);
    if let Some(what) = lives_in(&topology, identity) {
        return Err(in_use(what));
    }
    let wanted = match access {
        Access::Read => Rights::READ_OK,
        Access::Write => Rights::READ_OK | Rights::WRITE_OK,
    };
    may_write(target, &place, wanted)?;
    let mut look = HolderSearch::default();
    let holdings = settled(|| {
        look = HolderSearch::at(roots, &place.path, identity);
        look.holdings.clone()
    });
    if let Some(holding) = holdings.first() {
        return Err(in_use(holding.to_string()));
    }
    let filesystem = filesystem(&place, space(target, &place)?);
    let mut flags = place.flags();
    flags.extend(
        hole_bytes(metadata.len(), metadata.blocks()).map(|hole_bytes| Flag::Sparse { hole_bytes }),
    );
    if !look.kernel_knows_no_writer {
        flags.extend(super::unseen(&topology, &look.seen).note().map(|text| Flag::Note { text }));
    }
    Ok(FileTarget { place, identity, size_bytes: metadata.len(), filesystem, flags })
}

/// Bytes of a file without storage on the medium, if any: blocks count 512 bytes (stat(2)).
fn hole_bytes(file_bytes: u64, blocks: u64) -> Option<u64> {
    let hole_bytes = file_bytes.saturating_sub(blocks * 512);
    (hole_bytes > 0).then_some(hole_bytes)
}

/// The result of one search for holders of a file.
#[derive(Default)]
struct HolderSearch {
    holdings: Vec<Holding>,
    seen: OpenFiles,
    /// True if the kernel reports that nobody has it open for writing.
    kernel_knows_no_writer: bool,
}

impl HolderSearch {
    fn at(roots: &Roots, path: &Path, identity: FileIdentity) -> HolderSearch {
        let seen = OpenFiles::look(roots, &[identity]);
        let mut holdings = seen.of_file(identity);
        // Not while someone is known to hold it: asking would break a lease.
        let writer = if holdings.is_empty() { has_writer(path, identity) } else { None };
        if writer == Some(true) {
            holdings.push(Holding { how: Hold::Writing, by: None });
        }
        HolderSearch { holdings, seen, kernel_knows_no_writer: writer == Some(false) }
    }
}

/// True if the kernel knows of anybody who has the file open for writing; `None` if it does not
/// report that.
fn has_writer(path: &Path, identity: FileIdentity) -> Option<bool> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty()).ok()?);
    if FileIdentity::of(&file.metadata().ok()?) != identity || we_have_it_open(identity) {
        return None;
    }
    blockio::has_writer(&file).ok()?
}

/// True if this very process has it open for writing: the kernel's count does not name processes.
fn we_have_it_open(identity: FileIdentity) -> bool {
    let writes = |name: &str| {
        let info = fs::read_to_string(format!("/proc/self/fdinfo/{name}")).unwrap_or_default();
        crate::open_files::writes(&info)
    };
    let same = |name: &String| {
        fs::metadata(format!("/proc/self/fd/{name}"))
            .is_ok_and(|other| FileIdentity::of(&other) == identity)
    };
    crate::roots::names(Path::new("/proc/self/fd")).iter().any(|name| same(name) && writes(name))
}

/// Use of the file: swap space, or the content of a loop device.
fn lives_in(topology: &BlockTopology<'_>, file: FileIdentity) -> Option<String> {
    let same = |path: &Path| fs::metadata(path).is_ok_and(|other| FileIdentity::of(&other) == file);
    if crate::mounts::swaps(topology.roots).iter().any(|swap| same(swap)) {
        return Some("swap space".to_owned());
    }
    let holds = |slot: &&BlockDeviceEntry| slot.files().any(|it| it.identity() == Some(file));
    topology.slots.iter().find(holds).map(|slot| format!("the content of {}", slot.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_without_blocks_are_a_hole() {
        assert_eq!(hole_bytes(1 << 20, 0), Some(1 << 20));
        assert_eq!(hole_bytes(1 << 20, 2_047), Some(512));
        assert_eq!((hole_bytes(1 << 20, 2_048), hole_bytes(1 << 20, 2_056)), (None, None));
    }
}
