//! The report of a run on a page of the site.

use askama::Template;
use record::collection::CollectionRun;
use record::text::printable;

use super::address::SiteInfo;
use super::medium::concluded;
use super::text::framed;
use crate::html;

/// Content above the report of a run.
#[derive(Template)]
#[template(path = "collection/above.html")]
struct ReportHeader<'a> {
    links: &'a [(String, String)],
    notes: &'a [String],
}

/// Everything published of a run, with new conclusions. `links` (text and address) are links to
/// related pages; `notes` are sentences about its status: waiting, replaced.
pub fn run(
    site: &SiteInfo,
    entry: &CollectionRun,
    links: &[(String, String)],
    notes: &[String],
) -> String {
    let above = ReportHeader { links, notes }
        .render()
        .expect("a template that compiled renders into memory");
    let title = format!("Run of {}", printable(&entry.run.name()));
    framed(site, &title, &format!("{above}\n{}", html::body(&concluded(entry))))
}
