//! dd: its summaries, in the languages of coreutils, and the list "Block: / Write: / Read:" that
//! people make from a sweep over block sizes.

use super::prelude::*;
use super::text;

/// Words and their order differ by language; the order of the figures is common to all: bytes (no
/// other number precedes them), time, rate.
const SUMMARY: &str = r"^(?<head>[^\d()]*(?<bytes>\d+)(?:[^\d.,+x()][^()]*?)?(?:\([^()]*\)[^()]*?)?)(?:,\s+|，\s*)(?<time>\d[\d.,]*(?:e[-+]?\d+)?)\s*(?<unit>[^\s\d,，/()]{0,10})(?:,\s+|，\s*)(?<rate>\S.*)$";
const BSD: &str =
    r"^\s*(?<bytes>\d+) bytes transferred in (?<time>\d\S*) (?<unit>\w+) \((?<rate>.*)\)";
/// "1000+0 records out", "1000+0 записей получено", "输出了 1000+0 块记录".
const COUNTS: &str =
    r"(?m)^[ \t]*(?:[^\s\d]+[ \t]+){0,5}(?<counts>\d+\+\d+)(?:[ \t]+[^\s\d]+){0,5}[ \t]*$";
/// Time and rate at the end of a summary, also of one that was wrapped.
const END: &str = r"(?m)(?:,\s|，)\s*\d[\d.,e+-]*\s*[^\s\d,，/()]{0,10}(?:,\s|，)\s*\S+\s*\S*/\S+[ \t]*$|bytes transferred in ";
/// Parts of the words for "copied" in coreutils' translations (its msgid "%s bytes copied, %s, %s").
const COPIED: &str = "(?i)copied|kopiert|kopeeritud|copié|copiad|copiat|kopiran|복사|gekopieerd|kopyaland|скопи|скопі|скапі|已复制|已複製|コピー|kopierad|kopioitu|skopiowan|zkopírován|skopírov|kopieret|cóipeáil|másolva|disalin|chép";

pub(super) static RUNS: Tool = tool! {
    "dd", "dd output", 1000.0, facts: of_run;
    ["'.. records out'": COUNTS, END]
    ["a line '.. bytes .. copied, .. s, ..'": END]
    // A command, with or without a prompt; the medium is what it reads or writes.
    Begins r"(?:^|\s)(?<command>(?:\S*/)?dd\s.*\bif=(?<path>\S+).*\sof=/dev/null\b.*)";
    Begins r"(?:^|\s)(?<command>(?:\S*/)?dd\s.*\bof=/dev/null\s.*\bif=(?<path>\S+).*)";
    Begins r"(?:^|\s)(?<command>(?:\S*/)?dd\s.*\bof=(?<path>\S+).*)";
    Begins r"(?:^|\s)(?<command>(?:\S*/)?dd\s.*\bif=\S.*)";
    Says COUNTS;
    Gives BSD => of_summary;
    Gives SUMMARY => of_summary;
    Wraps r"^[^\d(]*\d+(?:[^\d.,+x]|$)";
};

/// Takes the command, and drops results that the last one continues: of its progress, and at errors
/// after which dd goes on (`conv=noerror`).
fn of_run(known: &mut Known, run: &mut ImportedRun) {
    let goes_on = known.text("command").contains("noerror");
    let is_last = known.has("counts");
    if !known.has("bytes") {
        run.take_command(known.text("command"));
        return;
    }
    known.drop("counts");
    let shown = known.count("shown").unwrap_or(0) as usize;
    let Some(last) = run.cells.len().checked_sub(1) else { return };
    let first = last.saturating_sub(shown);
    let is_more = |(_, a): &(usize, Cell), (_, b): &(usize, Cell)| {
        a.bytes <= b.bytes && a.elapsed_ns <= b.elapsed_ns
    };
    if (is_last || goes_on) && run.cells[first..].is_sorted_by(is_more) {
        run.cells.drain(first..last);
    }
    known.set("shown", if is_last && !goes_on { 0 } else { run.cells.len() - first });
    if is_last && !goes_on {
        known.drop("command");
    }
}

fn of_summary(known: &Known) -> Made {
    let bytes = wanted("the number of bytes", known.count("bytes"))? as f64;
    let seconds = wanted("the time", known.number("time"))?;
    let printed = rate_of(known.text("rate"));
    // dd prints two or three digits of the rate; bytes and time have more.
    let exact = Some(bytes / seconds).filter(|_| seconds > 0.0);
    let agrees = |exact: &f64| printed.is_some_and(|bps| (exact / bps - 1.0).abs() < 0.06);
    let does_agree = exact.as_ref().is_some_and(agrees);
    if !does_agree && known.has("head") && !re!(COPIED).is_match(known.text("head")) {
        return Ok(Vec::new());
    }
    let counts = known.text("counts").split_once('+');
    let counts = counts.and_then(|(a, b)| Some((whole(a)?, whole(b)?)));
    let (full, partial) = counts.unwrap_or((0, 0));
    let (bytes, ops) = (bytes as u64, full.saturating_add(partial));
    let is_even = partial == 0 && full > 0 && bytes.is_multiple_of(full);
    let exact = exact.filter(|_| does_agree || printed.is_none());
    let bps = wanted("the rate", exact.or(printed))?;
    let text = "bytes and time do not give the rate that dd printed; the printed one is shown";
    let cell = of_command(known.text("command"), is_even.then(|| bytes / full))
        .moved(bytes, ops)
        .took(seconds * 1e9)
        .note_if(exact.is_none(), text);
    Ok(vec![if bytes > 0 { cell.rate(bps, ops.max(1)) } else { cell }])
}

/// Bytes a second of "38.9 MB/s", "38,9 MB/c", "38,9 МБ/с", "38,9 Mo/s".
fn rate_of(text: &str) -> Option<f64> {
    let (value, unit) = with_unit(text)?;
    let latin = |c: char| match c {
        'с' | 'c' | '秒' => 's',
        'Б' | 'б' | 'o' => 'B',
        'М' => 'M',
        'К' | 'к' => 'k',
        'Г' => 'G',
        other => other,
    };
    let unit = unit.replace("sec", "s");
    rate_in(value, &unit.chars().map(latin).collect::<String>(), 1000.0)
}

fn of_command(command: &str, block_bytes: Option<u64>) -> Cell {
    if command.is_empty() {
        let text = "the command is not in the text: whether this was reading or writing, and past the page cache, is not known";
        let cell = cell("dd", None, Pattern::Sequential, block_bytes);
        return cell.path(Path::Buffered).note(text);
    }
    let all = |name: &'static str| {
        let operands = command.split_whitespace().filter_map(|word| word.split_once('='));
        operands.filter(move |(own, _)| own.ends_with(name)).map(|(_, value)| value)
    };
    let has = |flag: &str| {
        let mut lists = all("flag").chain(all("conv"));
        lists.any(|list| list.split(',').any(|known| known == flag))
    };
    let (input, output) =
        (all("if").next_back().unwrap_or(""), all("of").next_back().unwrap_or(""));
    let is_made_up = ["/dev/zero", "/dev/urandom", "/dev/random"].contains(&input);
    let direction = match (is_made_up, ["/dev/null", "/dev/zero"].contains(&output)) {
        (true, false) => Some(Direction::Write),
        (false, true) => Some(Direction::Read),
        _ => None,
    };
    let writes = direction == Some(Direction::Write);
    let place = if direction == Some(Direction::Read) { input } else { output };
    let path = if has("direct") { Path::Direct } else { Path::Buffered };
    let flush = ["fsync", "fdatasync"].into_iter().find(|flag| has(flag));
    let sync = match (has("sync"), has("dsync")) {
        (true, _) if writes => Sync::File,
        (_, true) if writes => Sync::Data,
        _ => Sync::None,
    };
    let is_plain = path == Path::Direct && sync == Sync::None && (!writes || flush.is_none());
    let test = match direction {
        Some(way) if is_plain => our_test(Pattern::Sequential, way),
        Some(Direction::Write) => "dd:write",
        Some(Direction::Read) => "dd:read",
        None => "dd:copy",
    };
    let made_up = if input == "/dev/zero" { Content::Zeros } else { Content::Incompressible };
    // K and KiB are 1024, kB is 1000.
    let block = block_bytes
        .or_else(|| Some(all("bs").next_back()?.parse::<record::units::Bytes>().ok()?.0));
    let mut cell = cell(test, direction, Pattern::Sequential, block).path(path).writes(made_up);
    cell.params.region = (!place.starts_with("/dev/")).then_some(Region::File);
    cell.params.sync = sync;
    let flushed = flush.map_or(String::new(), |flush| {
        format!("through the page cache, with the time of an {flush} at the end")
    });
    cell.label("flush", flush.unwrap_or_default())
        .note_if(flush.is_some(), &flushed)
        .note_if(flush.is_none() && path == Path::Buffered, BUFFERED)
        .note_if(input.ends_with("random"), &format!("{input} may be slower than the medium"))
}

/// A direction that a list already has begins the list of another medium.
pub(super) static SWEEP: Tool = tool! {
    "dd", "a dd sweep", 1000.0, is_one_medium_each: true;
    // Many tools print a single rate after "Read:".
    ["a line 'Write: .. MB/s .. MB/s' or 'Read: ..', after 'Block: 4K 8K ..'": r"(?im)^\s*(?:Write|Read|Block)\s*:\s*\d[^\n]*B/s[^\n]*B/s", r"(?ims)^\s*Block\s*:.*^\s*(?:Write|Read)\s*:\s*\d[^\n]*B/s"]
    Says r"(?i)^\s*Block\s*:(?<sizes>(?:\s+\d+[KM]\w*){9})\s*$";
    Wraps r"(?i)^\s*Block\s*:";
    Says r"(?i)^\s*Block\s*:(?<sizes>.*)";
    Gives r"(?i)^\s*(?<way>Write|Read)\s*:(?<rates>(?:\s+\S+\s+\S*B/s){9})\s*$" => of_rates;
    Wraps r"(?i)^\s*(?:Write|Read)\s*:\s*\d";
    Gives r"(?i)^\s*(?<way>Write|Read)\s*:(?<rates>.*B/s.*)" => of_rates;
};

/// Block sizes of the script behind these lists.
const SIZES: [u64; 9] =
    [4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, 1024 * KIB];

fn of_rates(known: &Known) -> Made {
    let sizes: Option<Vec<u64>> = known.text("sizes").split_whitespace().map(size).collect();
    let sizes = sizes.ok_or_else(|| "a word above it is not a block size".to_owned())?;
    let words: Vec<&str> = known.text("rates").split_whitespace().collect();
    let rates: Option<Vec<f64>> =
        words.chunks(2).map(|pair| text::rate(&pair.join(" "), 1000.0)).collect();
    let rates = rates.ok_or_else(|| "not only rates, as in '7.2 MB/s 12.1 MB/s'".to_owned())?;
    let known_sizes = if sizes.is_empty() { &SIZES[..] } else { &sizes };
    let (n, m) = (rates.len(), known_sizes.len());
    if n != m {
        return Err(format!("{n} rates for {m} block sizes"));
    }
    let direction = known.direction("way").unwrap_or(Direction::Read);
    let text = "the list does not say with which options; the script it comes from writes zeros, past the page cache";
    let of_one = |(block, bps): (&u64, f64)| {
        let test = our_test(Pattern::Sequential, direction);
        cell(test, direction, Pattern::Sequential, *block)
            .writes(Content::Zeros)
            .rate(bps, 1)
            .note(text)
            .note_if(
                sizes.is_empty(),
                "the line with the block sizes is missing; taken for 4K to 1M",
            )
    };
    Ok(known_sizes.iter().zip(rates).map(of_one).collect())
}
