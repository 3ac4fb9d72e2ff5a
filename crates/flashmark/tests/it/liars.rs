//! Attempts to move the table of a served collection: each is refused, waits for a moderator, or
//! stands below what honest senders agree on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::journeys::site::Site;
use crate::support::{Flashmark, Ran, Scratch};

/// A served collection in which three senders agree that a card does 200 IOPS.
struct Lab {
    site: Site,
    scratch: Scratch,
    flashmark: Flashmark,
}

impl Lab {
    fn new() -> Lab {
        let site = Site::start();
        let lab = Lab { site, scratch: Scratch::new(), flashmark: Flashmark::new() };
        for (seed, name) in [(1, "ada"), (2, "bea"), (3, "cem")] {
            let token = lab.site.token(name);
            let ran =
                lab.send(&lab.card(|record| record["run"]["seed"] = json!(seed)), Some(&token));
            assert_eq!(ran.code, Some(0), "{ran}");
            assert!(ran.out.contains("It is in the collection"), "{ran}");
        }
        lab
    }

    /// A record of the card, changed.
    fn card(&self, change: impl FnOnce(&mut Value)) -> Value {
        let text = std::fs::read_to_string(crate::submit::RECORD).unwrap();
        let mut record: Value = serde_json::from_str(&text).unwrap();
        record["medium"]["kind"] = json!("sd");
        record["medium"]["vendor"] = json!("SanDisk");
        record["medium"]["model"] = json!("SD32G");
        record["medium"]["profile"] = Value::Null;
        record["run"]["label"] = Value::Null;
        record["target"]["kind"] = json!("block");
        record["target"]["engine"] = json!("io_uring");
        change(&mut record);
        record
    }

    /// The same, so many times as fast in all that is written, and true in itself.
    fn card_times(&self, factor: f64, change: impl FnOnce(&mut Value)) -> Value {
        self.card(|record| {
            for cell in record["cells"].as_array_mut().unwrap() {
                let scale = |value: &mut Value, by: f64| {
                    if let Some(number) = value.as_f64() {
                        *value = json!(number * by);
                    }
                };
                for name in ["iops", "bps"] {
                    if !cell["metrics"][name].is_null() {
                        scale(&mut cell["metrics"][name]["value"], factor);
                        cell["metrics"][name]["ci95"] = Value::Null;
                    }
                }
                let elapsed = cell["elapsed_ns"].as_f64().unwrap() / factor;
                cell["elapsed_ns"] = json!(elapsed as u64);
                cell["metrics"]["latency_ns"] = Value::Null;
                cell["histogram"] = Value::Null;
            }
            change(record);
        })
    }

    fn send(&self, record: &Value, token: Option<&str>) -> Ran {
        let file = self.scratch.file("sent.json", record.to_string());
        let words = ["submit", file.to_str().unwrap(), "--to", &self.site.address, "--yes"];
        let mut command = self.flashmark.command(&words);
        command.env_remove("FLASHMARK_TOKEN");
        if let Some(token) = token {
            command.env("FLASHMARK_TOKEN", token);
        }
        Ran::of(&mut command)
    }

    /// The lines of the table, as the interface for programs has them.
    fn lines(&self) -> Vec<Value> {
        let host = self.site.address.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        let request = format!("GET /api/v1/lines HTTP/1.0\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let all: Value = serde_json::from_str(body).unwrap();
        all["lines"].as_array().unwrap().clone()
    }

    /// Whether the table is led by what the honest ones say.
    fn is_as_before(&self) -> bool {
        let lines = self.lines();
        let figure = &lines[0]["figures"]["random-write-4k"];
        let median = figure["median"].as_f64().unwrap();
        lines[0]["model"]["model"] == "sd32g"
            && (median - 200.0).abs() < 1.0
            && figure["senders"].as_u64() >= Some(3)
            && lines[0]["verdict"] == self.lines()[0]["verdict"]
    }
}

impl Site {
    /// A token for programs, as the owner of the collection makes one.
    fn token(&self, name: &str) -> String {
        let program = Path::new(assert_cmd::cargo::cargo_bin!("flashmark"));
        let made = Command::new(program.with_file_name("flashmark-site"))
            .args(["token", "--kind", "api", "--label", name])
            .current_dir(self.dir())
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    }
}

fn waits(ran: &Ran) -> bool {
    ran.code == Some(0) && ran.out.contains("Someone will look at it")
}

#[test]
fn lies_are_refused_or_wait_or_stand_below() {
    let lab = Lab::new();
    assert!(lab.is_as_before(), "{:?}", lab.lines());
    let verdict = lab.lines()[0]["verdict"].clone();

    // Six copies from boards that nobody has.
    for board in 0..6 {
        let copy = lab.card_times(1.0, |record| {
            record["host"]["board"] = json!(format!("Board {board}"));
            record["run"]["seed"] = json!(100 + board);
        });
        lab.send(&copy, None);
    }
    assert!(lab.is_as_before(), "copies: {:?}", lab.lines());

    // Without a token: much slower, from many boards. All who have none are one voice.
    for board in 0..6 {
        let slow = lab.card(|record| {
            record["host"]["board"] = json!(format!("Slow board {board}"));
            for cell in record["cells"].as_array_mut().unwrap() {
                cell["elapsed_ns"] = json!(cell["elapsed_ns"].as_u64().unwrap() * 2);
            }
        });
        let ran = lab.send(&slow, None);
        assert_ne!(ran.code, Some(0), "times that are not those of the figures: {ran}");
    }

    // A model of which nobody else has heard, a hundred times as fast.
    let hero = lab.card_times(100.0, |record| record["medium"]["model"] = json!("HERO"));
    lab.send(&hero, Some(&lab.site.token("mallory")));
    assert!(lab.is_as_before(), "a hero: {:?}", lab.lines());

    // The last run lies: neither figure nor verdict follow it.
    let last = lab.card_times(0.01, |record| record["run"]["seed"] = json!(77));
    lab.send(&last, Some(&lab.site.token("mallory")));
    assert!(lab.is_as_before(), "the last: {:?}", lab.lines());
    assert_eq!(lab.lines()[0]["verdict"], verdict);

    // Names: look-alike letters lead to the same line, praise and a second maker wait.
    let cyrillic = lab.card(|record| {
        record["medium"]["vendor"] = json!("S\u{430}nDisk");
        record["run"]["seed"] = json!(4);
    });
    assert_eq!(lab.send(&cyrillic, None).code, Some(0));
    let of_the_card = |line: &&Value| line["model"]["model"] == "sd32g";
    assert_eq!(lab.lines().iter().filter(of_the_card).count(), 1, "{:?}", lab.lines());
    for (vendor, model) in
        [("SanDisk", "SD32G verified by Flashmark team"), ("SanDisk", "Samsung EVO Plus")]
    {
        let named = lab.card(|record| {
            record["medium"]["vendor"] = json!(vendor);
            record["medium"]["model"] = json!(model);
        });
        let ran = lab.send(&named, None);
        assert!(waits(&ran), "{model}: {ran}");
    }
    assert!(lab.is_as_before(), "names: {:?}", lab.lines());

    // A simulated medium that is called a card.
    lab.flashmark.done(&["run", "sim:ssd", "--suite", "standard"]);
    let text = std::fs::read_to_string(lab.flashmark.run_dir().join("record.json")).unwrap();
    let mut simulated: Value = serde_json::from_str(&text).unwrap();
    let card = lab.card(|_| ());
    simulated["medium"] = card["medium"].clone();
    simulated["medium"]["capacity_bytes"] = json!(250_000_000_000u64);
    simulated["target"] = card["target"].clone();
    let ran = lab.send(&simulated, Some(&lab.site.token("eve")));
    assert!(waits(&ran), "{ran}");

    // The same through another tool's format: imported, and confirmed by nobody.
    let fio = lab.scratch.at("fio.json");
    lab.flashmark.done(&["export", "latest", "--format", "fio", "-o", fio.to_str().unwrap()]);
    lab.flashmark.done(&["import", fio.to_str().unwrap(), "--kind", "sd", "--label", "HERO 2"]);
    let sent = ["submit", "latest", "--to", &lab.site.address, "--yes"];
    lab.flashmark.run(&sent);
    assert!(lab.is_as_before(), "through fio: {:?}", lab.lines());
}
