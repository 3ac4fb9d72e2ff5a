//! `flashmark validate`: forged records, each made from a real one of the program, and the messages
//! about them.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::submit::{RECORD, collection};
use crate::support::{Flashmark, Ran};

/// Output without the line breaks at the width of the terminal.
fn flat(ran: &Ran) -> String {
    ran.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The run with the text `json` at a place.
fn with(mut run: Value, place: fn(&mut Value) -> &mut Value, json: &str) -> Vec<u8> {
    *place(&mut run) = json!("@here@");
    run.to_string().replace("\"@here@\"", json).into_bytes()
}

fn rate(run: &mut Value) -> &mut Value {
    &mut run["cells"][1]["metrics"]["iops"]["value"]
}

fn id(run: &mut Value) -> &mut Value {
    &mut run["cells"][1]["id"]
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

/// An attack on a published table: its name, what it makes of an honest record, and the code of its
/// refusal.
type Attack = (&'static str, fn(Value) -> Vec<u8>, &'static str);

const ATTACKS: [Attack; 14] = [
    ("empty", |_| Vec::new(), "not-json"),
    ("other-bytes", |_| b"\xff\xfe{}".to_vec(), "not-json"),
    ("oversized", |_| vec![b' '; 32 << 20], "too-large"),
    ("deep", |_| b"[".repeat(100_000), "too-deep"),
    ("infinite", |run| with(run, rate, "1e999"), "out-of-range"),
    ("no-number", |run| with(run, rate, "NaN"), "not-json"),
    ("negative", |run| with(run, rate, "-1"), "out-of-range"),
    ("long-text", |run| with(run, id, &json!("x".repeat(5000)).to_string()), "text"),
    ("script", |run| with(run, id, "\"<script>alert(1)</script>\""), "markup"),
    ("flood", |run| with(run, |run| &mut run["cells"], &format!("{:?}", [1; 5000])), "too-many"),
    ("nothing", |run| with(run, |run| &mut run["cells"], "[]"), "not-a-run"),
    ("duplicated", duplicated, "contradiction"),
    ("foreign", |run| with(run, |run| &mut run["schema"], "\"fio/3\""), "wrong-schema"),
    ("newer", |run| with(run, |run| &mut run["schema"], "\"flashmark/99\""), "newer-schema"),
];

fn duplicated(mut run: Value) -> Vec<u8> {
    let cells = run["cells"].as_array_mut().unwrap();
    cells.push(cells[1].clone());
    run.to_string().into_bytes()
}

/// `submit` sends none of them, `validate` says what is wrong with each, and `publish` leaves them
/// out and shows the honest one.
#[test]
fn no_attack_comes_into_a_published_table() {
    let (flashmark, (scratch, dir)) = (Flashmark::new(), collection());
    flashmark.done(&["submit", RECORD, "--to", &dir, "--sender", "ada", "--yes"]);
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(RECORD).unwrap()).unwrap();
    let shown = flashmark.done(&["submit", RECORD, "--show"]).out;
    let published: Value = serde_json::from_str(&shown).unwrap();
    let (files, mallory) = (scratch.directory("files"), scratch.directory("cards/records/mallory"));
    scratch.file("files/sound.json", whole.to_string());
    scratch.file("files/notes.txt", "no record");
    let mut passed = Vec::new();
    for (name, attack, _) in ATTACKS {
        scratch.file(&format!("files/{name}.json"), attack(published.clone()));
        std::fs::write(mallory.join(format!("{name}.json.gz")), packed(&attack(published.clone())))
            .unwrap();
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
    let left_out = table.err.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, _, code) in ATTACKS {
        assert!(flat(&judged).contains(&format!("{name}.json: refused: ")), "{judged}");
        let refused = format!("mallory/{name}.json.gz: refused: {code}: ");
        assert!(flat(&all).contains(&refused), "{name}: {all}");
        let refused = format!("mallory/{name}.json.gz is left out: refused: {code}: ");
        assert!(left_out.contains(&refused), "{name}: {table}");
    }
    assert!(flat(&judged).contains("15 records: 1 sound, 0 doubtful, 14 refused"), "{judged}");
    assert!(flat(&all).contains("1 record taken, 14 wrong"), "{all}");
    assert_eq!((judged.code, all.code), (Some(1), Some(1)));
    assert!(table.out.contains("1 line"), "{table}");
}
