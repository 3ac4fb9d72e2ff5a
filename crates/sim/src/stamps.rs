//! Contents of sectors whose data nobody looks at yet: how it is made, in place of the data.

use device::content::DataGenerator;
use record::Content;

const SECTOR_BYTES: u64 = device::SECTOR_BYTES as u64;
/// Sectors of a leaf; a leaf covers 1 MiB.
const LEAF_SECTORS: u64 = 2048;
/// In place of a pass: the data of the sector is in memory.
const IN_MEMORY: u32 = u32::MAX;

/// The passes of the sectors of a MiB.
#[derive(Clone)]
enum Leaf {
    /// All of them have this one.
    Whole(u32),
    Sectors(Box<[u32; LEAF_SECTORS as usize]>),
}

/// The passes in which sectors were written with data of a generator that nobody needed.
pub(crate) struct Stamps {
    leaves: Vec<Leaf>,
    generator: DataGenerator,
}

impl Stamps {
    /// A medium of this size without stamps. `generator` makes the data.
    pub(crate) fn new(capacity_bytes: u64, generator: DataGenerator) -> Stamps {
        let leaves = capacity_bytes.div_ceil(SECTOR_BYTES * LEAF_SECTORS);
        Stamps { leaves: vec![Leaf::Whole(IN_MEMORY); leaves as usize], generator }
    }

    /// Notes that a range of bytes was written in this pass; `None` if its data is in memory.
    pub(crate) fn set(&mut self, offset_bytes: u64, bytes: u64, pass: Option<u32>) {
        let is_whole = (offset_bytes | bytes).is_multiple_of(SECTOR_BYTES);
        let pass = pass.filter(|_| is_whole).unwrap_or(IN_MEMORY);
        let end = (offset_bytes + bytes).div_ceil(SECTOR_BYTES);
        let mut at = offset_bytes / SECTOR_BYTES;
        while at < end {
            let leaf = &mut self.leaves[(at / LEAF_SECTORS) as usize];
            let (first, stop) =
                (at % LEAF_SECTORS, end.min((at / LEAF_SECTORS + 1) * LEAF_SECTORS));
            let last = first + (stop - at);
            match leaf {
                Leaf::Whole(all) if *all == pass => {}
                leaf if last - first == LEAF_SECTORS => *leaf = Leaf::Whole(pass),
                Leaf::Sectors(sectors) => sectors[first as usize..last as usize].fill(pass),
                Leaf::Whole(all) => {
                    let mut sectors = Box::new([*all; LEAF_SECTORS as usize]);
                    sectors[first as usize..last as usize].fill(pass);
                    *leaf = Leaf::Sectors(sectors);
                }
            }
            at = stop;
        }
    }

    /// Makes the data of the sectors that have a pass, in what was read from memory.
    pub(crate) fn read(&self, offset_bytes: u64, into: &mut [u8]) {
        let end = offset_bytes + into.len() as u64;
        for sector in offset_bytes / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES) {
            let pass = match &self.leaves[(sector / LEAF_SECTORS) as usize] {
                Leaf::Whole(all) => *all,
                Leaf::Sectors(sectors) => sectors[(sector % LEAF_SECTORS) as usize],
            };
            if pass == IN_MEMORY {
                continue;
            }
            let (at, mut data) = (sector * SECTOR_BYTES, [0; SECTOR_BYTES as usize]);
            self.generator.fill(&mut data, Content::Incompressible, pass, at);
            let (from, to) = (at.max(offset_bytes), (at + SECTOR_BYTES).min(end));
            into[(from - offset_bytes) as usize..(to - offset_bytes) as usize]
                .copy_from_slice(&data[(from - at) as usize..(to - at) as usize]);
        }
    }
}
