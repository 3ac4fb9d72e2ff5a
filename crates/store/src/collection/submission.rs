//! A run on its way into a collection, and what is computed from it without the database.

use jiff::civil::Date;
use record::Published;
use record::collection::{
    CollectionRun, HeadlineFigure, Model, Origin, RunHeadline, SubmissionStatus,
};
use record::text::hex;
use sha2::Digest as _;

use super::connection::SqlValue;
use super::document::{PackedRun, RevisionDocument, id_of};
use super::facts::{self, Facet};
use super::{CollectionError, columns};

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

/// A submission with everything that can be computed without the database.
pub(super) struct PreparedSubmission {
    pub(super) status: SubmissionStatus,
    pub(super) received: String,
    pub(super) who: String,
    pub(super) sender: Option<String>,
    pub(super) why: String,
    pub(super) edit_token: Option<String>,
    pub(super) document: RevisionDocument,
    pub(super) content: String,
    pub(super) id: String,
    pub(super) body: Vec<u8>,
}

impl PreparedSubmission {
    pub(super) fn of(submission: Submission) -> Result<PreparedSubmission, CollectionError> {
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
        Ok(PreparedSubmission {
            status,
            received,
            who,
            sender,
            why,
            edit_token,
            document,
            content,
            id,
            body,
        })
    }

    pub(super) fn of_entry(entry: &CollectionRun) -> Result<PreparedSubmission, CollectionError> {
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
        PreparedSubmission::of(submission)
    }

    /// Id of a run if the id of its content is taken.
    pub(super) fn id_of_sender(&self) -> String {
        let sender = self.sender.as_deref().unwrap_or_default();
        let text = format!("{} {sender}", self.content);
        id_of(&sha2::Sha256::digest(text.as_bytes()).into())
    }

    /// Columns of `runs` that are filled from the run, with their values.
    pub(super) fn facts(&self) -> (Vec<&'static str>, Vec<SqlValue>) {
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
