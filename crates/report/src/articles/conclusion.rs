//! What an article concludes from its figures, said of the figures of a run: only of what was
//! measured.

use record::Estimate;
use record::figures::DISK_IOPS;
use record::units::{Bytes, significant};

use super::medium_row::{BlockReads, Figures, MediumRow, RandomReads};

/// The conclusion of an article (its number) from the figures of a run; `published` has those of
/// the article's media.
pub(super) fn conclusion(
    number: &str,
    figures: &Figures,
    reads: &RandomReads,
    published: &[MediumRow],
) -> String {
    let series = |words: &dyn Fn(Bytes, String) -> String| {
        let first = reads.blocks.first()?;
        Some(words(Bytes(first.bytes), as_fast(first.other?, first.iops)))
    };
    let at_once = |block, eight| format!("Eight reads of {block} at a time are {eight} one.");
    let whole = |block, whole| {
        format!("Random reads of {block} over the whole medium are {whole} in its first GB.")
    };
    let polls = "What a poll takes on each file system, `flashmark matrix` measures.";
    let sentences = match number {
        "000" => [access(reads), growth(reads), series(&at_once)],
        "001" => [series(&whole), growth(reads), in_sequence(figures, published)],
        "002" => [yardstick(figures), dip(figures), None],
        "003" => [seek(figures, published), None, Some(polls.to_owned())],
        _ => [zeros(figures), sector(figures, published), fill(figures)],
    };
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// "1.8 times as fast as", or "as fast as" where the intervals meet.
fn as_fast(one: Estimate, other: Estimate) -> String {
    if !is_below(one, other) && !is_below(other, one) {
        return "as fast as".to_owned();
    }
    format!("{} times as fast as", record::units::times(one.value / other.value))
}

/// True if the interval of a figure is below that of another.
fn is_below(one: Estimate, other: Estimate) -> bool {
    one.ci95.map_or(one.value, |ends| ends[1]) < other.ci95.map_or(other.value, |ends| ends[0])
}

/// "more than 3 of the article's 12 media", "less than each of the article's 3 media".
fn rank(value: f64, name: &str, published: &[MediumRow]) -> String {
    let all: Vec<f64> =
        published.iter().filter_map(|row| Some(row.figures.get(name)?.value)).collect();
    let less = all.iter().filter(|other| value > **other).count();
    let than = match less {
        0 => "less than each".to_owned(),
        less if less == all.len() => "more than each".to_owned(),
        less => format!("more than {less}"),
    };
    format!("{than} of the article's {} media", all.len())
}

fn access(reads: &RandomReads) -> Option<String> {
    let first = reads.blocks.first()?;
    let ms = significant(1e3 / first.iops.value);
    Some(format!("A random read of {} takes {ms} ms.", Bytes(first.bytes)))
}

/// Share of the best rate from which on it hardly grows.
const NEARLY: f64 = 0.9;

fn growth(reads: &RandomReads) -> Option<String> {
    let best = reads.blocks.iter().map(BlockReads::mbps).fold(0.0, f64::max);
    let is_flat = |block: &&BlockReads| block.mbps() >= NEARLY * best;
    let first = reads.blocks.iter().rev().take_while(is_flat).last()?;
    let (from, rate) = (Bytes(first.bytes), significant(first.mbps()));
    Some(match reads.blocks.last()?.bytes == first.bytes {
        true => format!("The rate grows up to the largest block, {from} ({rate} MB/s)."),
        false => format!(
            "From blocks of {from} on the rate hardly grows: {rate} of at most {} MB/s.",
            significant(best)
        ),
    })
}

fn in_sequence(figures: &Figures, published: &[MediumRow]) -> Option<String> {
    let rate = figures.get("dd-read-1m")?.value;
    Some(format!(
        "It reads {} MB/s in sequence, {}.",
        significant(rate),
        rank(rate, "transfer", published)
    ))
}

fn yardstick(figures: &Figures) -> Option<String> {
    let iops = figures.get("iozone-random-write-4k")?.value;
    let against = record::units::against(iops / DISK_IOPS);
    Some(format!(
        "{} random writes of 4 KiB a second: {against} a disk of 5400 rpm, which does {DISK_IOPS}.",
        significant(iops)
    ))
}

/// A block size that is written more slowly than its half: a request that the host splits, or a
/// medium that does not like it.
fn dip(figures: &Figures) -> Option<String> {
    let blocks = ["4k", "8k", "16k", "32k", "64k", "128k", "256k", "512k", "1m"];
    let rate = |block: &str| figures.get(&format!("dd-write-{block}")).copied();
    blocks.windows(2).find_map(|pair| {
        let (half, block) = (rate(pair[0])?, rate(pair[1])?);
        let [large, small] =
            [pair[1], pair[0]].map(|it| it.replace('k', " KiB").replace("1m", "1 MiB"));
        (block.value < NEARLY * half.value && is_below(block, half)).then(|| {
            let [slow, fast] = [block, half].map(|it| significant(it.value));
            format!(
                "Blocks of {large} are written more slowly ({slow} MB/s) than of {small} ({fast})."
            )
        })
    })
}

fn seek(figures: &Figures, published: &[MediumRow]) -> Option<String> {
    let ms = figures.get("seek-ms")?.value;
    Some(format!("An access takes {} ms, {}.", significant(ms), rank(ms, "seek-ms", published)))
}

fn zeros(figures: &Figures) -> Option<String> {
    let (zeros, random) = (figures.get("zero-fill")?, figures.get("random-fill")?);
    Some(format!("Zeros are written {} random data.", as_fast(*zeros, *random)))
}

fn sector(figures: &Figures, published: &[MediumRow]) -> Option<String> {
    let ms = figures.get("sector-write-ms")?.value;
    let rank = rank(ms, "sector-write-ms", published);
    Some(format!("A write of 512 B takes {} ms, {rank}.", significant(ms)))
}

fn fill(figures: &Figures) -> Option<String> {
    let (fill, data) = (figures.get("ext2-fill")?, figures.get("random-fill")?);
    Some(format!(
        "Small files on ext2 are written {} random data in sequence.",
        as_fast(*fill, *data)
    ))
}
