//! Seeded faults of the medium: their kinds and times, from the profile.

use device::{Extent, IoError, IoErrorKind, Op, Request};

use crate::profile::spec::{FaultDirection, FaultKind, FaultSpec};
use crate::rng::SimRng;

/// Error numbers of Linux.
const EIO: i32 = 5;
const ENODEV: i32 = 19;
const EROFS: i32 = 30;

/// Effect of the faults on an I/O.
#[derive(Debug, Default)]
pub(crate) struct FaultEffect {
    /// Additional nanoseconds of its latency.
    pub delay_ns: u64,
    /// Error with which it fails; `None` if it succeeds.
    pub error: Option<IoError>,
    /// Time in nanoseconds at which the medium was removed; I/Os in flight then failed.
    pub gone_at: Option<u64>,
    /// True if the power failed too, so that data that was not durable is lost or torn.
    pub power_lost: bool,
}

#[derive(Debug)]
struct ArmedFault {
    fault: FaultSpec,
    extent: Extent,
    /// Time of its beginning in nanoseconds, by the device's clock.
    began_ns: Option<u64>,
    /// Number of I/Os that it may still hit.
    left: u64,
}

impl ArmedFault {
    fn new(fault: &FaultSpec, capacity_bytes: u64) -> ArmedFault {
        let offset = fault.offset.map_or(0, |size| size.0);
        let bytes = fault.size.map_or(capacity_bytes.saturating_sub(offset), |size| size.0);
        let usual = if fault.kind == FaultKind::Hang { 1 } else { u64::MAX };
        let left = fault.times.unwrap_or(usual);
        ArmedFault {
            fault: fault.clone(),
            extent: Extent::new(offset, bytes),
            began_ns: None,
            left,
        }
    }

    /// Begins the fault when its time has come; true if that is now.
    fn begin(&mut self, now_ns: u64, ops: u64, written: u64) -> bool {
        if self.began_ns.is_some() {
            return false;
        }
        let fault = &self.fault;
        let moment = fault.after.map_or(now_ns, |after| after.0 as u64);
        let due = now_ns >= moment
            && fault.after_ops.is_none_or(|after| ops >= after)
            && fault.after_written.is_none_or(|after| written >= after.0);
        if due {
            self.began_ns = Some(moment);
        }
        due
    }

    fn is_over(&self, now_ns: u64) -> bool {
        self.began_ns.is_some_and(|began| {
            self.fault.lasts.is_some_and(|lasts| now_ns >= began + lasts.0 as u64)
        })
    }

    /// True if it strikes only reads or writes of a range, and not flushes.
    fn is_of_a_place(&self) -> bool {
        self.fault.offset.is_some() || self.fault.size.is_some() || self.fault.direction.is_some()
    }

    fn concerns(&self, request: &Request) -> bool {
        let direction = match self.fault.direction {
            None => matches!(request.op, Op::Read | Op::Write),
            Some(FaultDirection::Read) => request.op == Op::Read,
            Some(FaultDirection::Write) => request.op == Op::Write,
        };
        direction && self.extent.overlaps(&Extent::new(request.offset_bytes, request.length_bytes))
    }
}

/// The faults of a medium and their progress.
#[derive(Debug)]
pub(crate) struct Faults {
    armed: Vec<ArmedFault>,
    rng: SimRng,
    ops: u64,
    written: u64,
}

impl Faults {
    pub(crate) fn new(faults: &[FaultSpec], capacity_bytes: u64, seed: u64) -> Faults {
        Faults {
            armed: faults.iter().map(|fault| ArmedFault::new(fault, capacity_bytes)).collect(),
            rng: SimRng::new(seed ^ 0xfa17),
            ops: 0,
            written: 0,
        }
    }

    /// True if there are no faults.
    #[inline]
    pub(crate) fn none(&self) -> bool {
        self.armed.is_empty()
    }

    /// True if the power may fail, so that writes that are not durable must be remembered.
    pub(crate) fn may_lose_power(&self) -> bool {
        self.armed.iter().any(|armed| armed.fault.kind == FaultKind::PowerCut)
    }

    /// Random numbers for the effect of a fault on data.
    pub(crate) fn rng(&mut self) -> &mut SimRng {
        &mut self.rng
    }

    /// Begins the first fault that removes the medium up to this time; returns its time in
    /// nanoseconds, and true if the power fails too.
    ///
    /// Such a fault does not wait for the next request: it fails I/Os in flight.
    pub(crate) fn take_away(&mut self, until_ns: u64) -> Option<(u64, bool)> {
        let moment = |armed: &ArmedFault| {
            let takes_away = matches!(armed.fault.kind, FaultKind::Vanish | FaultKind::PowerCut)
                && armed.began_ns.is_none();
            armed
                .fault
                .after
                .map(|after| after.0 as u64)
                .filter(|at_ns| takes_away && *at_ns <= until_ns)
        };
        let (at_ns, armed) = self
            .armed
            .iter_mut()
            .filter_map(|armed| Some((moment(armed)?, armed)))
            .min_by_key(|(at_ns, _)| *at_ns)?;
        armed.began_ns = Some(at_ns);
        Some((at_ns, armed.fault.kind == FaultKind::PowerCut))
    }

    /// Effect of all faults on a request that is submitted now.
    pub(crate) fn consult(&mut self, request: &Request, now_ns: u64) -> FaultEffect {
        let mut effect = FaultEffect::default();
        for armed in &mut self.armed {
            let begins = armed.begin(now_ns, self.ops, self.written);
            if armed.began_ns.is_none() || armed.left == 0 {
                continue;
            }
            armed.strike(request, now_ns, begins, &mut effect);
        }
        self.ops += 1;
        if request.op == Op::Write && effect.error.is_none() {
            self.written += request.length_bytes;
        }
        effect
    }

    /// True if there are faults that change data on its way.
    pub(crate) fn corrupt(&self) -> bool {
        self.armed.iter().any(|armed| armed.fault.kind == FaultKind::Corruption)
    }

    /// True if a write completes and changes nothing.
    pub(crate) fn lose(&mut self, request: &Request) -> bool {
        let is_here = |armed: &&ArmedFault| {
            armed.fault.kind == FaultKind::LostWrite
                && armed.began_ns.is_some()
                && armed.concerns(request)
        };
        let share = self.armed.iter().find(is_here).map(|armed| armed.fault.share.unwrap_or(1.0));
        share.is_some_and(|share| self.rng.unit() < share)
    }

    /// Pages of a write in which a bit flips: the byte on the medium, and the number of the bit.
    pub(crate) fn corrupted(&mut self, offset: u64, bytes: u64) -> Vec<(u64, u32)> {
        const PAGE: u64 = crate::memory::PAGE_BYTES;
        let mut flips = Vec::new();
        for armed in self
            .armed
            .iter()
            .filter(|armed| armed.fault.kind == FaultKind::Corruption && armed.began_ns.is_some())
        {
            let share = armed.fault.share.unwrap_or(1.0);
            let (start, end) =
                (offset.max(armed.extent.offset_bytes), (offset + bytes).min(armed.extent.end()));
            let mut at = start;
            while at < end {
                let stop = end.min((at / PAGE + 1) * PAGE);
                if self.rng.unit() < share {
                    flips.push((at + self.rng.below(stop - at), self.rng.below(8) as u32));
                }
                at = stop;
            }
        }
        flips
    }
}

impl ArmedFault {
    /// Adds the effect of this fault, which has begun, on a request.
    fn strike(&mut self, request: &Request, now_ns: u64, begins: bool, effect: &mut FaultEffect) {
        let fail =
            |kind, errno, detail: &str| Some(IoError::new(kind, request, detail).with_errno(errno));
        match self.fault.kind {
            FaultKind::MediumError if self.concerns(request) => {
                self.left -= 1;
                effect.error = fail(IoErrorKind::Medium, EIO, "unreadable place");
            }
            FaultKind::Hang if !self.is_of_a_place() || self.concerns(request) => {
                self.left -= 1;
                effect.delay_ns += self.fault.lasts.map_or(0, |lasts| lasts.0 as u64);
            }
            FaultKind::Vanish | FaultKind::PowerCut => {
                if begins {
                    effect.gone_at = self.began_ns;
                    effect.power_lost |= self.fault.kind == FaultKind::PowerCut;
                }
                if !self.is_over(now_ns) {
                    effect.error = fail(IoErrorKind::Gone, ENODEV, "no such device");
                }
            }
            FaultKind::ReadOnly if request.modifies() => {
                effect.error =
                    fail(IoErrorKind::ReadOnly, EROFS, "the medium has switched to read-only");
            }
            FaultKind::MediumError
            | FaultKind::Hang
            | FaultKind::Corruption
            | FaultKind::LostWrite
            | FaultKind::ReadOnly => {}
        }
    }
}
