//! Distinction of host stalls from slow I/Os of the medium: an I/O during which the host stood
//! still for long enough is the host's, and is left out of the latencies. `findings::usability`
//! decides on the whole cell; `Device::host_stalls` reports the stalls.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use device::Completion;
use record::{HostStall, HostState};

use super::IoTally;

/// Least latency in nanoseconds of an I/O that may contain a host stall; the longest of these are
/// remembered.
const SLOW_NS: u64 = 50_000_000;
const MAX_SLOW: usize = 4096;
/// One part in this many of an I/O must be host stalls for the I/O to be the host's.
const HOSTS_SHARE: u64 = 4;

/// I/Os long enough to contain a host stall, the shortest first: latency, times of submission and
/// completion in nanoseconds.
#[derive(Default)]
pub(super) struct SlowIos(BinaryHeap<Reverse<(u64, [u64; 2])>>);

impl SlowIos {
    /// Keeps a slow I/O, in place of the shortest if there are too many.
    #[inline]
    pub(super) fn note(&mut self, done: &Completion) {
        let latency_ns = done.latency_ns();
        if latency_ns >= SLOW_NS {
            self.keep(Reverse((latency_ns, [done.submitted_ns, done.completed_ns])));
        }
    }

    fn keep(&mut self, io: Reverse<(u64, [u64; 2])>) {
        if self.0.len() < MAX_SLOW {
            self.0.push(io);
        } else if let Some(mut shortest) = self.0.peek_mut()
            && shortest.0.0 < io.0.0
        {
            *shortest = io;
        }
    }
}

impl IoTally {
    /// True if there are I/Os long enough to contain a host stall.
    pub fn has_slow(&self) -> bool {
        !self.slow.0.is_empty()
    }

    /// Leaves I/Os during host stalls out of the latencies, and subtracts the host's part from the
    /// time: the time that these I/Os would have taken otherwise is unknown. Both results are kept:
    /// the longest I/O with the host stall is in [`HostState`].
    pub fn leave_out(&mut self, stalls: &[HostStall]) {
        let during = |[from, to]: [u64; 2]| -> u64 {
            stalls
                .iter()
                .map(|stall| stall.to_ns.min(to).saturating_sub(stall.from_ns.max(from)))
                .sum()
        };
        let (host_stalled, quiet): (Vec<_>, Vec<_>) = std::mem::take(&mut self.slow.0)
            .into_iter()
            .map(|Reverse(io)| io)
            .partition(|(took_ns, io)| during(*io) * HOSTS_SHARE >= *took_ns && during(*io) > 0);
        let host_stalled: Vec<[u64; 2]> = host_stalled.into_iter().map(|(_, io)| io).collect();
        self.slow.0 = quiet.into_iter().map(Reverse).collect();
        if host_stalled.is_empty() {
            return;
        }
        let worst_ns = self.worst_ns;
        for [from, to] in &host_stalled {
            self.histogram.forget(to - from);
        }
        self.worst_ns = self.slow.0.iter().map(|io| io.0.0).max().unwrap_or(self.histogram.max());
        // Several at a time wait for the same host at once.
        let lost_ns = if self.in_flight == 1 {
            host_stalled.iter().map(|io| during(*io)).sum()
        } else {
            let from = host_stalled.iter().map(|io| io[0]).min().unwrap_or(0);
            during([from, host_stalled.iter().map(|io| io[1]).max().unwrap_or(0)])
        };
        self.busy_ns = self.busy_ns.saturating_sub(lost_ns).max(1);
        let host_stall_ns = stalls.iter().map(|stall| stall.to_ns - stall.from_ns).sum();
        let left_out = host_stalled.len() as u64;
        let seen = HostState {
            host_stalls: stalls.to_vec(),
            host_stall_ns,
            left_out,
            longest_with_host_ns: worst_ns,
            ..HostState::default()
        };
        self.host_state = Some(seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(submitted_ns: u64, completed_ns: u64) -> Completion {
        Completion { slot: 0, result: Ok(()), submitted_ns, completed_ns }
    }

    /// Regression: one write of 30,099 took 6.9 s because the host stood still.
    #[test]
    fn ios_in_flight_during_a_host_stall_are_left_out_and_counted() {
        let mut tally = IoTally::under(None, 1);
        let stall = HostStall { from_ns: 50_100_000, to_ns: 6_950_000_000 };
        let mut now_ns = 0;
        for turn in 0..30_099 {
            let took_ns = if turn == 50 { 6_900_000_000 } else { 1_000_000 };
            tally.count(&done(now_ns, now_ns + took_ns), 4096, true);
            now_ns += took_ns;
        }
        let with_host = tally.metrics().iops.unwrap().value;
        tally.leave_out(&[stall]);
        assert_eq!((tally.worst_ns / 1_000_000, tally.histogram.len()), (1, 30_098));
        let host_state = tally.host_state.clone().unwrap();
        assert_eq!((host_state.left_out, host_state.longest_with_host_ns), (1, 6_900_000_000));
        let without = tally.metrics().iops.unwrap();
        assert!(
            with_host < 820.0 && (990.0..1010.0).contains(&without.value),
            "{with_host} {}",
            without.value
        );
        assert!(without.ci95.is_none_or(|[low, _]| low < with_host), "it may have been the medium");
    }

    #[test]
    fn a_slow_medium_on_a_quiet_host_keeps_all_its_latencies() {
        let mut tally = IoTally::under(None, 1);
        (0..100).for_each(|turn| {
            tally.count(&done(turn * 1_000_000_000, (turn + 1) * 1_000_000_000), 4096, true)
        });
        tally.leave_out(&[HostStall { from_ns: 500_000_000, to_ns: 530_000_000 }]);
        assert_eq!(
            (tally.histogram.len(), tally.worst_ns, tally.host_state.is_none()),
            (100, 1_000_000_000, true)
        );
    }

    #[test]
    fn of_many_slow_ones_the_longest_are_remembered() {
        let mut tally = IoTally::under(None, 1);
        let mut now_ns = 0;
        for turn in 0..5_000 {
            let took_ns = if turn == 4_999 { 900_000_000 } else { 60_000_000 + turn };
            tally.count(&done(now_ns, now_ns + took_ns), 4096, true);
            now_ns += took_ns;
        }
        // The host stood still during the last but one.
        let from_ns = now_ns - 900_000_000 - 60_000_000;
        tally.leave_out(&[HostStall { from_ns, to_ns: from_ns + 60_000_000 }]);
        assert_eq!(tally.host_state.as_ref().map(|seen| seen.left_out), Some(1));
        assert_eq!(tally.worst_ns, 900_000_000);
    }

    #[test]
    fn a_quarter_of_an_io_of_fifty_milliseconds_makes_it_the_hosts() {
        let left_out = |took_ns: u64, still_ns: u64| {
            let mut tally = IoTally::under(None, 1);
            tally.count(&done(0, took_ns), 4096, true);
            tally.leave_out(&[HostStall { from_ns: 10, to_ns: 10 + still_ns }]);
            tally.host_state.map_or(0, |seen| seen.left_out)
        };
        assert_eq!(left_out(60_000_000, 15_000_000), 1);
        assert_eq!(left_out(60_000_000, 14_999_999), 0);
        assert_eq!(left_out(50_000_000, 50_000_000), 1);
        assert_eq!(left_out(49_999_999, 49_999_999), 0, "too short to be remembered");
        assert_eq!(left_out(60_000_000, 0), 0);
    }
}
