//! Commands at once: channels that work side by side, and the part of a command that nothing overlaps.

use crate::profile::spec;

/// When each part of the medium is free again, in nanoseconds of the device's clock.
#[derive(Debug)]
pub(crate) struct Queue {
    /// One entry for each channel.
    free_ns: Vec<u64>,
    /// The link, controller or bus that all commands share.
    shared_free_ns: u64,
    serial_read_ns: u64,
    serial_write_ns: u64,
    /// When the last command is done.
    all_done_ns: u64,
}

impl Queue {
    pub(crate) fn new(queue: &spec::Queue) -> Queue {
        Queue {
            free_ns: vec![0; queue.channels as usize],
            shared_free_ns: 0,
            serial_read_ns: queue.serial_read.0 as u64,
            serial_write_ns: queue.serial_write.0 as u64,
            all_done_ns: 0,
        }
    }

    /// When a command that comes now and takes this long is done.
    ///
    /// It waits for the channel that is free first, then for the shared part; both are held from there on as long as it needs them. Alone it
    /// takes its own time; with many, the slower of channels and shared part sets the pace.
    #[inline]
    pub(crate) fn schedule(&mut self, now_ns: u64, service_ns: u64, is_write: bool) -> u64 {
        let channel = match self.free_ns.as_mut_slice() {
            [only] => only,
            several => several.iter_mut().min().expect("a checked profile has a channel"),
        };
        let start = now_ns.max(*channel);
        let serial = if is_write { self.serial_write_ns } else { self.serial_read_ns }.min(service_ns);
        let through = start.max(self.shared_free_ns) + serial;
        if serial > 0 {
            self.shared_free_ns = through;
        }
        let done = through + (service_ns - serial);
        *channel = done;
        self.all_done_ns = self.all_done_ns.max(done);
        done
    }

    /// When everything handed over so far is done.
    #[inline]
    pub(crate) fn all_done_ns(&self) -> u64 {
        self.all_done_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::units::Time;

    fn rate(channels: u32, serial_ns: f64, depth: usize) -> f64 {
        let mut queue = Queue::new(&spec::Queue { depth: 64, channels, serial_read: Time(serial_ns), serial_write: Time(0.0) });
        let mut done = vec![0; depth];
        for _ in 0..1000 {
            let next = (0..depth).min_by_key(|&i| done[i]).unwrap();
            done[next] = queue.schedule(done[next], 1000, false);
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
