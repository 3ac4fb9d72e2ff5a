//! Random disturbances between a medium and its figures: volatile caches, pauses, slow flushes,
//! host stalls.

use device::{Device, HostStalls, PauseTimes, PausingDevice};
use record::HostStall;
use record::units::{MIB, MILLISECOND_NS, SECOND_NS};

use super::cache::Cache;
use super::dice::Dice;
use super::medium::{Mapping, Medium};

/// Disturbances beside the medium's own work.
#[derive(Clone, Debug, Default)]
pub struct Trouble {
    /// Pauses of the medium, and the time of its flushes.
    pub pausing: PauseTimes,
    /// Stalls of the host, by the device's clock.
    pub host: Vec<HostStall>,
}

/// Longest run by the device's clock, in nanoseconds.
const HORIZON_NS: u64 = 4 * 3600 * SECOND_NS;

/// Allocation units that are not a power of two, in halves of a MiB.
const ODD_UNITS: [u64; 10] = [3, 5, 6, 7, 9, 10, 12, 14, 24, 48];
/// Longest time for which a known card copies a unit, in seconds
/// (docs/field/allocation-units.md#open-units: 0.05 to 1.3 s).
const LONGEST_MERGE_S: f64 = 1.3;
const DRAWS: usize = 100;

impl Trouble {
    /// Draws disturbances for a medium that writes `write_mbps` MB/s: pauses in three of ten cases,
    /// flushes of up to 50 ms, and host stalls.
    pub fn draw(cache: Cache, write_mbps: f64, dice: &mut Dice) -> Trouble {
        let flush_ns = dice.between(0.0, 50.0 * MILLISECOND_NS as f64) as u64;
        let flush_ns = if dice.happens(0.3) { 0 } else { flush_ns };
        // A cache that lies has nothing to wait for: its flush takes the same time with and without
        // data.
        let idle_flush_ns = if cache.lies() { flush_ns } else { 0 };
        let pausing = PauseTimes { flush_ns, idle_flush_ns, ..pauses(write_mbps, dice) };
        Trouble { pausing, host: host_stalls(dice) }
    }

    /// The same disturbances on a host that never stalls.
    pub fn on_a_quiet_host(&self) -> Trouble {
        Trouble { host: Vec::new(), ..self.clone() }
    }

    /// Wraps a device in the disturbances.
    pub fn around(&self, device: impl Device + 'static) -> Box<dyn Device> {
        Box::new(HostStalls::new(
            PausingDevice::new(device, self.pausing),
            self.host.iter().copied(),
        ))
    }
}

/// Draws pauses of 50 ms to 0.8 s that take up to a sixth of the time of sequential writing.
fn pauses(write_mbps: f64, dice: &mut Dice) -> PauseTimes {
    let pause_s = dice.spread(0.05, 0.8);
    let every_bytes = pause_s / dice.between(0.02, 0.16) * write_mbps * 1e6;
    if dice.happens(0.7) {
        return PauseTimes::default();
    }
    PauseTimes {
        every_bytes: every_bytes as u64,
        pause_ns: (pause_s * SECOND_NS as f64) as u64,
        ..PauseTimes::default()
    }
}

/// Draws host stalls of 30 ms to 7 s, for a two-hundredth to a twentieth of all time.
fn host_stalls(dice: &mut Dice) -> Vec<HostStall> {
    const SHORTEST_S: f64 = 0.03;
    let longest_s = dice.spread(0.1, 7.0);
    let mean_s = (longest_s - SHORTEST_S) / (longest_s / SHORTEST_S).ln();
    let gap_s = mean_s * dice.spread(20.0, 200.0);
    let (mut stalls, mut at_ns) = (Vec::new(), 0);
    while at_ns < HORIZON_NS {
        let from_ns = at_ns + (dice.between(0.1, 1.9) * gap_s * SECOND_NS as f64) as u64;
        at_ns = from_ns + (dice.spread(SHORTEST_S, longest_s) * SECOND_NS as f64) as u64;
        stalls.push(HostStall { from_ns, to_ns: at_ns });
    }
    stalls
}

impl Medium {
    /// Draws a clean medium with any allocation unit: half of them map whole units, none of which
    /// is a power of two; one in twenty is a disk.
    pub fn of_any_unit(number: u64, dice: &mut Dice) -> Medium {
        match number % 20 {
            0 => Medium::disk(dice),
            kind if kind % 2 == 1 => Medium::hybrid(dice).with_odd_unit(dice),
            _ => Medium::mapped(dice),
        }
    }

    fn with_odd_unit(mut self, dice: &mut Dice) -> Medium {
        if let Mapping::LogBlock(mapping) = &mut self.mapping {
            let drawn = std::iter::repeat_with(|| dice.one_of(&ODD_UNITS) * MIB / 2);
            let bytes = drawn
                .take(DRAWS)
                .find(|bytes| *bytes as f64 <= LONGEST_MERGE_S * mapping.copy_mbps * 1e6)
                .unwrap_or(mapping.au_bytes);
            mapping.au_bytes = bytes;
            self.capacity_bytes = self.capacity_bytes / bytes * bytes;
        }
        self
    }

    /// Highest rate of sequential writes in MB/s: before its flash caches are full, and with zeros.
    pub fn fastest_mbps(&self) -> f64 {
        let rate_after = |text: &str, key: &str| -> f64 {
            let rates =
                text.split(key).skip(1).filter_map(|rest| rest.split_once(' ')?.0.parse().ok());
            rates.fold(0.0, f64::max)
        };
        let stages = if let Mapping::Pages { caches, .. } = &self.mapping {
            rate_after(caches, ", rate = \"")
        } else {
            0.0
        };
        let front = if let Mapping::LogBlock(mapping) = &self.mapping {
            rate_after(&mapping.keys, "rate_factor = ")
        } else {
            0.0
        };
        self.write_mbps()
            .max(stages)
            .max(rate_after(&self.tables, "zeros_rate = \""))
            .max(front * self.write_mbps())
    }

    /// Rate of sequential writes, in MB/s.
    pub fn write_mbps(&self) -> f64 {
        self.paths.as_ref().map_or(100.0, |paths| paths.write_mbps)
    }
}
