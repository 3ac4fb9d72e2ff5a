//! The list that people make of a sweep over block sizes with dd.

use record::units::KIB;
use record::{Cell, Content, Direction, Params, Pattern, test};

use crate::imported_run::{ImportTrouble, ImportedRun, cell, estimate, note, room_for_another};
use crate::reading::Reading;
use crate::text::{ImportText, decimal, decimal_rate, size};
use crate::{Hints, Importer, Sign};

pub(crate) const IMPORTER: Importer = Importer {
    name: "a dd sweep",
    signs: &[Sign {
        what: "a line 'Write: .. MB/s .. MB/s' or 'Read: ..', after 'Block: 4K 8K ..'",
        is_there: |source| {
            // A single rate after "Read:" is what many tools print.
            let is_sized = source.has(|line| way(line).is_some_and(|(kind, _)| kind == "Block"));
            source.has(|line| {
                way(line).is_some_and(|(_, rest)| {
                    rest.matches("B/s").count() > usize::from(!is_sized)
                        && rest.trim_start().starts_with(|c: char| c.is_ascii_digit())
                })
            })
        },
    }],
    read: read_sweep,
    chatter: |_| false,
};

/// "Block", "Write" or "Read", and what follows.
fn way(line: &str) -> Option<(&'static str, &str)> {
    let (word, rest) = line.trim().split_once(':')?;
    ["Block", "Write", "Read"]
        .into_iter()
        .find(|known| word.trim().eq_ignore_ascii_case(known))
        .map(|known| (known, rest))
}

/// The rest of a line that was wrapped: rates and nothing else.
fn goes_on(line: &str) -> bool {
    line.split_whitespace().all(|word| decimal(word).is_some() || word.ends_with("B/s"))
}

/// Sizes for which the script behind these lists measures.
const SIZES: [u64; 9] =
    [4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, 1024 * KIB];

/// The most block sizes of a sweep.
const MOST_SIZES: usize = 64;

/// A line that began, with the words of those it was wrapped to.
type Begun<'a> = (&'static str, usize, Vec<&'a str>);

/// The sweeps in a text, a run each: a new one begins with a direction that the last one has
/// already.
fn read_sweep(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut sweeps: Vec<ImportedRun> = vec![ImportedRun::by("dd")];
    let mut kinds: Vec<&str> = Vec::new();
    let mut sizes: Option<Vec<u64>> = None;
    let mut current: Option<Begun> = None;
    for (at, line) in source.numbered().chain([(usize::MAX, "Block:")]) {
        let Some((kind, rest)) = way(line) else {
            let lacks = |begun: &Begun| goes_on(line) && lacks_words(begun, sizes.as_deref(), line);
            if let Some((_, _, words)) = current.as_mut().filter(|begun| lacks(begun)) {
                words.extend(line.split_whitespace());
                reading.take(at);
            } else if let Some(found) = sweeps.last_mut() {
                ended(found, &mut sizes, current.take(), reading);
            }
            continue;
        };
        if let Some(found) = sweeps.last_mut() {
            ended(found, &mut sizes, current.take(), reading);
        }
        if kind != "Block" && kinds.contains(&kind) {
            if reading.accept(at, room_for_another(&sweeps)).is_none() {
                break;
            }
            sweeps.push(ImportedRun::by("dd"));
            kinds.clear();
        }
        kinds.push(kind);
        current = Some((kind, at, rest.split_whitespace().collect()));
    }
    sweeps.retain(|sweep| !sweep.cells.is_empty());
    if sweeps.len() > 1 {
        sweeps.iter_mut().zip(1..).for_each(|(sweep, number)| sweep.ordinal = Some(number));
    }
    sweeps
}

/// True if a line that began still lacks so many words: one that is full does not go on, and what
/// follows is of another medium.
fn lacks_words((kind, _, words): &Begun, sizes: Option<&[u64]>, line: &str) -> bool {
    let full = match *kind {
        "Block" => MOST_SIZES,
        _ => 2 * sizes.map_or(SIZES.len(), <[u64]>::len),
    };
    words.len() + line.split_whitespace().count() <= full
}

/// Reads a line that is complete.
fn ended(
    found: &mut ImportedRun,
    sizes: &mut Option<Vec<u64>>,
    begun: Option<Begun>,
    reading: &mut Reading,
) {
    let Some((kind, at, words)) = begun else { return };
    if kind == "Block" {
        let read: Option<Vec<u64>> = words.iter().map(|word| size(word)).collect();
        *sizes = read.filter(|sizes| (1..=MOST_SIZES).contains(&sizes.len()));
        if sizes.is_none() && words.iter().any(|word| size(word).is_some()) {
            reading.refuse(at, "a block size is none, or there are too many");
        }
    } else if words.iter().any(|word| word.ends_with("B/s"))
        && let Some(cells) = reading.accept(at, of_rates(at, kind, &words, sizes.as_deref()))
    {
        reading.add_all(found, at, cells);
    }
}

fn of_rates(
    at: usize,
    kind: &str,
    words: &[&str],
    sizes: Option<&[u64]>,
) -> Result<Vec<Cell>, ImportTrouble> {
    let rates: Option<Vec<f64>> =
        words.chunks(2).map(|pair| decimal_rate(decimal(pair[0])?, pair.get(1)?)).collect();
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
