//! Flash that is given to addresses as they are written, until there is none left
//! (docs/field/counterfeits.md#f3probe).

use std::collections::{BTreeMap, VecDeque};

use crate::mapping::FlashBehind;
use crate::profile::spec::Keeps;

/// Bytes that are given at once.
const BLOCK_BYTES: u64 = 64 << 10;

/// The blocks that have flash, wherever they were written.
pub(crate) struct Filling {
    most_blocks: u64,
    forgets: bool,
    fails: bool,
    /// Block of flash by block of address.
    given: BTreeMap<u64, u64>,
    /// Blocks of address, in the order in which they got flash.
    order: VecDeque<u64>,
}

impl Filling {
    /// Flash of this size; `None` if a fake does not keep what is written in this way.
    pub(crate) fn new(keeps: Keeps, real_bytes: u64) -> Option<Filling> {
        let is_filling = matches!(keeps, Keeps::First | Keeps::FirstThenErrors | Keeps::Latest);
        is_filling.then(|| Filling {
            most_blocks: real_bytes / BLOCK_BYTES,
            forgets: keeps == Keeps::Latest,
            fails: keeps == Keeps::FirstThenErrors,
            given: BTreeMap::new(),
            order: VecDeque::new(),
        })
    }

    /// True if a write to this range fails, as there is no flash left for it.
    pub(crate) fn refuses(&self, offset: u64, bytes: u64) -> bool {
        let mut blocks = offset / BLOCK_BYTES..(offset + bytes).div_ceil(BLOCK_BYTES);
        self.fails
            && self.order.len() as u64 == self.most_blocks
            && blocks.any(|block| !self.given.contains_key(&block))
    }

    /// Splits a range into runs: the flash behind each, and its bytes. A write takes flash.
    pub(crate) fn runs(
        &mut self,
        offset: u64,
        bytes: u64,
        is_write: bool,
    ) -> Vec<(FlashBehind, u64)> {
        let (mut at, end) = (offset, offset + bytes);
        let mut runs = Vec::new();
        while at < end {
            let block = at / BLOCK_BYTES;
            let run = ((block + 1) * BLOCK_BYTES).min(end) - at;
            let given = self.given.get(&block).copied().or_else(|| self.give(block, is_write));
            runs.push(match given {
                Some(flash) => (FlashBehind::Real(flash * BLOCK_BYTES + at % BLOCK_BYTES), run),
                None => (FlashBehind::Nothing, run),
            });
            at += run;
        }
        runs
    }

    fn give(&mut self, block: u64, is_write: bool) -> Option<u64> {
        let next = self.order.len() as u64;
        if !is_write || next == self.most_blocks && !self.forgets {
            return None;
        }
        let flash = if next == self.most_blocks {
            self.given.remove(&self.order.pop_front()?)?
        } else {
            next
        };
        self.given.insert(block, flash);
        self.order.push_back(block);
        Some(flash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_kept(filling: &mut Filling, block: u64) -> bool {
        matches!(filling.runs(block * BLOCK_BYTES, 512, false)[..], [(FlashBehind::Real(_), 512)])
    }

    #[test]
    fn flash_is_given_until_it_is_full_and_then_nothing_an_error_or_the_oldest() {
        for keeps in [Keeps::First, Keeps::FirstThenErrors, Keeps::Latest] {
            let mut filling = Filling::new(keeps, 2 * BLOCK_BYTES).unwrap();
            for block in [9, 7, 9] {
                assert!(!filling.refuses(block * BLOCK_BYTES, 512));
                filling.runs(block * BLOCK_BYTES, 512, true);
            }
            let is_refused = filling.refuses(8 * BLOCK_BYTES, BLOCK_BYTES);
            assert_eq!(is_refused, keeps == Keeps::FirstThenErrors);
            filling.runs(8 * BLOCK_BYTES, 512, true);
            let kept = [9, 7, 8].map(|block| is_kept(&mut filling, block));
            assert_eq!(kept[0] && !kept[2], keeps != Keeps::Latest, "{keeps:?}");
            assert!(kept[1]);
        }
        assert!(Filling::new(Keeps::Front, 1 << 20).is_none());
    }
}
