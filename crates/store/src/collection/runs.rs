//! The runs of a line one by one, for whoever has less memory than a line has runs.

use std::io;

use record::collection::{CollectionRun, SubmissionStatus};

use super::connection::SqlValue;
use super::error::While;
use super::{Collection, CollectionError};

impl Collection {
    /// Hands out the accepted runs of a line, the newest first. One is held in memory at a time.
    ///
    /// # Errors
    /// Where the database fails, or the first that `take` returns.
    pub fn each_run_of(
        &self,
        slug: &str,
        take: &mut dyn FnMut(CollectionRun) -> io::Result<()>,
    ) -> Result<(), CollectionError> {
        let sql = "SELECT id FROM runs WHERE line = (SELECT number FROM lines WHERE slug = $1) AND status = 'accepted' \
                   ORDER BY received DESC, number DESC";
        let rows = self
            .pool
            .look(|connection| connection.query(sql, &[SqlValue::from(slug)]).reading())?;
        for mut row in rows {
            // It may have been withdrawn meanwhile.
            if let Some(entry) =
                self.entry(&row.text()?)?.filter(|entry| entry.status == SubmissionStatus::Accepted)
            {
                take(entry)?;
            }
        }
        Ok(())
    }
}
