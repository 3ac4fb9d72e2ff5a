//! The simulated device: the contract of `device::Device`, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use device::{
    Completion, DataGenerator, Device, Extent, Facts, IoError, IoErrorKind, Op, Request, Slot,
};
use record::{Content, Sync};

use crate::cache::{CombiningCache, WriteCache};
use crate::cheat;
use crate::fault::{FaultEffect, Faults};
use crate::filling::Filling;
use crate::mapping::FlashBehind;
use crate::medium::Medium;
use crate::memory::Memory;
use crate::profile::Profile;
use crate::profile::spec::LostReads;
use crate::profile::units::LONGEST_NS;
use crate::queue::Queue;
use crate::recent::Recent;
use crate::stamps::Stamps;
use crate::write_history::WriteHistory;

/// Most I/Os that the host keeps in flight; the medium accepts as many as its profile says.
const MAX_IN_FLIGHT: u32 = 256;

/// Medium error on Linux (EIO).
const EIO: i32 = 5;

/// Options of a simulated device.
#[derive(Clone, Debug, PartialEq)]
pub struct SimOptions {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Another size than the profile's, in bytes; the flash of a fake changes in proportion.
    pub capacity: Option<u64>,
    /// True if reads return what was written. Without data, writers need not fill their buffers,
    /// and long runs are fast.
    pub keep_data: bool,
}

impl Default for SimOptions {
    fn default() -> Self {
        SimOptions { seed: 0, capacity: None, keep_data: true }
    }
}

/// A simulated medium: the same profile, options and requests give the same times and bytes,
/// always.
pub struct SimDevice {
    facts: Facts,
    clock_ns: u64,
    /// Time in nanoseconds up to which the medium has been given its idle time.
    rested_ns: u64,
    medium: Medium,
    queue: Queue,
    cache: Option<WriteCache>,
    combining: Option<CombiningCache>,
    faults: Faults,
    journal: Option<WriteHistory>,
    memory: Option<Memory>,
    /// What was written while nobody needed the data; in place of what is in memory there.
    stamps: Option<Stamps>,
    recent: Option<Recent>,
    /// Flash by the order of writing, if a fake gives it so.
    filling: Option<Filling>,
    slots: Vec<SlotState>,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    sequence: u64,
    lost: LostReads,
}

struct SlotState {
    buffer: Vec<u8>,
    busy: bool,
}

/// Nanoseconds in which the kernel finds that a flush need not be sent: 1 to 2 us were measured on
/// a loop device that is declared as write-through.
const NOT_SENT_NS: u64 = 1000;

/// An I/O in flight, ordered by its completion time.
struct InFlight {
    sequence: u64,
    completion: Completion,
}

impl InFlight {
    fn key(&self) -> (u64, u64) {
        (self.completion.completed_ns, self.sequence)
    }
}

impl PartialEq for InFlight {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for InFlight {}
impl PartialOrd for InFlight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for InFlight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl SimDevice {
    /// A fresh medium as described by a profile.
    ///
    /// A size given in the options is rounded down to a whole allocation unit (or logical block)
    /// and is at least one MiB.
    pub fn new(profile: &Profile, options: SimOptions) -> SimDevice {
        let unit = options.seed;
        SimDevice::of_unit(profile, unit, options)
    }

    /// The same unit of a product again, fresh, with other random numbers: `unit` decides the
    /// differences between units (the worn places), the seed of the options decides everything
    /// else. [`SimDevice::new`] takes both from the seed.
    pub fn of_unit(profile: &Profile, unit: u64, options: SimOptions) -> SimDevice {
        let spec = profile.spec();
        let grain = profile.au_bytes().unwrap_or(spec.medium.logical_block.0);
        let capacity = options
            .capacity
            .map_or(spec.medium.capacity.0, |bytes| (bytes.max(1 << 20) / grain).max(1) * grain);
        let medium = Medium::new(spec, capacity, options.seed, unit);
        let real = medium.mapping().map_or(capacity, |mapping| mapping.real_bytes());
        let faults = Faults::new(&spec.fault, capacity, options.seed);
        SimDevice {
            facts: Facts {
                capacity_bytes: capacity,
                logical_block_bytes: spec.medium.logical_block.0,
                physical_block_bytes: spec.medium.logical_block.0,
                max_transfer_bytes: spec.medium.max_transfer.map(|size| size.0),
                max_in_flight: MAX_IN_FLIGHT,
                discards: spec.medium.discards,
                keeps_data: options.keep_data,
                // What a power cut tears, a bit changes or a fake has elsewhere must be there.
                makes_data_anew: medium.mapping().is_none()
                    && !faults.corrupt()
                    && !faults.may_lose_power(),
                engine: "virtual time".to_owned(),
                ..Facts::default()
            },
            clock_ns: 0,
            rested_ns: 0,
            lost: medium.mapping().map_or(LostReads::Zeros, |mapping| mapping.lost()),
            journal: (options.keep_data && faults.may_lose_power()).then(WriteHistory::default),
            memory: options.keep_data.then(|| Memory::new(real, spec.medium.unwritten.byte())),
            stamps: None,
            recent: spec
                .fake
                .as_ref()
                .and_then(|fake| Some(Recent::new(fake.remembers?.0, fake.remembers_lost))),
            filling: medium.mapping().and_then(|mapping| Filling::new(mapping.keeps(), real)),
            medium,
            queue: Queue::new(spec),
            cache: spec.cache.as_ref().filter(|cache| !cache.combines).map(WriteCache::new),
            combining: spec.cache.as_ref().filter(|cache| cache.combines).map(CombiningCache::new),
            faults,
            slots: Vec::new(),
            in_flight: BinaryHeap::new(),
            sequence: 0,
        }
    }

    /// Temperature in degrees Celsius, if the profile describes warming.
    pub fn celsius(&self) -> Option<f64> {
        self.medium.celsius()
    }

    /// Bytes of memory that the contents take.
    pub fn kept_bytes(&self) -> u64 {
        self.memory.as_ref().map_or(0, Memory::kept_bytes)
    }

    /// Time in nanoseconds of the next completion, for a caller that drives the medium by its own
    /// clock.
    pub fn next_completion_ns(&self) -> Option<u64> {
        self.in_flight.peek().map(|next| next.0.completion.completed_ns)
    }

    /// The reason for refusing a request, if there is one.
    #[inline]
    fn objection(&self, request: &Request) -> Option<IoError> {
        let Some(slot) = self.slots.get(request.slot as usize) else {
            return Some(refuse(request, "there is no such slot"));
        };
        if slot.busy {
            return Some(refuse(request, "its slot is in flight"));
        }
        if request.op == Op::Flush {
            return None;
        }
        if request.op == Op::Discard && !self.facts.discards {
            return Some(IoError::new(
                IoErrorKind::Unsupported,
                request,
                "the medium takes no discards",
            ));
        }
        if request.op != Op::Discard && request.length_bytes > slot.buffer.len() as u64 {
            return Some(refuse(request, "it is longer than its buffer"));
        }
        let block_mask = self.facts.logical_block_bytes - 1;
        if request.path == record::Path::Direct
            && (request.offset_bytes | request.length_bytes) & block_mask != 0
        {
            return Some(IoError::new(
                IoErrorKind::Unsupported,
                request,
                format!("not aligned to {} bytes", block_mask + 1),
            ));
        }
        let range = Extent::new(request.offset_bytes, request.length_bytes);
        if range.bytes == 0 || !Extent::new(0, self.facts.capacity_bytes).contains(&range) {
            return Some(refuse(request, "it does not lie on the medium"));
        }
        None
    }

    /// Accepts a request and does it; `beside` is a write that the file system adds to it.
    pub(crate) fn take(&mut self, request: Request, beside: Option<Extent>) -> Result<(), IoError> {
        if let Some(objection) = self.objection(&request) {
            return Err(objection);
        }
        self.rest();
        let effect = if self.faults.none() {
            FaultEffect::default()
        } else {
            self.faults.consult(&request, self.clock_ns)
        };
        if let Some(at_ns) = effect.gone_at {
            self.lose_what_is_under_way(at_ns, effect.power_lost);
        }
        let (completed_ns, result) = match effect.error.or_else(|| self.bad_place(&request)) {
            Some(error) => (self.fail(&error), Err(error)),
            None => (self.serve(&request, beside, effect.delay_ns), Ok(())),
        };
        self.slots[request.slot as usize].busy = true;
        self.sequence += 1;
        let completion =
            Completion { slot: request.slot, submitted_ns: self.clock_ns, completed_ns, result };
        self.in_flight.push(Reverse(InFlight { sequence: self.sequence, completion }));
        Ok(())
    }

    /// Gives the medium the idle time since its last command.
    #[inline]
    fn rest(&mut self) {
        let since = self.queue.all_done_ns().max(self.rested_ns);
        if self.clock_ns > since {
            self.medium.idle((self.clock_ns - since) as f64);
            self.rested_ns = self.clock_ns;
            while self.queue.all_done_ns() < self.clock_ns
                && self.write_back(since, CombiningCache::oldest).is_some()
            {}
        }
    }

    /// Writes the oldest data of a combining cache to flash, from this moment on; returns the
    /// completion time in nanoseconds. `None` if there is none.
    fn write_back(
        &mut self,
        from_ns: u64,
        chosen: fn(&mut CombiningCache) -> Option<Extent>,
    ) -> Option<u64> {
        let place = chosen(self.combining.as_mut()?)?;
        let ns = self.medium.write(place.offset_bytes, place.bytes, Content::Incompressible);
        Some(self.queue.schedule(from_ns, service(ns), place.bytes, true))
    }

    /// Does an I/O that succeeds; returns its completion time in nanoseconds.
    #[inline]
    fn serve(&mut self, request: &Request, beside: Option<Extent>, delay_ns: u64) -> u64 {
        let &Request { op, offset_bytes, length_bytes, .. } = request;
        let done_ns = match op {
            Op::Read => {
                let ns = self.medium.read(offset_bytes, length_bytes);
                self.schedule(ns, delay_ns, length_bytes, false)
            }
            Op::Write => return self.serve_write(request, beside, delay_ns),
            Op::Flush => self.serve_flush(delay_ns),
            Op::Discard => {
                let ns = self.medium.discard(offset_bytes, length_bytes);
                self.schedule(ns, delay_ns, 0, true)
            }
        };
        if self.memory.is_some() {
            self.move_data(request, done_ns);
        }
        done_ns
    }

    /// Does a write: it completes when it is on flash, or when the cache has it.
    fn serve_write(&mut self, request: &Request, beside: Option<Extent>, delay_ns: u64) -> u64 {
        if self.combining.is_some() {
            return self.serve_combined(request, beside, delay_ns);
        }
        let content = self.content_of(request);
        let mut ns = self.medium.write(request.offset_bytes, request.length_bytes, content);
        if let Some(beside) = beside {
            ns += self.medium.write(beside.offset_bytes, beside.bytes, Content::Incompressible);
        }
        let (done_ns, durable_ns) = match &mut self.cache {
            None => {
                let done = self.queue.schedule(
                    self.clock_ns,
                    service(ns) + delay_ns,
                    request.length_bytes,
                    true,
                );
                (done, done)
            }
            Some(cache) => {
                let taken_ns = cache.take(self.clock_ns, request.length_bytes) + delay_ns;
                let on_flash_ns =
                    self.queue.schedule(taken_ns, service(ns), request.length_bytes, true);
                cache.goes_to_flash(on_flash_ns, request.length_bytes);
                let waits = cache.is_honest() && request.sync != Sync::None;
                (if waits { on_flash_ns } else { taken_ns }, on_flash_ns)
            }
        };
        if self.memory.is_some() {
            self.move_data(request, durable_ns);
        }
        done_ns
    }

    /// Does a write into a combining cache: it completes when there is room for it; a synced one
    /// into an honest cache when all of it is on flash.
    fn serve_combined(&mut self, request: &Request, beside: Option<Extent>, delay_ns: u64) -> u64 {
        let place = Extent::new(request.offset_bytes, request.length_bytes);
        let Some(cache) = &mut self.combining else { return self.clock_ns };
        [Some(place), beside].into_iter().flatten().for_each(|place| cache.put(place));
        let waits = cache.is_honest() && request.sync != Sync::None;
        let own_ns = service(cache.take_ns(request.length_bytes)) + delay_ns;
        let chosen = if waits { CombiningCache::oldest } else { CombiningCache::overflow };
        let mut room_ns = self.clock_ns;
        while let Some(done_ns) = self.write_back(room_ns, chosen) {
            room_ns = done_ns;
        }
        let done_ns = room_ns + own_ns;
        if self.memory.is_some() {
            self.move_data(request, done_ns);
        }
        done_ns
    }

    /// Content as a compressing controller sees it: from the bytes if there are any, otherwise from
    /// the request.
    #[inline]
    fn content_of(&self, request: &Request) -> Content {
        if self.facts.keeps_data && self.medium.looks_at_content() {
            return cheat::classify(
                &self.slots[request.slot as usize].buffer[..request.length_bytes as usize],
            );
        }
        request.content
    }

    #[inline]
    fn schedule(&mut self, ns: f64, delay_ns: u64, bytes: u64, is_write: bool) -> u64 {
        self.queue.schedule(self.clock_ns, service(ns) + delay_ns, bytes, is_write)
    }

    /// Does a flush: it completes when everything before it is on flash; a cache that lies answers
    /// at once.
    fn serve_flush(&mut self, delay_ns: u64) -> u64 {
        if self.cache.is_none() && self.combining.is_none() {
            // The kernel sends none to a medium without a cache: what is written is durable.
            return self.queue.all_done_ns().max(self.clock_ns) + NOT_SENT_NS + delay_ns;
        }
        let ns = self.medium.command();
        let is_honest = self.combining.as_ref().is_none_or(CombiningCache::is_honest);
        while is_honest && self.write_back(self.clock_ns, CombiningCache::oldest).is_some() {}
        if !is_honest {
            return self.clock_ns + service(ns) + delay_ns;
        }
        match &self.cache {
            Some(cache) if !cache.is_honest() => self.clock_ns + service(ns) + delay_ns,
            _ => {
                let before_ns = self.queue.all_done_ns();
                self.schedule(ns, delay_ns, 0, false).max(before_ns)
            }
        }
    }

    /// Error of a request that touches a worn-out place or finds no flash; `None` for all others.
    fn bad_place(&self, request: &Request) -> Option<IoError> {
        if !matches!(request.op, Op::Read | Op::Write) {
            return None;
        }
        let is_full = |filling: &Filling| {
            request.op == Op::Write && filling.refuses(request.offset_bytes, request.length_bytes)
        };
        if self.filling.as_ref().is_some_and(is_full) {
            let error = IoError::new(IoErrorKind::Medium, request, "there is no flash for it");
            return Some(error.with_errno(EIO));
        }
        let bad = self.medium.bad(request.offset_bytes, request.length_bytes)?;
        Some(
            IoError::new(IoErrorKind::Medium, request, format!("worn out at byte {bad}"))
                .with_errno(EIO),
        )
    }

    /// Time of failure in nanoseconds: at once if the medium is gone, otherwise after a command.
    fn fail(&mut self, error: &IoError) -> u64 {
        if error.is_gone() {
            return self.clock_ns + 1;
        }
        let ns = self.medium.command();
        self.schedule(ns, 0, 0, false)
    }

    /// Triggers a fault that is due by this time; true if there was one: completions have changed
    /// then.
    fn passes_fault(&mut self, until_ns: u64) -> bool {
        let Some((at_ns, power_lost)) = self.faults.take_away(until_ns) else { return false };
        self.lose_what_is_under_way(at_ns, power_lost);
        true
    }

    /// Removes the medium: I/Os in flight fail, and if the power failed too, data that was not
    /// durable is torn or lost.
    fn lose_what_is_under_way(&mut self, at_ns: u64, power_lost: bool) {
        let gone =
            || IoError::general(IoErrorKind::Gone, "the medium went away while this was under way");
        let mut under_way = std::mem::take(&mut self.in_flight).into_vec();
        for Reverse(io) in under_way.iter_mut().filter(|io| io.0.completion.completed_ns > at_ns) {
            io.completion.completed_ns = at_ns.max(self.clock_ns);
            io.completion.result = Err(gone());
        }
        self.in_flight = under_way.into();
        self.queue.forget(at_ns);
        if let Some(cache) = &mut self.cache {
            cache.forget();
        }
        if let Some(cache) = &mut self.combining {
            cache.forget();
        }
        if power_lost && let (Some(journal), Some(memory)) = (&mut self.journal, &mut self.memory) {
            journal.power_cut(memory, at_ns, self.cache.is_some(), self.faults.rng());
        }
    }

    /// Copies between buffer and medium, through the mapping; a write is durable from `durable_ns`
    /// on. While data is not needed, copies nothing and drops the old data of overwritten places.
    fn move_data(&mut self, request: &Request, durable_ns: u64) {
        let is_looked_at = self.facts.keeps_data;
        if request.op == Op::Flush || request.op == Op::Read && !is_looked_at {
            return;
        }
        if request.op == Op::Write && !self.faults.none() && self.faults.lose(request) {
            return;
        }
        let (offset, bytes) = (request.offset_bytes, request.length_bytes);
        let Some(mapping) = self.medium.mapping() else {
            self.move_run(request, 0, FlashBehind::Real(offset), bytes, durable_ns);
            return;
        };
        let runs = match &mut self.filling {
            Some(filling) => filling.runs(offset, bytes, request.op == Op::Write),
            None => mapping.runs(offset, bytes).collect(),
        };
        let (mut done, mut is_lost) = (0, false);
        for (behind, run) in runs {
            self.move_run(request, done, behind, run, durable_ns);
            done += run;
            is_lost |= behind == FlashBehind::Nothing;
        }
        let Some(recent) = &mut self.recent else { return };
        let buffer = &mut self.slots[request.slot as usize].buffer;
        match request.op {
            Op::Read => recent.read(offset, &mut buffer[..bytes as usize]),
            Op::Write => recent.write(
                offset,
                bytes,
                is_looked_at.then(|| &buffer[..bytes as usize]),
                is_lost,
            ),
            _ => recent.forget(offset, bytes),
        }
    }

    /// Copies one contiguous run; `start` is its place in the buffer.
    fn move_run(
        &mut self,
        request: &Request,
        start: u64,
        behind: FlashBehind,
        bytes: u64,
        durable_ns: u64,
    ) {
        let Some(memory) = &mut self.memory else { return };
        if request.op != Op::Read
            && let Some(stamps) = &mut self.stamps
        {
            let is_stamped = !self.facts.keeps_data && request.content == Content::Incompressible;
            stamps.set(request.offset_bytes, bytes, request.pass.filter(|_| is_stamped));
        }
        // A discard has no buffer.
        if request.op == Op::Discard || !self.facts.keeps_data {
            if let FlashBehind::Real(at) = behind {
                memory.clear(at, bytes);
            }
            return;
        }
        let buffer =
            &mut self.slots[request.slot as usize].buffer[start as usize..(start + bytes) as usize];
        match (request.op, behind) {
            (Op::Read, FlashBehind::Real(at)) => {
                memory.read(at, buffer);
                self.stamps.iter().for_each(|stamps| stamps.read(at, buffer));
            }
            (Op::Read, FlashBehind::Nothing) => lost(self.lost, buffer, self.sequence),
            (_, FlashBehind::Nothing) => {}
            (_, FlashBehind::Real(at)) => {
                if let Some(journal) = &mut self.journal {
                    journal.note(memory, at, bytes, self.clock_ns, durable_ns);
                }
                memory.write(at, buffer);
                if !self.faults.none() {
                    self.faults
                        .corrupted(at, bytes)
                        .into_iter()
                        .for_each(|(byte, bit)| memory.flip(byte, bit));
                }
            }
        }
    }
}

/// Fills the buffer of a read from a place without flash.
fn lost(lost: LostReads, buffer: &mut [u8], sequence: u64) {
    match lost {
        LostReads::Zeros => buffer.fill(0x00),
        LostReads::Ones => buffer.fill(0xff),
        LostReads::Garbage => {
            for (index, chunk) in buffer.chunks_mut(8).enumerate() {
                let word = crate::rng::mix(sequence ^ ((index as u64) << 40));
                chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
            }
        }
    }
}

/// A service time in whole nanoseconds, at least 1, limited so that the clock cannot overflow.
#[inline]
fn service(ns: f64) -> u64 {
    (ns.round() as u64).clamp(1, LONGEST_NS)
}

fn refuse(request: &Request, detail: &str) -> IoError {
    IoError::new(IoErrorKind::Refused, request, detail)
}

impl Device for SimDevice {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn now(&mut self) -> u64 {
        self.clock_ns
    }

    fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), IoError> {
        self.slots =
            (0..slots).map(|_| SlotState { buffer: vec![0; slot_bytes], busy: false }).collect();
        Ok(())
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        &mut self.slots[slot as usize].buffer
    }

    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        self.take(request, None)
    }

    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let mut reaped = 0;
        while let Some(next) = self.in_flight.peek()
            && (reaped < min || next.0.completion.completed_ns <= self.clock_ns)
        {
            let next_ns = next.0.completion.completed_ns;
            if !self.faults.none() && self.passes_fault(next_ns) {
                continue;
            }
            let Some(Reverse(InFlight { completion, .. })) = self.in_flight.pop() else { break };
            self.clock_ns = self.clock_ns.max(completion.completed_ns);
            self.slots[completion.slot as usize].busy = false;
            done.push(completion);
            reaped += 1;
        }
        Ok(())
    }

    fn idle(&mut self, duration_ns: u64) {
        while self.passes_fault(self.clock_ns + duration_ns) {}
        self.clock_ns += duration_ns;
    }

    fn drop_caches(&mut self) -> Result<(), IoError> {
        Ok(())
    }

    fn cpu_ns(&mut self) -> Option<u64> {
        None
    }

    fn set_data_needed(&mut self, looked_at: bool, generator: &DataGenerator) {
        if self.memory.is_some() && self.facts.makes_data_anew {
            self.facts.keeps_data = looked_at;
            let capacity_bytes = self.facts.capacity_bytes;
            self.stamps.get_or_insert_with(|| Stamps::new(capacity_bytes, generator.clone()));
        }
    }
}
