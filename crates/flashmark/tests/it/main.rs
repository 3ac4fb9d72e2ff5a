//! The program as a user sees it: on simulated media, and on loop devices and file systems if the
//! tests have the rights.
#![allow(clippy::unwrap_used, reason = "a test says by panicking what is wrong")]

mod articles;
mod bad_input;
mod capacity;
mod card;
mod cases;
mod caveats;
mod check;
mod contents;
mod corpus;
mod crash;
mod damaged;
mod deaf;
mod devices;
#[path = "../../../../tests/failing.rs"]
mod failing;
#[path = "../../../../tests/first_lines.rs"]
mod first_lines;
mod fleets;
mod in_use;
mod journeys;
mod keeping;
mod metrics;
mod models;
mod next_steps;
mod priority;
mod progress;
mod readme;
mod recomputed;
mod refusals;
mod restored;
mod several;
mod sim_runs;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
mod span;
#[path = "../../../../tests/support.rs"]
mod support;
mod swapped;
mod tally;
mod terminals;
