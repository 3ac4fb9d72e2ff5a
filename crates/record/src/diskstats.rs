//! Counters of the kernel for a block device, and the activity between two samples of them, as
//! `iostat -x` of sysstat defines it (docs/field/linux-io.md#iostat-columns).

use serde::{Deserialize, Serialize};

/// Running totals of a block device: the fields of `/proc/diskstats` after the name, except the
/// I/Os in flight (kernel documentation admin-guide/iostats). Sectors have 512 bytes, whatever
/// those of the medium have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Totals of reads: the first four fields of the kernel's line.
    pub read: Served,
    /// Totals of writes: the fifth to the eighth field.
    pub write: Served,
    /// Time with at least one I/O in flight, in ms; counted in jiffies since Linux 5.0.
    pub busy_ms: u64,
    /// Time times I/Os in flight, in ms.
    pub weighted_ms: u64,
    /// Discards, since Linux 4.18.
    pub discard: Option<Served>,
    /// Flushes, since Linux 5.5; counted for whole devices only.
    pub flush: Option<Flushed>,
}

/// The totals of one kind of I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// I/Os that were completed, counted after merging.
    pub ios: u64,
    /// I/Os that were merged with a neighbour before they were issued.
    pub merged: u64,
    /// Sectors of 512 bytes that were moved.
    pub sectors: u64,
    /// Time of all of them together, in ms.
    pub ms: u64,
}

/// The totals of flushes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// Flush requests that were completed.
    pub ios: u64,
    /// Time of all of them together, in ms.
    pub ms: u64,
}

impl Counters {
    /// Parses the numbers after a device's name, in the kernel's order, I/Os in flight (the ninth)
    /// included: 11 of them, 15 since Linux 4.18, 17 since 5.5. `None` if there are fewer: a
    /// partition on Linux 2.6.
    pub fn from_fields(fields: &[u64]) -> Option<Counters> {
        let served = |at: usize| {
            let of = fields.get(at..at + 4)?;
            Some(Served { ios: of[0], merged: of[1], sectors: of[2], ms: of[3] })
        };
        let flush = fields.get(15..17).map(|of| Flushed { ios: of[0], ms: of[1] });
        Some(Counters {
            read: served(0)?,
            write: served(4)?,
            busy_ms: *fields.get(9)?,
            weighted_ms: *fields.get(10)?,
            discard: served(11),
            flush,
        })
    }

    /// Numbers in the kernel's order, with 0 in flight, as [`Counters::from_fields`] takes them.
    pub fn fields(&self) -> Vec<u64> {
        let of = |served: &Served| [served.ios, served.merged, served.sectors, served.ms];
        let mut fields = [of(&self.read), of(&self.write)].concat();
        fields.extend([0, self.busy_ms, self.weighted_ms]);
        fields.extend(self.discard.iter().flat_map(of));
        // The kernel has counted discards for longer than flushes: flushes never come without them.
        fields.extend(
            self.discard.and(self.flush).iter().flat_map(|flushed| [flushed.ios, flushed.ms]),
        );
        fields
    }

    /// Difference to earlier counters. `None` if a count of I/Os or sectors went back: these are
    /// the counters of another device.
    pub fn since(&self, before: &Counters) -> Option<Counters> {
        let discard = match (before.discard, self.discard) {
            (Some(before), Some(after)) => Some(after.since(&before)?),
            _ => None,
        };
        let flush = match (before.flush, self.flush) {
            (Some(before), Some(after)) => Some(Flushed {
                ios: grown(before.ios, after.ios)?,
                ms: time_grown(before.ms, after.ms),
            }),
            _ => None,
        };
        Some(Counters {
            read: self.read.since(&before.read)?,
            write: self.write.since(&before.write)?,
            busy_ms: time_grown(before.busy_ms, self.busy_ms),
            weighted_ms: time_grown(before.weighted_ms, self.weighted_ms),
            discard,
            flush,
        })
    }
}

impl Served {
    fn since(&self, before: &Served) -> Option<Served> {
        Some(Served {
            ios: grown(before.ios, self.ios)?,
            merged: grown(before.merged, self.merged)?,
            sectors: grown(before.sectors, self.sectors)?,
            ms: time_grown(before.ms, self.ms),
        })
    }
}

/// Increase of a counter. A 32-bit kernel counts modulo 2^32; an increase of half of that in one
/// step is taken for a decrease.
fn grown(before: u64, after: u64) -> Option<u64> {
    let wrapped = (after as u32).wrapping_sub(before as u32);
    let may_wrap = before <= u64::from(u32::MAX) && wrapped < 1 << 31;
    after.checked_sub(before).or(may_wrap.then_some(u64::from(wrapped)))
}

/// Increase of a time, which every kernel prints modulo 2^32 ms. A decrease is 0: the kernel adds
/// up over processors while the times change.
fn time_grown(before: u64, after: u64) -> u64 {
    grown(before, after).unwrap_or(0)
}

/// Activity of a device in a period: the columns of `iostat -x`, under the names in the comments.
/// Values without any I/O are 0, as in iostat.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Activity {
    /// Length of the period, in seconds.
    pub interval_s: f64,
    /// Reads: `r/s`, `rkB/s`, `r_await` and so on.
    pub read: IoCounters,
    /// Writes: `w/s`, `wkB/s`, `w_await` and so on.
    pub write: IoCounters,
    /// Discards; `None` if the kernel does not count them.
    pub discard: Option<IoCounters>,
    /// Flushes a second (`f/s`) and the mean time of one in ms (`f_await`); `None` if the kernel
    /// does not count them.
    pub flush: Option<[f64; 2]>,
    /// `await`: mean time of a read, write or discard from being queued to being done, in ms.
    pub await_ms: f64,
    /// `areq-sz`: mean size of a read, write or discard, in KiB. The older `avgrq-sz` counts
    /// sectors, so it is twice this.
    pub size_kib: f64,
    /// `aqu-sz` (older: `avgqu-sz`): mean number of I/Os queued or in flight.
    pub queue: f64,
    /// `svctm`: busy time over I/Os, in ms. Not the time of an I/O if several are served at once;
    /// sysstat dropped it in version 12.1.
    pub service_ms: f64,
    /// `%util`: share of the time with at least one I/O in flight. 100 does not mean that no more
    /// is possible.
    pub busy_percent: f64,
}

/// Activity of one kind of I/O in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IoCounters {
    /// `r/s`, `w/s`, `d/s`: I/Os completed a second, after merging.
    pub ios_per_s: f64,
    /// `rkB/s`, `wkB/s`, `dkB/s`: KiB a second. iostat calls 1024 bytes a kB.
    pub kib_per_s: f64,
    /// `rrqm/s`, `wrqm/s`, `drqm/s`: I/Os a second that were merged with a neighbour before they
    /// were issued.
    pub merged_per_s: f64,
    /// `%rrqm`, `%wrqm`, `%drqm`: share of all I/Os that were merged.
    pub merged_percent: f64,
    /// `r_await`, `w_await`, `d_await`: mean time of one from being queued to being done, in ms.
    pub await_ms: f64,
    /// `rareq-sz`, `wareq-sz`, `dareq-sz`: mean size of one, in KiB.
    pub size_kib: f64,
}

impl Activity {
    /// Activity between two samples that are `interval_ns` apart. `None` if the counters went back
    /// (see [`Counters::since`]).
    pub fn between(before: &Counters, after: &Counters, interval_ns: u64) -> Option<Activity> {
        let interval_s = interval_ns as f64 / 1e9;
        let Counters { read, write, busy_ms, weighted_ms, discard, flush } = after.since(before)?;
        let kinds = || [Some(read), Some(write), discard].into_iter().flatten();
        let sum = |of: fn(&Served) -> u64| kinds().map(|kind| of(&kind)).sum::<u64>() as f64;
        let ios = sum(|kind| kind.ios);
        Some(Activity {
            interval_s,
            read: flow(&read, interval_s),
            write: flow(&write, interval_s),
            discard: discard.map(|discard| flow(&discard, interval_s)),
            flush: flush.map(|flush| {
                [over(flush.ios as f64, interval_s), over(flush.ms as f64, flush.ios as f64)]
            }),
            await_ms: over(sum(|kind| kind.ms), ios),
            size_kib: over(sum(|kind| kind.sectors) / 2.0, ios),
            queue: over(weighted_ms as f64 / 1000.0, interval_s),
            service_ms: over(busy_ms as f64, ios),
            busy_percent: over(busy_ms as f64 / 10.0, interval_s),
        })
    }
}

fn flow(served: &Served, interval_s: f64) -> IoCounters {
    let [ios, merged, sectors, ms] =
        [served.ios, served.merged, served.sectors, served.ms].map(|count| count as f64);
    IoCounters {
        ios_per_s: over(ios, interval_s),
        kib_per_s: over(sectors / 2.0, interval_s),
        merged_per_s: over(merged, interval_s),
        merged_percent: over(merged * 100.0, merged + ios),
        await_ms: over(ms, ios),
        size_kib: over(sectors / 2.0, ios),
    }
}

/// Quotient; 0 if the divisor is 0, as in iostat.
fn over(of: f64, by: f64) -> f64 {
    if by > 0.0 { of / by } else { 0.0 }
}

/// The counters of the medium at one moment of a run. As text, a line: the time, then the numbers
/// as in `/proc/diskstats` (0 for the I/Os in flight), counted from the first sample of the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Sample {
    /// Time since the run began, in nanoseconds.
    pub at_ns: u64,
    /// Counts since the first sample of the cell.
    pub counters: Counters,
}

impl From<Sample> for String {
    fn from(sample: Sample) -> String {
        let numbers = std::iter::once(sample.at_ns).chain(sample.counters.fields());
        numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
    }
}

impl TryFrom<String> for Sample {
    type Error = String;
    fn try_from(line: String) -> Result<Sample, String> {
        let numbers: Option<Vec<u64>> =
            line.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
        let sample = numbers.as_deref().and_then(|numbers| {
            let (at_ns, fields) = numbers.split_first()?;
            Some(Sample { at_ns: *at_ns, counters: Counters::from_fields(fields)? })
        });
        sample.ok_or_else(|| {
            format!("'{line}' is no sample: a time and the fields of /proc/diskstats")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn grown_by(fields: &[u64], interval_s: u64) -> Activity {
        let zero = Counters::from_fields(&vec![0; fields.len()]).unwrap();
        Activity::between(&zero, &Counters::from_fields(fields).unwrap(), interval_s * SECOND_NS)
            .unwrap()
    }

    fn two_digits(value: f64) -> String {
        format!("{value:.2}")
    }

    /// docs/field/linux-io.md#iostat-test-vector: reproduces a line of iostat that was published
    /// with a card behind 20 writes a second.
    #[test]
    fn the_published_line_comes_out() {
        let found = grown_by(&[0, 0, 0, 0, 204, 0, 2208, 135_464, 0, 936, 89_200], 10);
        assert_eq!(two_digits(found.write.ios_per_s), "20.40");
        assert_eq!(two_digits(found.write.kib_per_s * 2.0), "220.80");
        assert_eq!(two_digits(found.size_kib * 2.0), "10.82");
        assert_eq!(two_digits(found.queue), "8.92");
        // 135464 / 204 is 664.0392...
        assert_eq!(
            (two_digits(found.await_ms), two_digits(found.write.await_ms)),
            ("664.04".into(), "664.04".into())
        );
        assert_eq!(two_digits(found.service_ms), "4.59");
        assert_eq!(two_digits(found.busy_percent), "9.36");
        assert_eq!((found.read, found.discard, found.flush), (IoCounters::default(), None, None));
    }

    #[test]
    fn merges_discards_and_flushes_have_their_columns() {
        let found =
            grown_by(&[10, 30, 800, 50, 5, 5, 400, 100, 7, 1500, 600, 2, 6, 4096, 8, 4, 12], 2);
        assert_eq!(
            (found.read.merged_per_s, found.read.merged_percent, found.write.merged_percent),
            (15.0, 75.0, 50.0)
        );
        assert_eq!((found.read.size_kib, found.read.await_ms), (40.0, 5.0));
        let discard = found.discard.unwrap();
        assert_eq!(
            (discard.ios_per_s, discard.merged_percent, discard.await_ms, discard.size_kib),
            (1.0, 75.0, 4.0, 1024.0)
        );
        assert_eq!(found.flush, Some([2.0, 3.0]));
        // All but flushes: 17 I/Os, 158 ms, 5296 sectors.
        assert_eq!(
            (two_digits(found.await_ms), two_digits(found.size_kib)),
            ("9.29".into(), "155.76".into())
        );
        assert_eq!((found.busy_percent, found.queue), (75.0, 0.3));
    }

    #[test]
    fn nothing_done_is_zero_and_no_time_is_no_rate() {
        let idle = grown_by(&[0; 17], 1);
        assert_eq!(
            (idle.await_ms, idle.service_ms, idle.read.merged_percent, idle.flush),
            (0.0, 0.0, 0.0, Some([0.0, 0.0]))
        );
        assert_eq!(grown_by(&[9; 17], 0).read.ios_per_s, 0.0);
    }

    #[test]
    fn counters_that_wrap_go_on_and_counters_that_go_back_are_anothers() {
        let fields = |first: u64, ms: u64| {
            Counters::from_fields(&[first, 0, 0, ms, 0, 0, 0, 0, 0, 0, 0]).unwrap()
        };
        let limit = u64::from(u32::MAX);
        let wrapped = fields(4, 6).since(&fields(limit - 5, limit - 3)).unwrap();
        assert_eq!((wrapped.read.ios, wrapped.read.ms), (10, 10));
        assert_eq!(fields(4, 0).since(&fields(limit + 5, 0)), None);
        assert_eq!(fields(4, 0).since(&fields(1000, 0)), None);
        assert_eq!(fields(1000, 0).since(&fields(1000, 7)).unwrap().read.ms, 0);
    }

    #[test]
    fn half_of_the_numbers_of_a_small_counter_is_going_back() {
        for (before, after, expected) in [
            (7, 7, Some(0)),
            (7, 9, Some(2)),
            (4_294_967_295, 0, Some(1)),
            (4_294_967_296, 1, None),
            (2_147_483_653, 4, Some(2_147_483_647)),
            (2_147_483_653, 5, None),
        ] {
            assert_eq!(grown(before, after), expected, "{before} {after}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_sample_is_a_line_and_back(at_ns: u64, fields in proptest::collection::vec(proptest::num::u64::ANY, 0..20)) {
            let Some(counters) = Counters::from_fields(&fields) else {
                proptest::prop_assert!(fields.len() < 11);
                return Ok(());
            };
            let sample = Sample { at_ns, counters };
            proptest::prop_assert_eq!(Sample::try_from(String::from(sample)), Ok(sample));
        }
    }

    #[test]
    fn a_line_that_is_no_sample_is_refused() {
        for line in ["", "1", "1 2 3", "1 2 3 4 5 6 7 8 9 10 11 x", "-1 0 0 0 0 0 0 0 0 0 0 0"] {
            assert!(Sample::try_from(line.to_owned()).is_err(), "{line}");
        }
    }
}
