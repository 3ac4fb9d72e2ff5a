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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_owed_to_a_medium_is_said_before_anything_else() {
        let unrestored = Flag::NotRestored {
            bytes: 9 << 20,
            first_offset_bytes: 1 << 20,
            run: "2026-card-standard".into(),
        };
        let record = Record { flags: vec![unrestored], ..crate::testing::empty() };
        let first = crate::conclude(&record).remove(0);
        insta::assert_snapshot!(first.statement, @"NOT RESTORED: 9 MiB of data that was on the medium, the first at byte 1048576, is overwritten there. This run keeps a copy. Insert the medium and type: flashmark restore 2026-card-standard");
        assert!(conclude(&crate::testing::empty()).is_none());
    }
}
