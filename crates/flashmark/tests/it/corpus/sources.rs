//! Commands that make the records of the corpus.

use std::fs;

use record::{Cell, Ended, Pattern, Record, test};
use serde_json::Value;

use super::{RECORDS, stored};
use crate::support::{Flashmark, Scratch};

/// A record that a command makes again: virtual time, or the output of another tool.
struct Source {
    /// Name of the record and of its golden file.
    name: &'static str,
    /// The command; `FIXTURES` stands for the directory of that name, `DECISIVE` for the tests of
    /// that name.
    command: &'static str,
    /// A fault that is added to the profile of the medium.
    fault: &'static str,
}

const fn source(name: &'static str, command: &'static str) -> Source {
    Source { name, command, fault: "" }
}

const fn faulty(name: &'static str, command: &'static str, fault: &'static str) -> Source {
    Source { name, command, fault }
}

/// Tests of `standard` that decide on a use.
const DECISIVE: &str = "capacity,prime,random-write,sequential-write,sequential-read,random-read,flush-cost,log-append";

/// Media of every kind with each suite, faults, a replay, and output of other tools.
const SOURCES: &[Source] = &[
    source("standard-a1", "run sim:a1 --suite standard --only DECISIVE"),
    source("standard-a2-cq", "run sim:a2-cq --suite standard --only DECISIVE"),
    source("standard-class10", "run sim:class10 --suite standard --only DECISIVE"),
    source("standard-class10-bypass", "run sim:class10-bypass --suite standard --only DECISIVE"),
    source("standard-sd-worst", "run sim:sd-worst --suite standard --only DECISIVE"),
    source(
        "standard-cf-kingston-266x",
        "run sim:cf-kingston-266x --suite standard --only DECISIVE",
    ),
    source("standard-usb2-cruzer", "run sim:usb2-cruzer --suite standard --only DECISIVE"),
    source("standard-usb3-modern", "run sim:usb3-modern --suite standard --only DECISIVE"),
    source("standard-emmc", "run sim:emmc --suite standard --only DECISIVE"),
    source("standard-ssd", "run sim:ssd --suite standard --only DECISIVE"),
    source("standard-disk-5400", "run sim:disk-5400 --suite standard --only DECISIVE"),
    source("standard-span-cheat-64", "run sim:span-cheat-64 --suite standard --only DECISIVE"),
    source("standard-flush-liar", "run sim:flush-liar --suite standard --only DECISIVE"),
    source("standard-zero-cheat", "run sim:zero-cheat --suite standard --only DECISIVE"),
    source(
        "standard-work",
        "run sim:a1 --suite standard --only prime,zero-fill,commit,record-ops,ext2-format,ext2-fill,seek",
    ),
    source("full-span-cheat-64", "run sim:span-cheat-64 --suite full --only random-write,prime"),
    source("full-class10", "run sim:class10 --suite full --only prime,sustained"),
    source("full-throttler", "run sim:throttler --suite full --only sustained"),
    source("full-ssd-pslc", "run sim:ssd-pslc --suite full --only sustained"),
    source("full-zero-cheat", "run sim:zero-cheat --suite full --only content-sweep"),
    source("full-span-cheat-16", "run sim:span-cheat-16 --suite full --only span-sweep"),
    source("full-open-aus", "run sim:class10 --suite full --only open-aus"),
    source("full-write-unit", "run sim:class10 --suite full --only write-unit,align-read"),
    source("full-misalign", "run sim:class10 --suite full --only prime,misalign"),
    source("full-disk-7200", "run sim:disk-7200 --suite full --only whole-view,seek"),
    source("quick-class6", "run sim:class6 --suite quick"),
    source("quick-claims", "run sim:class10 --suite quick --claim class=10,app=A1"),
    source("quick-disk-7200", "run sim:disk-7200 --suite quick"),
    source("quick-fake-limbo", "run sim:fake-limbo --suite quick"),
    source("check-a1", "check sim:a1"),
    source("check-logger", "check sim:class10 --for logger"),
    source("check-fake-wrap", "check sim:fake-wrap"),
    source("check-chain", "check sim:chain --for camera"),
    source("check-flush-liar", "check sim:flush-liar --for database"),
    source("check-worn", "check sim:worn"),
    faulty(
        "check-hanging",
        "check sim:a1 --budget 5m",
        "kind = \"hang\"\nlasts = \"20 s\"\ntimes = 1000000\ndirection = \"read\"\noffset = \"14 GiB\"",
    ),
    faulty("check-unplugged", "check sim:a1", "kind = \"vanish\"\nafter = \"12 s\""),
    faulty(
        "check-corrupting",
        "check sim:a1",
        "kind = \"corruption\"\nshare = 0.01\nafter_written = \"1 MiB\"",
    ),
    faulty(
        "quick-read-only",
        "run sim:a1 --suite quick",
        "kind = \"read-only\"\nafter_written = \"600 MiB\"",
    ),
    faulty(
        "quick-read-errors",
        "run sim:a1 --suite quick",
        "kind = \"medium-error\"\ndirection = \"read\"\noffset = \"16 GiB\"\nsize = \"64 MiB\"",
    ),
    source("replay-a1", "replay FIXTURES/traces/fio-randrw-ext4.iolog sim:a1 --speed max"),
    source("import-fio", "import FIXTURES/import/fio_randwrite-4k-qd1.json"),
    source("import-iozone", "import FIXTURES/import/iozone_O.txt"),
    source("import-dd", "import FIXTURES/import/dd_sweep_transcript.txt"),
    source("import-hdparm", "import FIXTURES/import/hdparm_tT.txt"),
    source("import-kdiskmark", "import FIXTURES/import/kdiskmark.txt"),
    source("import-crystaldiskmark", "import FIXTURES/import/crystaldiskmark_8.txt"),
    source("import-f3-damaged", "import FIXTURES/import/f3read_damaged.txt"),
    source("import-f3probe", "import FIXTURES/import/f3probe_limbo.txt"),
    source("import-flashbench", "import FIXTURES/import/flashbench_card_12.txt"),
    source("import-bonnie", "import FIXTURES/import/bonnie_2.00.txt"),
];

/// Largest record of the corpus.
pub(super) const MAX_BYTES: usize = 40_000;
/// Most points of a curve and most cells of a test, tried from the left until a record is small
/// enough.
const THINNER: [(usize, usize); 9] =
    [(1000, 100), (100, 100), (48, 100), (24, 100), (16, 8), (12, 6), (8, 5), (6, 4), (3, 4)];

/// Writes the records that a command makes again, or those of which `FLASHMARK_RECORDS` is a part of
/// the name; `cargo test -p flashmark --test it corpus::sources -- --ignored`.
#[test]
#[ignore = "writes fixtures/records anew"]
fn records_are_made_anew() {
    let wanted = std::env::var("FLASHMARK_RECORDS").unwrap_or_default();
    for source in SOURCES.iter().filter(|it| it.name.contains(&wanted)) {
        let text = thin(&source.made(), source.name);
        fs::write(format!("{RECORDS}/{}.json", source.name), text).unwrap();
    }
}

/// Every record that can be made again is there.
#[test]
fn every_source_has_its_record() {
    let names: Vec<String> = stored().into_iter().map(|(name, _)| name).collect();
    let missing: Vec<&str> = SOURCES
        .iter()
        .map(|it| it.name)
        .filter(|name| !names.iter().any(|it| it == name))
        .collect();
    assert_eq!(missing, [""; 0]);
}

impl Source {
    /// The record, as the command makes it.
    fn made(&self) -> Record {
        let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
        let command = self.command.replace("FIXTURES", fixtures).replace("DECISIVE", DECISIVE);
        let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        if !self.fault.is_empty() {
            let target = words.iter_mut().find(|word| word.starts_with("sim:")).unwrap();
            let profile = flashmark.done(&["sim", "show", &target["sim:".len()..]]).out;
            let file = format!("{}.toml", self.name);
            scratch.file(&file, format!("{profile}\n[[fault]]\n{}\n", self.fault));
            *target = format!("sim:{file}");
        }
        if self.command.contains("sim:") {
            words.extend(["--seed", "1"].map(str::to_owned));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = flashmark.command(&words).current_dir(scratch.at("")).output().unwrap();
        assert!(ran.status.code().is_some_and(|code| code < 5), "{}: {ran:?}", self.name);
        let shown = flashmark.done(&["show", "latest", "--json"]).out;
        let mut record = Record::from_json(&shown).unwrap();
        record.run.command =
            ["flashmark"].into_iter().chain(self.command.split(' ')).map(str::to_owned).collect();
        record
    }
}

/// The record made small, without its conclusions, which are drawn again when it is read.
fn thin(record: &Record, name: &str) -> String {
    let mut record = record.clone();
    record.run.software.commit = None;
    (record.findings, record.summary) = (Vec::new(), None);
    let thinned =
        THINNER.iter().map(|&(points, cells)| lines(&with_at_most(&record, points, cells)));
    let fitting = thinned.into_iter().find(|text| text.len() <= MAX_BYTES);
    let least = THINNER.last().map(|&(points, cells)| lines(&with_at_most(&record, points, cells)));
    fitting.unwrap_or_else(|| panic!("{name} is too large: {:?}", least.map(|text| text.len())))
}

/// The record with so many points a curve and cells a test, and figures of five digits.
fn with_at_most(record: &Record, points: usize, cells: usize) -> Record {
    let mut record = record.clone();
    let all = std::mem::take(&mut record.cells);
    for cell in &all {
        let of_test = |cells: &[Cell]| cells.iter().filter(|it| it.test == cell.test).count();
        let is_few = of_test(&all) <= cells;
        if is_few || (is_usual(cell) && of_test(&record.cells) < cells) {
            record.cells.push(cell.clone());
        }
    }
    // Of a run that is complete only what its probe was to do is asked for.
    let is_complete = record.run.ended == Ended::Complete;
    record.plan.retain(|planned| !is_complete || planned.test == test::CAPACITY);
    for cell in &mut record.cells {
        if cells < 100 && cell.written_bytes == 0 {
            // Conclusions read the times of writes alone.
            cell.histogram = None;
        }
        for series in &mut cell.series {
            let step = series.points.len().div_ceil(points).max(1);
            series.points = series.points.iter().copied().step_by(step).collect();
        }
    }
    let mut value = serde_json::to_value(&record).unwrap();
    shorten(&mut value["cells"]);
    serde_json::from_value(value).unwrap()
}

/// True for a cell of a block size that the screens show.
fn is_usual(cell: &Cell) -> bool {
    let sizes: &[u64] = match cell.params.pattern {
        Some(Pattern::Sequential) => &[64 << 10, 1 << 20],
        _ => &[512, 4 << 10, 16 << 10, 64 << 10],
    };
    cell.params.block_bytes.is_none_or(|bytes| sizes.contains(&bytes))
}

/// Rounds what has a fraction to five digits; order is kept, so that values stay within their
/// intervals.
fn shorten(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_f64().is_some_and(|it| it.fract() != 0.0) => {
            let rounded = format!("{:.4e}", number.as_f64().unwrap()).parse::<f64>().unwrap();
            *value = Value::from(rounded);
        }
        Value::Array(list) => list.iter_mut().for_each(shorten),
        Value::Object(entries) => entries.values_mut().for_each(shorten),
        _ => {}
    }
}

/// JSON with a line for each cell.
fn lines(record: &Record) -> String {
    serde_json::to_string(record).unwrap().replace("},{\"id\":", "},\n{\"id\":") + "\n"
}
