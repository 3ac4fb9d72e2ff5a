//! `whole-view`: rate and access time along the whole medium, at a hundred places: the graph of
//! gnome-disks (docs/field/classic-tools.md#rate-along-the-medium,
//! docs/field/cautions.md#order-and-budgets).
//!
//! At each place one small read after a long seek from another place, then a few sequential MiB;
//! then more rounds of small reads alone. The rate of a place is that of its typical read (the
//! median), because a single stall is not a property of a place. The places are visited in an order
//! in which each halves the widest gap, so that a view that runs out of time still shows the whole
//! medium.
//!
//! Parameters of a cell: `places`. Series: `read rate along the medium`
//! (offset, bytes/s), `access time along the medium` (offset, ns; the median of the rounds).
//! Metrics: `bps` and `latency_ns` of the sequential reads, `access_ns` (median of all small
//! reads), `first_gib_bps` and `slowest_bps`, `fastest_bps` (places).

use std::collections::BTreeMap;

use device::{Device, Extent};
use record::units::GIB;
use record::{Flag, Series, SeriesAxis, Stop};
use stats::median;

use super::prelude::*;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::offsets::pieces;

settings! {
    WholeViewSettings {
        max_time: Time = "90s", "time limit";
    }
}

spec! {
    /// Places along the medium.
    WholeViewSpec {
        places: u64,
    }
}

/// Rate and access time at places along the whole medium.
pub struct WholeView;

/// Most places, the bytes that are read at each in a row, and the size of each of these reads.
const PLACES: u64 = 100;
const EACH_BYTES: u64 = 4 * MIB;
const BLOCK_BYTES: u64 = 256 * KIB;
/// Size in bytes of a read whose time is the access time.
const ACCESS_BYTES: u64 = 4 * KIB;
/// Number of rounds of small reads after the first.
const MORE_ROUNDS: u64 = 4;

impl Procedure for WholeView {
    type Settings = WholeViewSettings;
    type Spec = WholeViewSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::WHOLE_VIEW,
            about: "rate and access time along the whole medium",
            source: "docs/field/classic-tools.md#rate-along-the-medium, docs/field/cheats.md#cheats-and-caches",
            needs: Needs::RAW,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, WholeViewSpec>) -> Planned {
        let Some(span) = cells.region(Region::Whole, u64::MAX) else { return Ok(()) };
        let places = PLACES.min(span.bytes / EACH_BYTES);
        if places < 2 {
            let (each, there) = (Bytes(EACH_BYTES), Bytes(span.bytes));
            cells.skip(format!("two places of {each} do not fit into {there}"));
            return Ok(());
        }
        let params = cells.reads(Region::Whole, span, Pattern::Strided, BLOCK_BYTES);
        cells.add(params, &WholeViewSpec { places }, settings.max_time, 0);
        Ok(())
    }

    fn run(&self, cell: &TypedCell<WholeViewSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        if let Err(error) = context.medium.drop_caches() {
            return CellOutcome::broken(cell, error);
        }
        let mut view = WholeViewResults {
            cell,
            context,
            outcome: CellOutcome::new(cell),
            rates: BTreeMap::new(),
            access_ns: BTreeMap::new(),
            worst_ns: 0,
        };
        view.look();
        view.conclude()
    }
}

/// Results so far, by place.
struct WholeViewResults<'a, 'b> {
    cell: &'a TypedCell<WholeViewSpec>,
    context: &'a mut CellContext<'b>,
    outcome: CellOutcome,
    rates: BTreeMap<u64, f64>,
    access_ns: BTreeMap<u64, Vec<f64>>,
    worst_ns: u64,
}

impl WholeViewResults<'_, '_> {
    fn look(&mut self) {
        let (span, places) = (self.cell.span(), self.cell.spec.places);
        let place = |number: u64| {
            let wanted = span.offset_bytes
                + (u128::from(span.bytes - EACH_BYTES) * u128::from(number)
                    / u128::from(places - 1)) as u64;
            Extent::new(wanted / MIB * MIB, EACH_BYTES)
        };
        for (visit, number) in halving(places).into_iter().enumerate() {
            self.context
                .part(0.8 * visit as f64 / places as f64, 0.8 * (visit + 1) as f64 / places as f64);
            if !self.access(place(number)) || !self.sequential(place(number)) {
                return;
            }
        }
        let mut random = self.context.random("places");
        for round in 0..MORE_ROUNDS {
            self.context.part(
                0.8 + 0.2 * round as f64 / MORE_ROUNDS as f64,
                0.8 + 0.2 * (round + 1) as f64 / MORE_ROUNDS as f64,
            );
            let mut order = halving(places);
            random.shuffle(&mut order);
            if !order.into_iter().all(|number| self.access(place(number))) {
                return;
            }
        }
        self.outcome.end(Stop::Ops, None);
    }

    /// Makes one small read for the place's access time; `false` ends the view.
    fn access(&mut self, place: Extent) -> bool {
        let bytes = ACCESS_BYTES.max(self.context.medium.facts().logical_block_bytes);
        // At a distance from where the sequential reading ended or will begin.
        let at = Extent::new(place.offset_bytes + place.bytes / 2, bytes);
        let limits = LoopLimits::time(self.context.time_left_ns()).ops(1);
        let mut once = Some(at);
        let tally =
            self.context.drive("seeking", &IoLoad::read(bytes), &limits, &mut |_| once.take());
        if tally.ops > 0 {
            self.access_ns.entry(place.offset_bytes).or_default().push(tally.busy_ns as f64);
        }
        let (stop, error) = (tally.stop, tally.error);
        self.goes_on(stop, error)
    }

    /// Reads the whole place sequentially; `false` ends the view.
    fn sequential(&mut self, place: Extent) -> bool {
        let limits = LoopLimits::time(self.context.time_left_ns());
        let mut took_ns = Vec::new();
        let mut watch = |_, latency_ns: u64| {
            took_ns.push(latency_ns as f64);
            false
        };
        let tally = self.context.drive_watched(
            "moving along",
            &IoLoad::read(BLOCK_BYTES),
            &limits,
            &mut pieces(place, BLOCK_BYTES),
            &mut watch,
        );
        if let Some(typical_ns) = median(&mut took_ns).filter(|_| tally.bytes == place.bytes) {
            self.rates.insert(place.offset_bytes, BLOCK_BYTES as f64 * 1e9 / typical_ns.max(1.0));
        }
        self.worst_ns = self.worst_ns.max(tally.worst_ns);
        let stop = tally.stop;
        self.outcome.absorb(tally);
        self.goes_on(stop, None)
    }

    fn goes_on(&mut self, stop: Stop, error: Option<device::IoError>) -> bool {
        if stop.cut_short() || error.is_some() {
            self.outcome.end(stop, error);
        } else if self.context.time_left_ns() == 0 {
            self.outcome.end(Stop::Time, None);
            return false;
        }
        !self.outcome.is_over()
    }

    fn conclude(mut self) -> CellOutcome {
        let places = self.cell.spec.places as usize;
        self.outcome.rates_over_all(self.worst_ns);
        let cell = &mut self.outcome.cell;
        let n = cell.ops;
        let mut all: Vec<f64> = self.access_ns.values().flatten().copied().collect();
        let front: Vec<f64> = self.rates.range(..GIB).map(|(_, bps)| *bps).collect();
        let mean = |rates: &[f64]| {
            (!rates.is_empty())
                .then(|| rates.len() as f64 / rates.iter().map(|bps| 1.0 / bps).sum::<f64>())
        };
        let figures = [
            ("access_ns", median(&mut all)),
            ("first_gib_bps", mean(&front)),
            ("slowest_bps", self.rates.values().copied().min_by(f64::total_cmp)),
            ("fastest_bps", self.rates.values().copied().max_by(f64::total_cmp)),
        ];
        for (name, value) in figures {
            cell.metrics.put(name, value, n);
        }
        if self.rates.len() < places {
            cell.flags.push(Flag::Note {
                text: format!("the time was enough for {} of {places} places", self.rates.len()),
            });
        }
        let rates = self.rates.iter().map(|(at, bps)| [*at as f64, *bps]).collect();
        let access = self
            .access_ns
            .iter_mut()
            .filter_map(|(at, ns)| Some([*at as f64, median(ns)?]))
            .collect();
        cell.series = vec![
            Series::new(
                "read rate along the medium",
                [SeriesAxis::OffsetBytes, SeriesAxis::Bps],
                rates,
            ),
            Series::new(
                "access time along the medium",
                [SeriesAxis::OffsetBytes, SeriesAxis::LatencyNs],
                access,
            ),
        ];
        self.outcome
    }
}

/// The numbers below `n`, each as far as possible from those before it: bits in reverse (van der
/// Corput).
fn halving(n: u64) -> Vec<u64> {
    let bits = n.next_power_of_two().ilog2();
    let turned =
        |number: u64| if bits == 0 { 0 } else { number.reverse_bits() >> (u64::BITS - bits) };
    (0..n.next_power_of_two()).map(turned).filter(|number| *number < n).collect()
}

#[cfg(test)]
mod tests {
    use record::units::SECOND_NS;

    use super::*;
    use crate::catalogue::testing::run_simulated;

    #[test]
    fn each_halves_what_is_left() {
        assert_eq!(halving(8), [0, 4, 2, 6, 1, 5, 3, 7]);
        for n in 1..300 {
            let mut all = halving(n);
            all.sort_unstable();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_disk_falls_off_and_flash_is_flat() {
        let cells = run_simulated("disk-5400", 1, &["whole-view"]);
        let ends = |at: usize| cells[0].series[0].points[at][1] / 1e6;
        // 70 MB/s outside, 35 inside; a command takes 0.15 ms a MiB.
        assert!((ends(1) / ends(98) - 2.0).abs() < 0.2, "{} {}", ends(1), ends(98));
        let cells = run_simulated("a1", 1, &["whole-view"]);
        let (slow, fast) = (
            cells[0].metrics.other["slowest_bps"].value,
            cells[0].metrics.other["fastest_bps"].value,
        );
        assert!(slow > 0.8 * fast && cells[0].elapsed_ns < 60 * SECOND_NS);
    }
}
