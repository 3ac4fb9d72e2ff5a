//! Cells that are compared with fio: each once in our words and once in fio's
//! (docs/field/classic-tools.md#the-same-with-fio).

/// A procedure that flashmark and fio both do.
pub struct Cell {
    /// Name for readers.
    pub name: &'static str,
    /// Name of flashmark's test: "sequential-read".
    pub test: &'static str,
    /// Settings of the test, as one would type them.
    pub settings: &'static [(&'static str, &'static str)],
    /// fio's job, without the device, span and amount.
    pub fio: &'static [&'static str],
    /// Limit of fio's job.
    pub ends: Ends,
}

/// Amount that is the same on both sides.
#[derive(Clone, Copy)]
pub enum Ends {
    /// fio moves as many bytes as flashmark did.
    Bytes,
    /// fio does as many I/Os as flashmark did.
    Ops,
    /// Both run for this many seconds.
    Seconds(u32),
}

/// All cells: both directions, sequential and random, small and large, at queue depth 1 and 8.
pub const CELLS: &[Cell] = &[
    Cell {
        name: "sequential read, 4 KiB",
        test: "sequential-read",
        settings: &[("block", "4KiB"), ("total", "64MiB"), ("certainty", "0%")],
        fio: &["--rw=read", "--bs=4k", PSYNC],
        ends: Ends::Bytes,
    },
    Cell {
        name: "sequential read, 1 MiB",
        test: "sequential-read",
        settings: &[("block", "1MiB"), ("total", "1GiB"), ("certainty", "0%")],
        fio: &["--rw=read", "--bs=1m", PSYNC],
        ends: Ends::Bytes,
    },
    Cell {
        name: "sequential write, 64 KiB",
        test: "sequential-write",
        settings: &[
            ("block", "64KiB"),
            ("content", "zeros"),
            ("total", "512MiB"),
            ("certainty", "0%"),
        ],
        fio: &["--rw=write", "--bs=64k", "--zero_buffers", PSYNC],
        ends: Ends::Bytes,
    },
    Cell {
        name: "sequential write, 1 MiB",
        test: "sequential-write",
        settings: &[
            ("block", "1MiB"),
            ("content", "zeros"),
            ("total", "1GiB"),
            ("certainty", "0%"),
        ],
        fio: &["--rw=write", "--bs=1m", "--zero_buffers", PSYNC],
        ends: Ends::Bytes,
    },
    Cell {
        name: "zero fill, 1 MiB",
        test: "zero-fill",
        settings: &[("span", "1GiB")],
        fio: &["--rw=write", "--bs=1m", "--zero_buffers", PSYNC],
        ends: Ends::Bytes,
    },
    Cell {
        name: "random read, 4 KiB, one thread",
        test: "random-read",
        settings: &[
            ("block", "4KiB"),
            ("region", "middle"),
            ("span", "512MiB"),
            ("threads", "1"),
            ("iterations", "20000"),
        ],
        fio: &["--rw=randread", "--bs=4k", SECTORS, REPEATING, PSYNC],
        ends: Ends::Ops,
    },
    Cell {
        name: "random read, 512 B, one thread, whole medium",
        test: "random-read",
        settings: &[
            ("block", "512B"),
            ("region", "whole"),
            ("threads", "1"),
            ("iterations", "20000"),
        ],
        fio: &["--rw=randread", "--bs=512", REPEATING, PSYNC],
        ends: Ends::Ops,
    },
    Cell {
        name: "random read, 4 KiB, eight at a time",
        test: "random-read",
        settings: &[
            ("block", "4KiB"),
            ("region", "middle"),
            ("span", "512MiB"),
            ("threads", "8"),
            ("iterations", "8000"),
        ],
        fio: &[
            "--rw=randread",
            "--bs=4k",
            SECTORS,
            REPEATING,
            URING,
            "--iodepth=8",
            REGISTERED,
            FIXED,
            SUBMIT,
            COMPLETE,
        ],
        ends: Ends::Ops,
    },
    Cell {
        name: "random write, 4 KiB",
        test: "random-write",
        settings: &[
            ("block", "4KiB"),
            ("total", "48MiB"),
            ("overwhelm", "4MiB"),
            ("certainty", "0%"),
            ("slow_certainty", "0%"),
        ],
        fio: &["--rw=randwrite", "--bs=4k", PSYNC],
        ends: Ends::Ops,
    },
    Cell {
        name: "seek, 512 B, whole medium",
        test: "seek",
        settings: &[("path", "direct"), ("time", "1s")],
        fio: &["--rw=randread", "--bs=512", REPEATING, PSYNC],
        ends: Ends::Seconds(1),
    },
];

/// Queue depth 1 by pread and pwrite, as in our engine.
const PSYNC: &str = "--ioengine=psync";
/// io_uring as in our engine: file and buffers registered, as many I/Os submitted and completed in
/// a call as there are.
const URING: &str = "--ioengine=io_uring";
const REGISTERED: &str = "--registerfiles=1";
const FIXED: &str = "--fixedbufs=1";
const SUBMIT: &str = "--iodepth_batch_submit=8";
const COMPLETE: &str = "--iodepth_batch_complete_max=8";
/// Offsets as in IOTest: multiples of the sector and not of the block.
const SECTORS: &str = "--blockalign=512";
/// Offsets may repeat.
const REPEATING: &str = "--norandommap=1";
