//! `sequential-read` and `sequential-write`: the dd sweep, 4 KiB to 1 MiB and 120 KiB, O_DIRECT,
//! one at a time (docs/field/classic-tools.md#dd).
//!
//! As published, each size begins at the front of the span. A medium that keeps allocation units
//! open then merges the one that the size before has left half full, and again when it is met: as
//! much as a second of streaming, which weighs little in the published half GiB and a sixth in a
//! measurement of a few seconds. With `begin=after` a size goes on where the writes before it ended
//! and is measured from the next boundary of an allocation unit on, so that nothing is left open
//! behind it.

use device::{Device, Extent};
use record::units::{KIB, MIB};
use record::{Cell, Content, Direction, Flag, Params, Pattern, PlannedCell, Region, test};

use super::level::LatencyLevel;
use crate::io_loop::{IoLoad, LoopLimits, Places};
use crate::offsets::{cyclic_from, pieces};
use crate::planned::span_of;
use crate::shown_cache::{BEGINNING_RATIO, OVERWHELM_BYTES, fast_beginning_bytes};
use crate::stop_rule::until_precise;
use crate::{
    CellContext, CellList, CellOutcome, IoTally, Needs, Setting, SettingError, TargetInfo, Test,
    TestSettings,
};

/// What is taken for the allocation unit where the medium declares none or a smaller one.
const GUESSED_AU_BYTES: u64 = 4 * MIB;
/// Size of the writes that fill up to the next boundary.
const JOINING_BLOCK_BYTES: u64 = 64 * KIB;
/// The test, in one direction.
pub struct Sequential(Direction);

impl Sequential {
    /// The test `sequential-read`: a cell for each region and block size.
    pub const READ: Sequential = Sequential(Direction::Read);
    /// The test `sequential-write`: a cell for each region, kind of data and block size.
    pub const WRITE: Sequential = Sequential(Direction::Write);
}

impl Sequential {
    /// Where measuring begins. Where the cell goes on from earlier writes, what is left of their
    /// allocation unit is filled first; an error or interruption then is the cell's.
    fn join(
        &self,
        cell: &PlannedCell,
        span: Extent,
        context: &mut CellContext<'_>,
    ) -> Result<u64, Box<IoTally>> {
        let Some(boundary_bytes) =
            cell.params.other.get("boundary_bytes").map(|bytes| *bytes as u64)
        else {
            return Ok(span.offset_bytes);
        };
        let last = span.offset_bytes + end_of_writes(context.done, span);
        let boundary = span
            .end()
            .min(span.offset_bytes + (last - span.offset_bytes).next_multiple_of(boundary_bytes));
        if last < boundary {
            let load = IoLoad { pass: 999, ..IoLoad::write(JOINING_BLOCK_BYTES) };
            let limits = LoopLimits::time(context.allotted_ns / 2);
            let tally = context.drive(
                "joining",
                &load,
                &limits,
                &mut pieces(Extent::new(last, boundary - last), JOINING_BLOCK_BYTES),
            );
            if tally.stop.cut_short() {
                return Err(Box::new(tally));
            }
        }
        Ok(boundary)
    }
}

/// The first I/Os, which do not count: a volatile cache takes writes faster until it is full, and
/// reads wait until it is empty. Whether there were enough of them for the cache that `prime` has
/// shown. An error or interruption then is the cell's.
fn warm_up(
    cell: &PlannedCell,
    load: &IoLoad,
    context: &mut CellContext<'_>,
    next: Places<'_>,
) -> Result<bool, Box<IoTally>> {
    let Some(warm_up_ns) = cell.params.other.get("warm_up_ns").map(|ns| *ns as u64) else {
        return Ok(true);
    };
    let enough_ns = warm_up_ns.min(context.time_left_ns() / 4);
    let kept_bytes = if load.direction == Direction::Write {
        fast_beginning_bytes(context.done).min(OVERWHELM_BYTES)
    } else {
        0
    };
    // Where `prime` showed a cache, all that lies in it was written by something else. While it has
    // room it takes in more than it holds, for it empties meanwhile: it is full once these take
    // longer than at first, or were as fast all the time.
    let limits = LoopLimits {
        max_bytes: OVERWHELM_BYTES,
        ..LoopLimits::time(if kept_bytes > 0 { context.time_left_ns() / 2 } else { enough_ns })
    };
    let (mut bytes_done, mut took_ns, mut level) = (0, 0, LatencyLevel::default());
    let mut is_warm = |bytes, latency_ns| {
        (bytes_done, took_ns) = (bytes_done + bytes, took_ns + latency_ns);
        level.push(latency_ns);
        took_ns >= enough_ns
            && bytes_done >= kept_bytes
            && (level.has_fallen(BEGINNING_RATIO) || bytes_done >= 2 * kept_bytes)
    };
    let tally = context.drive_watched("warming up", load, &limits, next, &mut is_warm);
    if tally.stop.cut_short() { Err(Box::new(tally)) } else { Ok(bytes_done >= kept_bytes) }
}

/// How far into `span` the sequential writes of the cells before have come.
fn end_of_writes(done: &[Cell], span: Extent) -> u64 {
    let here = |cell: &&Cell| cell.params.span_offset_bytes == Some(span.offset_bytes);
    done.iter().filter(here).fold(0, |at, cell| match cell.test.as_str() {
        test::PRIME | test::ZERO_FILL | test::RANDOM_FILL => {
            cell.params.span_bytes.unwrap_or(0) % span.bytes.max(1)
        }
        test::SEQUENTIAL_WRITE => (at + cell.written_bytes) % span.bytes.max(1),
        _ => at,
    })
}

impl Test for Sequential {
    fn name(&self) -> &'static str {
        match self.0 {
            Direction::Read => test::SEQUENTIAL_READ,
            Direction::Write => test::SEQUENTIAL_WRITE,
        }
    }
    fn about(&self) -> &'static str {
        match self.0 {
            Direction::Read => "sequential reads, by block size",
            Direction::Write => "sequential writes, by block size and content",
        }
    }
    fn source(&self) -> &'static str {
        "docs/field/classic-tools.md#dd"
    }
    fn settings(&self) -> &'static [Setting] {
        &[
            Setting {
                name: "block",
                default: "4KiB,8KiB,16KiB,32KiB,64KiB,120KiB,128KiB,256KiB,512KiB,1MiB",
                about: "block sizes",
            },
            Setting { name: "span", default: "512MiB", about: "span of the medium" },
            Setting { name: "total", default: "512MiB", about: "bytes per block size, at most" },
            Setting { name: "region", default: "middle", about: "middle, front" },
            Setting {
                name: "content",
                default: "incompressible",
                about: "zeros, repeated, incompressible (writing)",
            },
            Setting {
                name: "begin",
                default: "front",
                about: "front (as published); after: where the last writes ended (writing)",
            },
            Setting {
                name: "warm_up",
                default: "0s",
                about: "leave out the first I/Os, for this long or 65 MiB: a cache makes them faster or slower",
            },
            Setting {
                name: "certainty",
                default: "2%",
                about: "stop when the interval is this narrow",
            },
            Setting { name: "min_time", default: "3s", about: "least time per block size" },
            Setting { name: "max_time", default: "60s", about: "time limit per block size" },
        ]
    }
    fn needs(&self) -> Needs {
        Needs { writing: self.0 == Direction::Write, ..Needs::READING }
    }

    fn plan(
        &self,
        settings: &TestSettings,
        target: &TargetInfo,
        cells: &mut CellList<'_>,
    ) -> Result<(), SettingError> {
        let total_bytes = settings.size("total")?;
        let warm_up_ns = settings.duration_ns("warm_up")?;
        let goes_on =
            self.0 == Direction::Write && settings.choice("begin", &["front", "after"])? == "after";
        let boundary_bytes = target.au_bytes.unwrap_or(GUESSED_AU_BYTES).max(GUESSED_AU_BYTES);
        let contents = match self.0 {
            Direction::Read => vec![None],
            Direction::Write => settings.contents("content")?.into_iter().map(Some).collect(),
        };
        for region in settings.choices("region", &["middle", "front"])? {
            let region = if region == "front" { Region::Front } else { Region::Middle };
            let Some(span) = cells.or_skip(settings.span(target, region)?) else {
                continue;
            };
            for &content in &contents {
                for block_bytes in settings.blocks("block")? {
                    let mut params = Params {
                        direction: Some(self.0),
                        pattern: Some(Pattern::Sequential),
                        block_bytes: Some(block_bytes),
                        region: Some(target.region_name(region)),
                        span_offset_bytes: Some(span.offset_bytes),
                        span_bytes: Some(span.bytes),
                        queue_depth: 1,
                        threads: 1,
                        content,
                        ..Params::default()
                    };
                    params.other.insert("total_bytes".into(), total_bytes as f64);
                    params.other.insert("certainty".into(), settings.share("certainty")?);
                    params.other.insert("min_ns".into(), settings.duration_ns("min_time")? as f64);
                    params
                        .other
                        .extend((warm_up_ns > 0).then(|| ("warm_up_ns".into(), warm_up_ns as f64)));
                    params
                        .other
                        .extend(goes_on.then(|| ("boundary_bytes".into(), boundary_bytes as f64)));
                    let joining_bytes = if goes_on { boundary_bytes } else { 0 };
                    let warm_up_bytes =
                        if warm_up_ns > 0 { OVERWHELM_BYTES + block_bytes } else { 0 };
                    // 120 KiB do not divide a MiB: the last I/O is whole.
                    let measured_bytes = total_bytes.next_multiple_of(block_bytes);
                    let written = if self.0 == Direction::Write {
                        measured_bytes + joining_bytes + warm_up_bytes
                    } else {
                        0
                    };
                    cells.add(params, settings.duration_ns("max_time")?, written);
                }
            }
        }
        Ok(())
    }

    fn run(&self, cell: &PlannedCell, context: &mut CellContext<'_>) -> CellOutcome {
        let planned = span_of(cell);
        let primed = context.primed(planned);
        let span = primed.unwrap_or(planned);
        let load = match self.0 {
            Direction::Read => IoLoad::read(cell.block_bytes()),
            // A pass number of its own per block size, so that no size writes what lies there
            // already.
            Direction::Write => IoLoad {
                content: cell.params.content.unwrap_or(Content::Incompressible),
                pass: 1000 + (cell.block_bytes() / 512) as u32,
                ..IoLoad::write(cell.block_bytes())
            },
        };
        let first = match self.join(cell, span, context) {
            Ok(first) => first,
            Err(tally) => return tally.outcome(cell),
        };
        if self.0 == Direction::Read
            && let Err(error) = context.medium.drop_caches()
        {
            return CellOutcome::broken(cell, error);
        }
        let mut places = cyclic_from(span, cell.block_bytes(), first);
        let is_warm = match warm_up(cell, &load, context, &mut places) {
            Ok(is_warm) => is_warm,
            Err(tally) => return tally.outcome(cell),
        };
        let rule = until_precise(
            cell.setting("certainty"),
            (cell.setting("min_ns") as u64).min(context.allotted_ns / 2),
        );
        let limits = LoopLimits {
            max_bytes: cell.setting("total_bytes") as u64,
            ..LoopLimits::certain(rule, context.time_left_ns())
        };
        let tally = context.drive("measuring", &load, &limits, &mut places);
        let mut outcome = tally.outcome(cell);
        outcome.cell.params.span_bytes = Some(span.bytes);
        if !is_warm {
            outcome.cell.without_intervals();
        }
        if primed.is_none() && self.0 == Direction::Read {
            outcome.cell.flags.push(Flag::NotPrimed);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use device::Op;
    use record::units::{GIB, KIB, MILLISECOND_NS};

    use super::*;
    use crate::catalogue::testing::{Bed, cached_card, cached_card_us, run_profile, run_simulated};

    /// The places of all writes, joined where they touch.
    fn written(tests: &[&str]) -> Vec<(u64, u64)> {
        let ran = Bed::raw(GIB, |_, _| MILLISECOND_NS).run(tests);
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for request in ran.requests.iter().filter(|request| request.op == Op::Write) {
            let place = Extent::new(request.offset_bytes - GIB / 2, request.length_bytes);
            match runs.last_mut() {
                Some((_, end)) if *end == place.offset_bytes => *end = place.end(),
                _ => runs.push((place.offset_bytes, place.end())),
            }
        }
        runs
    }

    #[test]
    fn as_published_each_size_begins_at_the_front() {
        let runs =
            written(&["sequential-write block=4KiB,64KiB span=64MiB total=1MiB certainty=0%"]);
        assert_eq!(runs, [(0, MIB), (0, MIB)]);
    }

    /// 1 MiB is measured of each size; from there on to the next 4 MiB belongs to no measurement,
    /// and nothing is written twice.
    #[test]
    fn a_size_goes_on_where_the_one_before_ended() {
        let tests = [
            "prime span=64MiB passes=1",
            "sequential-write block=4KiB,64KiB,1MiB span=64MiB total=1MiB certainty=0% begin=after",
        ];
        assert_eq!(written(&tests), [(0, 64 * MIB), (0, 9 * MIB)]);
        let ran = Bed::raw(GIB, |_, _| MILLISECOND_NS).run(&tests);
        let cells: Vec<_> =
            ran.end.cells.iter().skip(1).map(|cell| (cell.bytes, cell.written_bytes)).collect();
        assert_eq!(cells, [(MIB, MIB), (MIB, 4 * MIB), (MIB, 4 * MIB)]);
    }

    /// The last block of 120 KiB goes beyond the MiB; a run that writes more than it announced is
    /// stopped by its own guard.
    #[test]
    fn what_is_announced_holds_for_blocks_that_do_not_divide_it() {
        let tests = ["sequential-write block=120KiB,1MiB span=64MiB total=1MiB certainty=0%"];
        let planned = Bed::raw(GIB, |_, _| MILLISECOND_NS).planned(&tests);
        let ran = Bed::raw(GIB, |_, _| MILLISECOND_NS).run(&tests);
        let written: Vec<u64> = ran.end.cells.iter().map(|cell| cell.written_bytes).collect();
        assert_eq!(written, [9 * 120 * KIB, MIB]);
        assert_eq!(planned.iter().map(|cell| cell.max_written_bytes).collect::<Vec<_>>(), written);
    }

    /// While the cache has room it takes in more than it holds, and what was written up to the
    /// boundary leaves it sooner than these.
    #[test]
    fn a_cache_is_full_of_the_same_writes_before_they_count() {
        let tests = [
            "prime passes=1",
            "sequential-write begin=after warm_up=400ms certainty=5% min_time=1s max_time=6s block=4KiB,8KiB,64KiB",
        ];
        let cells = run_profile(&cached_card(), None, 1, &tests);
        let off = cells[1..].iter().map(|cell| {
            let bytes = cell.params.block_bytes.unwrap_or(0);
            cell.metrics.iops.expect("it wrote").value * cached_card_us(bytes) / 1e6 - 1.0
        });
        let off: Vec<f64> = off.collect();
        assert!(off.iter().all(|off| off.abs() < 0.005), "{off:?}");
    }

    #[test]
    fn no_half_full_allocation_unit_weighs_on_a_short_measurement() {
        let rates = |begin: &str| {
            let test =
                format!("sequential-write block=8KiB,16KiB,64KiB certainty=5% min_time=1s {begin}");
            let cells = run_simulated(
                "class10",
                1,
                &["prime passes=1", "sequential-write block=4KiB max_time=4s", &test],
            );
            cells[2..]
                .iter()
                .map(|cell| cell.metrics.bps.expect("it wrote").value / 1e6)
                .collect::<Vec<_>>()
        };
        // 4.82, 6.31 and 8.21 MB/s for ever.
        let found = rates("begin=after");
        assert!(
            (found[0] / 4.82 - 1.0).abs() < 0.05
                && (found[1] / 6.31 - 1.0).abs() < 0.05
                && (found[2] / 8.21 - 1.0).abs() < 0.05,
            "{found:?}"
        );
        let front = rates("begin=front");
        assert!(front.iter().zip(&found).any(|(front, found)| *front < 0.95 * found), "{front:?}");
    }
}
