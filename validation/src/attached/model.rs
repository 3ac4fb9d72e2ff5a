//! Response of the model to the requests of a tool, in virtual time.

use anyhow::{Context, Result};
use device::{Completion, Device, Op, Request};
use sim::{Profile, SimDevice, SimOptions};

use super::SEED;

/// Longest request that reaches an attached medium in one piece, in bytes; the kernel splits longer
/// ones.
const LONGEST_BYTES: u64 = 1 << 20;

/// One request of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    pub op: Op,
    pub offset_bytes: u64,
    pub bytes: u64,
}

/// A fresh medium in virtual time.
pub struct Model(SimDevice);

impl Model {
    pub fn new(profile: &str) -> Result<Model> {
        Profile::builtin(profile)
            .map(Model::of)
            .with_context(|| format!("there is no profile {profile}"))
    }

    pub fn of(profile: &Profile) -> Model {
        Model(SimDevice::new(profile, SimOptions { seed: SEED, capacity: None, keep_data: false }))
    }

    pub fn capacity_bytes(&self) -> u64 {
        self.0.facts().capacity_bytes
    }

    /// Latencies of these requests with `depth` in flight, in order of completion, and the time of
    /// all together, in nanoseconds.
    pub fn replay(&mut self, asks: &[Ask], depth: usize) -> Result<(Vec<u64>, u64)> {
        let begun = self.0.now();
        self.0.prepare(depth as u32, LONGEST_BYTES as usize)?;
        let (mut latencies, mut done): (Vec<u64>, Vec<Completion>) = (Vec::new(), Vec::new());
        let mut rest = asks.iter();
        for (slot, ask) in rest.by_ref().take(depth).enumerate() {
            self.submit(slot as u32, ask)?;
        }
        loop {
            self.0.reap(1, &mut done)?;
            if done.is_empty() {
                return Ok((latencies, self.0.now() - begun));
            }
            for completion in done.drain(..) {
                completion.result.clone()?;
                latencies.push(completion.latency_ns());
                if let Some(ask) = rest.next() {
                    self.submit(completion.slot, ask)?;
                }
            }
        }
    }

    fn submit(&mut self, slot: u32, ask: &Ask) -> Result<()> {
        Ok(self
            .0
            .submit(Request { op: ask.op, ..Request::read(slot, ask.offset_bytes, ask.bytes) })?)
    }

    /// Time of one request that the kernel splits, in nanoseconds.
    fn one(&mut self, ask: Ask) -> Result<u64> {
        let pieces = (0..ask.bytes.div_ceil(LONGEST_BYTES)).map(|i| Ask {
            offset_bytes: ask.offset_bytes + i * LONGEST_BYTES,
            bytes: (ask.bytes - i * LONGEST_BYTES).min(LONGEST_BYTES),
            ..ask
        });
        Ok(self.replay(&pieces.collect::<Vec<_>>(), 1)?.1)
    }

    /// flashbench -a (docs/field/allocation-units.md#flashbench): mean over positions of the
    /// fastest of 8 reads before, across and after multiples of each alignment that is not below
    /// `least`, in nanoseconds.
    pub fn boundaries(&mut self, block_bytes: u64, least: u64) -> Result<[f64; 3]> {
        const TRIES: usize = 8;
        const POSITIONS: u64 = 7;
        let largest = largest_alignment(self.capacity_bytes(), block_bytes);
        let alignments: Vec<u64> = std::iter::successors(Some(largest), |align| Some(align / 2))
            .take_while(|align| *align >= least.max(2 * block_bytes))
            .collect();
        let mut sums = [0.0; 3];
        for align in &alignments {
            let mut fastest = [[u64::MAX; 3]; POSITIONS as usize];
            for _ in 0..TRIES {
                for (position, fastest) in fastest.iter_mut().enumerate() {
                    let boundary = position as u64 * largest + align;
                    for (i, offset_bytes) in
                        [boundary - block_bytes, boundary - block_bytes / 2, boundary]
                            .into_iter()
                            .enumerate()
                    {
                        fastest[i] = fastest[i].min(self.one(Ask {
                            op: Op::Read,
                            offset_bytes,
                            bytes: block_bytes,
                        })?);
                    }
                }
            }
            for position in fastest {
                (0..3).for_each(|i| sums[i] += position[i] as f64);
            }
        }
        Ok(sums.map(|sum| sum / (alignments.len() as u64 * POSITIONS) as f64))
    }

    /// flashbench --open-au (docs/field/allocation-units.md#flashbench): bytes a second of writes
    /// of `length` in turn over `aus` units, every unit filled once.
    pub fn open_aus(&mut self, aus: u64, au_bytes: u64, length: u64) -> Result<f64> {
        let start = (16 << 20_u64).max(au_bytes);
        let mut ns = 0;
        for inside in (0..au_bytes).step_by(length as usize) {
            for au in 0..aus {
                ns += self.one(Ask {
                    op: Op::Write,
                    offset_bytes: start + au * 12 * au_bytes + inside,
                    bytes: length,
                })?;
            }
        }
        Ok((aus * au_bytes) as f64 * 1e9 / ns as f64)
    }
}

/// flashbench's largest alignment: doubled from two blocks while seven of it fit.
fn largest_alignment(capacity_bytes: u64, block_bytes: u64) -> u64 {
    let mut align = 2 * block_bytes;
    while align < capacity_bytes / 7 {
        align *= 2;
    }
    if align > capacity_bytes / 7 { align / 2 } else { align }
}
