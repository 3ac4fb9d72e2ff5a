//! Recognition of a medium by its contents.
//!
//! Before a run writes anything, some sixty places are read ([`places`]): outside of the range that
//! it may write, where nothing may change, and inside. After each cell that wrote, places of its
//! span are read again, among them those it wrote last ([`written_places`]). The checksum of each
//! is kept, a [`FingerprintMark`]. Later the same places are read ([`recognise`]) and each is
//! judged: unchanged since the last read; or data that cells begun since may have written,
//! recognised by the run's seed; or something else, which belongs to somebody else. A medium
//! without any of the run's data is not the run's either, even if nothing on it is new: it may be a
//! copy from before.

mod judge;
mod places;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crc::{CRC_32_ISCSI, Crc, Table};
use device::content::DataGenerator;
use device::stamp::SectorVerdict;
use device::{Device, Extent, IoError};
use record::units::SECOND_NS;
use record::{Content, FingerprintMark, PlannedCell};

pub use crate::place_read::PlaceRead;
pub use places::{places, written_places};

use crate::catalogue::record_ops::is_staged;
use crate::place_read::{read_places, read_places_until};
use crate::planned::span_of;

/// Checksum without a table in memory: a run computes it over some hundred kilobytes only.
const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISCSI);

/// Time limit in nanoseconds for reading marks; a card needs a tenth of a second.
const PATIENCE_NS: u64 = 10 * SECOND_NS;

/// A cell that was begun and may have written.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedCell {
    /// The addresses that it may have written; all of them if the plan does not contain the cell.
    pub span: Extent,
    /// Kind of data that it writes; `None` for any data, as a file system writes.
    pub content: Option<Content>,
}

impl UnfinishedCell {
    /// Span and data of this cell.
    pub fn of(cell: &PlannedCell) -> UnfinishedCell {
        let content =
            (!is_staged(cell)).then(|| cell.params.content.unwrap_or(Content::Incompressible));
        UnfinishedCell { span: span_of(cell), content }
    }

    /// The cells that were begun, in that order. A cell that the plan does not contain may have
    /// written any data to any address.
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

/// State in which the run left the medium, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FingerprintHistory {
    /// Marks read before the run wrote anything.
    pub before: Vec<FingerprintMark>,
    /// Marks read later, in their order, each with the number of writing cells begun by then.
    pub later: Vec<(usize, FingerprintMark)>,
    /// The writing cells that were begun, in their order.
    pub writers: Vec<UnfinishedCell>,
}

impl FingerprintHistory {
    /// The places of all marks, each once.
    fn places(&self) -> Vec<Extent> {
        let marks = self.before.iter().chain(self.later.iter().map(|(_, mark)| mark));
        let places: BTreeSet<(u64, u64)> =
            marks.map(|mark| (mark.offset_bytes, mark.bytes)).collect();
        places.into_iter().map(|(offset_bytes, bytes)| Extent::new(offset_bytes, bytes)).collect()
    }
}

/// Verdict on a medium: is it that of the run, as the run left it?
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognition {
    /// It is the same medium, and nobody else has written to it since.
    Ours,
    /// It is another one, or somebody else has written to it since.
    Strange {
        /// Reason in words, with the first place.
        why: String,
        /// Places with data that is not the run's.
        foreign: Vec<Extent>,
    },
    /// There is nothing to compare.
    CannotTell {
        /// Reason: no marks were kept, or none of their places can be read.
        why: String,
    },
}

/// Reads the places of all marks and decides if the medium is the one that the run left.
/// `generator` makes the data of the run's seed.
///
/// # Errors
/// Those of a medium that cannot be read at all. A single place that cannot be read is left out.
pub fn recognise(
    device: &mut dyn Device,
    generator: &DataGenerator,
    traces: &FingerprintHistory,
) -> Result<Recognition, IoError> {
    let found = read_places(device, &traces.places())?;
    Ok(judge(generator, traces, &found))
}

/// The decision alone, from data that was read.
pub fn judge(
    generator: &DataGenerator,
    traces: &FingerprintHistory,
    found: &[PlaceRead],
) -> Recognition {
    judge::judge(generator, traces, found)
}

/// Reads these places and keeps the checksum of each. `generator` makes the data of the run's seed,
/// if the run may have written already. Leaves out places that do not read the same twice, as on
/// fakes that answer at random, and places that cannot be read. Keeps none if the medium takes
/// longer than [`PATIENCE_NS`] for them: half of them might not identify it.
///
/// # Errors
/// Those of a medium that cannot be read at all.
pub fn read_marks(
    device: &mut dyn Device,
    places: &[Extent],
    generator: Option<&DataGenerator>,
) -> Result<Vec<FingerprintMark>, IoError> {
    let until_ns = device.now().saturating_add(PATIENCE_NS);
    let Some(first) = read_places_until(device, places, until_ns)? else { return Ok(Vec::new()) };
    let Some(again) = read_places_until(device, places, until_ns)? else { return Ok(Vec::new()) };
    let steady = first.into_iter().filter(|found| again.contains(found));
    Ok(steady.map(|found| mark(&found, generator)).collect())
}

/// True if the place held only zeros or only 0xFF.
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

fn mark(found: &PlaceRead, generator: Option<&DataGenerator>) -> FingerprintMark {
    let PlaceRead { place, data } = found;
    let is_ours = |generator: &DataGenerator| {
        generator.verify(data, 0, place.offset_bytes).any(|(_, verdict)| is_ours(verdict))
    };
    FingerprintMark {
        offset_bytes: place.offset_bytes,
        bytes: place.bytes,
        crc32c: CRC.checksum(data),
        ours: generator.is_some_and(is_ours),
    }
}

/// True if a sector holds data of the run's seed, of any place and pass.
fn is_ours(verdict: SectorVerdict) -> bool {
    matches!(
        verdict,
        SectorVerdict::Good | SectorVerdict::Changed { .. } | SectorVerdict::Overwritten { .. }
    )
}
