//! Built-in reference collection: measurements that others have published.
//!
//! A row is a figure with its source, as in `crates/import/reference/*.csv`; a value keeps the
//! digits of its source. docs/importing.md describes the sources and how comparable the figures
//! are. [`entries`] makes entries of a collection from them, which are shown beside new results and
//! never mixed with them.

mod cells;
mod entries;
mod sources;
mod yardsticks;

use std::io::Read as _;
use std::sync::LazyLock;

use flate2::read::DeflateDecoder;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

pub use entries::entries;
pub use sources::sources;
pub use yardsticks::{Yardstick, yardsticks};

macro_rules! tables {
    ($($name:literal,)*) => {
        [$(($name, include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".deflate")))),*]
    };
}

/// The tables as build.rs compressed them.
const COMPRESSED: [(&str, &[u8]); 9] = tables! {
    "articles",
    "flashbench_posts",
    "iozone_posts",
    "jamesachambers_pi_storage_2019",
    "olpc_sdcard_testing",
    "pidramble_microsd",
    "same_script_posts",
    "small_tables",
    "speed_class_thresholds",
};

/// Tables as name and text. They hold facts with their source; serial numbers and names of persons
/// are left out.
pub fn tables() -> impl Iterator<Item = (&'static str, String)> {
    COMPRESSED.into_iter().map(|(table, bytes)| {
        let mut text = String::new();
        DeflateDecoder::new(bytes).read_to_string(&mut text).expect("build.rs compressed a text");
        (table, text)
    })
}

/// Basis of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// Measured, and published as a plain number.
    Measured,
    /// Measured, and published as about, nearly, or over a number.
    MeasuredApprox,
    /// Calculated or rounded by the source.
    Derived,
    /// Asserted without a test.
    Statement,
    /// A limit, a crossover, the least of a class.
    Threshold,
    /// A figure of the maker.
    Claim,
    /// A parameter of the test.
    Setup,
}

/// A published number with the digits of its source.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedFigure {
    /// As printed: "0.00", "1.10".
    pub text: String,
    /// Value of `text`; the unit is in another column.
    pub number: f64,
    /// Number of digits behind the point.
    pub decimals: usize,
}

impl std::fmt::Display for PublishedFigure {
    /// Writes the number with as many digits as its source gives.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.*}", self.decimals, self.number)
    }
}

impl PublishedFigure {
    /// Parses digits with at most one point, and perhaps a sign in front.
    pub fn parse(text: &str) -> Option<PublishedFigure> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = !digits.is_empty()
            && digits.len() <= 30
            && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        let number = text.parse::<f64>().ok().filter(|number| plain && number.is_finite())?;
        let decimals = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
        Some(PublishedFigure { text: text.to_owned(), number, decimals })
    }
}

/// One published figure. Fields that the source does not give are empty.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[allow(
    missing_docs,
    reason = "each field is the column of that name, explained in docs/importing.md"
)]
pub struct ReferenceRow {
    /// Name of its table; not a column.
    #[serde(skip)]
    pub table: &'static str,
    /// Id, unique in all tables.
    pub row_id: String,
    pub kind: FigureKind,
    pub measured_by: String,
    pub device_brand: String,
    pub device_model: String,
    /// Capacity in GB, as labelled.
    #[serde(deserialize_with = "figure")]
    pub device_capacity_gb: Option<PublishedFigure>,
    pub device_type: String,
    pub device_interface: String,
    pub claimed_class: String,
    pub claimed_speed: String,
    pub host_cpu: String,
    pub host_ram: String,
    pub host_board: String,
    pub host_kernel: String,
    pub host_distro: String,
    pub host_adaptor: String,
    pub tool: String,
    pub command: String,
    pub operation: String,
    /// Block size in bytes, with K and M as 1024 and 1024^2.
    pub block_size_bytes: Option<u64>,
    pub span: String,
    pub queue_depth: Option<u32>,
    pub threads: Option<u32>,
    pub filesystem: String,
    pub scheduler: String,
    /// True if past the page cache; `None` if the source does not say.
    #[serde(deserialize_with = "yes_or_no")]
    pub direct: Option<bool>,
    #[serde(deserialize_with = "yes_or_no")]
    pub sync: Option<bool>,
    pub metric: String,
    #[serde(deserialize_with = "figure")]
    pub value: Option<PublishedFigure>,
    /// Upper end of a range.
    #[serde(deserialize_with = "figure")]
    pub value_max: Option<PublishedFigure>,
    /// One of ~ < <= > >=, or empty.
    pub qualifier: String,
    pub unit: String,
    pub source_url: String,
    pub source_date: String,
    pub locator: String,
    pub notes: String,
}

fn figure<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PublishedFigure>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.is_empty() {
        return Ok(None);
    }
    PublishedFigure::parse(&text)
        .map(Some)
        .ok_or_else(|| D::Error::custom(format!("'{text}' is no number")))
}

fn yes_or_no<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "" => Ok(None),
        "yes" => Ok(Some(true)),
        "no" => Ok(Some(false)),
        other => Err(D::Error::custom(format!("'{other}' is neither yes nor no"))),
    }
}

static ROWS: LazyLock<Vec<ReferenceRow>> =
    LazyLock::new(|| tables().flat_map(|(table, text)| read(table, &text)).collect());

/// All published figures, table by table, in the order of their sources.
pub fn rows() -> &'static [ReferenceRow] {
    &ROWS
}

/// Row with that id.
pub fn row(row_id: &str) -> Option<&'static ReferenceRow> {
    rows().iter().find(|row| row.row_id == row_id)
}

fn read(table: &'static str, text: &str) -> Vec<ReferenceRow> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    // A test parses all of it: the tables are part of the program.
    reader
        .deserialize()
        .map(|row| ReferenceRow { table, ..row.expect("the built-in tables are well formed") })
        .collect()
}
