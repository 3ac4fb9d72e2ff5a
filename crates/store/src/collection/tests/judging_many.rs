//! Judgement of many runs at once, its reversal, and the lists from which they are chosen.

use record::collection::SubmissionStatus::{self, Accepted, Quarantined, Rejected, Withdrawn};

use super::Database;
use super::made::{quarantined, submission};
use crate::collection::{Collection, CollectionError, RunFilter, RunOrder, Submission};

const WHEN: &str = "2026-06-01T00:00:00Z";

fn ids(collection: &Collection, count: u64) -> Vec<String> {
    let take = |number: u64| {
        let sent = quarantined(submission(number, "SD32G", None, number as f64));
        collection.submit(sent).unwrap().id
    };
    (1..=count).map(take).collect()
}

fn statuses(collection: &Collection, ids: &[String]) -> Vec<SubmissionStatus> {
    ids.iter().map(|id| collection.entry(id).unwrap().unwrap().status).collect()
}

pub fn many_are_judged_and_put_back(database: &Database) {
    let collection = database.open();
    let ids = ids(&collection, 4);
    collection.judge(&ids[0], Accepted, "Ada", "fine", WHEN).unwrap();
    collection.withdraw(&ids[3], "me", "my mistake", WHEN).unwrap();
    let before = collection.audit(0, 100).unwrap().len() as u64;
    let judged = collection.judge_many(&ids, Rejected, "Ada", "spam", WHEN).unwrap();
    assert_eq!(
        (judged.event, judged.runs.len(), &judged.left[..]),
        (Some(before + 1), 3, &ids[3..])
    );
    assert_eq!(statuses(&collection, &ids), [Rejected, Rejected, Rejected, Withdrawn]);
    assert_eq!(collection.all_lines().unwrap(), [], "the line follows");
    let audit = collection.audit(before, 100).unwrap();
    let entries: Vec<(&str, &str)> =
        audit.iter().map(|line| (line.what.as_str(), line.detail.as_str())).collect();
    assert_eq!(entries[0], ("judged many", "3 runs rejected: spam"));
    assert_eq!(
        entries[1],
        ("rejected", format!("event {}, was accepted: spam", before + 1).as_str())
    );
    // One is judged once more by itself, one is withdrawn: both stay so.
    collection.judge(&ids[1], Accepted, "Bob", "it is sound", WHEN).unwrap();
    collection.withdraw(&ids[2], "me", "", WHEN).unwrap();
    let event = judged.event.unwrap();
    let undone = collection.undo_judgement(event, "Ada", "my mistake", WHEN).unwrap();
    assert_eq!((undone.runs.len(), undone.left.len()), (1, 2));
    assert_eq!(statuses(&collection, &ids), [Accepted, Accepted, Withdrawn, Withdrawn]);
    assert_eq!(collection.all_lines().unwrap()[0].runs, 2);
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
    let again = collection.undo_judgement(event, "Ada", "", WHEN);
    assert!(matches!(again, Err(CollectionError::NotLastEvent { last: None, .. })), "{again:?}");
}

pub fn events_are_undone_from_the_last_to_the_first(database: &Database) {
    let collection = database.open();
    let ids = ids(&collection, 3);
    let judge =
        |ids: &[String], status| collection.judge_many(ids, status, "Ada", "", WHEN).unwrap().event;
    let first = judge(&ids, Accepted).unwrap();
    let second = judge(&ids[1..], Rejected).unwrap();
    assert_eq!(judge(&ids[..1], Accepted), None, "nothing changed: there is no event");
    assert_eq!(collection.last_judgement().unwrap(), Some(second));
    let refused = collection.undo_judgement(first, "Ada", "", WHEN).unwrap_err().to_string();
    assert_eq!(
        refused,
        format!("event {first} is not the last judgement of many runs; that is {second}")
    );
    collection.undo_judgement(second, "Ada", "", WHEN).unwrap();
    assert_eq!(statuses(&collection, &ids), [Accepted; 3]);
    collection.undo_judgement(first, "Ada", "", WHEN).unwrap();
    assert_eq!(statuses(&collection, &ids), [Quarantined; 3]);
    assert_eq!(collection.last_judgement().unwrap(), None);
}

pub fn many_are_judged_all_or_none(database: &Database) {
    let collection = database.open();
    let mut ids = ids(&collection, 2);
    ids.push("nobody".to_owned());
    let before = collection.audit(0, 100).unwrap();
    let refused = collection.judge_many(&ids, Accepted, "Ada", "", WHEN);
    assert!(matches!(refused, Err(CollectionError::NoSuchRun { .. })), "{refused:?}");
    assert_eq!(statuses(&collection, &ids[..2]), [Quarantined; 2]);
    assert_eq!(collection.audit(0, 100).unwrap(), before);
    assert!(collection.judge_many(&ids[..2], Withdrawn, "Ada", "", WHEN).is_err());
    let twice = [ids[0].clone(), ids[0].clone()];
    assert_eq!(collection.judge_many(&twice, Accepted, "Ada", "", WHEN).unwrap().runs.len(), 1);
}

pub fn runs_are_listed_by_what_is_looked_for(database: &Database) {
    let collection = database.open();
    let send = |number: u64, who: &str, value: f64, why: &str| {
        let sent = submission(number, "SD32G", None, value);
        collection.submit(Submission { who: who.into(), why: why.into(), ..sent }).unwrap().id
    };
    let usual = send(1, "lab", 10.0, "");
    let far = send(2, "anonymous", 1000.0, "");
    let near = send(3, "lab", 11.0, "");
    let strange = send(4, "anonymous", 12.0, "too fast; too large");
    let waits = collection.submit(quarantined(submission(5, "SD64G", None, 1.0))).unwrap().id;
    let list = |order: RunOrder, sender: Option<&str>, status| {
        let sender = sender.map(str::to_owned);
        let filter = RunFilter { status, sender, order, count: 10 };
        let runs = collection.list_runs(&filter).unwrap();
        runs.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    assert_eq!(list(RunOrder::Oldest, None, Accepted), [&*usual, &far, &near, &strange]);
    assert_eq!(list(RunOrder::Newest, None, Accepted), [&*strange, &near, &far, &usual]);
    // The median of the line is 11.5.
    assert_eq!(list(RunOrder::Suspicion, None, Accepted), [&*strange, &far, &usual, &near]);
    assert_eq!(list(RunOrder::Sender, None, Accepted), [&*strange, &far, &near, &usual]);
    assert_eq!(list(RunOrder::Newest, Some("lab"), Accepted), [&*near, &usual]);
    assert_eq!(list(RunOrder::Newest, Some("nobody"), Accepted), Vec::<String>::new());
    assert_eq!(list(RunOrder::Oldest, None, Quarantined), [waits]);
    let filter = RunFilter { order: RunOrder::Suspicion, count: 1, ..RunFilter::default() };
    let first = collection.list_runs(&filter).unwrap().remove(0);
    assert_eq!(first.reasons, ["too fast", "too large"]);
    assert_eq!((first.who.as_str(), first.slug.as_str()), ("anonymous", "sandisk-sd32g-32-gb"));
}

pub fn bytes_are_agreed_to_before_they_are_kept(database: &Database) {
    let collection = database.open();
    let who = ["anonymous"];
    let stored = |since: &str| collection.stored_bytes(since, &who).unwrap();
    let mut asked = Vec::new();
    let sent = submission(1, "SD32G", None, 1.0);
    let mut refuse = |bytes: u64| {
        asked.push(bytes);
        false
    };
    assert_eq!(collection.submit_if(sent.clone(), &mut refuse).unwrap(), None);
    assert_eq!((collection.counts().unwrap().accepted, stored("2000")), (0, 0));
    let receipt = collection.submit_if(sent.clone(), &mut |_| true).unwrap().unwrap();
    assert_eq!(stored("2026-05-02T12:00:00Z"), asked[0]);
    assert_eq!(stored("2026-05-02T12:00:01Z"), 0, "it came in before");
    let again = collection.submit_if(sent.clone(), &mut |_| false).unwrap().unwrap();
    assert!(!again.is_new, "what is there already takes nothing");
    let replace = |sent: Submission, may: bool| {
        collection.replace_if(&receipt.id, sent, &mut |_| may).unwrap()
    };
    assert_eq!(replace(submission(2, "SD32G", None, 2.0), false), None);
    assert!(!replace(sent, false).unwrap().is_new);
    assert_eq!(replace(submission(2, "SD32G", None, 2.0), true).unwrap().revision, 2);
    let other = Submission { who: "lab".into(), ..submission(3, "SD32G", None, 3.0) };
    collection.submit(other).unwrap();
    assert!(stored("2000") > asked[0] && stored("2000") < 3 * asked[0], "of these senders only");
}
