//! Mapping of addresses to flash: counterfeits have less of it than they announce
//! (docs/field/counterfeits.md#f3probe).

use crate::memory::PAGE_BYTES;
use crate::profile::spec::{Fake, Keeps, LostReads, Spec};

/// The flash behind a run of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlashBehind {
    /// Flash, at this address.
    Real(u64),
    /// Nothing: writes are dropped.
    Nothing,
}

/// The addresses of a fake: taken modulo `module`, and without flash from `real` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping {
    real: u64,
    module: u64,
    lost: LostReads,
    keeps: Keeps,
}

impl Mapping {
    /// The mapping of a medium of this size. If that is not the announced size, the real size
    /// changes in proportion, so that a fake stays a fake.
    pub(crate) fn new(spec: &Spec, capacity_bytes: u64) -> Option<Mapping> {
        let fake: &Fake = spec.fake.as_ref()?;
        let announced = spec.medium.capacity.0;
        let scale = |bytes: u64| {
            let scaled =
                (u128::from(bytes) * u128::from(capacity_bytes) / u128::from(announced)) as u64;
            scaled.next_multiple_of(spec.medium.logical_block.0)
        };
        Some(Mapping {
            real: scale(fake.real.0),
            module: fake.module.map_or(capacity_bytes, |module| scale(module.0)),
            lost: fake.lost,
            keeps: fake.keeps,
        })
    }

    /// Bytes of flash that really exist.
    pub(crate) fn real_bytes(&self) -> u64 {
        self.real
    }

    /// Content of reads from places without flash.
    pub(crate) fn lost(&self) -> LostReads {
        self.lost
    }

    /// The writes that find flash.
    pub(crate) fn keeps(&self) -> Keeps {
        self.keeps
    }

    /// Splits a range into runs: the flash behind each, and its bytes.
    pub(crate) fn runs(self, offset: u64, bytes: u64) -> impl Iterator<Item = (FlashBehind, u64)> {
        let (mut at, end) = (offset, offset + bytes);
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            if self.keeps == Keeps::Hashed {
                let (page, inside) = (at / PAGE_BYTES, at % PAGE_BYTES);
                let flash = crate::rng::mix(page) % (self.real / PAGE_BYTES).max(1);
                let run = (PAGE_BYTES - inside).min(end - at);
                at += run;
                return Some((FlashBehind::Real(flash * PAGE_BYTES + inside), run));
            }
            let folded = at % self.module;
            let (behind, stop) = if folded < self.real {
                (FlashBehind::Real(folded), self.real)
            } else {
                (FlashBehind::Nothing, self.module)
            };
            let run = (stop - folded).min(end - at);
            at += run;
            Some((behind, run))
        })
    }

    /// The place whose timing an address has; a controller without flash behind an address still
    /// does the work (a guess).
    #[inline]
    pub(crate) fn timing_offset(&self, offset: u64) -> u64 {
        (offset % self.module) % self.real
    }
}
