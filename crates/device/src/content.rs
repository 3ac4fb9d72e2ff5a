//! The data to write: of a chosen kind, made from a seed.

use pulp::{Arch, NullaryFnOnce};
use record::Content;

use crate::sector::{Keys, SECTOR_BYTES, Sector};

/// Block size in bytes within which repeated and compressible data are laid out: a flash page, and
/// the unit of compressing controllers.
pub const BLOCK_BYTES: usize = 4096;

/// The pass whose data [`Content::Repeated`] repeats; no real pass has this number.
const REPEATED_PASS: u32 = u32::MAX;

/// Makes the data that a run writes.
///
/// Incompressible data is a pure function of (seed, pass, sector number): no two writes have the
/// same data, and any sector can be made again, or recognised in a wrong place
/// ([`verify`](DataGenerator::verify)), without a table of the writes. It is not a cipher:
/// unpredictable to a controller, not to a cryptographer.
#[derive(Clone, Debug)]
pub struct DataGenerator {
    pub(crate) keys: Keys,
    pub(crate) arch: Arch,
    repeated: Box<[u8; BLOCK_BYTES]>,
}

impl DataGenerator {
    /// A generator of the data of this seed.
    pub fn new(seed: u64) -> DataGenerator {
        let mut generator = DataGenerator {
            keys: Keys::new(seed),
            arch: Arch::new(),
            repeated: Box::new([0; BLOCK_BYTES]),
        };
        let mut block = [0; BLOCK_BYTES];
        generator.incompressible(&mut block, REPEATED_PASS, 0);
        *generator.repeated = block;
        generator
    }

    /// Fills `buf` with the data for `offset_bytes` of the medium in this pass (0, 1, ..) over it.
    /// Panics unless `offset_bytes` is a multiple of 512; the length is free.
    pub fn fill(&self, buf: &mut [u8], content: Content, pass: u32, offset_bytes: u64) {
        match content {
            Content::Zeros => buf.fill(0),
            Content::Byte(byte) => buf.fill(byte),
            Content::Repeated => self.repeat(buf, offset_bytes),
            Content::Incompressible => self.incompressible(buf, pass, offset_bytes),
            Content::Compressible(percent) => {
                self.incompressible(buf, pass, offset_bytes);
                zero_in_every_block(buf, percent, offset_bytes);
            }
        }
    }

    fn incompressible(&self, buf: &mut [u8], pass: u32, offset_bytes: u64) {
        let first = sector_number(offset_bytes);
        let (sectors, rest) = buf.as_chunks_mut::<SECTOR_BYTES>();
        let behind = first + sectors.len() as u64;
        self.arch.dispatch(WriteSectors { keys: self.keys, sectors, pass, first });
        if !rest.is_empty() {
            let mut last = [0; SECTOR_BYTES];
            self.keys.write(&mut last, pass, behind);
            rest.copy_from_slice(&last[..rest.len()]);
        }
    }

    fn repeat(&self, buf: &mut [u8], offset_bytes: u64) {
        for (piece, at) in pieces(buf, offset_bytes) {
            piece.copy_from_slice(&self.repeated[at..at + piece.len()]);
        }
    }
}

/// The number of the 512-byte sector that begins at this offset.
pub(crate) fn sector_number(offset_bytes: u64) -> u64 {
    assert!(
        offset_bytes.is_multiple_of(SECTOR_BYTES as u64),
        "data is made in whole sectors; {offset_bytes} is not the start of one"
    );
    offset_bytes / SECTOR_BYTES as u64
}

/// Number of leading zero bytes in each block of data that is compressible by `percent`; from 100 %
/// on the whole block.
pub fn zeros_in_block(percent: u8) -> usize {
    BLOCK_BYTES * usize::from(percent.min(100)) / 100
}

/// Zeros the first `percent` of every 4 KiB of the medium, as far as they are in `buf`.
fn zero_in_every_block(buf: &mut [u8], percent: u8, offset_bytes: u64) {
    let zeros = zeros_in_block(percent);
    for (piece, at) in pieces(buf, offset_bytes) {
        let end = zeros.saturating_sub(at).min(piece.len());
        piece[..end].fill(0);
    }
}

/// `buf` cut at the block boundaries of the medium, each piece with its offset in its block.
fn pieces(buf: &mut [u8], offset_bytes: u64) -> impl Iterator<Item = (&mut [u8], usize)> {
    let at = (offset_bytes % BLOCK_BYTES as u64) as usize;
    let (head, rest) = buf.split_at_mut(buf.len().min((BLOCK_BYTES - at) % BLOCK_BYTES));
    std::iter::once((head, at)).chain(rest.chunks_mut(BLOCK_BYTES).map(|piece| (piece, 0)))
}

/// The loop over sectors, as an operation that `pulp` compiles for each vector unit and picks at
/// run time.
struct WriteSectors<'a> {
    keys: Keys,
    sectors: &'a mut [Sector],
    pass: u32,
    first: u64,
}

impl NullaryFnOnce for WriteSectors<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (number, sector) in (self.first..).zip(self.sectors) {
            self.keys.write(sector, self.pass, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io::Write;

    use super::*;

    const MIB: usize = 1 << 20;

    fn filled(bytes: usize, content: Content, pass: u32, offset_bytes: u64) -> Vec<u8> {
        let mut buf = vec![0xa5; bytes];
        DataGenerator::new(42).fill(&mut buf, content, pass, offset_bytes);
        buf
    }

    fn deflated_bytes(data: &[u8]) -> usize {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap().len()
    }

    #[test]
    fn so_many_percent_of_a_block_are_zeros_and_compress() {
        assert_eq!(
            [0, 1, 30, 99, 100, 101, 255].map(zeros_in_block),
            [0, 40, 1228, 4055, 4096, 4096, 4096]
        );
        for percent in [0, 25, 30, 50, 100, 130] {
            let data = filled(MIB, Content::Compressible(percent), 0, 0);
            for block in data.chunks(BLOCK_BYTES) {
                let (zeros, rest) = block.split_at(zeros_in_block(percent));
                assert!(zeros.iter().all(|byte| *byte == 0), "{percent} %");
                assert!(rest.is_empty() || rest.iter().take(16).any(|byte| *byte != 0));
            }
            let left = deflated_bytes(&data) as f64 / MIB as f64;
            let expected = 1.0 - f64::from(percent.min(100)) / 100.0;
            assert!((left - expected).abs() < 0.02, "{percent} %: {left} left");
        }
    }

    #[test]
    fn no_compressor_shrinks_incompressible_data() {
        let data = filled(MIB, Content::Incompressible, 0, 0);
        assert!(deflated_bytes(&data) > data.len());
        // One word of every sector in succession: what a compressor with a model of the layout
        // would look at.
        for word in [0, 4, 127] {
            let column: Vec<u8> = data
                .chunks(SECTOR_BYTES)
                .flat_map(|sector| sector[word * 4..word * 4 + 4].to_vec())
                .collect();
            assert!(deflated_bytes(&column) > column.len(), "word {word}");
        }
    }

    #[test]
    fn bytes_of_incompressible_data_are_evenly_spread() {
        let mut counts = [0f64; 256];
        filled(MIB, Content::Incompressible, 3, 1 << 40)
            .iter()
            .for_each(|&byte| counts[usize::from(byte)] += 1.0);
        let expected = MIB as f64 / 256.0;
        let chi_squared: f64 =
            counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
        // 255 degrees of freedom: one in a million above 372, one in a million below 157.
        assert!((157.0..372.0).contains(&chi_squared), "{chi_squared}");
    }

    #[test]
    fn no_sector_is_ever_written_twice() {
        let mut seen = HashSet::new();
        for pass in 0..4 {
            for sector in filled(MIB, Content::Incompressible, pass, 0).chunks(SECTOR_BYTES) {
                assert!(seen.insert(sector.to_vec()));
            }
        }
    }

    #[test]
    fn every_instruction_set_makes_the_same_data() {
        let keys = Keys::new(42);
        let made_by = |dispatch: &dyn Fn(WriteSectors)| {
            let mut sectors = [[0; SECTOR_BYTES]; 5];
            dispatch(WriteSectors { keys, sectors: &mut sectors, pass: 7, first: 9 });
            sectors
        };
        let plain = made_by(&|op| op.call());
        assert_eq!(made_by(&|op| Arch::new().dispatch(op)), plain);
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(avx2) = pulp::x86::V3::try_new() {
                assert_eq!(made_by(&|op| avx2.vectorize(op)), plain);
            }
        }
    }

    proptest::proptest! {
        /// A range cut into buffers in any way gives the same bytes on the medium.
        #[test]
        fn data_depends_on_place_alone(
            content in proptest::sample::select(vec![
                Content::Zeros, Content::Byte(0x5a), Content::Repeated, Content::Incompressible, Content::Compressible(30), Content::Compressible(97),
            ]),
            first_sector in 0u64..20, cut in 0usize..40, rest_bytes in 0usize..20_000,
        ) {
            let offset = first_sector * 512;
            let whole = filled(cut * 512 + rest_bytes, content, 1, offset);
            let front = filled(cut * 512, content, 1, offset);
            let back = filled(rest_bytes, content, 1, offset + cut as u64 * 512);
            assert_eq!([front, back].concat(), whole);
        }
    }

    #[test]
    fn repeated_data_has_a_period_of_one_block_and_no_shorter_one() {
        let data = filled(4 * BLOCK_BYTES, Content::Repeated, 0, 0);
        assert_eq!(data[BLOCK_BYTES..], data[..3 * BLOCK_BYTES]);
        assert!(deflated_bytes(&data[..BLOCK_BYTES]) > BLOCK_BYTES);
        assert_eq!(
            filled(4 * BLOCK_BYTES, Content::Repeated, 5, 0),
            data,
            "the same in every pass"
        );
    }

    /// The format: what version 1 writes for (seed 42, pass 1, the sectors at 1 MiB). Later
    /// versions must verify media filled by earlier ones.
    #[test]
    fn known_answer() {
        let data = filled(2 * SECTOR_BYTES, Content::Incompressible, 1, 1 << 20);
        insta::assert_snapshot!(record::text::hex(&data[..32]), @"f8a1ab1efe214a0b61fd04f7ee5089e94ddf3a0c8592419de507f79e6792ba21");
        insta::assert_snapshot!(record::text::hex(&data[SECTOR_BYTES..SECTOR_BYTES + 32]), @"6958c4f4ffdf2e57dc7c89f3d47f3ec00d8275b77aa19dd166625461d6aa3937");
        insta::assert_snapshot!(record::text::hex(&data[SECTOR_BYTES - 8..SECTOR_BYTES]), @"ad30dcf3e27f4869");
        insta::assert_snapshot!(record::text::hex(&filled(16, Content::Repeated, 1, 1 << 20)), @"9d4dd3d45591808e3feb3d1e8802aa3a");
    }
}
