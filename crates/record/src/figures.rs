//! Figures that represent a medium: name, test, unit, and the value for comparison of each. Another
//! figure is another entry here.

use serde::{Deserialize, Serialize};

use crate::classes::{A1_RANDOM, A2_RANDOM, SPEED, VIDEO};
use crate::units::KIB;
use crate::{metric, test};

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureUnit {
    /// I/Os a second, for random reads and writes.
    Iops,
    /// Bytes a second, for sequential I/O and fills.
    Bps,
    /// Nanoseconds, for the worst stall.
    Ns,
}

impl FigureUnit {
    /// Name in downloads and in scripts of pages.
    pub const fn name(self) -> &'static str {
        match self {
            FigureUnit::Iops => "iops",
            FigureUnit::Bps => "bps",
            FigureUnit::Ns => "ns",
        }
    }
}

/// A published value with which figures are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReferenceMark {
    /// Short name: "A1".
    pub name: &'static str,
    /// Its value in the unit of the figure.
    pub value: f64,
    /// Meaning: "application class A1".
    pub meaning: &'static str,
}

const fn mark(name: &'static str, value: f64, meaning: &'static str) -> ReferenceMark {
    ReferenceMark { name, value, meaning }
}

/// Random I/Os a second of a 5400 rpm laptop disk at small blocks
/// (docs/field/published-figures.md#other-figures, docs/field/ftl.md#disk-arithmetic: 90 over the
/// 16 % of the span a system uses).
pub const DISK_IOPS: f64 = 90.0;
/// Sequential bytes a second of that disk, between 70 MB/s outside and 35 MB/s inside
/// (docs/field/ftl.md#profiles).
pub const DISK_BPS: f64 = 50e6;

const IOPS_OF_DISK: ReferenceMark = mark("disk", DISK_IOPS, "a 5400 rpm laptop disk");
const RATE_OF_DISK: ReferenceMark = mark("disk", DISK_BPS, "a 5400 rpm laptop disk");
const BUSY: ReferenceMark = mark(
    "limit",
    250e6,
    "the 250 ms that an SD card may be busy with a write (an SDXC card 500 ms)",
);

// Limits of the SD classes, ascending (SD Association as cited by anandtech.com 10860 and the class
// table of admin-magazine.com 76).
const RANDOM_WRITE_CLASSES: &[ReferenceMark] = &[
    mark("A1", A1_RANDOM[1], "application class A1"),
    mark("A2", A2_RANDOM[1], "application class A2"),
];
const RANDOM_READ_CLASSES: &[ReferenceMark] = &[
    mark("A1", A1_RANDOM[0], "application class A1"),
    mark("A2", A2_RANDOM[0], "application class A2"),
];
const WRITE_CLASSES: &[ReferenceMark] = &[
    mark("C10", SPEED[3].write_bps, "speed class 10, U1, V10, A1 and A2"),
    mark("V30", VIDEO[2].write_bps, "video class 30 and U3"),
    mark("V60", VIDEO[3].write_bps, "video class 60"),
    mark("V90", VIDEO[4].write_bps, "video class 90"),
];

/// A figure that represents a medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Name in JSON and addresses: "random-write-4k".
    pub name: &'static str,
    /// Column in databases, and the beginning of those in downloads: "random_write_4k".
    pub column: &'static str,
    /// Name in heads of columns and rows: "Random write, 4 KiB".
    pub label: &'static str,
    /// Name of the test whose cells have it.
    pub test: &'static str,
    /// Bytes of an I/O, if only one size counts.
    pub block_bytes: Option<u64>,
    /// Metrics of a cell that may be the figure: the first that exists counts.
    pub metrics: &'static [&'static str],
    /// The unit of its values.
    pub unit: FigureUnit,
    /// Least number of I/Os with a latency in the cells of a figure that counts as evidence. The
    /// honest runs of the golden corpus at their default budget have 36 and more, invented ones
    /// had 3.
    pub least_ios: u64,
    /// Least time of these cells, in seconds: files in a fast directory take 0.08 s.
    pub least_seconds: f64,
    /// Value with which it is compared.
    pub yardstick: ReferenceMark,
    /// Limits of the classes of the SD Association, ascending.
    pub classes: &'static [ReferenceMark],
}

impl Figure {
    /// Column in downloads, with the unit: "random_write_4k_iops".
    pub fn download_column(&self) -> String {
        format!("{}_{}", self.column, self.unit.name())
    }

    /// True if so many I/Os in so many nanoseconds are evidence for it.
    pub fn is_evidence(&self, ios: u64, elapsed_ns: u64) -> bool {
        ios >= self.least_ios && elapsed_ns as f64 >= self.least_seconds * 1e9
    }
}

macro_rules! figures {
    ($($variant:ident $name:literal $column:literal $label:literal
        $test:ident $block:expr, $metrics:expr, $unit:ident $ios:literal $seconds:literal $yardstick:ident $classes:expr;)*) => {
        /// The figures by which a collection is sorted and filtered, in the order in which they are
        /// shown: random write first, worst stall second.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Figure"))]
        pub enum HeadlineFigure {
            $(
                #[doc = concat!($label, ".")]
                #[serde(rename = $name)]
                $variant,
            )*
        }

        /// Every figure, in the order of [`HeadlineFigure::ALL`].
        pub const FIGURES: &[Figure] = &[$(Figure {
            name: $name,
            column: $column,
            label: $label,
            test: test::$test,
            block_bytes: $block,
            metrics: $metrics,
            unit: FigureUnit::$unit,
            least_ios: $ios,
            least_seconds: $seconds,
            yardstick: $yardstick,
            classes: $classes,
        }),*];

        impl HeadlineFigure {
            /// All figures, in order.
            pub const ALL: [HeadlineFigure; FIGURES.len()] = [$(HeadlineFigure::$variant),*];
        }
    };
}

const IOPS: &[&str] = &[metric::IOPS];
const BPS: &[&str] = &[metric::BPS];
const SEQUENTIAL: &[&str] = &[metric::SUSTAINED_BPS, metric::BPS];
const SEEKS: &[&str] = &[metric::SEEKS_PER_S];
const STALL: &[&str] = &[metric::WORST_STALL_NS];

figures! {
    RandomWrite4k "random-write-4k" "random_write_4k" "Random write, 4 KiB"
        RANDOM_WRITE Some(4 * KIB), IOPS, Iops 30 0.05 IOPS_OF_DISK RANDOM_WRITE_CLASSES;
    WorstStall "worst-stall" "worst_stall" "Slowest small write"
        RANDOM_WRITE None, STALL, Ns 30 0.05 BUSY &[];
    RandomWrite512 "random-write-512" "random_write_512" "Random write, 512 B"
        RANDOM_WRITE Some(512), IOPS, Iops 30 0.05 IOPS_OF_DISK &[];
    RandomWrite16k "random-write-16k" "random_write_16k" "Random write, 16 KiB"
        RANDOM_WRITE Some(16 * KIB), IOPS, Iops 30 0.05 IOPS_OF_DISK &[];
    RandomWrite64k "random-write-64k" "random_write_64k" "Random write, 64 KiB"
        RANDOM_WRITE Some(64 * KIB), IOPS, Iops 30 0.05 IOPS_OF_DISK &[];
    SequentialWrite "sequential-write" "sequential_write" "Sequential write"
        SEQUENTIAL_WRITE None, SEQUENTIAL, Bps 20 0.1 RATE_OF_DISK WRITE_CLASSES;
    RandomRead4k "random-read-4k" "random_read_4k" "Random read, 4 KiB"
        RANDOM_READ Some(4 * KIB), IOPS, Iops 30 0.05 IOPS_OF_DISK RANDOM_READ_CLASSES;
    SequentialRead "sequential-read" "sequential_read" "Sequential read"
        SEQUENTIAL_READ None, SEQUENTIAL, Bps 20 0.1 RATE_OF_DISK &[];
    Seek "seek" "seek" "Seek, 512 B"
        SEEK Some(512), SEEKS, Iops 30 0.05 IOPS_OF_DISK &[];
    RandomFill "random-fill" "random_fill" "Fill, random data"
        RANDOM_FILL None, BPS, Bps 20 0.1 RATE_OF_DISK &[];
    ZeroFill "zero-fill" "zero_fill" "Fill, zeros"
        ZERO_FILL None, BPS, Bps 20 0.1 RATE_OF_DISK &[];
}

impl HeadlineFigure {
    /// Entry in [`FIGURES`].
    pub const fn entry(self) -> &'static Figure {
        &FIGURES[self as usize]
    }

    /// Name in JSON, addresses and column heads of downloads.
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// The figure of that name.
    pub fn named(name: &str) -> Option<HeadlineFigure> {
        HeadlineFigure::ALL.into_iter().find(|figure| figure.name() == name)
    }

    /// Figure of a test at a block size.
    pub fn at(test: &str, block_bytes: u64) -> Option<HeadlineFigure> {
        HeadlineFigure::ALL.into_iter().find(|figure| {
            figure.entry().test == test && figure.entry().block_bytes == Some(block_bytes)
        })
    }

    /// Unit of its values.
    pub const fn unit(self) -> FigureUnit {
        self.entry().unit
    }

    /// True if small values are better.
    pub const fn smaller_is_better(self) -> bool {
        matches!(self.unit(), FigureUnit::Ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_one_name_everywhere() {
        for figure in HeadlineFigure::ALL {
            assert_eq!(serde_json::to_value(figure).unwrap(), figure.name());
            assert_eq!(HeadlineFigure::named(figure.name()), Some(figure));
            assert_eq!(figure.entry().column, figure.name().replace('-', "_"));
        }
    }
}
