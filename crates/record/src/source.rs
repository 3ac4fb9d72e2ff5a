//! A publication with its figures, for pages that show all of them.

use crate::Cell;

/// A page on the web, or an article, with every figure that is kept of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedSource {
    /// Name in addresses: "article-3", "iozone-posts-1".
    pub key: String,
    /// What it is called: "Article 002".
    pub title: String,
    /// Where it was published; empty where that is not known.
    pub address: String,
    /// When, as its source has it: "2012-01-25", "not stated".
    pub date: String,
    /// In the order of the source.
    pub figures: Vec<SourceFigure>,
}

/// A figure as it was published, and as a cell where it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFigure {
    /// Its row: "article-00035".
    pub id: String,
    /// What it is of: "SanDisk Extreme Pro 8 GB"; empty where it is of no one medium.
    pub medium: String,
    /// On which host, as far as that tells it from others.
    pub host: String,
    /// What was done: "write, 4 KiB, ext2, cfq".
    pub what: String,
    /// With what: "dd".
    pub tool: String,
    /// As printed, with its unit: "1.7 MB/s", "94-96 s".
    pub printed: String,
    /// What stands behind it, in a word: "measured", "claim".
    pub kind: &'static str,
    /// Where in the source it stands.
    pub place: String,
    /// It as a cell, in our units; none for what was not measured.
    pub cell: Option<Cell>,
}
