//! Samples of the kernel's counters of the medium, ten times a second beside the measurement, and
//! of what the host had to do meanwhile.
//!
//! Each cell keeps the counters of up to [`MOST`] moments. When there are more, every second one is
//! left out, and from then on only every second is taken. As the counters are running totals,
//! nothing between two of them is lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use host::{DeviceNumber, HostPressure, Roots, StatFile};
use record::{Counters, HostState, Sample, Target};

/// Time between two samples.
const PERIOD: Duration = Duration::from_millis(100);
/// Most samples that a cell keeps; even, so that it halves.
const MOST: usize = 64;

/// Reads the counters in a thread of its own, which ends when this is dropped.
pub struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    roots: Roots,
    stat: StatFile,
    samples: Mutex<CellSamples>,
    over: AtomicBool,
    /// Time of the clock at the run's time 0, in nanoseconds.
    began_ns: u64,
}

impl Sampler {
    /// Starts for a run that was measured for `used_ns` before. `None` if the kernel counts
    /// nothing, as for a simulated medium.
    pub fn start(target: &Target, used_ns: u64) -> Option<Sampler> {
        let number: DeviceNumber = target.device_number.as_ref()?.parse().ok()?;
        let roots = Roots::default();
        let stat = StatFile::open(&roots, number).ok()?;
        let began_ns = blockio::now_ns().wrapping_sub(used_ns);
        let shared = Arc::new(Shared {
            roots,
            stat,
            samples: Mutex::default(),
            over: AtomicBool::new(false),
            began_ns,
        });
        let for_thread = Arc::clone(&shared);
        let look = move || {
            while !for_thread.over.load(Ordering::Relaxed) {
                std::thread::park_timeout(PERIOD);
                for_thread.look(false);
            }
        };
        // Without the thread there are still the looks at the beginning and the end of each cell.
        let thread = std::thread::Builder::new().name("sampler".into()).spawn(look).ok();
        Some(Sampler { shared, thread })
    }

    /// Begins a cell: notes the counters of medium and host.
    pub fn begin(&self) {
        *self.shared.samples() = CellSamples {
            open: true,
            pressure: HostPressure::now(&self.shared.roots),
            ..CellSamples::default()
        };
        self.shared.look(true);
    }

    /// Ends the cell; returns what was counted meanwhile, of the medium and of the host.
    pub fn end(&self) -> (Vec<Sample>, HostState) {
        self.shared.look(true);
        let samples = std::mem::take(&mut *self.shared.samples());
        let pressure = HostPressure::now(&self.shared.roots).since(&samples.pressure);
        (samples.since_first(), pressure)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn samples(&self) -> MutexGuard<'_, CellSamples> {
        // Plain numbers, whole at any time: a panic elsewhere does not spoil them.
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the counters; a medium that has gone has none.
    fn look(&self, due: bool) {
        let mut samples = self.samples();
        if samples.open
            && let Ok(counters) = self.stat.read()
        {
            samples.take(blockio::now_ns().wrapping_sub(self.began_ns), counters, due);
        }
    }
}

/// Samples of one cell.
#[derive(Default)]
struct CellSamples {
    /// True if a cell is under way.
    open: bool,
    /// Pressure of the host when the cell began.
    pressure: HostPressure,
    moments: Vec<(u64, Counters)>,
    /// Binary logarithm of the number of looks of which one is kept.
    halvings: u32,
    looks: u64,
}

impl CellSamples {
    /// Takes a sample; with `due` it is kept in any case.
    fn take(&mut self, at_ns: u64, counters: Counters, due: bool) {
        self.looks += 1;
        if !due && !self.looks.is_multiple_of(1 << self.halvings) {
            return;
        }
        if self.moments.len() == MOST {
            let mut at = 0;
            self.moments.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.halvings += 1;
        }
        self.moments.push((at_ns, counters));
    }

    /// Counts since the first sample; empty if the counters became those of another device.
    fn since_first(self) -> Vec<Sample> {
        let Some((_, first)) = self.moments.first().copied() else { return Vec::new() };
        let since = |(at_ns, counters): (u64, Counters)| {
            Some(Sample { at_ns, counters: counters.since(&first)? })
        };
        self.moments.into_iter().map(since).collect::<Option<_>>().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(reads: u64) -> Counters {
        Counters::from_fields(&[reads, 0, reads * 8, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap()
    }

    /// Samples of a cell of so many looks, a tenth of a second and ten reads apart.
    fn samples(looks: u64) -> Vec<Sample> {
        let mut samples = CellSamples::default();
        (0..looks).for_each(|look| {
            samples.take(look * 100, counters(1000 + look * 10), look == 0 || look == looks - 1)
        });
        samples.since_first()
    }

    #[test]
    fn a_short_cell_keeps_every_look_and_a_long_one_its_whole_course() {
        assert_eq!(
            samples(5).iter().map(|sample| sample.counters.read.ios).collect::<Vec<_>>(),
            [0, 10, 20, 30, 40]
        );
        for looks in [64, 65, 200, 10_000, 100_000] {
            let samples = samples(looks);
            assert!(
                samples.len() <= MOST && samples.len() > MOST / 2,
                "{looks}: {}",
                samples.len()
            );
            let last = samples.last().unwrap();
            assert_eq!((samples[0].at_ns, samples[0].counters.read.ios), (0, 0));
            assert_eq!((last.at_ns, last.counters.read.ios), ((looks - 1) * 100, (looks - 1) * 10));
            assert!(samples.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
        }
    }

    #[test]
    fn counters_of_another_device_are_not_kept() {
        let mut samples = CellSamples::default();
        samples.take(0, counters(1 << 40), true);
        samples.take(1, counters(3), true);
        assert_eq!(samples.since_first(), []);
    }

    #[test]
    fn a_simulated_medium_has_no_counters() {
        assert!(Sampler::start(&Target::default(), 0).is_none());
    }
}
