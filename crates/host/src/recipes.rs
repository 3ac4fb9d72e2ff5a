//! Recipes of the file systems that a matrix tests, and their availability on this machine.

use std::fs;
use std::path::Path;

use record::units::MIB;

use crate::roots::{Roots, text};
use crate::stage::MkfsSpec;
use crate::tool;

/// A file system with its options for mkfs and mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Name on the command line and in records.
    pub name: &'static str,
    /// The kernel's name for it.
    pub kind: &'static str,
    /// Options of mkfs besides those that keep it from asking. None of them discards: every
    /// combination finds the medium as the one before it left it, and file systems whose mkfs
    /// cannot discard have no disadvantage.
    options: &'static str,
    /// Mount option without which it would work in the background, or discard, during
    /// measurements; the user's options come after it and override it.
    quiet: &'static str,
    /// Option of mkfs for allocation units; `None` if it has none.
    alignment: Option<Alignment>,
    /// The smallest device in bytes that mkfs accepts, roughly.
    pub least_bytes: u64,
}

/// Option of mkfs for allocation units, in which `{units}` stands for their number of units and
/// `{bytes}` for their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Alignment {
    option: &'static str,
    /// An allocation unit is a multiple of this; 1 where it is a power of two instead.
    unit_bytes: u64,
    /// The smallest allocation unit that mkfs takes.
    least_bytes: u64,
}

/// In blocks of 4 KiB (docs/field/classic-tools.md#thrash).
const STRIPE: Option<Alignment> = aligned("stride=1,stripe-width={units}", 4096, 4096);
/// A stripe unit of the size of the AU.
const STRIPE_UNIT: Option<Alignment> = aligned("-d su={bytes},sw=1", 4096, 4096);
/// Segments of 2 MiB in a section.
const SECTIONS: Option<Alignment> = aligned("-s {units}", 2 * MIB, 2 * MIB);
/// Blocks of 4 KiB in a segment, at least 16.
const SEGMENT: Option<Alignment> = aligned("-B {units}", 4096, 16 * 4096);
/// Start of the heap, and alignment of clusters.
const BOUNDARY: Option<Alignment> = aligned("-b {bytes}", 1, 1);

const fn aligned(option: &'static str, unit_bytes: u64, least_bytes: u64) -> Option<Alignment> {
    Some(Alignment { option, unit_bytes, least_bytes })
}

/// The reason why a file system cannot be tested here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// `mkfs.KIND` is neither in `PATH` nor in the system's own folders.
    #[error("mkfs.{kind} is not installed; install the package {package}")]
    NoMkfs {
        /// The kernel's name for the file system.
        kind: &'static str,
        /// Debian's package that contains it.
        package: &'static str,
    },
    /// The kernel lacks it.
    #[error("this kernel has no {kind}: neither built in nor as a module")]
    NoDriver {
        /// The kernel's name for the file system.
        kind: &'static str,
    },
}

/// Every file system that can be requested.
pub const RECIPES: &[Recipe] = &[
    row("ext2", "ext2", "-b 4096", "", STRIPE, 16),
    row("ext3", "ext3", "-b 4096", "", STRIPE, 16),
    row("ext4", "ext4", "-b 4096", "noinit_itable", STRIPE, 16),
    row("ext4-nojournal", "ext4", "-b 4096 -O ^has_journal", "noinit_itable", STRIPE, 16),
    row("xfs", "xfs", "-K", "", STRIPE_UNIT, 300),
    row("xfs-nolazy", "xfs", "-K -m crc=0 -l lazy-count=0", "", STRIPE_UNIT, 300),
    row("btrfs", "btrfs", "-K", "nodiscard", None, 128),
    row("f2fs", "f2fs", "-t 0", "nodiscard", SECTIONS, 64),
    row("jfs", "jfs", "", "", None, 16),
    row("nilfs2", "nilfs2", "-K", "", SEGMENT, 128),
    row("vfat", "vfat", "-F 32", "", None, 64),
    row("exfat", "exfat", "", "", BOUNDARY, 16),
];

/// A row of the table: name, kind, options of mkfs, quiet mount option, alignment, least MiB.
const fn row(
    name: &'static str,
    kind: &'static str,
    options: &'static str,
    quiet: &'static str,
    alignment: Option<Alignment>,
    least_mib: u64,
) -> Recipe {
    Recipe { name, kind, options, quiet, alignment, least_bytes: least_mib * MIB }
}

/// File systems that people ask for and that have no recipe: name, and reason.
const NOT_TRIED: [(&str, &str); 4] = [
    ("zfs", "it is no part of the kernel, and is made of pools, not by mkfs on a block device"),
    ("reiserfs", "Linux has none since 6.13"),
    ("bcachefs", "Linux has none since 6.18"),
    ("ntfs", "it is mounted through FUSE here, and what is cached there is not the medium's"),
];

/// The reason why an existing file system is not tested; `None` for those with a recipe, and for
/// any other name.
pub fn why_not_tried(name: &str) -> Option<&'static str> {
    NOT_TRIED.iter().find(|(known, _)| *known == name).map(|(_, why)| *why)
}

/// The recipe of that name.
pub fn recipe(name: &str) -> Option<&'static Recipe> {
    RECIPES.iter().find(|recipe| recipe.name == name)
}

impl Recipe {
    /// Options to make and mount it: aligned to allocation units of `au_bytes`, or with the
    /// defaults of mkfs.
    pub fn spec(&self, au_bytes: Option<u64>, mount_options: &[String]) -> MkfsSpec {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut options = words(self.options);
        let fitting = au_bytes.and_then(|au_bytes| self.fitting(au_bytes));
        if self.alignment == STRIPE {
            // values for -E of mke2fs are given there once
            let extended = ["nodiscard".to_owned()].into_iter().chain(fitting);
            options.extend(["-E".to_owned(), extended.collect::<Vec<_>>().join(",")]);
        } else {
            options.extend(words(&fitting.unwrap_or_default()));
        }
        let mut all_mount_options = words(self.quiet);
        all_mount_options.extend_from_slice(mount_options);
        MkfsSpec {
            kind: self.kind.to_owned(),
            options,
            mount_options: all_mount_options,
            label: None,
        }
    }

    /// Options that align mkfs to allocation units of that size; `None` if it has no such option,
    /// or not for this size.
    pub fn fitting(&self, au_bytes: u64) -> Option<String> {
        let Alignment { option, unit_bytes, least_bytes } = self.alignment?;
        let is_whole = match unit_bytes {
            1 => au_bytes.is_power_of_two(),
            unit_bytes => au_bytes.is_multiple_of(unit_bytes),
        };
        let units = (au_bytes / unit_bytes).to_string();
        let option = || option.replace("{units}", &units).replace("{bytes}", &au_bytes.to_string());
        (is_whole && au_bytes >= least_bytes).then(option)
    }

    /// The mkfs command for a person to type: as it was run, but it asks before it overwrites.
    pub fn mkfs_line(&self, au_bytes: Option<u64>, device: &str) -> String {
        let spec = self.spec(au_bytes, &[]);
        // what only a measurement needs is left out: discarding is what one wants of a new file
        // system
        let spared = ["-K", "nodiscard"];
        let words = spec
            .options
            .iter()
            .map(|word| word.replace("nodiscard,", ""))
            .filter(|word| !spared.contains(&word.as_str()));
        let mut words: Vec<String> = words.collect();
        if words.last().is_some_and(|word| word == "-E") {
            words.pop();
        }
        let words: Vec<String> = std::iter::once(format!("mkfs.{}", self.kind))
            .chain(words)
            .chain([device.to_owned()])
            .collect();
        words.join(" ").replace(" -t 0", "")
    }

    /// Checks that mkfs and the kernel's driver seem to exist. Only making and mounting one is a
    /// proof.
    pub fn available(&self, roots: &Roots) -> Result<(), Unavailable> {
        let mkfs = format!("mkfs.{}", self.kind);
        if !tool::is_there(&mkfs) {
            return Err(Unavailable::NoMkfs { kind: self.kind, package: tool::package(&mkfs) });
        }
        if has_driver(roots, self.kind) {
            Ok(())
        } else {
            Err(Unavailable::NoDriver { kind: self.kind })
        }
    }
}

/// True if the kernel knows the file system, or has a module of its name to load.
fn has_driver(roots: &Roots, kind: &str) -> bool {
    let known = fs::read_to_string(roots.proc.join("filesystems")).unwrap_or_default();
    if known.lines().any(|line| line.split_whitespace().next_back() == Some(kind)) {
        return true;
    }
    let Some(release) = text(&roots.proc.join("sys/kernel/osrelease")) else { return false };
    let modules = ["/lib/modules", "/usr/lib/modules"]
        .map(|folder| Path::new(folder).join(&release).join("modules.dep"));
    let file = format!("/{kind}.ko");
    modules.iter().any(|list| fs::read_to_string(list).is_ok_and(|list| list.contains(&file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_a_driver_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::copied(dir.path());
        fs::create_dir_all(&roots.proc).unwrap();
        fs::write(roots.proc.join("filesystems"), "nodev\tsysfs\n\text4\n").unwrap();
        assert!(
            has_driver(&roots, "ext4") && !has_driver(&roots, "ext") && !has_driver(&roots, "jfs")
        );
    }
}
