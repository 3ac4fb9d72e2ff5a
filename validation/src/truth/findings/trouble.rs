//! Random disturbances between a medium and its figures: pauses, slow flushes, host stalls.

use device::Device;
use device::fault::{FaultInjection, InjectedFault};
use record::HostStall;
use record::units::{MILLISECOND_NS, SECOND_NS};

use super::cache::Cache;
use super::dice::Dice;

/// Disturbances beside the medium's own work.
#[derive(Clone, Debug, Default)]
pub struct Trouble {
    /// Pauses of the medium, and the time of its flushes.
    pub pausing: Vec<InjectedFault>,
    /// Stalls of the host, by the device's clock.
    pub host: Vec<HostStall>,
}

/// Longest run by the device's clock, in nanoseconds.
const HORIZON_NS: u64 = 4 * 3600 * SECOND_NS;

impl Trouble {
    /// Draws disturbances for a medium that writes `write_bps` bytes a second: pauses in three of
    /// ten cases, flushes of up to 50 ms, and host stalls.
    pub fn draw(cache: Cache, write_bps: f64, dice: &mut Dice) -> Trouble {
        let flush_ns = dice.between(0.0, 50.0 * MILLISECOND_NS as f64) as u64;
        let ns = if dice.happens(0.3) { 0 } else { flush_ns };
        // A cache that lies has nothing to wait for: its flush takes the same time with and without
        // data.
        let idle_ns = if cache.lies() { ns } else { 0 };
        let flushes = InjectedFault::FlushTakes { ns, idle_ns };
        let pausing = pauses(write_bps, dice).into_iter().chain([flushes]).collect();
        Trouble { pausing, host: host_stalls(dice) }
    }

    /// Wraps a device in the disturbances.
    pub fn around(&self, device: impl Device + 'static) -> Box<dyn Device> {
        let stalls = self.host.iter().copied().map(InjectedFault::HostStalls);
        Box::new(FaultInjection::new(device, self.pausing.iter().cloned().chain(stalls)))
    }
}

/// Draws pauses of 50 ms to 0.8 s that take up to a sixth of the time of sequential writing.
fn pauses(write_bps: f64, dice: &mut Dice) -> Option<InjectedFault> {
    let pause_s = dice.spread(0.05, 0.8);
    let every_bytes = pause_s / dice.between(0.02, 0.16) * write_bps;
    let ns = (pause_s * SECOND_NS as f64) as u64;
    let pauses = InjectedFault::PausesEach { bytes: every_bytes as u64, ns };
    (!dice.happens(0.7)).then_some(pauses)
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
