//! How a medium is known again: by what lies on it.
//!
//! Before a run writes anything, some sixty places are read ([`places`]): outside of what it may
//! write, where nothing may change, and inside. After each cell that wrote, places of its span are
//! read again, among them those it wrote last ([`written_places`]). Of each the checksum is kept, a
//! [`FingerprintMark`]. Later the same places are read ([`recognise`]) and each is judged: as it
//! was read last; or data that cells begun since may have left, known by the run's seed; or
//! something else, which is somebody's. A medium that carries none of what the run left is not the
//! run's either, though nothing on it is new: a copy from before.

mod judge;
mod places;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crc::{CRC_32_ISCSI, Crc, Table};
use device::content::Filler;
use device::stamp::SectorVerdict;
use device::{Device, Extent, IoError};
use record::units::SECOND_NS;
use record::{Content, FingerprintMark, PlannedCell};

pub use crate::place_read::PlaceRead;
pub use places::{places, written_places};

use crate::catalogue::record_ops::is_staged;
use crate::place_read::{read_places, read_places_until};
use crate::planned::span_of;

/// Without a table in memory: some hundred kilobytes are summed up in a run.
const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISCSI);

/// So long the reading of marks may take; a card needs a tenth of a second.
const PATIENCE_NS: u64 = 10 * SECOND_NS;

/// A cell that was begun and may have written.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedCell {
    /// The addresses it may have written to; all of them where the plan does not have the cell.
    pub span: Extent,
    /// What; `None`: anything, as a file system does.
    pub content: Option<Content>,
}

impl UnfinishedCell {
    /// What this cell writes, and where.
    pub fn of(cell: &PlannedCell) -> UnfinishedCell {
        let content =
            (!is_staged(cell)).then(|| cell.params.content.unwrap_or(Content::Incompressible));
        UnfinishedCell { span: span_of(cell), content }
    }

    /// The cells that were begun, in that order. One that the plan does not have is taken for one
    /// that may have written anything anywhere.
    pub fn begun(plan: &[PlannedCell], begun: &[String]) -> Vec<UnfinishedCell> {
        let anything = UnfinishedCell { span: Extent::new(0, u64::MAX), content: None };
        begun
            .iter()
            .map(|id| {
                plan.iter()
                    .find(|cell| cell.id == *id)
                    .map_or_else(|| anything.clone(), UnfinishedCell::of)
            })
            .collect()
    }
}

/// What is known of how the medium was left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FingerprintHistory {
    /// What was read before the run wrote anything.
    pub before: Vec<FingerprintMark>,
    /// What was read later, in that order, each with the number of writers begun by then.
    pub later: Vec<(usize, FingerprintMark)>,
    /// The writing cells that were begun, in that order.
    pub writers: Vec<UnfinishedCell>,
}

impl FingerprintHistory {
    /// The places, each once.
    fn places(&self) -> Vec<Extent> {
        let marks = self.before.iter().chain(self.later.iter().map(|(_, mark)| mark));
        let places: BTreeSet<(u64, u64)> =
            marks.map(|mark| (mark.offset_bytes, mark.bytes)).collect();
        places.into_iter().map(|(offset_bytes, bytes)| Extent::new(offset_bytes, bytes)).collect()
    }
}

/// Whether a medium is the one that a run was on, as it left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognition {
    /// It is the same medium, and nobody else has written to it since.
    Ours,
    /// It is another one, or has been used since.
    Strange {
        /// In words, with the first place.
        why: String,
        /// Places with data that is not the run's.
        foreign: Vec<Extent>,
    },
    /// There is nothing to compare.
    CannotTell {
        /// The reason why not: nothing was kept to compare with, or none of it can be read.
        why: String,
    },
}

/// Reads these places and says whether the medium is the one that left these traces. `filler` makes
/// the data of the run's seed.
///
/// # Errors
/// The medium cannot be read at all. A single place that cannot be read is left out.
pub fn recognise(
    device: &mut dyn Device,
    filler: &Filler,
    traces: &FingerprintHistory,
) -> Result<Recognition, IoError> {
    let found = read_places(device, &traces.places())?;
    Ok(judge(filler, traces, &found))
}

/// The judgement alone, of what was read.
pub fn judge(filler: &Filler, traces: &FingerprintHistory, found: &[PlaceRead]) -> Recognition {
    judge::judge(filler, traces, found)
}

/// Reads these places and keeps the checksum of each. `filler` makes the data of the run's seed,
/// where the run may have written already. Places that do not read the same twice, as on fakes that
/// answer at random, are left out, and so are those that cannot be read. None are kept of a medium
/// that takes longer than [`PATIENCE_NS`] for them: half of them might not tell it from another.
///
/// # Errors
/// The medium cannot be read at all.
pub fn read_marks(
    device: &mut dyn Device,
    places: &[Extent],
    filler: Option<&Filler>,
) -> Result<Vec<FingerprintMark>, IoError> {
    let until_ns = device.now().saturating_add(PATIENCE_NS);
    let Some(first) = read_places_until(device, places, until_ns)? else { return Ok(Vec::new()) };
    let Some(again) = read_places_until(device, places, until_ns)? else { return Ok(Vec::new()) };
    let steady = first.into_iter().filter(|found| again.contains(found));
    Ok(steady.map(|found| mark(&found, filler)).collect())
}

/// True if the place held nothing but zeros or 0xFF.
pub fn is_empty(mark: &FingerprintMark) -> bool {
    [0, 0xff].iter().any(|byte| CRC.checksum(&vec![*byte; mark.bytes as usize]) == mark.crc32c)
}

/// The mark of a place that holds zeros.
pub fn empty_mark(offset_bytes: u64, bytes: u64) -> FingerprintMark {
    FingerprintMark {
        offset_bytes,
        bytes,
        crc32c: CRC.checksum(&vec![0; bytes as usize]),
        ours: false,
    }
}

fn mark(found: &PlaceRead, filler: Option<&Filler>) -> FingerprintMark {
    let PlaceRead { place, data } = found;
    let is_ours = |filler: &Filler| {
        filler.verify(data, 0, place.offset_bytes).any(|(_, verdict)| is_ours(verdict))
    };
    FingerprintMark {
        offset_bytes: place.offset_bytes,
        bytes: place.bytes,
        crc32c: CRC.checksum(data),
        ours: filler.is_some_and(is_ours),
    }
}

/// True if a sector holds data of the run's seed, of whatever place and pass.
fn is_ours(verdict: SectorVerdict) -> bool {
    matches!(
        verdict,
        SectorVerdict::Good | SectorVerdict::Changed { .. } | SectorVerdict::Overwritten { .. }
    )
}
