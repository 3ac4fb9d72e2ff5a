//! Loop devices: a file, or a part of a block device, as a block device.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::change_error::ChangeError;
use crate::roots::{DeviceNumber, Roots, flag, number, text};
use crate::tool::{self, ToolError};
use crate::topology::loop_backing;
use blockio::FileIdentity;

/// Options of a new loop device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopOptions {
    /// True to bypass the page cache.
    pub direct_io: bool,
    /// Offset in bytes in the backing file.
    pub offset_bytes: u64,
    /// Visible length in bytes of the backing file; 0 for everything.
    pub size_bytes: u64,
    /// True if the kernel searches it for partitions.
    pub partitions: bool,
    /// True if writes are refused.
    pub read_only: bool,
    /// Logical block in bytes; 0 is the usual 512.
    pub block_bytes: u64,
}

/// An attached loop device; detached on drop, if it is still the one that was attached.
#[derive(Debug)]
pub struct Loop {
    path: PathBuf,
    number: DeviceNumber,
    backing: Backing,
    attached: bool,
}

/// Identity of an attached loop device, which another one in its place does not have.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Backing {
    /// Device and inode of the backing file, or 0 and the device's number for a block device.
    file: (u64, u64),
    offset_bytes: u64,
    size_bytes: u64,
}

/// Attaches a free loop device to a whole file, past the page cache if `direct_io`.
pub fn attach(file: &Path, direct_io: bool) -> Result<Loop, ChangeError> {
    attach_with(file, LoopOptions { direct_io, ..LoopOptions::default() })
}

/// Attaches a free loop device to a file or block device. Needs root.
pub fn attach_with(file: &Path, options: LoopOptions) -> Result<Loop, ChangeError> {
    let backing = Backing::of(file, options)?;
    let mut words = vec!["--find".to_owned(), "--show".to_owned()];
    words.push(format!("--direct-io={}", if options.direct_io { "on" } else { "off" }));
    words.push(format!("--offset={}", options.offset_bytes));
    if options.size_bytes > 0 {
        words.push(format!("--sizelimit={}", options.size_bytes));
    }
    words.extend(options.partitions.then(|| "--partscan".to_owned()));
    words.extend(options.read_only.then(|| "--read-only".to_owned()));
    if options.block_bytes > 0 {
        words.push(format!("--sector-size={}", options.block_bytes));
    }
    words.push(file.display().to_string());
    let path = PathBuf::from(tool::run("losetup", words)?);
    let not_ours = || {
        let (path, file) = (path.display(), file.display());
        ChangeError::Other(format!("{path} is not the loop device that was made over {file}"))
    };
    let number = Roots::default().block_number(&path).ok_or_else(not_ours)?;
    if !backing.is_that_of(number) {
        return Err(not_ours());
    }
    Ok(Loop { path, number, backing, attached: true })
}

impl Loop {
    /// Its device node: "/dev/loop3".
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its device number, by which sysfs describes it.
    pub fn number(&self) -> DeviceNumber {
        self.number
    }

    /// Identity of the loop device.
    pub fn backing(&self) -> &Backing {
        &self.backing
    }

    /// True if it bypasses the page cache, by the kernel: not every file system can.
    pub fn direct_io(&self) -> bool {
        flag(&attributes(self.number).join("dio")).unwrap_or(false)
    }

    /// True if it is over exactly this file, even if the file's name leads elsewhere now.
    pub fn is_over(&self, file: FileIdentity) -> bool {
        self.backing.file == (file.device, file.inode)
    }

    /// Detaches it. If it is in use, it disappears with its last user.
    pub fn detach(mut self) -> Result<(), ChangeError> {
        self.let_go()
    }

    /// Leaves it attached; the caller has noted how to find and detach it.
    pub fn keep(mut self) {
        self.attached = false;
    }

    fn let_go(&mut self) -> Result<(), ChangeError> {
        if !std::mem::take(&mut self.attached) || !self.backing.is_that_of(self.number) {
            return Ok(());
        }
        Ok(detach_node(&self.path)?)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // nobody is left to hear of a failure; the device stays visible in `flashmark list`
        let _ = self.let_go();
    }
}

/// Nodes of the loop devices over a file, by the name under which the kernel knows it: the file
/// itself may be unreachable, its server dead.
pub fn over(file: &Path) -> Vec<PathBuf> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let over_it = devices.filter(|device| {
        text(&device.path().join("loop/backing_file")).is_some_and(|name| Path::new(&name) == file)
    });
    over_it.map(|device| Path::new("/dev").join(device.file_name())).collect()
}

/// Nodes of the loop devices that are attached to exactly this file or device.
pub(crate) fn attached_to(backing: &Backing) -> Vec<PathBuf> {
    let roots = Roots::default();
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let loops = devices.filter(|device| device.path().join("loop").is_dir());
    let nodes = loops.map(|device| Path::new("/dev").join(device.file_name()));
    nodes
        .filter(|node| roots.block_number(node).is_some_and(|number| backing.is_that_of(number)))
        .collect()
}

/// Detaches the loop devices over a file, by the name under which the kernel knows it. One that is
/// in use disappears with its last user.
pub fn detach_over(file: &Path) -> Result<(), ChangeError> {
    over(file).iter().try_for_each(|path| Ok(detach_node(path)?))
}

/// Detaches the loop device `path`. The caller has checked that it is the right one.
pub(crate) fn detach_node(path: &Path) -> Result<(), ToolError> {
    tool::run("losetup", [Path::new("--detach"), path]).map(drop)
}

impl Backing {
    /// Identity of a loop device over a file or block device with these options.
    pub(crate) fn of(file: &Path, options: LoopOptions) -> Result<Backing, ChangeError> {
        let file = identity(file).map_err(ChangeError::on("look at", file))?;
        Ok(Backing { file, offset_bytes: options.offset_bytes, size_bytes: options.size_bytes })
    }

    /// True if the loop device with that number is attached to this, and nothing else.
    pub(crate) fn is_that_of(&self, number: DeviceNumber) -> bool {
        if let Some(known) = loop_backing(&Roots::default(), number) {
            let file =
                if known.rdevice == 0 { (known.device, known.inode) } else { (0, known.rdevice) };
            return self
                == &Backing {
                    file,
                    offset_bytes: known.offset_bytes,
                    size_bytes: known.size_limit_bytes,
                };
        }
        Backing::from_attributes(&attributes(number)).as_ref() == Some(self)
    }

    /// Identity from this directory of sysfs, for users who may not open the device.
    fn from_attributes(dir: &Path) -> Option<Backing> {
        let attribute = |name: &str| self::number(&dir.join(name));
        Some(Backing {
            file: identity(Path::new(&text(&dir.join("backing_file"))?)).ok()?,
            offset_bytes: attribute("offset")?,
            size_bytes: attribute("sizelimit")?,
        })
    }
}

/// Directory of sysfs for the loop device with that number.
fn attributes(number: DeviceNumber) -> PathBuf {
    PathBuf::from(format!("/sys/dev/block/{number}/loop"))
}

/// Device and inode of a file; for a block device 0 and its number, as several nodes may lead to
/// it.
fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    let metadata = fs::metadata(path)?;
    let is_block = Roots::default().block_number(path).is_some();
    Ok(if is_block { (0, metadata.rdev()) } else { (metadata.dev(), metadata.ino()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sysfs_gives_file_offset_and_size_of_a_loop_device() {
        let dir = tempfile::tempdir().unwrap();
        let (image, other) = (dir.path().join("image"), dir.path().join("other"));
        let backing_of = |file: &Path, offset: &str, limit: &str| {
            let texts = [
                ("backing_file", file.to_str().unwrap()),
                ("offset", offset),
                ("sizelimit", limit),
            ];
            texts.iter().for_each(|(name, text)| fs::write(dir.path().join(name), text).unwrap());
            Backing::from_attributes(dir.path())
        };
        fs::write(&image, "x").unwrap();
        fs::write(&other, "x").unwrap();
        let options = LoopOptions { offset_bytes: 512, size_bytes: 4096, ..LoopOptions::default() };
        let backing = Some(Backing::of(&image, options).unwrap());
        assert_eq!(backing_of(&image, "512\n", "4096\n"), backing);
        assert_ne!(backing_of(&other, "512", "4096"), backing);
        assert_ne!(backing_of(&image, "0", "4096"), backing);
        assert_ne!(backing_of(&image, "512", "0"), backing);
        assert_eq!(backing_of(&dir.path().join("gone"), "512", "4096"), None);
    }
}
