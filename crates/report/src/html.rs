//! One self-contained page: no network, no external fonts or pictures, and no text of a record is
//! treated as markup.
//!
//! A content security policy names the script and the style of the page by their SHA-256, so that
//! even injected markup could not run. The page is complete without JavaScript; the script shows
//! tooltips sooner, opens the target of a link in browsers that do not do so themselves, and offers
//! the record as a file.
//!
//! The page of a run has two layers: a first sheet, which is all that is printed, and the rest,
//! collapsed.

mod embedded_record;
pub(crate) mod view;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use record::Record;
use sha2::{Digest as _, Sha256};

use view::{MatrixPage, RunPage};

/// Parts of every page: style, script, and the policy that blocks everything else.
pub(crate) struct PageHead;

impl PageHead {
    /// The style sheet, part of every page.
    pub const STYLE: &str = include_str!("../templates/report.css");
    /// The script, part of every page.
    pub const SCRIPT: &str = include_str!("../templates/report.js");

    /// The content security policy: this style, this script, and no network at all.
    pub fn policy() -> String {
        let allow = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        let (script, style) = (allow(Self::SCRIPT), allow(Self::STYLE));
        format!(
            "default-src 'none'; script-src {script}; style-src {style}; base-uri 'none'; form-action 'none'"
        )
    }
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
