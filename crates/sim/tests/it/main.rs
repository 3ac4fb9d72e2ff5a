//! Tests of simulated media through the interface that a suite uses.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

#[path = "../../../../tests/cases.rs"]
#[allow(clippy::disallowed_methods, reason = "the cases are a file")]
mod cases;
mod common;
mod data;
mod faults;
mod flash;
mod kept_apart;
mod layers;
mod profiles;
mod repeatable;
mod truth;
