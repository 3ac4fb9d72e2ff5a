//! Simulated media from outside, as a suite sees them.

mod common;
mod contract;
mod disk;
