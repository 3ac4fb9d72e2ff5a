//! `open-aus`: number of allocation units that a medium keeps open for writing, and the effect of
//! the order inside a unit (docs/field/allocation-units.md#open-units,
//! docs/field/allocation-units.md#order-inside-a-unit).
//!
//! *Linear*: writes in turn over n allocation units that are far apart, ascending inside each.
//! While n units can be open, that is as fast as one sequential stream; with one more, every write
//! closes a unit, which costs a copy of most of it: 0.05 to 1.3 s. So n is searched: 1, 2, 4, 8, ..
//! until the rate collapses, then by bisection, at the first block size; at the others only the
//! last n before the collapse and the first after it, because some media treat small writes
//! differently. *Random*: the first MiB of one unit alone, its blocks in random order, at the first
//! block size so often that the log of any unit is full.
//!
//! Each cell begins at the start of units that none of the latest cells has written to. One round
//! over the units, and four writes (32 within one unit), do not count: they close units that were
//! open before. Behind a volatile cache the effect is delayed, so as many more writes as it holds
//! do not count. Then 16 rounds; after 5 s a write for each unit, at least 16, are enough. All
//! cells together stop at `total_time`.
//!
//! Parameters of a cell: `form` (linear, random), `n_aus`, `assumed_au_bytes` (as the medium
//! declares it, or 4 MiB). Metrics: `bps`, `iops`, `latency_ns` (its median collapses),
//! `warm_up_ns`.

use std::collections::BTreeMap;

use device::Extent;
use record::Cell;
use record::units::{Nanos, saturating_sum};
use stats::Random;

use super::prelude::*;
use super::stretch::{self, Stretch, earlier};
use crate::observed_cache::{CACHED_PAGE_BYTES, observed_cache_bytes};

settings! {
    OpenAusSettings {
        block: Blocks = "64KiB,16KiB,4KiB",
            "write sizes; the search uses the first, the others are tried at the limit";
        form: Words([LINEAR, RANDOM]) = "linear,random", "order inside an erase block";
        most: Count = "32", "most erase blocks in turn";
        au: Size = "4MiB", "erase block (allocation unit) to assume where the medium declares none";
        max_time: Time = "60s", "time limit per cell";
        total_time: Time = "4m", "time limit for all of them";
    }
}

spec! {
    /// Numbers of writes in turn over units.
    OpenAusSpec {
        /// Most units in turn.
        most: u64,
        assumed_au_bytes: u64,
        /// Time limit of all cells together, in nanoseconds.
        total_ns: u64,
        /// Number of units; a cell of a search takes it from the cells before it.
        n_aus: Option<u64>,
        /// Bytes written in random order.
        random_bytes: Option<u64>,
        /// For block sizes without a search: true for the first number past the limit, false for
        /// the last before it...
        past: Option<bool>,
        /// ...that was found with blocks of this size, in bytes.
        searched_block_bytes: Option<u64>,
        ..stretch: Stretch,
    }
}

/// Writes in turn over n allocation units, a cell for each form, block size and n that is tried.
pub struct OpenAus;

/// Distance of the units, in units, as flashbench has it
/// (docs/field/allocation-units.md#flashbench), at multiples of it from the medium's beginning: 12
/// times 4 MiB is a multiple of all allocation units up to 16 MiB, 2^k and 3*2^k alike, so that
/// each unit begins at a boundary for any true size.
const SPACING: u64 = 12;
/// Units beyond the most in turn, so that a cell never begins with units that the one before may
/// have left open.
const SPARE: u64 = 16;
/// Bytes of the part of a unit that is written in random order: no more than the smallest
/// allocation unit with a log...
const RANDOM_SPAN_BYTES: u64 = MIB;
/// ...and bytes written to it: the log of the largest unit is full four times, so that its cost is
/// larger than pauses that are as rare.
const RANDOM_BYTES: u64 = 64 * MIB;
/// Writes before those that count, in addition to one for each unit...
const WARM_UP_OPS: u64 = 4;
/// ...and within one unit, where they are cheap: they show a cache to the cells that follow.
const RANDOM_WARM_UP_OPS: u64 = 32;
/// Most writes that a cache may hold back: past the limit each takes a merge.
const MAX_HELD_OPS: u64 = 64;
/// Rounds that count (docs/field/allocation-units.md#open-units).
const ROUNDS: u64 = 16;
/// Share of the rate of one unit below which the rate has collapsed, if a single write also takes
/// this many times as long (docs/field/allocation-units.md#open-units has five times; small units
/// that are copied fast cost three).
const COLLAPSED_RATE: f64 = 0.5;
const COLLAPSED_LATENCY: f64 = 2.5;
/// Least remaining time in nanoseconds to begin a cell.
const MIN_NS: u64 = SECOND_NS;

const LINEAR: &str = "linear";
const RANDOM: &str = "random";

impl Procedure for OpenAus {
    type Settings = OpenAusSettings;
    type Spec = OpenAusSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::OPEN_AUS,
            about: "writes in turn to more and more erase blocks, until each write has to close one",
            source: "docs/field/allocation-units.md#flashbench, docs/field/allocation-units.md#inference",
            needs: Needs::WRITING_RAW,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, OpenAusSpec>) -> Planned {
        let au_bytes = cells.assumed_au(settings.au);
        let most = settings.most.min(64);
        // One more, because they begin at a multiple of their distance.
        let wanted_bytes = (most + SPARE + 1) * SPACING * au_bytes;
        let Some(span) = cells.region(Region::Middle, wanted_bytes) else { return Ok(()) };
        let most = most.min(span.bytes / au_bytes / 2);
        if most < 2 {
            let (unit, there) = (Bytes(au_bytes), Bytes(span.bytes));
            cells.skip(format!("needs four erase blocks of {unit}; there are {there}"));
            return Ok(());
        }
        let searching = OpenAusSpec {
            most,
            assumed_au_bytes: au_bytes,
            total_ns: settings.total_time,
            n_aus: None,
            random_bytes: None,
            past: None,
            searched_block_bytes: None,
            stretch: Stretch::default(),
        };
        let mut add = |form: &str, block_bytes: u64, spec: OpenAusSpec| {
            let pattern = if form == LINEAR { Pattern::Sequential } else { Pattern::Permutation };
            let writes = cells.writes(Region::Middle, span, pattern, block_bytes);
            let params = Params { form: Some(form.into()), ..writes };
            let stretch = length(most, block_bytes, spec.random_bytes);
            cells.add_stretch(params, &OpenAusSpec { stretch, ..spec }, settings.max_time);
        };
        // What tells open units from a cache first, then what is searched: on a slow medium there
        // is no time for more.
        let mut forms = settings.form.clone();
        forms.sort_by_key(|form| *form == LINEAR);
        let blocks = settings.block.iter().copied().filter(|block| *block <= au_bytes);
        for (index, block_bytes) in blocks.enumerate() {
            for form in &forms {
                match *form {
                    RANDOM => {
                        let least_bytes = if index == 0 { RANDOM_BYTES } else { 0 };
                        let random_bytes = Some(least_bytes.max(2 * au_bytes));
                        add(
                            form,
                            block_bytes,
                            OpenAusSpec { n_aus: Some(1), random_bytes, ..searching },
                        );
                    }
                    _ if index == 0 => {
                        (0..steps(most)).for_each(|_| add(form, block_bytes, searching))
                    }
                    _ => [false, true].into_iter().for_each(|past| {
                        let (past, searched_block_bytes) = (Some(past), Some(settings.block[0]));
                        let spec = OpenAusSpec { past, searched_block_bytes, ..searching };
                        add(form, block_bytes, spec);
                    }),
                }
            }
        }
        Ok(())
    }

    fn run(&self, cell: &TypedCell<OpenAusSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        let used_ns = saturating_sum(earlier(cell, context).map(took_ns));
        let left_ns = cell.spec.total_ns.saturating_sub(used_ns);
        if left_ns < MIN_NS {
            let all = Nanos(cell.spec.total_ns);
            let why = format!("open-aus has used its {all}; give it more with total_time");
            return CellOutcome::left_out(cell, why);
        }
        context.allotted_ns = context.allotted_ns.min(left_ns);
        let n_aus = match number_of_units(cell, &earlier(cell, context).collect::<Vec<_>>()) {
            Ok(n_aus) => n_aus,
            Err(reason) => return CellOutcome::left_out(cell, reason),
        };
        let mut stretch = length(n_aus, cell.block_bytes(), cell.spec.random_bytes);
        stretch.warm_up_ops += held_ops(cell.block_bytes(), context);
        let cell = cell.with(|_, spec| {
            *spec = OpenAusSpec { n_aus: Some(n_aus), stretch, ..*spec };
        });
        let used = saturating_sum(earlier(&cell, context).map(units_of));
        let mut rounds = Rounds::new(&cell, n_aus, used, context.random("order inside units"));
        stretch::run(&cell, context, &mut |_| rounds.next())
    }
}

/// Length of a cell over so many units.
fn length(n_aus: u64, block_bytes: u64, random_bytes: Option<u64>) -> Stretch {
    let enough_ns = 5 * SECOND_NS;
    if let Some(bytes) = random_bytes {
        // Where it must fill logs, only the time of the cell cuts it short.
        let enough_ops = if bytes >= RANDOM_BYTES { bytes / block_bytes } else { 64 };
        return Stretch {
            warm_up_ops: RANDOM_WARM_UP_OPS,
            ..Stretch::of_bytes(bytes, block_bytes, enough_ops, enough_ns)
        }
        .past_caches(0);
    }
    let (warm_up_ops, enough_ops) = (n_aus + WARM_UP_OPS, n_aus.max(16));
    Stretch { warm_up_ops, ops: ROUNDS * n_aus, enough_ops, enough_ns, ..Stretch::default() }
        .past_caches(0)
}

/// Number of writes that a volatile cache holds back, as earlier cells have shown: closing a unit
/// takes effect so many writes later.
fn held_ops(block_bytes: u64, context: &CellContext<'_>) -> u64 {
    observed_cache_bytes(context.done)
        .div_ceil(block_bytes.max(CACHED_PAGE_BYTES))
        .min(MAX_HELD_OPS)
}

/// Number of cells that a search up to `most` may need: the powers of two, and halving between the
/// last two of them.
fn steps(most: u64) -> u64 {
    let doublings = u64::from(most.next_power_of_two().ilog2());
    doublings + 1 + doublings.saturating_sub(1)
}

fn units_of(cell: &Cell) -> u64 {
    cell.params.other.get("n_aus").map_or(0, |n_aus| *n_aus as u64)
}

fn took_ns(cell: &Cell) -> u64 {
    let warm_up_ns = cell.metrics.value(metric::WARM_UP_NS).map_or(0, |ns| ns as u64);
    cell.elapsed_ns.saturating_add(warm_up_ns)
}

/// Number of units of this cell, from the findings of the cells before it; an `Err` is the reason
/// why it is not needed.
fn number_of_units(cell: &TypedCell<OpenAusSpec>, done: &[&Cell]) -> Result<u64, String> {
    let OpenAusSpec { most, n_aus, past, searched_block_bytes, .. } = cell.spec;
    if let Some(n_aus) = n_aus {
        return Ok(n_aus);
    }
    let searched_bytes = searched_block_bytes.unwrap_or(cell.block_bytes());
    let found = SearchLimits::among(done, searched_bytes, most);
    match past {
        None => found
            .next(most)
            .ok_or_else(|| format!("{} blocks: searched to the end", Bytes(searched_bytes))),
        Some(false) => {
            found.held.ok_or_else(|| "the rate of one erase block alone is not known".to_owned())
        }
        Some(true) => found.collapsed.ok_or_else(|| {
            format!("writing to {} erase blocks in turn is no slower", found.held.unwrap_or(most))
        }),
    }
}

/// Limits that a search has found so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SearchLimits {
    /// Most units at which the rate held.
    held: Option<u64>,
    /// Fewest at which it collapsed.
    collapsed: Option<u64>,
}

impl SearchLimits {
    /// Limits from cells over at most so many units; a journal may contain larger numbers.
    fn among(done: &[&Cell], block_bytes: u64, most: u64) -> SearchLimits {
        let linear = done.iter().filter(|cell| {
            cell.params.form.as_deref() == Some(LINEAR)
                && cell.params.block_bytes == Some(block_bytes)
        });
        let by_units: BTreeMap<u64, &Cell> = linear
            .map(|cell| (units_of(cell), *cell))
            .filter(|(units, _)| *units <= most)
            .collect();
        let Some(one) = by_units.get(&1) else { return SearchLimits::default() };
        let collapsed = by_units.iter().find(|(_, cell)| has_collapsed(cell, one)).map(|(n, _)| *n);
        let held = by_units
            .keys()
            .copied()
            .filter(|n| collapsed.is_none_or(|collapsed| *n < collapsed))
            .max();
        SearchLimits { held, collapsed }
    }

    /// Next number of units to test.
    fn next(self, most: u64) -> Option<u64> {
        match (self.held, self.collapsed) {
            (None, _) => Some(1),
            (Some(held), None) => (held < most).then(|| (held * 2).min(most)),
            (Some(held), Some(collapsed)) => {
                (collapsed - held > 1).then(|| held.midpoint(collapsed))
            }
        }
    }
}

fn has_collapsed(cell: &Cell, one: &Cell) -> bool {
    let rate = |cell: &Cell| cell.metrics.bps.map_or(0.0, |bps| bps.value);
    let typical_ns = |cell: &Cell| {
        cell.metrics
            .latency_ns
            .as_ref()
            .map_or(f64::INFINITY, |latency| latency.p50.map_or(latency.mean, |p50| p50 as f64))
    };
    rate(cell) < COLLAPSED_RATE * rate(one)
        && typical_ns(cell) > COLLAPSED_LATENCY * typical_ns(one)
}

/// Blocks in turn over units that are far apart.
struct Rounds {
    /// First byte of each unit.
    units: Vec<u64>,
    /// Blocks inside a unit, in the order of writing.
    order: Vec<u64>,
    block_bytes: u64,
    turn: u64,
}

impl Rounds {
    /// Rounds over the units of a cell, after `used` units of earlier cells. Units are taken from a
    /// ring, so that the latest ones are furthest away.
    fn new(cell: &TypedCell<OpenAusSpec>, n_aus: u64, used: u64, mut random: Random) -> Rounds {
        let (span, au_bytes) = (cell.span(), cell.spec.assumed_au_bytes);
        let most = cell.spec.most;
        let distance_bytes = (span.bytes / au_bytes / (most + 1)).clamp(1, SPACING) * au_bytes;
        let aligned = span.offset_bytes.next_multiple_of(distance_bytes);
        let fitting = |start: u64| span.end().saturating_sub(start) / distance_bytes;
        let start = if fitting(aligned) >= most { aligned } else { span.offset_bytes };
        let ring = fitting(start).max(1);
        let unit = |number| start + (used % ring + number) % ring * distance_bytes;
        let is_random = cell.form() == RANDOM;
        let bytes = if is_random { au_bytes.min(RANDOM_SPAN_BYTES) } else { au_bytes };
        let mut order: Vec<u64> = (0..(bytes / cell.block_bytes()).max(1)).collect();
        if is_random {
            random.shuffle(&mut order);
        }
        Rounds {
            units: (0..n_aus).map(unit).collect(),
            order,
            block_bytes: cell.block_bytes(),
            turn: 0,
        }
    }
}

impl Iterator for Rounds {
    type Item = Extent;

    fn next(&mut self) -> Option<Extent> {
        let (round, unit) =
            (self.turn / self.units.len() as u64, self.turn % self.units.len() as u64);
        self.turn += 1;
        let block = self.order[round as usize % self.order.len()];
        Some(Extent::new(self.units[unit as usize] + block * self.block_bytes, self.block_bytes))
    }
}

#[cfg(test)]
mod tests {
    use record::Stop;
    use record::units::{GIB, KIB, MILLISECOND_NS};

    use super::*;
    use crate::catalogue::testing::{TestBench, card, run_profile, run_simulated};

    #[test]
    fn every_number_of_units_is_found_within_the_planned_steps() {
        for most in [2, 7, 24, 32, 64] {
            for truth in 1..=most {
                let (mut found, mut tried) = (SearchLimits::default(), 0);
                while let Some(n) = found.next(most) {
                    tried += 1;
                    let side = if n <= truth { &mut found.held } else { &mut found.collapsed };
                    *side = Some(n);
                }
                assert!(tried <= steps(most), "{truth} of {most}: {tried}");
                let collapsed = (truth < most).then_some(truth + 1);
                assert_eq!(found, SearchLimits { held: Some(truth), collapsed });
            }
        }
    }

    #[test]
    fn writes_go_in_turn_over_units_twelve_apart_each_in_order() {
        let ran = TestBench::raw(4 * GIB, |_, _| MILLISECOND_NS)
            .run(&["open-aus most=4 form=linear block=64KiB"]);
        // 1, 2 and 4 units; nothing collapses.
        assert_eq!(ran.end.cells.len(), 3);
        assert_eq!(ran.end.skipped.len(), 1);
        let writes = ran.writes(2 * GIB);
        let four = &writes[writes.len() - (4 + 4 + 64)..];
        // Three units were used before; all lie at multiples of 48 MiB from the medium's beginning.
        let expected: Vec<u64> = (0..72)
            .map(|turn| 16 * MIB + (3 + turn % 4) * 48 * MIB + turn / 4 * 64 * KIB)
            .collect();
        assert_eq!(four, expected);
    }

    fn last_that_held(cells: &[Cell], block_bytes: u64) -> (Option<u64>, Option<u64>) {
        let cells: Vec<&Cell> = cells.iter().filter(|cell| cell.test == "open-aus").collect();
        let found = SearchLimits::among(&cells, block_bytes, 64);
        (found.held, found.collapsed)
    }

    #[test]
    fn the_cells_show_how_many_units_a_jittery_card_keeps_open() {
        let cards = [(1, 1), (2, 2), (4, 3), (8, 4), (4, 5), (1, 6), (4, 7), (2, 8), (4, 20)];
        for (seed, (au_mib, n)) in cards.into_iter().enumerate() {
            let cells = run_profile(&card(au_mib, n), None, seed as u64, &["open-aus"]);
            let n = u64::from(n);
            assert_eq!(last_that_held(&cells, 64 * KIB), (Some(n), Some(n + 1)), "{au_mib} MiB");
            let total_ns: u64 = cells.iter().map(took_ns).sum();
            assert!(total_ns < 240 * SECOND_NS, "{au_mib} MiB, {n} open: {}", Nanos(total_ns));
        }
    }

    #[test]
    fn the_worst_card_keeps_within_the_time() {
        let cells = run_simulated("sd-worst", 1, &["open-aus"]);
        assert_eq!(last_that_held(&cells, 64 * KIB), (Some(3), Some(4)));
        let total_ns: u64 = cells.iter().map(took_ns).sum();
        assert!(total_ns < 240 * SECOND_NS, "{}", Nanos(total_ns));
        // The whole time for one cell at one write a second: it ends at its own limit, and the
        // others share the rest.
        let ran = TestBench::raw(4 * GIB, |_, _| SECOND_NS).run(&["open-aus total_time=90s"]);
        let total_ns: u64 = ran.end.cells.iter().map(took_ns).sum();
        assert!(total_ns < 92 * SECOND_NS, "{}", Nanos(total_ns));
        assert!(ran.end.cells.iter().all(|cell| matches!(cell.stop, Stop::Time | Stop::Ops)));
        insta::assert_snapshot!(ran.end.skipped.last().unwrap().reason, @"open-aus has used its 90.0 s; give it more with total_time");
    }

    #[test]
    fn small_writes_that_escape_and_mapped_pages_show_no_edge() {
        let cells = run_simulated("class10-bypass", 2, &["open-aus"]);
        assert_eq!(last_that_held(&cells, 64 * KIB), (Some(3), Some(4)));
        let rate = |form: &str, block: u64, n: f64| {
            let same = |cell: &&Cell| {
                cell.params.form.as_deref() == Some(form)
                    && cell.params.block_bytes == Some(block)
                    && cell.params.other["n_aus"] == n
            };
            cells.iter().find(same).unwrap().metrics.bps.unwrap().value
        };
        assert!(rate(LINEAR, 16 * KIB, 4.0) < 0.1 * rate(LINEAR, 16 * KIB, 3.0));
        assert!(rate(LINEAR, 4 * KIB, 4.0) > 0.1 * rate(LINEAR, 64 * KIB, 4.0));
        assert!(rate(RANDOM, 64 * KIB, 1.0) < rate(LINEAR, 64 * KIB, 1.0));
        // Where pages are mapped, a write out of order costs as much within one unit as between
        // two.
        let cells = run_simulated("a1", 2, &["open-aus block=64KiB"]);
        let bps = |at: usize| cells[at].metrics.bps.unwrap().value;
        let slowest = (0..cells.len()).map(bps).fold(f64::MAX, f64::min);
        assert_eq!(cells[0].params.form.as_deref(), Some(RANDOM));
        assert!(bps(0) < 2.0 * slowest, "{} {slowest}", bps(0));
    }
}
