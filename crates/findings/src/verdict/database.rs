//! The verdict on a database: commits, an honest flush, short stalls.

use record::units::{KIB, SECOND_NS};
use record::{Bound, Condition, Fitness, Record, Use};

use super::root_disk::{WRITES, WRITES_SOURCE};
use super::safety_need;
use crate::conclusions::speed::caches::SpanContrast;
use crate::conclusions::speed::flush::Flush;
use crate::conclusions::speed::stalls;
use crate::figures::figure;
use crate::verdict::commits;
use crate::verdict::need::{NeedLevel, UseVerdict, weakest_verdict};

pub(super) fn verdict(record: &Record) -> Option<UseVerdict> {
    let mut needs: Vec<NeedLevel> =
        commits_need(record).into_iter().chain(safety_need(record)).collect();
    if needs.is_empty() {
        return None;
    }
    needs.extend(stalls::of_tests(record, &stalls::COMMITTING).and_then(|stalls| {
        let reason = |wording: &str, _: u64| format!("{wording}; a commit waits that long");
        let source = "a locked database usually times out after five seconds; our choice";
        NeedLevel::at_most(&stalls, [SECOND_NS, 5 * SECOND_NS], None, reason, source)
    }));
    let verdict = weakest_verdict(Use::Database, needs, vec![])?;
    let honest = match Flush::of(record) {
        Flush::Unclear(_) | Flush::TooFast(_) => Some(Condition::FlushHonest),
        Flush::Untested => Some(Condition::FlushUntested),
        Flush::Lies(..) | Flush::Empties(_) => None,
    };
    let condition = match honest {
        Some(_) if is_fast_only_here(record, verdict.level) => {
            Some(Condition::SmallFilesFlushHonest)
        }
        None if is_fast_only_here(record, verdict.level) => Some(Condition::SmallFiles),
        honest => honest,
    };
    let condition = condition.filter(|_| verdict.level >= Fitness::Usable);
    Some(UseVerdict { condition, ..verdict })
}

fn commits_need(record: &Record) -> Option<NeedLevel> {
    let commits = commits::of(record)?;
    let mut need = NeedLevel::at_least(
        &commits.figure,
        WRITES.map(|writes| writes / commits::WRITES_PER_COMMIT),
        commits.reason,
        WRITES_SOURCE,
    )?;
    need.evidence.splice(0..1, commits.evidence);
    Some(need)
}

/// True if random writes over a large span would not reach this level: the files of the test
/// `commit` take at most 48 MiB, less than the span of random writes.
fn is_fast_only_here(record: &Record, level: Fitness) -> bool {
    let [_, usable, good] = WRITES;
    let needed = if level == Fitness::Good { good } else { usable };
    let over_all = SpanContrast::of(record).map(|contrast| contrast.over_all().value);
    let widest = figure::random_write(record, 4 * KIB)
        .or_else(|| figure::random_write_bound(record, 4 * KIB))
        .filter(|figure| figure.bound != Some(Bound::AtLeast))
        .map(|figure| figure.value);
    over_all.into_iter().chain(widest).any(|value| value < needed)
}
