//! A digest of a page: headings, tables with their rows, how many charts, and the size.

use std::fmt::Write as _;

/// The headings in order, each table's caption and number of rows, the charts, and the size in kB.
pub(super) fn digest(page: &str) -> String {
    let mut text = String::new();
    for part in parts(page) {
        match part {
            Part::Heading(title) => _ = writeln!(text, "{title}"),
            Part::Table { caption, rows } => _ = writeln!(text, "  table, {rows} rows: {caption}"),
        }
    }
    let charts = page.matches("<figcaption>").count();
    let _ = writeln!(text, "{charts} charts, {} kB", page.len().div_ceil(1000));
    text
}

enum Part {
    Heading(String),
    Table { caption: String, rows: usize },
}

/// Headings and tables in the order in which they stand.
fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let heading = ["h1", "h2", "h3"].into_iter().find_map(|tag| inside(rest, tag));
        if let Some(heading) = heading {
            parts.push(Part::Heading(words(heading)));
        }
        if let Some(table) = inside(rest, "table") {
            let caption = table.find("<caption").and_then(|at| inside(&table[at..], "caption"));
            let rows = table.matches("<tr").count();
            parts.push(Part::Table { caption: words(caption.unwrap_or_default()), rows });
        }
        rest = &rest[1..];
    }
    parts
}

/// Contents of the element that the text begins with; `None` if it is another element.
fn inside<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let rest = text.strip_prefix('<')?.strip_prefix(tag)?;
    if !rest.starts_with(['>', ' ']) {
        return None;
    }
    let begin = rest.find('>')? + 1;
    let end = rest.find(&format!("</{tag}>"))?;
    rest.get(begin..end)
}

/// Text without markup.
fn words(markup: &str) -> String {
    let mut text = String::new();
    for (at, piece) in markup.split('<').enumerate() {
        text += if at == 0 { piece } else { piece.split_once('>').map_or("", |(_, rest)| rest) };
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn headings_tables_and_charts_are_counted() {
    let page = "<h2>Key <b>figures</b></h2><table class=\"x\"><caption>All</caption><tr><td>1</td>\
                </tr><tr></tr></table><figcaption>Rate</figcaption>";
    assert_eq!(digest(page), "Key figures\n  table, 2 rows: All\n1 charts, 1 kB\n");
}
