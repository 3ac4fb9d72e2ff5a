//! Runs that are one measurement, sent again under another name, from another board or with a few
//! numbers changed.

use collection::{RunSketch, latency_marks};
use record::Published;
use record::collection::Origin;

use super::connection::{Connection, SqlValue};
use super::document::{RevisionDocument, content_name};
use super::error::While;
use super::{Collection, CollectionError, columns};

/// Runs of a model that are looked through for a copy: the newest.
const LOOKED_THROUGH: u32 = 500;

/// Keeps the marks and the sketch of a run in place of those it had.
pub(super) fn mark(
    connection: &mut dyn Connection,
    number: u64,
    run: &Published,
) -> Result<(), CollectionError> {
    let number = SqlValue::from(number);
    let forget = "DELETE FROM run_marks WHERE run = $1";
    connection.execute(forget, std::slice::from_ref(&number)).changing()?;
    for mark in latency_marks(run) {
        let sql = "INSERT INTO run_marks (mark, run) VALUES ($1, $2)";
        connection.execute(sql, &[SqlValue::from(mark.as_str()), number.clone()]).changing()?;
    }
    let sketch = RunSketch::of(run);
    let sketch = (!sketch.is_empty()).then(|| serde_json::to_string(&sketch).ok()).flatten();
    let sql = "UPDATE runs SET sketch = $1 WHERE number = $2";
    connection.execute(sql, &[SqlValue::from(sketch.as_deref()), number]).changing()?;
    Ok(())
}

/// Marks all runs, from what is kept of them.
pub(super) fn mark_all(connection: &mut dyn Connection) -> Result<(), CollectionError> {
    for mut row in connection.query("SELECT number FROM runs", &[]).reading()? {
        let number = row.number()?;
        let newest = "SELECT body FROM revisions WHERE run = $1 ORDER BY revision DESC LIMIT 1";
        for mut row in connection.query(newest, &[SqlValue::from(number)]).reading()? {
            mark(connection, number, &RevisionDocument::unpack(&row.blob()?)?.run)?;
        }
    }
    Ok(())
}

impl Collection {
    /// The accepted run of this collection whose latencies this one has: those of a cell exactly,
    /// under any name; or nearly, among the newest of its model. `None` where there is none, for runs
    /// with too few I/Os, and for the run itself and the one it replaces. Runs that wait or were
    /// rejected are no reason for another to wait. Simulated runs repeat to the byte, and are no
    /// copies.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn find_copy(
        &self,
        run: &Published,
        replaces: Option<&str>,
    ) -> Result<Option<String>, CollectionError> {
        if Origin::of(run) == Origin::Simulated {
            return Ok(None);
        }
        let own = content_name(run)?;
        let is_other = |id: &String| *id != own && Some(id.as_str()) != replaces;
        let (marks, sketch) = (latency_marks(run), RunSketch::of(run));
        self.pool.look(|connection| {
            if let Some(id) = exact_copy(connection, &marks, is_other)? {
                return Ok(Some(id));
            }
            near_copy(connection, run, &sketch, is_other)
        })
    }
}

fn exact_copy(
    connection: &mut dyn Connection,
    marks: &[String],
    is_other: impl Fn(&String) -> bool,
) -> Result<Option<String>, CollectionError> {
    if marks.is_empty() {
        return Ok(None);
    }
    let sql = format!(
        "SELECT r.id FROM run_marks m JOIN runs r ON r.number = m.run WHERE m.mark IN ({}) AND r.standing = 'accepted' \
         ORDER BY r.number LIMIT 20",
        columns::places(1, marks.len())
    );
    let values: Vec<SqlValue> = marks.iter().map(|mark| SqlValue::from(mark.as_str())).collect();
    for mut row in connection.query(&sql, &values).reading()? {
        let id = row.text()?;
        if is_other(&id) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

fn near_copy(
    connection: &mut dyn Connection,
    run: &Published,
    sketch: &RunSketch,
    is_other: impl Fn(&String) -> bool,
) -> Result<Option<String>, CollectionError> {
    if sketch.is_empty() {
        return Ok(None);
    }
    let model = collection::model_of(run);
    let sql = "SELECT r.id, r.sketch FROM runs r JOIN lines l ON l.number = r.line \
               WHERE l.kind = $1 AND l.vendor = $2 AND l.model = $3 AND r.sketch IS NOT NULL \
               AND r.standing = 'accepted' ORDER BY r.number DESC LIMIT $4";
    let values = [
        SqlValue::from(model.kind.name()),
        SqlValue::from(model.vendor.as_str()),
        SqlValue::from(model.model.as_str()),
        SqlValue::from(LOOKED_THROUGH),
    ];
    for mut row in connection.query(sql, &values).reading()? {
        let (id, theirs) = (row.text()?, row.text()?);
        let theirs: RunSketch = serde_json::from_str(&theirs)
            .map_err(|error| CollectionError::damaged(format!("sketch of {id}: {error}")))?;
        if is_other(&id) && sketch.is_copy_of(&theirs) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}
