//! Priority of threads that wait for I/O. On a busy host the latency of a completed I/O would
//! otherwise include the wait of its thread for a processor.
//!
//! The priority is a nice value and not a real-time policy. An ordinary thread is woken on the
//! processor that the completion arrives at; the scheduler leaves a real-time thread where it ran
//! before, and a completion that has to wake another, idle processor is late by an interrupt
//! between the two: on a virtual machine 20 µs of an I/O of 55 µs (docs/methodology.md,
//! "Priority").

use rustix::process::{getpriority_process, setpriority_process};
use rustix::thread::gettid;

/// The highest of the ordinary priorities.
const HIGHEST: i32 = -20;

/// The calling thread at the highest ordinary priority, until this is dropped in the same thread.
/// Threads and processes that it starts have the usual one.
pub struct RaisedPriority {
    is_raised: bool,
}

impl RaisedPriority {
    /// Raises it if that is allowed (root, or CAP_SYS_NICE) and nobody has chosen another (nice,
    /// chrt); otherwise changes nothing.
    pub fn of_this_thread() -> RaisedPriority {
        RaisedPriority {
            is_raised: has_usual_priority()
                && setpriority_process(Some(gettid()), HIGHEST).is_ok()
                && set_ordinary(libc::SCHED_RESET_ON_FORK),
        }
    }
}

impl Drop for RaisedPriority {
    fn drop(&mut self) {
        if self.is_raised {
            set_ordinary(0);
            let lowered = setpriority_process(Some(gettid()), 0);
            debug_assert!(lowered.is_ok(), "lowering is always allowed");
        }
    }
}

fn has_usual_priority() -> bool {
    // SAFETY: the call takes no pointer, and 0 is the calling thread.
    let policy = unsafe { libc::sched_getscheduler(0) };
    policy == libc::SCHED_OTHER && getpriority_process(Some(gettid())) == Ok(0)
}

/// Sets the ordinary policy with these flags; false if that is not allowed.
fn set_ordinary(flags: i32) -> bool {
    // SAFETY: plain integers, for which zero is a value of each.
    let parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: `parameters` lives longer than the call, which only reads it; 0 is the calling
    // thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER | flags, &parameters) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nice() -> i32 {
        getpriority_process(Some(gettid())).unwrap()
    }

    #[test]
    fn the_thread_has_it_for_itself_and_as_long_as_it_is_held() {
        let before = nice();
        let raised = RaisedPriority::of_this_thread();
        assert_eq!(nice() == HIGHEST, raised.is_raised || before == HIGHEST);
        let of_begun = std::thread::spawn(nice).join().unwrap();
        assert_eq!(of_begun, before, "a thread that is begun meanwhile has the usual priority");
        // SAFETY: the call takes no pointer, and 0 is the calling thread.
        let policy = unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK;
        assert_eq!(policy, libc::SCHED_OTHER, "no real-time policy");
        drop(raised);
        assert_eq!(nice(), before);
    }
}
