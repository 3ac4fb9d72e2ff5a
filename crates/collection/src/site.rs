//! The pages of a collection, a tree of files.
//!
//! [`table`] is the wide table, [`medium_beside`] the page of a medium, [`compare_kind`] a comparison
//! of up to eight media, [`text_page`] an explanation; [`data`]
//! has the same as JSON and CSV. All are functions of lines and entries: they do not know where
//! these are stored, and how pages reach a reader. A [`SiteInfo`] says what all pages show.
//!
//! Reading needs no script: a table without it is sorted by random writes. The script sorts and filters
//! in the page, counts the media ticked for comparison, and remembers hidden columns. No text of a
//! record is treated as markup, and the content security policy ([`POLICY`]) only allows files of
//! the site.

mod address;
mod compare;
pub mod data;
mod every_figure;
mod figures;
mod hosts;
mod medium;
pub mod query;
mod table;
mod text;

pub use address::{Asset, Category, POLICY, SiteInfo, assets, categories, file_of, is_slug};
pub use compare::{choose, compare_kind, ready_file};
pub use figures::head as figure_head;
pub use medium::medium_beside;
pub use table::{MAX_COMPARED, lies_on, order, table};
pub use text::{TEXTS, about, anchor, linked_path, methodology, text_page};

use address::Links;
use record::text::{capitalised, printable};
use report::words;

/// Parts that surround every page: head, navigation, foot.
pub(crate) struct SiteFrame {
    pub title: String,
    pub site: String,
    pub style: String,
    pub script: String,
    pub home: String,
    pub about: String,
    pub methodology: String,
    pub submit_to: String,
    pub nav: [NavItem; 4],
}

pub(crate) struct NavItem {
    pub text: &'static str,
    pub href: String,
    pub here: bool,
}

impl SiteFrame {
    /// Frame of a page; `here` is the page's place in the navigation.
    pub fn new(links: Links<'_>, title: String, here: &str) -> SiteFrame {
        let [style, script] = assets();
        let home = links.table(&record::collection::Query::default());
        let item = |name, text, href| NavItem { text, href, here: name == here };
        SiteFrame {
            title: printable(&title),
            site: printable(&links.site.title),
            style: links.file(&style.path),
            script: links.file(&script.path),
            about: links.text("about"),
            methodology: links.text("methodology"),
            submit_to: links.site.submit_to.as_deref().map_or("ADDRESS".to_owned(), printable),
            nav: [
                item("table", "Media", home.clone()),
                item("compare", "Compare", links.text("compare")),
                item("methodology", "Methodology", links.text("methodology")),
                item("about", "Data", links.text("about")),
            ],
            home,
        }
    }

    /// The content security policy.
    pub fn policy(&self) -> &'static str {
        POLICY
    }
}

/// Kind of a medium, with a capital letter for the start of a line.
pub(crate) fn kind_head(kind: record::MediumKind) -> String {
    match kind {
        record::MediumKind::Emmc => words::kind(kind).to_owned(),
        _ => capitalised(words::kind(kind)),
    }
}

/// Kind of a medium, and its capacity if known.
fn kind_and_size(model: &record::collection::Model) -> Vec<String> {
    let size = (model.capacity_gb > 0).then(|| format!("{} GB", model.capacity_gb));
    std::iter::once(words::kind(model.kind).to_owned()).chain(size).collect()
}

#[cfg(test)]
mod tests;
