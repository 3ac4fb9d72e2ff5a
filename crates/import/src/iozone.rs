//! iozone: tables in kB/s or operations a second (with or without their head, as people paste
//! them), and the throughput form (`-t`).
//!
//! Its K is 1024 bytes.

use record::units::KIB;
use record::{Cell, Content, Direction, Params, Path, Pattern, Region, Sync, test};
use regex::Captures;

use super::imported_run::{
    BUFFERED, ImportTrouble, ImportedRun, cell, io, label, moved, note, other, rates,
};
use super::reading::Reading;
use super::text::{ImportText, group, number, re, short, size, whole};
use super::{Hints, Importer, IozoneUnit, Sign, sign};

pub(super) const TABLE: Importer = Importer {
    name: "iozone output",
    signs: &[
        Sign {
            what: "a head with 'KB reclen'",
            is_there: |source| source.has(|line| is_head(line) || is_bare(line)),
        },
        Sign {
            what: "a line of results: KB, record length, then figures",
            is_there: |source| source.has(|line| row(line).is_some()),
        },
    ],
    read: |source, hints, reading| {
        runs(source).iter().map(|part| read_run(part, hints, reading)).collect()
    },
    apart: SETTINGS,
};

pub(super) const THREADS: Importer = Importer {
    name: "iozone throughput output",
    signs: &[
        sign!("'Each thread writes a .. file in .. records'", "Record Size"),
        sign!("lines 'Children see throughput for ..'", r"(?m)^\s*Children see throughput"),
    ],
    read: |source, _, reading| {
        runs(source).iter().map(|part| read_threads(part, reading)).collect()
    },
    apart: SETTINGS,
};

/// Columns in iozone's order: our names, direction, pattern.
const COLUMNS: [(&str, Direction, Pattern); 13] = [
    ("write", Direction::Write, Pattern::Sequential),
    ("rewrite", Direction::Write, Pattern::Sequential),
    ("read", Direction::Read, Pattern::Sequential),
    ("reread", Direction::Read, Pattern::Sequential),
    ("random-read", Direction::Read, Pattern::Permutation),
    ("random-write", Direction::Write, Pattern::Permutation),
    ("backward-read", Direction::Read, Pattern::Strided),
    ("record-rewrite", Direction::Write, Pattern::Strided),
    ("stride-read", Direction::Read, Pattern::Strided),
    ("fwrite", Direction::Write, Pattern::Sequential),
    ("frewrite", Direction::Write, Pattern::Sequential),
    ("fread", Direction::Read, Pattern::Sequential),
    ("freread", Direction::Read, Pattern::Sequential),
];
/// Columns that each `-i` fills.
const OF_TEST: [&[usize]; 8] = [&[0, 1], &[2, 3], &[4, 5], &[6], &[7], &[8], &[9, 10], &[11, 12]];
/// Widths of a column in characters, of iozone since 3.43 and before.
const WIDTHS: [usize; 2] = [9, 8];
/// Forms that `record-ops` has as well.
const OURS: [&str; 4] = ["write", "rewrite", "random-read", "random-write"];

fn is_head(line: &str) -> bool {
    re!(r"(?i)kb.*reclen|reclen.*kb").is_match(line)
}

/// kB of the file, kB of a record, figures.
type Row = (u64, u64, Vec<f64>);

/// Parses a line of results.
fn row(line: &str) -> Option<Row> {
    if !re!(r"^[\s_]*\d+[\s_]+\d+[\s_]+\d").is_match(line) {
        return None;
    }
    let words = line.split(|c: char| c.is_whitespace() || c == '_');
    let mut words = words.filter(|word| !word.is_empty());
    let (file, record) = (whole(words.next()?)?, whole(words.next()?)?);
    let figures: Vec<f64> = words.map(number).collect::<Option<_>>()?;
    let fits = record.is_power_of_two() && record <= 1 << 20 && file >= record && file <= 1 << 40;
    (fits && (1..=COLUMNS.len()).contains(&figures.len())).then_some((file, record, figures))
}

/// True if a line is recognised as results without a head.
fn is_bare(line: &str) -> bool {
    row(line).is_some_and(|(file, record, figures)| {
        let has_columns = figures.len() == 4 || figures.len() >= 6;
        file >= 1024 && file % record == 0 && record <= 16 * 1024 && has_columns
    })
}

/// Lines of its settings.
const SETTINGS: &str =
    r"^\s*(?:Output is in|OPS Mode\.|Time Resolution =|Parent sees.*Min xfer)|Processor cache";

/// A command, after a prompt or in a sentence.
const COMMAND: &str = r"\biozone3? (-[^`|>;]*)";

/// Splits a text into runs; a banner and its "Run began" belong to the same one.
fn runs<'a>(source: &ImportText<'a>) -> Vec<ImportText<'a>> {
    let banner = "Iozone: Performance Test";
    let begin = if source.contains(banner) { banner } else { "Run began:" };
    let is_typed = |line: &str| re!(COMMAND).is_match(line) && !line.contains("Command line used");
    source.parts(|line| line.contains(begin) || is_typed(line))
}

/// Parameters from the lines above a table.
#[derive(Default)]
struct Head {
    unit: Option<IozoneUnit>,
    is_direct: bool,
    sync: Sync,
    with_fsync: bool,
    /// True if the file is on a Mac.
    is_macos: bool,
    /// Columns that the command line asks for.
    columns: Option<Vec<usize>>,
    /// Columns that a head names whose words were joined.
    named: Option<Vec<usize>>,
    has_options: bool,
    threads: u32,
}

fn head(source: &ImportText) -> Head {
    let mut head = Head { threads: 1, ..Head::default() };
    for line in source.lines {
        head.has_options |= re!(r"(?i)^\s*command line used|feature enabled|mode\.").is_match(line);
        head.is_direct |= re!("(?i)o_direct feature enabled").is_match(line);
        head.with_fsync |= re!("(?i)include fsync in write timing").is_match(line);
        if re!(r"(?i)^\s*sync mode").is_match(line) {
            head.sync = Sync::File;
        }
        if re!(r"(?i)output is in operations per second|^\s*ops mode").is_match(line) {
            head.unit = Some(IozoneUnit::Operations);
        } else if re!("(?i)output is in kbytes/sec").is_match(line) {
            head.unit = Some(IozoneUnit::Kilobytes);
        }
        // The command may follow a prompt, or be in a sentence.
        if let Some((_, command)) = line.split_once("Command line used:") {
            command_line(&mut head, command);
        } else if let Some(command) = re!(COMMAND).captures(line) {
            head.has_options = true;
            command_line(&mut head, group(&command, 1));
            head.unit.get_or_insert(IozoneUnit::Kilobytes);
        }
        if is_head(line) {
            head.named = named(line).or(head.named.take());
        }
    }
    head
}

fn command_line(head: &mut Head, command: &str) {
    let has = |option: &str| command.split_whitespace().any(|word| word == option);
    head.is_direct |= has("-I");
    head.with_fsync |= has("-e");
    head.is_macos |= re!(" /(?:Volumes|Users)/").is_match(command);
    if has("-o") || has("-+D") {
        head.sync = if has("-+D") { Sync::Data } else { Sync::File };
    }
    if has("-O") {
        head.unit = Some(IozoneUnit::Operations);
    }
    let tests = re!(r"(?:^|\s)-i\s*(\d+)").captures_iter(command);
    let of_test =
        |test: Captures| group(&test, 1).parse().ok().and_then(|at: usize| OF_TEST.get(at));
    let mut columns: Vec<usize> =
        tests.filter_map(of_test).flat_map(|it| it.iter().copied()).collect();
    columns.sort_unstable();
    columns.dedup();
    head.columns = (!columns.is_empty()).then_some(columns);
}

/// Columns of a head that somebody joined:
/// "KB______reclen__write__rewrite__randomread__randomwrite".
fn named(line: &str) -> Option<Vec<usize>> {
    let lower = line.to_lowercase();
    let words =
        lower.split(|c: char| c.is_whitespace() || c == '_').filter(|word| !word.is_empty());
    let place = |word: &str| COLUMNS.iter().position(|(name, ..)| name.replace('-', "") == word);
    let is_joined = words.clone().any(|word| word.starts_with("random"));
    is_joined.then(|| words.skip(2).map(place).collect()).flatten()
}

/// Columns of the figures of a line, with a note if they are assumed.
fn columns(head: &Head, line: &str, count: usize) -> Option<(Vec<usize>, Option<&'static str>)> {
    let mut known = [&head.named, &head.columns].into_iter().flatten();
    if let Some(known) = known.find(|columns| columns.len() == count) {
        return Some((known.clone(), None));
    }
    let lost = "blank columns are lost in the text: four figures are taken for those of -i 0 -i 2";
    match (by_place(line), count) {
        (Some(places), _) => Some((places, None)),
        (None, 2) => Some((vec![0, 1], None)),
        (None, 4) => Some((vec![0, 1, 4, 5], Some(lost))),
        (None, 6..) => Some(((0..count).collect(), None)),
        _ => None,
    }
}

/// Columns by the positions at which figures end, in a line that still has its blanks.
fn by_place(line: &str) -> Option<Vec<usize>> {
    let ends: Vec<usize> = re!(r"\S+").find_iter(line).map(|word| word.end()).collect();
    let (from, figures) = (ends.get(1).filter(|_| !line.contains('_'))?, ends.get(2..)?);
    WIDTHS.into_iter().find_map(|width| {
        let place = |end: &usize| {
            let (column, off) = ((end - from) / width, (end - from) % width);
            (off == 0 && (1..=COLUMNS.len()).contains(&column)).then(|| column - 1)
        };
        figures.iter().map(place).collect()
    })
}

fn read_run(source: &ImportText, hints: &Hints, reading: &mut Reading) -> ImportedRun {
    let head = head(source);
    let mut found = found_of(source);
    let mut is_below_head = false;
    let has_head = source.has(is_head);
    for (at, line) in source.numbered() {
        is_below_head |= is_head(line);
        let Some((row, lines)) = row_at(source, at, line, has_head) else {
            if is_below_head && is_odd_row(line) {
                reading.refuse(at, "not all of its figures are numbers");
            }
            continue;
        };
        let count = row.2.len();
        let Some((columns, caveat)) = columns(&head, line, count) else {
            let what = format_args!("{count} figures; which of iozone's columns they are is lost");
            reading.refuse(at, what);
            continue;
        };
        reading.take_many(at, lines);
        reading.add_all(&mut found, at, of_row(&head, hints, row, columns, caveat));
    }
    found
}

/// Parses a line of results, or one that continues in the next; returns its number of lines too.
fn row_at(source: &ImportText, at: usize, line: &str, has_head: bool) -> Option<(Row, usize)> {
    let (file, record, mut figures) = row(line).filter(|_| has_head || is_bare(line))?;
    // A row of all columns was wrapped if the next line has only numbers and both give thirteen.
    let next = source.line(at + 1);
    let more: Option<Vec<f64>> = next.split_whitespace().map(number).collect();
    let more = more.filter(|more| has_head && !more.is_empty() && row(next).is_none());
    match more {
        Some(more) if figures.len() >= 5 && figures.len() + more.len() <= COLUMNS.len() => {
            figures.extend(more);
            Some(((file, record, figures), 2))
        }
        _ => Some(((file, record, figures), 1)),
    }
}

/// True for a file size and a record length, with something behind them that is not all numbers.
fn is_odd_row(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.len() >= 4
        && whole(words[0]).is_some_and(|file| file >= 64)
        && whole(words[1]).is_some_and(u64::is_power_of_two)
        && words.iter().any(|word| number(word).is_none())
}

/// Cells of a line.
fn of_row(
    head: &Head,
    hints: &Hints,
    (file_kib, record_kib, figures): Row,
    columns: Vec<usize>,
    caveat: Option<&'static str>,
) -> Vec<Cell> {
    let guessed = if figures.len() == 4 { IozoneUnit::Operations } else { IozoneUnit::Kilobytes };
    let stated_unit = head.unit.or(hints.iozone_unit);
    // People paste four figures from the command of an article, which passes the page cache.
    let is_of_article = !head.has_options && figures.len() == 4;
    let of_figure = |(column, figure): (usize, f64)| {
        let mut cell = of_column(head, column, record_kib, file_kib);
        if is_of_article {
            cell.params.path = Path::Direct;
        }
        figure_of(&mut cell, figure, stated_unit.unwrap_or(guessed), file_kib / record_kib);
        let bytes = cell.params.span_bytes.unwrap_or(0);
        moved(&mut cell, bytes, file_kib / record_kib);
        if stated_unit.is_none() {
            note(
                &mut cell,
                match guessed {
                    IozoneUnit::Operations => {
                        "the text does not say its unit: taken for operations per second, as four figures of the form people paste are (--iozone-unit kB if not)"
                    }
                    IozoneUnit::Kilobytes => {
                        "the text does not say its unit: taken for kB per second, as iozone prints without -O (--iozone-unit ops if not)"
                    }
                },
            );
        }
        caveat.iter().for_each(|caveat| note(&mut cell, *caveat));
        if is_of_article {
            note(
                &mut cell,
                "the text does not say with which options: taken for -I -o, as the four figures of the form people paste",
            );
        } else if !head.has_options {
            note(
                &mut cell,
                "the text does not say with which options: taken for iozone's own, through the page cache",
            );
        }
        cell
    };
    columns.into_iter().zip(figures).map(of_figure).collect()
}

fn found_of(source: &ImportText) -> ImportedRun {
    let mut found = ImportedRun::by("iozone");
    let command = source.first(re!("Command line used:(.*)")).unwrap_or_default();
    found.command = command.split_whitespace().map(|word| short(word, 200)).take(60).collect();
    if let Some(version) = re!(r"\$Revision:([^$]*)").captures(source.text) {
        found.version = short(group(&version, 1), 20);
    }
    if let Some(began) = source.first(re!(r"^\s*Run began:(.*)")) {
        found.notes.push(format!("began {} by the clock of its host", short(began, 60)));
    }
    found
}

/// Cell of a column. Its test is `record-ops` if iozone bypassed the page cache and that test has
/// the form.
fn of_column(head: &Head, column: usize, record_kib: u64, file_kib: u64) -> Cell {
    let (name, direction, pattern) = COLUMNS[column.min(COLUMNS.len() - 1)];
    let writes = direction == Direction::Write;
    let has_flush = head.with_fsync && writes;
    let is_ours =
        head.is_direct && !head.is_macos && !has_flush && head.threads == 1 && OURS.contains(&name);
    let params = Params {
        region: Some(Region::File),
        span_bytes: file_kib.checked_mul(KIB),
        threads: head.threads,
        sync: if writes { head.sync } else { Sync::None },
        path: if head.is_direct && !head.is_macos { Path::Direct } else { Path::Buffered },
        content: writes.then_some(Content::Byte(165)),
        form: Some(name.to_owned()),
        ..io(direction, pattern, record_kib.checked_mul(KIB))
    };
    let mut cell = cell(if is_ours { test::RECORD_OPS } else { "iozone" }, params);
    if has_flush {
        note(&mut cell, "the time of an fsync at the end is included (-e)");
    }
    if head.is_direct && head.is_macos {
        note(
            &mut cell,
            "on a Mac -I does not pass the page cache: part of this may be the speed of memory",
        );
    } else if !head.is_direct && head.has_options {
        note(&mut cell, BUFFERED);
    }
    cell
}

/// Sets the figure in both units: bytes and records a second.
fn figure_of(cell: &mut Cell, figure: f64, unit: IozoneUnit, records: u64) {
    let block = cell.params.block_bytes.unwrap_or(KIB) as f64;
    let (iops, bps) = match unit {
        IozoneUnit::Operations => (figure, figure * block),
        IozoneUnit::Kilobytes => (figure * KIB as f64 / block, figure * KIB as f64),
    };
    rates(cell, Some(iops), Some(bps), records);
    if iops > 0.0 {
        cell.elapsed_ns = (records as f64 / iops * 1e9) as u64;
    }
    if figure == 0.0 {
        note(cell, "iozone prints whole numbers: less than one");
    }
}

/// A throughput and its observer: "Children see throughput for  4 initial writers  =  12.3 kB/sec".
const SEEN: &str = r"^\s*(?:Children see throughput for\s*(\S*)\s*(.*?)|(Parent sees throughput|(?:Min|Max|Avg) throughput|Min xfer).*?)\s*=\s*(\S*)\s*(\S*).*$";

fn read_threads(source: &ImportText, reading: &mut Reading) -> ImportedRun {
    let mut head = head(source);
    let mut found = found_of(source);
    let record = source.first(re!(r"^\s*Record Size(.*)")).and_then(size);
    let Some(record) = record.filter(|bytes| *bytes >= KIB) else {
        if source.contains("Children see") {
            reading.refuse(source.begin(), "the record size is missing");
        }
        return found;
    };
    let file = source.first(re!(r"^\s*File size set to(.*)")).and_then(size).unwrap_or(0);
    let mut last: Option<(usize, Cell)> = None;
    for (at, seen) in source.captures(re!(SEEN)) {
        if seen.get(1).is_some() {
            ended(&mut found, last.take(), reading);
            let cell = reading.accept(at, children(at, &seen, &mut head, record, file));
            last = cell.flatten().map(|cell| (at, cell));
        } else if let (Some((_, cell)), Some(figure)) = (&mut last, number(group(&seen, 4))) {
            let factor = if source.line(at).trim().ends_with("ops/sec") { record } else { KIB };
            let name = match group(&seen, 3) {
                "Parent sees throughput" => "parent_bps",
                "Min throughput" => "slowest_thread_bps",
                "Max throughput" => "fastest_thread_bps",
                "Avg throughput" => "mean_thread_bps",
                _ => "least_of_a_thread_bytes",
            };
            other(cell, name, figure * factor as f64, 1);
            reading.take(at);
        }
    }
    ended(&mut found, last, reading);
    found
}

fn ended(found: &mut ImportedRun, last: Option<(usize, Cell)>, reading: &mut Reading) {
    if let Some((at, mut cell)) = last {
        note(
            &mut cell,
            "the sum of what each thread did until the first was done; the others go on uncounted",
        );
        reading.add(found, at, cell);
    }
}

/// Cell for a throughput of all children; `None` for an unknown kind.
fn children(
    at: usize,
    seen: &Captures,
    head: &mut Head,
    record: u64,
    file: u64,
) -> Result<Option<Cell>, ImportTrouble> {
    let bad = |what: &str| ImportTrouble::at(at, what);
    let form = match group(seen, 2) {
        "" => return Err(bad("the number of threads is missing")),
        "initial writers" => "write",
        "rewriters" => "rewrite",
        "readers" => "read",
        "re-readers" => "reread",
        "random readers" => "random-read",
        "random writers" => "random-write",
        _ => return Ok(None),
    };
    let Some(column) = COLUMNS.iter().position(|(name, ..)| *name == form) else { return Ok(None) };
    let threads = group(seen, 1);
    head.threads = threads.parse().map_err(|_| bad("the number of threads is not a number"))?;
    let figure = number(group(seen, 4)).ok_or_else(|| bad("the throughput is no number"))?;
    let is_ops = group(seen, 5).starts_with("ops");
    let unit = if is_ops { IozoneUnit::Operations } else { IozoneUnit::Kilobytes };
    let mut cell = of_column(head, column, record / KIB, file / KIB);
    let records = (file / record).saturating_mul(u64::from(head.threads));
    figure_of(&mut cell, figure, unit, records);
    moved(&mut cell, records.saturating_mul(record), records);
    label(&mut cell, "threads", threads);
    Ok(Some(cell))
}
