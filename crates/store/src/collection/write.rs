//! All changes of a collection. One transaction each; it also writes the change, its author and its
//! reason into the audit.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use record::Published;
use record::collection::{
    CollectionRun, HeadlineFigure, Model, Origin, RunHeadline, SubmissionStatus,
};

use super::audit::{self, AuditEvent};
use super::connection::{Connection, SqlValue};
use super::document::{PackedRun, RevisionDocument, id_of};
use super::error::ErrorContext;
use super::facts::{self, Facet};
use super::{Collection, CollectionError, columns, copies, lines, tokens};
use record::text::hex;
use sha2::Digest as _;

/// A run on its way into a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The run, reduced to what may be published.
    pub run: Published,
    /// Headline of the run, as `findings::headline` draws it.
    pub headline: RunHeadline,
    /// Origin of the run.
    pub origin: Origin,
    /// `Accepted`, or `Quarantined` if it is doubtful.
    pub status: SubmissionStatus,
    /// Time at which it was received: RFC 3339 in UTC.
    pub received: String,
    /// Sender for the audit: "anonymous", "token of the lab".
    pub who: String,
    /// Sender whose vote it is among the runs of its model: a forge account, a token, or all
    /// anonymous senders together. `None` if senders are not distinguished, as among runs of one's
    /// own machine.
    pub sender: Option<String>,
    /// Reason for which it is quarantined or replaced.
    pub why: String,
    /// Secret that allows to replace and withdraw the run; only its hash is stored.
    pub edit_token: Option<String>,
    /// Model of the medium, if the sender knows it better than the run says.
    pub model: Option<Model>,
    /// Name of the whole run, if some of its cells are kept elsewhere; else its content names it.
    pub id: Option<String>,
}

impl Submission {
    /// An accepted submission by no particular sender.
    pub fn new(
        run: Published,
        headline: RunHeadline,
        origin: Origin,
        received: impl Into<String>,
    ) -> Submission {
        Submission {
            run,
            headline,
            origin,
            status: SubmissionStatus::Accepted,
            received: received.into(),
            who: "anonymous".to_owned(),
            sender: None,
            why: String::new(),
            edit_token: None,
            model: None,
            id: None,
        }
    }
}

/// State of a run after a submission or change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionReceipt {
    /// Name of the run in the collection.
    pub id: String,
    /// Address of its line.
    pub slug: String,
    /// Number of its latest revision, from 1.
    pub revision: u32,
    /// Status after the change.
    pub status: SubmissionStatus,
    /// True if the run was added or changed. The same run once more changes nothing.
    pub is_new: bool,
}

impl Collection {
    /// Adds a run. It is durable when this returns. A run that the collection already has, in any
    /// revision and of any status, is not added again: the receipt is that of the existing run.
    ///
    /// # Errors
    /// If it cannot be stored, or the database fails; then nothing of it is there.
    pub fn submit(&self, submission: Submission) -> Result<SubmissionReceipt, CollectionError> {
        let mut receipts = self.submit_all(vec![submission])?;
        receipts.pop().ok_or_else(|| CollectionError::damaged("a submission without a receipt"))
    }

    /// Adds several runs, all of them or none.
    ///
    /// # Errors
    /// As of [`Collection::submit`].
    pub fn submit_all(
        &self,
        submissions: Vec<Submission>,
    ) -> Result<Vec<SubmissionReceipt>, CollectionError> {
        // Slow work is done before the transaction, for which other writers wait.
        let prepared = submissions.into_iter().map(Prepared::of).collect::<Result<Vec<_>, _>>()?;
        self.pool.write(|connection| {
            let mut writer = Writer::new(connection)?;
            let receipts = prepared
                .iter()
                .map(|one| writer.submit(one, None))
                .collect::<Result<Vec<_>, _>>()?;
            writer.finish()?;
            Ok(receipts)
        })
    }

    /// Adds a run if `may` agrees to its size in the database, in bytes; `None` if it does not.
    /// `may` is not called for a run that exists already.
    ///
    /// # Errors
    /// As of [`Collection::submit`].
    pub fn submit_if(
        &self,
        submission: Submission,
        may: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<SubmissionReceipt>, CollectionError> {
        let prepared = Prepared::of(submission)?;
        self.pool.write(|connection| {
            let mut writer = Writer::new(connection)?;
            let is_known = writer.receipt_of(&prepared, "")?.is_some();
            if !is_known && !may(prepared.body.len() as u64) {
                return Ok(None);
            }
            let receipt = writer.submit(&prepared, None)?;
            writer.finish()?;
            Ok(Some(receipt))
        })
    }

    /// Replaces a run as [`Collection::replace`] does, if `may` agrees to the size of the revision
    /// in the database, in bytes; `None` if it does not.
    ///
    /// # Errors
    /// As of [`Collection::replace`].
    pub fn replace_if(
        &self,
        id: &str,
        submission: Submission,
        may: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<SubmissionReceipt>, CollectionError> {
        let prepared = Prepared::of(submission)?;
        self.pool.write(|connection| {
            let mut writer = Writer::new(connection)?;
            let is_same = writer.changeable(id)?.content == prepared.content;
            if !is_same && !may(prepared.body.len() as u64) {
                return Ok(None);
            }
            let receipt = writer.replace(id, &prepared)?;
            writer.finish()?;
            Ok(Some(receipt))
        })
    }

    /// Adds a new revision of a run, which replaces the old one; the old ones stay readable. A
    /// quarantined run stays in quarantine.
    ///
    /// # Errors
    /// If there is no such run, it was withdrawn, or another run has this content.
    pub fn replace(
        &self,
        id: &str,
        submission: Submission,
    ) -> Result<SubmissionReceipt, CollectionError> {
        let prepared = Prepared::of(submission)?;
        self.pool.write(|connection| {
            let mut writer = Writer::new(connection)?;
            let receipt = writer.replace(id, &prepared)?;
            writer.finish()?;
            Ok(receipt)
        })
    }

    /// Changes the status of a run. `when` is RFC 3339 in UTC.
    ///
    /// # Errors
    /// If there is no such run, or it was withdrawn: that is final.
    pub fn judge(
        &self,
        id: &str,
        status: SubmissionStatus,
        who: &str,
        why: &str,
        when: &str,
    ) -> Result<SubmissionReceipt, CollectionError> {
        self.pool.write(|connection| {
            let mut writer = Writer::new(connection)?;
            let receipt = writer.judge(
                id,
                status,
                &AuditEvent { at: when, who, what: status.name(), run: Some(id), detail: why },
            )?;
            writer.finish()?;
            Ok(receipt)
        })
    }

    /// Withdraws a run for good. It stays readable by its id, with its status.
    ///
    /// # Errors
    /// As of [`Collection::judge`].
    pub fn withdraw(
        &self,
        id: &str,
        who: &str,
        why: &str,
        when: &str,
    ) -> Result<SubmissionReceipt, CollectionError> {
        self.judge(id, SubmissionStatus::Withdrawn, who, why, when)
    }

    /// Updates the built-in reference collection: adds new runs, and withdraws those that it no
    /// longer has.
    ///
    /// # Errors
    /// If the database fails.
    pub fn keep_reference(
        &self,
        entries: &[CollectionRun],
        when: &str,
    ) -> Result<(), CollectionError> {
        if let Some(entry) = entries.iter().find(|entry| facts::slug(&entry.id) != entry.id) {
            return Err(CollectionError::Unrepresentable {
                why: format!("'{}' is no id", entry.id),
            });
        }
        let prepared =
            entries.iter().map(|entry| Ok((entry.id.as_str(), Prepared::of_entry(entry)?)));
        let prepared = prepared.collect::<Result<BTreeMap<_, _>, CollectionError>>()?;
        let present = "SELECT r.id FROM runs r JOIN lines l ON l.number = r.line WHERE l.origin = 'reference' AND r.status = 'accepted'";
        self.pool.write(|connection| {
            let rows = connection.query(present, &[]).reading()?;
            let ids = rows.into_iter().map(|mut row| row.text()).collect::<Result<Vec<_>, _>>()?;
            let mut writer = Writer::new(connection)?;
            for id in ids.iter().filter(|id| !prepared.contains_key(id.as_str())) {
                let event = AuditEvent {
                    at: when,
                    who: "flashmark",
                    what: "withdrawn",
                    run: Some(id),
                    detail: "no longer in the reference",
                };
                writer.judge(id, SubmissionStatus::Withdrawn, &event)?;
            }
            for (id, one) in &prepared {
                match writer.present(id)? {
                    Some(old) if old.status == SubmissionStatus::Accepted => {
                        writer.replace(id, one)?
                    }
                    _ => writer.submit(one, Some(id))?,
                };
            }
            writer.finish()
        })
    }
}

/// A submission with everything that can be computed without the database.
struct Prepared {
    status: SubmissionStatus,
    received: String,
    who: String,
    sender: Option<String>,
    why: String,
    edit_token: Option<String>,
    document: RevisionDocument,
    content: String,
    id: String,
    body: Vec<u8>,
}

impl Prepared {
    fn of(submission: Submission) -> Result<Prepared, CollectionError> {
        check(&submission)?;
        let Submission {
            run,
            headline,
            origin,
            status,
            received,
            who,
            sender,
            why,
            edit_token,
            model,
            id,
        } = submission;
        let model = model.unwrap_or_else(|| collection::model_of(&run));
        let document = RevisionDocument { model, origin, headline, run };
        let PackedRun { content, body } = document.pack()?;
        let (content, id) = match id {
            Some(id) => (id.clone(), id),
            None => (hex(&content), id_of(&content)),
        };
        Ok(Prepared { status, received, who, sender, why, edit_token, document, content, id, body })
    }

    fn of_entry(entry: &CollectionRun) -> Result<Prepared, CollectionError> {
        let submission = Submission {
            who: "flashmark".to_owned(),
            model: Some(entry.model.clone()),
            ..Submission::new(
                entry.run.clone(),
                entry.headline.clone(),
                entry.origin,
                entry.received.clone(),
            )
        };
        Prepared::of(submission)
    }

    /// Id of a run if the id of its content is taken.
    fn id_of_sender(&self) -> String {
        let sender = self.sender.as_deref().unwrap_or_default();
        let text = format!("{} {sender}", self.content);
        id_of(&sha2::Sha256::digest(text.as_bytes()).into())
    }

    /// Columns of `runs` that are filled from the run, with their values.
    fn facts(&self) -> (Vec<&'static str>, Vec<SqlValue>) {
        let (run, headline) = (&self.document.run, &self.document.headline);
        let mut columns = vec!["name", "host", "medium_key", "classes", "verdict", "claims"];
        let mut values = vec![
            SqlValue::from(collection::name_of(run).as_str()),
            SqlValue::from(facts::host_key(run).as_deref()),
            SqlValue::from(run.medium_key.as_deref()),
            SqlValue::from(facts::classes(run).as_str()),
            SqlValue::from(headline.verdict.as_deref()),
            SqlValue::from(headline.claims().as_str()),
        ];
        for facet in Facet::ALL {
            columns.push(facet.name());
            values.push(SqlValue::from(facet.of(run).as_deref()));
        }
        for figure in HeadlineFigure::ALL {
            columns.push(columns::figure(figure));
            values.push(SqlValue::from(headline.figures.get(&figure).copied()));
        }
        (columns, values)
    }
}

/// Refuses figures that are not finite, other statuses than the first two, and times that are
/// neither RFC 3339 nor a date.
fn check(submission: &Submission) -> Result<(), CollectionError> {
    let refuse = |why: String| Err(CollectionError::Unrepresentable { why });
    if let Some((figure, value)) =
        submission.headline.figures.iter().find(|(_, value)| !value.is_finite())
    {
        return refuse(format!("its {} is {value}", figure.name()));
    }
    if !matches!(submission.status, SubmissionStatus::Accepted | SubmissionStatus::Quarantined) {
        return refuse(format!(
            "a submission is accepted or quarantined, not {}",
            submission.status.name()
        ));
    }
    let received = &submission.received;
    let is_time = received.parse::<jiff::Timestamp>().is_ok() || received.parse::<Date>().is_ok();
    if !is_time || received.len() > 40 {
        return refuse(format!("'{}' is no time in RFC 3339", received.escape_debug()));
    }
    Ok(())
}

/// A run as it is in the database.
struct Present {
    number: u64,
    line: u64,
    status: SubmissionStatus,
    revision: u32,
    content: String,
    slug: String,
}

/// Key of the line to which a run belongs.
type LineKey = (Model, Origin, bool);

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
    fn submit(
        &mut self,
        one: &Prepared,
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

    fn replace(&mut self, id: &str, one: &Prepared) -> Result<SubmissionReceipt, CollectionError> {
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
        one: &Prepared,
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
    fn receipt_of(
        &mut self,
        one: &Prepared,
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

    fn present(&mut self, id: &str) -> Result<Option<Present>, CollectionError> {
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

    fn changeable(&mut self, id: &str) -> Result<Present, CollectionError> {
        match self.present(id)? {
            None => Err(CollectionError::NoSuchRun { id: id.to_owned() }),
            Some(present) if present.status == SubmissionStatus::Withdrawn => {
                Err(CollectionError::Withdrawn { id: id.to_owned() })
            }
            Some(present) => Ok(present),
        }
    }

    /// Line to which a run belongs: its number and its name in addresses.
    fn line(&mut self, one: &Prepared) -> Result<(u64, String), CollectionError> {
        let key = (one.document.model.clone(), one.document.origin, one.document.headline.is_fake);
        if let Some(known) = self.known_lines.get(&key) {
            return Ok(known.clone());
        }
        let found = match self.find_line(&key)? {
            Some(found) => found,
            None => self.add_line(&key, &collection::name_of(&one.document.run))?,
        };
        self.known_lines.insert(key, found.clone());
        Ok(found)
    }

    fn find_line(&mut self, key: &LineKey) -> Result<Option<(u64, String)>, CollectionError> {
        let sql = "SELECT number, slug FROM lines \
                   WHERE kind = $1 AND vendor = $2 AND model = $3 AND capacity_gb = $4 AND origin = $5 AND is_fake = $6";
        let found =
            self.connection.query(sql, &lines::key_values(key)).reading()?.into_iter().next();
        found.map(|mut row| Ok((row.number()?, row.text()?))).transpose()
    }

    fn add_line(&mut self, key: &LineKey, name: &str) -> Result<(u64, String), CollectionError> {
        let slug = self.free_slug(key, name)?;
        let number = self.next_line;
        self.next_line += 1;
        let sql = "INSERT INTO lines (number, slug, kind, vendor, model, capacity_gb, origin, is_fake, name, name_folded, classes, runs, \
                   fakes, latest) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', 0, 0, '')";
        let mut values = vec![SqlValue::from(number), SqlValue::from(slug.as_str())];
        values.extend(lines::key_values(key));
        values.extend([SqlValue::from(name), SqlValue::from(name.to_lowercase().as_str())]);
        self.connection.execute(sql, &values).changing()?;
        let details = "INSERT INTO line_details (line, figures) VALUES ($1, '{}')";
        self.connection.execute(details, &[SqlValue::from(number)]).changing()?;
        Ok((number, slug))
    }

    /// Makes a free name for an address: "sandisk-sd32g-32-gb". Other origins than measurements,
    /// and fakes, get a suffix; a name that only ends so, or is taken, gets a hash of the model.
    fn free_slug(
        &mut self,
        (model, origin, is_fake): &LineKey,
        name: &str,
    ) -> Result<String, CollectionError> {
        let name = facts::slug(name);
        let suffix = if *origin == Origin::Measured { "" } else { origin.name() };
        let fake = if *is_fake { "fake" } else { "" };
        let plain = facts::slug(&format!("{name} {suffix} {fake}"));
        let of_others = Origin::ALL.map(Origin::name).into_iter().chain(["fake"]);
        let is_called_so =
            name.rsplit('-').next().is_some_and(|last| of_others.clone().any(|it| it == last));
        // Somebody may have taken the name of any hash before.
        for attempt in 0.. {
            let slug = if attempt == 0 && !is_called_so {
                plain.clone()
            } else {
                // The first hash is that of earlier versions: addresses must not change.
                let text = match attempt {
                    0 | 1 => format!("{model:?}"),
                    _ => format!("{attempt} {model:?} {origin:?} {is_fake}"),
                };
                let hash = hex(&sha2::Sha256::digest(text.as_bytes()));
                format!("{plain}-{}", &hash[..8])
            };
            let sql = "SELECT number FROM lines WHERE slug = $1";
            if self.connection.query(sql, &[SqlValue::from(slug.as_str())]).reading()?.is_empty() {
                return Ok(slug);
            }
        }
        Err(CollectionError::damaged(format!("no address is left for {model:?}")))
    }
}

fn next(connection: &mut dyn Connection, table: &str) -> Result<u64, CollectionError> {
    let rows = connection
        .query(&format!("SELECT coalesce(max(number), 0) + 1 FROM {table}"), &[])
        .reading()?;
    rows.into_iter().next().map_or(Ok(1), |mut row| row.number())
}

pub(super) fn status_named(name: &str) -> Result<SubmissionStatus, CollectionError> {
    SubmissionStatus::named(name)
        .ok_or_else(|| CollectionError::damaged(format!("'{name}' is no status")))
}
