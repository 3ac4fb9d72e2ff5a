//! Check of a collection for damage.

use record::collection::CollectionLine;
use record::text::hex;

use super::connection::{Connection, SqlRow, SqlValue};
use super::document::{RevisionDocument, content};
use super::error::ErrorContext;
use super::{Collection, CollectionError, audit, lines};

impl Collection {
    /// Lists all faults of the collection: breaks in the chain of the audit, runs that cannot be
    /// read or are not what was sent in, lines that do not follow from their runs. Reads every run,
    /// which takes a while; changes nothing.
    ///
    /// # Errors
    /// If the database fails.
    pub fn check(&self) -> Result<Vec<String>, CollectionError> {
        let mut faults: Vec<String> = self.pool.read(audit::first_fault)?.into_iter().collect();
        faults.extend(self.pool.read(unreadable)?);
        faults.extend(self.stale_lines()?);
        Ok(faults)
    }

    /// Lines that differ when they are computed again; in a transaction that is rolled back.
    fn stale_lines(&self) -> Result<Vec<String>, CollectionError> {
        let mut faults = Vec::new();
        let given_up = self.pool.write(|connection| {
            let numbers =
                connection.query("SELECT number FROM lines ORDER BY number", &[]).reading()?;
            for mut row in numbers {
                let number = row.number()?;
                let before = one(connection, number)?;
                lines::refresh(connection, number, 0)?;
                if one(connection, number)? != before {
                    faults.push(format!("line '{}' is not what its runs make", before.slug));
                }
            }
            Err::<(), _>(CollectionError::damaged("nothing is to be kept"))
        });
        match given_up {
            Err(CollectionError::Damaged { what }) if what == "nothing is to be kept" => Ok(faults),
            Err(error) => Err(error),
            Ok(()) => Ok(faults),
        }
    }
}

fn one(connection: &mut dyn Connection, number: u64) -> Result<CollectionLine, CollectionError> {
    let sql = format!(
        "SELECT {} FROM lines l JOIN line_details d ON d.line = l.number WHERE l.number = $1",
        lines::COLUMNS
    );
    let row: Option<SqlRow> =
        connection.query(&sql, &[SqlValue::from(number)]).reading()?.into_iter().next();
    row.map_or_else(
        || Err(CollectionError::damaged(format!("line {number} has no details"))),
        lines::line_of,
    )
}

fn unreadable(connection: &mut dyn Connection) -> Result<Vec<String>, CollectionError> {
    let sql = "SELECT r.id, v.revision, v.content, v.body, r.number FROM runs r JOIN revisions v ON v.run = r.number \
               WHERE r.number > $1 AND r.number <= $2 ORDER BY r.number, v.revision";
    let last = connection.query("SELECT coalesce(max(number), 0) FROM runs", &[]).reading()?;
    let last = last.into_iter().next().map_or(Ok(0), |mut row| row.number())?;
    let mut faults = Vec::new();
    let mut after = 0;
    while after < last {
        for mut row in connection
            .query(sql, &[SqlValue::from(after), SqlValue::from(after + 200)])
            .reading()?
        {
            let (id, revision, expected) = (row.text()?, row.number()?, row.text()?);
            let found =
                RevisionDocument::unpack(&row.blob()?).and_then(|document| content(&document.run));
            match found {
                Ok(found) if hex(&found) == expected => {}
                Ok(_) => {
                    faults.push(format!("run '{id}', revision {revision}, is not what was sent in"))
                }
                Err(error) => faults.push(format!("run '{id}', revision {revision}: {error}")),
            }
        }
        after += 200;
    }
    Ok(faults)
}
