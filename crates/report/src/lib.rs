//! Records as text for a terminal and as Markdown; pure functions.
//!
//! [`text::summary`] is the screen at the end of a run, [`text::table`] has every cell. All forms,
//! also the pages of the crate `pages`, use the same parts: [`words`] puts facts and quantities
//! into words, [`figure`] decides which figures may be printed, [`headline`] selects the figures
//! that decide if a medium is usable.
//!
//! Two rules hold everywhere. A figure without its interval, its sample count and its stop reason
//! is not printed, but the reason for that is (a figure of another tool is printed, marked as a
//! single figure). And no text of a record reaches a terminal or a page unescaped.

pub mod articles;
pub mod caveats;
mod cell_names;
pub mod column_figures;
pub mod compare;
pub mod display;
pub mod figure;
pub mod headline;
pub mod markdown;
pub mod markup;
pub mod matrix;
pub mod reference;
pub mod summaries;
pub mod tables;
pub mod text;
pub mod words;
pub mod yardstick;

pub use cell_names::CellNames;

#[cfg(test)]
pub mod demo;
