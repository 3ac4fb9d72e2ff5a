//! The collection as a web service: pages, downloads, an API for programs, and submissions. It
//! trusts no input, and links no code that could access a medium.
//!
//! Begin reading at `web.rs` (all routes, and rules for every answer), `state.rs` (shared state,
//! and access to the collection), `submissions.rs` (submission of a run).
#![allow(clippy::print_stderr, reason = "the log of a service is its standard error")]

mod api;
mod base;
mod body;
mod cache;
mod client;
pub mod command;
mod counting;
mod data;
mod import;
mod judgements;
mod kept_within;
mod metrics;
mod moderation;
mod newest_runs;
mod open_connections;
mod pages;
mod problem;
mod problem_page;
mod published;
mod quota;
pub mod rate_limit;
mod schema;
mod serve;
mod sessions;
mod state;
mod submissions;
#[cfg(test)]
mod tests;
mod web;

pub use base::Base;
pub use serve::serve;
pub use state::{App, Quarantine, ServerOptions};
pub use web::router;
