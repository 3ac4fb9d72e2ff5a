//! Tests that hold for every database.

use std::collections::BTreeSet;

use record::collection::{
    CollectionRun, HeadlineFigure, HostSpread, Model, Origin, Query, SubmissionStatus,
};

use super::Database;
use super::made::{fake, headline, quarantined, run, submission};
use crate::collection::{Collection, CollectionError, Counts, Facet, Submission, Token, TokenKind};

fn line_of(collection: &Collection, slug: &str) -> record::collection::CollectionLine {
    collection.line(slug).unwrap().unwrap()
}

/// All accepted runs, in the order in which they came in.
pub fn all_of(collection: &Collection) -> Vec<CollectionRun> {
    let mut all = Vec::new();
    let mut take = |entry| {
        all.push(entry);
        Ok(())
    };
    collection.each_entry(&mut take).unwrap();
    all
}

pub fn a_run_comes_back_as_it_was_sent(database: &Database) {
    let collection = database.open();
    let sent = submission(1, "SD32G", Some("Raspberry Pi 4"), 1.5);
    let receipt = collection.submit(sent.clone()).unwrap();
    assert_eq!(
        (receipt.revision, receipt.status, receipt.is_new),
        (1, SubmissionStatus::Accepted, true)
    );
    assert_eq!(receipt.slug, "sandisk-sd32g-32-gb");
    let expected = CollectionRun {
        id: receipt.id.clone(),
        local_name: None,
        received: sent.received.clone(),
        origin: Origin::Measured,
        status: SubmissionStatus::Accepted,
        revision: 1,
        model: Model::of(&sent.run),
        headline: sent.headline.clone(),
        run: sent.run.clone(),
    };
    // Also for the next program that opens it.
    drop(collection);
    let collection = database.open();
    assert_eq!(collection.entry(&receipt.id).unwrap(), Some(expected.clone()));
    assert_eq!(collection.runs_of(&receipt.slug).unwrap(), vec![expected.clone()]);
    assert_eq!(collection.latest(10).unwrap(), vec![expected.clone()]);
    assert_eq!(all_of(&collection), vec![expected]);
    assert_eq!(collection.counts().unwrap(), Counts { accepted: 1, lines: 1, ..Counts::default() });
    assert_eq!(collection.entry("nobody").unwrap(), None);
    assert_eq!(collection.line("nobody").unwrap(), None);
}

pub fn the_same_run_again_is_the_same_run(database: &Database) {
    let collection = database.open();
    let first = collection
        .submit(Submission { edit_token: Some("mine".into()), ..submission(1, "SD32G", None, 1.5) })
        .unwrap();
    // Sent by someone else, later: this gives no right to change it.
    let replay = Submission {
        edit_token: Some("yours".into()),
        received: "2027-01-01T00:00:00Z".into(),
        ..submission(1, "SD32G", None, 1.5)
    };
    let second = collection.submit(replay).unwrap();
    assert_eq!((second.id == first.id, second.is_new), (true, false));
    assert_eq!(collection.token("yours").unwrap(), None);
    assert_eq!(collection.counts().unwrap().accepted, 1);
    assert_eq!(collection.audit(0, 10).unwrap().len(), 1);
    // In one transaction too.
    let twice = collection
        .submit_all(vec![submission(2, "SD32G", None, 1.0), submission(2, "SD32G", None, 1.0)])
        .unwrap();
    assert_eq!((twice[0].is_new, twice[1].is_new, twice[0].id == twice[1].id), (true, false, true));
}

pub fn what_is_refused_leaves_nothing(database: &Database) {
    let collection = database.open();
    let mut none = submission(1, "SD32G", None, 1.5);
    none.headline.figures.insert(HeadlineFigure::RandomRead4k, f64::NAN);
    let mut hidden = submission(2, "SD32G", None, 1.5);
    hidden.run.cells[0].metrics.iops =
        Some(record::Estimate { value: f64::INFINITY, ci95: None, n: 1 });
    let timeless = Submission { received: "yesterday".into(), ..submission(3, "SD32G", None, 1.5) };
    let half = Submission { received: "2026-xxxxx".into(), ..submission(5, "SD32G", None, 1.5) };
    let rejected =
        Submission { status: SubmissionStatus::Rejected, ..submission(4, "SD32G", None, 1.5) };
    for bad in [none, hidden, timeless, half, rejected] {
        let all = vec![submission(9, "SD32G", None, 1.5), bad];
        assert!(matches!(collection.submit_all(all), Err(CollectionError::Unrepresentable { .. })));
    }
    assert_eq!(collection.counts().unwrap(), Counts::default());
    assert!(collection.audit(0, 10).unwrap().is_empty());
}

pub fn a_model_is_a_line_and_hosts_count_once(database: &Database) {
    let collection = database.open();
    // Three runs on one kind of host, one on another, one on an unknown one.
    let hosts = [
        (Some("Pi 3"), 10.0),
        (Some("Pi 3"), 12.0),
        (Some("Pi 3"), 14.0),
        (Some("Pi 5"), 100.0),
        (None, 50.0),
    ];
    let mut slug = String::new();
    for (number, (board, value)) in (1..).zip(hosts) {
        slug = collection.submit(submission(number, "SD32G", board, value)).unwrap().slug;
    }
    let line = line_of(&collection, &slug);
    let expected =
        HostSpread { median: 50.0, low: 10.0, high: 100.0, runs: 5, hosts: 3, senders: 0 };
    assert_eq!(line.figures.get(&HeadlineFigure::RandomWrite4k), Some(&expected));
    assert_eq!(
        (line.runs, line.name.as_str(), line.model.capacity_gb),
        (5, "SanDisk SD32G 32 GB", 32)
    );
    assert_eq!(
        (line.interface.as_deref(), line.classes.join(" ")),
        (Some("sd uhs-i"), "C10 A1".to_owned())
    );
    assert_eq!(
        line.verdict.as_deref(),
        Some("Does 50 random writes a second."),
        "that of the latest run"
    );
    assert_eq!(line.latest, "2026-05-06T12:00:00Z");
    assert_eq!(
        collection
            .latest_runs_of(&slug, 2)
            .unwrap()
            .iter()
            .map(|entry| entry.run.seed)
            .collect::<Vec<_>>(),
        [5, 4]
    );
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}

pub fn fakes_are_a_line_of_their_own(database: &Database) {
    let collection = database.open();
    let genuine = collection.submit(submission(1, "SD32G", None, 20.0)).unwrap();
    let counterfeit = collection.submit(fake(submission(2, "SD32G", None, 0.5))).unwrap();
    assert_eq!(counterfeit.slug, "sandisk-sd32g-32-gb-fake");
    let (real, fakes) =
        (line_of(&collection, &genuine.slug), line_of(&collection, &counterfeit.slug));
    assert_eq!((real.runs, real.fakes, real.is_fake), (1, 1, false));
    assert_eq!((fakes.runs, fakes.fakes, fakes.is_fake), (1, 1, true));
    assert_eq!(real.figures[&HeadlineFigure::RandomWrite4k].median, 20.0);
    collection.withdraw(&counterfeit.id, "me", "my mistake", "2026-06-01T00:00:00Z").unwrap();
    assert_eq!(line_of(&collection, &genuine.slug).fakes, 0);
    assert_eq!(collection.line(&counterfeit.slug).unwrap(), None);
    // A line that is made after its fakes knows of them.
    collection.submit(fake(submission(3, "SD64G", None, 0.5))).unwrap();
    let later = collection.submit(submission(4, "SD64G", None, 9.0)).unwrap();
    assert_eq!(line_of(&collection, &later.slug).fakes, 1);
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}

/// Regression: a single sender that came in first set the name of a line, and marked it as a fake
/// and as damaged by repetition.
pub fn a_line_shows_what_most_senders_report(database: &Database) {
    let collection = database.open();
    let of = |number: u64, sender: &str| {
        let sender = Some(sender.to_owned());
        Submission { sender, ..submission(number, "SD32G", Some("Raspberry Pi 4"), 10.0) }
    };
    let mut slug = String::new();
    for (number, sender) in [(11, "ada"), (12, "bea"), (13, "cem")] {
        slug = collection.submit(of(number, sender)).unwrap().slug;
    }
    let before = line_of(&collection, &slug);
    for number in 0..4 {
        let mut lie = of(number, "mallory");
        lie.run.model = Some("sd32G".to_owned());
        lie.run.interface = Some("ata".to_owned());
        lie.headline.verdict = Some("Do not use it.".to_owned());
        lie.headline.faults = vec!["capacity".to_owned()];
        lie.headline.is_fake = number > 1;
        collection.submit(lie).unwrap();
    }
    let after = line_of(&collection, &slug);
    assert_eq!((after.runs, after.fakes), (5, 1), "one sender is one report");
    let facts = |line: &record::collection::CollectionLine| {
        (line.name.clone(), line.interface.clone(), line.verdict.clone())
    };
    assert_eq!(facts(&after), facts(&before));
    assert_eq!(before.name, "SanDisk SD32G 32 GB");
}

pub fn origins_are_never_mixed(database: &Database) {
    let collection = database.open();
    for (number, origin) in (1..).zip(Origin::ALL) {
        collection
            .submit(Submission { origin, ..submission(number, "SD32G", None, number as f64) })
            .unwrap();
    }
    let lines = collection.all_lines().unwrap();
    let medians: Vec<(&str, f64)> = lines
        .iter()
        .map(|line| (line.slug.as_str(), line.figures[&HeadlineFigure::RandomWrite4k].median))
        .collect();
    let slugs = [
        "sandisk-sd32g-32-gb",
        "sandisk-sd32g-32-gb-imported",
        "sandisk-sd32g-32-gb-reference",
        "sandisk-sd32g-32-gb-simulated",
    ];
    assert_eq!(medians, slugs.into_iter().zip([1.0, 2.0, 3.0, 4.0]).collect::<Vec<_>>());
    // Simulated media are shown to those who ask for them.
    assert_eq!(collection.lines(&Query::default()).unwrap().total, 3);
    let asked = Query { origins: vec![Origin::Simulated], ..Query::default() };
    assert_eq!(collection.lines(&asked).unwrap().lines[0].origin, Origin::Simulated);
}

pub fn quarantine_is_not_shown_until_someone_accepts(database: &Database) {
    let collection = database.open();
    let receipt = collection.submit(quarantined(submission(1, "SD32G", None, 9e9))).unwrap();
    assert_eq!(receipt.status, SubmissionStatus::Quarantined);
    assert_eq!(collection.line(&receipt.slug).unwrap(), None);
    assert!(
        collection.latest(10).unwrap().is_empty() && collection.all_lines().unwrap().is_empty()
    );
    assert_eq!(collection.lines(&Query::default()).unwrap().total, 0);
    assert_eq!(collection.quarantined().unwrap()[0].id, receipt.id);
    let judged = collection
        .judge(
            &receipt.id,
            SubmissionStatus::Accepted,
            "moderator",
            "is plausible",
            "2026-06-01T00:00:00Z",
        )
        .unwrap();
    assert!(judged.is_new && collection.quarantined().unwrap().is_empty());
    assert_eq!(line_of(&collection, &receipt.slug).runs, 1);
    // Judged twice by two people: the second changes nothing.
    let again = collection
        .judge(&receipt.id, SubmissionStatus::Accepted, "another", "", "2026-06-02T00:00:00Z")
        .unwrap();
    assert!(!again.is_new);
    collection
        .judge(
            &receipt.id,
            SubmissionStatus::Rejected,
            "moderator",
            "was not",
            "2026-06-03T00:00:00Z",
        )
        .unwrap();
    assert_eq!(collection.line(&receipt.slug).unwrap(), None);
    assert_eq!(collection.entry(&receipt.id).unwrap().unwrap().status, SubmissionStatus::Rejected);
    let error = collection
        .judge("nobody", SubmissionStatus::Accepted, "me", "", "2026-06-03T00:00:00Z")
        .unwrap_err();
    assert!(matches!(error, CollectionError::NoSuchRun { .. }));
}

pub fn a_replacement_keeps_the_name_and_the_old_revision(database: &Database) {
    let collection = database.open();
    let first = collection.submit(submission(1, "SD32G", None, 10.0)).unwrap();
    let better =
        Submission { why: "labelled wrongly".into(), ..submission(2, "SD64G", None, 20.0) };
    let second = collection.replace(&first.id, better.clone()).unwrap();
    assert_eq!((second.id.as_str(), second.revision, second.is_new), (first.id.as_str(), 2, true));
    assert_eq!(collection.line(&first.slug).unwrap(), None, "its only run went to another line");
    assert_eq!(
        line_of(&collection, &second.slug).figures[&HeadlineFigure::RandomWrite4k].median,
        20.0
    );
    let entry = collection.entry(&first.id).unwrap().unwrap();
    assert_eq!((entry.revision, entry.run.seed), (2, 2));
    let history = collection.revisions(&first.id).unwrap();
    assert_eq!(
        history.iter().map(|old| (old.revision, old.why.as_str())).collect::<Vec<_>>(),
        [(1, ""), (2, "labelled wrongly")]
    );
    let old = collection.revision(&first.id, 1).unwrap().unwrap();
    assert_eq!((old.run.seed, old.status, old.revision), (1, SubmissionStatus::Withdrawn, 1));
    let now = collection.revision(&first.id, 2).unwrap().unwrap();
    assert_eq!(
        (&now.received, &entry.received),
        (&better.received, &old.received),
        "a run came in when its first revision did"
    );
    assert!(now.run == entry.run && now.status == SubmissionStatus::Accepted);
    assert_eq!(collection.revision(&first.id, 3).unwrap(), None);
    // The same once more changes nothing; the first again is a third revision.
    assert!(!collection.replace(&first.id, better).unwrap().is_new);
    assert_eq!(
        collection.replace(&first.id, submission(1, "SD32G", None, 10.0)).unwrap().revision,
        3
    );
    // What is another run's stays its own, and what anyone ever sent is known.
    let other = collection.submit(submission(5, "SD32G", None, 1.0)).unwrap();
    let error = collection.replace(&first.id, submission(5, "SD32G", None, 1.0)).unwrap_err();
    assert!(matches!(error, CollectionError::AlreadyThere { id } if id == other.id));
    assert!(!collection.submit(submission(2, "SD64G", None, 20.0)).unwrap().is_new);
    // What waits for a person is not accepted by being replaced.
    let waiting = collection.submit(quarantined(submission(7, "SD32G", None, 1e9))).unwrap();
    assert_eq!(
        collection.replace(&waiting.id, submission(8, "SD32G", None, 1e9)).unwrap().status,
        SubmissionStatus::Quarantined
    );
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}

pub fn what_is_withdrawn_stays_withdrawn(database: &Database) {
    let collection = database.open();
    let receipt = collection.submit(submission(1, "SD32G", None, 10.0)).unwrap();
    let kept = collection.submit(submission(2, "SD32G", None, 30.0)).unwrap();
    collection.withdraw(&receipt.id, "owner", "wrong card", "2026-06-01T00:00:00Z").unwrap();
    assert_eq!(
        line_of(&collection, &kept.slug).figures[&HeadlineFigure::RandomWrite4k].median,
        30.0
    );
    let again = collection.submit(submission(1, "SD32G", None, 10.0)).unwrap();
    assert_eq!((again.is_new, again.status), (false, SubmissionStatus::Withdrawn));
    let refused = |result: Result<_, CollectionError>| {
        matches!(result, Err(CollectionError::Withdrawn { .. }))
    };
    assert!(refused(
        collection
            .judge(&receipt.id, SubmissionStatus::Accepted, "m", "", "2026-06-02T00:00:00Z")
            .map(drop)
    ));
    assert!(refused(collection.replace(&receipt.id, submission(3, "SD32G", None, 1.0)).map(drop)));
    assert_eq!(collection.entry(&receipt.id).unwrap().unwrap().status, SubmissionStatus::Withdrawn);
}

/// Regression: someone who copied a run, sent it first and withdrew it kept its owner out.
pub fn a_copy_that_was_withdrawn_keeps_nobody_out(database: &Database) {
    let collection = database.open();
    let of = |sender: &str| Submission {
        sender: Some(sender.to_owned()),
        ..submission(1, "SD32G", None, 10.0)
    };
    let copy = collection.submit(of("mallory")).unwrap();
    collection.withdraw(&copy.id, "mallory", "", "2026-06-01T00:00:00Z").unwrap();
    let mine = collection.submit(of("ada")).unwrap();
    assert_eq!((mine.is_new, mine.status), (true, SubmissionStatus::Accepted));
    assert_ne!(mine.id, copy.id);
    assert!(!collection.submit(of("ada")).unwrap().is_new);
    let again = collection.submit(of("mallory")).unwrap();
    assert_eq!((again.id, again.status), (copy.id, SubmissionStatus::Withdrawn));
    let owned = |sender: &str, number: u64, model: &str| Submission {
        run: run(number, "SanDisk", model, None),
        ..of(sender)
    };
    let copy = collection.submit(owned("mallory", 5, "SD64G")).unwrap();
    collection.replace(&copy.id, owned("mallory", 6, "JUNK")).unwrap();
    let mine = collection.submit(owned("ada", 5, "SD64G")).unwrap();
    assert!(mine.is_new && mine.slug.contains("sd64g"), "{mine:?}");
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}

pub fn the_audit_shows_every_event_and_every_manipulation(database: &Database) {
    let collection = database.open();
    let receipt = collection.submit(submission(1, "SD32G", None, 10.0)).unwrap();
    collection
        .note("site", "refused", None, "2 MiB of nothing \0", "2026-06-01T00:00:00Z")
        .unwrap();
    collection
        .judge(&receipt.id, SubmissionStatus::Rejected, "moderator", "no", "2026-06-02T00:00:00Z")
        .unwrap();
    let lines = collection.audit(0, 10).unwrap();
    let entries: Vec<(u64, &str, &str)> =
        lines.iter().map(|line| (line.number, line.who.as_str(), line.what.as_str())).collect();
    assert_eq!(
        entries,
        [(1, "anonymous", "submitted"), (2, "site", "refused"), (3, "moderator", "rejected")]
    );
    assert_eq!(collection.audit(2, 10).unwrap(), lines[2..]);
    assert_eq!(collection.audit(0, 1).unwrap(), lines[..1]);
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
    database.meddle("UPDATE audit SET who = 'nobody' WHERE number = 2");
    assert_eq!(collection.check().unwrap(), ["line 2 of the audit is not as it was written"]);
    database.meddle("DELETE FROM audit WHERE number = 2");
    assert_eq!(collection.check().unwrap(), ["line 2 of the audit is missing"]);
}

pub fn tokens_are_kept_as_hashes(database: &Database) {
    let collection = database.open();
    let secret = "0123456789abcdef-the-secret";
    let receipt = collection
        .submit(Submission {
            edit_token: Some(secret.into()),
            ..submission(1, "SD32G", None, 10.0)
        })
        .unwrap();
    let token = collection.token(secret).unwrap().unwrap();
    assert_eq!(
        (token.kind, token.run.as_deref(), &token.revoked),
        (TokenKind::Edit, Some(receipt.id.as_str()), &None)
    );
    assert_eq!(collection.token("another").unwrap(), None);
    let lab = Token {
        kind: TokenKind::Api,
        run: None,
        label: "lab".into(),
        created: "2026-01-01T00:00:00Z".into(),
        revoked: None,
    };
    collection.grant("labs", &lab).unwrap();
    assert_eq!(collection.token("labs").unwrap(), Some(lab.clone()));
    assert!(collection.grant("labs", &lab).is_err(), "one secret, one token");
    assert!(collection.revoke("labs", "2026-07-01T00:00:00Z").unwrap());
    assert!(!collection.revoke("labs", "2026-08-01T00:00:00Z").unwrap());
    assert_eq!(
        collection.token("labs").unwrap().unwrap().revoked.as_deref(),
        Some("2026-07-01T00:00:00Z")
    );
    drop(collection);
    for file in database.dir().into_iter().flat_map(|dir| std::fs::read_dir(dir).unwrap()) {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(
            !bytes.windows(secret.len()).any(|window| window == secret.as_bytes()),
            "the secret is in the file"
        );
    }
}

pub fn the_reference_follows_the_program(database: &Database) {
    let collection = database.open();
    let entry = |id: &str, seed: u64, value: f64| {
        let run = run(seed, "Duracell", "CF", None);
        CollectionRun {
            id: id.into(),
            local_name: None,
            received: "2012-05-01".into(),
            origin: Origin::Reference,
            status: SubmissionStatus::Accepted,
            revision: 1,
            model: Model { vendor: "duracell".into(), ..Model::of(&run) },
            headline: headline(value),
            run,
        }
    };
    let measured = collection.submit(submission(9, "SD32G", None, 10.0)).unwrap();
    collection
        .keep_reference(
            &[entry("duracell-1", 1, 4.0), entry("duracell-2", 2, 5.0)],
            "2026-01-01T00:00:00Z",
        )
        .unwrap();
    collection
        .keep_reference(
            &[entry("duracell-1", 1, 4.0), entry("duracell-2", 2, 5.0)],
            "2026-01-02T00:00:00Z",
        )
        .unwrap();
    assert_eq!(collection.audit(0, 100).unwrap().len(), 3, "twice the same is once");
    // A newer version corrects one, drops one, and has one more.
    collection
        .keep_reference(
            &[entry("duracell-2", 3, 6.0), entry("duracell-3", 4, 7.0)],
            "2026-02-01T00:00:00Z",
        )
        .unwrap();
    let status =
        |id: &str| collection.entry(id).unwrap().map(|entry| (entry.status, entry.revision));
    assert_eq!(status("duracell-1"), Some((SubmissionStatus::Withdrawn, 1)));
    assert_eq!(status("duracell-2"), Some((SubmissionStatus::Accepted, 2)));
    assert_eq!(status("duracell-3"), Some((SubmissionStatus::Accepted, 1)));
    let lines = collection.all_lines().unwrap();
    assert_eq!(
        lines.iter().map(|line| (line.origin, line.runs)).collect::<Vec<_>>(),
        [(Origin::Reference, 2), (Origin::Measured, 1)]
    );
    assert_eq!(status(&measured.id), Some((SubmissionStatus::Accepted, 1)));
}

pub fn hosts_are_held_against_each_other(database: &Database) {
    let collection = database.open();
    let mut slug = String::new();
    for (number, (board, kernel, value)) in (1..).zip([
        ("Pi 3", "5.10.1", 10.0),
        ("Pi 3", "6.12.0-rpi", 12.0),
        ("Pi 5", "6.12.9", 40.0),
        ("Pi 5", "6.12.9", 50.0),
    ]) {
        let mut one = submission(number, "SD32G", Some(board), value);
        one.run.kernel = Some(kernel.into());
        slug = collection.submit(one).unwrap().slug;
    }
    let effects = collection.host_effects(&slug).unwrap();
    let facets: BTreeSet<Facet> = effects.iter().map(|effect| effect.facet).collect();
    assert_eq!(
        facets.into_iter().collect::<Vec<_>>(),
        [Facet::Kernel, Facet::Board],
        "the rest is the same for all"
    );
    let of = |facet, group: &str| {
        effects.iter().find(|effect| effect.facet == facet && effect.group == group).unwrap()
    };
    let boards = of(Facet::Board, "Pi 5");
    assert_eq!(
        (boards.inside.median, boards.outside.median, boards.inside.runs, boards.outside.runs),
        (45.0, 11.0, 2, 2)
    );
    let kernels = of(Facet::Kernel, "5.10");
    // On the newer kernel one host reaches 12, the other 45.
    assert_eq!(
        (kernels.inside.median, kernels.outside.median, kernels.outside.hosts),
        (10.0, 28.5, 2)
    );
    assert!(collection.host_effects("nobody").unwrap().is_empty());
}

pub fn names_that_look_alike_get_addresses_of_their_own(database: &Database) {
    let collection = database.open();
    let slugs: BTreeSet<String> = (1..)
        .zip(["SD-32G", "SD 32G", "SD.32G", "sd-32g"])
        .map(|(number, model)| {
            collection.submit(submission(number, model, None, 1.0)).unwrap().slug
        })
        .collect();
    assert_eq!(slugs.len(), 3, "case does not tell models apart, other characters do: {slugs:?}");
    for slug in slugs {
        assert!(slug.starts_with("sandisk-sd-32g-32-gb"), "{slug}");
        assert!(collection.line(&slug).unwrap().is_some());
    }
}

/// Regression: two models with the names of both addresses of a third kept it out for ever.
pub fn an_address_cannot_be_taken_in_advance(database: &Database) {
    let collection = database.open();
    let named = |number, vendor: &str, model: &str| {
        let mut sent = submission(number, "SD32G", None, 10.0);
        sent.run.vendor = Some(vendor.to_owned()).filter(|vendor| !vendor.is_empty());
        sent.run.model = Some(model.to_owned());
        sent.run.capacity_bytes = None;
        sent
    };
    let slug = |collection: &Collection, sent| collection.submit(sent).unwrap().slug;
    let plain = slug(&collection, named(1, "Acme", "X."));
    assert_eq!(plain, "acme-x");
    let victim = named(2, "Acme", "X");
    let elsewhere = database.backup().open();
    let marked = slug(&elsewhere, victim.clone());
    let squatter = named(3, "", &marked.replace('-', " "));
    assert_eq!(slug(&collection, squatter), marked);
    let free = slug(&collection, victim);
    assert!(free != plain && free != marked, "{free}");
    let reference = slug(&collection, named(4, "Acme", "X reference"));
    assert!(!reference.ends_with("-reference"), "{reference} is one of published data");
}

pub fn hostile_texts_are_only_texts(database: &Database) {
    let collection = database.open();
    let texts = [
        "'; DROP TABLE runs; --",
        "<script>alert(1)</script>",
        "a\0b",
        "100%",
        "under_score",
        "back\\slash",
        "$1 {}",
        "\u{202e}gnirts",
        "😀",
    ];
    for (number, text) in (1..).zip(texts) {
        let mut one = submission(number, text, Some(text), 1.0);
        (one.who, one.why, one.run.label) = (text.into(), text.into(), Some(text.into()));
        one.run.kernel = Some(text.into());
        one.headline.verdict = Some(text.into());
        let receipt = collection.submit(one.clone()).unwrap();
        assert_eq!(collection.entry(&receipt.id).unwrap().unwrap().run, one.run);
        assert!(
            receipt
                .slug
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{}",
            receipt.slug
        );
        assert_eq!(collection.line(text).unwrap(), None);
        collection.host_effects(&receipt.slug).unwrap();
    }
    let found = |words: &str| {
        collection.lines(&Query { words: words.into(), ..Query::default() }).unwrap().total
    };
    assert_eq!(
        [
            found("100%"),
            found("%"),
            found("_"),
            found("\\"),
            found("'"),
            found("DROP TABLE"),
            found("\0"),
            found("$1")
        ],
        [1, 1, 1, 1, 1, 1, 0, 1]
    );
    assert_eq!(found(""), texts.len() as u64);
    assert_eq!(found(&"x ".repeat(10_000)), 0);
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}

pub fn a_new_figure_gets_its_columns(database: &Database) {
    let collection = database.open();
    let old = collection.submit(submission(1, "SD32G", None, 10.0)).unwrap();
    let before = line_of(&collection, &old.slug);
    drop(collection);
    // As left by a version that does not know the figure.
    for table in ["lines", "runs"] {
        database.meddle(&format!("ALTER TABLE {table} DROP COLUMN zero_fill"));
    }
    let collection = database.open();
    assert_eq!(line_of(&collection, &old.slug), before);
    let mut filled = submission(2, "SD32G", None, 30.0);
    filled.headline.figures.insert(HeadlineFigure::ZeroFill, 9e6);
    collection.submit(filled).unwrap();
    let figures = line_of(&collection, &old.slug).figures;
    let of = |figure| figures.get(&figure).map(|spread: &HostSpread| (spread.median, spread.runs));
    assert_eq!(of(HeadlineFigure::RandomWrite4k), Some((20.0, 2)));
    assert_eq!(of(HeadlineFigure::ZeroFill), Some((9e6, 1)));
    let asked = Query { at_least: vec![(HeadlineFigure::ZeroFill, 8e6)], ..Query::default() };
    assert_eq!(collection.lines(&asked).unwrap().total, 1);
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}

pub fn a_newer_collection_is_refused(database: &Database) {
    drop(database.open());
    database.meddle("INSERT INTO migrations (number, name) VALUES (99, 'from the future')");
    let error = Collection::open(&database.address).err().unwrap();
    assert_eq!(
        error.to_string(),
        "the collection has step 99 of its form, this version knows 8; a newer flashmark reads it"
    );
}

pub fn a_damaged_run_is_reported_as_one(database: &Database) {
    let collection = database.open();
    let receipt = collection.submit(submission(1, "SD32G", None, 10.0)).unwrap();
    database.meddle("UPDATE runs SET random_write_4k = 11.0");
    assert_eq!(
        collection.check().unwrap(),
        ["line 'sandisk-sd32g-32-gb' is not what its runs make"]
    );
    database.meddle("UPDATE runs SET random_write_4k = 10.0");
    database.meddle(
        "UPDATE revisions SET body = (SELECT body FROM revisions LIMIT 0)"
            .replace("(SELECT body FROM revisions LIMIT 0)", empty(database))
            .as_str(),
    );
    assert!(matches!(collection.entry(&receipt.id), Err(CollectionError::Damaged { .. })));
    assert_eq!(collection.check().unwrap().len(), 1);
}

/// Literal of an empty blob in each SQL dialect.
fn empty(database: &Database) -> &'static str {
    if database.dir().is_some() { "x''" } else { "''::bytea" }
}

pub fn many_threads_submit_at_once(database: &Database) {
    let collection = database.open();
    std::thread::scope(|scope| {
        for thread in 0..10u64 {
            let collection = &collection;
            scope.spawn(move || {
                for number in 0..10 {
                    // Half of them are sent by two threads.
                    let seed = 1 + number * 10 + thread - thread % 2 * (number % 2);
                    collection.submit(submission(seed, "SD32G", None, seed as f64)).unwrap();
                    collection.lines(&Query::default()).unwrap();
                }
            });
        }
    });
    let line = &collection.all_lines().unwrap()[0];
    assert_eq!(
        (
            line.runs,
            collection.counts().unwrap().accepted,
            collection.audit(0, 1000).unwrap().len()
        ),
        (75, 75, 75)
    );
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}

pub fn two_programs_share_a_collection(database: &Database) {
    // Handles of their own, as of two programs; both make the collection at the same time.
    std::thread::scope(|scope| {
        for program in 0..4u64 {
            scope.spawn(move || {
                let collection = database.open();
                for number in 0..10 {
                    collection
                        .submit(submission(program * 100 + number, "SD32G", None, number as f64))
                        .unwrap();
                }
            });
        }
    });
    let collection = database.open();
    assert_eq!(collection.all_lines().unwrap()[0].runs, 40);
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}

pub fn media_are_distinguished_by_their_keys(database: &Database) {
    let collection = database.open();
    let slug = collection.submit(submission(1, "SD32G", None, 5.0)).unwrap().slug;
    assert_eq!(collection.medium_runs(&slug).unwrap(), []);
    let mut keyed = submission(2, "SD32G", Some("Raspberry Pi 4"), 7.0);
    keyed.run.medium_key = Some("0123456789abcdef0123456789abcdef".into());
    keyed.run.host_key = Some("fedcba9876543210fedcba9876543210".into());
    let id = collection.submit(keyed.clone()).unwrap().id;
    let expected = record::collection::MediumRun {
        id: id.clone(),
        medium_key: "0123456789abcdef0123456789abcdef".into(),
        host: keyed.run.host_key.clone(),
        figures: keyed.headline.figures.clone(),
    };
    assert_eq!(collection.medium_runs(&slug).unwrap(), [expected]);
    // The keys are part of the run, and of its name.
    assert_eq!(collection.entry(&id).unwrap().unwrap().run, keyed.run);
    let bare = collection.submit(submission(2, "SD32G", Some("Raspberry Pi 4"), 7.0)).unwrap();
    assert!(bare.is_new && bare.id != id);
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}
