//! Stretches in which the host did not run a thread that was ready to run: the whole machine stood
//! still, or other work had the processor. Measured by a thread that wakes up every few
//! milliseconds and notes its delay. The load is no measure of this: on Linux, threads that wait
//! for a slow medium count as load, and delay nothing.

use std::collections::VecDeque;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use record::HostStall;

use crate::clock::now_ns;
use crate::priority::RaisedPriority;

/// Interval at which the thread wakes up.
const TICK: Duration = Duration::from_millis(5);
/// Delay in nanoseconds that is more than the jitter of a timer.
const LATE_NS: u64 = 25_000_000;
/// Most stalls that are remembered, the latest.
const MOST: usize = 4096;
/// Most milliseconds to wait until the thread has woken up again.
const WAITS: u32 = 50;

#[derive(Default)]
struct RecordedStalls {
    stalls: VecDeque<HostStall>,
    looked_ns: u64,
}

/// `None` if no thread can be started: then no stall is seen.
static SEEN: OnceLock<Option<Mutex<RecordedStalls>>> = OnceLock::new();

fn seen() -> Option<&'static Mutex<RecordedStalls>> {
    SEEN.get()?.as_ref()
}

/// Starts the thread, once for the process.
pub fn begin() {
    SEEN.get_or_init(|| {
        let thread = thread::Builder::new().name("host-lateness".into()).spawn(look);
        thread.is_ok().then(|| {
            Mutex::new(RecordedStalls { looked_ns: now_ns(), ..RecordedStalls::default() })
        })
    });
}

fn look() {
    // As late as the thread that measures would be, and no later.
    let _raised = RaisedPriority::of_this_thread();
    loop {
        let began_ns = now_ns();
        thread::sleep(TICK);
        let now_ns = now_ns();
        let due_ns = began_ns + TICK.as_nanos() as u64;
        let Some(seen) = seen() else { continue };
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.looked_ns = now_ns;
        let late_ns = now_ns.saturating_sub(due_ns);
        if late_ns >= LATE_NS {
            if seen.stalls.len() == MOST {
                seen.stalls.pop_front();
            }
            seen.stalls.push_back(HostStall { from_ns: due_ns, to_ns: now_ns });
        }
    }
}

/// Stalls that ended after `from_ns`, oldest first; waits for the end of one that is going on.
pub fn since(from_ns: u64) -> Vec<HostStall> {
    let Some(seen) = seen() else { return Vec::new() };
    let asked_ns = now_ns();
    for _ in 0..WAITS {
        let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.looked_ns >= asked_ns {
            return seen.stalls.iter().filter(|stall| stall.to_ns > from_ns).copied().collect();
        }
        drop(seen);
        thread::sleep(Duration::from_millis(1));
    }
    // The thread has not run for long: the host stands still right now.
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let late = HostStall { from_ns: seen.looked_ns, to_ns: now_ns() };
    seen.stalls.iter().filter(|stall| stall.to_ns > from_ns).copied().chain(Some(late)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_stalls_are_in_order_and_end_after_the_given_time() {
        begin();
        let from_ns = now_ns();
        thread::sleep(Duration::from_millis(30));
        let seen = since(from_ns);
        assert!(
            seen.iter()
                .all(|stall| stall.to_ns > from_ns && stall.to_ns - stall.from_ns >= LATE_NS),
            "{seen:?}"
        );
        assert!(seen.is_sorted_by_key(|stall| stall.from_ns));
    }
}
