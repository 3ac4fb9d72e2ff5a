//! Search for copies among all runs of a collection, by their marks.

use collection::copies::{KnownRuns, RunMarks, RunSketch, find_copy};
use record::Published;

use super::connection::{Connection, SqlValue};
use super::document::{RevisionDocument, content_name};
use super::error::ErrorContext;
use super::{Collection, CollectionError, columns};

/// Number of runs of a model that are searched for a copy: the newest.
const LOOKED_THROUGH: u32 = 500;

/// Stores the marks and the sketch of a run; replaces older ones.
pub(super) fn mark(
    connection: &mut dyn Connection,
    number: u64,
    run: &Published,
) -> Result<(), CollectionError> {
    let number = SqlValue::from(number);
    let forget = "DELETE FROM run_marks WHERE run = $1";
    connection.execute(forget, std::slice::from_ref(&number)).changing()?;
    let RunMarks { exact, sketch, .. } = RunMarks::of(run);
    for mark in exact {
        let sql = "INSERT INTO run_marks (mark, run) VALUES ($1, $2)";
        connection.execute(sql, &[SqlValue::from(mark.as_str()), number.clone()]).changing()?;
    }
    let sketch = (!sketch.is_empty()).then(|| serde_json::to_string(&sketch).ok()).flatten();
    let sql = "UPDATE runs SET sketch = $1 WHERE number = $2";
    connection.execute(sql, &[SqlValue::from(sketch.as_deref()), number]).changing()?;
    Ok(())
}

/// Stores the marks and claims of all runs, from their documents.
pub(super) fn mark_all(connection: &mut dyn Connection) -> Result<(), CollectionError> {
    for mut row in connection.query("SELECT number FROM runs", &[]).reading()? {
        let number = row.number()?;
        let newest = "SELECT body FROM revisions WHERE run = $1 ORDER BY revision DESC LIMIT 1";
        for mut row in connection.query(newest, &[SqlValue::from(number)]).reading()? {
            let RevisionDocument { run, headline, .. } = RevisionDocument::unpack(&row.blob()?)?;
            mark(connection, number, &run)?;
            let values = [SqlValue::from(headline.claims().as_str()), SqlValue::from(number)];
            let sql = "UPDATE runs SET claims = $1 WHERE number = $2";
            connection.execute(sql, &values).changing()?;
        }
    }
    Ok(())
}

impl Collection {
    /// The accepted run of this collection of which this one is a copy ([`find_copy`]). `None` if
    /// there is none, and for the run itself and the one it replaces. Quarantined and rejected runs
    /// do not count.
    ///
    /// # Errors
    /// If the database fails.
    pub fn find_copy(
        &self,
        run: &Published,
        replaces: Option<&str>,
    ) -> Result<Option<String>, CollectionError> {
        let (own, marks) = (content_name(run)?, RunMarks::of(run));
        let is_other = |id: &String| *id != own && Some(id.as_str()) != replaces;
        self.pool.look(|connection| find_copy(&mut Accepted(connection), &marks, is_other))
    }
}

/// SQL condition of [`RunMarks::may_copy`].
fn may_be_copied(marks: &RunMarks) -> &'static str {
    if marks.may_copy(true) { "" } else { " AND l.origin <> 'simulated'" }
}

/// The accepted runs of a collection.
struct Accepted<'a>(&'a mut dyn Connection);

impl KnownRuns for Accepted<'_> {
    type Name = String;
    type Error = CollectionError;

    fn with_mark(
        &mut self,
        marks: &RunMarks,
        is_taken: &mut dyn FnMut(&String) -> bool,
    ) -> Result<Option<String>, CollectionError> {
        let sql = format!(
            "SELECT r.id FROM run_marks m JOIN runs r ON r.number = m.run JOIN lines l ON l.number = r.line \
             WHERE m.mark IN ({}) AND r.status = 'accepted'{} ORDER BY r.number LIMIT 20",
            columns::places(1, marks.exact.len()),
            may_be_copied(marks),
        );
        let values: Vec<SqlValue> =
            marks.exact.iter().map(|mark| SqlValue::from(mark.as_str())).collect();
        for mut row in self.0.query(&sql, &values).reading()? {
            let id = row.text()?;
            if is_taken(&id) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn of_model(
        &mut self,
        marks: &RunMarks,
        is_taken: &mut dyn FnMut(&String, &RunSketch) -> bool,
    ) -> Result<Option<String>, CollectionError> {
        let sql = "SELECT id, sketch FROM (SELECT r.number, r.id, r.sketch \
             FROM runs r JOIN lines l ON l.number = r.line \
             WHERE l.kind = $1 AND l.vendor = $2 AND l.model = $3 AND r.sketch IS NOT NULL \
             AND r.status = 'accepted' AND l.origin <> 'simulated' ORDER BY r.number DESC LIMIT $4) AS newest \
             ORDER BY number";
        let model = marks.model();
        let values = [
            SqlValue::from(model.kind.name()),
            SqlValue::from(model.vendor.as_str()),
            SqlValue::from(model.model.as_str()),
            SqlValue::from(LOOKED_THROUGH),
        ];
        for mut row in self.0.query(sql, &values).reading()? {
            let (id, theirs) = (row.text()?, row.text()?);
            let theirs: RunSketch = serde_json::from_str(&theirs)
                .map_err(|error| CollectionError::damaged(format!("sketch of {id}: {error}")))?;
            if is_taken(&id, &theirs) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }
}
