//! Long waits of a run: each is passed to the listener. An error behind a silence is read once more
//! at its place and at two others, to tell a bad place from a card, reader or cable that drops out.

use std::sync::atomic::Ordering;

use device::{Extent, IoErrorKind};
use record::units::MIB;
use record::{Flag, SilentError, Wait};

use super::{Guarded, Runner};
use crate::events::RunEvent;
use crate::place_read::read_places;

/// Most waits that are kept of a run; of later ones only those that are longer than all before.
const MOST_WAITS: u64 = 100;
/// Most errors that are read again: each may cost three more silences.
const MOST_READ_AGAIN: u32 = 3;

/// What the waits of a run have come to.
#[derive(Default)]
pub(super) struct WaitsSoFar {
    told: u64,
    longest_ns: u64,
    read_again: u32,
}

impl Runner<'_, '_> {
    /// Passes the waits since the last call to the listener; an `Err` is the listener's.
    pub(super) fn tell_waits(&mut self) -> Result<(), String> {
        let mut waits = self.medium.take_waits();
        for wait in waits.iter_mut().filter(|wait| wait.error.is_some()) {
            let is_over = self.options.stop.load(Ordering::Relaxed);
            let Some(offset_bytes) = wait.offset_bytes.filter(|_| !is_over) else { continue };
            if self.waits.read_again < MOST_READ_AGAIN {
                self.waits.read_again += 1;
                self.medium.begin_turn("reading again after an error");
                let bytes = wait.block_bytes.unwrap_or(0).min(MIB);
                wait.error = Some(read_again(self.medium, Extent::new(offset_bytes, bytes)));
            }
        }
        waits.extend(self.medium.take_waits());
        waits.into_iter().try_for_each(|wait| self.tell_wait(wait))
    }

    fn tell_wait(&mut self, wait: Wait) -> Result<(), String> {
        let WaitsSoFar { told, longest_ns, .. } = &mut self.waits;
        *told += 1;
        let is_longest = wait.silent_ns > *longest_ns;
        *longest_ns = wait.silent_ns.max(*longest_ns);
        match *told <= MOST_WAITS || is_longest {
            true => self.listener.on_event(&RunEvent::Flagged(&Flag::Waited(wait))),
            false => Ok(()),
        }
    }
}

/// Reads a place that failed, and two others, each a third of the medium further on.
fn read_again(medium: &mut Guarded, place: Extent) -> SilentError {
    let all_bytes = device::Device::facts(medium).capacity_bytes;
    let third = |thirds: u64| {
        let at = (place.offset_bytes + all_bytes / 3 * thirds) % all_bytes / MIB * MIB;
        Extent::new(at.min(all_bytes.saturating_sub(place.bytes)), place.bytes)
    };
    let mut works = |place: Extent| match read_places(medium, &[place]) {
        Ok(_) => Some(true),
        Err(error) if error.kind == IoErrorKind::Medium => Some(false),
        Err(_) => None,
    };
    match [place, third(1), third(2)].map(&mut works) {
        [None, ..] => SilentError::NotReadAgain,
        [Some(false), Some(true), Some(true)] => SilentError::BadPlace,
        _ => SilentError::NoFixedPlace,
    }
}
