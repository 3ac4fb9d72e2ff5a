//! Runs of a line that carry the key of their medium.

use record::collection::{HeadlineFigure, MediumRun};

use super::connection::SqlValue;
use super::error::ErrorContext;
use super::{Collection, CollectionError, columns};

impl Collection {
    /// Accepted runs of a line that carry the key of their medium, the newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn medium_runs(&self, slug: &str) -> Result<Vec<MediumRun>, CollectionError> {
        let sql = format!(
            "SELECT id, medium_key, host, {} FROM runs WHERE line = (SELECT number FROM lines WHERE slug = $1) \
             AND status = 'accepted' AND medium_key IS NOT NULL ORDER BY received DESC, number DESC",
            columns::figures()
        );
        let rows = self
            .pool
            .look(|connection| connection.query(&sql, &[SqlValue::from(slug)]).reading())?;
        let mut runs = Vec::with_capacity(rows.len());
        for mut row in rows {
            let (id, medium_key, host) = (row.text()?, row.text()?, row.optional_text()?);
            let mut run = MediumRun { id, medium_key, host, figures: Default::default() };
            for figure in HeadlineFigure::ALL {
                run.figures.extend(row.optional_real()?.map(|value| (figure, value)));
            }
            runs.push(run);
        }
        Ok(runs)
    }
}
