//! USB sticks, bridges and card readers (docs/field/identity.md#other-buses).

use std::path::{Path, PathBuf};

use record::{Medium, MediumKind};

use super::{has_other, rotation_rate};
use crate::roots::{link_name, text};
use crate::topology::ancestors;

/// The directory of the USB device above a block device: the nearest one with a vendor id.
pub fn device(dir: &Path) -> Option<PathBuf> {
    ancestors(dir).into_iter().find(|path| path.join("idVendor").exists())
}

/// Vendor and product id as in lsusb, "0781:5580"; `None` if sysfs lacks one.
pub fn id(device: &Path) -> Option<String> {
    Some(format!("{}:{}", text(&device.join("idVendor"))?, text(&device.join("idProduct"))?))
}

/// Adds the identity of the USB device to that of its SCSI layer.
pub fn medium(dir: &Path, scsi: Medium) -> Medium {
    let usb = device(dir);
    let attribute = |name: &str| usb.as_ref().and_then(|usb| text(&usb.join(name)));
    let reader = usb.as_ref().is_some_and(|usb| is_reader(dir, usb, &scsi));
    Medium {
        kind: kind(dir, &scsi, reader),
        vendor: scsi.vendor.or_else(|| attribute("manufacturer")),
        model: scsi.model.or_else(|| attribute("product")),
        serial: attribute("serial").or(scsi.serial),
        // without evidence of a reader it may still be one: a stick is a reader with its flash
        // soldered on
        behind_reader: reader.then_some(true),
        ..scsi
    }
}

/// A stick unless the disk itself reports otherwise. Behind a bridge `queue/rotational` is not
/// reliable, the block device characteristics page is. An SSD in a case is fixed; a stick is
/// removable or has no such page.
fn kind(dir: &Path, scsi: &Medium, reader: bool) -> MediumKind {
    match rotation_rate(&dir.join("device")) {
        _ if reader || scsi.removable == Some(true) => MediumKind::Usb,
        Some(0) => MediumKind::Ssd,
        Some(_) => MediumKind::Disk,
        None => MediumKind::Usb,
    }
}

/// True if the USB device is a card reader: several slots (logical units), a name that contains
/// "reader" or the like, or the id of a reader chip.
fn is_reader(dir: &Path, usb: &Path, scsi: &Medium) -> bool {
    /// Chips that are used only in card readers: Genesys, Alcor, Realtek, Super Top, Microchip,
    /// Transcend RDF, Sandisk MobileMate, SCM.
    const CHIPS: &str = "05e3:0716 05e3:0723 05e3:0727 05e3:0732 05e3:0743 05e3:0747 05e3:0749 \
        05e3:0751 05e3:0764 058f:6335 058f:6362 058f:6366 0bda:0129 0bda:0151 14cd:125c 0424:2240 \
        0424:4040 8564:4000 0781:b7a4";
    const WORDS: &str =
        "reader, card, sd/mmc, sdxc, micro sd, microsd, compactflash, usb3.0-crw, multi flash";
    let names = [
        scsi.vendor.clone(),
        scsi.model.clone(),
        text(&usb.join("product")),
        text(&usb.join("manufacturer")),
    ];
    let is_named_reader = names
        .iter()
        .flatten()
        .map(|name| name.to_ascii_lowercase())
        .any(|name| WORDS.split(", ").any(|word| name.contains(word)));
    // what the most common reader chip answers to INQUIRY; the same words in a product string are
    // on sticks, too
    let genesys = scsi.model.as_deref() == Some("STORAGE DEVICE");
    is_named_reader
        || genesys
        || has_siblings(dir)
        || id(usb).is_some_and(|id| CHIPS.split_whitespace().any(|chip| chip == id))
}

/// True if the same SCSI target has other logical units: the slots of a multi-slot reader.
fn has_siblings(dir: &Path) -> bool {
    let Some(own) = link_name(&dir.join("device")) else {
        return false;
    };
    let Some((target, _)) = own.rsplit_once(':') else {
        return false;
    };
    ancestors(&dir.join("device"))
        .get(1)
        .is_some_and(|parent| has_other(parent, &format!("{target}:"), &own))
}
