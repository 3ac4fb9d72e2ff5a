//! Minimum rates of classes (docs/field/classes.md#minimum-rates). MB = 10^6 bytes.

use crate::units::GIB;

/// Minimum rates that a class demands of a medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Name of the class: "C10", "U3", "A1", "Android".
    pub name: &'static str,
    /// Sequential write in bytes a second.
    pub write_bps: f64,
    /// Sequential read in bytes a second.
    pub read_bps: Option<f64>,
    /// Random reads and writes of 4 KiB a second.
    pub random: Option<[f64; 2]>,
    /// True if the random rates are with a command queue, not at queue depth 1.
    pub is_queued: bool,
    /// Author of the demand, and its place in our notes.
    pub source: &'static str,
}

const fn sequential(name: &'static str, megabytes: u32, source: &'static str) -> Class {
    Class {
        name,
        write_bps: megabytes as f64 * 1e6,
        read_bps: None,
        random: None,
        is_queued: false,
        source,
    }
}

const SD: &str = "SD association; docs/field/classes.md#minimum-rates";

/// The classes of sequential writing, by family, the weakest first.
pub const SPEED: [Class; 4] = [
    sequential("C2", 2, SD),
    sequential("C4", 4, SD),
    sequential("C6", 6, SD),
    sequential("C10", 10, SD),
];
/// UHS speed grades, the weakest first.
pub const UHS: [Class; 2] = [sequential("U1", 10, SD), sequential("U3", 30, SD)];
/// Video speed classes, the weakest first.
pub const VIDEO: [Class; 5] = [
    sequential("V6", 6, SD),
    sequential("V10", 10, SD),
    sequential("V30", 30, SD),
    sequential("V60", 60, SD),
    sequential("V90", 90, SD),
];
/// Random reads and writes of 4 KiB a second that class A1 demands.
pub const A1_RANDOM: [f64; 2] = [1500.0, 500.0];
/// Random reads and writes of 4 KiB a second that class A2 demands.
pub const A2_RANDOM: [f64; 2] = [4000.0, 2000.0];

/// Application performance classes, the weakest first.
pub const APP: [Class; 2] = [
    Class {
        name: "A1",
        write_bps: 10e6,
        read_bps: None,
        random: Some(A1_RANDOM),
        is_queued: false,
        source: SD,
    },
    Class {
        name: "A2",
        write_bps: 10e6,
        read_bps: None,
        random: Some(A2_RANDOM),
        is_queued: true,
        source: SD,
    },
];
/// Demand of Android on a phone's storage: 5 MB/s written, 15 MB/s read; random 0.5 and 3.5 MB/s of
/// 4 KiB.
pub const ANDROID: Class = Class {
    name: "Android",
    write_bps: 5e6,
    read_bps: Some(15e6),
    random: Some([3.5e6 / 4096.0, 0.5e6 / 4096.0]),
    is_queued: false,
    source: "Android Compatibility Definition 8.2; docs/field/classes.md#minimum-rates",
};
/// Demand of the diagnostics of Raspberry Pi OS on a card: 10000 KB/s, 500 random writes, 1500
/// random reads.
pub const RASPBERRY_PI: Class = Class {
    name: "Raspberry Pi",
    write_bps: 10_240_000.0,
    read_bps: None,
    random: Some(A1_RANDOM),
    is_queued: false,
    source: "sd_bench.fio of Raspberry Pi OS; docs/field/classes.md#minimum-rates",
};

/// Largest capacity of an SDHC card; larger ones are SDXC, with longer busy limits.
pub const SDHC_BYTES: u64 = 32 * GIB;
