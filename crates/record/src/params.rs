//! Parameters of a cell: what its I/O is like.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Which way data moves.
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
    /// At a fixed distance, as a file system's metadata lies.
    Strided,
}

/// The part of the medium a cell's span lies in.
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

/// What the written bytes look like to a controller that compresses or recognises data.
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
    /// Never the same twice, and no compressor shrinks it.
    Incompressible,
    /// This many percent of every 4 KiB are zeros, the rest is incompressible.
    Compressible(u8),
}

impl Content {
    /// True if the same bytes stand at every place of the medium.
    pub fn is_same_everywhere(self) -> bool {
        matches!(self, Content::Zeros | Content::Byte(_))
    }
}

/// When a write counts as done.
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

/// The parameters of a cell. What a test does not have is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Params {
    /// Which way data moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// In what order addresses are visited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// Bytes of one I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// Which part of the medium.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// First byte of the address range touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_offset_bytes: Option<u64>,
    /// Length of the address range touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<u64>,
    /// I/Os in flight per thread.
    #[serde(default = "one")]
    pub queue_depth: u32,
    /// Independent closed loops, each with its own random order.
    #[serde(default = "one")]
    pub threads: u32,
    /// When a write counts as done.
    #[serde(default)]
    pub sync: Sync,
    /// The way through the kernel.
    #[serde(default)]
    pub path: Path,
    /// What the data looks like that is written, or that the test wrote and reads back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Passes over the span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<u32>,
    /// Which of a test's several measurements this is ("rewrite", "published-form", ...).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Anything else, by name with its unit.
    #[serde(default, flatten)]
    pub other: BTreeMap<String, f64>,
}

impl Params {
    /// Which of several cells stands for a test, least first: the middle of the medium or a file
    /// before the whole and the front, one thread at depth one, incompressible data.
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

    /// I/Os under way at once, all threads together.
    pub fn in_flight(&self) -> u64 {
        u64::from(self.queue_depth.max(1)) * u64::from(self.threads.max(1))
    }
}

fn one() -> u32 {
    1
}
