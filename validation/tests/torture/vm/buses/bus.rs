//! Buses, and the devices that are plugged into each.

use serde_json::{Value, json};

use crate::support::tool;

/// A way for a medium to be attached.
#[derive(Clone, Copy, PartialEq)]
pub enum Bus {
    Usb,
    Uas,
    Sd,
    Emmc,
    Nvme,
    Scsi,
}

/// CID of every SD card of QEMU (`hw/sd/sd.c`).
const SD_CID: &str = "aa585951454d552101deadbeef006200";

impl Bus {
    pub const ALL: [Bus; 6] = [Bus::Usb, Bus::Uas, Bus::Sd, Bus::Emmc, Bus::Nvme, Bus::Scsi];

    /// Name by which it is chosen.
    pub fn name(self) -> &'static str {
        match self {
            Bus::Usb => "usb",
            Bus::Uas => "uas",
            Bus::Sd => "sd",
            Bus::Emmc => "emmc",
            Bus::Nvme => "nvme",
            Bus::Scsi => "scsi",
        }
    }

    /// Driver of the kernel, as the program names it.
    pub fn driver(self) -> &'static str {
        match self {
            Bus::Usb => "usb-storage",
            Bus::Uas => "uas",
            Bus::Sd | Bus::Emmc => "sdhci-pci",
            Bus::Nvme => "nvme",
            Bus::Scsi => "virtio_scsi",
        }
    }

    /// Modules of the kernel that it needs.
    pub fn modules(self) -> &'static str {
        match self {
            Bus::Usb => "xhci_pci usb_storage sd_mod",
            Bus::Uas => "xhci_pci uas sd_mod",
            Bus::Sd | Bus::Emmc => "sdhci_pci mmc_block",
            Bus::Nvme => "nvme",
            Bus::Scsi => "virtio_scsi sd_mod",
        }
    }

    /// Hardware of the machine, as options of QEMU. USB is in every machine.
    pub fn hardware(self) -> &'static str {
        match self {
            Bus::Usb | Bus::Uas => "",
            Bus::Sd => "-drive if=none,id=slot -device sdhci-pci -device sd-card,id=medium,drive=slot",
            Bus::Emmc => "-drive if=none,id=slot -device sdhci-pci -device emmc,id=medium,drive=slot",
            Bus::Nvme => "-device pcie-root-port,id=root,chassis=1,slot=1",
            Bus::Scsi => "-device virtio-scsi-pci,id=scsi",
        }
    }

    /// True if this QEMU has the device.
    pub fn is_known_to_qemu(self) -> bool {
        let device = match self {
            Bus::Usb => "usb-storage",
            Bus::Uas => "usb-uas",
            Bus::Sd => "sd-card",
            Bus::Emmc => "emmc",
            Bus::Nvme => "nvme",
            Bus::Scsi => "virtio-scsi-pci",
        };
        tool("qemu-system-x86_64", &["-device", "help"]).contains(&format!("name \"{device}\""))
    }

    /// True if the medium is pulled out alone and the slot stays.
    pub fn is_slot(self) -> bool {
        matches!(self, Bus::Sd | Bus::Emmc)
    }

    /// Pattern of the nodes that the kernel gives its media.
    pub fn nodes(self) -> &'static str {
        match self {
            Bus::Usb | Bus::Uas | Bus::Scsi => "/dev/sd?",
            Bus::Sd | Bus::Emmc => "/dev/mmcblk?",
            Bus::Nvme => "/dev/nvme?n1",
        }
    }

    /// Devices for QEMU to plug in, one after the other: the last is the one that the kernel sees.
    pub fn devices(self, serial: &str, node: &str) -> Vec<Value> {
        match self {
            Bus::Usb => vec![json!({
                "driver": "usb-storage", "id": "medium", "bus": "usb.0", "serial": serial, "removable": true, "drive": node,
            })],
            Bus::Uas => vec![
                json!({ "driver": "usb-uas", "id": "medium", "bus": "usb.0", "serial": serial }),
                json!({
                    "driver": "scsi-hd", "id": "unit", "bus": "medium.0", "drive": node, "serial": "BEHIND0001",
                    "vendor": "ACME", "product": "Fast Box",
                }),
            ],
            Bus::Sd | Bus::Emmc => Vec::new(),
            Bus::Nvme => vec![json!({
                "driver": "nvme", "id": "medium", "bus": "root", "serial": serial, "drive": node,
            })],
            Bus::Scsi => vec![json!({
                "driver": "scsi-hd", "id": "medium", "bus": "scsi.0", "serial": serial, "drive": node,
                "vendor": "ACME", "product": "Disk One", "rotation_rate": 1,
            })],
        }
    }

    /// Identity that the program must report of a medium with this serial number.
    pub fn expected(self, serial: &str) -> Value {
        match self {
            Bus::Usb => json!({
                "kind": "usb", "interface": "usb", "vendor": "QEMU", "model": "QEMU HARDDISK", "serial": serial,
            }),
            Bus::Uas => json!({
                "kind": "usb", "interface": "usb", "vendor": "ACME", "model": "Fast Box", "serial": serial,
            }),
            Bus::Sd => json!({
                "kind": "sd", "interface": "mmc", "manufacturer": "0xaa", "oem": "XY", "model": "QEMU!",
                "serial": "0xdeadbeef", "made": "2006-02", "cid": SD_CID,
            }),
            Bus::Emmc => json!({ "kind": "emmc", "interface": "mmc" }),
            Bus::Nvme => json!({
                "kind": "virtual", "interface": "nvme", "model": "QEMU NVMe Ctrl", "serial": serial,
            }),
            Bus::Scsi => json!({
                "kind": "ssd", "interface": "scsi", "vendor": "ACME", "model": "Disk One", "serial": serial,
            }),
        }
    }
}
