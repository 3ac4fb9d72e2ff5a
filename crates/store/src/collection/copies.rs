//! Runs that are one measurement, sent again under another name, from another board or with a few
//! numbers changed.

use collection::{RunSketch, latencies_of};
use record::Published;
use record::collection::Origin;
use sha2::{Digest, Sha256};

use super::connection::SqlValue;
use super::document::{content_name, hex};
use super::error::While;
use super::{Collection, CollectionError};

/// Runs of a model that are looked through for a copy: the newest.
const LOOKED_THROUGH: u32 = 500;

/// The columns `latencies` and `sketch` of a run; nothing for one with too few I/Os.
pub(super) fn marks_of(run: &Published) -> [Option<String>; 2] {
    let latencies = latencies_of(run).map(|text| hex(&Sha256::digest(text.as_bytes())[..16]));
    let sketch = RunSketch::of(run);
    let sketch = (!sketch.is_empty()).then(|| serde_json::to_string(&sketch).ok()).flatten();
    [latencies, sketch]
}

impl Collection {
    /// The run of this collection whose latencies this one has: exactly, under any name; or nearly,
    /// among the newest of its model. `None` where there is none, for runs with too few I/Os, and for
    /// the run itself and the one it replaces. Simulated runs repeat to the byte, and are no copies.
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
        let [Some(latencies), Some(_)] = marks_of(run) else { return Ok(None) };
        let sketch = RunSketch::of(run);
        let model = collection::model_of(run);
        let own = content_name(run)?;
        let is_other = |id: &String| *id != own && Some(id.as_str()) != replaces;
        self.pool.look(|connection| {
            let exact = "SELECT id FROM runs WHERE latencies = $1 AND standing <> 'withdrawn' ORDER BY number LIMIT 3";
            for mut row in connection.query(exact, &[SqlValue::from(latencies.as_str())]).reading()? {
                let id = row.text()?;
                if is_other(&id) {
                    return Ok(Some(id));
                }
            }
            let near = "SELECT r.id, r.sketch FROM runs r JOIN lines l ON l.number = r.line \
                        WHERE l.kind = $1 AND l.vendor = $2 AND l.model = $3 AND r.sketch IS NOT NULL \
                        AND r.standing <> 'withdrawn' ORDER BY r.number DESC LIMIT $4";
            let values = [
                SqlValue::from(model.kind.name()),
                SqlValue::from(model.vendor.as_str()),
                SqlValue::from(model.model.as_str()),
                SqlValue::from(LOOKED_THROUGH),
            ];
            for mut row in connection.query(near, &values).reading()? {
                let (id, theirs) = (row.text()?, row.text()?);
                let theirs: RunSketch = serde_json::from_str(&theirs)
                    .map_err(|error| CollectionError::damaged(format!("sketch of {id}: {error}")))?;
                if is_other(&id) && sketch.is_copy_of(&theirs) {
                    return Ok(Some(id));
                }
            }
            Ok(None)
        })
    }
}
