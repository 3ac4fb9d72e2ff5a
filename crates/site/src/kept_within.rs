//! Runs that are kept within the quotas of who sends them (`quota.rs`). Bytes are counted in the
//! transaction that keeps them, so that no two submissions share what is left.

use std::time::Instant;

use store::collection::{Collection, CollectionError, Submission, SubmissionReceipt};

use crate::client::{Client, Who};
use crate::problem::Problem;
use crate::quota::{LATER, OverQuota};
use crate::state::{App, a_day_ago};

/// Those who have no token of their own, as the audit calls them.
const WITHOUT_TOKEN: [&str; 2] = [Who::ANYONE, Who::EDITOR];

impl App {
    /// Takes a run in, within the quotas of who sends it.
    ///
    /// # Errors
    /// Where a quota is used up, or the collection fails.
    pub async fn submit_within(
        &self,
        client: Client,
        who: &Who,
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

    /// Replaces a run, within the quotas of who sends the revision.
    ///
    /// # Errors
    /// As [`App::submit_within`].
    pub async fn replace_within(
        &self,
        client: Client,
        who: &Who,
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

    /// Asks the database how much was kept within a day, unless that is known.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn ask_sum(&self) -> Result<(), Problem> {
        let now = Instant::now();
        if !self.quota().is_known(now) {
            let since = a_day_ago();
            let asked = move |it: &Collection| it.stored_bytes(&since, &WITHOUT_TOKEN);
            self.quota().learn(self.read(asked).await?, now);
        }
        Ok(())
    }

    /// What was kept, or the quota that did not allow it.
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
