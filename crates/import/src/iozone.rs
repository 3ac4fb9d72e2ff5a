//! iozone: tables in kB/s or operations a second (with or without their head, as people paste
//! them), and the throughput form (`-t`).
//!
//! Its K is 1024 bytes.

use record::units::KIB;
use record::{Cell, Content, Direction, Params, Path, Pattern, Region, Sync, test};

use super::imported_run::{ImportTrouble, ImportedRun, cell, estimate, label, note, other};
use super::reading::Reading;
use super::text::{ImportText, number, short, size, whole};
use super::{Hints, Importer, IozoneUnit, Sign};

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
    read: read_table,
    chatter: is_chatter,
};

pub(super) const THREADS: Importer = Importer {
    name: "iozone throughput output",
    signs: &[
        Sign {
            what: "'Each thread writes a .. file in .. records'",
            is_there: |source| source.has(|line| line.contains("Record Size")),
        },
        Sign {
            what: "lines 'Children see throughput for ..'",
            is_there: |source| {
                source.has(|line| line.trim_start().starts_with("Children see throughput"))
            },
        },
    ],
    read: read_threads,
    chatter: is_chatter,
};

/// What iozone measures, in the order of its columns: our names, direction, pattern.
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
/// Which columns each `-i` fills.
const OF_TEST: [&[usize]; 8] = [&[0, 1], &[2, 3], &[4, 5], &[6], &[7], &[8], &[9, 10], &[11, 12]];
/// Widths of a column, of iozone since 3.43 and before.
const WIDTHS: [usize; 2] = [9, 8];
/// Forms that `record-ops` has too.
const OURS: [&str; 4] = ["write", "rewrite", "random-read", "random-write"];

/// What the lines above a table say.
#[derive(Clone, Debug, Default)]
struct Head {
    unit: Option<IozoneUnit>,
    is_direct: bool,
    sync: Sync,
    with_fsync: bool,
    /// Columns that the command line asks for.
    columns: Option<Vec<usize>>,
    /// Columns that a head with joined words names.
    named: Option<Vec<usize>>,
    has_options: bool,
    threads: u32,
}

fn is_head(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    line.contains("reclen") && line.contains("kb")
}

/// kB of the file, kB of a record, figures.
type Row = (u64, u64, Vec<f64>);

/// A line of results.
fn row(line: &str) -> Option<Row> {
    let mut words =
        line.split(|c: char| c.is_whitespace() || c == '_').filter(|word| !word.is_empty());
    let (file, record) = (whole(words.next()?)?, whole(words.next()?)?);
    let figures: Vec<f64> = words.map(number).collect::<Option<_>>()?;
    let fits = record.is_power_of_two() && record <= 1 << 20 && file >= record && file <= 1 << 40;
    (fits && !figures.is_empty() && figures.len() <= COLUMNS.len())
        .then_some((file, record, figures))
}

/// A line of results that needs no head to be known.
fn is_bare(line: &str) -> bool {
    row(line).is_some_and(|(file, record, figures)| {
        file >= 64 && file % record == 0 && record <= 16 * 1024 && figures.len() >= 2
    })
}

fn is_chatter(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("Output is in")
        || line.starts_with("OPS Mode.")
        || line.starts_with("Time Resolution =")
        || line.contains("Processor cache")
        || line.starts_with("Parent sees") && line.contains("Min xfer")
}

/// True if a run begins here.
fn begins_run(line: &str) -> bool {
    line.contains("Iozone: Performance Test") || line.contains("Run began:")
}

/// The runs in a text; a banner and its "Run began" are of one.
fn runs<'a>(source: &ImportText<'a>) -> Vec<ImportText<'a>> {
    let has_banner = source.has(|line| line.contains("Iozone: Performance Test"));
    source.parts(|line| {
        if has_banner { line.contains("Iozone: Performance Test") } else { begins_run(line) }
    })
}

fn head(source: &ImportText) -> Head {
    let mut head = Head { threads: 1, ..Head::default() };
    for line in source.lines {
        let line = line.trim();
        let lower = line.to_ascii_lowercase();
        head.has_options |= lower.starts_with("command line used")
            || lower.contains("feature enabled")
            || lower.contains("mode.");
        head.is_direct |= lower.contains("o_direct feature enabled");
        head.with_fsync |= lower.contains("include fsync in write timing");
        if lower.starts_with("sync mode") {
            head.sync = Sync::File;
        }
        if lower.contains("output is in operations per second") || lower.starts_with("ops mode") {
            head.unit = Some(IozoneUnit::Operations);
        } else if lower.contains("output is in kbytes/sec") {
            head.unit = Some(IozoneUnit::Kilobytes);
        }
        if let Some(command) = line.split_once("Command line used:").map(|(_, command)| command) {
            command_line(&mut head, command);
        } else if let Some(command) = pasted_command(line) {
            head.has_options = true;
            command_line(&mut head, command);
            head.unit.get_or_insert(IozoneUnit::Kilobytes);
        }
        if is_head(line) {
            head.named = named(line).or(head.named.take());
        }
    }
    head
}

/// The options of a command as people write it above its table: behind a prompt, or in a sentence.
fn pasted_command(line: &str) -> Option<&str> {
    let options = line.get(line.find("iozone -")? + "iozone ".len()..)?;
    options.split(['`', '|', '>', ';']).next()
}

fn command_line(head: &mut Head, command: &str) {
    let mut tests = Vec::new();
    let mut words = command.split_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            "-i" => tests.extend(words.peek().and_then(|next| whole(next))),
            "-I" => head.is_direct = true,
            "-o" => head.sync = Sync::File,
            "-+D" => head.sync = Sync::Data,
            "-e" => head.with_fsync = true,
            "-O" => head.unit = Some(IozoneUnit::Operations),
            _ => tests.extend(word.strip_prefix("-i").and_then(whole)),
        }
    }
    let of_test = |test: &u64| usize::try_from(*test).ok().and_then(|test| OF_TEST.get(test));
    let mut columns: Vec<usize> =
        tests.iter().filter_map(of_test).flat_map(|columns| columns.iter().copied()).collect();
    columns.sort_unstable();
    columns.dedup();
    head.columns = (!columns.is_empty()).then_some(columns);
}

/// A head that somebody joined: "KB______reclen__write__rewrite__randomread__randomwrite".
fn named(line: &str) -> Option<Vec<usize>> {
    let words: Vec<String> = line
        .split(|c: char| c.is_whitespace() || c == '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let place =
        |word: &String| COLUMNS.iter().position(|(name, ..)| name.replace('-', "") == *word);
    words
        .iter()
        .any(|word| word.starts_with("random"))
        .then(|| words.iter().skip(2).map(place).collect())
        .flatten()
}

/// Which columns the figures of a line are of, and what was taken for granted.
fn columns(head: &Head, line: &str, count: usize) -> Option<(Vec<usize>, Option<&'static str>)> {
    let fits = |columns: &&Vec<usize>| columns.len() == count;
    if let Some(known) = head.named.as_ref().filter(fits).or(head.columns.as_ref().filter(fits)) {
        return Some((known.clone(), None));
    }
    if let Some(places) = by_place(line) {
        return Some((places, None));
    }
    match count {
        2 => Some((vec![0, 1], None)),
        4 => Some((
            vec![0, 1, 4, 5],
            Some(
                "blank columns are lost in the text: four figures are taken for those of -i 0 -i 2",
            ),
        )),
        6.. => Some(((0..count).collect(), None)),
        _ => None,
    }
}

/// Columns by the places at which figures end, in a line that still has its blanks.
fn by_place(line: &str) -> Option<Vec<usize>> {
    if line.contains('_') {
        return None;
    }
    let ends: Vec<usize> = line
        .char_indices()
        .filter(|(at, c)| {
            !c.is_whitespace()
                && line[at + c.len_utf8()..].chars().next().is_none_or(char::is_whitespace)
        })
        .map(|(at, c)| at + c.len_utf8())
        .collect();
    let (from, figures) = (ends.get(1)?, ends.get(2..)?);
    WIDTHS.into_iter().find_map(|width| {
        let place = |end: &usize| {
            let distance = end.checked_sub(*from)?;
            (distance % width == 0 && (1..=COLUMNS.len()).contains(&(distance / width)))
                .then(|| distance / width - 1)
        };
        figures.iter().map(place).collect::<Option<Vec<usize>>>()
    })
}

fn read_table(source: &ImportText, hints: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    runs(source).iter().map(|part| read_run(part, hints, reading)).collect()
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
        let Some((columns, doubt)) = columns(&head, line, row.2.len()) else {
            let count = row.2.len();
            reading.refuse(
                at,
                format_args!("{count} figures; which of iozone's columns they are is lost"),
            );
            continue;
        };
        reading.take_many(at, lines);
        reading.add_all(&mut found, at, of_row(&head, hints, row, columns, doubt));
    }
    found
}

/// A line of results, or one that goes on in the next.
fn row_at(source: &ImportText, at: usize, line: &str, has_head: bool) -> Option<(Row, usize)> {
    let found = row(line).filter(|_| has_head || is_bare(line))?;
    // A row of all columns has been wrapped where only numbers follow and give thirteen.
    let next = source.line(at + 1);
    let more: Option<Vec<f64>> = next.split_whitespace().map(number).collect();
    match more.filter(|more| has_head && !more.is_empty() && row(next).is_none()) {
        Some(more) if found.2.len() + more.len() <= COLUMNS.len() && found.2.len() >= 5 => {
            let (file, record, mut figures) = found;
            figures.extend(more);
            Some(((file, record, figures), 2))
        }
        _ => Some((found, 1)),
    }
}

/// A file size and a record length, and something behind them that is not all numbers.
fn is_odd_row(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_begun = words.len() >= 4
        && whole(words[0]).is_some_and(|file| file >= 64)
        && whole(words[1]).is_some_and(u64::is_power_of_two);
    is_begun && words.iter().any(|word| number(word).is_none())
}

/// The cells of a line.
fn of_row(
    head: &Head,
    hints: &Hints,
    (file_kib, record_kib, figures): Row,
    columns: Vec<usize>,
    doubt: Option<&'static str>,
) -> Vec<Cell> {
    let guessed = if figures.len() == 4 { IozoneUnit::Operations } else { IozoneUnit::Kilobytes };
    let unit = head.unit.or(hints.iozone_unit).unwrap_or(guessed);
    let of_figure = |(column, figure): (usize, f64)| {
        let mut cell = of_column(head, column, record_kib, file_kib);
        figure_of(&mut cell, figure, unit, file_kib / record_kib);
        if head.unit.is_none() && hints.iozone_unit.is_none() {
            note(&mut cell, unsaid(unit));
        }
        doubt.iter().for_each(|doubt| note(&mut cell, *doubt));
        if !head.has_options {
            note(
                &mut cell,
                "the text does not say with which options: whether past the page cache, and when a write was done",
            );
        }
        cell
    };
    columns.into_iter().zip(figures).map(of_figure).collect()
}

fn unsaid(unit: IozoneUnit) -> &'static str {
    match unit {
        IozoneUnit::Operations => {
            "the text does not say its unit: taken for operations per second, as four figures of the form people paste are (--iozone-unit kB if not)"
        }
        IozoneUnit::Kilobytes => {
            "the text does not say its unit: taken for kB per second, as iozone prints without -O (--iozone-unit ops if not)"
        }
    }
}

fn found_of(source: &ImportText) -> ImportedRun {
    let mut found = ImportedRun::by("iozone");
    if let Some(command) =
        source.lines.iter().find_map(|line| line.split_once("Command line used:"))
    {
        found.command =
            command.1.split_whitespace().map(|word| short(word, 200)).take(60).collect();
    }
    if let Some(version) =
        source.text.split_once("$Revision:").and_then(|(_, rest)| rest.split('$').next())
    {
        found.version = short(version, 20);
    }
    if let Some(began) = source.lines.iter().find_map(|line| line.trim().strip_prefix("Run began:"))
    {
        found.notes.push(format!("began {} by the clock of its host", short(began, 60)));
    }
    found
}

/// The cell of a column. It is that of `record-ops` where iozone went past the page cache with the
/// forms that test has.
fn of_column(head: &Head, column: usize, record_kib: u64, file_kib: u64) -> Cell {
    let (name, direction, pattern) = COLUMNS[column.min(COLUMNS.len() - 1)];
    let has_flush = head.with_fsync && direction == Direction::Write;
    let is_ours = head.is_direct && !has_flush && head.threads == 1 && OURS.contains(&name);
    let params = Params {
        direction: Some(direction),
        pattern: Some(pattern),
        block_bytes: record_kib.checked_mul(KIB),
        region: Some(Region::File),
        span_bytes: file_kib.checked_mul(KIB),
        queue_depth: 1,
        threads: head.threads,
        sync: if direction == Direction::Write { head.sync } else { Sync::None },
        path: if head.is_direct { Path::Direct } else { Path::Buffered },
        content: (direction == Direction::Write).then_some(Content::Byte(165)),
        form: Some(name.to_owned()),
        ..Params::default()
    };
    let mut cell = cell(if is_ours { test::RECORD_OPS } else { "iozone" }, params);
    if has_flush {
        note(&mut cell, "the time of an fsync at the end is included (-e)");
    }
    if !head.is_direct && head.has_options {
        note(&mut cell, "through the page cache: part of this may be the speed of memory");
    }
    cell
}

/// Puts the figure in, in both units: a record is as large as it is.
fn figure_of(cell: &mut Cell, figure: f64, unit: IozoneUnit, records: u64) {
    let block = cell.params.block_bytes.unwrap_or(KIB) as f64;
    let (iops, bps) = match unit {
        IozoneUnit::Operations => (figure, figure * block),
        IozoneUnit::Kilobytes => (figure * KIB as f64 / block, figure * KIB as f64),
    };
    cell.metrics.iops = Some(estimate(iops, records));
    cell.metrics.bps = Some(estimate(bps, records));
    (cell.ops, cell.bytes) = (records, cell.params.span_bytes.unwrap_or(0));
    if cell.params.direction == Some(Direction::Write) {
        cell.written_bytes = cell.bytes;
    }
    if iops > 0.0 {
        cell.elapsed_ns = (records as f64 / iops * 1e9) as u64;
    }
    if figure == 0.0 {
        note(cell, "iozone prints whole numbers: less than one");
    }
}

/// What iozone calls who sees a throughput, and what that is for us.
const WORKERS: [(&str, &str); 6] = [
    ("initial writers", "write"),
    ("rewriters", "rewrite"),
    ("re-readers", "reread"),
    ("random readers", "random-read"),
    ("random writers", "random-write"),
    ("readers", "read"),
];

fn read_threads(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    runs(source).iter().map(|part| read_thread_run(part, reading)).collect()
}

fn read_thread_run(source: &ImportText, reading: &mut Reading) -> ImportedRun {
    let mut head = head(source);
    let kib = |words: &str| {
        source
            .lines
            .iter()
            .find_map(|line| line.trim().strip_prefix(words))
            .and_then(|rest| size(rest.trim()))
    };
    let mut found = found_of(source);
    let Some(record) = kib("Record Size").filter(|bytes| *bytes >= KIB) else {
        if source.has(|line| line.contains("Children see")) {
            reading.refuse(source.begin(), "the record size is missing");
        }
        return found;
    };
    let file = kib("File size set to").unwrap_or(0);
    let mut last: Option<(usize, Cell)> = None;
    for (at, line) in source.numbered() {
        let line = line.trim();
        let Some((words, value)) = line.split_once('=') else { continue };
        let words = words.trim();
        if let Some(rest) = words.strip_prefix("Children see throughput for") {
            ended(&mut found, last.take(), reading);
            let cell = children(at, rest, value, &mut head, record, file);
            last = reading.accept(at, cell).flatten().map(|cell| (at, cell));
        } else if let Some((_, cell)) = &mut last
            && let Some((name, figure)) = seen_by(words, value)
        {
            let factor = if line.ends_with("ops/sec") { record as f64 } else { KIB as f64 };
            other(cell, name, figure * factor, 1);
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

/// The cell that "4 initial writers = 12.3 kB/sec" begins; none for a kind that is not known.
fn children(
    at: usize,
    rest: &str,
    value: &str,
    head: &mut Head,
    record: u64,
    file: u64,
) -> Result<Option<Cell>, ImportTrouble> {
    let bad = |what: &str| ImportTrouble::at(at, what);
    let (threads, who) =
        rest.trim().split_once(' ').ok_or_else(|| bad("the number of threads is missing"))?;
    let form = WORKERS.iter().find(|(name, _)| who.trim() == *name).map(|(_, form)| *form);
    let column = form.and_then(|form| COLUMNS.iter().position(|(name, ..)| *name == form));
    let Some(column) = column else { return Ok(None) };
    head.threads = whole(threads)
        .and_then(|n| u32::try_from(n).ok())
        .ok_or_else(|| bad("the number of threads is none"))?;
    let mut value = value.split_whitespace();
    let figure = value.next().and_then(number).ok_or_else(|| bad("the throughput is no number"))?;
    let unit = if value.next().is_some_and(|unit| unit.starts_with("ops")) {
        IozoneUnit::Operations
    } else {
        IozoneUnit::Kilobytes
    };
    let mut cell = of_column(head, column, record / KIB, file / KIB);
    let records = (file / record).saturating_mul(u64::from(head.threads));
    figure_of(&mut cell, figure, unit, records);
    cell.bytes = records.saturating_mul(record);
    cell.written_bytes =
        if cell.params.direction == Some(Direction::Write) { cell.bytes } else { 0 };
    label(&mut cell, "threads", threads);
    Ok(Some(cell))
}

/// What else is said of the threads, under our name.
fn seen_by(words: &str, value: &str) -> Option<(&'static str, f64)> {
    let name = match words {
        _ if words.starts_with("Parent sees throughput") => "parent_bps",
        _ if words.starts_with("Min throughput") => "slowest_thread_bps",
        _ if words.starts_with("Max throughput") => "fastest_thread_bps",
        _ if words.starts_with("Avg throughput") => "mean_thread_bps",
        _ if words.starts_with("Min xfer") => "least_of_a_thread_bytes",
        _ => return None,
    };
    Some((name, value.split_whitespace().next().and_then(number)?))
}
