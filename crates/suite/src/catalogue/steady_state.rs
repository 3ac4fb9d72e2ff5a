//! `steady-state`: SNIA's rounds, until the medium is the same in each
//! (docs/field/snia-and-uflip.md#snia-pts).
//!
//! First the span is written completely (twice in the full form), sequentially, 128 KiB at a time.
//! Then rounds: random I/O of every size with every share of reads, each for a fixed time. The
//! tracked value is that of 4 KiB writes; the medium is steady when five consecutive rounds differ
//! by no more than 20 % of their mean and their line rises or falls by no more than 10 %. After 25
//! rounds the search gives up.
//!
//! *full* has SNIA's 56 steps a round, a minute each, over the whole medium: 5 to 23 hours.
//! *reduced* is for slow media: 100, 65 and 0 % reads of five sizes in 1 GiB, 4 s each. I/Os come
//! one at a time; in a mix each is a read or a write by chance.
//!
//! Parameters of a cell: `form`, `span_bytes`, `step_ns`. Series: `tracked rate by round` (round,
//! IOPS; x counts rounds from 1). Metrics: `rounds`, `steady_from_round` (the first of the five,
//! from 1; absent if it was never steady), `steady_iops` (their mean), and for every step
//! `iops_<percent>r_<bytes>`: the mean of the last five rounds.

use std::collections::BTreeMap;

use record::{Estimate, Flag, Series, SeriesAxis, Stop};
use stats::{Rounds, SteadyState};

use super::prelude::*;
use super::stretch;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::offsets::{cyclic, uniform};

settings! {
    SteadyStateSettings {
        form: Words(FORMS.map(|form| form.name)) = "reduced", "reduced, full (5 to 23 hours)";
        span: Span = "1GiB",
            "span of the reduced form, in the middle; full takes the whole medium";
        rounds: Count = "25", "rounds at most";
        fill_time: Time = "5m", "time limit for filling the span in the reduced form";
        max_time: Time = "30h", "time limit; 30 min in the reduced form";
    }
}

spec! {
    /// Numbers of the rounds after filling the span.
    SteadyStateSpec {
        /// Most rounds.
        rounds: u64,
        /// Time of each of their steps in nanoseconds, and a limit of its bytes.
        step_ns: u64,
        step_max_bytes: u64,
        fill_passes: u64,
        fill_ns: u64,
    }
}

/// Runs SNIA's rounds of mixed random I/O until they are alike, a cell for each form.
pub struct SteadyStateTest;

/// Tracked step: writes only, of this size.
const TRACKED: Step = Step { read_percent: 0, block_bytes: 4 * KIB };
const FILL_BLOCK_BYTES: u64 = 128 * KIB;
/// Number of rounds whose mean is the result.
const LAST_ROUNDS: usize = 5;

/// Steps of SNIA's test, and of its reduced form for slow media.
struct Form {
    name: &'static str,
    read_percents: &'static [u64],
    blocks: &'static [u64],
    step_ns: u64,
    passes: u64,
    max_ns: u64,
}

const FORMS: [Form; 2] = [
    Form {
        name: "reduced",
        read_percents: &[100, 65, 0],
        blocks: &[MIB, 64 * KIB, 16 * KIB, 4 * KIB, 512],
        step_ns: 4 * SECOND_NS,
        passes: 1,
        max_ns: 30 * 60 * SECOND_NS,
    },
    Form {
        name: "full",
        read_percents: &[100, 95, 65, 50, 35, 5, 0],
        blocks: &[MIB, 128 * KIB, 64 * KIB, 32 * KIB, 16 * KIB, 8 * KIB, 4 * KIB, 512],
        step_ns: 60 * SECOND_NS,
        passes: 2,
        max_ns: 30 * 3600 * SECOND_NS,
    },
];

impl Procedure for SteadyStateTest {
    type Settings = SteadyStateSettings;
    type Spec = SteadyStateSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::STEADY_STATE,
            about: "rounds of mixed random I/O until a steady state (SNIA PTS)",
            source: "docs/field/snia-and-uflip.md#snia-pts",
            needs: Needs::WRITING,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, SteadyStateSpec>) -> Planned {
        let rounds = settings.rounds.min(1000);
        for name in &settings.form {
            let form = form_of(name);
            let is_full = form.passes > 1;
            let (region, found) = if is_full {
                (Region::Whole, cells.region(Region::Whole, u64::MAX))
            } else {
                (Region::Middle, cells.span(&settings.span, Region::Middle)?)
            };
            let Some(span) = found else { continue };
            if span.bytes < 2 * MIB {
                cells.skip(format!("random writes of 1 MiB need more than {}", Bytes(span.bytes)));
                continue;
            }
            let writes = cells.writes(region, span, Pattern::Uniform, TRACKED.block_bytes);
            let params = Params { form: Some((*name).into()), ..writes };
            let spec = SteadyStateSpec {
                rounds,
                step_ns: form.step_ns,
                step_max_bytes: span.bytes,
                fill_passes: form.passes,
                fill_ns: if is_full { form.max_ns } else { settings.fill_time },
            };
            let steps = form.read_percents.len() * form.blocks.len();
            // A step writes the span once at most, and a block that it had begun.
            let most_bytes = (span.bytes + MIB).saturating_mul(form.passes + rounds * steps as u64);
            cells.add(params, &spec, settings.max_time.min(form.max_ns), most_bytes);
        }
        Ok(())
    }

    fn run(&self, cell: &TypedCell<SteadyStateSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        let mut work = Work {
            cell,
            form: form_of(cell.form()),
            context,
            outcome: CellOutcome::new(cell),
            rounds: Vec::new(),
        };
        work.fill();
        let state = work.seek();
        work.conclude(&state)
    }
}

fn form_of(name: &str) -> &'static Form {
    FORMS.iter().find(|form| form.name == name).unwrap_or(&FORMS[0])
}

/// One kind of I/O within a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    read_percent: u64,
    block_bytes: u64,
}

struct Work<'a, 'b> {
    cell: &'a TypedCell<SteadyStateSpec>,
    form: &'static Form,
    context: &'a mut CellContext<'b>,
    outcome: CellOutcome,
    /// IOPS of each step, by round.
    rounds: Vec<BTreeMap<Step, f64>>,
}

impl Work<'_, '_> {
    /// Writes the span completely, as often as the form wants.
    fn fill(&mut self) {
        let span = self.cell.span();
        let fill_ns = self.cell.spec.fill_ns;
        self.context.part(0.0, 0.1);
        let load = IoLoad {
            block_bytes: FILL_BLOCK_BYTES,
            ..stretch::load(self.cell, self.context, "data that fills")
        };
        let limits = LoopLimits {
            max_bytes: span.bytes * self.form.passes,
            ..LoopLimits::time(fill_ns.min(self.context.time_left_ns()))
        };
        let tally =
            self.context.drive("filling", &load, &limits, &mut cyclic(span, FILL_BLOCK_BYTES));
        if tally.stop == Stop::Time {
            let flag = Flag::PartlyPrimed {
                primed_bytes: tally.bytes,
                wanted_bytes: span.bytes * self.form.passes,
            };
            self.outcome.cell.flags.push(flag);
        }
        self.outcome.end(tally.stop, tally.error);
    }

    /// Repeats rounds until the tracked rate is steady, or time or rounds are up.
    fn seek(&mut self) -> SteadyState {
        let most = self.cell.spec.rounds as usize;
        let mut state = SteadyState::new(most);
        while !self.outcome.is_over() && state.state() == Rounds::Seeking {
            let done = self.rounds.len() as f64;
            self.context
                .part(0.1 + 0.9 * done / most as f64, 0.1 + 0.9 * (done + 1.0) / most as f64);
            let Some(round) = self.round() else { return state };
            state.push(round.get(&TRACKED).copied().unwrap_or(0.0));
            self.rounds.push(round);
        }
        if !self.outcome.is_over() {
            self.outcome.end(Stop::Ops, None);
        }
        state
    }

    /// Does all steps once, the tracked one last but for 512 B, as in SNIA's order; `None` if it
    /// was cut short.
    fn round(&mut self) -> Option<BTreeMap<Step, f64>> {
        let (logical_bytes, span_bytes) =
            (self.context.target.facts.logical_block_bytes, self.cell.span().bytes);
        let mut round = BTreeMap::new();
        for read_percent in self.form.read_percents {
            for block_bytes in self
                .form
                .blocks
                .iter()
                .filter(|block| *block % logical_bytes == 0 && 2 * **block <= span_bytes)
            {
                let step = Step { read_percent: *read_percent, block_bytes: *block_bytes };
                let (ops, ns) = self.step(step)?;
                round.insert(step, ops as f64 * 1e9 / ns.max(1) as f64);
            }
        }
        Some(round)
    }

    /// Number of I/Os of a step and their time in nanoseconds; `None` if it was cut short.
    fn step(&mut self, step: Step) -> Option<(u64, u64)> {
        let purpose = format!("round {}, {step:?}", self.rounds.len());
        let mut random = self.context.random(&format!("{purpose}, coin"));
        let mut places = uniform(
            self.cell.span(),
            step.block_bytes,
            step.block_bytes,
            self.context.random(&purpose),
        );
        let writing = IoLoad {
            block_bytes: step.block_bytes,
            ..stretch::load(self.cell, self.context, &purpose)
        };
        let reading = IoLoad { direction: Direction::Read, ..writing };
        let step_ns = self.cell.spec.step_ns;
        let most_bytes = self.cell.spec.step_max_bytes;
        let (mut ops, mut ns, mut bytes) = (0, 0, 0);
        while ns < step_ns && bytes + step.block_bytes <= most_bytes {
            let left_ns = self.context.time_left_ns();
            if left_ns == 0 {
                self.outcome.end(Stop::Time, None);
                return None;
            }
            let is_read = |chance: u64| chance < step.read_percent;
            let now = is_read(random.below(100));
            // As many in succession as chance has it, so that not every I/O is a stretch of its
            // own.
            let row = if matches!(step.read_percent, 0 | 100) {
                u64::MAX
            } else {
                1 + (0..64).take_while(|_| is_read(random.below(100)) == now).count() as u64
            };
            let limits = LoopLimits {
                max_ops: row,
                max_bytes: most_bytes - bytes,
                ..LoopLimits::time(left_ns.min(step_ns - ns))
            };
            let tally = self.context.drive(
                "rounds",
                if now { &reading } else { &writing },
                &limits,
                &mut places,
            );
            (ops, ns, bytes) = (ops + tally.ops, ns + tally.busy_ns, bytes + tally.bytes);
            let nothing = tally.ops == 0;
            self.outcome.absorb(tally);
            if self.outcome.is_over() || nothing {
                return None;
            }
        }
        Some((ops, ns))
    }

    fn conclude(mut self, state: &SteadyState) -> CellOutcome {
        let cell = &mut self.outcome.cell;
        let n = self.rounds.len() as u64;
        let figure = |value: f64| Estimate { value, ci95: None, n };
        let other = &mut cell.metrics.other;
        other.insert("rounds".into(), figure(n as f64));
        if let Rounds::Reached { first, mean, .. } = state.state() {
            other.insert("steady_from_round".into(), figure(first as f64 + 1.0));
            other.insert("steady_iops".into(), figure(mean));
        } else {
            cell.flags.push(Flag::Note { text: format!("no steady state after {n} rounds") });
        }
        let last = &self.rounds[self.rounds.len().saturating_sub(LAST_ROUNDS)..];
        for step in last.last().into_iter().flat_map(BTreeMap::keys) {
            let mean =
                last.iter().filter_map(|round| round.get(step)).sum::<f64>() / last.len() as f64;
            other.insert(format!("iops_{}r_{}", step.read_percent, step.block_bytes), figure(mean));
        }
        let tracked = self
            .rounds
            .iter()
            .enumerate()
            .filter_map(|(round, steps)| Some([round as f64 + 1.0, *steps.get(&TRACKED)?]));
        cell.series.push(Series {
            name: "tracked rate by round".into(),
            x: SeriesAxis::Ops,
            y: SeriesAxis::Iops,
            points: tracked.collect(),
        });
        self.outcome
    }
}

#[cfg(test)]
mod tests {
    use device::Op;
    use record::units::{GIB, MILLISECOND_NS};

    use super::*;
    use crate::catalogue::testing::{TestBench, run_simulated};

    #[test]
    fn the_reduced_form_fills_and_then_goes_in_rounds_until_they_are_alike() {
        let ran =
            TestBench::raw(4 * GIB, |_, _| 10 * MILLISECOND_NS).run(&["steady-state span=64MiB"]);
        let cell = ran.cell("steady-state/1");
        assert_eq!(
            (
                ran.other("steady-state/1", "rounds"),
                ran.other("steady-state/1", "steady_from_round")
            ),
            (5.0, 1.0)
        );
        assert_eq!((ran.other("steady-state/1", "steady_iops"), cell.stop), (100.0, Stop::Ops));
        let filling = ran
            .requests
            .iter()
            .take_while(|request| request.length_bytes == FILL_BLOCK_BYTES)
            .count();
        assert_eq!(filling as u64, 64 * MIB / FILL_BLOCK_BYTES);
        // Writes of a 65 % mix are about a third.
        let mixed: Vec<_> = ran.requests[filling..]
            .iter()
            .filter(|request| request.length_bytes == 16 * KIB)
            .skip(400)
            .take(400)
            .collect();
        let writes = mixed.iter().filter(|request| request.op == Op::Write).count();
        assert!((100..180).contains(&writes), "{writes}");
    }

    #[test]
    fn a_medium_that_slows_down_is_steady_later_and_one_that_never_settles_never() {
        let slowing = |_: &device::Request, number: u64| {
            if number < 15_000 { MILLISECOND_NS } else { 20 * MILLISECOND_NS }
        };
        let ran = TestBench::raw(4 * GIB, slowing).run(&["steady-state span=8MiB"]);
        assert!(ran.other("steady-state/1", "steady_from_round") > 1.0);
        let restless = |_: &device::Request, number: u64| (1 + number / 1000) * MILLISECOND_NS;
        let ran = TestBench::raw(4 * GIB, restless).run(&["steady-state span=16MiB rounds=8"]);
        let cell = ran.cell("steady-state/1");
        insta::assert_snapshot!(cell.flags.last().unwrap(), @"no steady state after 8 rounds");
        assert_eq!(cell.series[0].points.len(), 8);
    }

    #[test]
    fn ends_in_time_on_the_worst_card_and_is_right_on_a_good_one() {
        let cells = run_simulated("sd-worst", 1, &["steady-state max_time=10m"]);
        assert!(
            cells[0].elapsed_ns <= 601 * SECOND_NS && cells[0].stop != Stop::Error,
            "{:?}",
            cells[0].stop
        );
        let cells = run_simulated("a1", 1, &["steady-state"]);
        assert!(
            (cells[0].metrics.other["steady_iops"].value / 1480.0 - 1.0).abs() < 0.1,
            "{:?}",
            cells[0].metrics.other["steady_iops"]
        );
    }
}
