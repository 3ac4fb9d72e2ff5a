//! The block layer's queue of a medium: available schedulers, and the settings that a change of
//! scheduler affects.

use std::fs;
use std::io;
use std::path::PathBuf;

use record::Queue;

use crate::change_error::ChangeError;
use crate::identity;
use crate::inventory::InventoryEntry;
use crate::roots::{DeviceNumber, Roots, device_number, number, text};
use crate::topology::SECTOR_BYTES;

/// Settings of a queue that are remembered before a scheduler is changed: the kernel sets the
/// number of requests anew with each scheduler, and bfq disables the throttling of writeback. In
/// the order of noting; they are restored from the end, the scheduler first.
pub(crate) const REMEMBERED: [&str; 5] =
    ["max_sectors_kb", "read_ahead_kb", "wbt_lat_usec", "nr_requests", "scheduler"];

/// Bytes written to a device since it appeared, by any program.
pub fn written_bytes(disk: &InventoryEntry) -> u64 {
    const SECTORS_WRITTEN: usize = 6;
    let stat =
        text(&Roots::default().sys.join("block").join(&disk.name).join("stat")).unwrap_or_default();
    let sectors =
        stat.split_whitespace().nth(SECTORS_WRITTEN).and_then(|word| word.parse::<u64>().ok());
    sectors.unwrap_or(0) * SECTOR_BYTES
}

/// A queue, with everything that identifies its device.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct QueueOf {
    /// Kernel name of the whole device.
    disk: String,
    number: DeviceNumber,
    diskseq: Option<u64>,
}

impl QueueOf {
    pub fn new(disk: &InventoryEntry) -> QueueOf {
        QueueOf { disk: disk.name.clone(), number: disk.number, diskseq: disk.diskseq }
    }

    /// Kernel name of the device.
    pub fn name(&self) -> &str {
        &self.disk
    }

    /// True if the same medium still has that name.
    pub fn is_there(&self) -> bool {
        let dir = self.dir();
        let same_number = device_number(&dir) == Some(self.number);
        same_number && number(&dir.join("diskseq")) == self.diskseq
    }

    fn dir(&self) -> PathBuf {
        Roots::default().sys.join("block").join(&self.disk)
    }

    fn queue(&self) -> Queue {
        identity::queue(&self.dir().join("queue"))
    }

    /// The value of a setting; for `scheduler` the one in use. `None` if there is no such setting.
    pub fn get(&self, setting: &str) -> Option<String> {
        match setting {
            "scheduler" => self.queue().scheduler,
            _ => text(&self.dir().join("queue").join(setting)),
        }
    }

    /// Changes a setting unless it has the value already, and checks that the kernel took it.
    pub fn set(&self, setting: &str, value: &str) -> Result<(), ChangeError> {
        if self.get(setting).as_deref() == Some(value) {
            return Ok(());
        }
        let disk = &self.disk;
        let no_scheduler = || {
            let offered = self.queue().schedulers.join(", ");
            let missing = format!("this kernel has no scheduler '{value}' for {disk}");
            Err(ChangeError::Other(format!("{missing}; it offers {offered}")))
        };
        if let Err(source) = fs::write(self.dir().join("queue").join(setting), value) {
            // the kernel looks for a module of that name first
            if setting == "scheduler" && source.kind() == io::ErrorKind::InvalidInput {
                return no_scheduler();
            }
            let what = format!("set {setting} of {disk} to '{value}'");
            return Err(ChangeError::Io { what, source });
        }
        match self.get(setting) {
            Some(now) if now == value => Ok(()),
            // some kernels take any word for it and keep to what they have
            _ if setting == "scheduler" => no_scheduler(),
            now => Err(ChangeError::Other(format!(
                "{setting} of {disk} was set to '{value}' and is '{}'",
                now.unwrap_or_default()
            ))),
        }
    }
}
