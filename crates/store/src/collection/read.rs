//! Reading runs and lines by their names.

use std::io;

use record::collection::{CollectionLine, CollectionRun, Model};

use super::columns::status_named;
use super::connection::{Connection, SqlRow, SqlValue};
use super::document::RevisionDocument;
use super::error::ErrorContext;
use super::{Collection, CollectionError, columns, lines};

/// Number, time, sender and reason of a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Number of the revision: 1, and one more with each replacement.
    pub revision: u32,
    /// Time at which it was received, in RFC 3339.
    pub received: String,
    /// Sender, as named in the audit.
    pub who: String,
    /// Reason for which it was quarantined, or replaces another; empty if nobody gave one.
    pub why: String,
}

/// Numbers of runs and lines of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs in the collection.
    pub accepted: u64,
    /// Runs that wait for a moderator.
    pub quarantined: u64,
    /// Runs that were refused.
    pub rejected: u64,
    /// Runs that were withdrawn.
    pub withdrawn: u64,
    /// Lines of the table, of all origins, fakes included.
    pub lines: u64,
}

/// SQL query of an entry, from `runs r` and `revisions v`.
const ENTRY: &str = "SELECT r.id, r.received, r.status, r.revision, v.body \
                     FROM runs r JOIN revisions v ON v.run = r.number AND v.revision = r.revision";
/// Entries that are read at once when all are read.
const BATCH: u64 = 200;

fn entry_of(mut row: SqlRow) -> Result<CollectionRun, CollectionError> {
    let (id, received) = (row.text()?, row.text()?);
    let (status, revision) = (status_named(&row.text()?)?, row.number()? as u32);
    let RevisionDocument { model, origin, headline, run } = RevisionDocument::unpack(&row.blob()?)?;
    Ok(CollectionRun {
        id,
        local_name: None,
        received,
        origin,
        status,
        revision,
        model,
        headline,
        run,
    })
}

fn entries(
    connection: &mut dyn Connection,
    rest: &str,
    values: &[SqlValue],
) -> Result<Vec<CollectionRun>, CollectionError> {
    connection
        .query(&format!("{ENTRY} {rest}"), values)
        .reading()?
        .into_iter()
        .map(entry_of)
        .collect()
}

impl Collection {
    /// A run by its name, whatever its status.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn entry(&self, id: &str) -> Result<Option<CollectionRun>, CollectionError> {
        let mut found = self
            .pool
            .look(|connection| entries(connection, "WHERE r.id = $1", &[SqlValue::from(id)]))?;
        Ok(found.pop())
    }

    /// All revisions of a run, the oldest first; empty if there is no such run.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn revisions(&self, id: &str) -> Result<Vec<Revision>, CollectionError> {
        let sql = "SELECT v.revision, v.received, v.who, v.why FROM revisions v JOIN runs r ON r.number = v.run WHERE r.id = $1 \
                   ORDER BY v.revision";
        let rows =
            self.pool.look(|connection| connection.query(sql, &[SqlValue::from(id)]).reading())?;
        let revision = |mut row: SqlRow| {
            Ok(Revision {
                revision: row.number()? as u32,
                received: row.text()?,
                who: row.text()?,
                why: row.text()?,
            })
        };
        rows.into_iter().map(revision).collect()
    }

    /// A run as of one of its revisions. A revision that was replaced has the status `Withdrawn`.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn revision(
        &self,
        id: &str,
        revision: u32,
    ) -> Result<Option<CollectionRun>, CollectionError> {
        let sql = "SELECT r.id, v.received, CASE WHEN v.revision = r.revision THEN r.status ELSE 'withdrawn' END, v.revision, v.body \
                   FROM runs r JOIN revisions v ON v.run = r.number WHERE r.id = $1 AND v.revision = $2";
        let found = self.pool.look(|connection| {
            connection.query(sql, &[SqlValue::from(id), SqlValue::from(revision)]).reading()
        })?;
        found.into_iter().next().map(entry_of).transpose()
    }

    /// A line by its name in addresses. `None` if it has nothing to show.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn line(&self, slug: &str) -> Result<Option<CollectionLine>, CollectionError> {
        let sql = format!(
            "SELECT {} FROM lines l JOIN line_details d ON d.line = l.number WHERE l.slug = $1 AND l.runs > 0",
            lines::COLUMNS
        );
        let found = self
            .pool
            .look(|connection| connection.query(&sql, &[SqlValue::from(slug)]).reading())?;
        found.into_iter().next().map(lines::line_of).transpose()
    }

    /// The lines of a model, by slug: one for each origin, fakes apart. Only those with something
    /// to show.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn lines_of(&self, model: &Model) -> Result<Vec<CollectionLine>, CollectionError> {
        let sql = format!(
            "SELECT {} FROM lines l JOIN line_details d ON d.line = l.number \
             WHERE l.kind = $1 AND l.vendor = $2 AND l.model = $3 AND l.capacity_gb = $4 AND l.runs > 0 ORDER BY l.slug",
            lines::COLUMNS
        );
        let values = [
            SqlValue::from(model.kind.name()),
            SqlValue::from(model.vendor.as_str()),
            SqlValue::from(model.model.as_str()),
            SqlValue::from(model.capacity_gb),
        ];
        let found = self.pool.look(|connection| connection.query(&sql, &values).reading())?;
        found.into_iter().map(lines::line_of).collect()
    }

    /// All lines of all origins, fakes included, by slug.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn all_lines(&self) -> Result<Vec<CollectionLine>, CollectionError> {
        let columns = lines::COLUMNS;
        let sql = format!(
            "SELECT {columns} FROM lines l JOIN line_details d ON d.line = l.number WHERE l.runs > 0 ORDER BY l.slug"
        );
        let found = self.pool.look(|connection| connection.query(&sql, &[]).reading())?;
        found.into_iter().map(lines::line_of).collect()
    }

    /// The accepted runs of a line, the newest first.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn runs_of(&self, slug: &str) -> Result<Vec<CollectionRun>, CollectionError> {
        self.latest_runs_of(slug, usize::MAX)
    }

    /// The newest `n` accepted runs of a line, the newest first.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn latest_runs_of(
        &self,
        slug: &str,
        n: usize,
    ) -> Result<Vec<CollectionRun>, CollectionError> {
        let rest = "WHERE r.line = (SELECT number FROM lines WHERE slug = $1) AND r.status = 'accepted' \
                    ORDER BY r.received DESC, r.number DESC LIMIT $2";
        self.pool.look(|connection| {
            entries(connection, rest, &[SqlValue::from(slug), SqlValue::from(n as u64)])
        })
    }

    /// The `n` accepted runs that came in last, the newest first, of every origin.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn latest(&self, n: usize) -> Result<Vec<CollectionRun>, CollectionError> {
        let rest = "WHERE r.status = 'accepted' ORDER BY r.received DESC, r.number DESC LIMIT $1";
        self.pool.look(|connection| entries(connection, rest, &[SqlValue::from(n as u64)]))
    }

    /// Runs that wait for a moderator, the oldest first.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn quarantined(&self) -> Result<Vec<CollectionRun>, CollectionError> {
        self.first_quarantined(usize::MAX)
    }

    /// The `n` runs that have waited longest for a moderator, the oldest first.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn first_quarantined(&self, n: usize) -> Result<Vec<CollectionRun>, CollectionError> {
        let rest = "WHERE r.status = 'quarantined' ORDER BY r.received, r.number LIMIT $1";
        self.pool.look(|connection| entries(connection, rest, &[SqlValue::from(n as u64)]))
    }

    /// Passes every accepted run to `take` in the order in which they came in, from one state of
    /// the collection. Few are in memory at a time.
    ///
    /// # Errors
    /// If the database fails, or the first error of `take`.
    pub fn each_entry(
        &self,
        take: &mut dyn FnMut(CollectionRun) -> io::Result<()>,
    ) -> Result<(), CollectionError> {
        let sql = "SELECT r.id, r.received, r.status, r.revision, v.body, r.number \
                   FROM runs r JOIN revisions v ON v.run = r.number AND v.revision = r.revision \
                   WHERE r.number > $1 AND r.number <= $2 AND r.status = 'accepted' ORDER BY r.number";
        self.pool.read(|connection| {
            let last =
                connection.query("SELECT coalesce(max(number), 0) FROM runs", &[]).reading()?;
            let last = last.into_iter().next().map_or(Ok(0), |mut row| row.number())?;
            let mut after = 0;
            while after < last {
                let rows = connection
                    .query(sql, &[SqlValue::from(after), SqlValue::from(after + BATCH)])
                    .reading()?;
                for row in rows {
                    take(entry_of(row)?)?;
                }
                after += BATCH;
            }
            Ok(())
        })
    }

    /// Bytes of the revisions that came in at or after a moment (RFC 3339 in UTC) from these
    /// senders, as named in the audit.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn stored_bytes(&self, since: &str, who: &[&str]) -> Result<u64, CollectionError> {
        let sql = format!(
            "SELECT coalesce(sum(length(body)), 0) FROM revisions WHERE received >= $1 AND who IN ({})",
            columns::places(2, who.len())
        );
        let values: Vec<SqlValue> =
            [since].iter().chain(who).map(|text| SqlValue::from(*text)).collect();
        let rows = self.pool.look(|connection| connection.query(&sql, &values).reading())?;
        rows.into_iter().next().map_or(Ok(0), |mut row| row.number())
    }

    /// Numbers of runs and lines.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn counts(&self) -> Result<Counts, CollectionError> {
        self.pool.look(|connection| {
            let mut counts = Counts::default();
            for mut row in connection
                .query("SELECT status, count(*) FROM runs GROUP BY status", &[])
                .reading()?
            {
                let (status, count) = (row.text()?, row.number()?);
                match status.as_str() {
                    "accepted" => counts.accepted = count,
                    "quarantined" => counts.quarantined = count,
                    "rejected" => counts.rejected = count,
                    _ => counts.withdrawn = count,
                }
            }
            let lines =
                connection.query("SELECT count(*) FROM lines WHERE runs > 0", &[]).reading()?;
            counts.lines = lines.into_iter().next().map_or(Ok(0), |mut row| row.number())?;
            Ok(counts)
        })
    }
}
