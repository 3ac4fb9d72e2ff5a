//! Audit of a collection: each change with its author and reason. Lines are only added; each holds
//! the hash of the one before it, which shows lines that were changed or removed.

use record::text::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::connection::{Connection, SqlRow, SqlValue};
use super::error::ErrorContext;
use super::{Collection, CollectionError};

/// A line of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audited {
    /// Number of the line: 1, 2, 3, without gaps.
    pub number: u64,
    /// Time of the event, in RFC 3339.
    pub at: String,
    /// Author: "anonymous", "flashmark", or the name of a token.
    pub who: String,
    /// Kind of the event: `submitted`, `accepted`, `withdrawn`, ...
    pub what: String,
    /// Id of the run that was changed; `None` for events without a run.
    pub run: Option<String>,
    /// Reason, or any other text.
    pub detail: String,
    /// SHA-256 over the hash of the line before and all of the above, in hexadecimal.
    pub hash: String,
}

/// An event to add to the audit.
pub(super) struct AuditEvent<'a> {
    pub at: &'a str,
    pub who: &'a str,
    pub what: &'a str,
    pub run: Option<&'a str>,
    pub detail: &'a str,
}

/// The end of the audit, to which lines are added.
pub(super) struct Chain {
    number: u64,
    hash: String,
}

impl Chain {
    pub fn end_of(connection: &mut dyn Connection) -> Result<Chain, CollectionError> {
        let last = connection
            .query("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1", &[])
            .reading()?;
        let start = Chain { number: 0, hash: String::new() };
        last.into_iter()
            .next()
            .map_or(Ok(start), |mut row| Ok(Chain { number: row.number()?, hash: row.text()? }))
    }

    /// Number of the last line.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn add(
        &mut self,
        connection: &mut dyn Connection,
        event: &AuditEvent,
    ) -> Result<(), CollectionError> {
        // The text as the database stores it, so that its hash is the same when it is read back.
        let kept = |text: &str| text.replace('\0', "\u{fffd}");
        let mut line = Audited {
            number: self.number + 1,
            at: kept(event.at),
            who: kept(event.who),
            what: kept(event.what),
            run: event.run.map(kept),
            detail: kept(event.detail),
            hash: String::new(),
        };
        line.hash = hash(&self.hash, &line);
        let values = [
            SqlValue::from(line.number),
            SqlValue::from(line.at.as_str()),
            SqlValue::from(line.who.as_str()),
            SqlValue::from(line.what.as_str()),
            SqlValue::from(line.run.as_deref()),
            SqlValue::from(line.detail.as_str()),
            SqlValue::from(line.hash.as_str()),
        ];
        let sql = "INSERT INTO audit (number, at, who, what, run, detail, hash) VALUES ($1, $2, $3, $4, $5, $6, $7)";
        connection.execute(sql, &values).changing()?;
        (self.number, self.hash) = (line.number, line.hash);
        Ok(())
    }
}

/// Hashes each part with its length before it, so that no two lines have the same text.
fn hash(before: &str, line: &Audited) -> String {
    let run = line.run.as_deref().map_or("-".to_owned(), |run| format!("+{run}"));
    let mut hasher = Sha256::new();
    for part in
        [before, &line.number.to_string(), &line.at, &line.who, &line.what, &run, &line.detail]
    {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hex(&hasher.finalize())
}

fn line_of(mut row: SqlRow) -> Result<Audited, CollectionError> {
    Ok(Audited {
        number: row.number()?,
        at: row.text()?,
        who: row.text()?,
        what: row.text()?,
        run: row.optional_text()?,
        detail: row.text()?,
        hash: row.text()?,
    })
}

fn after(
    connection: &mut dyn Connection,
    number: u64,
    n: usize,
) -> Result<Vec<Audited>, CollectionError> {
    let sql = "SELECT number, at, who, what, run, detail, hash FROM audit WHERE number > $1 ORDER BY number LIMIT $2";
    let rows =
        connection.query(sql, &[SqlValue::from(number), SqlValue::from(n as u64)]).reading()?;
    rows.into_iter().map(line_of).collect()
}

/// Description of the first line that does not fit the one before it.
pub(super) fn first_fault(
    connection: &mut dyn Connection,
) -> Result<Option<String>, CollectionError> {
    let mut chain = Chain { number: 0, hash: String::new() };
    loop {
        let lines = after(connection, chain.number, 1000)?;
        if lines.is_empty() {
            return Ok(None);
        }
        for line in lines {
            if line.number != chain.number + 1 {
                return Ok(Some(format!("line {} of the audit is missing", chain.number + 1)));
            }
            if line.hash != hash(&chain.hash, &line) {
                return Ok(Some(format!(
                    "line {} of the audit is not as it was written",
                    line.number
                )));
            }
            (chain.number, chain.hash) = (line.number, line.hash);
        }
    }
}

impl Collection {
    /// Lines of the audit after that number, at most `n`, the oldest first.
    ///
    /// # Errors
    /// If the database fails.
    pub fn audit(&self, after_number: u64, n: usize) -> Result<Vec<Audited>, CollectionError> {
        self.pool.look(|connection| after(connection, after_number, n))
    }

    /// Adds a line about an event outside the collection: a refused upload, a sign-in.
    ///
    /// # Errors
    /// If the database fails.
    pub fn note(
        &self,
        who: &str,
        what: &str,
        run: Option<&str>,
        detail: &str,
        when: &str,
    ) -> Result<(), CollectionError> {
        self.pool.write(|connection| {
            let mut chain = Chain::end_of(connection)?;
            chain.add(connection, &AuditEvent { at: when, who, what, run, detail })
        })
    }
}
