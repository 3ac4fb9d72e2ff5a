//! Lists that people make from a sweep over block sizes with dd.

use record::units::KIB;
use record::{Cell, Content, Direction, Params, Pattern};

use crate::imported_run::{ImportTrouble, ImportedRun, cell, io, note, our_test, rate};
use crate::media_list::MediaList;
use crate::reading::Reading;
use crate::text::{ImportText, decimal, decimal_rate, group, re, size};
use crate::{Hints, Importer, Sign};

const LINE: &str = r"(?i)^\s*(Block|Write|Read)\s*:(.*)$";

pub(crate) const IMPORTER: Importer = Importer {
    name: "a dd sweep",
    signs: &[Sign {
        what: "a line 'Write: .. MB/s .. MB/s' or 'Read: ..', after 'Block: 4K 8K ..'",
        is_there: |source| {
            // Many tools print a single rate after "Read:".
            let is_sized = source.has(|line| re!(r"(?i)^\s*Block\s*:").is_match(line));
            let mut rates = source.captures(re!(r"(?i)^\s*(?:Write|Read|Block)\s*:(\s*[0-9].*)"));
            rates.any(|(_, rest)| group(&rest, 1).matches("B/s").count() > usize::from(!is_sized))
        },
    }],
    read: read_sweep,
    apart: "",
};

/// Block sizes of the script behind these lists.
const SIZES: [u64; 9] =
    [4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, 1024 * KIB];
/// Most block sizes of a sweep.
const MAX_SIZES: usize = 64;

/// A line that has begun: its kind, its place, and its words with those of the lines it was wrapped
/// to.
struct PartialLine<'a> {
    kind: String,
    at: usize,
    words: Vec<&'a str>,
}

impl PartialLine<'_> {
    /// True if a line is the rest of this one: only rates, and no more than are still missing.
    /// Rates after a full line belong to another medium.
    fn goes_on(&self, line: &str, sizes: Option<&[u64]>) -> bool {
        let mut words = line.split_whitespace();
        let full = match self.kind.as_str() {
            "block" => MAX_SIZES,
            _ => 2 * sizes.map_or(SIZES.len(), <[u64]>::len),
        };
        self.words.len() + words.clone().count() <= full
            && words.all(|word| decimal(word).is_some() || word.ends_with("B/s"))
    }
}

/// Reads the sweeps of a text as one run each: a direction that the last run already has begins a
/// new one.
fn read_sweep(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut sweeps = MediaList(vec![ImportedRun::by("dd")]);
    let mut kinds: Vec<String> = Vec::new();
    let mut sizes: Option<Vec<u64>> = None;
    let mut current: Option<PartialLine> = None;
    for (at, line) in source.numbered().chain([(usize::MAX, "Block:")]) {
        let next = re!(LINE).captures(line);
        if next.is_none()
            && let Some(begun) = current.as_mut().filter(|it| it.goes_on(line, sizes.as_deref()))
        {
            begun.words.extend(line.split_whitespace());
            reading.take(at);
            continue;
        }
        if let (Some(found), Some(begun)) = (sweeps.0.last_mut(), current.take()) {
            ended(found, &mut sizes, &begun, reading);
        }
        let Some(next) = next else { continue };
        let kind = group(&next, 1).to_lowercase();
        if kind != "block" && kinds.contains(&kind) {
            if !sweeps.push(at, ImportedRun::by("dd"), reading) {
                break;
            }
            kinds.clear();
        }
        kinds.push(kind.clone());
        current =
            Some(PartialLine { kind, at, words: group(&next, 2).split_whitespace().collect() });
    }
    sweeps.0.retain(|sweep| !sweep.cells.is_empty());
    if sweeps.0.len() > 1 {
        sweeps.0.iter_mut().zip(1..).for_each(|(sweep, number)| sweep.ordinal = Some(number));
    }
    sweeps.0
}

/// Parses a complete line.
fn ended(
    found: &mut ImportedRun,
    sizes: &mut Option<Vec<u64>>,
    begun: &PartialLine,
    reading: &mut Reading,
) {
    let PartialLine { kind, at, words } = begun;
    if kind == "block" {
        let read: Option<Vec<u64>> = words.iter().map(|word| size(word)).collect();
        *sizes = read.filter(|sizes| (1..=MAX_SIZES).contains(&sizes.len()));
        if sizes.is_none() && words.iter().any(|word| size(word).is_some()) {
            reading.refuse(*at, "a word is not a block size, or there are too many block sizes");
        }
    } else if words.iter().any(|word| word.ends_with("B/s"))
        && let Some(cells) = reading.accept(*at, of_rates(begun, sizes.as_deref()))
    {
        reading.add_all(found, *at, cells);
    }
}

fn of_rates(begun: &PartialLine, sizes: Option<&[u64]>) -> Result<Vec<Cell>, ImportTrouble> {
    let bad = |what: String| ImportTrouble::at(begun.at, what);
    let pairs = begun.words.chunks(2);
    let rates = pairs.map(|pair| decimal_rate(decimal(pair[0])?, pair.get(1)?));
    let rates: Vec<f64> = rates
        .collect::<Option<_>>()
        .ok_or_else(|| bad("not only rates, as in '7.2 MB/s 12.1 MB/s'".to_owned()))?;
    let known = sizes.unwrap_or(&SIZES);
    if rates.len() != known.len() {
        return Err(bad(format!("{} rates for {} block sizes", rates.len(), known.len())));
    }
    let writes = begun.kind == "write";
    let direction = if writes { Direction::Write } else { Direction::Read };
    let of_one = |(block, bps): (&u64, f64)| {
        let content = writes.then_some(Content::Zeros);
        let params = Params { content, ..io(direction, Pattern::Sequential, *block) };
        let mut cell = cell(our_test(Pattern::Sequential, direction), params);
        rate(&mut cell, bps, 1);
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
