//! Priority of threads that wait for I/O. On a busy host the latency of a completed I/O would
//! otherwise include the wait of its thread for a processor.
//!
//! The priority is a nice value and not a real-time policy. An ordinary thread is woken on the
//! processor that the completion arrives at; the scheduler leaves a real-time thread where it ran
//! before, and a completion that has to wake another, idle processor is late by an interrupt
//! between the two: on a virtual machine 20 µs of an I/O of 55 µs (docs/methodology.md,
//! "Priority").

use std::collections::BTreeMap;
use std::fs;
use std::mem::size_of;

use rustix::process::{getpid, getpriority_process};
use rustix::thread::gettid;

/// The highest of the ordinary priorities.
const HIGHEST: i32 = -20;
/// Shortest time slice that Linux gives, in nanoseconds (from 6.12 on; earlier ones ignore it). A
/// thread that wakes goes before one that runs with a longer slice.
const SLICE_NS: u64 = 100_000;
/// Nice value of the session of this process: where it exists, that of a thread counts only within
/// its session (man 7 sched, "The autogroup feature").
const OF_SESSION: &str = "/proc/self/autogroup";

/// The calling thread at the highest ordinary priority, until this is dropped in the same thread.
/// Threads and processes that it starts have the usual one.
pub struct RaisedPriority {
    is_raised: bool,
}

impl RaisedPriority {
    /// Raises it if that is allowed (root, or CAP_SYS_NICE), otherwise shortens its time slice;
    /// changes nothing if somebody has chosen another (nice, chrt).
    pub fn of_this_thread() -> RaisedPriority {
        let begun = libc::SCHED_FLAG_RESET_ON_FORK as u64;
        let raise = || schedule(HIGHEST, SLICE_NS, begun) || schedule(0, SLICE_NS, 0);
        RaisedPriority { is_raised: has_usual_priority() && raise() }
    }
}

impl Drop for RaisedPriority {
    fn drop(&mut self) {
        if self.is_raised {
            let lowered = schedule(0, 0, 0);
            debug_assert!(lowered, "lowering is always allowed");
        }
    }
}

/// The session of this process at the highest ordinary priority, until this is dropped.
pub struct RaisedSession {
    is_raised: bool,
}

impl RaisedSession {
    /// Raises it if that is allowed, nobody has chosen another priority, and nothing else works in
    /// this session: that would be raised above the kernel's own threads too.
    pub fn of_this_process() -> RaisedSession {
        let is_usual = fs::read_to_string(OF_SESSION).is_ok_and(|text| text.ends_with(" nice 0\n"));
        let may_be = is_usual && is_alone(getpid().as_raw_nonzero().get(), &processes());
        RaisedSession { is_raised: may_be && fs::write(OF_SESSION, HIGHEST.to_string()).is_ok() }
    }
}

impl Drop for RaisedSession {
    fn drop(&mut self) {
        if self.is_raised {
            fs::write(OF_SESSION, "0").ok();
        }
    }
}

/// Parent and session of each process, by its id.
fn processes() -> BTreeMap<i32, [i32; 2]> {
    let of = |id: i32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // After the name, which may contain anything: state, parent, group, session.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
        let parent = fields.next()?.parse().ok()?;
        Some((id, [parent, fields.nth(1)?.parse().ok()?]))
    };
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    names.filter_map(|entry| of(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// True if its session has no processes but this one and those that wait for it: its ancestors.
fn is_alone(own: i32, processes: &BTreeMap<i32, [i32; 2]>) -> bool {
    let ancestors: Vec<i32> = std::iter::successors(Some(own), |id| {
        processes.get(id).map(|[parent, _]| *parent).filter(|parent| *parent > 0)
    })
    .collect();
    let Some([_, session]) = processes.get(&own) else { return false };
    let in_session = processes.iter().filter(|(_, [_, of])| of == session);
    in_session.map(|(id, _)| id).all(|id| ancestors.contains(id))
}

fn has_usual_priority() -> bool {
    // SAFETY: the call takes no pointer, and 0 is the calling thread.
    let policy = unsafe { libc::sched_getscheduler(0) };
    policy == libc::SCHED_OTHER && getpriority_process(Some(gettid())) == Ok(0)
}

/// Sets the ordinary policy with this nice value, time slice (0: the usual one) and flags; false if
/// that is not allowed.
fn schedule(nice: i32, slice_ns: u64, flags: u64) -> bool {
    // SAFETY: plain integers, for which zero is a value of each.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = size_of::<libc::sched_attr>() as u32;
    attributes.sched_policy = libc::SCHED_OTHER as u32;
    attributes.sched_nice = nice;
    attributes.sched_runtime = slice_ns;
    attributes.sched_flags = flags;
    // SAFETY: `attributes` lives longer than the call, which only reads it; 0 is the calling
    // thread.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) == 0 }
}

#[cfg(test)]
mod tests {
    use rustix::process::setpriority_process;

    use super::*;

    fn nice() -> i32 {
        getpriority_process(Some(gettid())).unwrap()
    }

    #[test]
    fn the_thread_has_it_for_itself_and_as_long_as_it_is_held() {
        let before = nice();
        let raised = RaisedPriority::of_this_thread();
        let found = nice();
        let is_allowed = setpriority_process(Some(gettid()), HIGHEST).is_ok();
        assert_eq!(found == HIGHEST, is_allowed || before == HIGHEST);
        let of_begun = std::thread::spawn(nice).join().unwrap();
        assert_eq!(of_begun, before, "a thread that is begun meanwhile has the usual priority");
        // SAFETY: the call takes no pointer, and 0 is the calling thread.
        let policy = unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK;
        assert_eq!(policy, libc::SCHED_OTHER, "no real-time policy");
        drop(raised);
        assert_eq!(nice(), before);
    }

    #[test]
    fn a_session_with_another_job_is_left_as_it_is() {
        // init 1, a shell 10 in its session, and this process 20; another session 30.
        let mut processes =
            BTreeMap::from([(1, [0, 1]), (10, [1, 10]), (20, [10, 10]), (30, [1, 30])]);
        assert!(is_alone(20, &processes));
        processes.insert(21, [10, 10]);
        assert!(!is_alone(20, &processes));
        assert!(super::processes().contains_key(&getpid().as_raw_nonzero().get()));
    }
}
