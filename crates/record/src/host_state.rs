//! Effects of the host on a measurement: its stalls, the tasks that waited, other users of the
//! medium.

use serde::{Deserialize, Serialize};

/// A period in which the host did not run tasks that were ready, by the device's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostStall {
    /// Beginning, in nanoseconds.
    pub from_ns: u64,
    /// End, in nanoseconds.
    pub to_ns: u64,
}

/// State of the host while a cell was measured. A number that the host does not provide is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostState {
    /// Periods in which a timer came late, longest first, 16 at most.
    #[serde(rename = "standstills", default, skip_serializing_if = "Vec::is_empty")]
    pub host_stalls: Vec<HostStall>,
    /// All such periods together, in nanoseconds.
    #[serde(rename = "stood_still_ns")]
    pub host_stall_ns: u64,
    /// Number of I/Os that were in flight in one of them.
    pub left_out: u64,
    /// Longest of all I/Os, including those that are left out of the latencies, in nanoseconds.
    pub longest_with_host_ns: u64,
    /// Time in which some task waited for a processor, in microseconds (pressure stall information
    /// of the kernel).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_us: Option<u64>,
    /// Time in which some task waited for memory, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_pressure_us: Option<u64>,
    /// Time that the hypervisor of a virtual machine took away, all processors together, in
    /// nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<u64>,
    /// Number of times that a thread of ours was made to give up its processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preempted: Option<u64>,
    /// If the host stalled for too much of the cell, the cell was measured twice, and this is the
    /// quieter measurement: stall time of the host in the other one, in nanoseconds.
    #[serde(
        rename = "other_time_stood_still_ns",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub other_time_host_stall_ns: Option<u64>,
}

/// Most host stalls that are kept.
const MOST: usize = 16;

/// Share of a cell's time; if the host stalled for more, it may have caused any contrast or stall
/// in the cell; our choice. A host stall of 50 ms is already left out of every latency, so that
/// only many of them matter.
pub const MAX_HOST_STALL_SHARE: f64 = 0.05;

impl HostState {
    /// Adds the effects in another period of the same cell.
    pub fn add(&mut self, other: HostState) {
        let sum = |a: Option<u64>, b: Option<u64>| {
            a.or(b).map(|_| a.unwrap_or(0).saturating_add(b.unwrap_or(0)))
        };
        self.host_stalls.extend(other.host_stalls);
        self.host_stalls
            .sort_by_key(|stall| std::cmp::Reverse(stall.to_ns.saturating_sub(stall.from_ns)));
        self.host_stalls.truncate(MOST);
        self.host_stall_ns = self.host_stall_ns.saturating_add(other.host_stall_ns);
        self.left_out = self.left_out.saturating_add(other.left_out);
        self.longest_with_host_ns = self.longest_with_host_ns.max(other.longest_with_host_ns);
        self.cpu_pressure_us = sum(self.cpu_pressure_us, other.cpu_pressure_us);
        self.memory_pressure_us = sum(self.memory_pressure_us, other.memory_pressure_us);
        self.steal_ns = sum(self.steal_ns, other.steal_ns);
        self.preempted = sum(self.preempted, other.preempted);
        self.other_time_host_stall_ns =
            sum(self.other_time_host_stall_ns, other.other_time_host_stall_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_stretches_are_added_and_the_sixteen_longest_host_stalls_kept() {
        let seen = |first: u64| HostState {
            host_stalls: (first..first + 9)
                .map(|long| HostStall { from_ns: 1, to_ns: 1 + long })
                .collect(),
            host_stall_ns: 5,
            left_out: 2,
            longest_with_host_ns: first,
            cpu_pressure_us: Some(first),
            memory_pressure_us: None,
            ..HostState::default()
        };
        let mut sum = seen(1);
        sum.add(seen(10));
        let lengths: Vec<u64> = sum.host_stalls.iter().map(|at| at.to_ns - at.from_ns).collect();
        assert_eq!(lengths, (3..=18).rev().collect::<Vec<u64>>());
        assert_eq!((sum.host_stall_ns, sum.left_out, sum.longest_with_host_ns), (10, 4, 10));
        assert_eq!((sum.cpu_pressure_us, sum.memory_pressure_us), (Some(11), None));
        sum.add(HostState { memory_pressure_us: Some(3), ..HostState::default() });
        assert_eq!((sum.cpu_pressure_us, sum.memory_pressure_us), (Some(11), Some(3)));
    }
}
