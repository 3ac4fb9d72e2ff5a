//! Judgement of many runs at once, and its reversal. One transaction each: a line of the audit for
//! the whole, whose number identifies it, and one for each run that it changed.

use record::collection::SubmissionStatus;

use super::audit::AuditEvent;
use super::columns::status_named;
use super::connection::{Connection, SqlValue};
use super::error::ErrorContext;
use super::submission::SubmissionReceipt;
use super::writer::Writer;
use super::{Collection, CollectionError};

/// Name in the audit of a judgement of many runs.
const JUDGED: &str = "judged many";
/// Name in the audit of its reversal.
const UNDONE: &str = "undid a judgement of many";

/// Result of judging several runs together, or of undoing that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkJudgement {
    /// Number in the audit, by which a judgement is undone; `None` if no run had to change.
    pub event: Option<u64>,
    /// Runs with their status after it, in the order given; `is_new` if it changed.
    pub runs: Vec<SubmissionReceipt>,
    /// Ids of runs that were left unchanged: withdrawn, or judged otherwise since.
    pub left: Vec<String>,
}

/// Author, reason and time (RFC 3339 in UTC) of a change of many runs.
struct ChangeAuthor<'a> {
    who: &'a str,
    why: &'a str,
    when: &'a str,
}

/// A run that changes its status.
struct StatusChange {
    receipt: SubmissionReceipt,
    was: SubmissionStatus,
}

impl Collection {
    /// Gives many runs one status, all of them or none. Withdrawn runs stay withdrawn. `when` is
    /// RFC 3339 in UTC.
    ///
    /// # Errors
    /// If an id is unknown, or the status is `Withdrawn`; then nothing is changed.
    pub fn judge_many(
        &self,
        ids: &[String],
        status: SubmissionStatus,
        who: &str,
        why: &str,
        when: &str,
    ) -> Result<BulkJudgement, CollectionError> {
        if status == SubmissionStatus::Withdrawn {
            let why = "runs are withdrawn one by one".to_owned();
            return Err(CollectionError::Unrepresentable { why });
        }
        self.pool.write(|connection| {
            let mut writer = Writer::new(connection)?;
            let mut wanted = Vec::new();
            for id in ids.iter().filter(unseen()) {
                wanted.push((id.clone(), status));
            }
            let what = |count: usize| format!("{count} runs {}", status.name());
            let done =
                change(&mut writer, wanted, JUDGED, &what, &ChangeAuthor { who, why, when })?;
            if let Some(event) = done.event {
                for change in &done.changed {
                    remember(&mut writer, event, change)?;
                }
            }
            writer.finish()?;
            Ok(done.into_judgement(Vec::new()))
        })
    }

    /// Undoes the last judgement of many: each run gets the status it had before. Runs that were
    /// withdrawn or judged otherwise since stay unchanged.
    ///
    /// # Errors
    /// If `event` is not the number of the last such judgement.
    pub fn undo_judgement(
        &self,
        event: u64,
        who: &str,
        why: &str,
        when: &str,
    ) -> Result<BulkJudgement, CollectionError> {
        self.pool.write(|connection| {
            let last = last_event(connection)?;
            if last != Some(event) {
                return Err(CollectionError::NotLastEvent { event, last });
            }
            let (mut wanted, mut left) = (Vec::new(), Vec::new());
            for (id, was, is_as_judged) in judged_in(connection, event)? {
                if is_as_judged { wanted.push((id, was)) } else { left.push(id) }
            }
            let mut writer = Writer::new(connection)?;
            let what = |count: usize| format!("event {event}, {count} runs");
            let done =
                change(&mut writer, wanted, UNDONE, &what, &ChangeAuthor { who, why, when })?;
            let forget = "DELETE FROM bulk_judgements WHERE event = $1";
            writer.connection().execute(forget, &[SqlValue::from(event)]).changing()?;
            writer.finish()?;
            Ok(done.into_judgement(left))
        })
    }

    /// The number of the last judgement of many that can be undone.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn last_judgement(&self) -> Result<Option<u64>, CollectionError> {
        self.pool.look(last_event)
    }
}

/// Makes a filter that passes each id once.
fn unseen() -> impl FnMut(&&String) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    move |id| seen.insert((*id).clone())
}

/// Result of a change of many runs.
struct BulkResult {
    event: Option<u64>,
    changed: Vec<StatusChange>,
    unchanged: Vec<SubmissionReceipt>,
    withdrawn: Vec<String>,
}

impl BulkResult {
    fn into_judgement(self, left: Vec<String>) -> BulkJudgement {
        let changed = self.changed.into_iter().map(|change| change.receipt);
        BulkJudgement {
            event: self.event,
            runs: changed.chain(self.unchanged).collect(),
            left: left.into_iter().chain(self.withdrawn).collect(),
        }
    }
}

/// Changes statuses: first a line of the audit for the whole, then one for each run.
fn change(
    writer: &mut Writer,
    wanted: Vec<(String, SubmissionStatus)>,
    event_name: &str,
    what: &dyn Fn(usize) -> String,
    by: &ChangeAuthor,
) -> Result<BulkResult, CollectionError> {
    let mut done = BulkResult {
        event: None,
        changed: Vec::new(),
        unchanged: Vec::new(),
        withdrawn: Vec::new(),
    };
    for (id, status) in wanted {
        match writer.status_of(&id) {
            Ok((receipt, was)) if was == status => done.unchanged.push(receipt),
            Ok((receipt, was)) => {
                let receipt = SubmissionReceipt { status, is_new: true, ..receipt };
                done.changed.push(StatusChange { receipt, was });
            }
            Err(CollectionError::Withdrawn { id }) => done.withdrawn.push(id),
            Err(error) => return Err(error),
        }
    }
    if done.changed.is_empty() {
        return Ok(done);
    }
    let detail = joined(&what(done.changed.len()), by.why);
    let head =
        AuditEvent { at: by.when, who: by.who, what: event_name, run: None, detail: &detail };
    let event = writer.note(&head)?;
    for StatusChange { receipt, was } in &done.changed {
        let detail = joined(&format!("event {event}, was {}", was.name()), by.why);
        let (run, what) = (Some(receipt.id.as_str()), receipt.status.name());
        let line = AuditEvent { at: by.when, who: by.who, what, run, detail: &detail };
        writer.judge(&receipt.id, receipt.status, &line)?;
    }
    done.event = Some(event);
    Ok(done)
}

fn joined(what: &str, why: &str) -> String {
    if why.is_empty() { what.to_owned() } else { format!("{what}: {why}") }
}

fn remember(writer: &mut Writer, event: u64, change: &StatusChange) -> Result<(), CollectionError> {
    let sql = "INSERT INTO bulk_judgements (event, run, was, became) \
               VALUES ($1, (SELECT number FROM runs WHERE id = $2), $3, $4)";
    let values = [
        SqlValue::from(event),
        SqlValue::from(change.receipt.id.as_str()),
        SqlValue::from(change.was.name()),
        SqlValue::from(change.receipt.status.name()),
    ];
    writer.connection().execute(sql, &values).changing()?;
    Ok(())
}

fn last_event(connection: &mut dyn Connection) -> Result<Option<u64>, CollectionError> {
    let sql = "SELECT event FROM bulk_judgements ORDER BY event DESC LIMIT 1";
    let found = connection.query(sql, &[]).reading()?.into_iter().next();
    found.map(|mut row| row.number()).transpose()
}

/// Runs of a judgement, each with its status before, and true if it still has the status that
/// the judgement gave it.
fn judged_in(
    connection: &mut dyn Connection,
    event: u64,
) -> Result<Vec<(String, SubmissionStatus, bool)>, CollectionError> {
    let sql = "SELECT r.id, b.was, b.became, r.status FROM bulk_judgements b \
               JOIN runs r ON r.number = b.run WHERE b.event = $1 ORDER BY r.number";
    let rows = connection.query(sql, &[SqlValue::from(event)]).reading()?;
    rows.into_iter()
        .map(|mut row| {
            let (id, was) = (row.text()?, status_named(&row.text()?)?);
            Ok((id, was, row.text()? == row.text()?))
        })
        .collect()
}
