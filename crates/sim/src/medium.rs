//! A medium: the model, and all effects that lengthen or shorten its times.

use record::Content;

use crate::cheat::Compression;
use crate::heat::Heat;
use crate::mapping::Mapping;
use crate::profile::spec::Spec;
use crate::rng::{Jitter, SimRng};
use crate::timing::{self, MediumCommand, Timing};
use crate::wear::Wear;

/// Model and effects; returns the time of each I/O.
pub(crate) struct Medium {
    timing: Box<dyn Timing>,
    rng: SimRng,
    jitter: Option<Jitter>,
    max_transfer: u64,
    mapping: Option<Mapping>,
    compression: Option<Compression>,
    heat: Option<Heat>,
    wear: Option<Wear>,
}

impl Medium {
    /// A medium of this size as described by a profile, with the random numbers of this seed and
    /// the worn places of this unit.
    pub(crate) fn new(spec: &Spec, capacity_bytes: u64, seed: u64, unit: u64) -> Medium {
        let usual = spec.write.as_ref().map(|write| write.rate);
        Medium {
            timing: timing::model(spec, capacity_bytes),
            rng: SimRng::new(seed),
            jitter: Jitter::new(spec.jitter.sigma, spec.jitter.tail_share, spec.jitter.tail_factor),
            max_transfer: spec.medium.max_transfer.map_or(u64::MAX, |size| size.0),
            mapping: Mapping::new(spec, capacity_bytes),
            compression: spec
                .compression
                .as_ref()
                .zip(usual)
                .map(|(compression, usual)| Compression::new(compression, usual)),
            heat: spec.heat.as_ref().map(Heat::new),
            wear: spec.wear.as_ref().map(|wear| Wear::new(wear, unit)),
        }
    }

    /// The mapping of addresses to flash; `None` if every address has its own.
    pub(crate) fn mapping(&self) -> Option<Mapping> {
        self.mapping
    }

    /// True if the time of a write depends on its data.
    pub(crate) fn looks_at_content(&self) -> bool {
        self.compression.is_some()
    }

    /// First byte in the range that cannot be read or written.
    pub(crate) fn bad(&self, offset: u64, bytes: u64) -> Option<u64> {
        self.wear.as_ref()?.bad(offset, bytes)
    }

    /// Temperature in degrees Celsius, if the profile has one.
    pub(crate) fn celsius(&self) -> Option<f64> {
        self.heat.as_ref().map(Heat::celsius)
    }

    /// Time of a read in nanoseconds.
    #[inline]
    pub(crate) fn read(&mut self, offset: u64, bytes: u64) -> f64 {
        let at = self.timing_offset(offset);
        let mut ns = self.split(at, bytes, 1.0, |timing, piece, rng| timing.read(piece, rng));
        if let Some(wear) = &self.wear {
            ns += wear.retries_ns(offset, bytes);
        }
        self.finish(ns, bytes)
    }

    /// Time of a write in nanoseconds.
    #[inline]
    pub(crate) fn write(&mut self, offset: u64, bytes: u64, content: Content) -> f64 {
        let at = self.timing_offset(offset);
        let (ease, shortcut) = match &self.compression {
            Some(compression) => (compression.ease(content), compression.shortcut(content, bytes)),
            None => (1.0, None),
        };
        let mut ns = match shortcut {
            Some(ns) => ns,
            None => self.split(at, bytes, ease, |timing, piece, rng| timing.write(piece, rng)),
        };
        if let Some(wear) = &mut self.wear {
            ns *= wear.write_factor(bytes);
        }
        self.finish(ns, bytes)
    }

    /// Time of a discard in nanoseconds.
    pub(crate) fn discard(&mut self, offset: u64, bytes: u64) -> f64 {
        self.timing.discard(self.timing_offset(offset), bytes)
    }

    /// Time of a command without data in nanoseconds.
    pub(crate) fn command(&self) -> f64 {
        self.timing.command()
    }

    /// Passes `ns` nanoseconds without I/O.
    pub(crate) fn idle(&mut self, ns: f64) {
        self.timing.idle(ns);
        if let Some(heat) = &mut self.heat {
            heat.cool(ns);
        }
    }

    #[inline]
    fn timing_offset(&self, offset: u64) -> u64 {
        self.mapping.as_ref().map_or(offset, |mapping| mapping.timing_offset(offset))
    }

    /// Splits an I/O into commands of the medium, as the kernel does, and adds up their times.
    #[inline]
    fn split(
        &mut self,
        offset: u64,
        bytes: u64,
        ease: f64,
        serve: impl Fn(&mut dyn Timing, &MediumCommand, &mut SimRng) -> f64,
    ) -> f64 {
        if bytes <= self.max_transfer {
            let piece =
                MediumCommand { offset_bytes: offset, bytes, first: true, tail: false, ease };
            return serve(&mut *self.timing, &piece, &mut self.rng);
        }
        let (mut ns, mut at, end) = (0.0, offset, offset + bytes);
        while at < end {
            let take = self.max_transfer.min(end - at);
            let piece = MediumCommand {
                offset_bytes: at,
                bytes: take,
                first: at == offset,
                tail: at + take == end,
                ease,
            };
            ns += serve(&mut *self.timing, &piece, &mut self.rng);
            at += take;
        }
        ns
    }

    /// Applies jitter and heat to the time of an I/O, in nanoseconds.
    #[inline]
    fn finish(&mut self, ns: f64, bytes: u64) -> f64 {
        let ns = self.jitter.as_ref().map_or(ns, |jitter| ns * jitter.draw(&mut self.rng));
        match &mut self.heat {
            Some(heat) => heat.work(ns, bytes),
            None => ns,
        }
    }
}
