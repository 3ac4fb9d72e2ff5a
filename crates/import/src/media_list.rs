//! The media of a text, as many as a file may have results of.

use super::imported_run::{ImportedRun, room_for_another};
use super::reading::Reading;

/// Media in the order of the text, each with its results.
#[derive(Default)]
pub(crate) struct MediaList(pub Vec<ImportedRun>);

impl MediaList {
    /// Adds one, where a file may have results of one more.
    pub fn push(&mut self, at: usize, one: ImportedRun, reading: &mut Reading) -> bool {
        let has_room = reading.accept(at, room_for_another(&self.0)).is_some();
        if has_room {
            self.0.push(one);
        }
        has_room
    }
}
