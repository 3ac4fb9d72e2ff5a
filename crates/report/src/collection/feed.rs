//! The Atom feed (RFC 4287) of new results.

use askama::Template;
use record::collection::{CollectionRun, HeadlineFigure, NO_TIME};
use record::text::printable;

use super::address::{Links, SiteInfo};
use super::{figures, query, table};

/// A new run with its medium.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The run, with its headline figures and its time of arrival.
    pub entry: &'a CollectionRun,
    /// Slug of the medium.
    pub slug: &'a str,
    /// Name of the medium.
    pub name: &'a str,
}

#[derive(Template)]
#[template(path = "collection/feed.xml")]
struct FeedPage {
    title: String,
    author: String,
    id: String,
    own: String,
    home: String,
    updated: String,
    items: Vec<ItemView>,
}

struct ItemView {
    id: String,
    title: String,
    href: String,
    updated: String,
    published: String,
    summary: String,
    origin: &'static str,
}

/// The feed of these runs, the newest first. Its links are absolute if the site's address is known,
/// and else relative to the feed.
pub fn feed(site: &SiteInfo, items: &[Item]) -> String {
    let links = Links { site, depth: 0 };
    let whole = |href: String| match &site.base {
        Some(base) => format!("{}/{}", base.trim_end_matches('/'), href.trim_start_matches('/')),
        None => href,
    };
    let page = FeedPage {
        title: text(&format!("{}: new results", site.title)),
        author: text(&site.title),
        id: site.base.clone().map_or_else(
            || format!("urn:flashmark:collection:{}", query::escaped(&site.title)),
            |base| text(&base),
        ),
        own: text(&whole(links.file("feed.atom"))),
        home: text(&whole(links.table(&record::collection::Query::default()))),
        updated: text(
            items
                .first()
                .map(|item| item.entry.received.as_str())
                // A feed needs a time of its last change, even without results.
                .unwrap_or(NO_TIME),
        ),
        items: items.iter().map(|item| view(item, &whole(links.medium(item.slug)))).collect(),
    };
    page.render().expect("a template that compiled renders into memory")
}

fn view(item: &Item, href: &str) -> ItemView {
    let entry = item.entry;
    let summary_part = |figure: HeadlineFigure| {
        let value = entry
            .headline
            .figures
            .get(&figure)
            .copied()
            .filter(|value| value.is_finite() && *value > 0.0)?;
        Some(format!(
            "{}: {} ({})",
            figures::head(figure),
            figures::with_unit(figure, value),
            figures::place(figure, value)
        ))
    };
    let verdict = entry.headline.verdict.iter().map(|verdict| printable(verdict));
    let summary: Vec<String> =
        verdict.chain(figures::MAIN.into_iter().filter_map(summary_part)).collect();
    let fake = if entry.headline.is_fake { " (fake)" } else { "" };
    ItemView {
        id: text(&format!("urn:flashmark:run:{}", query::escaped(&entry.id))),
        title: text(&format!("{}{fake}", item.name)),
        href: text(href),
        updated: text(&entry.received),
        published: text(&entry.received),
        summary: text(&summary.join(". ")),
        origin: table::origin_words(entry.origin),
    }
}

/// Text without the characters that XML 1.0 cannot hold, even escaped.
fn text(text: &str) -> String {
    printable(text).chars().filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}')).collect()
}
