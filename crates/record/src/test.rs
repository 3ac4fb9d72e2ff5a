//! Names of tests in records, journals, suites and on the command line.
//!
//! A record may hold cells of other tests: of a newer version, or of another tool. `flashmark
//! tests` describes each test.

crate::names! {
    ALIGN_READ = "align-read",
    BUFFERED_READ = "buffered-read",
    CAPACITY = "capacity",
    COMMIT = "commit",
    CONTENT_SWEEP = "content-sweep",
    EXT2_FILL = "ext2-fill",
    EXT2_FORMAT = "ext2-format",
    FLUSH_COST = "flush-cost",
    LOG_APPEND = "log-append",
    MATRIX = "matrix",
    MISALIGN = "misalign",
    OPEN_AUS = "open-aus",
    PRIME = "prime",
    RANDOM_FILL = "random-fill",
    RANDOM_READ = "random-read",
    RANDOM_WRITE = "random-write",
    READ_BACK = "read-back",
    RECORD_OPS = "record-ops",
    REPLAY = "replay",
    SECTOR_WRITE = "sector-write",
    SEEK = "seek",
    SEQUENTIAL_READ = "sequential-read",
    SEQUENTIAL_WRITE = "sequential-write",
    SPAN_SWEEP = "span-sweep",
    SUSTAINED = "sustained",
    VERIFY = "verify",
    WHOLE_VIEW = "whole-view",
    WRITE_UNIT = "write-unit",
    ZERO_FILL = "zero-fill",
}
