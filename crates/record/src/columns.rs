//! The one list of columns: each measured quantity with its name, its published unit, and the
//! command that measures it. Tables of our own, imported and published runs have these columns; a
//! reader chooses among them by name.

mod choice;
mod named;

use std::sync::LazyLock;

use crate::units::{Bytes, KIB, MIB};
use crate::{metric, test};

pub use choice::{ALL_COLUMNS, UnknownColumn, chosen_columns, column_choice, columns_of};
pub use named::column_named;

/// A column: one measured quantity in one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureColumn {
    /// Name in addresses and on the command line: "dd-write-64k".
    pub name: String,
    /// Head of the column: "dd write, 64 KiB".
    pub head: String,
    /// Its unit: "MB/s" (of 10^6 bytes), "MiB/s", "IOPS", "ms", "s", "%", "groups/s", "seeks/s".
    pub unit: &'static str,
    /// Command that measures it, without the program's name: "run TARGET --only sector-write".
    pub command: String,
    /// Family of the column, one of [`COLUMN_FAMILIES`].
    pub family: &'static str,
}

impl FigureColumn {
    /// True if it measures the memory and processor of the host on purpose: hdparm -T.
    pub fn is_of_memory(&self) -> bool {
        self.name == "hdparm-cache"
    }
}

/// Families in the order of columns; a user may ask for a whole family by its name.
pub const COLUMN_FAMILIES: [(&str, &str); 9] = [
    ("random", "Random I/O"),
    ("iozone", "Records of a file (iozone)"),
    ("dd", "Sequential by block size (dd)"),
    ("fill", "Fills and single sectors"),
    ("seek", "Seeks"),
    ("hdparm", "hdparm"),
    ("threads", "Threads of iozone"),
    ("completion", "Completion times by file system and scheduler"),
    ("cpu", "CPU use"),
];

/// Forms of iozone, in its order.
const FORMS: [&str; 6] = ["write", "rewrite", "read", "reread", "random-read", "random-write"];
/// Forms of iozone that have a test of ours of the same name.
const MEASURED_FORMS: [&str; 4] = ["write", "rewrite", "random-read", "random-write"];
/// Figures of iozone's thread view: name and head.
pub(crate) const THREAD_VIEWS: [(&str, &str); 4] = [
    ("children", "children"),
    ("minimum", "slowest thread"),
    ("maximum", "fastest thread"),
    ("parent", "parent"),
];
/// Block sizes of the listed columns: of dd, of random I/O, and of iozone.
const BLOCKS: [u64; 9] =
    [4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB];
/// I/O schedulers of current kernels.
const SCHEDULERS: [&str; 4] = ["none", "mq-deadline", "bfq", "kyber"];
/// File systems of published completion times, under our names.
const FILESYSTEMS: [&str; 9] =
    ["ext2", "ext3", "ext4", "ext4-nojournal", "xfs", "xfs-nolazy", "jfs", "btrfs", "f2fs"];

/// Every listed column, family by family. Other block sizes, file systems and numbers of threads
/// have columns too ([`column_named`]).
pub fn columns() -> &'static [FigureColumn] {
    static COLUMNS: LazyLock<Vec<FigureColumn>> = LazyLock::new(|| {
        let plain: Vec<FigureColumn> = random()
            .chain(iozone())
            .chain(dd())
            .chain(named_tests())
            .chain(threads())
            .chain(completions())
            .collect();
        let is_usual = |it: &&FigureColumn| {
            matches!(it.family, "random" | "iozone" | "dd")
                && (it.name.ends_with("-4k") || it.name.ends_with("-1m"))
        };
        let cpu: Vec<FigureColumn> = plain.iter().filter(is_usual).map(cpu_column).collect();
        plain.into_iter().chain(cpu).collect()
    });
    &COLUMNS
}

fn random() -> impl Iterator<Item = FigureColumn> {
    ["write", "read"].into_iter().flat_map(|way| BLOCKS.map(|block| random_column(way, block)))
}

fn iozone() -> impl Iterator<Item = FigureColumn> {
    let blocks = || [KIB].into_iter().chain(BLOCKS).chain([16 * MIB]);
    FORMS.into_iter().flat_map(move |form| blocks().map(move |block| record_column(form, block)))
}

fn dd() -> impl Iterator<Item = FigureColumn> {
    [("write", true), ("write", false), ("read", true)].into_iter().flat_map(|(way, is_zeros)| {
        BLOCKS.into_iter().chain([100 * MIB]).map(move |block| dd_column(way, block, is_zeros))
    })
}

fn named_tests() -> impl Iterator<Item = FigureColumn> {
    let tests = [
        (test::ZERO_FILL, None),
        (test::RANDOM_FILL, None),
        (test::SECTOR_WRITE, None),
        (test::EXT2_FORMAT, Some("simple")),
        (test::EXT2_FORMAT, Some("mke2fs")),
        (test::EXT2_FILL, Some("async")),
        (test::EXT2_FILL, Some("sync")),
        (test::SEEK, None),
        (test::SEEK, Some(metric::ACCESS_TIME_NS)),
        (test::BUFFERED_READ, None),
        (test::BUFFERED_READ, Some("direct")),
        (test::BUFFERED_READ, Some("cache")),
    ];
    tests.into_iter().filter_map(|(test, form)| test_column(test, form))
}

fn threads() -> impl Iterator<Item = FigureColumn> {
    [false, true].into_iter().flat_map(|is_honest| {
        let views = move |form| {
            THREAD_VIEWS.map(|(view, _)| threads_column(form, is_honest, 4 * KIB, 4, view))
        };
        FORMS.into_iter().flat_map(views).flatten()
    })
}

fn completions() -> impl Iterator<Item = FigureColumn> {
    FILESYSTEMS.into_iter().flat_map(|fs| {
        SCHEDULERS[..3].iter().map(move |scheduler| completion_column(fs, scheduler))
    })
}

/// Size as part of a name: "4k", "1m", "512".
fn size_name(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= MIB && bytes.is_multiple_of(MIB) => format!("{}m", bytes / MIB),
        bytes if bytes >= KIB && bytes.is_multiple_of(KIB) => format!("{}k", bytes / KIB),
        bytes => bytes.to_string(),
    }
}

/// Size as the value of a setting, exact to the byte.
fn size_setting(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= MIB && bytes.is_multiple_of(MIB) => format!("{}MiB", bytes / MIB),
        bytes if bytes >= KIB && bytes.is_multiple_of(KIB) => format!("{}KiB", bytes / KIB),
        bytes => format!("{bytes}B"),
    }
}

fn column(
    family: &'static str,
    name: impl Into<String>,
    head: impl Into<String>,
    unit: &'static str,
    command: impl Into<String>,
) -> FigureColumn {
    FigureColumn { name: name.into(), head: head.into(), unit, command: command.into(), family }
}

/// Command of a test with a block size: "run TARGET --only TEST --set TEST.block=64KiB".
fn block_command(test: &str, block: u64) -> String {
    format!("run TARGET --only {test} --set {test}.block={}", size_setting(block))
}

/// Column of a form of iozone: records of a file, at queue depth 1.
pub(crate) fn record_column(form: &str, block: u64) -> FigureColumn {
    let head = format!("iozone {}, {}", form.replace('-', " "), Bytes(block));
    // Sequential reads are dd's with the block of iozone.
    let command = match form {
        "read" | "reread" => block_command(test::SEQUENTIAL_READ, block),
        form => {
            let form = if MEASURED_FORMS.contains(&form) { form } else { "random-read" };
            let size = size_setting(block);
            format!(
                "run TARGET --only record-ops --set record-ops.forms={form} --set record-ops.block={size}"
            )
        }
    };
    column("iozone", format!("iozone-{form}-{}", size_name(block)), head, "IOPS", command)
}

/// Column of sequential I/O at queue depth 1. dd writes zeros.
pub(crate) fn dd_column(way: &str, block: u64, is_zeros: bool) -> FigureColumn {
    let is_write = way == "write";
    let test = if is_write { test::SEQUENTIAL_WRITE } else { test::SEQUENTIAL_READ };
    let mut command = block_command(test, block);
    if is_write && is_zeros {
        command += " --set sequential-write.content=zeros";
    }
    let is_other = is_write && !is_zeros;
    let (other, tail) = if is_other { (", other data", "-data") } else { ("", "") };
    let head = format!("dd {way}, {}{other}", Bytes(block));
    column("dd", format!("dd-{way}-{}{tail}", size_name(block)), head, "MB/s", command)
}

/// Column of random I/O to a raw medium at queue depth 1.
pub(crate) fn random_column(way: &str, block: u64) -> FigureColumn {
    let test = if way == "write" { test::RANDOM_WRITE } else { test::RANDOM_READ };
    let head = format!("Random {way}, {}", Bytes(block));
    let name = format!("random-{way}-{}", size_name(block));
    column("random", name, head, "IOPS", block_command(test, block))
}

/// Column of a test with one quantity, or of a form or metric of a test with several.
pub(crate) fn test_column(test: &str, form: Option<&str>) -> Option<FigureColumn> {
    let (family, name, head, unit) = match (test, form) {
        (test::ZERO_FILL, _) => ("fill", "zero-fill", "Fill, zeros", "MB/s"),
        (test::RANDOM_FILL, _) => ("fill", "random-fill", "Fill, random data", "MB/s"),
        (test::SECTOR_WRITE, _) => ("fill", "sector-write-ms", "512 B write", "ms"),
        (test::EXT2_FORMAT | test::EXT2_FILL, form) => return ext2_column(test, form),
        (test::SEEK, Some(metric::ACCESS_TIME_NS)) => ("seek", "seek-ms", "Seek time", "ms"),
        (test::SEEK, _) => ("seek", "seeks", "Seeks", "seeks/s"),
        (test::BUFFERED_READ, Some("cache")) => ("hdparm", "hdparm-cache", "hdparm -T", "MiB/s"),
        (test::BUFFERED_READ, Some("direct")) => {
            ("hdparm", "hdparm-direct", "hdparm -t --direct", "MiB/s")
        }
        (test::BUFFERED_READ, _) => ("hdparm", "hdparm", "hdparm -t", "MiB/s"),
        _ => return None,
    };
    Some(column(family, name, head, unit, format!("run TARGET --only {test}")))
}

/// Column of a form of making or filling an ext2. Published figures are of the simple format, and
/// of a fill whose order of metadata is not known (docs/field/ext2.md#mortons-benchmark).
fn ext2_column(test: &str, form: Option<&str>) -> Option<FigureColumn> {
    let (name, head, unit, setting) = match (test, form) {
        (test::EXT2_FORMAT, Some("mke2fs")) => {
            ("format-groups-mke2fs", "Format of ext2, mke2fs", "groups/s", "form=mke2fs")
        }
        (test::EXT2_FORMAT, _) => ("format-groups", "Format of ext2", "groups/s", "form=simple"),
        (test::EXT2_FILL, Some("sync")) => {
            ("ext2-fill-sync", "Fill of ext2, sync", "MB/s", "order=sync")
        }
        (test::EXT2_FILL, _) => ("ext2-fill", "Fill of ext2, async", "MB/s", "order=async"),
        _ => return None,
    };
    let command = format!("run TARGET --only {test} --set {test}.{setting}");
    Some(column("fill", name, head, unit, command))
}

/// Column of iozone's thread view: the throughput of all children together, of the slowest, of the
/// fastest, or as the parent sees it. `is_honest`: with files that are larger than a cache.
pub(crate) fn threads_column(
    form: &str,
    is_honest: bool,
    block: u64,
    threads: u32,
    view: &str,
) -> Option<FigureColumn> {
    let (_, shown) = THREAD_VIEWS.iter().find(|(name, _)| *name == view)?;
    let (honest, files) = if is_honest { ("honest-", ", large files") } else { ("", "") };
    let name = format!("threads-{honest}{form}-{}-{threads}-{view}", size_name(block));
    let form = form.replace('-', " ");
    let head = format!("{threads} threads, {form}, {}{files}: {shown}", Bytes(block));
    Some(column("threads", name, head, "MB/s", "matrix TARGET --work threads"))
}

/// Column of the time that a poll of a monitoring server takes on a file system with a scheduler.
pub(crate) fn completion_column(fs: &str, scheduler: &str) -> FigureColumn {
    let name = format!("completion-{fs}-{scheduler}");
    let head = format!("RRD updates, {fs}, {scheduler}");
    let command = format!("matrix TARGET --fs {fs} --scheduler {scheduler} --work rrd");
    column("completion", name, head, "s", command)
}

/// Column of the share of one processor that the I/Os of another column take.
pub(crate) fn cpu_column(of: &FigureColumn) -> FigureColumn {
    let (name, head) = (format!("cpu-{}", of.name), format!("CPU, {}", of.head));
    column("cpu", name, head, "%", of.command.clone())
}

#[cfg(test)]
mod tests;
