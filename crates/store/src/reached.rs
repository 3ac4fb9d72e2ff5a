//! The progress of a journal, read without decoding its measurements.

use std::collections::HashMap;
use std::path::Path;

use record::{Ended, Record, Stop};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::reading;

#[derive(Deserialize)]
struct CellOutline {
    id: String,
    stop: Stop,
}

#[derive(Deserialize)]
struct EndingOutline {
    ended: Ended,
}

/// Parts that are taken from an event. Each event has one of these keys, or another one.
#[derive(Deserialize)]
pub(crate) struct EntryOutline {
    cell: Option<CellOutline>,
    resumed: Option<IgnoredAny>,
    ended: Option<EndingOutline>,
}

impl EntryOutline {
    pub fn decode(json: &str) -> serde_json::Result<EntryOutline> {
        serde_json::from_str(json)
    }
}

/// The progress of a journal.
#[derive(Debug, Default)]
pub(crate) struct JournalProgress {
    /// Cells that have a result, with how each ended.
    pub cells: HashMap<String, Stop>,
    /// The way in which the run ended, where the journal says it.
    pub ended: Option<Ended>,
    pub resumed: u32,
}

impl JournalProgress {
    pub fn of(entries: Vec<EntryOutline>) -> JournalProgress {
        let mut reached = JournalProgress::default();
        for EntryOutline { cell, resumed, ended } in entries {
            reached.cells.extend(cell.map(|cell| (cell.id, cell.stop)));
            reached.resumed += u32::from(resumed.is_some());
            match (ended, resumed) {
                (Some(ending), _) => reached.ended = Some(ending.ended),
                (None, Some(_)) => reached.ended = None,
                (None, None) => {}
            }
        }
        reached
    }
}

/// True if a journal is whole and says no more than the written record of its run. Then the record
/// alone describes the run.
pub(crate) fn is_whole_record(record: &Record, journal: &Path) -> bool {
    let Ok(contents) = reading::read(journal, EntryOutline::decode) else { return false };
    let JournalProgress { cells, ended, resumed } = JournalProgress::of(contents.entries);
    contents.unread.is_none()
        && (cells.len(), ended, resumed)
            == (record.cells.len(), Some(record.run.ended), record.run.resumed)
}
