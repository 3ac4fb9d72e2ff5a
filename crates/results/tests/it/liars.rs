//! Attempts to falsify the table of a collection: each record is refused, waits for a person, or is
//! ranked below what honest senders agree on.

use std::cell::RefCell;

use record::{
    CapacityKind, Cell, Direction, Estimate, Histogram, MediumKind, Params, Pattern, Record, Stop,
    TargetKind,
};
use serde_json::Value;
use stats::Random;

use crate::support::{Flashmark, Scratch, has_tool, tool};

/// Random writes per second that all honest senders measure on the card.
const HONEST_IOPS: f64 = 200.0;

/// Fate of a record that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// It is part of the collection.
    Taken,
    /// A person has to look at it first.
    Waits,
    /// It cannot be true.
    Refused,
}

/// A collection in which five senders agree on a card.
struct Lab {
    scratch: Scratch,
    flashmark: Flashmark,
    verdict: Value,
    /// Attacks that moved the table, or were not treated as expected.
    successes: RefCell<Vec<String>>,
}

/// A cell as Flashmark measures one on a card: `iops` I/Os of 4 KiB per second, in 200 I/Os at
/// queue depth 1.
fn cell(id: &str, iops: f64, random: &mut Random) -> Cell {
    let (test, _) = id.split_once('/').unwrap();
    let direction = if test == "random-read" { Direction::Read } else { Direction::Write };
    let mut cell = Cell::begun(
        id,
        test,
        Params {
            direction: Some(direction),
            pattern: Some(Pattern::Uniform),
            block_bytes: Some(4096),
            span_offset_bytes: Some(1 << 30),
            span_bytes: Some(1 << 30),
            queue_depth: 1,
            threads: 1,
            ..Params::default()
        },
    );
    let mut histogram = Histogram::default();
    for number in 0..200 {
        // Each tenth write waits for the controller.
        let slow = if number % 10 == 0 { 3.0 } else { 1.0 };
        histogram.record((1e9 / iops * slow * (0.5 + random.unit()) / 1.2) as u64);
    }
    (cell.ops, cell.bytes, cell.stop) = (200, 200 * 4096, Stop::Converged);
    cell.elapsed_ns = (histogram.mean() * 200.0) as u64;
    let rate = 200.0 / (cell.elapsed_ns as f64 / 1e9);
    let estimate =
        |value: f64| Some(Estimate { value, ci95: Some([value * 0.98, value * 1.02]), n: 200 });
    (cell.metrics.iops, cell.metrics.bps) = (estimate(rate), estimate(rate * 4096.0));
    cell.histogram = Some(histogram);
    cell
}

/// A measurement of the card, at `factor` times the honest rate.
fn card(seed: u64, factor: f64) -> Record {
    let mut record = Record::from_json(&std::fs::read_to_string(crate::submit::RECORD).unwrap());
    let record = record.as_mut().unwrap();
    let mut random = Random::for_purpose(seed, "card");
    record.medium.kind = MediumKind::Sd;
    record.medium.vendor = Some("SanDisk".to_owned());
    record.medium.model = Some("SD32G".to_owned());
    record.medium.capacity_bytes = Some(31_914_983_424);
    record.medium.profile = None;
    (record.run.seed, record.run.label) = (seed, None);
    record.run.elapsed_ns = 600_000_000_000;
    (record.target.kind, record.target.engine) = (TargetKind::Block, Some("io_uring".to_owned()));
    record.cells = vec![
        cell("random-write/1", HONEST_IOPS * factor, &mut random),
        cell("random-read/1", HONEST_IOPS * 4.0 * factor, &mut random),
    ];
    record.clone()
}

/// The same record, of another medium.
fn named(mut record: Record, vendor: &str, model: &str) -> Record {
    (record.medium.vendor, record.medium.model) = (Some(vendor.to_owned()), Some(model.to_owned()));
    record
}

/// The same record, with a probe of its capacity that found this.
fn probed(mut record: Record, kind: CapacityKind) -> Record {
    let params = Params { queue_depth: 1, threads: 1, ..Params::default() };
    let mut probe = Cell::begun("capacity/1", "capacity", params);
    let real = record.medium.capacity_bytes.unwrap() as f64 / 4.0;
    for (name, value) in [("type", kind.code()), ("real_bytes", real), ("marks_lost", 9.0)] {
        probe.metrics.other.insert(name.into(), Estimate { value, ci95: None, n: 1 });
    }
    probe.stop = Stop::Ops;
    record.cells.insert(0, probe);
    record
}

/// The same record, as if another program had measured it, without latencies.
fn by(mut record: Record, software: &str) -> Record {
    record.run.software.name = software.to_owned();
    record.cells.iter_mut().for_each(|cell| cell.histogram = None);
    record
}

fn git(dir: &str, words: &[&str]) {
    let who = ["-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    tool("git", &[&who, words].concat());
}

impl Lab {
    fn new() -> Lab {
        let scratch = Scratch::new();
        let dir = scratch.at("cards");
        let dir = dir.to_str().unwrap();
        Flashmark::new().done(&["init", dir, "--title", "Cards"]);
        git(dir, &["init", "--quiet", "-b", "main"]);
        git(dir, &["add", "-A"]);
        git(dir, &["commit", "--quiet", "-m", "Begin a collection"]);
        let mut lab = Lab {
            scratch,
            flashmark: Flashmark::new(),
            verdict: Value::Null,
            successes: RefCell::default(),
        };
        for (seed, name) in (1..).zip(["ada", "bea", "cem", "dan", "eva"]) {
            assert_eq!(lab.send(&card(seed, 1.0), name), Sent::Taken, "{name}");
        }
        lab.verdict = lab.lines()[0]["verdict"].clone();
        lab.look("at first");
        lab
    }

    fn word(&self, name: &str) -> String {
        self.scratch.at(name).to_str().unwrap().to_owned()
    }

    fn send(&self, record: &Record, sender: &str) -> Sent {
        self.send_file(self.scratch.file("sent.json", record.to_json()).to_str().unwrap(), sender)
    }

    /// Sends a run or a file as this account.
    fn send_file(&self, run: &str, sender: &str) -> Sent {
        let dir = self.word("cards");
        let words = ["submit", run, "--to", &dir, "--sender", sender, "--yes"];
        if self.flashmark.run(&words).code != Some(0) {
            return Sent::Refused;
        }
        let git = |words: &[&str]| git(&dir, words);
        let words = ["validate", &dir, "--sender", sender, "--since", "HEAD"];
        let checked = self.flashmark.run(&words);
        git(&["add", "-A"]);
        if checked.code == Some(0) {
            git(&["commit", "--quiet", "--allow-empty", "-m", "Add a record"]);
            return Sent::Taken;
        }
        // The pull request is not merged.
        git(&["reset", "--quiet", "--hard"]);
        if checked.out.contains("doubtful: ") { Sent::Waits } else { Sent::Refused }
    }

    /// Lines of the table in its order, as programs read them.
    fn lines(&self) -> Vec<Value> {
        let (site, dir) = (self.word("site"), self.word("cards"));
        self.flashmark.done(&["publish", &site, "--collection", &dir, "--no-reference"]);
        let text = std::fs::read_to_string(self.scratch.at("site/data/collection.json")).unwrap();
        let all: Value = serde_json::from_str(&text).unwrap();
        let mut lines = all["lines"].as_array().unwrap().clone();
        let page = std::fs::read_to_string(self.scratch.at("site/index.html")).unwrap();
        let place = |line: &Value| {
            let link = format!("medium/{}.html", line["slug"].as_str().unwrap());
            page.find(&link).unwrap_or(usize::MAX)
        };
        lines.sort_by_key(place);
        lines
    }

    /// Notes an attack that succeeded: the table is no longer led by what the honest senders
    /// measured.
    fn look(&self, attack: &str) {
        let lines = self.lines();
        let first = &lines[0];
        let figure = &first["figures"]["random-write-4k"];
        let median = figure["median"].as_f64().unwrap();
        let is_as_before = first["model"]["model"] == "sd32g"
            && first["origin"] == "measured"
            && (median / HONEST_IOPS - 1.0).abs() < 0.1
            && figure["senders"].as_u64() >= Some(5)
            && first["name"] == "SanDisk SD32G 32 GB"
            && first["verdict"] == self.verdict;
        if !is_as_before {
            self.successes.borrow_mut().push(format!("{attack}: {first:#}"));
        }
    }

    /// Sends a false record, and checks the table.
    fn attack(&self, attack: &str, record: &Record, sender: &str, expected: &[Sent]) {
        self.note(self.send(record, sender), expected, attack);
    }

    /// Notes an attack that was not treated as expected, and checks the table.
    fn note(&self, sent: Sent, expected: &[Sent], attack: &str) {
        if !expected.contains(&sent) {
            self.successes.borrow_mut().push(format!("{attack}: {sent:?}"));
        }
        self.look(attack);
    }
}

/// False records about the card that honest senders measured, and about similar media.
fn lies_move_nothing(lab: &Lab) {
    use Sent::{Refused, Taken, Waits};

    let mut times = card(100, 1.0);
    for cell in &mut times.cells {
        for rate in [&mut cell.metrics.iops, &mut cell.metrics.bps].into_iter().flatten() {
            rate.value *= 1000.0;
            (rate.ci95, rate.n) = (None, rate.n - 1);
        }
    }
    lab.attack("rates a thousand times as high", &times, "mallory", &[Refused]);
    let mut idle = card(101, 1.0);
    idle.cells[0].params.block_bytes = None;
    lab.attack("bytes without a block size", &idle, "mallory", &[Refused]);
    lab.attack("a thousand times as fast", &card(102, 1000.0), "mallory", &[Waits]);
    let hero = named(card(103, 20.0), "Acme", "HERO");
    lab.attack("a model that nobody knows", &hero, "mallory", &[Taken]);
    lab.attack("no latencies", &by(card(104, 1.3), "flashmark"), "mallory", &[Waits]);
    lab.attack("another spelling of ours", &by(card(105, 1.3), "FLASHMARK"), "mallory", &[Waits]);
    let like_ours = by(card(106, 1.3), "flashmark-ng");
    lab.attack("a program called nearly so", &like_ours, "mallory", &[Waits]);

    for board in 0..6 {
        let mut copy = card(1, 1.0);
        copy.run.seed = 110 + board;
        copy.host.get_or_insert_default().board = Some(format!("Board {board}"));
        lab.attack("copies from other boards", &copy, "mallory", &[Waits]);
    }
    let mut simulated = card(3, 1.0);
    simulated.medium.profile = Some("class10".to_owned());
    lab.attack("a copy called simulated", &simulated, "mallory", &[Waits]);

    for seed in 120..124 {
        let slow = card(seed, 0.4);
        lab.attack("one sender, often and slow", &slow, "mallory", &[Taken]);
    }
    for kind in [CapacityKind::Damaged, CapacityKind::Limbo, CapacityKind::Wraparound] {
        let faulty = probed(card(130 + kind as u64, 1.0), kind);
        lab.attack("one faulty medium", &faulty, "mallory", &[Taken]);
    }
    let fakes = lab.lines()[0]["fakes"].as_u64();
    if fakes != Some(1) {
        lab.successes.borrow_mut().push(format!("two runs of one sender are {fakes:?} reports"));
    }

    let cyrillic = named(card(140, 1.0), "S\u{430}nDisk", "SD32G");
    lab.attack("letters that look alike", &cyrillic, "nina", &[Taken]);
    let of_the_card = |line: &&Value| line["model"]["model"] == "sd32g" && line["is_fake"] == false;
    assert_eq!(lab.lines().iter().filter(of_the_card).count(), 1, "{:?}", lab.lines());
    let praised = named(card(141, 1.0), "SanDisk", "SD32G verified by Flashmark team");
    lab.attack("praise", &praised, "mallory", &[Waits]);
    let two = named(card(142, 1.0), "SanDisk", "Samsung EVO Plus");
    lab.attack("two makers", &two, "mallory", &[Waits]);
}

/// Three accounts of one person: what they agree on is confirmed, so they must not count for more
/// than honest ones.
fn three_accounts_move_nothing(lab: &Lab) {
    use Sent::{Taken, Waits};

    for (seed, sender) in (200..).zip(["mal1", "mal2", "mal3"]) {
        let mut unknown = by(card(seed, 75_000.0), "fio");
        unknown.medium.kind = MediumKind::Unknown;
        let unknown = named(unknown, "Acme", "Q");
        lab.attack("an unknown kind at 15 million IOPS", &unknown, sender, &[Waits]);
        let fio = named(by(card(seed + 10, 25_000.0), "fio"), "Acme", "R");
        lab.attack("a card at 5 million IOPS by fio", &fio, sender, &[Waits]);
        let mut faster = card(seed + 20, 3.5);
        lab.attack("three that are faster than five", &faster, sender, &[Taken]);
        let link = faster.target.link.get_or_insert_default();
        link.mode = Some("5000 Mbit/s".to_owned());
        faster.medium.interface = Some("usb".to_owned());
        faster.run.seed += 50;
        faster.cells = card(seed + 70, 3.5).cells;
        lab.attack("three with a faster interface", &faster, sender, &[Taken]);
        let damaged = probed(card(seed + 30, 1.0), CapacityKind::Damaged);
        lab.attack("three with damage", &damaged, sender, &[Taken]);
    }
}

/// A simulated medium that is called a card, in our own format and in that of another tool.
fn simulations_move_nothing(lab: &Lab) {
    lab.flashmark.done(&["run", "sim:ssd", "--suite", "standard"]);
    let text = std::fs::read_to_string(lab.flashmark.run_dir().join("record.json")).unwrap();
    let mut called = Record::from_json(&text).unwrap();
    let card = card(300, 1.0);
    (called.medium, called.target) = (card.medium, card.target);
    called.medium.capacity_bytes = Some(250_000_000_000);
    lab.attack("a simulation called a card", &called, "mallory", &[Sent::Waits]);
    let through_fio = named(by(called, "fio"), "Acme", "HERO 2");
    lab.attack("a simulation through fio", &through_fio, "mallory", &[Sent::Waits, Sent::Refused]);
}

#[test]
fn lies_move_no_published_table() {
    if !has_tool("git") {
        return;
    }
    let lab = Lab::new();
    lies_move_nothing(&lab);
    three_accounts_move_nothing(&lab);
    simulations_move_nothing(&lab);
    let successes = lab.successes.borrow();
    assert!(successes.is_empty(), "{}", successes.join("\n"));
}
