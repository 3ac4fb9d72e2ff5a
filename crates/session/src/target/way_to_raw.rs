//! Advice how to get from a directory to the raw medium below it, as commands to type.

use host::{InUseReason, InventoryEntry};
use report::display::shell_word;

/// Commands that free the medium and name it to `command` of this program, with sudo for a user
/// without rights. If more than mounts keeps it in use, the other uses.
pub fn way_to_raw(disk: &InventoryEntry, command: &str, is_root: bool) -> String {
    let sudo = if is_root { "" } else { "sudo " };
    let device = disk.path.display();
    let mut commands = Vec::new();
    let is_mounted = |member: &str| {
        let mut uses = disk.uses.iter();
        uses.any(|used| matches!(used, InUseReason::Mounted { device, .. } if device == member))
    };
    for used in &disk.uses {
        match used {
            InUseReason::Mounted { at, .. } => {
                commands.push(format!("`{sudo}umount {}`", shell_word(&at.to_string_lossy())))
            }
            // It ends with the mount.
            InUseReason::BtrfsMember { device, .. } if is_mounted(device) => {}
            _ => return format!("{used}, so test it in another machine"),
        }
    }
    commands.push(format!("`{sudo}flashmark {command} {device}`"));
    format!("type {}", commands.join(", then "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(uses: Vec<InUseReason>) -> InventoryEntry {
        InventoryEntry {
            name: "sdb".into(),
            path: "/dev/sdb".into(),
            number: host::DeviceNumber { major: 8, minor: 16 },
            diskseq: None,
            size_bytes: 1 << 30,
            read_only: false,
            medium: record::Medium::default(),
            link: record::Link::default(),
            partitions: Vec::new(),
            uses,
        }
    }

    #[test]
    fn every_mount_is_undone_before_the_device_is_named() {
        let mounted = |at: &str| InUseReason::Mounted { device: "sdb1".into(), at: at.into() };
        let two = disk(vec![mounted("/mnt/x"), mounted("/media/my card")]);
        assert_eq!(
            way_to_raw(&two, "check", true),
            "type `umount /mnt/x`, then `umount '/media/my card'`, then `flashmark check /dev/sdb`"
        );
        assert_eq!(
            way_to_raw(&disk(vec![mounted("/mnt/x")]), "run", false),
            "type `sudo umount /mnt/x`, then `sudo flashmark run /dev/sdb`"
        );
        let member = InUseReason::BtrfsMember { device: "sdb1".into(), id: "0".into() };
        assert_eq!(
            way_to_raw(&disk(vec![mounted("/mnt/x"), member.clone()]), "check", true),
            "type `umount /mnt/x`, then `flashmark check /dev/sdb`"
        );
        assert!(way_to_raw(&disk(vec![member]), "check", true).contains("another machine"));
        let root = disk(vec![InUseReason::Root { at: "/".into() }]);
        assert!(way_to_raw(&root, "check", true).ends_with(", so test it in another machine"));
    }
}
