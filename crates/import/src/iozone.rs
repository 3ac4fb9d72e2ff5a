//! iozone: tables in kB/s or operations a second (with or without their head, as people paste
//! them), and the throughput form (`-t`).
//!
//! Its K is 1024 bytes.

use super::IozoneUnit;
use super::prelude::*;

/// A line of results: kB of the file, kB of a record, and what follows.
macro_rules! row {
    ($file:literal, $rest:literal) => {
        concat!(
            r"(?m)^[ \t_]*(?<row>(?<file>",
            $file,
            r")[ \t_]+(?<record>1|2|4|8|16|32|64|128|256|512|1024|2048|4096|8192|16384|32768|65536|131072|262144|524288|1048576)(?<figures>",
            $rest,
            r"))[ \t_]*$"
        )
    };
}
const ROW: &str = row!(r"\d{1,13}", r"(?:[ \t_]+\d[\d.]*){1,13}");
/// One that is recognised without a head.
const BARE: &str = row!(r"\d{4,13}", r"(?:[ \t_]+\d[\d.]*){4}(?:(?:[ \t_]+\d[\d.]*){2,9})?");
const HEAD: &str = r"(?im)^(?<head>.*(?:kb.*reclen|reclen.*kb).*)$";
/// "Children see throughput for  4 initial writers  =  12.3 kB/sec".
const CHILDREN: &str = r"(?m)^\s*Children see throughput for\s*(?<threads>\S*)\s*(?<children>.*?)\s*=\s*(?<sum>\S*)\s*(?<unit>\S*).*$";

pub(super) static TABLE: Tool = tool! {
    "iozone", "iozone output", 1024.0, facts: of_run, ends: of_threads;
    ["a head with 'KB reclen'": HEAD, BARE, CHILDREN]
    ["a line of results: KB, record length, then figures": ROW, CHILDREN]
    Begins "Iozone: Performance Test";
    Says r"\$Revision:(?<version>[^$]*)";
    Begins r"^\s*Run began:(?<began>.*)";
    Says "(?<printed>Command line used):(?<command>.*)";
    // A command, after a prompt or in a sentence.
    Begins r"\biozone3? (?<command>-[^`|>;]*)";
    Says "(?i)(?<direct>o_direct) feature enabled";
    Says "(?i)include (?<fsync>fsync) in write timing";
    Says r"(?i)^\s*(?<synchronous>sync mode)";
    Says r"(?i)output is in (?<output>operations|kbytes)";
    Says r"(?i)^\s*(?<output>ops mode)";
    Says r"(?i)(?<option>feature enabled|mode\.)";
    Says HEAD;
    Says r"^\s*Record Size(?<record_size>.*)";
    Says r"^\s*File size set to(?<file_size>.*)";
    // A row of all columns is longer than a line of a terminal.
    Gives row!(r"\d{2,13}", r"(?:\s+\d[\d.]*){13}") => of_row;
    Wraps row!(r"\d{2,13}", r"(?:\s+\d[\d.]*){5,12}");
    Gives ROW => of_row;
    Gives row!(r"\d{2,13}", r"(?:\s+\S+){2,13}") => of_odd_row;
    Starts CHILDREN;
    Says r"^\s*(?<each_seen>(?:(?:Parent sees|Min|Max|Avg) throughput|Min xfer)[^=]*)=\s*(?<figure>\S*)\s*(?<unit>\S*)";
    Repeats r"^\s*Time Resolution =|Processor cache";
};

fn of_run(known: &mut Known, run: &mut ImportedRun) {
    if known.has("printed") {
        run.take_command(known.text("command"));
    }
    if let Some(began) = known.short("began", 60) {
        run.note(format!("began {began} by the clock of its host"));
    }
}

/// Columns in iozone's order: our names, direction, pattern, the children that `-t` names, and the
/// number of `-i` that fills it.
const COLUMNS: [(&str, Direction, Pattern, &str, &str); 13] = [
    ("write", Direction::Write, Pattern::Sequential, "initial writers", "0"),
    ("rewrite", Direction::Write, Pattern::Sequential, "rewriters", "0"),
    ("read", Direction::Read, Pattern::Sequential, "readers", "1"),
    ("reread", Direction::Read, Pattern::Sequential, "re-readers", "1"),
    ("random-read", Direction::Read, Pattern::Permutation, "random readers", "2"),
    ("random-write", Direction::Write, Pattern::Permutation, "random writers", "2"),
    ("backward-read", Direction::Read, Pattern::Strided, "reverse readers", "3"),
    ("record-rewrite", Direction::Write, Pattern::Strided, "", "4"),
    ("stride-read", Direction::Read, Pattern::Strided, "stride readers", "5"),
    ("fwrite", Direction::Write, Pattern::Sequential, "fwriters", "6"),
    ("frewrite", Direction::Write, Pattern::Sequential, "", "6"),
    ("fread", Direction::Read, Pattern::Sequential, "freaders", "7"),
    ("freread", Direction::Read, Pattern::Sequential, "", "7"),
];
/// Widths of a column in characters, of iozone since 3.43 and before.
const WIDTHS: [usize; 2] = [9, 8];
/// Forms that `record-ops` has as well.
const OURS: [&str; 4] = ["write", "rewrite", "random-read", "random-write"];
/// What the lines below the sum of `-t` say.
const OF_THREADS: [(&str, &str); 5] = [
    ("Parent", "parent_bps"),
    ("Min throughput", "slowest_thread_bps"),
    ("Max", "fastest_thread_bps"),
    ("Avg", "mean_thread_bps"),
    ("Min xfer", "least_of_a_thread_bytes"),
];

const LOST: &str =
    "blank columns are lost in the text: four figures are taken for those of -i 0 -i 2";
const NO_UNIT: [&str; 2] = [
    "the text does not say its unit: taken for operations per second, as four figures of the form people paste are (--iozone-unit kB if not)",
    "the text does not say its unit: taken for kB per second, as iozone prints without -O (--iozone-unit ops if not)",
];
const NO_OPTIONS: [&str; 2] = [
    "the text does not say with which options: taken for -I -o, as the four figures of the form people paste",
    "the text does not say with which options: taken for iozone's own, through the page cache",
];

/// Words of a line in which somebody put underscores for blanks.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c == '_').filter(|word| !word.is_empty())
}

fn has_option(known: &Known, option: &str) -> bool {
    words(known.text("command")).any(|word| word == option)
}

/// True if the text says with which options it ran.
fn has_options(known: &Known) -> bool {
    ["command", "direct", "synchronous", "output", "option"].iter().any(|it| known.has(it))
}

/// Unit of the figures, if the text or the user says it.
fn unit(known: &Known) -> Option<IozoneUnit> {
    match known.text("output").to_lowercase().starts_with("op") || has_option(known, "-O") {
        true => Some(IozoneUnit::Operations),
        false if known.has("output") || known.has("command") => Some(IozoneUnit::Kilobytes),
        false => known.unit,
    }
}

/// Columns of the tests that the command asks for.
fn asked(known: &Known) -> Option<Vec<usize>> {
    let tests = re!(r"(?:^|\s)-i\s*(\d+)").captures_iter(known.text("command"));
    let tests: Vec<&str> = tests.filter_map(|test| Some(test.get(1)?.as_str())).collect();
    Some((0..COLUMNS.len()).filter(|column| tests.contains(&COLUMNS[*column].4)).collect())
}

/// Columns of a head that somebody joined:
/// "KB______reclen__write__rewrite__randomread__randomwrite".
fn named(known: &Known) -> Option<Vec<usize>> {
    let lower = known.text("head").to_lowercase();
    let place = |word: &str| COLUMNS.iter().position(|(name, ..)| name.replace('-', "") == word);
    let is_joined = words(&lower).any(|word| word.starts_with("random"));
    is_joined.then(|| words(&lower).skip(2).map(place).collect()).flatten()
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

/// Columns of `count` figures, and true if they are assumed.
fn columns(known: &Known, count: usize) -> Option<(Vec<usize>, bool)> {
    let mut stated = [named(known), asked(known)].into_iter().flatten();
    let stated = stated.find(|columns| columns.len() == count);
    match (stated.or_else(|| by_place(known.text("row"))), count) {
        (Some(columns), _) => Some((columns, false)),
        (None, 4) => Some((vec![0, 1, 4, 5], true)),
        (None, 2 | 6..) => Some(((0..count).collect(), false)),
        _ => None,
    }
}

fn of_odd_row(known: &Known) -> Made {
    let trouble = || "not all of its figures are numbers".to_owned();
    if known.has("head") { Err(trouble()) } else { Ok(Vec::new()) }
}

fn of_row(known: &Known) -> Made {
    let figures: Vec<f64> = words(known.text("figures")).map_while(number).collect();
    let count = figures.len();
    let (file, record) = (known.count("file").unwrap_or(0), known.count("record").unwrap_or(1));
    let is_bare = re!(BARE).is_match(known.text("row")) && file % record == 0 && record <= 16_384;
    if file < record || !is_bare && !known.has("head") {
        return Ok(Vec::new());
    }
    let (columns, is_assumed) = columns(known, count)
        .ok_or_else(|| format!("{count} figures; which of iozone's columns they are is lost"))?;
    let (stated, has_options) = (unit(known), has_options(known));
    // People paste four figures from the command of an article, which passes the page cache.
    let guessed = if count == 4 { IozoneUnit::Operations } else { IozoneUnit::Kilobytes };
    let at = usize::from(count != 4);
    let of_figure = |(column, figure): (usize, f64)| {
        let unit = stated.unwrap_or(guessed);
        let cell = of_column(known, column, [file, record], (figure, unit), 1);
        let cell = if has_options || count != 4 { cell } else { cell.path(Path::Direct) };
        cell.note_if(stated.is_none(), NO_UNIT[at])
            .note_if(is_assumed, LOST)
            .note_if(!has_options, NO_OPTIONS[at])
    };
    Ok(columns.into_iter().zip(figures).map(of_figure).collect())
}

/// Cell of a column and a figure, for a file and records of so many KiB. Its test is `record-ops` if
/// iozone bypassed the page cache and that test has the form.
fn of_column(
    known: &Known,
    column: usize,
    [file, record]: [u64; 2],
    (figure, unit): (f64, IozoneUnit),
    threads: u32,
) -> Cell {
    let (name, direction, pattern, ..) = COLUMNS[column.min(COLUMNS.len() - 1)];
    let writes = direction == Direction::Write;
    let has_flush = writes && (known.has("fsync") || has_option(known, "-e"));
    let is_asked_direct = known.has("direct") || has_option(known, "-I");
    let is_macos = re!(" /(?:Volumes|Users)/").is_match(known.text("command"));
    let is_direct = is_asked_direct && !is_macos;
    let is_ours = is_direct && !has_flush && threads == 1 && OURS.contains(&name);
    let sync = match known.has("synchronous") || has_option(known, "-o") {
        _ if writes && has_option(known, "-+D") => Sync::Data,
        true if writes => Sync::File,
        _ => Sync::None,
    };
    let of_all = |count: u64| count.saturating_mul(u64::from(threads));
    let records = of_all(file / record);
    let iops = match unit {
        IozoneUnit::Operations => figure,
        IozoneUnit::Kilobytes => figure / record as f64,
    };
    let ns = if iops > 0.0 { (records as f64 / iops * 1e9).floor() } else { 0.0 };
    let test = if is_ours { test::RECORD_OPS } else { "iozone" };
    let mut cell = cell(test, direction, pattern, record.checked_mul(KIB))
        .region(Region::File)
        .span(file.checked_mul(KIB))
        .path(if is_direct { Path::Direct } else { Path::Buffered })
        .writes(Content::Byte(165))
        .form(name)
        .moved(of_all(file.saturating_mul(KIB)), records)
        .rates(Some(iops), Some(iops * (record * KIB) as f64), records)
        .took(ns);
    (cell.params.threads, cell.params.sync) = (threads.max(1), sync);
    let on_mac =
        "on a Mac -I does not pass the page cache: part of this may be the speed of memory";
    cell.note_if(has_flush, "the time of an fsync at the end is included (-e)")
        .note_if(is_asked_direct && is_macos, on_mac)
        .note_if(!is_asked_direct && has_options(known), BUFFERED)
        .note_if(figure == 0.0, "iozone prints whole numbers: less than one")
}

/// Throughput of all children, with what the lines below it say of the parent and of single threads.
fn of_threads(known: &Known) -> Made {
    let children = known.text("children");
    let column = COLUMNS.iter().position(|(.., name, _)| *name == children);
    let Some(column) = column.filter(|_| !children.is_empty()) else { return Ok(Vec::new()) };
    let threads = known.text("threads").parse();
    let threads = threads.map_err(|_| "the number of threads is not a number".to_owned())?;
    let record = known.size("record_size").filter(|bytes| *bytes >= KIB);
    let record = record.ok_or_else(|| "the record size is missing".to_owned())?;
    let sizes = [known.size("file_size").unwrap_or(0) / KIB, record / KIB];
    let is_ops = known.text("unit").starts_with("ops");
    let unit = if is_ops { IozoneUnit::Operations } else { IozoneUnit::Kilobytes };
    let sum = wanted("the throughput", known.number("sum"))?;
    let text =
        "the sum of what each thread did until the first was done; the others go on uncounted";
    let mut cell = of_column(known, column, sizes, (sum, unit), threads)
        .label("threads", &threads.to_string())
        .note(text);
    let seen = known.each("each_seen").filter_map(|line| {
        let what = line.text("each_seen");
        let (_, name) = OF_THREADS.iter().find(|(begin, _)| what.starts_with(begin))?;
        let factor = if line.text("unit") == "ops/sec" { record } else { KIB };
        Some((name, number(line.text("figure"))? * factor as f64))
    });
    seen.for_each(|(name, value)| cell.metrics.put(name, value, 1));
    Ok(vec![cell])
}
