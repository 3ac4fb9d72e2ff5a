//! Directories of the kernel's view of the machine: `/sys`, `/proc` and `/dev`, or a copy of them.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The four trees from which everything here is read.
///
/// A copied tree cannot hold device nodes without rights, so in a copy of `/dev` a regular file
/// with the text `block 8:16` or `char 1:3` represents one. In the real `/dev` such a file has no
/// meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// Path of sysfs: `/sys`, or a copy of it.
    pub sys: PathBuf,
    /// Path of procfs: `/proc`, or a copy of it.
    pub proc: PathBuf,
    /// Path of device nodes: `/dev`, or a copy of it.
    pub dev: PathBuf,
    /// Path of settings of the machine: `/etc`, or a copy of it.
    pub etc: PathBuf,
}

impl Default for Roots {
    fn default() -> Roots {
        Roots::copied(Path::new("/"))
    }
}

/// A device number as the kernel writes it: `major:minor`.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(into = "String", try_from = "String")]
pub struct DeviceNumber {
    /// Number of the driver: 8 is sd, 179 is mmc.
    pub major: u32,
    /// Number of the device within that driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// A device number from `st_dev` or `st_rdev`.
    pub fn from_raw(raw: u64) -> DeviceNumber {
        DeviceNumber { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }

    /// The device number in the form of `st_dev` and `st_rdev`.
    pub fn to_raw(self) -> u64 {
        rustix::fs::makedev(self.major, self.minor)
    }

    /// True if no device has it: file systems without a device of their own (tmpfs, nfs, btrfs,
    /// overlay) get major 0.
    pub fn is_anonymous(self) -> bool {
        self.major == 0
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl From<DeviceNumber> for String {
    fn from(number: DeviceNumber) -> String {
        number.to_string()
    }
}

impl TryFrom<String> for DeviceNumber {
    type Error = String;
    fn try_from(text: String) -> Result<DeviceNumber, String> {
        text.parse()
    }
}

impl FromStr for DeviceNumber {
    type Err = String;
    fn from_str(text: &str) -> Result<DeviceNumber, String> {
        let parsed = text.trim().split_once(':').and_then(|(major, minor)| {
            Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        parsed.ok_or_else(|| format!("'{text}' is not a device number (major:minor)"))
    }
}

/// Kind of the file that a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A block device, by its device number.
    Block(DeviceNumber),
    /// A character device, such as `/dev/zero`.
    Character,
    /// A named pipe.
    Fifo,
    /// A Unix domain socket.
    Socket,
    /// A directory, or a link to one.
    Directory,
    /// A regular file, unless it represents a device in a copied `/dev`.
    File,
}

impl Roots {
    /// The directories `sys`, `proc`, `dev` and `etc` below `root`.
    pub fn copied(root: &Path) -> Roots {
        Roots {
            sys: root.join("sys"),
            proc: root.join("proc"),
            dev: root.join("dev"),
            etc: root.join("etc"),
        }
    }

    /// True if `/dev` is the running system's.
    pub fn is_real(&self) -> bool {
        self.dev == Path::new("/dev")
    }

    /// The path in this tree for a path as a user or the kernel writes it: only paths below `/dev`
    /// change.
    pub fn locate(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("/dev") {
            Ok(below) => self.dev.join(below),
            Err(_) => path.to_owned(),
        }
    }

    /// Kind of the file at `path`, links followed.
    pub fn node(&self, path: &Path) -> io::Result<Node> {
        let path = self.locate(path);
        let metadata = fs::metadata(&path)?;
        let kind = metadata.file_type();
        Ok(if kind.is_block_device() {
            Node::Block(DeviceNumber::from_raw(metadata.rdev()))
        } else if kind.is_char_device() {
            Node::Character
        } else if kind.is_fifo() {
            Node::Fifo
        } else if kind.is_socket() {
            Node::Socket
        } else if kind.is_dir() {
            Node::Directory
        } else {
            self.stand_in(&path).unwrap_or(Node::File)
        })
    }

    /// The number of the block device `path` leads to.
    pub fn block_number(&self, path: &Path) -> Option<DeviceNumber> {
        match self.node(path) {
            Ok(Node::Block(number)) => Some(number),
            _ => None,
        }
    }

    /// The device that a regular file of a copied `/dev` represents.
    fn stand_in(&self, path: &Path) -> Option<Node> {
        if self.is_real() {
            return None;
        }
        let path = fs::canonicalize(path).ok()?;
        path.strip_prefix(fs::canonicalize(&self.dev).ok()?).ok()?;
        let content = text(&path)?;
        match content.split_once(' ')? {
            ("block", number) => Some(Node::Block(number.parse().ok()?)),
            ("char", _) => Some(Node::Character),
            _ => None,
        }
    }
}

/// The text of a small kernel file without surrounding blanks; `None` if it is missing, unreadable
/// or empty.
pub(crate) fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// A number from a small kernel file, decimal or `0x` hexadecimal.
pub(crate) fn number(path: &Path) -> Option<u64> {
    let text = text(path)?;
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The device number in the file `dev` of a directory of sysfs.
pub(crate) fn device_number(dir: &Path) -> Option<DeviceNumber> {
    text(&dir.join("dev"))?.parse().ok()
}

/// A flag from a small kernel file: `0` or `1`.
pub(crate) fn flag(path: &Path) -> Option<bool> {
    number(path).map(|value| value != 0)
}

/// The names in a directory, in natural order (`sda`, `sdb`, `sdaa`; `loop2` before `loop10`);
/// empty if there is none.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_by_cached_key(|name| natural_key(name));
    names
}

/// A sort key that puts `sdb` before `sdaa` and `loop2` before `loop10`.
fn natural_key(name: &str) -> (String, usize, String, u64, String) {
    let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
    let (letters, rest) = name.split_at(digits);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, tail) = rest.split_at(end);
    let driver: String = letters.chars().take(2).collect();
    (driver, letters.len(), letters.to_owned(), number.parse().unwrap_or(0), tail.to_owned())
}

/// The last component of the path to which a link points.
pub(crate) fn link_name(path: &Path) -> Option<String> {
    let to = fs::read_link(path).ok()?;
    to.file_name()?.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_numbers_are_read_and_written_as_the_kernel_does() {
        let number: DeviceNumber = "179:8\n".parse().unwrap();
        assert_eq!(number, DeviceNumber { major: 179, minor: 8 });
        assert_eq!(number.to_string(), "179:8");
        assert_eq!(DeviceNumber::from_raw(rustix::fs::makedev(259, 70000)).minor, 70000);
        assert!("179".parse::<DeviceNumber>().is_err());
    }

    #[test]
    fn a_text_that_looks_like_a_device_is_one_only_below_a_copied_dev() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::copied(dir.path());
        fs::create_dir(&roots.dev).unwrap();
        fs::write(roots.dev.join("sdb"), "block 8:16").unwrap();
        fs::write(dir.path().join("elsewhere"), "block 8:16").unwrap();
        assert_eq!(
            roots.node(Path::new("/dev/sdb")).unwrap(),
            Node::Block(DeviceNumber { major: 8, minor: 16 })
        );
        assert_eq!(roots.node(&dir.path().join("elsewhere")).unwrap(), Node::File);
        assert_eq!(Roots::default().node(&roots.dev.join("sdb")).unwrap(), Node::File);
    }
}
