//! Figures of a medium, published or measured, that the table of an article shows and its
//! conclusion rests on.

use std::collections::BTreeMap;

use record::text::printable;
use record::units::significant;
use record::{Cell, Estimate, FigureColumn, Published, Region, quantities, test};

use super::figures::medium;
use crate::column_figures::column_figures;
use crate::figure;

/// Lines of the head of a column, and the figures that may stand in it, the best first.
pub(super) type MediumColumn = ([&'static str; 3], &'static [&'static str]);

/// Columns of an article, by its number.
pub(super) fn columns(number: &str) -> &'static [MediumColumn] {
    match number {
        "000" => &[(["In", "sequence,", "MiB/s"], &["hdparm", "hdparm-direct"])],
        "001" => &[(["In", "sequence,", "MB/s"], &[TRANSFER, "dd-read-1m"])],
        "002" => &[
            (["Write", "4 KiB", "MB/s"], &["dd-write-4k"]),
            (["Write", "1 MiB", "MB/s"], &["dd-write-1m"]),
            (["Read", "4 KiB", "MB/s"], &["dd-read-4k"]),
            (["Read", "1 MiB", "MB/s"], &["dd-read-1m"]),
            (["Random", "read", "IOPS"], &["iozone-random-read-4k"]),
            (["Random", "write", "IOPS"], &["iozone-random-write-4k"]),
        ],
        "003" => &[(["Access", "time,", "ms"], &["seek-ms"])],
        _ => &[
            (["Zeros", "", "MB/s"], &["zero-fill"]),
            (["Random", "data", "MB/s"], &["random-fill"]),
            (["Write of", "512 B", "ms"], &["sector-write-ms"]),
            (["Format", "of ext2", "groups/s"], &["format-groups"]),
            (["Fill", "of ext2", "MB/s"], &["ext2-fill"]),
        ],
    }
}

/// Sequential rate whose tool and block size the article does not name.
const TRANSFER: &str = "transfer";

/// Figures by the name of their column, each in the column's unit.
pub(super) type Figures = BTreeMap<String, Estimate>;

/// A medium of the table.
pub(super) struct MediumRow {
    /// Its name, short.
    pub(super) name: String,
    /// All of its figures.
    pub(super) figures: Figures,
    /// Texts for the columns of the article.
    pub(super) shown: Vec<String>,
}

/// Text for a figure that there is none of.
const NONE: &str = "-";

/// A figure as its source prints it, if it does so in the column's unit.
fn printed(cells: &[Cell], name: &str) -> Option<String> {
    cells.iter().find_map(|cell| {
        let (number, unit) = cell.label("published").split_once(' ')?;
        let is_it = |(column, _): &(FigureColumn, _)| column.name == name && column.unit == unit;
        quantities(cell).iter().any(is_it).then(|| printable(number))
    })
}

impl MediumRow {
    /// A row of a medium of the article.
    pub(super) fn of_published(run: &Published, columns: &[MediumColumn]) -> MediumRow {
        MediumRow::of(short_name(run), &run.cells, columns)
    }

    /// A row of a medium and its cells.
    pub(super) fn of(name: String, cells: &[Cell], columns: &[MediumColumn]) -> MediumRow {
        let found = column_figures(cells).into_iter();
        let mut figures: Figures = found.map(|(name, found)| (name, found.figure)).collect();
        let transfer = cells.iter().find(|cell| cell.test == "published:transfer");
        if let Some(bps) = transfer.and_then(|cell| cell.metrics.bps.as_ref()) {
            let value = bps.value / 1e6;
            figures.insert(TRANSFER.to_owned(), Estimate { value, ..*bps });
        }
        let text = |name: &&str| {
            let found = figures.get(*name)?;
            Some(printed(cells, name).unwrap_or_else(|| significant(found.value)))
        };
        let of_column = |(_, names): &MediumColumn| names.iter().find_map(text);
        let shown = columns.iter().map(|it| of_column(it).unwrap_or(NONE.to_owned())).collect();
        MediumRow { name, figures, shown }
    }

    /// True if it has a figure in any column.
    pub(super) fn any(&self) -> bool {
        self.shown.iter().any(|shown| shown != NONE)
    }
}

/// "Extreme USB 3.0, usb 2.0": the same stick was measured at two ports.
fn short_name(run: &Published) -> String {
    let name = medium(run);
    let name = name.split(" (").next().unwrap_or_default();
    match run.interface.as_deref().filter(|port| port.starts_with("usb ")) {
        Some(port) => {
            format!("{}, {}", printable(run.model.as_deref().unwrap_or(name)), printable(port))
        }
        None => name.to_owned(),
    }
}

/// Random reads of a run by block size, as articles 000 and 001 plot them.
#[derive(Default)]
pub(super) struct RandomReads {
    /// Head of the last column.
    pub(super) other: &'static str,
    /// The smallest first.
    pub(super) blocks: Vec<BlockReads>,
}

/// Random reads a second of one block size: one at a time in the first GB, and the article's other
/// series.
pub(super) struct BlockReads {
    pub(super) bytes: u64,
    pub(super) iops: Estimate,
    pub(super) other: Option<Estimate>,
}

impl BlockReads {
    /// Rate in MB/s.
    pub(super) fn mbps(&self) -> f64 {
        mbps(self.iops, self.bytes)
    }
}

pub(super) fn mbps(iops: Estimate, bytes: u64) -> f64 {
    iops.value * bytes as f64 / 1e6
}

impl RandomReads {
    /// Reads of the cells of a run, if the article (its number) plots them.
    pub(super) fn of(number: &str, cells: &[Cell]) -> RandomReads {
        let (other, is_whole, in_flight) = match number {
            "000" => ("MB/s, x8", false, 8),
            "001" => ("MB/s, whole", true, 1),
            _ => return RandomReads::default(),
        };
        let iops = |bytes: u64, is_whole: bool, in_flight: u64| {
            let is_it = |cell: &&Cell| {
                cell.test == test::RANDOM_READ
                    && cell.params.block_bytes == Some(bytes)
                    && cell.params.in_flight() == in_flight
                    && (cell.params.region == Some(Region::Whole)) == is_whole
                    && figure::impossible(cell).is_none()
            };
            cells.iter().find(is_it)?.metrics.iops
        };
        let block = |bytes: u64| {
            let other = iops(bytes, is_whole, in_flight);
            Some(BlockReads { bytes, iops: iops(bytes, false, 1)?, other })
        };
        let sizes = (9..=21).map(|power| 1 << power);
        RandomReads { other, blocks: sizes.filter_map(block).collect() }
    }
}
