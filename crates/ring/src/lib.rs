//! The real devices: io_uring, and pread/pwrite where that is refused.
