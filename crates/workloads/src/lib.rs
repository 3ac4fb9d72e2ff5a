//! Real work: on mounted file systems, under each scheduler, recorded and replayed.

#[cfg(test)]
#[path = "../../../tests/cases.rs"]
mod cases;
mod fragmentation;
mod lay_down;
pub mod matrix;
pub mod replay;
pub mod trace;
pub mod watch;
pub mod workload;
