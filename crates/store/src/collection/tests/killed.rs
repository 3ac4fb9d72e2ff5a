//! A program that is killed while it submits.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use super::Database;
use super::made::submission;
use crate::collection::{Address, Collection};

/// Environment variable with the collection for the program that will be killed.
const VARIABLE: &str = "FLASHMARK_TEST_KILLED";

pub fn kill_9_loses_nothing_that_was_acknowledged(database: &Database) {
    let url = match &database.address {
        Address::Sqlite(path) => format!("sqlite:{}", path.display()),
        Address::Postgres(url) => url.clone(),
        Address::Memory => unreachable!("nothing survives in memory"),
    };
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "collection::tests::killed::the_one_that_is_killed",
                "--ignored",
                "--nocapture",
            ])
            .env(VARIABLE, format!("{round} {url}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut count = 0;
        for line in output.lines() {
            let line = line.unwrap();
            let Some(id) = line.strip_prefix("kept ") else { continue };
            acknowledged.push(id.to_owned());
            count += 1;
            if count == 40 {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(count >= 40, "it ended by itself after {count}");
    }
    let collection = database.open();
    for id in &acknowledged {
        assert!(collection.entry(id).unwrap().is_some(), "{id} was acknowledged");
    }
    let counts = collection.counts().unwrap();
    assert!(counts.accepted >= acknowledged.len() as u64);
    assert_eq!(
        collection.audit(0, 100_000).unwrap().len() as u64,
        counts.accepted,
        "whole submissions or none"
    );
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}

/// Submits from four threads until it is killed. Not a test by itself: does nothing without the
/// environment variable.
#[test]
#[ignore = "is started, and killed, by the test above"]
fn the_one_that_is_killed() {
    let Some((round, url)) = std::env::var(VARIABLE).ok().and_then(|text| {
        Some((text.split_once(' ')?.0.parse::<u64>().ok()?, text.split_once(' ')?.1.to_owned()))
    }) else {
        return;
    };
    let collection = Collection::open(&Address::parse(&url).unwrap()).unwrap();
    let output = Mutex::new(std::io::stdout());
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (collection, output) = (&collection, &output);
            scope.spawn(move || {
                for number in 0..1_000_000u64 {
                    let seed = round << 40 | thread << 30 | number;
                    let receipt = collection
                        .submit(submission(seed, &format!("SD{}", number % 5), None, 1.0))
                        .unwrap();
                    writeln!(output.lock().unwrap(), "kept {}", receipt.id).unwrap();
                }
            });
        }
    });
}
