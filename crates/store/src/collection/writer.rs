//! Changes of runs within one transaction, each with its line of the audit.

mod run_line;

use std::collections::{BTreeMap, BTreeSet};

use record::collection::SubmissionStatus;

use self::run_line::LineKey;
use super::audit::{self, AuditEvent};
use super::columns::status_named;
use super::connection::{Connection, SqlValue};
use super::error::ErrorContext;
use super::submission::{PreparedSubmission, SubmissionReceipt};
use super::{CollectionError, columns, copies, facts, lines, tokens};

/// A run as it is in the database.
pub(super) struct Present {
    number: u64,
    line: u64,
    pub(super) status: SubmissionStatus,
    revision: u32,
    pub(super) content: String,
    slug: String,
}

/// Changes the collection in one transaction, and keeps the lines that must be computed again.
pub(super) struct Writer<'a> {
    connection: &'a mut dyn Connection,
    next_run: u64,
    next_line: u64,
    audit: audit::Chain,
    known_lines: BTreeMap<LineKey, (u64, String)>,
    touched: BTreeSet<u64>,
}

impl<'a> Writer<'a> {
    pub fn new(connection: &'a mut dyn Connection) -> Result<Writer<'a>, CollectionError> {
        let next_run = next(connection, "runs")?;
        let next_line = next(connection, "lines")?;
        let audit = audit::Chain::end_of(connection)?;
        Ok(Writer {
            connection,
            next_run,
            next_line,
            audit,
            known_lines: BTreeMap::new(),
            touched: BTreeSet::new(),
        })
    }

    /// The connection, within the transaction.
    pub fn connection(&mut self) -> &mut dyn Connection {
        self.connection
    }

    /// Adds a line to the audit; returns its number.
    pub fn note(&mut self, event: &AuditEvent) -> Result<u64, CollectionError> {
        self.audit.add(self.connection, event)?;
        Ok(self.audit.number())
    }

    /// Computes all lines that were changed.
    pub fn finish(self) -> Result<(), CollectionError> {
        let changed = self.audit.number();
        self.touched.iter().try_for_each(|line| lines::refresh(self.connection, *line, changed))
    }

    /// Adds a run; `wanted` is its id if that is free.
    pub(super) fn submit(
        &mut self,
        one: &PreparedSubmission,
        wanted: Option<&str>,
    ) -> Result<SubmissionReceipt, CollectionError> {
        if let Some(receipt) = self.receipt_of(one, "")? {
            return Ok(receipt);
        }
        let id = match wanted.filter(|id| !id.is_empty() && facts::slug(id) == *id) {
            Some(id) if self.present(id)?.is_none() => id.to_owned(),
            _ if self.present(&one.id)?.is_none() => one.id.clone(),
            // Somebody else withdrew a run with this content.
            _ => one.id_of_sender(),
        };
        let (line, slug) = self.line(one)?;
        let number = self.next_run;
        self.next_run += 1;
        let (facts, values) = one.facts();
        let sql = format!(
            "INSERT INTO runs (number, id, line, status, revision, received, sender, {}) VALUES ({})",
            facts.join(", "),
            columns::places(1, 7 + facts.len())
        );
        let mut row = vec![
            SqlValue::from(number),
            SqlValue::from(id.as_str()),
            SqlValue::from(line),
            SqlValue::from(one.status.name()),
            SqlValue::from(1u32),
            SqlValue::from(one.received.as_str()),
            SqlValue::from(one.sender.as_deref()),
        ];
        row.extend(values);
        self.connection.execute(&sql, &row).changing()?;
        copies::mark(self.connection, number, &one.document.run)?;
        self.keep_revision(number, 1, one)?;
        if let Some(secret) = &one.edit_token {
            tokens::keep_edit(self.connection, secret, &id, &one.received)?;
        }
        let what = if one.status == SubmissionStatus::Accepted {
            "submitted"
        } else {
            "submitted to quarantine"
        };
        let event =
            AuditEvent { at: &one.received, who: &one.who, what, run: Some(&id), detail: &one.why };
        self.audit.add(self.connection, &event)?;
        self.touched.insert(line);
        Ok(SubmissionReceipt { id, slug, revision: 1, status: one.status, is_new: true })
    }

    pub(super) fn replace(
        &mut self,
        id: &str,
        one: &PreparedSubmission,
    ) -> Result<SubmissionReceipt, CollectionError> {
        let old = self.changeable(id)?;
        if old.content == one.content {
            return Ok(SubmissionReceipt {
                id: id.to_owned(),
                slug: old.slug,
                revision: old.revision,
                status: old.status,
                is_new: false,
            });
        }
        // An older revision of the same run may come back.
        if let Some(other) = self.receipt_of(one, id)? {
            return Err(CollectionError::AlreadyThere { id: other.id });
        }
        let (line, slug) = self.line(one)?;
        let status = if old.status == SubmissionStatus::Accepted {
            one.status
        } else {
            SubmissionStatus::Quarantined
        };
        let revision = old.revision + 1;
        let (facts, values) = one.facts();
        let sql = format!(
            "UPDATE runs SET line = $1, status = $2, revision = $3, {} WHERE number = $4",
            columns::assignments(&facts, 5)
        );
        let mut row = vec![
            SqlValue::from(line),
            SqlValue::from(status.name()),
            SqlValue::from(revision),
            SqlValue::from(old.number),
        ];
        row.extend(values);
        self.connection.execute(&sql, &row).changing()?;
        copies::mark(self.connection, old.number, &one.document.run)?;
        self.keep_revision(old.number, revision, one)?;
        let detail = format!("revision {revision}: {}", one.why);
        let event = AuditEvent {
            at: &one.received,
            who: &one.who,
            what: "replaced",
            run: Some(id),
            detail: &detail,
        };
        self.audit.add(self.connection, &event)?;
        self.touched.extend([old.line, line]);
        Ok(SubmissionReceipt { id: id.to_owned(), slug, revision, status, is_new: true })
    }

    /// A run that may be judged, and its status; an error if it was withdrawn.
    pub fn status_of(
        &mut self,
        id: &str,
    ) -> Result<(SubmissionReceipt, SubmissionStatus), CollectionError> {
        let Present { slug, revision, status, .. } = self.changeable(id)?;
        let receipt =
            SubmissionReceipt { id: id.to_owned(), slug, revision, status, is_new: false };
        Ok((receipt, status))
    }

    pub fn judge(
        &mut self,
        id: &str,
        status: SubmissionStatus,
        event: &AuditEvent,
    ) -> Result<SubmissionReceipt, CollectionError> {
        let old = self.changeable(id)?;
        let receipt = SubmissionReceipt {
            id: id.to_owned(),
            slug: old.slug,
            revision: old.revision,
            status,
            is_new: old.status != status,
        };
        if receipt.is_new {
            let values = [SqlValue::from(status.name()), SqlValue::from(old.number)];
            self.connection
                .execute("UPDATE runs SET status = $1 WHERE number = $2", &values)
                .changing()?;
            self.audit.add(self.connection, event)?;
            self.touched.insert(old.line);
        }
        Ok(receipt)
    }

    fn keep_revision(
        &mut self,
        run: u64,
        revision: u32,
        one: &PreparedSubmission,
    ) -> Result<(), CollectionError> {
        let sql = "INSERT INTO revisions (run, revision, content, received, who, why, body) VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let values = [
            SqlValue::from(run),
            SqlValue::from(revision),
            SqlValue::from(one.content.as_str()),
            SqlValue::from(one.received.as_str()),
            SqlValue::from(one.who.as_str()),
            SqlValue::from(one.why.as_str()),
            SqlValue::from(one.body.clone()),
        ];
        self.connection.execute(sql, &values).changing()?;
        Ok(())
    }

    /// Receipt of the run that has this content, or had it in any revision if the same sender sent
    /// it. A run that another sender withdrew or replaced does not count: otherwise someone who
    /// copied a run and withdrew it would keep its owner out. All senders without a token count as
    /// one. The run with the id `except` does not count.
    pub(super) fn receipt_of(
        &mut self,
        one: &PreparedSubmission,
        except: &str,
    ) -> Result<Option<SubmissionReceipt>, CollectionError> {
        let sql = "SELECT r.id, l.slug, r.revision, r.status FROM revisions v JOIN runs r ON r.number = v.run \
                   JOIN lines l ON l.number = r.line WHERE v.content = $1 \
                   AND (r.status <> 'withdrawn' AND v.revision = r.revision OR coalesce(r.sender, '') = $2) \
                   AND r.id <> $3 ORDER BY r.number LIMIT 1";
        let values = [
            SqlValue::from(one.content.as_str()),
            SqlValue::from(one.sender.as_deref().unwrap_or_default()),
            SqlValue::from(except),
        ];
        let found = self.connection.query(sql, &values).reading()?.into_iter().next();
        found
            .map(|mut row| {
                Ok(SubmissionReceipt {
                    id: row.text()?,
                    slug: row.text()?,
                    revision: row.number()? as u32,
                    status: status_named(&row.text()?)?,
                    is_new: false,
                })
            })
            .transpose()
    }

    pub(super) fn present(&mut self, id: &str) -> Result<Option<Present>, CollectionError> {
        let sql = "SELECT r.number, r.line, r.status, r.revision, v.content, l.slug FROM runs r \
                   JOIN revisions v ON v.run = r.number AND v.revision = r.revision JOIN lines l ON l.number = r.line WHERE r.id = $1";
        let found = self.connection.query(sql, &[SqlValue::from(id)]).reading()?.into_iter().next();
        found
            .map(|mut row| {
                Ok(Present {
                    number: row.number()?,
                    line: row.number()?,
                    status: status_named(&row.text()?)?,
                    revision: row.number()? as u32,
                    content: row.text()?,
                    slug: row.text()?,
                })
            })
            .transpose()
    }

    pub(super) fn changeable(&mut self, id: &str) -> Result<Present, CollectionError> {
        match self.present(id)? {
            None => Err(CollectionError::NoSuchRun { id: id.to_owned() }),
            Some(present) if present.status == SubmissionStatus::Withdrawn => {
                Err(CollectionError::Withdrawn { id: id.to_owned() })
            }
            Some(present) => Ok(present),
        }
    }
}

fn next(connection: &mut dyn Connection, table: &str) -> Result<u64, CollectionError> {
    let rows = connection
        .query(&format!("SELECT coalesce(max(number), 0) + 1 FROM {table}"), &[])
        .reading()?;
    rows.into_iter().next().map_or(Ok(1), |mut row| row.number())
}
