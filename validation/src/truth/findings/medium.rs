//! Random media, over the ranges of docs/field/ftl.md#translation-layers, and the truth about them.

use std::collections::BTreeMap;

use record::units::{GIB, KIB, MIB};
use sim::Profile;
use sim::profile::spec::{LogBlock, Spec};

use super::dice::Dice;

/// A random medium: the keys of its profile and their values, table by table.
#[derive(Clone, Debug, Default)]
pub struct Medium(BTreeMap<&'static str, BTreeMap<&'static str, String>>);

/// 2^k and 3*2^k from 1 to 16 MiB (docs/field/allocation-units.md#known-sizes).
const AUS: [u64; 9] =
    [MIB, 3 * MIB / 2, 2 * MIB, 3 * MIB, 4 * MIB, 6 * MIB, 8 * MIB, 12 * MIB, 16 * MIB];
/// Allocation units that are not a power of two, in halves of a MiB.
const ODD_UNITS: [u64; 10] = [3, 5, 6, 7, 9, 10, 12, 14, 24, 48];
/// Longest time for which a known card copies a unit, in seconds
/// (docs/field/allocation-units.md#open-units: 0.05 to 1.3 s).
const LONGEST_MERGE_S: f64 = 1.3;
const DRAWS: usize = 100;
/// Rate of a disk, in bytes a second.
const DISK_BPS: f64 = 100e6;

/// Value of a key that is a size in bytes.
pub fn size(bytes: u64) -> String {
    format!("\"{bytes} B\"")
}

/// Value of a key that is a time in microseconds.
pub fn us(time: f64) -> String {
    format!("\"{time:.3} us\"")
}

/// Value of a key that is a rate in MB/s.
pub fn mbps(rate: f64) -> String {
    format!("\"{rate:.3} MB/s\"")
}

impl Medium {
    /// Draws a cheap card or stick: docs/field/published-figures.md#survey-of-microsd-cards
    /// (families), docs/field/ftl.md#model, docs/field/ftl.md#profiles.
    pub fn hybrid(dice: &mut Dice) -> Medium {
        let au_bytes = dice.one_of(&AUS);
        let write_mbps = dice.spread(3.0, 40.0);
        let mapping = [
            ("au", size(au_bytes)),
            ("open_aus", (dice.bits() % 15 + 1).to_string()),
            ("copy_rate", mbps(dice.spread(4.4, 47.0))),
            ("erase", us(dice.between(2000.0, 5000.0))),
            ("log_merges", dice.one_of(&["1.0", "1.0", "2.0"]).to_owned()),
            ("page_buffer", dice.happens(0.75).to_string()),
        ];
        let read = [
            ("command", us(dice.spread(130.0, 1600.0))),
            ("rate", mbps(dice.between(write_mbps.max(10.0), 95.0))),
            ("random", us(if dice.happens(0.3) { dice.between(0.0, 400.0) } else { 0.0 })),
            // docs/field/published-figures.md#survey-of-microsd-cards: across pages 10 to 280 us,
            // across allocation units 70 to 450 us.
            ("cross_unit", us(dice.spread(10.0, 280.0))),
            ("cross_au", us(dice.spread(70.0, 450.0))),
        ];
        let write = [
            ("command", us(dice.spread(140.0, 1000.0))),
            ("rate", mbps(write_mbps)),
            ("unit", size(dice.one_of(&[4, 8, 16, 16, 16, 32, 64]) * KIB)),
            ("partial", us(if dice.happens(0.7) { dice.between(100.0, 2300.0) } else { 0.0 })),
            ("whole_units", dice.happens(0.25).to_string()),
        ];
        let capacity = dice.one_of(&[4, 8, 8, 16, 16, 32, 64]) * GIB;
        let mut medium = Medium::flash(capacity / au_bytes * au_bytes, dice);
        medium.set("log_block", mapping);
        medium.set("read", read);
        medium.set("write", write);
        medium
    }

    /// Draws a better card, eMMC, stick or solid state disk:
    /// docs/field/published-figures.md#other-figures, docs/field/ftl.md#profiles.
    pub fn mapped(dice: &mut Dice) -> Medium {
        let write_mbps = dice.spread(8.0, 530.0);
        let read = [
            ("command", us(dice.spread(90.0, 600.0))),
            ("rate", mbps(dice.between(1.0, 3.0) * write_mbps)),
            ("random", us(if dice.happens(0.2) { dice.between(0.0, 300.0) } else { 0.0 })),
            ("cross_unit", us(dice.one_of(&[0.0, 20.0, 30.0, 60.0, 120.0]))),
        ];
        let write = [
            ("command", us(dice.spread(17.0, 300.0))),
            ("rate", mbps(write_mbps)),
            ("unit", size(dice.one_of(&[4, 4, 8, 16]) * KIB)),
            ("partial", us(if dice.happens(0.7) { dice.between(50.0, 700.0) } else { 0.0 })),
            ("whole_units", dice.happens(0.25).to_string()),
        ];
        let mapping = [
            ("gc", us(if dice.happens(0.8) { dice.spread(50.0, 5000.0) } else { 0.0 })),
            ("gc_per_kib", us(dice.one_of(&[0.0, 10.0, 35.0, 60.0]))),
            ("gc_burst", us(if dice.happens(0.6) { dice.spread(1000.0, 25_000.0) } else { 0.0 })),
        ];
        let mut medium = Medium::flash(dice.one_of(&[8, 16, 32, 64, 128, 256]) * GIB, dice);
        medium.set("page_mapped", mapping);
        medium.set("read", read);
        medium.set("write", write);
        medium
    }

    /// Draws a disk: docs/field/ftl.md#model, docs/field/ftl.md#profiles.
    pub fn disk(dice: &mut Dice) -> Medium {
        let outer = dice.between(60.0, 180.0);
        let disk = [
            ("command", us(150.0)),
            ("seek_shortest", us(1000.0 * dice.between(0.5, 1.2))),
            ("seek_stroke", us(1000.0 * dice.between(7.0, 22.0))),
            ("rpm", dice.one_of(&[5400, 7200, 10_000]).to_string()),
            ("rate_outer", mbps(outer)),
            ("rate_inner", mbps(outer * dice.between(0.5, 0.75))),
        ];
        let mut medium = Medium::of(dice.one_of(&[80, 250, 500]) * GIB, dice);
        medium.set("disk", disk);
        medium
    }

    /// Draws a clean medium with any allocation unit: half of them map whole units, none of which
    /// is a power of two; one in twenty is a disk.
    pub fn of_any_unit(number: u64, dice: &mut Dice) -> Medium {
        match number % 20 {
            0 => Medium::disk(dice),
            kind if kind % 2 == 1 => Medium::hybrid(dice).with_odd_unit(dice),
            _ => Medium::mapped(dice),
        }
    }

    fn with_odd_unit(mut self, dice: &mut Dice) -> Medium {
        let spec = self.spec();
        let Some(mapping) = spec.log_block else { return self };
        let drawn = std::iter::repeat_with(|| dice.one_of(&ODD_UNITS) * MIB / 2);
        let longest_bytes = LONGEST_MERGE_S * mapping.copy_rate.0;
        let fits = |bytes: &u64| *bytes as f64 <= longest_bytes;
        let bytes = drawn.take(DRAWS).find(fits).unwrap_or(mapping.au.0);
        self.set("log_block", [("au", size(bytes))]);
        self.set("medium", [("capacity", size(spec.medium.capacity.0 / bytes * bytes))]);
        self
    }

    /// Adds an honest write cache in one of five cases.
    pub fn cached(mut self, dice: &mut Dice) -> Medium {
        let rate = mbps(self.write_bps() / 1e6 * dice.between(1.5, 4.0));
        let command = us(dice.between(50.0, 200.0));
        let bytes = size(dice.one_of(&[1, 4, 8, 16, 32, 64]) * MIB);
        if dice.happens(0.2) {
            let honest = ("honest", true.to_string());
            self.set("cache", [("size", bytes), ("rate", rate), ("command", command), honest]);
        }
        self
    }

    /// A medium of this size without a model.
    fn of(capacity_bytes: u64, dice: &mut Dice) -> Medium {
        let mut medium = Medium::default();
        medium.set("medium", [("capacity", size(capacity_bytes))]);
        // docs/field/ftl.md#profiles, "Jitter".
        medium.set(
            "jitter",
            [
                ("sigma", format!("{:.4}", dice.between(0.05, 0.15))),
                ("tail_share", dice.one_of(&["0.0", "0.005", "0.005"]).to_owned()),
                ("tail_factor", format!("{:.3}", dice.between(3.0, 10.0))),
            ],
        );
        medium
    }

    /// The same behind one of the links of docs/field/classic-tools.md#dd: USB's 120 KiB, ATA's 128
    /// KiB.
    fn flash(capacity_bytes: u64, dice: &mut Dice) -> Medium {
        let largest = dice.one_of(&[None, None, None, Some(120), Some(128), Some(512)]);
        let mut medium = Medium::of(capacity_bytes, dice);
        medium.set("medium", largest.map(|kib: u64| ("max_transfer", size(kib * KIB))));
        medium
    }

    /// Sets keys of a table to values as in TOML.
    pub fn set(
        &mut self,
        table: &'static str,
        keys: impl IntoIterator<Item = (&'static str, String)>,
    ) {
        self.0.entry(table).or_default().extend(keys);
    }

    /// Text of its profile.
    pub fn profile(&self) -> String {
        let mut text =
            "about = \"drawn\"\nsource = \"docs/field/ftl.md#translation-layers\"\nguesses = \"all\"\n".to_owned();
        for (table, keys) in &self.0 {
            text += &format!("[{table}]\n");
            keys.iter().for_each(|(key, value)| text += &format!("{key} = {value}\n"));
        }
        text
    }

    /// All values of its profile.
    pub fn spec(&self) -> Spec {
        parsed(&self.profile()).spec().clone()
    }

    /// Mapping of whole allocation units, if it has that.
    pub fn log_block(&self) -> Option<LogBlock> {
        self.spec().log_block
    }

    /// True if it maps pages, each of which can be anywhere.
    pub fn maps_pages(&self) -> bool {
        self.0.contains_key("page_mapped")
    }

    /// Time of a write of `bytes` sequential bytes without the costs of the mapping, in
    /// microseconds; 0 of a disk.
    pub fn row_us(&self, bytes: u64) -> f64 {
        self.spec().write.map_or(0.0, |write| {
            let unit = write.unit.0;
            let bytes = if write.whole_units { bytes.next_multiple_of(unit) } else { bytes };
            write.command.0 / 1e3 + bytes as f64 * 1e6 / write.rate.0
        })
    }

    /// Long-run time of a random write of `bytes` bytes, in microseconds; 0 of a disk.
    pub fn random_us(&self, bytes: u64) -> f64 {
        let spec = self.spec();
        let merge_us = spec.log_block.as_ref().map_or(0.0, merge_us);
        let gc_us = spec
            .page_mapped
            .as_ref()
            .map_or(0.0, |ftl| (ftl.gc.0 + ftl.gc_per_kib.0 * bytes as f64 / KIB as f64) / 1e3);
        let partial = spec.write.filter(|write| !bytes.is_multiple_of(write.unit.0));
        merge_us + gc_us + self.row_us(bytes) + partial.map_or(0.0, |write| write.partial.0 / 1e3)
    }

    /// Rate of sequential writes in bytes a second, before its caches.
    pub fn write_bps(&self) -> f64 {
        self.spec().write.map_or(DISK_BPS, |write| write.rate.0)
    }

    /// Allocation unit in bytes, if reads can show it: a read across two of them takes 25 us and a
    /// quarter more than one across two pages, and half the spread of a single read more.
    pub fn au_shown_by_reads(&self) -> Option<u64> {
        let spec = self.spec();
        let (mapping, read) = spec.log_block.zip(spec.read)?;
        let step_ns = read.cross_au.0 - read.cross_unit.0;
        let spread_ns = spec.jitter.sigma * (read.command.0 + read.random.0);
        let is_shown =
            step_ns >= 25e3 && step_ns >= 0.25 * read.cross_unit.0 && step_ns >= 0.5 * spread_ns;
        is_shown.then_some(mapping.au.0)
    }

    /// Number of open units, if writes can show them: closing one takes six times as long as a
    /// write of 64 KiB.
    pub fn open_aus_shown_by_writes(&self) -> Option<u64> {
        let mapping = self.log_block()?;
        let is_shown = merge_us(&mapping) >= 6.0 * self.row_us(64 * KIB);
        is_shown.then_some(u64::from(mapping.open_aus))
    }
}

/// Time of closing a unit to which little was written, in microseconds.
fn merge_us(mapping: &LogBlock) -> f64 {
    mapping.au.0 as f64 * 1e6 / mapping.copy_rate.0 + mapping.erase.0 / 1e3
}

/// Profile that was drawn.
pub fn parsed(text: &str) -> Profile {
    Profile::parse("drawn", text)
        .unwrap_or_else(|error| panic!("what was drawn can be: {error}\n{text}"))
}
