//! PiBenchmarks (Storage.sh): the table at its end. What it runs, and how, its script says: hdparm,
//! dd, fio and iozone. Where their own output stands above, that is read instead.

use record::units::{KIB, MIB};
use record::{Cell, Content, Direction, Flag, Params, Path, Pattern, Region, test};

use super::by_medium::whole_disk;
use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, label, note};
use super::reading::Reading;
use super::text::{ImportText, between, decimal, short, wanted};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "the table of PiBenchmarks",
    signs: &[Sign {
        what: "lines 'HDParm  Disk Read  ..', 'FIO  4k random read  ..'",
        is_there: |source| source.has(|line| row(line).is_some()),
    }],
    read,
    chatter: |line| line.trim().starts_with("Score:"),
};

/// The rows of the table: their words, and what they are.
const ROWS: [(&str, &str, Kind); 9] = [
    ("HDParm", "Cached Disk Read", Kind::CachedRead),
    ("HDParm", "Disk Read", Kind::DeviceRead),
    ("DD", "Disk Write", Kind::Dd),
    ("FIO", "4k random read", Kind::Fio(Direction::Read)),
    ("FIO", "4k random write", Kind::Fio(Direction::Write)),
    ("IOZone", "4k random read", Kind::Iozone("random-read", Direction::Read)),
    ("IOZone", "4k random write", Kind::Iozone("random-write", Direction::Write)),
    ("IOZone", "4k read", Kind::Iozone("read", Direction::Read)),
    ("IOZone", "4k write", Kind::Iozone("write", Direction::Write)),
];

#[derive(Clone, Copy, Debug)]
enum Kind {
    CachedRead,
    DeviceRead,
    Dd,
    Fio(Direction),
    Iozone(&'static str, Direction),
}

/// What a row is, and its result as printed.
fn row(line: &str) -> Option<(Kind, &str)> {
    ROWS.iter().find_map(|(tool, words, kind)| {
        let rest = line.trim().strip_prefix(tool)?.strip_prefix([' ', '\t', '|'])?;
        let rest = rest.trim_matches([' ', '\t', '|']).strip_prefix(words)?;
        let result = rest.trim_matches([' ', '\t', '|']);
        result.starts_with(|c: char| c.is_ascii_digit()).then_some((*kind, result))
    })
}

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut found = ImportedRun::by("PiBenchmarks");
    for (at, line) in source.numbered() {
        if let Some(score) = line.trim().strip_prefix("Score:") {
            found.notes.push(format!("its score is {}", short(score, 20)));
            reading.take(at);
        }
        let Some((kind, result)) = row(line) else { continue };
        if stands_above(source, at, kind, result) {
            reading.take(at);
        } else if let Some(cell) = reading.accept(at, of_row(at, kind, result)) {
            reading.add(&mut found, at, cell);
        }
    }
    vec![found]
}

/// Puts all results of its log on the medium it tested: it writes to files of several places and
/// reads from the device, and all of that is one medium.
pub(super) fn take_one_medium(source: &ImportText, found: &mut [ImportedRun]) {
    let is_its_log = source.contains("has been detected as /dev/");
    if !is_its_log && !source.has(|line| row(line).is_some()) {
        return;
    }
    let mut disks: Vec<&str> =
        found.iter().filter_map(|run| run.target.device.as_deref()).map(whole_disk).collect();
    disks.dedup();
    if disks.len() > 1 {
        return;
    }
    let said = between(source.text, "has been detected as /dev/", " ");
    let device =
        disks.first().copied().or(said).map(|device| format!("/dev/{}", short(device, 40)));
    for run in found.iter_mut().filter(|run| run.target.device.is_none()) {
        run.target.path.clear();
        device.iter().for_each(|device| run.on(device));
    }
}

/// True if the tool's own output with this figure stands before the table.
fn stands_above(source: &ImportText, at: usize, kind: Kind, result: &str) -> bool {
    let figure = result.split_whitespace().next().unwrap_or_default();
    let is_its = |line: &str| match kind {
        Kind::CachedRead | Kind::DeviceRead => line.contains("Timing "),
        Kind::Dd => line.contains(" copied, "),
        Kind::Fio(_) => line.starts_with("3;fio-"),
        Kind::Iozone(..) => line.split_whitespace().all(|word| decimal(word).is_some()),
    };
    let has_figure = |line: &str| line.split([' ', '\t', ';']).any(|word| word == figure);
    source
        .numbered()
        .take_while(|(place, _)| *place < at)
        .any(|(_, line)| is_its(line) && has_figure(line))
}

fn of_row(at: usize, kind: Kind, result: &str) -> Result<Cell, ImportTrouble> {
    let figure = wanted(at, "the result", result.split_whitespace().next().and_then(decimal))?;
    let (mut cell, bps) = match kind {
        Kind::CachedRead => (of_hdparm("cache"), figure * MIB as f64),
        Kind::DeviceRead => (of_hdparm("direct"), figure * MIB as f64),
        Kind::Dd => (of_dd(), figure * if result.contains("GB") { 1e9 } else { 1e6 }),
        Kind::Fio(direction) => return of_fio(at, direction, figure, result),
        Kind::Iozone(form, direction) => (of_iozone(form, direction), figure * KIB as f64),
    };
    cell.metrics.bps = Some(estimate(bps, 1));
    if let Some(block) = cell.params.block_bytes {
        cell.metrics.iops = Some(estimate(bps / block as f64, 1));
    }
    Ok(cell)
}

fn of_hdparm(form: &str) -> Cell {
    let params = Params {
        direction: Some(Direction::Read),
        pattern: Some(Pattern::Sequential),
        block_bytes: Some(2 * MIB),
        span_offset_bytes: Some(0),
        path: if form == "cache" { Path::Buffered } else { Path::Direct },
        form: Some(form.to_owned()),
        ..Params::default()
    };
    let mut cell = cell(test::BUFFERED_READ, params);
    let text = "hdparm past the page cache; through it where the reader does not let that";
    note(&mut cell, text);
    if form == "cache" {
        // The same place again and again.
        cell.flags.push(Flag::Cached);
    }
    cell
}

fn of_dd() -> Cell {
    let params = Params {
        direction: Some(Direction::Write),
        pattern: Some(Pattern::Sequential),
        block_bytes: Some(4 * KIB),
        region: Some(Region::File),
        path: Path::Buffered,
        content: Some(Content::Zeros),
        ..Params::default()
    };
    let mut cell = cell("dd:write", params);
    label(&mut cell, "flush", "fsync");
    note(&mut cell, "through the page cache, with the time of an fsync at the end");
    note(&mut cell, "it prints dd's figure without its unit: GB/s stand there as MB/s");
    cell
}

/// "2352 IOPS (9410 KB/s)": of a file of 100 or 200 MB, 64 I/Os in flight.
fn of_fio(at: usize, direction: Direction, iops: f64, result: &str) -> Result<Cell, ImportTrouble> {
    let kib = between(result, "(", " KB/s").and_then(decimal);
    let params = Params {
        direction: Some(direction),
        pattern: Some(Pattern::Permutation),
        block_bytes: Some(4 * KIB),
        region: Some(Region::File),
        queue_depth: 64,
        path: Path::Direct,
        ..Params::default()
    };
    let name = if direction == Direction::Read { "fio:randread" } else { "fio:randwrite" };
    let mut cell = cell(name, params);
    cell.metrics.iops = Some(estimate(iops, 1));
    cell.metrics.bps = Some(estimate(wanted(at, "the rate", kib)? * KIB as f64, 1));
    note(&mut cell, "on a file of 100 or 200 MB, which caches of the medium may hold");
    Ok(cell)
}

/// `iozone -a -e -I -s 80M -r 4k`.
fn of_iozone(form: &str, direction: Direction) -> Cell {
    let is_random = form.starts_with("random");
    let params = Params {
        direction: Some(direction),
        pattern: Some(if is_random { Pattern::Permutation } else { Pattern::Sequential }),
        block_bytes: Some(4 * KIB),
        region: Some(Region::File),
        span_bytes: Some(80 * MIB),
        path: Path::Direct,
        content: (direction == Direction::Write).then_some(Content::Byte(165)),
        form: Some(form.to_owned()),
        ..Params::default()
    };
    let is_ours = form == "random-read";
    let mut cell = cell(if is_ours { test::RECORD_OPS } else { "iozone" }, params);
    if direction == Direction::Write {
        note(&mut cell, "the time of an fsync at the end is included (-e)");
    }
    cell
}
