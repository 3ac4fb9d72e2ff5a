//! Records and comparisons as pages, and the charts on them; pure functions.
//!
//! [`panels`] turns cells into charts with their tables, [`chart`] draws them, [`view`] has the
//! parts of pages. Every page is one self-contained file: no network, no external fonts or pictures, and no text of a record is
//! treated as markup.
//!
//! A content security policy names the script and the style of the page by their SHA-256, so that
//! even injected markup could not run. The page is complete without JavaScript; the script shows
//! tooltips sooner, opens the target of a link in browsers that do not do so themselves, and offers
//! the record as a file.
//!
//! The page of a run has two layers: a first sheet, which is all that is printed, and the rest,
//! collapsed.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test says by panicking what is wrong"))]

mod article;
mod card;
pub mod chart;
mod compare;
mod embedded_record;
mod filters;
mod forest;
pub mod panels;
pub mod view;

#[cfg(test)]
#[path = "../../report/src/demo.rs"]
pub mod demo;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use record::Record;
use sha2::{Digest as _, Sha256};

pub use article::{article, site_style};
pub use card::card;
pub use compare::{against_block_size, comparison, look};

use view::{MatrixPage, RunPage};

/// Parts of every page: style, script, and the policy that blocks everything else.
pub struct PageHead;

impl PageHead {
    /// The style sheet, part of every page.
    pub const STYLE: &str = include_str!("../templates/report.css");
    /// The script, part of every page.
    pub const SCRIPT: &str = include_str!("../templates/report.js");

    /// The content security policy: this style, this script, and no network at all.
    fn policy() -> String {
        let (script, style) = (allowed(Self::SCRIPT), allowed(Self::STYLE));
        format!(
            "default-src 'none'; script-src {script}; style-src {style}; base-uri 'none'; form-action 'none'"
        )
    }
}

/// A style or a script as a policy names it.
fn allowed(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// The report of one run.
pub fn page(record: &Record) -> String {
    if let Some(matrix) = findings::matrix::of(record) {
        return MatrixPage::of(record, &matrix)
            .render()
            .expect("a template that compiled renders into memory");
    }
    RunPage::of(record).render().expect("a template that compiled renders into memory")
}

#[cfg(test)]
mod tests;
