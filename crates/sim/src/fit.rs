//! Comparison of modelled with published figures (docs/field/ftl.md#profiles), checked by a test
//! and printed by `fit_table`.

use std::fmt::Write as _;

use device::{Device, Request, do_io};
use record::units::{Bytes, significant};
use record::{Direction, Pattern};

use crate::profile::Profile;
use crate::truth::{Length, RunningLoad, SteadyLoad};
use crate::{SimDevice, SimOptions};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const SPAN: u64 = 512 * MIB;

/// Measured quantity of a published figure, and its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A dd sweep's write at this block, in MB/s (docs/field/classic-tools.md#dd).
    Write(u64),
    /// A dd sweep's read at this block, in MB/s (docs/field/classic-tools.md#dd).
    Read(u64),
    /// Random reads at this block and depth in 512 MiB, IOPS.
    RandomRead(u64, u32),
    /// Random writes at this block and depth in 512 MiB, IOPS.
    RandomWrite(u64, u32),
    /// Random reads of 4 KiB in this percentage of the medium, IOPS.
    Seeks(u32),
    /// A write of this size, in turn over one allocation unit more than the medium keeps open, in
    /// ms (docs/field/allocation-units.md#flashbench,
    /// docs/field/published-figures.md#survey-of-microsd-cards).
    PastOpen(u64),
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let depth =
            |depth: u32| if depth == 1 { String::new() } else { format!(", depth {depth}") };
        match *self {
            Quantity::Write(block) => write!(f, "dd write {}, MB/s", Bytes(block)),
            Quantity::Read(block) => write!(f, "dd read {}, MB/s", Bytes(block)),
            Quantity::RandomRead(block, qd) => {
                write!(f, "random read {}{}, IOPS", Bytes(block), depth(qd))
            }
            Quantity::RandomWrite(block, qd) => {
                write!(f, "random write {}{}, IOPS", Bytes(block), depth(qd))
            }
            Quantity::Seeks(percent) => write!(f, "random read in {percent} %, IOPS"),
            Quantity::PastOpen(block) => write!(f, "{} past the open units, ms", Bytes(block)),
        }
    }
}

/// A published figure, the model's figure, and the claimed fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FitCheck {
    /// Name of the profile.
    pub profile: &'static str,
    /// Measured quantity, and its unit.
    pub quantity: Quantity,
    /// The published figure, in the unit of the quantity.
    pub published: f64,
    /// The model's figure, in the unit of the quantity.
    pub modelled: f64,
    /// Claimed limit of the difference, in percent of the published figure.
    pub claimed_percent: f64,
}

impl FitCheck {
    /// Difference of the model, in percent of the published figure.
    pub fn error_percent(&self) -> f64 {
        (self.modelled / self.published - 1.0) * 100.0
    }

    /// True if the model is as close as claimed.
    pub fn holds(&self) -> bool {
        self.error_percent().abs() <= self.claimed_percent
    }
}

use Quantity::{PastOpen, RandomRead, RandomWrite, Read, Seeks, Write};

const K4: u64 = 4 * KIB;
const K16: u64 = 16 * KIB;
const K64: u64 = 64 * KIB;

/// A published figure: quantity, value, and the claimed fit in percent.
type Row = (Quantity, f64, f64);

/// Published figures by profile, without media of the articles: a test of the program checks their
/// columns (`crates/flashmark/tests/it/models.rs`). Sources:
/// docs/field/published-figures.md#survey-of-microsd-cards,
/// docs/field/published-figures.md#other-figures. docs/field/ftl.md#profiles states the fits.
#[rustfmt::skip]
const PUBLISHED: &[(&str, &[Row])] = &[
    ("sd-class4", &[
        (Write(K4), 0.94, 10.0), (Write(K16), 2.8, 20.0), (Write(K64), 4.05, 15.0), (Write(MIB), 3.6, 5.0),
        (PastOpen(K4), 437.0, 5.0), (PastOpen(K64), 446.0, 5.0),
    ]),
    ("sd-worst", &[
        (Write(K4), 1.20, 5.0), (Write(K16), 3.7, 20.0), (Write(K64), 5.1, 10.0), (Write(MIB), 5.0, 5.0),
        (PastOpen(K4), 944.0, 6.0), (PastOpen(K64), 903.0, 5.0),
    ]),
    ("class10-bypass", &[
        (Write(K4), 1.54, 5.0), (Write(K16), 6.3, 10.0), (Write(K64), 8.9, 5.0), (Write(MIB), 10.1, 5.0), (Read(MIB), 24.4, 5.0),
        (PastOpen(K4), 21.3, 5.0), (PastOpen(K64), 489.0, 5.0), (RandomWrite(K16, 1), 2.1, 7.0),
    ]),
    ("a1", &[
        (Write(MIB), 59.0, 5.0), (Read(MIB), 66.0, 5.0), (RandomRead(KIB, 1), 3840.0, 5.0), (RandomRead(K4, 1), 3201.0, 5.0), (RandomRead(K16, 1), 2030.0, 5.0),
        (RandomWrite(KIB, 1), 826.0, 5.0), (RandomWrite(K4, 1), 1480.0, 5.0), (RandomWrite(K16, 1), 769.0, 5.0),
    ]),
    ("a2", &[(Read(MIB), 92.0, 5.0), (RandomRead(K4, 1), 3389.0, 5.0), (RandomWrite(K4, 1), 1033.0, 5.0)]),
    ("a2-cq", &[(RandomRead(K4, 8), 9048.0, 5.0), (RandomWrite(K4, 8), 2519.0, 5.0), (RandomRead(K4, 32), 9048.0, 5.0)]),
    ("emmc", &[
        (Write(MIB), 32.0, 5.0), (Read(MIB), 128.0, 5.0), (RandomRead(K4, 1), 5083.0, 5.0), (RandomRead(K16, 1), 3707.0, 10.0),
        (RandomWrite(KIB, 1), 1230.0, 5.0), (RandomWrite(K4, 1), 1943.0, 5.0), (RandomWrite(K16, 1), 981.0, 5.0),
    ]),
    ("ssd", &[
        (Write(MIB), 520.0, 5.0), (Read(MIB), 540.0, 5.0), (RandomRead(K4, 1), 10_000.0, 5.0), (RandomWrite(K4, 1), 40_000.0, 5.0),
        (RandomRead(K4, 32), 98_000.0, 5.0), (RandomWrite(K4, 32), 88_000.0, 5.0),
    ]),
    ("disk-5400", &[(Seeks(100), 57.0, 2.0), (Seeks(16), 90.0, 3.0)]),
    ("disk-10k", &[(Seeks(100), 130.0, 3.0), (Write(MIB), 65.0, 10.0)]),
];

/// Every published figure of docs/field/ftl.md#profiles, with the model's figure for this seed.
pub fn fits(seed: u64) -> Vec<FitCheck> {
    PUBLISHED
        .iter()
        .flat_map(|(name, rows)| {
            let profile = Profile::builtin(name)
                .expect("the table names profiles that come with the program");
            rows.iter().map(move |&(quantity, published, claimed_percent)| FitCheck {
                profile: name,
                quantity,
                published,
                modelled: modelled(profile, quantity, seed),
                claimed_percent,
            })
        })
        .collect()
}

/// The table of modelled and published figures, as Markdown.
pub fn fit_table() -> String {
    let mut table = String::from(
        "| profile | quantity | published | modelled | off by | claimed |\n|---|---|---:|---:|---:|---:|\n",
    );
    for fit in fits(SEED) {
        let (published, modelled) = (significant(fit.published), significant(fit.modelled));
        let (off, claimed) = (fit.error_percent(), fit.claimed_percent);
        writeln!(
            table,
            "| {} | {} | {published} | {modelled} | {off:+.1} % | {claimed} % |",
            fit.profile, fit.quantity
        )
        .expect("writing to memory does not fail");
    }
    table
}

/// Seed of the printed table.
const SEED: u64 = 5;

fn modelled(profile: &Profile, quantity: Quantity, seed: u64) -> f64 {
    let row = |direction, block: u64| {
        let work = SteadyLoad {
            direction,
            pattern: Pattern::Sequential,
            ..SteadyLoad::random_write(block, profile.capacity_bytes())
        };
        // As dd does, but long enough that the tail of the jitter averages out.
        let n = (SPAN / block).max(20_000);
        RunningLoad::new(profile, &work, seed).rate(Length::ios(n / 8), Length::ios(n))
            * block as f64
            / 1e6
    };
    let random = |direction, block, queue_depth, span| {
        let work = SteadyLoad { direction, queue_depth, ..SteadyLoad::random_write(block, span) };
        RunningLoad::new(profile, &work, seed).rate(Length::ios(20_000), Length::ios(100_000))
    };
    match quantity {
        Write(block) => row(Direction::Write, block),
        Read(block) => row(Direction::Read, block),
        RandomRead(block, depth) => random(Direction::Read, block, depth, SPAN),
        RandomWrite(block, depth) => random(Direction::Write, block, depth, SPAN),
        Seeks(percent) => {
            let work = SteadyLoad {
                offset_bytes: Some(0),
                ..SteadyLoad::random_read(K4, profile.capacity_bytes() * u64::from(percent) / 100)
            };
            RunningLoad::new(profile, &work, seed).rate(Length::ios(1000), Length::ios(100_000))
        }
        PastOpen(block) => past_open(profile, seed, block),
    }
}

/// Mean time of flashbench --open-au: in turn over one allocation unit more than the medium keeps
/// open, 12 apart, each in ascending order, from 16 MiB on.
fn past_open(profile: &Profile, seed: u64, block: u64) -> f64 {
    let ftl = profile
        .spec()
        .log_block
        .as_ref()
        .expect("only a medium that maps allocation units has open ones");
    let turns = u64::from(ftl.open_aus) + 1;
    let au = ftl.au.0;
    mean_ms(profile, seed, 2 * turns * (au / block), |i| {
        (16 * MIB + (i % turns) * 12 * au + (i / turns) * block % au, block)
    })
}

/// Mean time in ms of writes at these places, without the first third.
fn mean_ms(profile: &Profile, seed: u64, n: u64, place: impl Fn(u64) -> (u64, u64)) -> f64 {
    let mut device = SimDevice::new(profile, SimOptions { seed, capacity: None, keep_data: false });
    device.prepare(1, MIB as usize).expect("buffers in memory can be made");
    let mut begin_ns = 0;
    for i in 0..n {
        if i == n / 3 {
            begin_ns = device.now();
        }
        let (offset, bytes) = place(i);
        do_io(&mut device, Request::write(0, offset, bytes)).expect("the place lies on the medium");
    }
    (device.now() - begin_ns) as f64 / 1e6 / (n - n / 3) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_as_close_to_the_published_numbers_as_is_claimed() {
        for seed in [1, 2, SEED] {
            let misses: Vec<FitCheck> = fits(seed).into_iter().filter(|fit| !fit.holds()).collect();
            assert!(misses.is_empty(), "seed {seed}: {misses:#?}");
        }
    }
}
