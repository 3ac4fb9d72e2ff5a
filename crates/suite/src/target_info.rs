//! The target of a run, as far as planning needs it.

use device::{Extent, Facts};
use record::units::{Bytes, MIB};
use record::{Region, TargetKind};

/// Number of threads that are always measured if the device accepts them: programs have so many.
const FEW_THREADS: u32 = 8;

/// The target of a run: the device's properties and other knowledge of the program.
#[derive(Clone, Debug)]
pub struct TargetInfo {
    /// Kind of the target that the user named.
    pub kind: TargetKind,
    /// Size and block sizes.
    pub facts: Facts,
    /// Allocation unit the medium declares, in bytes.
    pub au_bytes: Option<u64>,
    /// `Ok` if writing is allowed, otherwise the reason why not.
    pub writable: Result<(), String>,
    /// Reason why only a test that restores what it overwrites may write to the medium. `writable`
    /// is `Ok` then.
    pub must_restore: Option<String>,
    /// `Ok` if there is a file system for files, or one can be made; otherwise the reason why not.
    pub files: Result<(), String>,
    /// Path to the raw medium below a directory or file, in words, if known.
    pub way_to_raw: Option<String>,
    /// The only range to touch, if the user named one.
    pub only: Option<Extent>,
    /// Number of commands that medium and link accept at once, if known.
    pub commands_at_once: Option<u32>,
}

impl TargetInfo {
    /// A target without restrictions, of which nothing more is known.
    pub fn unrestricted(kind: TargetKind, facts: Facts) -> TargetInfo {
        TargetInfo {
            kind,
            facts,
            au_bytes: None,
            writable: Ok(()),
            must_restore: None,
            files: Ok(()),
            way_to_raw: None,
            only: None,
            commands_at_once: None,
        }
    }

    /// The unit that spans are aligned to: the declared allocation unit, or 2 MiB.
    pub fn alignment_bytes(&self) -> u64 {
        self.au_bytes.filter(|au| *au >= self.facts.logical_block_bytes).unwrap_or(2 * MIB)
    }

    /// True if the target is a file on a file system rather than a medium of its own.
    pub fn is_file(&self) -> bool {
        matches!(self.kind, TargetKind::Directory | TargetKind::File)
    }

    /// True if it has a single range only: all of a file, or the range that the user named.
    pub fn is_bounded(&self) -> bool {
        self.is_file() || self.only.is_some()
    }

    /// The range of at most `wanted_bytes` in this region, or the reason why there is none. On a
    /// raw medium `Middle` begins at half of the capacity, aligned to the allocation unit, so that
    /// a faster front area does not overstate the main result (docs/field/classic-tools.md#dd,
    /// docs/field/cautions.md#cautions).
    pub fn region(&self, region: Region, wanted_bytes: u64) -> Result<Extent, String> {
        let capacity = self.facts.capacity_bytes;
        let block = self.facts.logical_block_bytes.max(1);
        let fit = |extent: Extent| {
            let bytes = extent.bytes / block * block;
            if bytes == 0 {
                Err(format!("the medium of {} has no such range", Bytes(capacity)))
            } else {
                Ok(Extent::new(extent.offset_bytes, bytes))
            }
        };
        if let Some(only) = self.only {
            return match region {
                Region::Middle | Region::File => {
                    fit(Extent::new(only.offset_bytes, only.bytes.min(wanted_bytes)))
                }
                Region::Front | Region::Whole => {
                    Err("only the range given with --span may be touched".into())
                }
            };
        }
        match region {
            _ if self.is_file() => match region {
                Region::Middle | Region::File => fit(Extent::new(0, wanted_bytes.min(capacity))),
                Region::Front | Region::Whole => {
                    Err("needs a raw medium: a file is only an unknown part of one".into())
                }
            },
            Region::Front => fit(Extent::new(0, wanted_bytes.min(capacity))),
            Region::Whole => fit(Extent::new(0, capacity)),
            Region::Middle | Region::File => {
                let align = self.alignment_bytes();
                let start = if capacity / 2 >= align { capacity / 2 / align * align } else { 0 };
                fit(Extent::new(start, wanted_bytes.min(capacity - start)))
            }
        }
    }

    /// `Ok` if so many I/Os can be in flight here, otherwise the reason why not. More than eight
    /// are refused if medium or link accepts one command at a time.
    pub fn takes_at_once(&self, threads: u32) -> Result<(), String> {
        if threads > self.facts.max_in_flight {
            return Err(format!(
                "{threads} threads: this device accepts {} I/O at a time",
                self.facts.max_in_flight
            ));
        }
        if threads > FEW_THREADS && self.commands_at_once == Some(1) {
            return Err(format!(
                "{threads} threads: medium or reader accepts one command at a time, so a deeper queue cannot be tested here"
            ));
        }
        Ok(())
    }

    /// Name of the region in results: on a file everything is `File`.
    pub fn region_name(&self, region: Region) -> Region {
        if self.is_file() { Region::File } else { region }
    }
}
