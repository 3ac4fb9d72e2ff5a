//! Identity of a medium, from sysfs. Unknown values stay `None`, never guessed
//! (docs/field/identity.md#identity-of-media-and-hosts).

mod ata;
mod link;
mod mmc;
mod registers;
mod usb;

use std::path::Path;

use record::{Medium, MediumKind, Queue};

use crate::roots::{Roots, flag, link_name, names, number, text};
use crate::topology::{ancestors, driver};

pub(crate) use link::link;

/// Bus of a block device, by its place in sysfs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bus {
    Mmc,
    Usb,
    Ata,
    Nvme,
    Scsi,
    Virtio,
    Loop,
    /// Stacked (dm, md) or in memory (ram, zram, null_blk).
    Software,
    Other,
}

impl Bus {
    /// The bus of the block device with that directory under `/sys/block`.
    fn of(dir: &Path) -> Bus {
        let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let above = ancestors(dir);
        let passes = |prefix: &str| {
            above.iter().any(|path| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                name.strip_prefix(prefix)
                    .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            })
        };
        match name.trim_start_matches(|c: char| c.is_ascii_alphabetic()) {
            _ if name.starts_with("loop") => Bus::Loop,
            _ if name.starts_with("mmcblk") => Bus::Mmc,
            _ if name.starts_with("nvme") => Bus::Nvme,
            _ if passes("usb") => Bus::Usb,
            _ if passes("ata") => Bus::Ata,
            _ if passes("virtio") && !passes("host") => Bus::Virtio,
            _ if passes("host") => Bus::Scsi,
            _ if above.iter().any(|path| path.ends_with("devices/virtual")) => Bus::Software,
            _ => Bus::Other,
        }
    }

    /// Name of the bus in the record.
    fn interface(self) -> Option<&'static str> {
        match self {
            Bus::Mmc => Some("mmc"),
            Bus::Usb => Some("usb"),
            Bus::Ata => Some("ata"),
            Bus::Nvme => Some("nvme"),
            Bus::Scsi => Some("scsi"),
            Bus::Virtio => Some("virtio"),
            Bus::Loop => Some("loop"),
            Bus::Software | Bus::Other => None,
        }
    }
}

/// Identity of the block device with that directory under `/sys/block`; the caller adds names under
/// by-id and the size.
pub(crate) fn medium(roots: &Roots, dir: &Path) -> Medium {
    let bus = Bus::of(dir);
    let device = dir.join("device");
    let common = Medium {
        interface: bus.interface().map(str::to_owned),
        rotational: flag(&dir.join("queue/rotational")),
        removable: flag(&dir.join("removable")),
        ..Medium::default()
    };
    match bus {
        Bus::Mmc => mmc::medium(&device, common),
        Bus::Usb => usb::medium(dir, scsi(&device, common)),
        Bus::Ata => ata::medium(roots, dir, scsi(&device, common)),
        Bus::Nvme => nvme(&device, common),
        Bus::Scsi => scsi(&device, common),
        Bus::Virtio => Medium {
            kind: MediumKind::Virtual,
            serial: text(&dir.join("serial")),
            behind_reader: Some(false),
            ..common
        },
        Bus::Loop => Medium { kind: MediumKind::Loop, rotational: None, ..common },
        Bus::Software => Medium { model: text(&dir.join("dm/name")), ..common },
        Bus::Other => Medium { kind: by_driver(dir), ..common },
    }
}

/// Identity from the answer to a SCSI INQUIRY, which sysfs keeps.
fn scsi(device: &Path, common: Medium) -> Medium {
    let vendor = text(&device.join("vendor")).filter(|vendor| vendor != "ATA");
    let model = text(&device.join("model"));
    let virtual_disk = [&vendor, &model].into_iter().flatten().any(|name| is_virtual_name(name));
    let kind = match (virtual_disk, rotation_rate(device)) {
        (true, _) => MediumKind::Virtual,
        (false, Some(0)) => MediumKind::Ssd,
        (false, Some(_)) => MediumKind::Disk,
        (false, None) => match common.rotational {
            Some(true) => MediumKind::Disk,
            Some(false) => MediumKind::Ssd,
            None => MediumKind::Unknown,
        },
    };
    Medium {
        kind,
        vendor,
        model,
        firmware: text(&device.join("rev")),
        serial: vpd_serial(device),
        behind_reader: Some(false),
        ..common
    }
}

/// True for names that virtual machines give their disks.
fn is_virtual_name(name: &str) -> bool {
    ["QEMU", "VBOX", "VMware", "Virtual", "Msft", "Xen", "scsi_debug"]
        .iter()
        .any(|known| name.contains(known))
}

/// The unit serial number page (0x80) of a SCSI device.
fn vpd_serial(device: &Path) -> Option<String> {
    let page = std::fs::read(device.join("vpd_pg80")).ok()?;
    let serial: String = page.get(4..)?.iter().map(|byte| *byte as char).collect();
    let serial = serial.trim_matches([' ', '\0']);
    (!serial.is_empty() && serial.chars().all(|c| c.is_ascii_graphic() || c == ' '))
        .then(|| serial.to_owned())
}

/// Revolutions per minute from the block device characteristics page (0xb1): 0 for a medium that
/// does not rotate, `None` if the page is missing. More reliable than `queue/rotational`, which USB
/// bridges leave at 1 (docs/field/identity.md#other-buses).
fn rotation_rate(device: &Path) -> Option<u16> {
    let page = std::fs::read(device.join("vpd_pgb1")).ok()?;
    match u16::from_be_bytes([*page.get(4)?, *page.get(5)?]) {
        1 => Some(0),
        rate if rate > 0x400 => Some(rate),
        _ => None,
    }
}

/// An NVMe namespace. With several paths to one disk the namespace is below a subsystem instead of
/// a controller; both have the same attributes.
fn nvme(device: &Path, common: Medium) -> Medium {
    let model = text(&device.join("model"));
    let virtual_disk = model.as_deref().is_some_and(is_virtual_name);
    Medium {
        kind: if virtual_disk { MediumKind::Virtual } else { MediumKind::Nvme },
        model,
        firmware: text(&device.join("firmware_rev")),
        serial: text(&device.join("serial")),
        behind_reader: Some(false),
        ..common
    }
}

/// Kind of the disks of virtual machines that are on a bus of their own.
fn by_driver(dir: &Path) -> MediumKind {
    match driver(dir).or_else(|| link_name(&dir.join("device/subsystem"))).as_deref() {
        Some("vbd" | "xen" | "xen-blkfront" | "hv_storvsc") => MediumKind::Virtual,
        _ => MediumKind::Unknown,
    }
}

/// Limits of the block layer (docs/field/linux-io.md#queue-attributes), from a `queue` directory.
pub(crate) fn queue(dir: &Path) -> Queue {
    let attribute = |name: &str| number(&dir.join(name));
    let schedulers = text(&dir.join("scheduler")).unwrap_or_default();
    let in_use = schedulers.split(' ').find_map(|name| name.strip_prefix('[')?.strip_suffix(']'));
    Queue {
        scheduler: in_use.or((schedulers == "none").then_some("none")).map(str::to_owned),
        schedulers: schedulers
            .split_whitespace()
            .map(|name| name.trim_matches(['[', ']']).to_owned())
            .collect(),
        nr_requests: attribute("nr_requests"),
        max_sectors_kb: attribute("max_sectors_kb"),
        max_hw_sectors_kb: attribute("max_hw_sectors_kb"),
        logical_block_bytes: attribute("logical_block_size"),
        physical_block_bytes: attribute("physical_block_size"),
        minimum_io_bytes: attribute("minimum_io_size"),
        optimal_io_bytes: attribute("optimal_io_size"),
        discard_granularity_bytes: attribute("discard_granularity"),
        write_cache: text(&dir.join("write_cache")),
        fua: flag(&dir.join("fua")),
        read_ahead_kb: attribute("read_ahead_kb"),
        nomerges: attribute("nomerges"),
        wbt_lat_usec: text(&dir.join("wbt_lat_usec")).and_then(|text| text.parse().ok()),
        zoned: text(&dir.join("zoned")),
    }
}

/// The first directory above a block device whose name begins with `prefix`.
fn above(dir: &Path, prefix: &str) -> Option<std::path::PathBuf> {
    let name_begins =
        |path: &std::path::PathBuf| path.file_name()?.to_str()?.starts_with(prefix).then_some(());
    ancestors(dir).into_iter().find(|path| name_begins(path).is_some())
}

/// True if a directory of sysfs has an entry other than `except` whose name begins with `prefix`.
fn has_other(dir: &Path, prefix: &str, except: &str) -> bool {
    names(dir).iter().any(|name| name.starts_with(prefix) && name != except)
}
