//! Load of the host beside our work: time for which its tasks waited for processors and memory
//! (pressure stall information; kernel documentation accounting/psi), time stolen by the host of a
//! virtual machine (proc_stat(5)), and involuntary context switches of our own threads
//! (proc_pid_status(5)).

use std::fs;
use std::path::Path;

use record::HostState;

use crate::roots::Roots;

/// Nanoseconds of a tick of `/proc/stat`: 100 per second on all of Linux (USER_HZ).
const TICK_NS: u64 = 10_000_000;

/// The running totals at one moment. A total that this kernel does not have is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostPressure {
    /// Time in which some task waited for a processor, in microseconds.
    pub cpu_pressure_us: Option<u64>,
    /// Time in which some task waited for memory, in microseconds.
    pub memory_pressure_us: Option<u64>,
    /// Time stolen by the host of this virtual machine, all processors together, in nanoseconds.
    pub steal_ns: Option<u64>,
    /// Involuntary context switches of the threads of this process that still exist.
    pub preempted: Option<u64>,
}

impl HostPressure {
    /// Present totals.
    pub fn now(roots: &Roots) -> HostPressure {
        let pressure =
            |of: &str| some_total(&fs::read_to_string(roots.proc.join("pressure").join(of)).ok()?);
        HostPressure {
            cpu_pressure_us: pressure("cpu"),
            memory_pressure_us: pressure("memory"),
            steal_ns: fs::read_to_string(roots.proc.join("stat"))
                .ok()
                .and_then(|text| steal_ns(&text)),
            preempted: preempted(&roots.proc.join("self/task")),
        }
    }

    /// True if this kernel reports how long tasks waited: from Linux 4.20 on, unless that is
    /// disabled.
    pub fn has_pressure(&self) -> bool {
        self.cpu_pressure_us.is_some() && self.memory_pressure_us.is_some()
    }

    /// Increase since `earlier`, in a [`HostState`] whose other fields are empty.
    pub fn since(&self, earlier: &HostPressure) -> HostState {
        let since = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        HostState {
            cpu_pressure_us: since(self.cpu_pressure_us, earlier.cpu_pressure_us),
            memory_pressure_us: since(self.memory_pressure_us, earlier.memory_pressure_us),
            steal_ns: since(self.steal_ns, earlier.steal_ns),
            preempted: since(self.preempted, earlier.preempted),
            ..HostState::default()
        }
    }
}

/// Parses "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345".
fn some_total(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

/// Parses "cpu  user nice system idle iowait irq softirq steal ..".
fn steal_ns(text: &str) -> Option<u64> {
    let all = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    all.split_whitespace().nth(7)?.parse::<u64>().ok().map(|ticks| ticks.saturating_mul(TICK_NS))
}

fn preempted(threads: &Path) -> Option<u64> {
    let of_thread = |status: String| -> Option<u64> {
        status
            .lines()
            .find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?
            .trim()
            .parse()
            .ok()
    };
    let all = fs::read_dir(threads).ok()?.flatten();
    all.filter_map(|thread| of_thread(fs::read_to_string(thread.path().join("status")).ok()?))
        .reduce(u64::saturating_add)
}
