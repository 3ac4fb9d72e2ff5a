//! List of the media of a text, with a limit on their number.

use super::imported_run::{ImportedRun, room_for_another};
use super::reading::Reading;

/// Media in the order of the text, each with its results.
#[derive(Default)]
pub(crate) struct MediaList(pub Vec<ImportedRun>);

impl MediaList {
    /// Adds a medium; false if the file already has the most that it may have.
    pub fn push(&mut self, at: usize, one: ImportedRun, reading: &mut Reading) -> bool {
        let has_room = reading.accept(at, room_for_another(&self.0)).is_some();
        if has_room {
            self.0.push(one);
        }
        has_room
    }
}
