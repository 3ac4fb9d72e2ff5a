//! Reasons why a medium is in use and must not be touched: mounted partitions, swap, holders, the
//! running system. Decided by device number, never by name. `target/block.rs` refuses for them.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::holding::{Holding, Process};
use crate::mounts::{Mount, mount_of};
use crate::roots::{DeviceNumber, Roots, names, text};
use crate::topology::{BackedBy, BackingFile, BlockDeviceEntry, BlockTopology};

/// One reason not to touch a device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InUseReason {
    /// The running system is on it.
    Root {
        /// Place of the system that is on it: "/", "/boot", "/usr".
        at: PathBuf,
    },
    /// A file system on it is mounted.
    Mounted {
        /// Kernel name of the whole device, the partition or the device stacked on it.
        device: String,
        /// Mount point, as this process sees it.
        at: PathBuf,
    },
    /// It is used as swap space, by `/proc/swaps`.
    Swap {
        /// Kernel name of the whole device, the partition or the device stacked on it.
        device: String,
    },
    /// Another device is built on it.
    Holder {
        /// Kernel name of the whole device, the partition or the device stacked on it.
        device: String,
        /// Kernel name of the device that is built on it.
        holder: String,
        /// "LVM", "LUKS", "MD", "dm", "loop", "zram", "bcache".
        what: String,
    },
    /// It is a member of a mounted btrfs.
    BtrfsMember {
        /// Kernel name of the device that is the member: "sdb1".
        device: String,
        /// Id of the file system.
        id: String,
    },
    /// Another program holds it exclusively (O_EXCL), or it is mounted where this process cannot
    /// see it.
    ExclusivelyOpen {
        /// Kernel name of the whole device or the partition that is held.
        device: String,
        /// Processes that have it open; the kernel does not report which of them holds it.
        open_in: Vec<Process>,
    },
    /// Another process can write to it, or has locked it.
    Held {
        /// Kernel name of the device, or the path of the file with its content.
        what: String,
        /// Open for writing, mapped or locked, and the process if it can be seen.
        holding: Holding,
    },
    /// A file system on it is mounted where this process cannot see it.
    MountedElsewhere {
        /// Kernel name of the device that is mounted there.
        device: String,
        /// Mount point in that namespace.
        at: PathBuf,
        /// A process of that mount namespace.
        by: Process,
    },
}

impl fmt::Display for InUseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InUseReason::Root { at } => write!(f, "the running system is on it ({})", at.display()),
            InUseReason::Mounted { device, at } => {
                write!(f, "{device} is mounted at {}", at.display())
            }
            InUseReason::Swap { device } => write!(f, "{device} is swap space"),
            InUseReason::Holder { device, holder, what } => {
                write!(f, "{device} is part of {holder} ({what})")
            }
            InUseReason::BtrfsMember { device, id } => {
                write!(f, "{device} is part of the mounted btrfs {id}")
            }
            InUseReason::ExclusivelyOpen { device, open_in } => {
                write!(f, "{device} is held open by another program or mounted out of sight")?;
                let names: Vec<String> = open_in.iter().map(Process::to_string).collect();
                if names.is_empty() {
                    Ok(())
                } else {
                    write!(f, " (it is open in {})", names.join(" and "))
                }
            }
            InUseReason::Held { what, holding } => write!(f, "{what} is {holding}"),
            InUseReason::MountedElsewhere { device, at, by } => {
                write!(f, "{device} is mounted at {} in the mount namespace of {by}", at.display())
            }
        }
    }
}

/// Several uses in one line: the first three, and the number of the others.
pub fn summary(uses: &[InUseReason]) -> String {
    let mut words: Vec<String> = uses.iter().take(3).map(InUseReason::to_string).collect();
    if uses.len() > 3 {
        words.push(format!("and {} more", uses.len() - 3));
    }
    words.join(", ")
}

/// The reasons why the whole device of that kernel name is in use: itself, its partitions, and
/// everything above and below it.
///
/// Reads sysfs and proc only. [`exclusively_open`] finds programs that hold a device exclusively
/// without a trace there.
pub fn uses(roots: &Roots, disk: &str) -> Vec<InUseReason> {
    let topology = BlockTopology::read(roots);
    topology.named(disk).map(|slot| topology.uses(slot)).unwrap_or_default()
}

/// True if another program holds the device node exclusively (O_EXCL fails with EBUSY). Opens the
/// device for reading; without the right to, returns false.
pub fn exclusively_open(roots: &Roots, path: &Path) -> bool {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    matches!(open(roots.locate(path), flags, Mode::empty()), Err(rustix::io::Errno::BUSY))
}

impl BlockTopology<'_> {
    /// The reasons why a whole device is in use, most serious first, each reason once.
    pub fn uses(&self, slot: &BlockDeviceEntry) -> Vec<InUseReason> {
        let mut found = BTreeSet::new();
        self.collect(slot, &mut BTreeSet::new(), &mut found);
        // what a stacked device is made of must not be in use by anything but the stack itself
        let mut through = BTreeSet::from([slot.name.clone()]);
        for media in self.below(slot) {
            self.collect(media, &mut through, &mut found);
        }
        found.into_iter().collect()
    }

    /// Adds the reasons found on a device, its partitions and everything stacked on them. Ignores
    /// devices in `seen`.
    fn collect(
        &self,
        slot: &BlockDeviceEntry,
        seen: &mut BTreeSet<String>,
        found: &mut BTreeSet<InUseReason>,
    ) {
        if !seen.insert(slot.name.clone()) {
            return;
        }
        found.extend(self.system_places(slot).map(|at| InUseReason::Root { at }));
        for twin in self.over_the_same_file(slot).collect::<Vec<_>>() {
            self.collect(twin, seen, found);
        }
        for (number, name, dir) in slot.nodes() {
            found.extend(self.direct(number, name));
            for holder in self
                .holders(number, &dir)
                .filter(|holder| !seen.contains(&holder.name))
                .collect::<Vec<_>>()
            {
                let what = stacked_device_kind(holder);
                found.insert(InUseReason::Holder {
                    device: name.to_owned(),
                    holder: holder.name.clone(),
                    what,
                });
                self.collect(holder, seen, found);
            }
        }
    }

    /// Other loop devices over the file of this one, whatever its name: what is written to one of
    /// them is read from the others.
    fn over_the_same_file(
        &self,
        slot: &BlockDeviceEntry,
    ) -> impl Iterator<Item = &BlockDeviceEntry> {
        let own: Vec<BackingFile> = slot.files().cloned().collect();
        let is_same = move |one: &BackingFile, other: &BackingFile| {
            one.identity().zip(other.identity()).map_or(one.path == other.path, |(a, b)| a == b)
        };
        let shares = move |other: &&BlockDeviceEntry| {
            other.files().any(|file| own.iter().any(|mine| is_same(mine, file)))
        };
        self.slots.iter().filter(shares)
    }

    /// Mounts, swap and btrfs of exactly this device number.
    fn direct(&self, number: DeviceNumber, name: &str) -> Vec<InUseReason> {
        let device = || name.to_owned();
        let mounted = self.mounts.iter().filter(|mount| self.device_of(mount) == Some(number));
        let mounted =
            mounted.map(|mount| InUseReason::Mounted { device: device(), at: mount.at.clone() });
        let swapped = self.swaps.contains(&number).then(|| InUseReason::Swap { device: device() });
        let members = self.btrfs.iter().filter(|(member, _)| *member == number);
        let members =
            members.map(|(_, id)| InUseReason::BtrfsMember { device: device(), id: id.clone() });
        let mut found: Vec<InUseReason> = mounted.chain(swapped).chain(members).collect();
        if found.is_empty() {
            found.extend(self.loops_over_files_on(number, name));
        }
        found
    }

    /// Loop devices over files of a file system on this device that is mounted nowhere any more, or
    /// out of sight: they keep it in use.
    fn loops_over_files_on(
        &self,
        number: DeviceNumber,
        name: &str,
    ) -> impl Iterator<Item = InUseReason> {
        let is_there = move |file: &BackingFile| file.device() == Some(number);
        let loops = self.slots.iter().filter(move |slot| slot.files().any(is_there));
        loops.map(move |slot| InUseReason::Holder {
            device: name.to_owned(),
            holder: slot.name.clone(),
            what: "loop over a file on it".to_owned(),
        })
    }

    /// Devices built on this one: those that sysfs names, and the loop and zram devices that are
    /// backed by it.
    fn holders(&self, number: DeviceNumber, dir: &Path) -> impl Iterator<Item = &BlockDeviceEntry> {
        let named = names(&dir.join("holders"));
        self.slots.iter().filter(move |slot| {
            named.contains(&slot.name) || slot.backed_by.contains(&BackedBy::Device(number))
        })
    }

    /// The whole devices under a stacked device (dm, md, loop), directly or through others, itself
    /// not counted. A file under a loop device counts only with `file_too`: a file on a mounted
    /// file system is no reason to refuse a loop device.
    fn walk_down(&self, slot: &BlockDeviceEntry, file_too: bool, found: &mut Vec<String>) {
        for below in &slot.backed_by {
            let number = match below {
                BackedBy::Device(number) => Some(*number),
                BackedBy::File(file) if file_too => file.device().or_else(|| {
                    let mount = mount_of(self.roots, &self.mounts, &file.path)?;
                    self.device_of(mount)
                }),
                BackedBy::File(_) => None,
            };
            let Some((media, _)) = number.and_then(|number| self.find(number)) else {
                continue;
            };
            if !found.contains(&media.name) {
                found.push(media.name.clone());
                self.walk_down(media, file_too, found);
            }
        }
    }

    /// The devices through which the data of this one can be written: itself, those under it, and
    /// other loop devices over the same files.
    pub fn sharing_data<'a>(&'a self, slot: &'a BlockDeviceEntry) -> Vec<&'a BlockDeviceEntry> {
        let media = std::iter::once(slot).chain(self.below(slot));
        media.flat_map(|it| std::iter::once(it).chain(self.over_the_same_file(it))).collect()
    }

    /// The whole devices under a stacked device, itself not counted.
    pub fn below(&self, slot: &BlockDeviceEntry) -> Vec<&BlockDeviceEntry> {
        let mut found = Vec::new();
        self.walk_down(slot, false, &mut found);
        found.iter().filter_map(|name| self.named(name)).collect()
    }

    /// The places of the running system that are on this device, directly or through stacked
    /// devices.
    fn system_places(&self, slot: &BlockDeviceEntry) -> impl Iterator<Item = PathBuf> {
        const PLACES: [&str; 5] = ["/", "/usr", "/boot", "/boot/efi", "/boot/firmware"];
        let on_slot = |mount: &&Mount| {
            let Some((top, _)) = self.system_device(mount, 0).and_then(|number| self.find(number))
            else {
                return false;
            };
            let mut chain = vec![top.name.clone()];
            self.walk_down(top, true, &mut chain);
            chain.contains(&slot.name)
        };
        let places = self
            .mounts
            .iter()
            .filter(|mount| PLACES.iter().any(|place| mount.at == Path::new(place)));
        places.filter(on_slot).map(|mount| mount.at.clone()).collect::<BTreeSet<_>>().into_iter()
    }

    /// The device below a mount; for an overlay (a live system) the device of its upper, otherwise
    /// its lowest, directory.
    pub fn system_device(&self, mount: &Mount, depth: usize) -> Option<DeviceNumber> {
        if mount.kind != "overlay" || depth > 4 {
            return self.device_of(mount);
        }
        let lowest = mount.option("lowerdir").and_then(|dirs| dirs.rsplit(':').next());
        [mount.option("upperdir"), lowest].into_iter().flatten().find_map(|dir| {
            let under = mount_of(self.roots, &self.mounts, Path::new(dir))
                .filter(|under| under.id != mount.id)?;
            self.system_device(under, depth + 1)
        })
    }
}

/// The common name of the kind of a stacked device.
fn stacked_device_kind(holder: &BlockDeviceEntry) -> String {
    let name = holder.name.trim_end_matches(|c: char| c.is_ascii_digit());
    let dm_id = text(&holder.dir.join("dm/uuid")).unwrap_or_default();
    let what = match (name, dm_id.split('-').next()) {
        ("dm-", Some("LVM")) => "LVM",
        ("dm-", Some("CRYPT")) => "LUKS",
        ("dm-", Some("mpath")) => "multipath",
        ("dm-", _) => "dm",
        ("md", _) => "MD",
        (other, _) => other,
    };
    what.to_owned()
}
