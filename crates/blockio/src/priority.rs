//! Who measures comes before whoever only works: on a host that has other things to do, an I/O that
//! is done would otherwise count until the thread that waits for it gets a processor again.

use std::thread::available_parallelism;

/// The lowest of the real-time priorities: before everything ordinary, after whoever has set his
/// mind on more.
const PRIORITY: i32 = 1;

/// The calling thread comes before everything ordinary, until this is dropped in the same thread.
/// Threads and processes that it begins do not.
pub struct Ahead {
    is_ahead: bool,
}

impl Ahead {
    /// Where that is allowed (root, or CAP_SYS_NICE), and where another processor is left for
    /// everybody else; otherwise all stays as it is.
    pub fn of_others() -> Ahead {
        let has_another = available_parallelism().is_ok_and(|processors| processors.get() > 1);
        Ahead {
            is_ahead: has_another
                && is_ordinary()
                && schedule(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, PRIORITY),
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if self.is_ahead {
            schedule(libc::SCHED_OTHER, 0);
        }
    }
}

/// What somebody else has chosen for us (chrt) stays.
fn is_ordinary() -> bool {
    // SAFETY: the call takes no pointer, and 0 is the calling thread.
    let policy = unsafe { libc::sched_getscheduler(0) };
    policy == libc::SCHED_OTHER
}

fn schedule(policy: i32, priority: i32) -> bool {
    // SAFETY: plain integers, for which zero is a value of each.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: `parameters` lives longer than the call, which only reads it; 0 is the calling
    // thread.
    unsafe { libc::sched_setscheduler(0, policy, &parameters) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> i32 {
        // SAFETY: as above.
        unsafe { libc::sched_getscheduler(0) }
    }

    #[test]
    fn it_is_ahead_where_it_may_be_and_ordinary_again_afterwards() {
        let before = policy();
        let ahead = Ahead::of_others();
        assert_eq!(
            policy() & !libc::SCHED_RESET_ON_FORK == libc::SCHED_FIFO,
            ahead.is_ahead || before == libc::SCHED_FIFO
        );
        let begun = std::thread::spawn(policy).join().unwrap();
        assert_eq!(
            begun,
            if ahead.is_ahead { libc::SCHED_OTHER } else { before },
            "a thread that is begun meanwhile is not ahead"
        );
        drop(ahead);
        assert_eq!(policy(), before);
    }
}
