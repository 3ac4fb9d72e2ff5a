//! AS SSD Benchmark: the text that it copies to the clipboard.
//!
//! Every test uses a file of 1 GiB past the page cache, except the access time of reads, which
//! covers the whole medium. Rates are in MB; no document says if these are 10^6 or 2^20 bytes. The
//! importer takes 10^6, and a note says so.

use record::units::GIB;
use record::{Cell, Content, Direction, Params, Path, Pattern, Region};

use super::imported_run::{
    ImportTrouble, ImportedRun, cell, io, note, other, our_test, rate, rates, word,
};
use super::reading::Reading;
use super::text::{ImportText, decimal, group, re, short, wanted};
use super::{Importer, sign};

const SECTION: &str =
    r"(?m)^[ \t]*(Sequential|Seq|4K|4K-64Threads|4K-64Thrd|Access Times|Acc\.time|Score):[ \t]*$";

pub(super) const IMPORTER: Importer = Importer {
    name: "AS SSD Benchmark text",
    signs: &[
        sign!("a line 'AS SSD Benchmark ..'", r"(?m)^\s*AS SSD Benchmark "),
        sign!("a heading 'Sequential:', '4K:' or '4K-64Threads:'", SECTION),
    ],
    read: |source, _, reading| {
        let parts = source.parts(|line| line.trim().starts_with("AS SSD Benchmark "));
        parts.iter().map(|part| read_one(part, reading)).collect()
    },
    is_ignored_line: |line| re!(r"^\s*(?:Size|Offset|Total):").is_match(line),
};

fn read_one(source: &ImportText, reading: &mut Reading) -> ImportedRun {
    let mut found = ImportedRun::by("AS SSD");
    let version = source.first(re!(r"^\s*AS SSD Benchmark (.*)"));
    found.version = version.map_or_else(String::new, |version| short(version, 20));
    found.medium.model = source.first(re!(r"^\s*Name:(.*)")).map(|name| short(name, 80));
    let mut section = "";
    for (at, line) in source.numbered() {
        section = re!(SECTION)
            .captures(line)
            .map_or(section, |next| next.get(1).map_or("", |it| it.as_str()));
        let Some(figures) = re!(r"^\s*(Read|Write):\s*(\S*)(.*)$").captures(line) else { continue };
        if section.is_empty() {
            continue;
        }
        reading.take(at);
        // A score is in points, which are not a figure of the medium.
        if section == "Score" {
            continue;
        }
        let direction =
            if group(&figures, 1) == "Read" { Direction::Read } else { Direction::Write };
        let figure = figure(at, section, direction, group(&figures, 2), group(&figures, 3));
        match reading.accept(at, figure) {
            Some(Some(cell)) => reading.add(&mut found, at, cell),
            Some(None) => {
                let what = short(line.trim(), 60);
                found.notes.push(format!("{what}: a figure of 0: the test failed or was not run"));
            }
            None => {}
        }
    }
    found
}

/// Cell of a line such as "Read: 86.21 MB/s"; `None` where the figure is 0.
fn figure(
    at: usize,
    section: &str,
    direction: Direction,
    number: &str,
    unit: &str,
) -> Result<Option<Cell>, ImportTrouble> {
    let number = wanted(at, "the figure", decimal(number))?;
    let writes = direction == Direction::Write;
    // According to the tool's document: reads of 4 KiB all over, writes of 512 bytes in the file.
    let is_access = section.starts_with("Acc");
    let is_whole = is_access && !writes;
    let (name, pattern, block) = match section {
        "Sequential" | "Seq" => ("sequential", Pattern::Sequential, None),
        "4K" => ("", Pattern::Uniform, Some(4096)),
        _ if is_access => ("access", Pattern::Uniform, Some(if writes { 512 } else { 4096 })),
        _ => ("random", Pattern::Uniform, Some(4096)),
    };
    let test = match name {
        "" => our_test(pattern, direction).to_owned(),
        name => format!("AS-SSD:{name}-{}", word(Some(direction))),
    };
    let params = Params {
        region: Some(if is_whole { Region::Whole } else { Region::File }),
        span_bytes: (!is_whole).then_some(GIB),
        threads: if name == "random" { 64 } else { 1 },
        path: Path::Direct,
        content: writes.then_some(Content::Incompressible),
        ..io(direction, pattern, block)
    };
    let mut cell = cell(test, params);
    match unit {
        "ms" if is_access => {
            other(&mut cell, "mean_latency_ns", number * 1e6, 1);
            if number > 0.0 {
                rates(&mut cell, Some(1e3 / number), None, 1);
                note(&mut cell, "from the mean access time: one I/O at a time");
            }
        }
        "MB/s" if !is_access => {
            rate(&mut cell, number * 1e6, 1);
            note(
                &mut cell,
                "its MB are taken as 10^6 bytes; if they are 2^20, this is 4.9 % too low",
            );
        }
        "iops" if block == Some(4096) && !is_access => {
            rates(&mut cell, Some(number), Some(number * 4096.0), 1);
        }
        unit => {
            return Err(ImportTrouble::at(at, format_args!("'{unit}' is no unit of this test")));
        }
    }
    Ok((number > 0.0).then_some(cell))
}
