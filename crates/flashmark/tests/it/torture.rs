//! What must never happen, tried at random and often: a finished cell that is lost, a byte that was
//! not given and is written.
//!
//! Each test tries a few times in passing, and as often as it is told by `cargo validation torture`,
//! which collects what they tell a [`Tally`].

mod kills;
mod medium;
mod power;
mod results;
mod stops;
mod tally;

pub use tally::Tally;
