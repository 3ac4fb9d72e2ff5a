//! All changes of a collection. One transaction each; it also writes the change, its author and its
//! reason into the audit.

use std::collections::BTreeMap;

use record::collection::{CollectionRun, SubmissionStatus};

use super::audit::AuditEvent;
use super::error::ErrorContext;
use super::submission::{PreparedSubmission, Submission, SubmissionReceipt};
use super::writer::Writer;
use super::{Collection, CollectionError, facts};

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
        let prepared =
            submissions.into_iter().map(PreparedSubmission::of).collect::<Result<Vec<_>, _>>()?;
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
        let prepared = PreparedSubmission::of(submission)?;
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
        let prepared = PreparedSubmission::of(submission)?;
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
        let prepared = PreparedSubmission::of(submission)?;
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
        let prepared = entries
            .iter()
            .map(|entry| Ok((entry.id.as_str(), PreparedSubmission::of_entry(entry)?)));
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
