//! Files that other processes have open, mapped or locked: read from `/proc` once, and then
//! searched for a medium or a file.

mod locks;
mod process;
mod unseen;

use crate::holding::plain;
use std::path::PathBuf;

use blockio::FileIdentity;

pub use crate::holding::{Hold, Holding, LockKind, Process};
use crate::in_use::InUseReason;
use crate::mounts::Mount;
use crate::roots::{DeviceNumber, Roots};
use crate::topology::{BlockDeviceEntry, BlockTopology};
use locks::HeldLock;
pub(crate) use process::writes;
pub use unseen::NotSeen;

/// The block device or file of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DescriptorTarget {
    /// A block device, by its own number and not by its node's name.
    Block(DeviceNumber),
    /// A regular file, by device and inode.
    File(FileIdentity),
}

/// One descriptor or mapping of another process.
#[derive(Clone, Debug)]
struct Entry {
    target: DescriptorTarget,
    /// Way of the hold; `None` for a descriptor that only reads.
    hold: Option<Hold>,
    by: Process,
}

/// The open files of all visible processes at one moment, without our own.
#[derive(Debug, Default)]
pub struct OpenFiles {
    entries: Vec<Entry>,
    locks: Vec<HeldLock>,
    /// Mounts in other mount namespaces, each with a process of that namespace.
    elsewhere: Vec<(Mount, Process)>,
    not_seen: NotSeen,
}

impl OpenFiles {
    /// Reads `/proc` for block devices, and for the files in `files`.
    pub fn look(roots: &Roots, files: &[FileIdentity]) -> OpenFiles {
        let mut found = OpenFiles {
            locks: locks::all(roots),
            not_seen: unseen::limits(roots),
            ..OpenFiles::default()
        };
        let wanted = |target: &DescriptorTarget| match target {
            DescriptorTarget::Block(_) => true,
            DescriptorTarget::File(file) => files.contains(file),
        };
        process::visit_all(roots, &wanted, &mut |seen| match seen {
            process::ProcessEntry::Entry(entry) => found.entries.push(entry),
            process::ProcessEntry::Namespace(mounts, process) => {
                found.elsewhere.extend(mounts.into_iter().map(|mount| (mount, process.clone())));
            }
            process::ProcessEntry::Refused => found.not_seen.processes += 1,
        });
        found
    }

    /// Reads `/proc` for a disk: nodes through which its data can be written, and backing files.
    pub(crate) fn look_for(topology: &BlockTopology<'_>, slot: &BlockDeviceEntry) -> OpenFiles {
        OpenFiles::look(
            topology.roots,
            &files_below(topology, slot).into_iter().map(|(file, _)| file).collect::<Vec<_>>(),
        )
    }

    /// Parts that could not be read.
    pub fn not_seen(&self) -> &NotSeen {
        &self.not_seen
    }

    /// Holders of this file, each process once, with its most telling hold.
    pub fn of_file(&self, file: FileIdentity) -> Vec<Holding> {
        self.holdings(DescriptorTarget::File(file), Some(file))
    }

    /// Holders of the block device with this number, each process once, with its most telling hold.
    pub fn of_block(&self, number: DeviceNumber) -> Vec<Holding> {
        self.holdings(DescriptorTarget::Block(number), None)
    }

    /// Processes other than ours that have the block device with this number open in any way.
    pub fn openers(&self, number: DeviceNumber) -> Vec<Process> {
        let mut openers: Vec<Process> =
            self.of(DescriptorTarget::Block(number)).map(|entry| entry.by.clone()).collect();
        openers.sort();
        openers.dedup();
        openers
    }

    fn of(&self, target: DescriptorTarget) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.target == target)
    }

    /// Holders of a device or file; `inode` is its identity in the kernel's table of locks.
    fn holdings(&self, target: DescriptorTarget, inode: Option<FileIdentity>) -> Vec<Holding> {
        let seen = self
            .of(target)
            .filter_map(|entry| Some(Holding { how: entry.hold?, by: Some(entry.by.clone()) }));
        let mut found: Vec<Holding> = seen.collect();
        found.sort_by(|a, b| (&a.by, a.how).cmp(&(&b.by, b.how)));
        found.dedup_by(|a, b| a.by == b.by);
        found.sort();
        if found.is_empty() {
            let locks = self
                .locks
                .iter()
                .filter(|lock| inode.is_some_and(|inode| lock.is_on(inode)) && !lock.is_ours());
            found.extend(
                locks.map(|lock| Holding { how: Hold::Lock(lock.kind), by: lock.process() }),
            );
            found.dedup();
        }
        found
    }

    /// The reasons why a disk is in use: processes that hold it or a device below it, and mounts in
    /// other namespaces.
    pub(crate) fn uses(
        &self,
        topology: &BlockTopology<'_>,
        slot: &BlockDeviceEntry,
    ) -> Vec<InUseReason> {
        let mut found = Vec::new();
        for medium in topology.sharing_data(slot) {
            for (number, name, _) in medium.nodes() {
                let node = topology.node_identity(number, name);
                let holdings = self.holdings(DescriptorTarget::Block(number), node).into_iter();
                found.extend(
                    holdings.map(|holding| InUseReason::Held { what: name.to_owned(), holding }),
                );
                found.extend(self.mounted_elsewhere(topology, number, name));
            }
        }
        for (file, path) in files_below(topology, slot) {
            let what = plain(&path.to_string_lossy());
            found.extend(
                self.of_file(file)
                    .into_iter()
                    .map(|holding| InUseReason::Held { what: what.clone(), holding }),
            );
        }
        found.sort();
        found.dedup();
        found
    }

    /// Mounts of the device that are visible in another mount namespace and not in ours.
    fn mounted_elsewhere(
        &self,
        topology: &BlockTopology<'_>,
        number: DeviceNumber,
        name: &str,
    ) -> Option<InUseReason> {
        let here = topology.mounts.iter().any(|mount| topology.device_of(mount) == Some(number));
        let (mount, by) = self
            .elsewhere
            .iter()
            .find(|(mount, _)| topology.device_of(mount) == Some(number))
            .filter(|_| !here)?;
        Some(InUseReason::MountedElsewhere {
            device: name.to_owned(),
            at: mount.at.clone(),
            by: by.clone(),
        })
    }
}

/// The files that hold the content of a disk, or of devices below it.
fn files_below(
    topology: &BlockTopology<'_>,
    slot: &BlockDeviceEntry,
) -> Vec<(FileIdentity, PathBuf)> {
    let media = std::iter::once(slot).chain(topology.below(slot));
    let files = media.flat_map(BlockDeviceEntry::files);
    files.filter_map(|file| Some((file.identity()?, file.path.clone()))).collect()
}

/// Repeats `look` until it finds nothing, for about a second: udev and its like open a changed
/// device and close it again.
pub(crate) fn settled<T>(mut look: impl FnMut() -> Vec<T>) -> Vec<T> {
    const LOOKS: u32 = 10;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(100);
    for _ in 1..LOOKS {
        if look().is_empty() {
            return Vec::new();
        }
        std::thread::sleep(PAUSE);
    }
    look()
}
