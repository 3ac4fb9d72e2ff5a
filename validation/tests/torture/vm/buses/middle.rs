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
        let (test, shape) = match self {
            Middle::Write => ("sequential-write", "block = \"64KiB\"\nspan = \"24MiB\""),
            Middle::Read => ("sequential-read", "block = \"64KiB\"\nspan = \"24MiB\""),
            Middle::Commit => ("commit", "form = \"wal\"\nspan = \"4MiB\""),
        };
        let (amount, longest) = match (self, bus.is_slot()) {
            (Middle::Commit, false) => ("commits = 200", "20m"),
            (Middle::Commit, true) => ("commits = 1000000", "1m"),
            (_, false) => ("total = \"24MiB\"", "20m"),
            (_, true) => ("total = \"4GiB\"", "1m"),
        };
        format!(
            "name = \"pulled\"\n[[test]]\nname = \"prime\"\nspan = \"1MiB\"\npasses = 1\n\
             [[test]]\nname = \"{test}\"\n{shape}\n{amount}\ncertainty = \"0.001%\"\nmin_time = \"10ms\"\n\
             max_time = \"{longest}\"\n[[test]]\nname = \"seek\"\ntime = \"100ms\"\n"
        )
    }
}
