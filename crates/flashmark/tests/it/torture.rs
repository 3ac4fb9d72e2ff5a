//! Events that must never happen, tried at random and often: a finished cell is lost, or a byte is
//! written without permission.
//!
//! Each test makes a few tries in the usual test run, and more for `cargo validation torture`,
//! which collects the results of a [`Tally`].

mod kills;
mod medium;
mod power;
mod results;
mod stops;
mod tally;

pub use tally::Tally;
