//! A page that is written again and again between other writes, as an inode is: controllers keep it
//! apart (docs/field/ftl.md#rewritten-pages).

use crate::profile::spec::WriteSpec;

/// Number of places that are remembered.
const REMEMBERED: usize = 8;

/// The places of the last single writes, and the time of a write to one of them.
#[derive(Debug)]
pub(super) struct Rewrites {
    ns: f64,
    largest: u64,
    /// Places, the least recently written first.
    places: Vec<u64>,
}

impl Rewrites {
    /// `None` if the profile has no time for rewrites.
    pub(super) fn new(write: &WriteSpec) -> Option<Rewrites> {
        let places = Vec::with_capacity(REMEMBERED + 1);
        write.rewrite.map(|time| Rewrites { ns: time.0, largest: write.unit.0, places })
    }

    /// Remembers the place of a write that continues no other; returns its time beside the command
    /// if it is one of the last places.
    #[inline]
    pub(super) fn time(&mut self, start: u64, end: u64) -> Option<f64> {
        if end - start > self.largest {
            return None;
        }
        let known = self.places.iter().rposition(|place| *place == start);
        match known {
            Some(at) => self.places[at..].rotate_left(1),
            None => {
                self.places.push(start);
                if self.places.len() > REMEMBERED {
                    self.places.remove(0);
                }
            }
        }
        known.map(|_| self.ns)
    }
}
