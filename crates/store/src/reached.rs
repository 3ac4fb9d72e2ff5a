//! The progress of a journal, read without decoding its measurements.

use std::collections::HashMap;
use std::path::Path;

use record::{Ended, Record, Stop};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::reading;

#[derive(Deserialize)]
pub(crate) struct CellOutline {
    id: String,
    stop: Stop,
}

/// Parts that are taken from the other lines of a journal.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EntryOutline {
    Cell(CellOutline),
    Skip(IgnoredAny),
    Flag(IgnoredAny),
    Resumed(IgnoredAny),
    Ended(EndingOutline),
    Begun(IgnoredAny),
    Marked(IgnoredAny),
}

impl EntryOutline {
    pub fn decode(json: &str) -> serde_json::Result<EntryOutline> {
        serde_json::from_str(json)
    }
}

#[derive(Deserialize)]
pub(crate) struct EndingOutline {
    ended: Ended,
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
        for entry in entries {
            match entry {
                EntryOutline::Cell(cell) => drop(reached.cells.insert(cell.id, cell.stop)),
                EntryOutline::Ended(ending) => reached.ended = Some(ending.ended),
                EntryOutline::Resumed(_) => {
                    reached.ended = None;
                    reached.resumed += 1;
                }
                EntryOutline::Skip(_)
                | EntryOutline::Flag(_)
                | EntryOutline::Begun(_)
                | EntryOutline::Marked(_) => {}
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
