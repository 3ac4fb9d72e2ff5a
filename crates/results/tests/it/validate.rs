//! `flashmark validate`: forged records, each made from a real one of the program, and the messages
//! about them.

use serde_json::{Value, json};

use crate::support::{Flashmark, Ran, Scratch};

/// The record of a run of a simulated medium.
fn simulated(profile: &str, suite: &str) -> Value {
    let flashmark = Flashmark::new();
    flashmark.done(&["run", &format!("sim:{profile}"), "--suite", suite]);
    let text = std::fs::read_to_string(flashmark.run_dir().join("record.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The record, edited to be one of a card in a real reader.
fn as_card(mut record: Value) -> Value {
    record["medium"]["kind"] = json!("sd");
    record["medium"]["vendor"] = json!("SanDisk");
    record["medium"]["model"] = json!("SD32G");
    record["medium"]["profile"] = Value::Null;
    record["target"]["kind"] = json!("block");
    record["target"]["engine"] = json!("io_uring");
    record
}

fn judged(record: &Value) -> Ran {
    let scratch = Scratch::new();
    let file = scratch.file("record.json", record.to_string());
    Flashmark::new().run(&["validate", file.to_str().unwrap()])
}

/// Output without the line breaks at the width of the terminal.
fn flat(ran: &Ran) -> String {
    ran.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_simulated_medium_that_is_called_a_card_is_found_by_its_latencies() {
    for (profile, suite) in
        [("ssd", "standard"), ("a1", "standard"), ("usb3-modern", "quick"), ("emmc", "standard")]
    {
        let record = simulated(profile, suite);
        let honest = judged(&record);
        assert_eq!(honest.code, Some(0), "{honest}");
        let forged = judged(&as_card(record));
        assert_eq!(forged.code, Some(1), "{profile}: {forged}");
        assert!(flat(&forged).contains("of a simulated medium"), "{profile}: {forged}");
    }
}

#[test]
fn files_that_are_no_record_are_named_and_the_others_judged() {
    let scratch = Scratch::new();
    let record = simulated("a1", "quick");
    scratch.file("a.json", record.to_string());
    scratch.file("b.json", "{}");
    scratch.file("c.json", record.to_string().replace("flashmark/1", "flashmark/99"));
    scratch.file("notes.txt", "no record");
    let ran = Flashmark::new().run(&["validate", scratch.word()]);
    assert_eq!(ran.code, Some(1), "{ran}");
    let output = flat(&ran);
    assert!(output.contains("a.json: sound, a1 32 GB"), "{ran}");
    assert!(output.contains("b.json: refused: wrong-schema"), "{ran}");
    assert!(
        output.contains("c.json: refused: not-a-run: the record is of form 'flashmark/99'"),
        "{ran}"
    );
    assert!(output.contains("3 records: 1 sound, 0 doubtful, 2 refused"), "{ran}");
    let empty = Scratch::new();
    assert_eq!(Flashmark::new().run(&["validate", empty.word()]).code, Some(2));
    assert_eq!(Flashmark::new().run(&["validate", "/nonexistent.json"]).code, Some(2));
}
