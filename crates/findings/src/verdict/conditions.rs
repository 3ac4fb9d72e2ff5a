//! Caveats of positive findings, in short sentences: untested facts that they depend on, such as a
//! genuine medium, an honest flush, and lasting figures.

use crate::conclusions::speed::flush::Flush;
use crate::conclusions::speed::{caches, throttling};
use crate::figures::figure;
use crate::figures::genuineness::{self, Genuineness};
use crate::phrases::FLUSH_UNTESTED;
use record::units::{KIB, MIB};
use record::{Flag, Record, TargetKind, metric, test};

/// Caveats of a positive verdict: "Not tested: whether it is genuine and whether its flush is
/// honest." `durable` is true for a use with data that must survive a power cut. `None` if
/// everything is known.
/// `is_part` is true for one that rests on a part of the medium.
pub(crate) fn caveats_of_positive(record: &Record, durable: bool, is_part: bool) -> Option<String> {
    let genuine = genuine(record);
    let flush = (durable
        && !matches!(Flush::of(record), Flush::Lies(..) | Flush::Empties(_))
        && record.medium.rotational != Some(true))
    .then(|| FLUSH_UNTESTED.to_owned());
    let is_unproved = genuine == Some(FREE_SPACE);
    let open = match genuineness::of(record) {
        Genuineness::NoSign => Some("whether all of it is real".to_owned()),
        _ => genuine.filter(|_| !is_unproved).map(|_| "whether it is genuine".to_owned()),
    };
    let untested = open.into_iter().chain(flush).chain(lasting(record, is_part));
    let untested = listed(untested).map(|names| format!("Not tested: {names}."));
    let free_space = is_unproved.then(|| FREE_SPACE.to_owned());
    let falls = caches::fall(record).or_else(|| throttling::fall_in_words(record));
    let sentences: Vec<String> = free_space.into_iter().chain(untested).chain(falls).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

const NOT_TESTED: &str = "Not tested: whether it is genuine.";
const FREE_SPACE: &str = "Free space cannot prove that it is genuine.";

/// Caveat of a negative verdict: nobody tested if it is a fake.
pub(crate) fn caveat_of_negative(record: &Record) -> Option<&'static str> {
    genuine(record)
}

/// Reason why nothing is known of its capacity.
fn genuine(record: &Record) -> Option<&'static str> {
    if matches!(genuineness::of(record), Genuineness::Proven | Genuineness::NoSign) {
        return None;
    }
    let is_free_space = matches!(record.target.kind, TargetKind::Directory | TargetKind::File);
    Some(if is_free_space { FREE_SPACE } else { NOT_TESTED })
}

/// Caveat if a use was judged by a part of the medium, or the figures were measured for a shorter
/// time than real use takes: to fill every cache, and to heat the medium up.
fn lasting(record: &Record, is_part: bool) -> Option<String> {
    let fills = may_fill(record) && !caches::has_cliff(record);
    let heats = flags_of_writes(record).any(|flag| matches!(flag, Flag::MayGetHot { .. }));
    let when = [(is_part, "everywhere"), (fills, "with full caches"), (heats, "when hot")];
    let when = listed(when.into_iter().filter(|(is_open, _)| *is_open).map(|(_, when)| when))?;
    Some(format!(
        "{} {when}",
        if is_part { "whether it is so fast" } else { "whether it stays this fast" }
    ))
}

/// True if writes may have gone to a cache that is not full yet.
pub(crate) fn may_fill(record: &Record) -> bool {
    flags_of_writes(record).any(|flag| matches!(flag, Flag::MayNotLast { .. }))
        && !was_filled(record)
}

/// Flags of the writes that decide the verdicts on uses.
fn flags_of_writes(record: &Record) -> impl Iterator<Item = &Flag> {
    let random =
        [4 * KIB, 16 * KIB].into_iter().filter_map(|block| figure::random_write(record, block));
    random.chain(figure::sustained_write(record)).flat_map(|figure| figure.cell.flags.iter())
}

/// True if `sustained` wrote until every cache was full.
fn was_filled(record: &Record) -> bool {
    figure::form(record, test::SUSTAINED, "first").is_some_and(|cell| {
        cell.bytes >= 16 * MIB && cell.metrics.other.contains_key(metric::SUSTAINED_BPS)
    })
}

/// "a, b and c".
pub(crate) fn listed<S: Into<String>>(names: impl Iterator<Item = S>) -> Option<String> {
    listed_with(names, "and")
}

/// "a, b or c", with this word before the last.
pub(crate) fn listed_with<S: Into<String>>(
    names: impl Iterator<Item = S>,
    word: &str,
) -> Option<String> {
    let mut names: Vec<String> = names.map(Into::into).collect();
    let last = names.pop()?;
    Some(if names.is_empty() { last } else { format!("{} {word} {last}", names.join(", ")) })
}
