//! Which of the doubts about how long figures last the rest of the run has answered.
//!
//! When a fast write has just been measured, nothing says whether flash took it or a cache that is
//! not full. Later cells may:
//!
//! - *Random writes pay for the mapping.* A cache takes a write in the same time wherever it goes;
//!   collecting garbage, merging and seeking are for what lies behind it. Where random writes of 4
//!   KiB, sustained, take half as long again as 4 KiB writes in a row, nothing stands between the
//!   host and the flash: what was measured reached it. Unless the rate fell on the way, from one
//!   size of writes in a row to the next larger or while the random writes went on: then a cache
//!   filled up, and that is what they show.
//! - *Single sectors are like random writes of 512 B*, which came after much more had been written
//!   to whatever takes small writes faster.
//! - *`sustained`* wrote to the end of every cache there may be, or for minutes on end, and did not
//!   slow down.

use record::{Cell, Content, Direction, Estimate, Flag, Pattern, metric, test};

use super::{IN_A_ROW, LARGEST_CACHE, WIDE_BYTES};
use crate::TargetInfo;

/// What differs by less is the same: the truth may be two thirds of a figure before the figure is
/// wrong.
const SAME: f64 = 1.5;
const SMALL_BYTES: u64 = 4096;
const SECTOR_BYTES: u64 = 512;
/// What gets hot does so within this time.
const WARMING_NS: u64 = 300_000_000_000;

/// Takes the doubts away that were answered; the cells that are changed, by place.
pub(crate) fn lift(cells: &mut [Cell], target: &TargetInfo) -> Vec<usize> {
    let answers = Answers::of(cells, target);
    let mut changed = Vec::new();
    for (place, cell) in cells.iter_mut().enumerate() {
        let (before, cell_before) = (cell.flags.len(), cell.clone());
        cell.flags.retain(|flag| !answers.lift(&cell_before, flag));
        if cell.flags.len() < before {
            changed.push(place);
        }
    }
    changed
}

/// What the run as a whole says of how long things last.
struct Answers {
    /// Random writes pay for the mapping.
    is_flash_itself: bool,
    /// Random writes of single sectors a second, sustained.
    sectors_iops: Option<f64>,
    /// Writes in a row last longer than any cache.
    has_no_cache: bool,
    /// The rate, in bytes a second, that was kept up until the medium would have been hot.
    cool_bps: f64,
}

impl Answers {
    fn of(cells: &[Cell], target: &TargetInfo) -> Answers {
        let sustained = cells.iter().find(|cell| {
            cell.test == test::SUSTAINED && cell.params.form.as_deref() == Some("first")
        });
        let level = sustained.and_then(|cell| {
            let figure = |name| cell.metrics.other.get(name).map(|figure: &Estimate| figure.value);
            Some((cell, figure("first_bps")?, figure(metric::SUSTAINED_BPS)?))
                .filter(|(_, first, last)| *last * SAME >= *first)
        });
        let wrote_enough = |cell: &Cell| {
            !target.is_file() && cell.bytes >= target.facts.capacity_bytes / LARGEST_CACHE
        };
        Answers {
            is_flash_itself: random_writes_pay(cells),
            sectors_iops: random_writes(cells, SECTOR_BYTES)
                .and_then(|cell| Some(cell.metrics.iops?.value)),
            has_no_cache: level.is_some_and(|(cell, ..)| wrote_enough(cell)),
            cool_bps: level
                .filter(|(cell, ..)| cell.elapsed_ns >= WARMING_NS)
                .map_or(0.0, |(_, first, _)| first * SAME),
        }
    }

    fn lift(&self, cell: &Cell, flag: &Flag) -> bool {
        match flag {
            Flag::MayGetHot { bps, .. } => *bps <= self.cool_bps,
            Flag::MayNotLast { .. } if cell.test == test::SECTOR_WRITE => {
                let is_same = |iops: Estimate| {
                    self.sectors_iops.is_some_and(|sustained| iops.value <= SAME * sustained)
                };
                self.is_flash_itself && cell.metrics.iops.is_some_and(is_same)
            }
            Flag::MayNotLast { .. } if IN_A_ROW.contains(&cell.test.as_str()) => {
                self.is_flash_itself || self.has_no_cache
            }
            Flag::MayNotLast { .. } => self.is_flash_itself,
            _ => false,
        }
    }
}

/// The sustained random writes of this size in a wide span.
fn random_writes(cells: &[Cell], block_bytes: u64) -> Option<&Cell> {
    cells.iter().find(|cell| {
        let params = &cell.params;
        cell.test == test::RANDOM_WRITE
            && params.block_bytes == Some(block_bytes)
            && params.span_bytes.is_some_and(|bytes| bytes >= WIDE_BYTES)
            && is_data(cell)
    })
}

fn is_data(cell: &Cell) -> bool {
    !cell.stop.cut_short() && cell.params.content == Some(Content::Incompressible)
}

fn random_writes_pay(cells: &[Cell]) -> bool {
    let in_a_row: Vec<&Cell> = cells
        .iter()
        .filter(|cell| cell.test == test::SEQUENTIAL_WRITE && is_in_a_row(cell))
        .collect();
    let small = in_a_row.iter().find(|cell| cell.params.block_bytes == Some(SMALL_BYTES));
    let low = |cell: &Cell| cell.metrics.iops.and_then(|iops| Some(iops.ci95?[0]));
    let high = |cell: &Cell| cell.metrics.iops.and_then(|iops| Some(iops.ci95?[1]));
    let random = random_writes(cells, SMALL_BYTES);
    // In the order of time: whatever filled up until then did so in one of these.
    let until =
        random.and_then(|random| cells.iter().position(|cell| cell.id == random.id)).unwrap_or(0);
    let fell_before =
        cells.iter().take(until + 1).any(|cell| cell.test == test::RANDOM_WRITE && fell(cell));
    let pays = random.filter(|_| !fell_before).and_then(high);
    let pays = pays
        .zip(small.and_then(|cell| low(cell)))
        .is_some_and(|(random, in_a_row)| random * SAME <= in_a_row);
    pays && !falls_with_size(&in_a_row)
}

fn is_in_a_row(cell: &Cell) -> bool {
    // A command that the link splits is slow for another reason.
    let is_whole = !cell.flags.iter().any(|flag| matches!(flag, Flag::SplitCommand { .. }));
    is_whole
        && is_data(cell)
        && cell.params.direction == Some(Direction::Write)
        && cell.params.pattern == Some(Pattern::Sequential)
}

/// Whether the first of the writes were so much faster that something had room for them.
fn fell(random: &Cell) -> bool {
    let burst = random.metrics.other.get(metric::BURST_IOPS).map_or(0.0, |burst| burst.value);
    random.metrics.iops.is_some_and(|iops| burst > SAME * SAME * iops.value)
}

/// Whether larger writes in a row, measured later, are slower in bytes a second: nothing but a
/// cache that filled up makes them so.
fn falls_with_size(in_a_row: &[&Cell]) -> bool {
    let rates = in_a_row
        .iter()
        .filter_map(|cell| Some((cell.params.block_bytes?, cell.metrics.bps?.value)));
    let rates: Vec<(u64, f64)> = rates.collect();
    rates.iter().enumerate().any(|(at, (block, bps))| {
        rates[at..].iter().any(|(later, rate)| later >= block && rate * SAME < *bps)
    })
}

#[cfg(test)]
mod tests {
    use crate::catalogue::testing::run_simulated;
    use record::Flag;

    const IN_A_ROW: [&str; 2] =
        ["prime passes=1", "sequential-write block=4KiB,1MiB certainty=5% min_time=1s"];
    const RANDOM: &str = "random-write block=512B,4KiB certainty=5% max_time=40s";

    /// The cells of these tests that say that they may not last, or that they may get hot.
    fn doubtful(profile: &str, tests: &[&str]) -> Vec<String> {
        let is_doubt =
            |flag: &Flag| matches!(flag, Flag::MayNotLast { .. } | Flag::MayGetHot { .. });
        let cells = run_simulated(profile, 1, tests);
        cells
            .into_iter()
            .filter(|cell| cell.flags.iter().any(is_doubt))
            .map(|cell| cell.id)
            .collect()
    }

    fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&IN_A_ROW[..], more].concat()
    }

    #[test]
    fn random_writes_that_pay_answer_for_writes_in_a_row() {
        assert_eq!(
            doubtful("a1", &IN_A_ROW),
            ["prime/1", "sequential-write/1", "sequential-write/2"]
        );
        assert!(
            doubtful("a1", &with(&[RANDOM, "sector-write region=middle max_time=8s"])).is_empty()
        );
        assert!(doubtful("disk-5400", &with(&[RANDOM])).is_empty());
    }

    #[test]
    fn a_cache_takes_both_alike() {
        let all = [
            "prime/1",
            "sequential-write/1",
            "sequential-write/2",
            "random-write/1",
            "random-write/2",
        ];
        assert_eq!(doubtful("usb3-modern", &with(&[RANDOM])), all);
        assert_eq!(doubtful("ssd-pslc", &with(&[RANDOM])), all);
    }

    /// Random writes after 6 GB pay, but what came before did not.
    #[test]
    fn a_cache_that_filled_up_on_the_way_answers_for_nothing() {
        let full = doubtful(
            "ssd-pslc",
            &with(&[
                "random-write block=64KiB span=8GiB total=8GiB overwhelm=6GiB max_time=60s",
                RANDOM,
            ]),
        );
        assert!(full.contains(&"sequential-write/2".to_owned()), "{full:?}");
    }

    #[test]
    fn slow_media_are_not_doubted() {
        assert!(doubtful("class10", &IN_A_ROW).is_empty());
    }

    #[test]
    fn sustained_answers_where_it_did_not_fall() {
        let after = |profile| doubtful(profile, &with(&["sustained form=first"]));
        assert!(after("ssd").is_empty());
        assert_eq!(after("usb3-modern"), ["prime/1", "sequential-write/1", "sequential-write/2"]);
    }

    #[test]
    fn what_moves_fast_may_get_hot() {
        let read = "sequential-read block=1MiB certainty=5% min_time=1s";
        assert!(doubtful("throttler", &with(&[read])).contains(&"sequential-read/1".to_owned()));
        assert!(
            doubtful("throttler", &with(&[read, "sustained form=first"]))
                .contains(&"sequential-read/1".to_owned())
        );
    }
}
