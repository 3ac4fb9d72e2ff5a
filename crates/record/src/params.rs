//! Parameters of the I/O of a cell.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Direction in which data moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the medium to the host.
    Read,
    /// From the host to the medium.
    Write,
}

/// The order in which addresses are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Ascending addresses without gaps between them.
    Sequential,
    /// Independent and uniform; addresses may repeat (`norandommap` in fio).
    Uniform,
    /// Every block exactly once, in random order.
    Permutation,
    /// One random block in each allocation unit per pass, allocation units in random order
    /// (docs/field/statistics.md#sampling-random-writes).
    Stratified,
    /// At a fixed distance, like a file system's metadata.
    Strided,
}

/// Part of the medium that holds a cell's span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    /// From the first byte.
    Front,
    /// From half of the capacity on: where the headline tests run, so that a faster front area does
    /// not overstate them.
    Middle,
    /// All of the medium, from its first byte to its last.
    Whole,
    /// A file on a file system.
    File,
}

/// Content of the written bytes, for a controller that compresses or recognises data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Every byte is 0x00.
    Zeros,
    /// One byte repeated, as iozone writes.
    Byte(u8),
    /// One incompressible 4 KiB block, over and over.
    Repeated,
    /// Never the same twice, and incompressible.
    Incompressible,
    /// This many percent of every 4 KiB are zeros, the rest is incompressible.
    Compressible(u8),
}

impl Content {
    /// True if every place of the medium gets the same bytes.
    pub fn is_same_everywhere(self) -> bool {
        matches!(self, Content::Zeros | Content::Byte(_))
    }
}

/// Moment at which a write counts as done.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sync {
    /// When the medium accepts it.
    #[default]
    None,
    /// When the data is durable (O_DSYNC).
    Data,
    /// When data and metadata are durable (O_SYNC).
    File,
}

/// The way through the kernel.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// O_DIRECT, past the page cache.
    #[default]
    Direct,
    /// Through the page cache.
    Buffered,
}

/// Parameters of a cell. Those that a test does not have are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Params {
    /// Direction in which data moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Order in which addresses are visited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// Bytes of one I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// Part of the medium.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// First byte of the address range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_offset_bytes: Option<u64>,
    /// Length of the address range, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<u64>,
    /// I/Os in flight per thread.
    #[serde(default = "one")]
    pub queue_depth: u32,
    /// Independent closed loops, each with its own random order.
    #[serde(default = "one")]
    pub threads: u32,
    /// Moment at which a write counts as done.
    #[serde(default)]
    pub sync: Sync,
    /// The way through the kernel.
    #[serde(default)]
    pub path: Path,
    /// Content of the data that is written, or that the test wrote and reads back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Number of passes over the span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<u32>,
    /// Name of the measurement among several of a test ("rewrite", "published-form", ...).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Other parameters, by name with its unit.
    #[serde(default, flatten)]
    pub other: BTreeMap<String, f64>,
}

impl Params {
    /// Rank of a cell as the representative of its test, the best least: the middle of the medium
    /// or a file before the whole and the front, one thread at queue depth 1, incompressible data.
    pub fn representative_rank(&self) -> impl Ord + use<> {
        let region = match self.region {
            Some(Region::Middle | Region::File) => 0_u8,
            None => 1,
            Some(Region::Whole) => 2,
            Some(Region::Front) => 3,
        };
        let content = match self.content {
            Some(Content::Incompressible) => 0_u8,
            None => 1,
            Some(_) => 2,
        };
        (region, self.threads, self.queue_depth, content)
    }

    /// I/Os in flight, all threads together.
    pub fn in_flight(&self) -> u64 {
        u64::from(self.queue_depth.max(1)) * u64::from(self.threads.max(1))
    }
}

fn one() -> u32 {
    1
}
