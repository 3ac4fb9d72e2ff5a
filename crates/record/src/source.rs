//! A publication with its figures, for pages that show all of them.

use crate::Cell;

/// A page on the web, or an article, with every figure that was taken from it.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedSource {
    /// Name in addresses: "article-3", "iozone-posts-1".
    pub key: String,
    /// Title: "Article 002".
    pub title: String,
    /// Address of the publication; empty if unknown.
    pub address: String,
    /// Date as its source has it: "2012-01-25", "not stated".
    pub date: String,
    /// Figures in the order of the source.
    pub figures: Vec<SourceFigure>,
}

/// A figure as it was published, and as a cell if it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFigure {
    /// Id of its row: "article-00035".
    pub id: String,
    /// Medium: "SanDisk Extreme Pro 8 GB"; empty if it is not of a single medium.
    pub medium: String,
    /// Host, as far as that distinguishes it from others.
    pub host: String,
    /// Procedure: "write, 4 KiB, ext2, cfq".
    pub what: String,
    /// Tool: "dd".
    pub tool: String,
    /// Figure as printed, with its unit: "1.7 MB/s", "94-96 s".
    pub printed: String,
    /// Basis of the figure, in a word: "measured", "claim".
    pub kind: &'static str,
    /// Place in the source.
    pub place: String,
    /// Figure as a cell, in our units; `None` if it was not measured.
    pub cell: Option<Cell>,
}
