//! Forged records, each made from a real one of the program, at every command.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::submit::{RECORD, collection};
use crate::support::{Flashmark, on_one_line};

/// The run with another value at a place.
fn with(mut run: Value, place: &str, value: Value) -> Vec<u8> {
    *run.pointer_mut(place).unwrap() = value;
    run.to_string().into_bytes()
}

/// An attack on a published table: its name, what it makes of an honest record, and the code of its
/// refusal.
type Attack = (&'static str, fn(Value) -> Vec<u8>, &'static str);

/// One a step of the way; the tests of `judging` have the others.
const ATTACKS: [Attack; 6] = [
    ("other-bytes", |_| b"\xff\xfe{}".to_vec(), "not-json"),
    ("oversized", |_| vec![b' '; 32 << 20], "too-large"),
    ("negative", |run| with(run, "/cells/1/metrics/iops/value", json!(-1)), "out-of-range"),
    ("script", |run| with(run, "/cells/1/id", json!("<script>alert(1)</script>")), "markup"),
    ("twice", |run| with(run.clone(), "/cells/0", run["cells"][1].clone()), "contradiction"),
    ("newer", |run| with(run, "/schema", json!("flashmark/99")), "newer-schema"),
];

/// `submit` sends none of them, `validate` says what is wrong with each, and `publish` leaves them
/// out and shows the honest one.
#[test]
fn no_attack_comes_into_a_published_table() {
    let (flashmark, (scratch, dir)) = (Flashmark::new(), collection());
    flashmark.done(&["submit", RECORD, "--to", &dir, "--sender", "ada", "--yes"]);
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(RECORD).unwrap()).unwrap();
    let shown = flashmark.done(&["submit", RECORD, "--show"]).out;
    let published: Value = serde_json::from_str(&shown).unwrap();
    let (files, mallory) = (scratch.directory("files"), "cards/records/mallory");
    scratch.directory(mallory);
    scratch.file("files/sound.json", whole.to_string());
    scratch.file("files/notes.txt", "no record");
    let mut passed = Vec::new();
    for (name, attack, _) in ATTACKS {
        scratch.file(&format!("files/{name}.json"), attack(published.clone()));
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(&attack(published.clone())).unwrap();
        scratch.file(&format!("{mallory}/{name}.json.gz"), packer.finish().unwrap());
        let file = scratch.file("whole.json", attack(whole.clone()));
        let words = ["submit", file.to_str().unwrap(), "--to", &dir, "--sender", "eve", "--yes"];
        let is_sent = flashmark.run(&words).code != Some(2);
        let is_sound = flashmark.run(&["validate", file.to_str().unwrap()]).code != Some(1);
        passed.push((name, is_sent, is_sound));
    }
    passed.retain(|(_, is_sent, is_sound)| *is_sent || *is_sound);
    assert_eq!(passed, []);
    let judged = flashmark.run(&["validate", files.to_str().unwrap()]);
    let all = flashmark.run(&["validate", &dir]);
    let site = scratch.at("site");
    let words = ["publish", site.to_str().unwrap(), "--collection", &dir, "--no-reference"];
    let table = flashmark.done(&words);
    let left_out = on_one_line(&table.err);
    for (name, _, code) in ATTACKS {
        assert!(judged.flat().contains(&format!("{name}.json: refused: ")), "{judged}");
        let refused = format!("mallory/{name}.json.gz: refused: {code}: ");
        assert!(all.flat().contains(&refused), "{name}: {all}");
        let refused = format!("mallory/{name}.json.gz is left out: refused: {code}: ");
        assert!(left_out.contains(&refused), "{name}: {table}");
    }
    assert!(judged.flat().contains("7 records: 1 sound, 0 doubtful, 6 refused"), "{judged}");
    assert!(all.flat().contains("1 record taken, 6 wrong"), "{all}");
    assert_eq!((judged.code, all.code), (Some(1), Some(1)));
    assert!(table.out.contains("1 line"), "{table}");
}
