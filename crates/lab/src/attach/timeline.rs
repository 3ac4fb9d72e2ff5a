//! A simulated medium whose requests arrive at given times: the step from virtual time to a clock
//! that runs by itself.

use device::{Device, IoError, Op, Request, Slot};
use sim::SimDevice;

/// Most requests under way: more than a loop device ever has (128).
const SLOTS: u32 = 256;

/// Longest transfer in bytes: the most that one request of FUSE carries.
pub const LONGEST_BYTES: usize = 1 << 20;

/// Request to the medium.
#[derive(Clone, Copy, Debug)]
pub enum TimelineRequest<'a> {
    /// So many bytes from an offset on.
    Read(u64, u32),
    /// These bytes to an offset.
    Write(u64, &'a [u8]),
    /// Makes everything durable that was written before.
    Flush,
    /// A range is no longer needed: offset and length.
    Discard(u64, u64),
}

impl TimelineRequest<'_> {
    /// Bytes that it reads or writes.
    pub fn bytes(&self) -> u64 {
        match self {
            TimelineRequest::Read(_, bytes) => u64::from(*bytes),
            TimelineRequest::Write(_, data) => data.len() as u64,
            TimelineRequest::Flush | TimelineRequest::Discard(..) => 0,
        }
    }
}

/// The medium and those who wait for its answers. All times are nanoseconds since the medium was
/// attached.
pub struct Timeline<W> {
    device: SimDevice,
    free: Vec<Slot>,
    /// By slot: who waits, and how many bytes were read.
    waiting: Vec<Option<(W, usize)>>,
}

impl<W> Timeline<W> {
    /// A medium nobody has touched yet, at time 0.
    pub fn new(mut device: SimDevice) -> Result<Timeline<W>, IoError> {
        device.prepare(SLOTS, LONGEST_BYTES)?;
        // The lowest slots are taken first: memory is touched as deep as the queue gets, not more.
        Ok(Timeline {
            device,
            free: (0..SLOTS).rev().collect(),
            waiting: (0..SLOTS).map(|_| None).collect(),
        })
    }

    /// True if another request can be taken.
    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Takes a request that arrived at `at_ns`. If the medium's clock is already later, the request
    /// arrives at that later time.
    ///
    /// # Errors
    /// The medium cannot take it, or no slot is free; the one who waits is returned.
    pub fn arrive(
        &mut self,
        at_ns: u64,
        asked: TimelineRequest<'_>,
        waits: W,
    ) -> Result<(), (IoError, W)> {
        let now_ns = self.device.now();
        self.device.idle(at_ns.saturating_sub(now_ns));
        let Some(slot) = self.free.pop() else {
            return Err((
                IoError::general(device::IoErrorKind::Refused, "too many requests are under way"),
                waits,
            ));
        };
        let (request, read) = match asked {
            TimelineRequest::Read(offset, bytes) => {
                (Request::read(slot, offset, u64::from(bytes)), bytes as usize)
            }
            TimelineRequest::Write(offset, data) => {
                // A transfer that is too long is refused by the medium itself.
                let held = data.len().min(LONGEST_BYTES);
                self.device.buffer(slot)[..held].copy_from_slice(&data[..held]);
                (Request::write(slot, offset, data.len() as u64), 0)
            }
            TimelineRequest::Flush => (Request::flush(slot), 0),
            TimelineRequest::Discard(offset, bytes) => {
                (Request { op: Op::Discard, ..Request::read(slot, offset, bytes) }, 0)
            }
        };
        if let Err(error) = self.device.submit(request) {
            self.free.push(slot);
            return Err((error, waits));
        }
        self.waiting[slot as usize] = Some((waits, read));
        Ok(())
    }

    /// Time at which the next request is done.
    pub fn next_ns(&self) -> Option<u64> {
        self.device.next_completion_ns()
    }

    /// Answers everybody whose request is done by `now_ns`, in order, with the bytes read.
    pub fn finish(&mut self, now_ns: u64, mut answer: impl FnMut(W, Result<&[u8], IoError>)) {
        let mut done = Vec::new();
        while self.next_ns().is_some_and(|due_ns| due_ns <= now_ns) {
            if self.device.reap(1, &mut done).is_err() {
                return;
            }
            for completion in done.drain(..) {
                let slot = completion.slot;
                self.free.push(slot);
                if let Some((waits, read)) = self.waiting[slot as usize].take() {
                    answer(waits, completion.result.map(|()| &self.device.buffer(slot)[..read]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sim::{Profile, SimOptions};

    use super::*;

    /// A profile without random latencies, so that times can be predicted.
    const STEADY: &str = "
about = \"steady\"
source = \"made up\"
guesses = \"all\"
[medium]
capacity = \"64 MiB\"
[queue]
depth = CHANNELS
channels = CHANNELS
[read]
command = \"1 ms\"
rate = \"100 GB/s\"
[write]
command = \"2 ms\"
rate = \"100 GB/s\"
unit = \"4 KiB\"
[page_mapped]
";

    fn timeline(channels: u32) -> Timeline<u32> {
        let profile =
            Profile::parse("steady.toml", &STEADY.replace("CHANNELS", &channels.to_string()))
                .unwrap();
        Timeline::new(SimDevice::new(&profile, SimOptions::default())).unwrap()
    }

    /// Requests answered by then: who waited, and when by the medium's clock, in tenths of a
    /// millisecond.
    fn answered(timeline: &mut Timeline<u32>, now_ns: u64) -> Vec<(u32, u64)> {
        let mut answers = Vec::new();
        while let Some(due) = timeline.next_ns().filter(|due| *due <= now_ns) {
            timeline.finish(due, |who, result| {
                answers.push((who, due / 100_000 + u64::from(result.is_err()) * 1_000_000))
            });
        }
        answers
    }

    #[test]
    fn requests_queue_up_behind_each_other_or_go_side_by_side() {
        let check = |channels: u32, expected: &[(u32, u64)]| {
            let mut timeline = timeline(channels);
            for (who, at_ns) in [(1, 0), (2, 0), (3, 500_000)] {
                timeline.arrive(at_ns, TimelineRequest::Read(0, 4096), who).unwrap();
            }
            let mut answers = answered(&mut timeline, 10_000_000);
            timeline.arrive(10_000_000, TimelineRequest::Read(0, 4096), 4).unwrap();
            answers.extend(answered(&mut timeline, u64::MAX));
            assert_eq!(answers, expected);
        };
        check(1, &[(1, 10), (2, 20), (3, 30), (4, 110)]);
        check(2, &[(1, 10), (2, 10), (3, 20), (4, 110)]);
    }

    #[test]
    fn nobody_is_answered_before_time_and_what_was_written_is_read() {
        let mut timeline = timeline(1);
        let data = [7; 8192];
        timeline.arrive(5_000_000, TimelineRequest::Write(4096, &data), 1).unwrap();
        assert_eq!(answered(&mut timeline, 6_999_000), []);
        assert_eq!(answered(&mut timeline, 7_100_000), [(1, 70)]);
        // It says it arrived while the write was under way; the medium has lived past that.
        timeline.arrive(0, TimelineRequest::Read(4096, 8192), 2).unwrap();
        let mut read = Vec::new();
        timeline.finish(u64::MAX, |_, bytes| read = bytes.unwrap().to_vec());
        assert_eq!(read, data);
    }

    #[test]
    fn refused_requests_return_and_occupy_no_slot() {
        let mut timeline = timeline(1);
        for _ in 0..SLOTS + 1 {
            let (error, who) =
                timeline.arrive(0, TimelineRequest::Read(64 << 20, 4096), 9).unwrap_err();
            assert_eq!((error.kind, who), (device::IoErrorKind::Refused, 9));
        }
        for who in 0..SLOTS {
            timeline.arrive(0, TimelineRequest::Read(0, 512), who).unwrap();
        }
        assert!(!timeline.has_room());
        assert!(timeline.arrive(0, TimelineRequest::Flush, 1).is_err());
        assert_eq!(answered(&mut timeline, u64::MAX).len(), SLOTS as usize);
        assert!(timeline.has_room());
    }
}
