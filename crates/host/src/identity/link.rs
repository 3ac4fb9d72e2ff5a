//! The link of a medium to the host, and its maximum rate.

use std::path::Path;

use record::Link;

use super::{Bus, above, usb};
use crate::roots::{Roots, flag, link_name, number, text};
use crate::topology::{ancestors, driver};

/// The link of the block device with that directory under `/sys/block`.
pub fn link(roots: &Roots, dir: &Path) -> Link {
    let device = dir.join("device");
    let common = Link {
        driver: driver(dir),
        queue_depth: number(&device.join("queue_depth")).map(|depth| depth as u32),
        ..Link::default()
    };
    match Bus::of(dir) {
        Bus::Mmc => mmc(roots, dir, common),
        Bus::Usb => usb_link(dir, common),
        Bus::Ata => ata(roots, dir, common),
        Bus::Nvme => nvme(dir, common),
        _ => common,
    }
}

/// Speed from the device; the rate in bytes per second is the limit of the protocol, not the bits
/// on the wire: bulk transfers of USB 2 are at most 13 packets of 512 bytes in a microframe, USB 1
/// 19 of 64 in a frame; 8b/10b and 128b/132b coding above.
fn usb_link(dir: &Path, common: Link) -> Link {
    let Some(device) = usb::device(dir) else { return common };
    let speed = text(&device.join("speed"));
    let max_bps = match speed.as_deref() {
        Some("12") => Some(19.0 * 64.0 * 1000.0),
        Some("480") => Some(13.0 * 512.0 * 8000.0),
        Some("5000") => Some(500e6),
        Some("10000") => Some(10e9 / 8.0 * 128.0 / 132.0),
        Some("20000") => Some(20e9 / 8.0 * 128.0 / 132.0),
        _ => None,
    };
    let names = [text(&device.join("manufacturer")), text(&device.join("product"))];
    let name = names.into_iter().flatten().collect::<Vec<_>>().join(" ");
    Link {
        mode: speed.map(|speed| format!("{speed} Mbit/s")),
        max_bps,
        usb_id: usb::id(&device),
        usb_name: (!name.is_empty()).then_some(name),
        ..common
    }
}

/// Clock, width and timing of the slot, which only root may read (debugfs), and command queueing.
fn mmc(roots: &Roots, dir: &Path, common: Link) -> Link {
    // the card is mmc0:0001 below the slot mmc0
    let slots =
        ancestors(dir).into_iter().filter_map(|path| path.file_name()?.to_str().map(str::to_owned));
    let slot = slots
        .into_iter()
        .find(|name| name.strip_prefix("mmc").is_some_and(|rest| rest.parse::<u32>().is_ok()));
    let ios = slot.and_then(|slot| text(&roots.sys.join("kernel/debug").join(slot).join("ios")));
    let (mode, max_bps) = ios.and_then(|ios| bus_mode(&ios)).unzip();
    Link { mode, max_bps, command_queue: flag(&dir.join("device/cmdq_en")), ..common }
}

/// Timing, width and clock of an MMC slot in words, and its bytes per second, from
/// `/sys/kernel/debug/mmcN/ios`: one bit per line and used clock edge; overhead of the protocol not
/// counted.
fn bus_mode(ios: &str) -> Option<(String, f64)> {
    let field = |name: &str| {
        let mut values = ios.lines().filter_map(|line| line.strip_prefix(name));
        values.next().map(|value| value.trim_start_matches([':', '\t', ' ']))
    };
    let in_brackets = |text: &str| Some(text.split_once('(')?.1.trim_end_matches(')').to_owned());
    let clock = field("actual clock").or(field("clock"))?;
    let clock_hz: f64 = clock.split(' ').next()?.parse().ok()?;
    let lines: f64 = in_brackets(field("bus width")?)?.split(' ').next()?.parse().ok()?;
    let timing = in_brackets(field("timing spec")?)?;
    let name = timing.to_ascii_lowercase();
    let edges = if name.contains("ddr") || name.contains("hs400") { 2.0 } else { 1.0 };
    let words = format!("{timing}, {lines} bit, {} MHz", clock_hz / 1e6);
    Some((words, clock_hz * lines * edges / 8.0))
}

/// Speed of the port, such as "6.0 Gbps"; 8b/10b coding. Of a parallel link the DMA mode.
fn ata(roots: &Roots, dir: &Path, common: Link) -> Link {
    let port = above(dir, "ata")
        .and_then(|port| port.file_name()?.to_str()?.strip_prefix("ata").map(str::to_owned));
    let speed =
        port.and_then(|port| text(&roots.sys.join(format!("class/ata_link/link{port}/sata_spd"))));
    let gbps = speed.as_ref().and_then(|speed| speed.strip_suffix(" Gbps")?.parse::<f64>().ok());
    let serial = gbps.zip(speed).map(|(gbps, speed)| (format!("SATA {speed}"), gbps * 1e8));
    let (mode, max_bps) = serial.or_else(|| super::ata::dma_mode(roots, dir)).unzip();
    Link { mode, max_bps, ..common }
}

/// Speed and width of the PCI link. With several paths the namespace is below a subsystem, which
/// links to its controllers.
fn nvme(dir: &Path, common: Link) -> Link {
    let subsystem = dir.join("device");
    let controller = crate::roots::names(&subsystem)
        .into_iter()
        .find(|name| name.strip_prefix("nvme").is_some_and(|rest| rest.parse::<u32>().is_ok()));
    let start = controller.map_or_else(|| dir.to_owned(), |name| subsystem.join(name));
    let Some(pci) =
        ancestors(&start).into_iter().find(|path| path.join("current_link_speed").exists())
    else {
        return Link { driver: common.driver.or_else(|| driver(&start)), ..common };
    };
    let speed = text(&pci.join("current_link_speed"));
    let transfers = speed.as_ref().and_then(|speed| speed.split(' ').next()?.parse::<f64>().ok());
    let width = number(&pci.join("current_link_width"));
    Link {
        driver: common.driver.or_else(|| link_name(&pci.join("driver"))),
        mode: transfers.zip(width).map(|(rate, width)| format!("PCIe {rate} GT/s x{width}")),
        max_bps: transfers.zip(width).map(|(rate, width)| pcie_bps(rate) * width as f64),
        ..common
    }
}

/// Bytes per second of one lane: 8b/10b coding up to 5 GT/s, 128b/130b above.
fn pcie_bps(giga_transfers: f64) -> f64 {
    let coding = if giga_transfers <= 5.0 { 8.0 / 10.0 } else { 128.0 / 130.0 };
    giga_transfers * 1e9 / 8.0 * coding
}
