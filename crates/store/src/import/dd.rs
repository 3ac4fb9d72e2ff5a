//! dd: single runs and transcripts of several, and the list "Block: / Write: / Read:" that people
//! make of a sweep over block sizes.
//!
//! Its kB, MB and GB are powers of 1000.

use record::units::KIB;
use record::{Cell, Content, Direction, Params, Path, Pattern, Region, Sync, test};

use super::imported_run::{
    ImportTrouble, ImportedRun, cell, estimate, label, note, room_for_another, whole_ns,
};
use super::text::{ImportText, decimal_rate, number, short, size, wanted, whole};
use super::{Hints, Importer, Sign};

pub(super) const RUNS: Importer = Importer {
    name: "dd output",
    signs: &[
        Sign {
            what: "'.. records out'",
            is_there: |source| source.has(|line| line.trim_end().ends_with("records out")),
        },
        Sign {
            what: "a line '.. bytes .. copied, .. s, ..'",
            is_there: |source| source.has(|line| summary(line).is_some()),
        },
    ],
    read: read_runs,
};

pub(super) const SWEEP: Importer = Importer {
    name: "a dd sweep",
    signs: &[
        Sign {
            what: "a line 'Write: .. MB/s .. MB/s' or 'Read: ..'",
            is_there: |source| {
                source.has(|line| way(line).is_some_and(|(_, rest)| rest.contains("B/s")))
            },
        },
        Sign {
            what: "only lines of rates, after 'Block: 4K 8K ..', 'Write:' and 'Read:'",
            is_there: |source| source.lines.iter().all(|line| belongs(line)),
        },
    ],
    read: read_sweep,
};

/// Bytes, seconds, and the rate as printed, of "67108864 bytes (67 MB, 64 MiB) copied, 1.72648 s,
/// 38.9 MB/s"; BSD: ".. transferred in 1.7 secs (..)".
fn summary(line: &str) -> Option<(u64, &str, &str)> {
    let line = line.trim();
    let (bytes, rest) = line.split_once(" bytes ")?;
    let bytes = whole(bytes)?;
    let copied = || {
        let (_, rest) = rest.split_once("copied, ")?;
        rest.split_once(", ")
    };
    let transferred = || rest.strip_prefix("transferred in ")?.split_once(" (");
    let (time, rate) = copied().or_else(transferred)?;
    Some((bytes, time, rate.trim_end_matches(')')))
}

/// What a command line says: `if=`, `of=`, `bs=`, flags and conversions.
#[derive(Clone, Debug, Default)]
struct Command {
    words: Vec<String>,
    input: String,
    output: String,
    block_bytes: Option<u64>,
    flags: Vec<String>,
}

/// The command of a line with or without a prompt; `sudo` and paths in front of dd do not matter.
fn command(line: &str) -> Option<Command> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let dd = words.iter().position(|word| *word == "dd" || word.ends_with("/dd"))?;
    let mut command = Command {
        words: words[dd..].iter().take(30).map(|word| short(word, 200)).collect(),
        ..Command::default()
    };
    for word in &words[dd + 1..] {
        match word.split_once('=') {
            Some(("if", path)) => command.input = short(path, 200),
            Some(("of", path)) => command.output = short(path, 200),
            Some(("bs" | "ibs" | "obs", text)) => command.block_bytes = dd_size(text),
            Some(("iflag" | "oflag" | "conv", list)) => {
                command.flags.extend(list.split(',').map(str::to_owned))
            }
            _ => {}
        }
    }
    (!command.input.is_empty() || !command.output.is_empty()).then_some(command)
}

/// dd's own suffixes: K and KiB are 1024, kB is 1000.
fn dd_size(text: &str) -> Option<u64> {
    let decimal = [("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9)]
        .into_iter()
        .find(|(suffix, _)| text.ends_with(suffix));
    match decimal {
        Some((suffix, factor)) => {
            number(text.strip_suffix(suffix)?).map(|value| (value * factor) as u64)
        }
        None => size(text),
    }
}

impl Command {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }

    fn direction(&self) -> Option<Direction> {
        const NOWHERE: [&str; 2] = ["/dev/null", "/dev/zero"];
        const MADE_UP: [&str; 3] = ["/dev/zero", "/dev/urandom", "/dev/random"];
        match (MADE_UP.contains(&self.input.as_str()), NOWHERE.contains(&self.output.as_str())) {
            (true, false) => Some(Direction::Write),
            (false, true) => Some(Direction::Read),
            _ => None,
        }
    }

    /// What it was measured on.
    fn place(&self) -> &str {
        if self.direction() == Some(Direction::Read) { &self.input } else { &self.output }
    }
}

fn read_runs(source: &ImportText, _: &Hints) -> Result<Vec<ImportedRun>, ImportTrouble> {
    let mut media: Vec<(String, ImportedRun)> = Vec::new();
    let (mut asked, mut records) = (None, None);
    for (at, line) in source.numbered() {
        let line = line.trim();
        if let Some(found) = command(line) {
            (asked, records) = (Some(found), None);
        } else if let Some((counts, _)) = line.split_once(" records out") {
            records = Some(counts.to_owned());
        } else if let Some((bytes, time, rate)) = summary(line) {
            let cell = of_run(at, asked.as_ref(), records.take().as_deref(), (bytes, time, rate))?;
            let place =
                asked.as_ref().map(|command| command.place().to_owned()).unwrap_or_default();
            let found = match media.iter_mut().find(|(known, _)| *known == place) {
                Some((_, found)) => found,
                None => {
                    let mut found = ImportedRun::by("dd");
                    found.on(&place);
                    found.command =
                        asked.as_ref().map(|command| command.words.clone()).unwrap_or_default();
                    room_for_another(&media)?;
                    media.push((place, found));
                    &mut media.last_mut().expect("one was just added").1
                }
            };
            found.push(cell)?;
            asked = None;
        }
    }
    Ok(media.into_iter().map(|(_, found)| found).collect())
}

fn of_run(
    at: usize,
    asked: Option<&Command>,
    records: Option<&str>,
    (bytes, time, rate): (u64, &str, &str),
) -> Result<Cell, ImportTrouble> {
    let (time, unit) = time.split_once(' ').unwrap_or((time, "s"));
    let seconds = wanted(at, "the time", number(time).filter(|_| unit.starts_with('s')))?;
    let (whole_records, partial) = records
        .and_then(|text| text.split_once('+'))
        .and_then(|(a, b)| Some((whole(a)?, whole(b)?)))
        .unwrap_or((0, 0));
    let ops = whole_records.saturating_add(partial);
    let block = (partial == 0 && whole_records > 0 && bytes % whole_records == 0)
        .then(|| bytes / whole_records);
    let mut cell = of_command(asked, block.or_else(|| asked.and_then(|asked| asked.block_bytes)));
    (cell.ops, cell.bytes) = (ops, bytes);
    cell.written_bytes = if cell.params.direction == Some(Direction::Write) { bytes } else { 0 };
    cell.elapsed_ns = whole_ns(seconds * 1e9);
    // dd prints two or three digits of the rate; bytes and time have more.
    let printed = rate.split_once(' ').and_then(|(value, unit)| decimal_rate(number(value)?, unit));
    let exact = (seconds > 0.0)
        .then(|| bytes as f64 / seconds)
        .filter(|exact| printed.is_none_or(|printed| (exact / printed - 1.0).abs() < 0.06));
    let bps = wanted(at, "the rate", exact.or(printed))?;
    if exact.is_none() {
        note(
            &mut cell,
            "bytes and time do not give the rate that dd printed; the printed one is shown",
        );
    }
    cell.metrics.bps = Some(estimate(bps, ops.max(1)));
    if let Some(block) = cell.params.block_bytes.filter(|block| *block > 0) {
        cell.metrics.iops = Some(estimate(bps / block as f64, ops.max(1)));
    }
    Ok(cell)
}

fn of_command(asked: Option<&Command>, block_bytes: Option<u64>) -> Cell {
    let Some(asked) = asked else {
        let mut cell = cell(
            "dd",
            Params {
                block_bytes,
                pattern: Some(Pattern::Sequential),
                path: Path::Buffered,
                ..Params::default()
            },
        );
        note(
            &mut cell,
            "the command is not in the text: whether this was reading or writing, and past the page cache, is not known",
        );
        return cell;
    };
    let direction = asked.direction();
    let path = if asked.has("direct") { Path::Direct } else { Path::Buffered };
    let sync = match (
        asked.has("sync") && direction == Some(Direction::Write),
        asked.has("dsync") && direction == Some(Direction::Write),
    ) {
        (true, _) => Sync::File,
        (_, true) => Sync::Data,
        _ => Sync::None,
    };
    let flush = ["fsync", "fdatasync"].into_iter().find(|flag| asked.has(flag));
    let test = match direction {
        Some(Direction::Write) if path == Path::Direct && flush.is_none() => test::SEQUENTIAL_WRITE,
        Some(Direction::Read) if path == Path::Direct => test::SEQUENTIAL_READ,
        Some(Direction::Write) => "dd:write",
        Some(Direction::Read) => "dd:read",
        None => "dd:copy",
    };
    let content = match (direction, asked.input.as_str()) {
        (Some(Direction::Write), "/dev/zero") => Some(Content::Zeros),
        (Some(Direction::Write), _) => Some(Content::Incompressible),
        _ => None,
    };
    let region = (!asked.place().starts_with("/dev/")).then_some(Region::File);
    let pattern = Some(Pattern::Sequential);
    let mut cell = cell(
        test,
        Params {
            direction,
            pattern,
            block_bytes,
            region,
            sync,
            path,
            content,
            ..Params::default()
        },
    );
    if let Some(flush) = flush {
        label(&mut cell, "flush", flush);
        note(&mut cell, format!("through the page cache, with the time of an {flush} at the end"));
    } else if path == Path::Buffered {
        note(&mut cell, "through the page cache: part of this may be the speed of memory");
    }
    if asked.input.ends_with("random") {
        note(&mut cell, format!("{} may be slower than the medium", asked.input));
    }
    cell
}

/// "Block", "Write" or "Read", and what follows.
fn way(line: &str) -> Option<(&'static str, &str)> {
    let (word, rest) = line.trim().split_once(':')?;
    ["Block", "Write", "Read"]
        .into_iter()
        .find(|known| word.trim().eq_ignore_ascii_case(known))
        .map(|known| (known, rest))
}

/// A line of a list, or the rest of one that was wrapped.
fn belongs(line: &str) -> bool {
    way(line).is_some()
        || line.split_whitespace().all(|word| number(word).is_some() || word.ends_with("B/s"))
}

/// Sizes for which the script behind these lists measures.
const SIZES: [u64; 9] =
    [4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, 1024 * KIB];

/// The most block sizes of a sweep.
const MOST_SIZES: usize = 64;

fn read_sweep(source: &ImportText, _: &Hints) -> Result<Vec<ImportedRun>, ImportTrouble> {
    let mut found = ImportedRun::by("dd");
    let mut sizes: Option<Vec<u64>> = None;
    let mut current: Option<(&str, usize, Vec<&str>)> = None;
    let ends = [(0, "Block:")];
    for (at, line) in source.numbered().chain(ends) {
        let Some((kind, rest)) = way(line) else {
            if let Some((_, _, words)) = &mut current {
                words.extend(line.split_whitespace());
            }
            continue;
        };
        match current.take() {
            Some(("Block", at, words)) => {
                let read: Option<Vec<u64>> = words.iter().map(|word| size(word)).collect();
                let read = read.filter(|sizes| sizes.len() <= MOST_SIZES);
                sizes = Some(read.ok_or_else(|| {
                    ImportTrouble::at(at, "a block size is none, or there are too many")
                })?);
            }
            Some((kind, at, words)) => {
                found.cells.extend(of_rates(at, kind, &words, sizes.as_deref())?)
            }
            None => {}
        }
        current = Some((kind, at, rest.split_whitespace().collect()));
    }
    Ok(vec![found])
}

fn of_rates(
    at: usize,
    kind: &str,
    words: &[&str],
    sizes: Option<&[u64]>,
) -> Result<Vec<Cell>, ImportTrouble> {
    let rates: Option<Vec<f64>> =
        words.chunks(2).map(|pair| decimal_rate(number(pair[0])?, pair.get(1)?)).collect();
    let rates =
        rates.ok_or_else(|| ImportTrouble::at(at, "not only rates, as in '7.2 MB/s 12.1 MB/s'"))?;
    let known = sizes.unwrap_or(&SIZES);
    if rates.len() != known.len() {
        return Err(ImportTrouble::at(
            at,
            format_args!("{} rates for {} block sizes", rates.len(), known.len()),
        ));
    }
    let writes = kind == "Write";
    let of_one = |(block, bps): (&u64, f64)| {
        let (test, direction) = if writes {
            (test::SEQUENTIAL_WRITE, Direction::Write)
        } else {
            (test::SEQUENTIAL_READ, Direction::Read)
        };
        let content = writes.then_some(Content::Zeros);
        let pattern = Some(Pattern::Sequential);
        let params = Params {
            direction: Some(direction),
            pattern,
            block_bytes: Some(*block),
            content,
            ..Params::default()
        };
        let mut cell = cell(test, params);
        cell.metrics.bps = Some(estimate(bps, 1));
        cell.metrics.iops = Some(estimate(bps / (*block).max(1) as f64, 1));
        note(
            &mut cell,
            "the list does not say with which options; the script it comes from writes zeros, past the page cache",
        );
        if sizes.is_none() {
            note(&mut cell, "the line with the block sizes is missing; taken for 4K to 1M");
        }
        cell
    };
    Ok(known.iter().zip(rates).map(of_one).collect())
}
