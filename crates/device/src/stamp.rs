//! Verification of data that was read: intact, damaged, other data of the run, or none of it.

use pulp::NullaryFnOnce;

use crate::DataGenerator;
use crate::content::sector_number;
use crate::sector::{Keys, SECTOR_BYTES, Sector};

/// Most wrong bits with which a sector counts as the expected one, slightly damaged (f3's
/// tolerance, docs/field/counterfeits.md#f3probe).
const TOLERATED_BITS: u32 = 7;

/// Verdict on a sector that should hold this run's data. The first four are f3's good, changed,
/// overwritten and corrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SectorVerdict {
    /// The data that was written there in the expected pass, bit for bit.
    Good,
    /// That data with a few wrong bits (1 to 7).
    Changed {
        /// Bits that differ from what was written.
        bits: u32,
    },
    /// Data of this run that belongs to another place, or to another pass over this place. The
    /// first is the sign of a medium that is smaller than it claims; the second is a write that was
    /// accepted and never made.
    Overwritten {
        /// Offset in bytes to which the data belongs.
        by_offset_bytes: u64,
        /// Pass in which the data was written.
        by_pass: u32,
    },
    /// None of this run's data.
    Corrupted,
    /// Zeros only: discarded, never written, or thrown away.
    Zero,
    /// 0xFF only: erased flash.
    Blank,
}

impl DataGenerator {
    /// Judges each 512-byte sector of `buf`, which was read at `offset_bytes` and last filled with
    /// incompressible data in `pass`; returns the offset of each sector with its verdict. Leaves
    /// out a part of a sector at the end. Panics unless `offset_bytes` is a multiple of 512.
    pub fn verify<'a>(
        &'a self,
        buf: &'a [u8],
        pass: u32,
        offset_bytes: u64,
    ) -> impl Iterator<Item = (u64, SectorVerdict)> + 'a {
        let numbers = sector_number(offset_bytes)..;
        let (sectors, _) = buf.as_chunks::<SECTOR_BYTES>();
        numbers.zip(sectors).map(move |(number, sector)| {
            (number * SECTOR_BYTES as u64, self.judge(sector, pass, number))
        })
    }

    fn judge(&self, found: &Sector, pass: u32, number: u64) -> SectorVerdict {
        match self.wrong_bits(found, pass, number) {
            0 => return SectorVerdict::Good,
            bits @ 1..=TOLERATED_BITS => return SectorVerdict::Changed { bits },
            _ => {}
        }
        if found.iter().all(|&byte| byte == 0) {
            return SectorVerdict::Zero;
        }
        if found.iter().all(|&byte| byte == 0xff) {
            return SectorVerdict::Blank;
        }
        match self.keys.read_name(found) {
            Some((by_pass, by)) if self.wrong_bits(found, by_pass, by) <= TOLERATED_BITS => {
                SectorVerdict::Overwritten {
                    by_offset_bytes: by.wrapping_mul(SECTOR_BYTES as u64),
                    by_pass,
                }
            }
            _ => SectorVerdict::Corrupted,
        }
    }

    fn wrong_bits(&self, found: &Sector, pass: u32, number: u64) -> u32 {
        self.arch.dispatch(WrongBits { keys: self.keys, found, pass, number })
    }
}

/// Number of bits in which a sector differs from the expected data; compiled for each vector unit
/// as the writing is.
struct WrongBits<'a> {
    keys: Keys,
    found: &'a Sector,
    pass: u32,
    number: u64,
}

impl NullaryFnOnce for WrongBits<'_> {
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        let mut expected = [0; SECTOR_BYTES];
        self.keys.write(&mut expected, self.pass, self.number);
        if expected == *self.found {
            return 0;
        }
        expected
            .iter()
            .zip(self.found)
            .map(|(expected, found)| (expected ^ found).count_ones())
            .sum()
    }
}

/// Number of sectors with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyCounts {
    /// Sectors that hold exactly what was written.
    pub good: u64,
    /// Sectors with a few wrong bits (1 to 7).
    pub changed: u64,
    /// Sectors with data of another place or pass.
    pub overwritten: u64,
    /// Sectors with none of this run's data.
    pub corrupted: u64,
    /// Sectors of zeros only: discarded, never written, or thrown away.
    pub zero: u64,
    /// Sectors of 0xFF only: erased flash.
    pub blank: u64,
}

impl VerifyCounts {
    /// Counts the verdict on one sector of 512 bytes.
    pub fn add(&mut self, verdict: SectorVerdict) {
        *match verdict {
            SectorVerdict::Good => &mut self.good,
            SectorVerdict::Changed { .. } => &mut self.changed,
            SectorVerdict::Overwritten { .. } => &mut self.overwritten,
            SectorVerdict::Corrupted => &mut self.corrupted,
            SectorVerdict::Zero => &mut self.zero,
            SectorVerdict::Blank => &mut self.blank,
        } += 1;
    }

    /// Sectors counted so far, with any verdict.
    pub fn sectors(&self) -> u64 {
        self.good + self.bad()
    }

    /// Sectors that did not hold exactly what was written.
    pub fn bad(&self) -> u64 {
        self.changed + self.overwritten + self.corrupted + self.zero + self.blank
    }
}

impl Extend<SectorVerdict> for VerifyCounts {
    fn extend<I: IntoIterator<Item = SectorVerdict>>(&mut self, verdicts: I) {
        verdicts.into_iter().for_each(|verdict| self.add(verdict));
    }
}

#[cfg(test)]
mod tests {
    use record::Content;

    use super::*;

    const PASS: u32 = 3;
    const OFFSET: u64 = 1 << 30;

    fn generator() -> DataGenerator {
        DataGenerator::new(9)
    }

    fn written(sectors: usize) -> Vec<u8> {
        let mut buf = vec![0; sectors * SECTOR_BYTES];
        generator().fill(&mut buf, Content::Incompressible, PASS, OFFSET);
        buf
    }

    /// The verdict on the second of three sectors after something happened to it; its neighbours
    /// must stay good.
    fn verdict_after(damage: impl FnOnce(&mut [u8])) -> SectorVerdict {
        let mut buf = written(3);
        damage(&mut buf[SECTOR_BYTES..2 * SECTOR_BYTES]);
        let verdicts: Vec<_> = generator().verify(&buf, PASS, OFFSET).collect();
        assert_eq!(
            (verdicts[0], verdicts[2]),
            ((OFFSET, SectorVerdict::Good), (OFFSET + 1024, SectorVerdict::Good))
        );
        assert_eq!(verdicts[1].0, OFFSET + 512);
        verdicts[1].1
    }

    #[test]
    fn untouched_data_is_good_and_every_kind_of_sector_is_counted_once() {
        let mut tally = VerifyCounts::default();
        tally.extend(generator().verify(&written(100), PASS, OFFSET).map(|(_, verdict)| verdict));
        assert_eq!(tally, VerifyCounts { good: 100, ..VerifyCounts::default() });
        let tally =
            VerifyCounts { good: 1, changed: 2, overwritten: 4, corrupted: 8, zero: 16, blank: 32 };
        assert_eq!((tally.bad(), tally.sectors()), (62, 63));
    }

    proptest::proptest! {
        #[test]
        fn flipped_bits_are_counted_up_to_seven(flips in proptest::collection::hash_set(0usize..SECTOR_BYTES * 8, 1..20)) {
            let verdict = verdict_after(|sector| flips.iter().for_each(|&bit| sector[bit / 8] ^= 1 << (bit % 8)));
            let expected = match flips.len() as u32 {
                bits @ 1..=TOLERATED_BITS => SectorVerdict::Changed { bits },
                _ => SectorVerdict::Corrupted,
            };
            assert_eq!(verdict, expected);
        }

        #[test]
        fn data_of_another_place_or_pass_is_named(pass in 0u32..6, sector in 0u64..1 << 40) {
            let by_offset_bytes = sector * 512;
            let verdict = verdict_after(|found| generator().fill(found, Content::Incompressible, pass, by_offset_bytes));
            assert_eq!(verdict, SectorVerdict::Overwritten { by_offset_bytes, by_pass: pass });
        }
    }

    #[test]
    fn each_damage_has_its_verdict() {
        let made = |sector: &mut [u8], pass, at: u64| {
            generator().fill(sector, Content::Incompressible, pass, at);
        };
        // The data of this pass for an offset, with wrong bits in its body.
        let with = |at: u64, wrong: u8| {
            verdict_after(|sector| {
                made(sector, PASS, at);
                sector[100] ^= wrong;
            })
        };
        let here = OFFSET + 512;
        let never_made = verdict_after(|sector| made(sector, PASS - 1, here));
        let name_alone = verdict_after(|sector| {
            made(sector, PASS, 0);
            sector[16..].fill(0);
        });
        let of_another_run = verdict_after(|sector| {
            DataGenerator::new(10).fill(sector, Content::Incompressible, PASS, here);
        });
        let from =
            |by_offset_bytes, by_pass| SectorVerdict::Overwritten { by_offset_bytes, by_pass };
        for (damage, verdict, expected) in [
            ("a write that was never made", never_made, from(here, PASS - 1)),
            ("seven wrong bits", with(here, 0x7f), SectorVerdict::Changed { bits: 7 }),
            ("eight wrong bits", with(here, 0xff), SectorVerdict::Corrupted),
            ("misplaced, one wrong bit", with(0, 1), from(0, PASS)),
            ("misplaced, seven wrong bits", with(0, 0x7f), from(0, PASS)),
            ("misplaced, eight wrong bits", with(0, 0xff), SectorVerdict::Corrupted),
            ("a name alone proves nothing", name_alone, SectorVerdict::Corrupted),
            ("zeros", verdict_after(|sector| sector.fill(0)), SectorVerdict::Zero),
            ("erased flash", verdict_after(|sector| sector.fill(0xff)), SectorVerdict::Blank),
            ("other data", verdict_after(|sector| sector.fill(0x55)), SectorVerdict::Corrupted),
            ("another run", of_another_run, SectorVerdict::Corrupted),
        ] {
            assert_eq!(verdict, expected, "{damage}");
        }
    }
}
