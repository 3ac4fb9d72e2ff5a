//! Many media of one model, told apart by keys that only their owner can trace.

use std::fs;
use std::path::{Path, PathBuf};

use record::Published;
use serde_json::{Value, json};

use crate::support::{Flashmark, Scratch};

const PROFILE: &str = include_str!("../../../../profiles/a1.toml");
const HOST: &str = "5eed5eed5eed5eed5eed5eed5eed5eed";

/// The profile of a card that writes three times as slowly.
fn three_times_slower() -> String {
    let mut slow = PROFILE.to_owned();
    for (fast, slower) in [
        ("command = \"0.22 ms\"", "command = \"0.66 ms\""),
        ("rate = \"60.5 MB/s\"", "rate = \"20.2 MB/s\""),
        ("partial = \"0.69 ms\"", "partial = \"2.07 ms\""),
        ("gc = \"0.247 ms\"", "gc = \"0.741 ms\""),
        ("gc_per_kib = \"0.0352 ms\"", "gc_per_kib = \"0.1056 ms\""),
    ] {
        assert!(slow.contains(fast), "{fast}");
        slow = slow.replace(fast, slower);
    }
    slow
}

fn serial(number: usize) -> String {
    format!("4C5300012408{number:04}")
}

/// The record of a simulated run, as if it had been measured on the card of that number.
fn record_of(flashmark: &Flashmark, scratch: &Scratch, target: &str, number: usize) -> String {
    let path = scratch.at(&format!("card{number}.json"));
    let json = path.to_str().unwrap().to_owned();
    let seed = number.to_string();
    flashmark.done(&[
        "run",
        target,
        "--suite",
        "quick",
        "--only",
        "random-write",
        "--seed",
        &seed,
        "--quiet",
        "--json",
        &json,
    ]);
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let medium = &mut record["medium"];
    (medium["kind"], medium["profile"]) = (json!("sd"), Value::Null);
    (medium["vendor"], medium["model"]) = (json!("SanDisk"), json!("SE32G"));
    medium["serial"] = json!(serial(number));
    record["host"] = json!({ "id": HOST, "kernel": "6.12.34", "arch": "aarch64" });
    record["target"]["kind"] = json!("block");
    record["target"]["path"] = json!("/dev/mmcblk0");
    record["target"]["engine"] = json!("io_uring");
    fs::write(&path, record.to_string()).unwrap();
    json
}

fn key_file(scratch: &Scratch, name: &str, byte: &str) -> PathBuf {
    scratch.file(name, byte.repeat(32) + "\n")
}

fn shown(flashmark: &Flashmark, record: &str, more: &[&str]) -> (Published, String) {
    let out = flashmark.done(&[&["submit", record, "--show"], more].concat()).out;
    (serde_json::from_str(&out).unwrap(), out)
}

/// The page of the one medium of a site.
fn the_page(site: &Path) -> String {
    let pages: Vec<PathBuf> =
        fs::read_dir(site.join("medium")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(pages.len(), 1, "{pages:?}");
    fs::read_to_string(&pages[0]).unwrap()
}

#[test]
fn keys_are_sent_only_where_they_are_asked_for() {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let card = record_of(&flashmark, &scratch, "sim:a1", 1);
    let (bare, text) = shown(&flashmark, &card, &[]);
    assert_eq!((&bare.medium_key, &bare.host_key), (&None, &None));
    assert!(!text.contains("_key") && !text.contains(&serial(1)) && !text.contains(HOST), "{text}");

    let (lab, other) = (key_file(&scratch, "lab.key", "0b"), key_file(&scratch, "other.key", "c4"));
    let keyed = |keys: &PathBuf| shown(&flashmark, &card, &["--keys", keys.to_str().unwrap()]);
    let (with, text) = keyed(&lab);
    for key in [&with.medium_key, &with.host_key] {
        assert_eq!(key.as_ref().map(String::len), Some(32), "{text}");
    }
    assert!(!text.contains(&serial(1)) && !text.contains(HOST), "{text}");
    assert_eq!(keyed(&lab).0, with);
    let (theirs, _) = keyed(&other);
    assert!(theirs.medium_key != with.medium_key && theirs.host_key != with.host_key);
    // Nothing else is added.
    assert_eq!(Published { medium_key: None, host_key: None, ..with }, bare);

    // A reader's number is no card's.
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&card).unwrap()).unwrap();
    record["medium"]["behind_reader"] = json!(true);
    fs::write(&card, record.to_string()).unwrap();
    let (behind, _) = keyed(&lab);
    assert!(behind.medium_key.is_none() && behind.host_key.is_some());

    for (content, message) in [("", "does not hold 64"), ("0b0b", "openssl rand -hex 32 > FILE")] {
        let bad = scratch.file("bad.key", content);
        let refused = flashmark.run(&["submit", &card, "--show", "--keys", bad.to_str().unwrap()]);
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.err.contains(message) && refused.out.is_empty(), "{refused}");
    }
}

#[test]
fn the_one_slow_card_of_thirty_is_named() {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let keys = key_file(&scratch, "lab.key", "0b");
    let keys = keys.to_str().unwrap();
    let slow = scratch.file("slow.toml", three_times_slower());
    let slow = format!("sim:{}", slow.to_str().unwrap());
    let target = |number: usize| if number == 17 { slow.as_str() } else { "sim:a1" };
    let cards: Vec<String> =
        (0..30).map(|number| record_of(&flashmark, &scratch, target(number), number)).collect();
    let site = scratch.at("site");
    let cards: Vec<&str> = cards.iter().map(String::as_str).collect();
    let site_word = site.to_str().unwrap();
    let words = ["publish", site_word, "--no-reference", "--keys", keys];
    flashmark.done(&[&words[..], &cards].concat());

    let (bad, _) = shown(&flashmark, cards[17], &["--keys", keys]);
    let key = bad.medium_key.unwrap();
    let page = the_page(&site);
    assert!(
        page.contains("30 media of this model, in 30 runs. 1 differs from the others:"),
        "{page}"
    );
    let named: Vec<&str> = page.split("<b>Medium ").skip(1).map(|rest| &rest[..8]).collect();
    assert_eq!(named, [&key[..8]]);
    assert!(page.contains("slower than the median of 29 others"), "{page}");
    assert!(!page.contains(&serial(17)));

    // Without keys nobody is named.
    let bare = scratch.at("bare");
    let words = ["publish", bare.to_str().unwrap(), "--no-reference"];
    flashmark.done(&[&words[..], &cards].concat());
    let page = the_page(&bare);
    assert!(!page.contains("id=\"media\""), "{page}");

    let csv = flashmark.done(&[&["export", "--keys", keys], &cards[..]].concat()).out;
    assert!(csv.lines().next().unwrap().contains(",medium_key,host_key,"), "{csv}");
    assert!(csv.contains(&key) && !csv.contains(&serial(17)));
}
