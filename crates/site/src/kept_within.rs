//! Storage of runs within the quotas of their senders (`quota.rs`). Bytes are counted in the
//! transaction that stores them, so that two submissions cannot use the same remainder.

use std::time::Instant;

use store::collection::{Collection, CollectionError, Submission, SubmissionReceipt};

use crate::client::{Client, Identity};
use crate::problem::Problem;
use crate::quota::{LATER, OverQuota};
use crate::state::{App, a_day_ago};

/// Names in the audit log of senders without a token of their own.
const WITHOUT_TOKEN: [&str; 2] = [Identity::ANYONE, Identity::EDITOR];

impl App {
    /// Stores a run, within the quotas of its sender.
    ///
    /// # Errors
    /// If a quota is used up, or the collection fails.
    pub async fn submit_within(
        &self,
        client: Client,
        who: &Identity,
        submission: Submission,
    ) -> Result<SubmissionReceipt, Problem> {
        if !WITHOUT_TOKEN.contains(&who.name()) {
            return self.add(move |collection| collection.submit(submission)).await;
        }
        self.ask_sum().await?;
        let app = self.clone();
        let kept = self
            .add(move |collection| app.agreed(client, |may| collection.submit_if(submission, may)))
            .await?;
        kept.map_err(|over| self.refused(over))
    }

    /// Replaces a run, within the quotas of the sender of the revision.
    ///
    /// # Errors
    /// As [`App::submit_within`].
    pub async fn replace_within(
        &self,
        client: Client,
        who: &Identity,
        id: String,
        submission: Submission,
    ) -> Result<SubmissionReceipt, Problem> {
        if !WITHOUT_TOKEN.contains(&who.name()) {
            return self.change(move |collection| collection.replace(&id, submission)).await;
        }
        self.ask_sum().await?;
        let app = self.clone();
        let kept = self
            .change(move |collection| {
                app.agreed(client, |may| collection.replace_if(&id, submission, may))
            })
            .await?;
        kept.map_err(|over| self.refused(over))
    }

    /// Reads from the database how much was stored within a day, unless that is known.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn ask_sum(&self) -> Result<(), Problem> {
        let now = Instant::now();
        if !self.quota().is_known(now) {
            let since = a_day_ago();
            let asked = move |it: &Collection| it.stored_bytes(&since, &WITHOUT_TOKEN);
            self.quota().learn(self.read(asked).await?, now);
        }
        Ok(())
    }

    /// Result of storing: the receipt, or the quota that was exceeded.
    fn agreed(
        &self,
        client: Client,
        keep: impl FnOnce(
            &mut dyn FnMut(u64) -> bool,
        ) -> Result<Option<SubmissionReceipt>, CollectionError>,
    ) -> Result<Result<SubmissionReceipt, OverQuota>, CollectionError> {
        let mut over = OverQuota::All(LATER);
        let kept = keep(&mut |bytes| match self.quota().take(client.0, bytes, Instant::now()) {
            Ok(()) => true,
            Err(refusal) => {
                over = refusal;
                false
            }
        })?;
        Ok(kept.ok_or(over))
    }

    fn refused(&self, over: OverQuota) -> Problem {
        self.metrics().over_quota(over.name());
        self.quota().problem(over)
    }
}
