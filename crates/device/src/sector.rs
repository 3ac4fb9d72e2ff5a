//! One sector of incompressible data that holds its own place.
//!
//! A sector is 128 little-endian words. The first four are its *name*: sector number, pass and a
//! fixed tag, sent through a permutation of 128-bit values that the seed chooses. So the name looks
//! like noise, no two sectors of a run share it, and it can be read back with the seed. The other
//! 124 words are a keyed mix of the name and their index. Hence any sector can be made, or
//! recognised in any place, from 24 bytes: seed, pass and sector number.
//!
//! This layout is a format: a medium filled by one version is verified by the next. Known answers
//! are tested in `content.rs`.

use stats::Random;

/// Bytes of a sector, for any logical block of the medium.
pub const SECTOR_BYTES: usize = 512;

/// Memory of one sector.
pub type Sector = [u8; SECTOR_BYTES];

/// The name of a sector: its first 16 bytes, as four words.
type SectorName = [u32; 4];

/// Low half of the input of the permutation ("FLMK"): a name that does not decode to it was not
/// written here.
const TAG: u32 = 0x464c_4d4b;

/// Golden ratio times 2^32 and 2^64, made odd: steps that visit every value.
const STEP_32: u32 = 0x9e37_79b9;
const STEP_64: u64 = 0x9e37_79b9_7f4a_7c15;

/// The permutation of names that belongs to a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keys([u64; 4]);

impl Keys {
    /// The four round keys of a seed: the first numbers drawn from it.
    pub fn new(seed: u64) -> Keys {
        let mut random = Random::new(seed);
        Keys([(); 4].map(|()| random.bits()))
    }

    /// The name of a sector: a four-round Feistel network over (sector, pass and tag).
    #[inline(always)]
    fn name(&self, pass: u32, sector: u64) -> SectorName {
        let [k0, k1, k2, k3] = self.0;
        let (mut left, mut right) = (sector, u64::from(pass) << 32 | u64::from(TAG));
        left ^= round(right, k0);
        right ^= round(left, k1);
        left ^= round(right, k2);
        right ^= round(left, k3);
        [left as u32, (left >> 32) as u32, right as u32, (right >> 32) as u32]
    }

    /// Fills `out` with the data of this sector in this pass.
    #[inline(always)]
    pub fn write(&self, out: &mut Sector, pass: u32, sector: u64) {
        write_named(out, self.name(pass, sector));
    }

    /// Reads the (pass, sector) in the name of a sector; `None` if it was not written with this
    /// seed.
    pub fn read_name(&self, from: &Sector) -> Option<(u32, u64)> {
        let [k0, k1, k2, k3] = self.0;
        let half = |at: usize| {
            u64::from_le_bytes(from[at..at + 8].try_into().expect("a half is eight bytes"))
        };
        let (mut left, mut right) = (half(0), half(8));
        right ^= round(left, k3);
        left ^= round(right, k2);
        right ^= round(left, k1);
        left ^= round(right, k0);
        (right as u32 == TAG).then_some(((right >> 32) as u32, left))
    }
}

/// Writes the sector with this name. Straight-line arithmetic on 32-bit words, so that every vector
/// unit can do it: AVX-512, AVX2 and NEON multiply 32-bit values, only the first multiplies 64-bit
/// ones.
#[inline(always)]
fn write_named(out: &mut Sector, name: SectorName) {
    let (words, _) = out.as_chunks_mut::<4>();
    for (index, word) in words.iter_mut().enumerate() {
        *word = mix(name, index as u32).to_le_bytes();
    }
    for (word, part) in words.iter_mut().zip(name) {
        *word = part.to_le_bytes();
    }
}

/// C. Wellons' `lowbias32` (the 2018 constants of least known bias), which mixes in a part of the
/// name at each step.
#[inline(always)]
fn mix(name: SectorName, index: u32) -> u32 {
    let mut x = name[0].wrapping_add(index.wrapping_mul(STEP_32));
    x ^= x >> 16;
    x = x.wrapping_mul(0x21f0_aaad).wrapping_add(name[1]);
    x ^= x >> 15;
    x = x.wrapping_mul(0x735a_2d97).wrapping_add(name[2]);
    x ^= x >> 15;
    x ^ name[3]
}

/// The Feistel round: any function is suitable, this one has no visible structure.
#[inline(always)]
fn round(half: u64, key: u64) -> u64 {
    let mut x = (half ^ key).wrapping_mul(STEP_64);
    x ^= x >> 32;
    x = x.wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ x >> 29
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_name_leads_back_to_its_sector(seed: u64, pass: u32, sector: u64) {
            let keys = Keys::new(seed);
            let mut bytes = [0; SECTOR_BYTES];
            keys.write(&mut bytes, pass, sector);
            assert_eq!(keys.read_name(&bytes), Some((pass, sector)));
            assert_eq!(Keys::new(seed ^ 1).read_name(&bytes), None);
        }
    }
}
