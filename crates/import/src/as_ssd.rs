//! AS SSD Benchmark: the text that it copies.
//!
//! Every test is of a file of 1 GiB past the page cache, except the access time of reads, which is
//! of the whole medium. Rates are counted in MB; no document says whether these are 10^6 or 2^20
//! bytes, so that 10^6 is taken, and a note says so.

use record::units::GIB;
use record::{Cell, Content, Direction, Params, Path, Pattern, Region, test};

use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, note, other};
use super::reading::Reading;
use super::text::{ImportText, decimal, short, wanted};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "AS SSD Benchmark text",
    signs: &[
        Sign {
            what: "a line 'AS SSD Benchmark ..'",
            is_there: |source| source.has(|line| version(line).is_some()),
        },
        Sign {
            what: "a heading 'Sequential:', '4K:' or '4K-64Threads:'",
            is_there: |source| source.has(|line| Section::headed(line).is_some()),
        },
    ],
    read,
    chatter: |line| ["Size:", "Offset:", "Total:"].iter().any(|lead| line.trim().starts_with(lead)),
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Sequential,
    Random,
    Threads,
    AccessTime,
    /// Points, which are no figures of the medium.
    Score,
}

impl Section {
    fn headed(line: &str) -> Option<Section> {
        match line.trim().strip_suffix(':')? {
            "Sequential" | "Seq" => Some(Section::Sequential),
            "4K" => Some(Section::Random),
            "4K-64Threads" | "4K-64Thrd" => Some(Section::Threads),
            "Access Times" | "Acc.time" => Some(Section::AccessTime),
            "Score" => Some(Section::Score),
            _ => None,
        }
    }
}

fn version(line: &str) -> Option<&str> {
    line.trim().strip_prefix("AS SSD Benchmark ")
}

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let parts = source.parts(|line| version(line).is_some());
    parts.iter().map(|part| read_one(part, reading)).collect()
}

fn read_one(source: &ImportText, reading: &mut Reading) -> ImportedRun {
    let mut found = ImportedRun::by("AS SSD");
    let mut section = None;
    for (at, line) in source.numbered() {
        if let Some(version) = version(line) {
            found.version = short(version, 20);
        } else if let Some(name) = line.trim().strip_prefix("Name:") {
            found.medium.model = Some(short(name, 80));
        }
        section = Section::headed(line).or(section);
        let Some((section, (direction, value))) = section.zip(way(line)) else { continue };
        reading.take(at);
        match reading.accept(at, figure(at, section, direction, value)) {
            Some(Some(cell)) => reading.add(&mut found, at, cell),
            Some(None) if section != Section::Score => {
                let what = short(line.trim(), 60);
                found.notes.push(format!("{what}: a figure of 0: the test failed or was not run"));
            }
            _ => {}
        }
    }
    found
}

fn way(line: &str) -> Option<(Direction, &str)> {
    let line = line.trim();
    let of = |(lead, direction)| Some((direction, line.strip_prefix(lead)?.trim()));
    [("Read:", Direction::Read), ("Write:", Direction::Write)].into_iter().find_map(of)
}

/// The cell of a line such as "Read: 86.21 MB/s"; none of a score, and none where the figure is 0.
fn figure(
    at: usize,
    section: Section,
    direction: Direction,
    value: &str,
) -> Result<Option<Cell>, ImportTrouble> {
    if section == Section::Score {
        return Ok(None);
    }
    let (number, unit) = value.split_once(' ').unwrap_or((value, ""));
    let number = wanted(at, "the figure", decimal(number))?;
    let mut cell = of_section(section, direction);
    match (section, unit.trim()) {
        (Section::AccessTime, "ms") => {
            other(&mut cell, "mean_latency_ns", number * 1e6, 1);
            if number > 0.0 {
                cell.metrics.iops = Some(estimate(1e3 / number, 1));
                note(&mut cell, "from the mean access time: one I/O at a time");
            }
        }
        (Section::Sequential, "MB/s") => cell.metrics.bps = Some(estimate(number * 1e6, 1)),
        (Section::Random | Section::Threads, "MB/s") => {
            cell.metrics.bps = Some(estimate(number * 1e6, 1));
            cell.metrics.iops = Some(estimate(number * 1e6 / 4096.0, 1));
        }
        (Section::Random | Section::Threads, "iops") => {
            cell.metrics.iops = Some(estimate(number, 1));
            cell.metrics.bps = Some(estimate(number * 4096.0, 1));
        }
        (_, unit) => {
            return Err(ImportTrouble::at(at, format_args!("'{unit}' is no unit of this test")));
        }
    }
    if unit.trim() == "MB/s" {
        note(&mut cell, "its MB are taken as 10^6 bytes; if they are 2^20, this is 4.9 % too low");
    }
    Ok((number > 0.0).then_some(cell))
}

fn of_section(section: Section, direction: Direction) -> Cell {
    let writes = direction == Direction::Write;
    let word = if writes { "write" } else { "read" };
    // The document of the tool: reads of 4 KiB all over, writes of 512 bytes in the file.
    let is_whole = section == Section::AccessTime && !writes;
    let (test, pattern, block_bytes) = match section {
        Section::Sequential => (format!("AS-SSD:sequential-{word}"), Pattern::Sequential, None),
        Section::Random if writes => (test::RANDOM_WRITE.to_owned(), Pattern::Uniform, Some(4096)),
        Section::Random => (test::RANDOM_READ.to_owned(), Pattern::Uniform, Some(4096)),
        Section::Threads => (format!("AS-SSD:random-{word}"), Pattern::Uniform, Some(4096)),
        Section::AccessTime | Section::Score => (
            format!("AS-SSD:access-{word}"),
            Pattern::Uniform,
            Some(if writes { 512 } else { 4096 }),
        ),
    };
    let params = Params {
        direction: Some(direction),
        pattern: Some(pattern),
        block_bytes,
        region: Some(if is_whole { Region::Whole } else { Region::File }),
        span_bytes: (!is_whole).then_some(GIB),
        threads: if section == Section::Threads { 64 } else { 1 },
        path: Path::Direct,
        content: writes.then_some(Content::Incompressible),
        ..Params::default()
    };
    cell(test, params)
}
