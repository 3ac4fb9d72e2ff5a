//! Strict checks of a page: nesting, ids, labels, heads of tables.

use std::collections::BTreeSet;

/// A start or end tag.
#[derive(Debug)]
pub struct Tag<'a> {
    pub name: &'a str,
    pub is_end: bool,
    /// True if it closes itself, as SVG shapes do.
    pub is_whole: bool,
    pub attributes: Vec<(&'a str, &'a str)>,
    /// Text between it and the next tag.
    pub text: &'a str,
}

impl<'a> Tag<'a> {
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

const VOID: [&str; 6] = ["meta", "link", "input", "br", "hr", "img"];

/// All tags of a page, in order. Panics on malformed tags, such as an unescaped `<` or `>` in text.
pub fn tags(page: &str) -> Vec<Tag<'_>> {
    let body = page.strip_prefix("<!DOCTYPE html>").expect("a page says what it is");
    let (before, body) = body.split_once('<').expect("a tag");
    assert!(before.trim().is_empty(), "text before the first tag: {before}");
    body.split('<').map(tag).collect()
}

/// A tag and the text after it.
fn tag(part: &str) -> Tag<'_> {
    let (inside, text) = part.split_once('>').unwrap_or_else(|| panic!("no end of <{part}"));
    assert!(!text.contains('>'), "a bare > in {text:?}");
    let (is_whole, inside) = inside.strip_suffix('/').map_or((false, inside), |rest| (true, rest));
    let (is_end, inside) = inside.strip_prefix('/').map_or((false, inside), |rest| (true, rest));
    let (name, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
    assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()), "<{inside}>");
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Tag { name, is_end, is_whole, attributes, text };
        }
        let (key, after) = rest.split_at(rest.find(['=', ' ']).unwrap_or(rest.len()));
        let quoted = after.strip_prefix("=\"").map(|quoted| {
            quoted.split_once('"').unwrap_or_else(|| panic!("no end of {key} in <{inside}>"))
        });
        let (value, after) = quoted.unwrap_or(("", after));
        attributes.push((key, value));
        rest = after;
    }
}

/// How far an element of a table whose end may be implied is from its cells; 4 for any other.
fn depth_in_table(name: &str) -> usize {
    match name {
        "td" | "th" => 0,
        "tr" => 1,
        "thead" | "tbody" => 2,
        _ => 4,
    }
}

/// Panics unless the page is valid for a strict parser and accessible to a screen reader.
pub fn check(page: &str) {
    let tags = tags(page);
    let mut open: Vec<&str> = Vec::new();
    let mut ids = BTreeSet::new();
    let mut captions = 0;
    let mut before = "";
    for tag in &tags {
        let implied = match tag.name {
            "td" | "th" if !tag.is_end => 1,
            "tr" if !tag.is_end => 2,
            "tbody" if !tag.is_end => 3,
            "table" if tag.is_end => 4,
            _ => 0,
        };
        while open.last().is_some_and(|name| depth_in_table(name) < implied) {
            open.pop();
        }
        if tag.is_end {
            assert_eq!(open.pop(), Some(tag.name), "what is open: {open:?}");
            continue;
        }
        for (name, _) in &tag.attributes {
            let is_allowed = !name.starts_with("on") && *name != "style";
            assert!(is_allowed, "the policy forbids {name} in {tag:?}");
        }
        if let Some(id) = tag.get("id") {
            assert!(!id.is_empty() && !id.contains(' ') && ids.insert(id), "{tag:?}");
        }
        match tag.name {
            // HTML gives a scope to the heads of a top row, and to the first cell of a row.
            "th" => assert!(
                tag.get("scope").is_some() || open.contains(&"thead") || before == "tr",
                "a head of no row and no column"
            ),
            "caption" => captions += 1,
            "input" if tag.get("type") != Some("hidden") => {
                let is_named = open.contains(&"label") || tag.get("aria-label").is_some();
                assert!(is_named, "an input without a label: {tag:?}");
            }
            "select" => assert!(open.contains(&"label"), "a select without a label"),
            "script" => assert!(tag.get("src").is_some(), "a script inside the page"),
            "a" => {
                assert!(tag.get("href").is_some_and(|href| !href.is_empty()), "a link to nowhere");
                // Users of voice control say the visible text.
                let heard = tag.get("aria-label").unwrap_or(tag.text).to_lowercase();
                assert!(heard.contains(&tag.text.to_lowercase()), "seen and not heard: {tag:?}");
            }
            "pre" | "div" if tag.name == "pre" || tag.get("class") == Some("scroll") => {
                assert_eq!(tag.get("tabindex"), Some("0"), "scrolls without keys: {tag:?}");
                let named = tag.get("aria-label").or(tag.get("aria-labelledby"));
                assert!(named.is_some() && tag.get("role").is_some(), "has no name: {tag:?}");
            }
            "p" => assert!(!open.contains(&"p"), "a paragraph in a paragraph"),
            _ => {}
        }
        before = tag.name;
        if !VOID.contains(&tag.name) && !tag.is_whole {
            open.push(tag.name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    assert!(tags.iter().filter(|tag| tag.name == "h1" && !tag.is_end).count() == 1, "one h1");
    let boxes = tags.iter().filter(|tag| tag.get("aria-labelledby").is_some());
    boxes.for_each(|tag| {
        assert!(ids.contains(tag.get("aria-labelledby").unwrap_or_default()), "{tag:?}")
    });
    for link in tags.iter().filter_map(|tag| tag.get("href")?.strip_prefix('#')) {
        assert!(ids.contains(link), "#{link} leads nowhere");
    }
    assert!(captions <= tags.iter().filter(|tag| tag.name == "table").count());
}
