//! The places that rrdtool 1.7 writes on a 64-bit machine (docs/field/rrdtool.md#rrdtool,
//! docs/field/rrdtool.md#test-vectors): the layout of a round-robin file, and what an update
//! changes in it. Which values stand there is of no matter for what the medium does, and is left
//! out.

/// One archive: so many rows, each of so many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Archive {
    pub steps: u64,
    pub rows: u64,
}

/// What all files of a poll have in common.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Data sources of a file.
    pub sources: u64,
    pub archives: Vec<Archive>,
    pub step_s: u64,
}

/// Cacti's archives: a day by five minutes, a fortnight by half-hours, two months by two hours, two
/// years by days.
pub(super) const CACTI: [(u64, u64); 4] = [(1, 600), (6, 700), (24, 775), (288, 797)];

const STAT_HEAD: u64 = 128;
const DS_DEF: u64 = 120;
const RRA_DEF: u64 = 120;
const LIVE_HEAD: u64 = 16;
const PDP_PREP: u64 = 112;
const CDP_PREP: u64 = 80;
const RRA_PTR: u64 = 8;
/// Bytes of a value.
pub(super) const VALUE: u64 = 8;

impl Shape {
    /// A file as Cacti makes it, with so many sources: each archive once for averages and once for
    /// maxima.
    pub fn cacti(sources: u64) -> Shape {
        let archives = CACTI.map(|(steps, rows)| Archive { steps, rows });
        Shape { sources, archives: [archives, archives].concat(), step_s: 300 }
    }

    /// Where the part that every update writes begins: live head, then preparation of sources, of
    /// rows, row pointers.
    pub fn live_offset(&self) -> u64 {
        STAT_HEAD + DS_DEF * self.sources + RRA_DEF * self.archives.len() as u64
    }

    /// Lengths of the four pieces of that part, in their order.
    pub fn live_pieces(&self) -> [u64; 4] {
        let (sources, archives) = (self.sources, self.archives.len() as u64);
        [LIVE_HEAD, PDP_PREP * sources, CDP_PREP * sources * archives, RRA_PTR * archives]
    }

    /// Bytes before the first row.
    pub fn header_bytes(&self) -> u64 {
        self.live_offset() + self.live_pieces().iter().sum::<u64>()
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> u64 {
        VALUE * self.sources
    }

    /// Where an archive's rows begin.
    pub fn archive_offset(&self, archive: usize) -> u64 {
        let before: u64 = self.archives[..archive].iter().map(|archive| archive.rows).sum();
        self.header_bytes() + before * self.row_bytes()
    }

    /// Bytes of a file.
    pub fn file_bytes(&self) -> u64 {
        self.archive_offset(self.archives.len())
    }

    /// Room of a file where all lie one after the other.
    pub fn slot_bytes(&self) -> u64 {
        self.file_bytes().next_multiple_of(super::PAGE_BYTES)
    }
}

/// The row that each archive of a file wrote last.
#[derive(Clone, Debug)]
pub(super) struct CurrentRows(Vec<u64>);

impl CurrentRows {
    /// A new file's: each archive at a row of its own (rrdtool draws them, so that files do not all
    /// turn over at once).
    pub fn drawn(shape: &Shape, draw: impl FnMut(u64) -> u64) -> CurrentRows {
        CurrentRows(shape.archives.iter().map(|archive| archive.rows).map(draw).collect())
    }

    /// Takes the reading of a poll, which ends a step; the bytes at which the rows that become due
    /// begin.
    pub fn update(&mut self, shape: &Shape, at_s: u64) -> Vec<u64> {
        let step = at_s / shape.step_s;
        let archives = shape.archives.iter().zip(&mut self.0).enumerate();
        let due = archives.filter(|(_, (archive, _))| step.is_multiple_of(archive.steps));
        due.map(|(number, (archive, current))| {
            *current = (*current + 1) % archive.rows;
            shape.archive_offset(number) + *current * shape.row_bytes()
        })
        .collect()
    }
}
