//! Whether the figures that a verdict rests on were measured for as long as the medium will be used.

use record::units::{KIB, MIB};
use record::{Flag, Record};

use crate::figure::{self, Figure};

/// What a sentence of praise has to add where the run was too short to fill every cache, or to heat the medium up.
pub(crate) fn untested(record: &Record) -> Option<&'static str> {
    let told =
        [4 * KIB, 16 * KIB].into_iter().filter_map(|block| figure::random_write(record, block)).chain(figure::sustained_write(record));
    let flags: Vec<&Flag> = told.flat_map(|figure: Figure| figure.cell.flags.iter()).collect();
    let fills = flags.iter().any(|flag| matches!(flag, Flag::MayNotLast { .. }));
    let heats = flags.iter().any(|flag| matches!(flag, Flag::MayGetHot { .. }));
    match (fills && !was_filled(record), heats) {
        (true, true) => Some("Not tested: whether that lasts once its caches are full, and when it is hot."),
        (true, false) => Some("Not tested: whether that lasts once its caches are full."),
        (false, true) => Some("Not tested: whether that lasts when it is hot."),
        (false, false) => None,
    }
}

/// Whether `sustained` wrote on until every cache was full.
fn was_filled(record: &Record) -> bool {
    figure::form(record, "sustained", "first")
        .is_some_and(|cell| cell.bytes >= 16 * MIB && cell.metrics.other.contains_key("sustained_bps"))
}
