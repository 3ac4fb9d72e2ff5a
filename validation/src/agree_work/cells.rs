//! Forms that are compared with fio: each once in our words and once in fio's
//! (docs/field/classic-tools.md#the-same-with-fio).

/// One form of a work.
pub struct Form {
    /// Name of the work: "record-ops" or "threads".
    pub work: &'static str,
    /// `params.form` of its cell.
    pub name: &'static str,
    /// fio's job, without the directory.
    pub fio: &'static [&'static str],
}

/// Works with their settings: short enough for many repetitions.
pub const WORKS: [(&str, &[&str]); 2] = [
    ("record-ops", &["size=64MiB"]),
    (
        "threads",
        &[
            "forms=honest",
            "honest_size=16MiB",
            "time=1s",
            "pause=0s",
            "phases=write,rewrite,read,random-read,random-write",
        ],
    ),
];

/// Options that all jobs share: records of 4 KiB of one repeated byte, past the page cache, at
/// queue depth 1.
pub const FIO: [&str; 8] = [
    "--bs=4k",
    "--direct=1",
    "--thread",
    "--ioengine=psync",
    "--fallocate=none",
    "--buffer_pattern=0xa5",
    "--randrepeat=0",
    "--lat_percentiles=1",
];

/// Forms in the order in which both sides do them: the first makes the files.
pub const FORMS: [Form; 9] = [
    Form {
        work: "record-ops",
        name: "write",
        fio: &["--rw=write", "--filename=records", "--size=64m", "--sync=1", NEW],
    },
    Form {
        work: "record-ops",
        name: "rewrite",
        fio: &["--rw=write", "--filename=records", "--size=64m", "--sync=1"],
    },
    Form {
        work: "record-ops",
        name: "random-read",
        fio: &["--rw=randread", "--filename=records", "--size=64m", TIMED, SECOND, WARM],
    },
    Form {
        work: "record-ops",
        name: "random-write",
        fio: &["--rw=randwrite", "--filename=records", "--size=64m", "--sync=1"],
    },
    Form { work: "threads", name: "honest-write", fio: &["--rw=write", WORKERS, FILES, SIZE, NEW] },
    Form {
        work: "threads",
        name: "honest-rewrite",
        fio: &["--rw=write", WORKERS, FILES, SIZE, TIMED, SECOND],
    },
    Form {
        work: "threads",
        name: "honest-read",
        fio: &["--rw=read", WORKERS, FILES, SIZE, TIMED, SECOND],
    },
    Form {
        work: "threads",
        name: "honest-random-read",
        fio: &["--rw=randread", WORKERS, FILES, SIZE, TIMED, SECOND],
    },
    Form {
        work: "threads",
        name: "honest-random-write",
        fio: &["--rw=randwrite", WORKERS, FILES, SIZE, TIMED, SECOND],
    },
];

/// The file grows with each write, as iozone's does; by default fio would make it with its final
/// size.
const NEW: &str = "--create_on_open=1";
const WORKERS: &str = "--numjobs=4";
const FILES: &str = "--filename_format=thread.$jobnum";
const SIZE: &str = "--size=16m";
const TIMED: &str = "--time_based";
const SECOND: &str = "--runtime=1";
/// Excludes fio's work before its first read from its rate: it takes as long as thousands of reads
/// in memory.
const WARM: &str = "--ramp_time=500ms";
