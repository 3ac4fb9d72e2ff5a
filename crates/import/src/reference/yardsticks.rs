//! Yardsticks: published figures with which every medium is compared.

use record::collection::HeadlineFigure;

use super::{ReferenceRow, row};

/// A line on the charts: a published figure that people know, or have to reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Yardstick {
    /// Name: "5400 rpm laptop disk".
    pub name: &'static str,
    /// Figure of a medium that is compared with it.
    pub figure: HeadlineFigure,
    /// Value in the unit of that figure.
    pub value: f64,
    /// True if it is a limit that a medium of a class must reach, not only a comparison.
    pub is_limit: bool,
    /// Row in which it was published.
    pub row: &'static ReferenceRow,
}

/// Name, figure, row, and true if it is a limit.
const KNOWN: [(&str, HeadlineFigure, &str, bool); 11] = [
    ("5400 rpm laptop disk", HeadlineFigure::RandomWrite4k, "article-00021", false),
    ("5400 rpm laptop disk", HeadlineFigure::RandomRead4k, "article-00020", false),
    ("10,000 rpm disk, outer edge", HeadlineFigure::SequentialRead, "article-00013", false),
    ("7200 rpm disk, outer edge", HeadlineFigure::SequentialRead, "article-00012", false),
    ("first CF cards (1 GB, 2005)", HeadlineFigure::SequentialRead, "article-00010", false),
    ("4 GB CF card of 2007", HeadlineFigure::SequentialRead, "article-00011", false),
    ("class A1", HeadlineFigure::RandomRead4k, "cls-00008", true),
    ("class A1", HeadlineFigure::RandomWrite4k, "cls-00009", true),
    ("class A1 and A2", HeadlineFigure::SequentialWrite, "cls-00010", true),
    ("class A2", HeadlineFigure::RandomRead4k, "cls-00011", true),
    ("class A2", HeadlineFigure::RandomWrite4k, "cls-00012", true),
];

/// All yardsticks: disks, the first cards, and the limits of the classes A1 and A2.
pub fn yardsticks() -> Vec<Yardstick> {
    let known = KNOWN.into_iter().filter_map(|(name, figure, id, is_limit)| {
        let row = row(id)?;
        let value = row.value.as_ref()?.number;
        // Rates of random I/O are published in IOPS, sequential ones in MB/s of 10^6 bytes.
        let factor = match row.unit.as_str() {
            "IOPS" => 1.0,
            "MB/s" => 1e6,
            _ => return None,
        };
        Some(Yardstick { name, figure, value: value * factor, is_limit, row })
    });
    known.collect()
}
