//! A machine made of files: `sys`, `proc` and `dev` with just the files that the kernel would show.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use flashmark_host::Roots;

/// A fabricated machine; removed on drop.
pub struct Machine {
    dir: tempfile::TempDir,
    pub roots: Roots,
    mounts: String,
}

impl Machine {
    /// A machine without any device.
    pub fn new() -> Machine {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::copied(dir.path());
        let machine = Machine { dir, roots, mounts: String::new() };
        for path in ["sys/block", "proc/self", "dev/disk/by-id", "dev/disk/by-path"] {
            fs::create_dir_all(machine.path(path)).unwrap();
        }
        machine.file("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
        machine
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// A file with that text.
    pub fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A link below the machine from `from` to `to`, as a relative path like sysfs has them.
    pub fn link(&self, from: &str, to: &str) {
        let from_path = self.path(from);
        fs::create_dir_all(from_path.parent().unwrap()).unwrap();
        symlink(self.path(to), from_path).unwrap();
    }

    /// A whole block device at `place` below `sys/devices`, with its node; returns its directory
    /// below the machine.
    pub fn disk(&self, place: &str, number: &str, size_bytes: u64) -> String {
        let name = place.rsplit('/').next().unwrap();
        let dir = format!("sys/devices/{place}");
        self.file(&format!("{dir}/dev"), &format!("{number}\n"));
        self.file(&format!("{dir}/size"), &format!("{}\n", size_bytes / 512));
        self.file(&format!("{dir}/ro"), "0\n");
        self.file(&format!("{dir}/diskseq"), "7\n");
        self.file(&format!("{dir}/removable"), "0\n");
        self.file(&format!("{dir}/queue/rotational"), "0\n");
        fs::create_dir_all(self.path(&format!("{dir}/holders"))).unwrap();
        fs::create_dir_all(self.path(&format!("{dir}/slaves"))).unwrap();
        self.link(&format!("sys/block/{name}"), &dir);
        self.file(&format!("dev/{name}"), &format!("block {number}"));
        dir
    }

    /// A partition of the device with that directory.
    pub fn partition(
        &self,
        disk: &str,
        name: &str,
        number: &str,
        start_bytes: u64,
        size_bytes: u64,
    ) {
        let index = name.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap();
        let dir = format!("{disk}/{name}");
        self.file(&format!("{dir}/dev"), &format!("{number}\n"));
        self.file(&format!("{dir}/partition"), index);
        self.file(&format!("{dir}/start"), &format!("{}", start_bytes / 512));
        self.file(&format!("{dir}/size"), &format!("{}", size_bytes / 512));
        fs::create_dir_all(self.path(&format!("{dir}/holders"))).unwrap();
        self.file(&format!("dev/{name}"), &format!("block {number}"));
    }

    /// Stacks the device `upper` (a directory) on `lower` (a directory).
    pub fn stack(&self, upper: &str, lower: &str) {
        let name = |dir: &str| dir.rsplit('/').next().unwrap().to_owned();
        self.link(&format!("{lower}/holders/{}", name(upper)), upper);
        self.link(&format!("{upper}/slaves/{}", name(lower)), lower);
    }

    /// A line of the mount table.
    pub fn mount(&mut self, number: &str, at: &Path, kind: &str, source: &str, options: &str) {
        let id = 20 + self.mounts.lines().count();
        self.mounts +=
            &format!("{id} 1 {number} / {} {options} - {kind} {source} {options}\n", at.display());
        self.file("proc/self/mountinfo", &self.mounts.clone());
    }

    /// A disk with two partitions of 1 GiB: sda1 is mounted at /, sda2 is free.
    pub fn with_root_disk(&mut self) -> String {
        let disk = self.disk(
            "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda",
            "8:0",
            64 << 30,
        );
        self.partition(&disk, "sda1", "8:1", 1 << 20, 1 << 30);
        self.partition(&disk, "sda2", "8:2", 2 << 30, 1 << 30);
        self.mount("8:1", Path::new("/"), "ext4", "/dev/sda1", "rw,relatime");
        disk
    }

    /// A USB stick, sdb, with one partition.
    pub fn with_stick(&self) -> String {
        let usb = "pci0000:00/0000:00:14.0/usb2/2-1";
        let disk = self.disk(
            &format!("{usb}/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb"),
            "8:16",
            16_008_609_792,
        );
        self.partition(&disk, "sdb1", "8:17", 4 << 20, 8 << 30);
        let scsi = format!("sys/devices/{usb}/2-1:1.0/host6/target6:0:0/6:0:0:0");
        self.link(&format!("{disk}/device"), &scsi);
        for (name, text) in [
            ("vendor", "SanDisk \n"),
            ("model", "Ultra           \n"),
            ("rev", "1.00\n"),
            ("queue_depth", "1\n"),
        ] {
            self.file(&format!("{scsi}/{name}"), text);
        }
        self.link(&format!("{scsi}/driver"), "sys/bus/scsi/drivers/sd");
        self.link(&format!("sys/devices/{usb}/2-1:1.0/driver"), "sys/bus/usb/drivers/usb-storage");
        for (name, text) in [
            ("idVendor", "0781"),
            ("idProduct", "5581"),
            ("manufacturer", "SanDisk"),
            ("product", "Ultra"),
            ("serial", "4C530001230712105454"),
            ("speed", "480"),
        ] {
            self.file(&format!("sys/devices/{usb}/{name}"), &format!("{text}\n"));
        }
        self.file(&format!("{disk}/removable"), "1\n");
        self.file(&format!("{disk}/queue/scheduler"), "none [mq-deadline] bfq\n");
        self.file(&format!("{disk}/queue/max_sectors_kb"), "120\n");
        self.link("dev/disk/by-id/usb-SanDisk_Ultra_4C530001230712105454-0:0", "dev/sdb");
        self.link("dev/disk/by-id/usb-SanDisk_Ultra_4C530001230712105454-0:0-part1", "dev/sdb1");
        disk
    }
}
