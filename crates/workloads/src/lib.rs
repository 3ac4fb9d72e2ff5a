//! Real work: on mounted file systems, under each scheduler, recorded and replayed.

pub mod fragmentation;
pub mod matrix;
pub mod replay;
mod single_io;
pub mod trace;
pub mod watch;
pub mod workload;
