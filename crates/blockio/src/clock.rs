//! The clock of real devices and of the code that watches them.

use rustix::thread::{NanosleepRelativeResult, nanosleep};
use rustix::time::{ClockId, Timespec, clock_gettime};

const NS_PER_S: u64 = 1_000_000_000;

/// Nanoseconds of the raw monotonic clock, which is never set or adjusted
/// (docs/field/statistics.md#percentiles).
#[inline]
pub fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::MonotonicRaw))
}

/// Processor time of this process in nanoseconds: all threads, user and system.
pub(crate) fn cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime))
}

/// Time that the calling thread was ready to run and waited for a processor, in nanoseconds, since
/// it began (`run_delay` of the kernel: Documentation/scheduler/sched-stats.rst); `None` where the
/// kernel does not count it.
pub(crate) fn run_delay_ns() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    counts.split_whitespace().nth(1)?.parse().ok()
}

#[inline]
fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64
}

/// A duration in nanoseconds as the kernel's type.
pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / NS_PER_S) as _, tv_nsec: (ns % NS_PER_S) as _ }
}

/// Sleeps for `ns` nanoseconds; less if a signal arrives.
pub(crate) fn sleep(ns: u64) {
    match nanosleep(&timespec(ns)) {
        NanosleepRelativeResult::Ok
        | NanosleepRelativeResult::Interrupted(_)
        | NanosleepRelativeResult::Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::*;

    /// Two threads on one processor: each waits while the other works.
    #[test]
    fn waiting_for_a_processor_is_counted() {
        let allowed = sched_getaffinity(None).unwrap();
        let first = (0..CpuSet::MAX_CPU).find(|at| allowed.is_set(*at)).unwrap();
        let work = move || {
            let mut one = CpuSet::new();
            one.set(first);
            sched_setaffinity(None, &one).unwrap();
            let until_ns = now_ns() + 200_000_000;
            while now_ns() < until_ns {}
            run_delay_ns()
        };
        let other = std::thread::spawn(work);
        let delays_ns = [std::thread::spawn(work).join().unwrap(), other.join().unwrap()];
        let Some(sum_ns) = delays_ns[0].zip(delays_ns[1]).map(|(one, other)| one + other) else {
            return;
        };
        assert!(sum_ns > 20_000_000, "{sum_ns}");
    }
}
