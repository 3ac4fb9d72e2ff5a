//! The runs of a line one by one, for programs with little memory.

use std::io;

use record::collection::{CollectionRun, SubmissionStatus};

use super::connection::SqlValue;
use super::error::ErrorContext;
use super::{Collection, CollectionError};

impl Collection {
    /// Passes the accepted runs of a line to `take`, the newest first. One is in memory at a time.
    ///
    /// # Errors
    /// If the database fails, or the first error of `take`.
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
