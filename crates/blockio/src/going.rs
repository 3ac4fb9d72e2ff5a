//! Recognition of a medium that has just been removed.
//!
//! When a card has left its slot, the kernel answers with an I/O error at once, and learns a moment
//! later that the card is gone: `mmc_detect_change` lets the switch of a slot settle for 0.2 s,
//! slots without an interrupt are asked each second, USB readers every two (`events_dfl_poll_msecs`
//! as systemd sets it). A card that somebody has pulled out must not be called a bad one.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use rustix::io::pread;

use crate::clock::now_ns;
use crate::target::{FileKind, Target};

/// The longest time that the kernel needs to notice, with a margin.
const LONGEST_NS: u64 = 3_000_000_000;
const PAUSE: Duration = Duration::from_millis(50);

/// Bytes of the read that tests a medium: a multiple of any logical block, and aligned for any.
const BLOCK: usize = 4096;

impl Target {
    /// True if the medium has been taken out, as far as the kernel knows now or learns within the
    /// next seconds. Does not wait if the medium can still be read elsewhere.
    pub fn is_gone_or_going(&self) -> bool {
        let (FileKind::Block, Some(direct)) = (self.kind, &self.direct) else {
            return self.is_gone();
        };
        let in_vain = self.silent.load(Ordering::Relaxed);
        let began_ns = now_ns();
        let goes_on = || {
            let is_early = !in_vain && now_ns() - began_ns < LONGEST_NS;
            if is_early {
                thread::sleep(PAUSE);
            }
            is_early
        };
        let seen = watch(|| self.is_gone(), || answers(direct), goes_on);
        self.silent.store(seen == WatchOutcome::Silent, Ordering::Relaxed);
        seen == WatchOutcome::Gone
    }
}

/// Result of watching a medium.
#[derive(Debug, PartialEq, Eq)]
enum WatchOutcome {
    Gone,
    /// Some of it can be read.
    There,
    /// It cannot be read, and the kernel has not removed it.
    Silent,
}

fn watch(
    mut is_gone: impl FnMut() -> bool,
    mut answers: impl FnMut() -> bool,
    mut goes_on: impl FnMut() -> bool,
) -> WatchOutcome {
    loop {
        if is_gone() {
            return WatchOutcome::Gone;
        }
        if answers() {
            // Read right before it went: what is there can be read twice.
            return if is_gone() { WatchOutcome::Gone } else { WatchOutcome::There };
        }
        if !goes_on() {
            return if is_gone() { WatchOutcome::Gone } else { WatchOutcome::Silent };
        }
    }
}

/// True if the first block can be read, past the page cache.
fn answers(direct: &OwnedFd) -> bool {
    let mut room = vec![0; 2 * BLOCK];
    let at = room.as_ptr().align_offset(BLOCK);
    room.get_mut(at..at + BLOCK)
        .is_some_and(|block| pread(direct, block, 0).is_ok_and(|moved| moved > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Watches a medium for at most `most` checks; the kernel learns after `gone_after` of them
    /// that it is gone.
    fn seen(gone_after: usize, readable: bool, most: usize) -> (WatchOutcome, usize) {
        let waited = std::cell::Cell::new(0);
        let goes_on = || {
            waited.set(waited.get() + 1);
            waited.get() <= most
        };
        let seen = watch(|| waited.get() >= gone_after, || readable, goes_on);
        (seen, waited.get())
    }

    /// Regression: a card pulled out of its slot was called a bad medium that fails everywhere.
    #[test]
    fn a_card_that_the_kernel_misses_late_is_gone() {
        assert_eq!(seen(0, false, 60), (WatchOutcome::Gone, 0), "known at once");
        assert_eq!(seen(4, false, 60), (WatchOutcome::Gone, 4), "known after a while");
        assert_eq!(
            seen(usize::MAX, true, 60),
            (WatchOutcome::There, 0),
            "one bad place: no waiting"
        );
        assert_eq!(seen(usize::MAX, false, 60), (WatchOutcome::Silent, 61), "all of it is bad");
    }

    #[test]
    fn the_first_block_of_what_is_there_can_be_read() {
        let file = tempfile::tempfile().unwrap();
        assert!(!answers(&file.try_clone().unwrap().into()), "empty");
        file.set_len(1 << 20).unwrap();
        assert!(answers(&file.into()));
    }
}
