//! A run that lasts until something is done to its medium.

use super::bus::Bus;

/// I/O of its middle.
#[derive(Clone, Copy, PartialEq)]
pub enum Middle {
    Write,
    Read,
    Commit,
}

impl Middle {
    /// Suite that preconditions, does this I/O until something happens, and measures one cell more.
    ///
    /// There is so much I/O that it lasts on a medium that was slowed down, and soon ends when the
    /// medium is fast again. An SD card of QEMU cannot be slowed down (the whole machine waits):
    /// there it lasts a minute, long enough on a busy machine.
    pub fn suite(self, bus: Bus) -> String {
        let test = match self {
            Middle::Write => "sequential-write block=64KiB span=24MiB",
            Middle::Read => "sequential-read block=64KiB span=24MiB",
            Middle::Commit => "commit form=wal span=4MiB",
        };
        let amount = match (self, bus.is_slot()) {
            (Middle::Commit, false) => "commits=200 max_time=20m",
            (Middle::Commit, true) => "commits=1000000 max_time=1m",
            (_, false) => "total=24MiB max_time=20m",
            (_, true) => "total=4GiB max_time=1m",
        };
        let precise = "certainty=0.001% min_time=10ms";
        format!("prime span=1MiB passes=1; {test} {amount} {precise}; seek time=100ms")
    }
}
