//! Addresses of pages: file names in a tree.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use pages::PageHead;
use record::MediumKind;
use record::collection::{HeadlineFigure, Origin, Query};
use report::words;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{figures, query};

/// Properties shared by all pages of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteInfo {
    /// Title of the site.
    pub title: String,
    /// Categories that are not empty; `None` to offer all.
    pub categories: Option<Vec<Query>>,
    /// What `submit --to` takes for this collection, if it is known.
    pub submit_to: Option<String>,
}

impl SiteInfo {
    /// True if a category is offered.
    pub(crate) fn has(&self, category: &Query) -> bool {
        *category == Query::default()
            || self.categories.as_ref().is_none_or(|known| known.contains(category))
    }
}

/// A category: a part of the collection with a page of its own in a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Category {
    /// Name of the category.
    pub name: String,
    /// Query for its lines.
    pub query: Query,
}

/// All categories, the whole collection first.
pub fn categories() -> Vec<Category> {
    let plural = |kind: MediumKind| match kind {
        MediumKind::Emmc => super::kind_head(kind),
        MediumKind::Unknown => "Others".to_owned(),
        kind => super::kind_head(kind) + "s",
    };
    let mut categories = vec![Category { name: "All".to_owned(), query: Query::default() }];
    let kinds = MediumKind::ALL.into_iter().filter(|kind| *kind != MediumKind::Simulated);
    categories.extend(kinds.map(|kind| Category {
        name: plural(kind),
        query: Query { kinds: vec![kind], ..Query::default() },
    }));
    let origin = |name: &str, origin| Category {
        name: name.to_owned(),
        query: Query { origins: vec![origin], ..Query::default() },
    };
    categories.push(origin("Reference data", Origin::Reference));
    categories.push(origin("Simulated", Origin::Simulated));
    categories
}

/// File of a query in a tree, if there is one: of a category.
pub fn file_of(asked: &Query) -> Option<String> {
    let plain = Query { page: 0, ..asked.clone() };
    let number =
        if asked.page > 0 { format!("-{}", u64::from(asked.page) + 1) } else { String::new() };
    let stem = match (&plain.kinds[..], &plain.origins[..]) {
        ([], []) => "index".to_owned(),
        ([kind], []) => format!("kind-{}", kind.name()),
        ([], [origin]) => origin.name().to_owned(),
        _ => return None,
    };
    let is_category = categories().iter().any(|category| category.query == plain);
    is_category.then(|| format!("{stem}{number}.html"))
}

/// A file that all pages share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Path below the site: the name has the beginning of its hash, so that it may be cached
    /// forever.
    pub path: String,
    /// Content: a style sheet or a script.
    pub text: &'static str,
}

const SCRIPT: &str = include_str!("../../templates/site/site.js");

/// The script, with its data on kinds of media and on figures: name, head, unit, size of that unit
/// in the data, and true if more is better.
fn script() -> String {
    let kinds = BTreeMap::from(MediumKind::ALL.map(|kind| (kind.name(), words::kind(kind))));
    let figure = |it: HeadlineFigure| {
        let (head, unit) = (figures::head(it), figures::column_unit(it));
        (it.name(), head, unit, query::unit_factor(it.unit()), !it.smaller_is_better())
    };
    let figures = Vec::from(HeadlineFigure::ALL.map(figure));
    let all = PageHead::SCRIPT.to_owned() + SCRIPT;
    all.replace("{/* KINDS */}", &json!(kinds).to_string())
        .replace("[/* FIGURES */]", &json!(figures).to_string())
}

/// The style sheet and the script.
pub fn assets() -> &'static [Asset; 2] {
    static ASSETS: LazyLock<[Asset; 2]> =
        LazyLock::new(|| [asset("css", pages::site_style().leak()), asset("js", script().leak())]);
    &ASSETS
}

fn asset(ending: &str, text: &'static str) -> Asset {
    let hash = record::text::hex(&Sha256::digest(text)[..4]);
    Asset { path: format!("assets/site-{hash}.{ending}"), text }
}

/// Content security policy of every page: only files of the site, no inline script or style, no
/// frames.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'";

/// Maker of the addresses on one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links<'a> {
    pub site: &'a SiteInfo,
    /// Depth of the page in directories.
    pub depth: usize,
}

impl Links<'_> {
    /// The table for this query. If a tree has no page for it, this is the first page with the
    /// query string, which its script applies.
    pub fn table(&self, asked: &Query) -> String {
        let file =
            file_of(asked).unwrap_or_else(|| format!("index.html?{}", query::to_text(asked)));
        self.file(&file)
    }

    /// The table for this query in the order of a column, which its script makes.
    pub fn sorted(&self, asked: &Query, column: &str) -> String {
        let query = query::to_text(&Query { page: 0, ..asked.clone() });
        let and = if query.is_empty() { "" } else { "&" };
        self.file(&format!("index.html?{query}{and}sort={column}"))
    }

    /// The page of a medium.
    pub fn medium(&self, slug: &str) -> String {
        self.file(&format!("medium/{slug}.html"))
    }

    /// The record of a run.
    pub fn run(&self, id: &str) -> String {
        self.file(&format!("data/run/{id}.json.gz"))
    }

    /// A file of the tree: data, assets.
    pub fn file(&self, path: &str) -> String {
        "../".repeat(self.depth) + path
    }

    /// A page of text.
    pub fn text(&self, name: &str) -> String {
        self.file(&format!("{name}.html"))
    }
}

/// True if this can be the slug of a medium or a run, in addresses and file names: lower-case
/// letters, digits and single hyphens inside.
pub fn is_slug(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty()
        && name.len() <= 200
        && name.chars().all(plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_files_and_other_orders_are_queries() {
        let site = SiteInfo { title: "Test".into(), categories: None, submit_to: None };
        let links = Links { site: &site, depth: 1 };
        let second = Query { page: 1, ..Query::default() };
        let cards = Query { kinds: vec![MediumKind::Sd], ..Query::default() };
        assert_eq!(links.table(&Query::default()), "../index.html");
        assert_eq!(links.table(&second), "../index-2.html");
        assert_eq!(links.sorted(&cards, "name"), "../index.html?kind=sd&sort=name");
        assert_eq!(links.medium("x-1"), "../medium/x-1.html");
        assert_eq!(links.run("r"), "../data/run/r.json.gz");
        assert_eq!(links.text("about"), "../about.html");
    }

    #[test]
    fn every_category_has_a_file_of_its_own() {
        let mut files: Vec<String> =
            categories().iter().map(|category| file_of(&category.query).expect("a file")).collect();
        let all = files.len();
        files.sort();
        files.dedup();
        assert_eq!(files.len(), all);
        let two = vec![MediumKind::Sd, MediumKind::Usb];
        assert_eq!(file_of(&Query { kinds: two, ..Query::default() }), None);
    }

    #[test]
    fn paths_are_no_slugs() {
        for good in ["a", "sandisk-sd32g-32gb", "2026-11-21t10-00"] {
            assert!(is_slug(good), "{good}");
        }
        for bad in ["", "..", "a/b", "A", "a.html", "-a", "a-", "a b", "ä"] {
            assert!(!is_slug(bad), "{bad}");
        }
    }
}
