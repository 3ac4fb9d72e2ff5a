//! Records to text tables, SVG and HTML; pure.
//!
//! [`text::summary`] is what a person sees when a run ends, [`text::table`] is every cell,
//! [`html::page`] is one self-contained page. All three rest on the same parts: [`words`] puts
//! facts and quantities into words, `figure` decides what may be printed, `headline` picks what
//! decides whether a medium is usable, [`panels`] turns cells into charts with their tables,
//! [`chart`] draws them.
//!
//! Two rules hold everywhere: a figure without its interval, its sample count and its stop reason
//! is not printed, the reason is (one of another tool is, marked as a single figure); and nothing
//! that came with a record reaches a terminal or a page unescaped.

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
pub mod outcomes;
pub mod panels;
pub mod summaries;
pub mod tables;
pub mod text;
pub mod words;
pub mod yardstick;

pub use cell_names::CellNames;

#[cfg(test)]
mod demo;
