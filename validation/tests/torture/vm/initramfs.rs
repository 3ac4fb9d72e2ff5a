//! Initial RAM disk of a virtual machine: a static busybox, the kernel's modules for reading this
//! machine's files, and the first program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::tool;

/// Drivers without which the guest could not reach the host's files and the console.
const MODULES: &[&str] = &["virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console"];

/// First program of the guest. Its root becomes the host's, read-only, below a file system in
/// memory that takes the writes.
const INIT: &str = r#"#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs d /dev; $b mount -t proc p /proc; $b mount -t sysfs s /sys
exec >/dev/ttyS0 2>&1
while read -r module; do $b insmod /modules/$module; done < /modules/order
share=trans=virtio,version=9p2000.L,msize=512000
$b mount -t 9p -o $share,cache=loose,ro host /lower || $b poweroff -f
$b mount -t tmpfs t /upper; $b mkdir /upper/up /upper/work
$b mount -t overlay -o lowerdir=/lower,upperdir=/upper/up,workdir=/upper/work o /system || $b poweroff -f
for place in dev proc sys; do $b mount --move /$place /system/$place; done
$b mount -t tmpfs t /system/run; $b mount -t tmpfs t /system/tmp; $b mkdir -p /system/run/share /system/dev/shm
# The program itself may lie below what was just covered.
$b mkdir -p /system@checkout@; $b mount --bind /lower@checkout@ /system@checkout@
$b mount -t 9p -o $share,cache=none share /system/run/share || $b poweroff -f
exec $b chroot /system /bin/bash /run/share/agent
"#;

/// A kernel of Debian's with its modules.
pub struct Kernel {
    /// The image that is booted.
    pub image: PathBuf,
    release: String,
}

impl Kernel {
    /// The newest one that is installed, if any.
    pub fn installed() -> Option<Kernel> {
        let entries = fs::read_dir("/boot").ok()?.filter_map(Result::ok);
        let named = entries.filter_map(|entry| {
            entry.file_name().to_str()?.strip_prefix("vmlinuz-").map(str::to_owned)
        });
        let release = named
            .filter(|release| Path::new("/lib/modules").join(release).join("modules.dep").exists())
            .max()?;
        Some(Kernel { image: PathBuf::from(format!("/boot/vmlinuz-{release}")), release })
    }

    /// Modules to load, each after those that it needs.
    fn modules(&self) -> Vec<PathBuf> {
        let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
        for module in MODULES {
            let lines =
                tool("modprobe", &["--set-version", &self.release, "--show-depends", module]);
            let paths = lines
                .lines()
                .filter_map(|line| line.strip_prefix("insmod "))
                .map(|path| PathBuf::from(path.trim()));
            order.extend(paths.filter(|path| seen.insert(path.clone())));
        }
        order
    }

    /// Writes the archive that the kernel unpacks at boot.
    pub fn initramfs(&self, to: &Path) {
        let mut archive = Archive::default();
        for directory in ["bin", "dev", "proc", "sys", "lower", "upper", "system", "modules"] {
            archive.put(directory, DIRECTORY, b"");
        }
        archive.put("bin/busybox", PROGRAM, &fs::read("/bin/busybox").unwrap());
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
        let init = INIT.replace("@checkout@", checkout.to_str().unwrap());
        archive.put("init", PROGRAM, init.as_bytes());
        let mut order = String::new();
        for (number, path) in self.modules().iter().enumerate() {
            let name = format!("{number}.ko");
            archive.put(&format!("modules/{name}"), PROGRAM, &unpacked(path));
            order += &format!("{name}\n");
        }
        archive.put("modules/order", PROGRAM, order.as_bytes());
        fs::write(to, archive.end()).unwrap();
    }
}

/// Bytes of a module as the kernel loads it; newer Debians keep modules compressed.
fn unpacked(module: &Path) -> Vec<u8> {
    let program = match module.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        _ => return fs::read(module).unwrap(),
    };
    let output =
        Command::new(program).args(["--decompress", "--stdout"]).arg(module).output().unwrap();
    assert!(output.status.success(), "{program} {}", module.display());
    output.stdout
}

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// An archive in the format "newc" of cpio, as the kernel's
/// `Documentation/driver-api/early-userspace/buffer-format.rst` has it.
#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    fn put(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let (size, name_size) = (content.len() as u32, name.len() as u32 + 1);
        // Inode, mode, owner, group, links, time, size, four numbers of devices, length of the
        // name, a sum that nobody checks.
        let numbers = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0];
        let head: String = numbers.iter().map(|number| format!("{number:08x}")).collect();
        self.bytes.extend(format!("070701{head}{name}\0").as_bytes());
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn end(mut self) -> Vec<u8> {
        self.put("TRAILER!!!", 0, b"");
        self.bytes
    }
}
