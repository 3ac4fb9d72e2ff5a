//! Data of the medium that a run overwrote and could not restore yet. It comes first, as data is at
//! risk.

use record::units::Bytes;
use record::{Finding, Flag, Record};

use crate::finding_builder::FindingBuilder;

/// The finding `not-put-back`; `None` if the record has no such flag.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let unrestored = record.flags.iter().find_map(|flag| match flag {
        Flag::NotRestored { bytes, first_offset_bytes, run } => {
            Some((*bytes, *first_offset_bytes, run))
        }
        _ => None,
    });
    let (bytes, first_offset_bytes, run) = unrestored?;
    let statement = format!(
        "NOT RESTORED: {} of data that was on the medium, the first at byte {first_offset_bytes}, is overwritten there. This run keeps a copy. \
         Insert the medium and type: flashmark restore {run}",
        Bytes(bytes)
    );
    Some(FindingBuilder::warning("not-put-back", statement).done())
}
