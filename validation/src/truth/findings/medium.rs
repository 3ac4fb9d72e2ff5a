//! Random media, over the ranges of docs/field/ftl.md#translation-layers, and the truth about them.

use std::fmt::Write as _;

use record::units::{GIB, KIB, MIB};

use super::dice::Dice;

/// A random medium with all values of its profile.
#[derive(Clone, Debug)]
pub struct Medium {
    /// Size that it announces, in bytes.
    pub capacity_bytes: u64,
    /// Largest command in bytes, if there is a limit.
    pub max_transfer_bytes: Option<u64>,
    /// Reads and writes, if it is flash.
    pub paths: Option<Paths>,
    /// Mapping of addresses to flash; for a disk, its table.
    pub mapping: Mapping,
    /// Standard deviation of the logarithm of service times.
    pub sigma: f64,
    /// Share of slow I/Os, and the factor of the longest of them.
    pub tail: (f64, f64),
    /// Text of further tables of the profile.
    pub tables: String,
}

/// Costs of reads and writes of flash; times in microseconds, rates in MB/s.
#[derive(Clone, Debug)]
pub struct Paths {
    /// Time of a read command without its data.
    pub read_us: f64,
    /// Streaming rate of reads.
    pub read_mbps: f64,
    /// Additional time of a read that does not continue the one before.
    pub random_us: f64,
    /// Additional time of a read that straddles two units.
    pub cross_unit_us: f64,
    /// Additional time of a read that straddles two allocation units.
    pub cross_au_us: f64,
    /// Time of a write command without its data.
    pub write_us: f64,
    /// Streaming rate of writes.
    pub write_mbps: f64,
    /// Bytes that are programmed together.
    pub unit_bytes: u64,
    /// Additional time of a write that is not of whole units.
    pub partial_us: f64,
    /// True if a command programs whole units.
    pub whole_units: bool,
}

/// Kind of mapping.
#[derive(Clone, Debug)]
pub enum Mapping {
    /// Whole allocation units, of which a few are open.
    LogBlock(LogBlock),
    /// Pages, each of which can be anywhere; needs garbage collection.
    Pages {
        /// Garbage collection of a random write, in microseconds.
        gc_us: f64,
        /// Garbage collection of each KiB of it, in microseconds.
        gc_per_kib_us: f64,
        /// Amount of garbage collection that is delayed and then done at once, in microseconds.
        gc_burst_us: f64,
        /// Text of further keys: caches before the flash.
        caches: String,
    },
    /// A hard disk; the text of its table.
    Disk(String),
}

/// A controller that maps whole allocation units.
#[derive(Clone, Debug)]
pub struct LogBlock {
    /// Size of an AU, in bytes.
    pub au_bytes: u64,
    /// Number of AUs that it keeps open.
    pub open_aus: u64,
    /// Rate of a merge, in MB/s.
    pub copy_mbps: f64,
    /// Time that erasing an AU takes, in microseconds.
    pub erase_us: f64,
    /// Number of merges when the log of a unit is full.
    pub log_merges: f64,
    /// True if writes that continue each other share a page buffer.
    pub page_buffer: bool,
    /// Text of further keys: bypass, front.
    pub keys: String,
}

/// 2^k and 3*2^k from 1 to 16 MiB (docs/field/allocation-units.md#known-sizes).
const AUS: [u64; 9] =
    [MIB, 3 * MIB / 2, 2 * MIB, 3 * MIB, 4 * MIB, 6 * MIB, 8 * MIB, 12 * MIB, 16 * MIB];

impl Medium {
    /// Draws a cheap card or stick: docs/field/published-figures.md#survey-of-microsd-cards
    /// (families), docs/field/ftl.md#model, docs/field/ftl.md#profiles.
    pub fn hybrid(dice: &mut Dice) -> Medium {
        let au_bytes = dice.one_of(&AUS);
        let write_mbps = dice.spread(3.0, 40.0);
        let mapping = LogBlock {
            au_bytes,
            open_aus: dice.bits() % 15 + 1,
            copy_mbps: dice.spread(4.4, 47.0),
            erase_us: dice.between(2000.0, 5000.0),
            log_merges: dice.one_of(&[1.0, 1.0, 2.0]),
            page_buffer: dice.happens(0.75),
            keys: String::new(),
        };
        let paths = Paths {
            read_us: dice.spread(130.0, 1600.0),
            read_mbps: dice.between(write_mbps.max(10.0), 95.0),
            random_us: if dice.happens(0.3) { dice.between(0.0, 400.0) } else { 0.0 },
            // docs/field/published-figures.md#survey-of-microsd-cards: across pages 10 to 280 us,
            // across allocation units 70 to 450 us.
            cross_unit_us: dice.spread(10.0, 280.0),
            cross_au_us: dice.spread(70.0, 450.0),
            write_us: dice.spread(140.0, 1000.0),
            write_mbps,
            unit_bytes: dice.one_of(&[4, 8, 16, 16, 16, 32, 64]) * KIB,
            partial_us: if dice.happens(0.7) { dice.between(100.0, 2300.0) } else { 0.0 },
            whole_units: dice.happens(0.25),
        };
        let capacity = dice.one_of(&[4, 8, 8, 16, 16, 32, 64]) * GIB;
        Medium::with(capacity / au_bytes * au_bytes, paths, Mapping::LogBlock(mapping), dice)
    }

    /// Draws a better card, eMMC, stick or solid state disk:
    /// docs/field/published-figures.md#other-figures, docs/field/ftl.md#profiles.
    pub fn mapped(dice: &mut Dice) -> Medium {
        let write_mbps = dice.spread(8.0, 530.0);
        let paths = Paths {
            read_us: dice.spread(90.0, 600.0),
            read_mbps: dice.between(1.0, 3.0) * write_mbps,
            random_us: if dice.happens(0.2) { dice.between(0.0, 300.0) } else { 0.0 },
            cross_unit_us: dice.one_of(&[0.0, 20.0, 30.0, 60.0, 120.0]),
            cross_au_us: 0.0,
            write_us: dice.spread(17.0, 300.0),
            write_mbps,
            unit_bytes: dice.one_of(&[4, 4, 8, 16]) * KIB,
            partial_us: if dice.happens(0.7) { dice.between(50.0, 700.0) } else { 0.0 },
            whole_units: dice.happens(0.25),
        };
        let mapping = Mapping::Pages {
            gc_us: if dice.happens(0.8) { dice.spread(50.0, 5000.0) } else { 0.0 },
            gc_per_kib_us: dice.one_of(&[0.0, 10.0, 35.0, 60.0]),
            gc_burst_us: if dice.happens(0.6) { dice.spread(1000.0, 25_000.0) } else { 0.0 },
            caches: String::new(),
        };
        let capacity = dice.one_of(&[8, 16, 32, 64, 128, 256]) * GIB;
        Medium::with(capacity, paths, mapping, dice)
    }

    /// Draws a disk: docs/field/ftl.md#model, docs/field/ftl.md#profiles.
    pub fn disk(dice: &mut Dice) -> Medium {
        let outer = dice.between(60.0, 180.0);
        let table = format!(
            "[disk]\ncommand = \"0.15 ms\"\nseek_shortest = \"{:.3} ms\"\nseek_stroke = \"{:.3} ms\"\nrpm = {}\nrate_outer = \"{outer:.2} MB/s\"\nrate_inner = \"{:.2} MB/s\"\n",
            dice.between(0.5, 1.2),
            dice.between(7.0, 22.0),
            dice.one_of(&[5400, 7200, 10_000]),
            outer * dice.between(0.5, 0.75),
        );
        let mut disk = Medium::with(
            dice.one_of(&[80, 250, 500]) * GIB,
            Paths::NONE,
            Mapping::Disk(table),
            dice,
        );
        (disk.paths, disk.max_transfer_bytes) = (None, None);
        disk
    }

    /// Adds an honest write cache in one of five cases.
    pub fn cached(mut self, dice: &mut Dice) -> Medium {
        let rate =
            self.paths.as_ref().map_or(1.0, |paths| paths.write_mbps) * dice.between(1.5, 4.0);
        let (command, mib) = (dice.between(50.0, 200.0), dice.one_of(&[1, 4, 8, 16, 32, 64]));
        if dice.happens(0.2) {
            self.tables += &format!(
                "[cache]\nsize = \"{mib} MiB\"\nrate = \"{rate:.3} MB/s\"\ncommand = \"{command:.3} us\"\nhonest = true\n"
            );
        }
        self
    }

    fn with(capacity_bytes: u64, paths: Paths, mapping: Mapping, dice: &mut Dice) -> Medium {
        Medium {
            capacity_bytes,
            // The links of docs/field/classic-tools.md#dd: USB's 120 KiB, ATA's 128 KiB.
            max_transfer_bytes: dice.one_of(&[
                None,
                None,
                None,
                Some(120 * KIB),
                Some(128 * KIB),
                Some(512 * KIB),
            ]),
            paths: Some(paths),
            mapping,
            // docs/field/ftl.md#profiles, "Jitter".
            sigma: dice.between(0.05, 0.15),
            tail: (dice.one_of(&[0.0, 0.005, 0.005]), dice.between(3.0, 10.0)),
            tables: String::new(),
        }
    }

    /// Mapping of whole units, if it has that.
    pub fn log_block(&self) -> Option<&LogBlock> {
        if let Mapping::LogBlock(mapping) = &self.mapping { Some(mapping) } else { None }
    }

    /// Mapping of whole units, to be changed.
    pub fn log_block_mut(&mut self) -> Option<&mut LogBlock> {
        if let Mapping::LogBlock(mapping) = &mut self.mapping { Some(mapping) } else { None }
    }

    /// True if it is a disk.
    pub fn rotational(&self) -> bool {
        matches!(self.mapping, Mapping::Disk(_))
    }

    /// Time of a write of `bytes` sequential bytes without the costs of the mapping, in
    /// microseconds.
    pub fn row_us(&self, bytes: u64) -> f64 {
        self.paths.as_ref().map_or(0.0, |paths| {
            let units =
                if paths.whole_units { bytes.next_multiple_of(paths.unit_bytes) } else { bytes };
            paths.write_us + units as f64 / paths.write_mbps
        })
    }

    /// Long-run time of a random write of `bytes` bytes, in microseconds.
    pub fn random_us(&self, bytes: u64) -> f64 {
        let own = match &self.mapping {
            Mapping::LogBlock(mapping) => mapping.merge_us(),
            Mapping::Pages { gc_us, gc_per_kib_us, .. } => {
                gc_us + gc_per_kib_us * bytes as f64 / KIB as f64
            }
            Mapping::Disk(_) => 0.0,
        };
        let paths = self.paths.as_ref();
        own + self.row_us(bytes)
            + paths
                .filter(|paths| !bytes.is_multiple_of(paths.unit_bytes))
                .map_or(0.0, |paths| paths.partial_us)
    }

    /// Allocation unit in bytes, and true if reads can show it: a read across two of them takes 25
    /// us and a quarter more than one across two pages, and half the spread of a single read more.
    pub fn au_shown_by_reads(&self) -> Option<(u64, bool)> {
        let (mapping, paths) = self.log_block().zip(self.paths.as_ref())?;
        let step_us = paths.cross_au_us - paths.cross_unit_us;
        let spread_us = self.sigma * (paths.read_us + paths.random_us);
        Some((
            mapping.au_bytes,
            step_us >= 25.0 && step_us >= 0.25 * paths.cross_unit_us && step_us >= 0.5 * spread_us,
        ))
    }

    /// Number of open units, and true if writes can show them: closing one takes six times as long
    /// as a write of 64 KiB.
    pub fn open_aus_shown_by_writes(&self) -> Option<(u64, bool)> {
        let mapping = self.log_block()?;
        Some((mapping.open_aus, mapping.merge_us() >= 6.0 * self.row_us(64 * KIB)))
    }

    /// Text of its profile.
    pub fn profile(&self) -> String {
        let mut text = format!(
            "about = \"drawn\"\nsource = \"docs/field/ftl.md#translation-layers\"\nguesses = \"all\"\n[medium]\ncapacity = \"{} B\"\n",
            self.capacity_bytes
        );
        if let Some(bytes) = self.max_transfer_bytes {
            writeln!(text, "max_transfer = \"{bytes} B\"").ok();
        }
        text += &self.paths.as_ref().map(Paths::tables).unwrap_or_default();
        text += &match &self.mapping {
            Mapping::LogBlock(mapping) => mapping.table(),
            Mapping::Pages { gc_us, gc_per_kib_us, gc_burst_us, caches } => format!(
                "[page_mapped]\ngc = \"{gc_us:.3} us\"\ngc_per_kib = \"{gc_per_kib_us:.3} us\"\ngc_burst = \"{gc_burst_us:.3} us\"\n{caches}"
            ),
            Mapping::Disk(table) => table.clone(),
        };
        text += &self.tables;
        text + &format!(
            "[jitter]\nsigma = {:.4}\ntail_share = {}\ntail_factor = {:.3}\n",
            self.sigma, self.tail.0, self.tail.1
        )
    }
}

impl Paths {
    /// Costs of a medium that is not flash.
    const NONE: Paths = Paths {
        read_us: 0.0,
        read_mbps: 1.0,
        random_us: 0.0,
        cross_unit_us: 0.0,
        cross_au_us: 0.0,
        write_us: 0.0,
        write_mbps: 1.0,
        unit_bytes: 4 * KIB,
        partial_us: 0.0,
        whole_units: false,
    };

    fn tables(&self) -> String {
        format!(
            "[read]\ncommand = \"{:.3} us\"\nrate = \"{:.3} MB/s\"\nrandom = \"{:.3} us\"\ncross_unit = \"{:.3} us\"\ncross_au = \"{:.3} us\"\n\
             [write]\ncommand = \"{:.3} us\"\nrate = \"{:.3} MB/s\"\nunit = \"{} B\"\npartial = \"{:.3} us\"\nwhole_units = {}\n",
            self.read_us,
            self.read_mbps,
            self.random_us,
            self.cross_unit_us,
            self.cross_au_us,
            self.write_us,
            self.write_mbps,
            self.unit_bytes,
            self.partial_us,
            self.whole_units,
        )
    }
}

impl LogBlock {
    /// Time of closing a unit to which little was written, in microseconds.
    pub fn merge_us(&self) -> f64 {
        self.au_bytes as f64 / self.copy_mbps + self.erase_us
    }

    fn table(&self) -> String {
        format!(
            "[log_block]\nau = \"{} B\"\nopen_aus = {}\ncopy_rate = \"{:.3} MB/s\"\nerase = \"{:.3} us\"\nlog_merges = {:.3}\npage_buffer = {}\n{}",
            self.au_bytes,
            self.open_aus,
            self.copy_mbps,
            self.erase_us,
            self.log_merges,
            self.page_buffer,
            self.keys
        )
    }
}
