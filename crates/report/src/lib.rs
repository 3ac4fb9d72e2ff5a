//! Records as text tables, SVG and HTML; pure functions.
//!
//! [`text::summary`] is the screen at the end of a run, [`text::table`] has every cell,
//! [`html::page`] is one self-contained page. All three use the same parts: [`words`] puts facts
//! and quantities into words, `figure` decides which figures may be printed, `headline` selects the
//! figures that decide if a medium is usable, [`panels`] turns cells into charts with their tables,
//! [`chart`] draws them.
//!
//! Two rules hold everywhere. A figure without its interval, its sample count and its stop reason
//! is not printed, but the reason for that is (a figure of another tool is printed, marked as a
//! single figure). And no text of a record reaches a terminal or a page unescaped.

pub mod articles;
mod caveats;
mod cell_names;
pub mod chart;
pub mod collection;
pub mod column_figures;
pub mod compare;
pub mod display;
mod figure;
mod headline;
pub mod html;
pub mod markdown;
mod matrix;
pub mod panels;
pub mod reference;
pub mod summaries;
pub mod tables;
pub mod text;
pub mod words;
pub mod yardstick;

pub use cell_names::CellNames;

#[cfg(test)]
mod demo;
