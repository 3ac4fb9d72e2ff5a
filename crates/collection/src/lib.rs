//! An open collection of runs. Every run that is sent or published passes [`read`] or [`judge`],
//! which draw its figures from its evidence and say what cannot be true of it; the program that sends
//! asks the same functions before. [`lines_of`] computes the table from the runs that count, [`site`] makes its pages.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test says by panicking what is wrong"))]

#[cfg(test)]
#[path = "../../../tests/cases.rs"]
#[allow(clippy::disallowed_methods, reason = "the cases are a file")]
mod cases;
pub mod consensus;
pub mod copies;
mod judging;
mod lines;
mod names;
mod reference;
pub mod site;

pub use judging::{Rejection, Upload, UploadLimits, check, judge, read, read_run};
pub use lines::{GUEST, LineRuns, SentRun, content_name, lines_of, link_of};
pub use names::{Entry, Names};
pub use reference::reference_headline;

#[cfg(test)]
#[path = "../../report/src/demo.rs"]
pub mod demo;
