//! Durability of acknowledged submissions, whatever happens to the server; duplicates are stored
//! once.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::chance::{random, times};
use crate::environment::{Server, SiteEnvironment};
use crate::http::Request;
use crate::runs;

/// Flags without limits for a hundred senders from one address.
pub const UNHURRIED: [&str; 8] =
    ["--per-minute", "1000000", "--burst", "1000000", "--connections", "0", "--bytes-per-day", "0"];

const SENDERS: u64 = 100;

/// An acknowledged submission.
struct Kept {
    id: String,
    edit_token: String,
    seed: u64,
}

/// A hundred concurrent submissions, during which the server is killed. Each acknowledged one is
/// stored completely, and can still be withdrawn with its token. Sending all of them again adds
/// only the others.
pub fn kill_9_loses_nothing_that_was_acknowledged(environment: &SiteEnvironment) {
    for round in 0..times("SITE_KILLS", 1) {
        let mut chance = random("killed");
        let kill_after = chance.below(SENDERS * 6 / 10) as usize + 5;
        let kept = killed_in_the_midst(environment, round, kill_after);
        assert!(kept.len() >= kill_after, "{} acknowledged", kept.len());
        let summary = format!("killed with {} of {SENDERS} submissions acknowledged\n", kept.len());
        io::stderr().write_all(summary.as_bytes()).unwrap();
        let server = environment.serve(&UNHURRIED);
        for run in &kept {
            let answer = server.get(&format!("/api/v1/runs/{}", run.id));
            assert_eq!(
                answer.status,
                200,
                "{} was acknowledged and is lost: {}",
                run.id,
                answer.text()
            );
            assert_eq!(answer.json()["run"]["seed"], run.seed, "{}", run.id);
        }
        assert_eq!(environment.collection().check().unwrap(), Vec::<String>::new());
        sending_again_adds_what_is_missing(&server, environment, &kept, round);
        let back = Request::new("DELETE", format!("/api/v1/runs/{}?why=test", kept[0].id))
            .bearer(&kept[0].edit_token);
        let answer = server.send(&back);
        assert!((200..300).contains(&answer.status), "its token is forgotten: {}", answer.text());
        assert_eq!(environment.collection().check().unwrap(), Vec::<String>::new());
        server.end();
    }
}

fn killed_in_the_midst(environment: &SiteEnvironment, round: u64, kill_after: usize) -> Vec<Kept> {
    let server = environment.serve(&UNHURRIED);
    let at = server.at;
    let (kept, acknowledged, ended) =
        (Mutex::new(Vec::new()), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            let (kept, acknowledged, ended) = (&kept, &acknowledged, &ended);
            scope.spawn(move || {
                // The server may be gone before it answers, or while it does.
                if let Some(run) = acknowledged_run(at, round, sender) {
                    kept.lock().unwrap().push(run);
                    acknowledged.fetch_add(1, Ordering::SeqCst);
                }
                ended.fetch_add(1, Ordering::SeqCst);
            });
        }
        while acknowledged.load(Ordering::SeqCst) < kill_after
            && ended.load(Ordering::SeqCst) < SENDERS as usize
        {
            std::thread::sleep(Duration::from_micros(200));
        }
        server.kill_9();
    });
    kept.into_inner().unwrap()
}

fn acknowledged_run(at: SocketAddr, round: u64, sender: u64) -> Option<Kept> {
    let answer = submission(round, sender).send(at).ok()?;
    let receipt =
        serde_json::from_slice::<Value>(&answer.body).ok().filter(|_| answer.status == 201)?;
    let text = |name: &str| receipt[name].as_str().unwrap().to_owned();
    Some(Kept { id: text("id"), edit_token: text("edit_token"), seed: seed(round, sender) })
}

fn seed(round: u64, sender: u64) -> u64 {
    1000 * (round + 1) + sender
}

/// Ten models, so that some submissions make a new line and others join one.
fn submission(round: u64, sender: u64) -> Request {
    let run = runs::measured("Kill", &format!("K{}", sender % 10), seed(round, sender));
    Request::new("POST", "/api/v1/runs").json(serde_json::to_vec(&run).unwrap())
}

fn sending_again_adds_what_is_missing(
    server: &Server,
    environment: &SiteEnvironment,
    kept: &[Kept],
    round: u64,
) {
    let before = stored(environment);
    let mut ids = BTreeSet::new();
    let mut new = 0;
    for sender in 0..SENDERS {
        let answer = server.send(&submission(round, sender));
        let receipt = answer.json();
        assert_eq!(answer.status, if receipt["is_new"] == true { 201 } else { 200 }, "{receipt}");
        new += u64::from(receipt["is_new"] == true);
        let id = receipt["id"].as_str().unwrap().to_owned();
        if let Some(run) = kept.iter().find(|run| run.seed == seed(round, sender)) {
            assert_eq!(
                (&receipt["is_new"], &id),
                (&Value::Bool(false), &run.id),
                "what was acknowledged is the same run"
            );
        }
        ids.insert(id);
    }
    assert_eq!(ids.len() as u64, SENDERS);
    assert_eq!(stored(environment), before + new);
}

/// Number of all runs in a collection, whatever their status.
pub fn stored(environment: &SiteEnvironment) -> u64 {
    let counts = environment.collection().counts().unwrap();
    counts.accepted + counts.quarantined + counts.rejected + counts.withdrawn
}

/// The same run from thirty senders at once is one run, and one of them gets the token.
pub fn the_same_run_at_once_is_one_run(environment: &SiteEnvironment) {
    let server = environment.serve(&UNHURRIED);
    let before = stored(environment);
    let request = submission(0, 7);
    let at = server.at;
    let answers: Vec<_> = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..30).map(|_| scope.spawn(|| request.send(at).unwrap())).collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    let receipts: Vec<Value> = answers.iter().map(|answer| answer.json()).collect();
    let ids: BTreeSet<&str> =
        receipts.iter().map(|receipt| receipt["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![200; 29], vec![201]].concat());
    assert_eq!(receipts.iter().filter(|receipt| receipt["edit_token"].is_string()).count(), 1);
    assert_eq!(stored(environment), before + 1);
    // And the medium has one run.
    let slug = receipts[0]["slug"].as_str().unwrap();
    assert_eq!(server.json(&format!("/api/v1/lines/{slug}"))["line"]["runs"], 1);
    server.is_sound();
    server.end();
}
