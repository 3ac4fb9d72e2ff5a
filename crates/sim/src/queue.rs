//! Parallel commands: channels that work side by side, and the part of a command that cannot
//! overlap with others.

use crate::profile::spec::Spec;
use crate::profile::units::{Rate, Time};

/// Times in nanoseconds, by the device's clock, at which each part of the medium is free again.
#[derive(Debug)]
pub(crate) struct Queue {
    /// One entry for each channel.
    free_ns: Vec<u64>,
    /// The link, controller or bus that all commands share.
    shared_free_ns: u64,
    serial_read: Serial,
    serial_write: Serial,
    /// Completion of the last command.
    all_done_ns: u64,
}

/// The part of a command that cannot overlap with others.
#[derive(Clone, Copy, Debug)]
struct Serial {
    ns: f64,
    ns_per_byte: f64,
}

impl Queue {
    pub(crate) fn new(spec: &Spec) -> Queue {
        let serial = |time: Time, rate: Option<Rate>| Serial {
            ns: time.0,
            ns_per_byte: rate.map_or(0.0, Rate::ns_per_byte),
        };
        Queue {
            free_ns: vec![0; spec.queue.channels as usize],
            shared_free_ns: 0,
            serial_read: serial(spec.queue.serial_read, spec.read.as_ref().map(|read| read.rate)),
            serial_write: serial(
                spec.queue.serial_write,
                spec.write.as_ref().map(|write| write.rate),
            ),
            all_done_ns: 0,
        }
    }

    /// Completion time in nanoseconds of a command that comes now, with its duration and bytes.
    #[inline]
    pub(crate) fn schedule(
        &mut self,
        now_ns: u64,
        service_ns: u64,
        bytes: u64,
        is_write: bool,
    ) -> u64 {
        let done = match self.free_ns.as_mut_slice() {
            [free] => {
                *free = now_ns.max(*free) + service_ns;
                *free
            }
            _ => self.schedule_on_channels(now_ns, service_ns, bytes, is_write),
        };
        self.all_done_ns = self.all_done_ns.max(done);
        done
    }

    /// The command waits for the first free channel, then for the shared part; it holds both as
    /// long as it needs them. Alone it takes its own time; with many, the slower of channels and
    /// shared part limits the rate.
    fn schedule_on_channels(
        &mut self,
        now_ns: u64,
        service_ns: u64,
        bytes: u64,
        is_write: bool,
    ) -> u64 {
        let serial = if is_write { self.serial_write } else { self.serial_read };
        let serial_ns = ((serial.ns + bytes as f64 * serial.ns_per_byte) as u64).min(service_ns);
        let channel = self.free_ns.iter_mut().min().expect("a checked profile has a channel");
        let through = now_ns.max(*channel).max(self.shared_free_ns) + serial_ns;
        self.shared_free_ns = through;
        *channel = through + (service_ns - serial_ns);
        *channel
    }

    /// Drops all commands: everything is free from `at_ns` on.
    pub(crate) fn forget(&mut self, at_ns: u64) {
        self.free_ns.fill(at_ns);
        self.shared_free_ns = at_ns;
        self.all_done_ns = at_ns;
    }

    /// Time in nanoseconds at which everything submitted so far is complete.
    #[inline]
    pub(crate) fn all_done_ns(&self) -> u64 {
        self.all_done_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of I/Os of 1000 ns that complete in 1000 ns, at this depth.
    fn rate(channels: usize, serial_ns: f64, depth: usize) -> f64 {
        let serial = Serial { ns: serial_ns, ns_per_byte: 0.0 };
        let mut queue = Queue {
            free_ns: vec![0; channels],
            shared_free_ns: 0,
            serial_read: serial,
            serial_write: serial,
            all_done_ns: 0,
        };
        let mut done = vec![0; depth];
        for _ in 0..1000 {
            let next = (0..depth).min_by_key(|&i| done[i]).unwrap();
            done[next] = queue.schedule(done[next], 1000, 4096, false);
        }
        1000.0 * 1000.0 / queue.all_done_ns() as f64
    }

    #[test]
    fn depth_brings_as_much_as_there_are_channels() {
        let rates: Vec<f64> = [1, 2, 4, 8].map(|depth| rate(4, 0.0, depth)).to_vec();
        assert_eq!(rates, [1.0, 2.0, 4.0, 4.0]);
    }

    #[test]
    fn the_shared_part_sets_the_pace_where_it_is_the_slower_one() {
        assert!((rate(8, 400.0, 8) - 2.5).abs() < 0.02);
        assert_eq!(rate(8, 400.0, 1), 1.0);
    }
}
