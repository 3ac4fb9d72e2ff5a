//! Where citations lead: what the project knows of the field stands in docs/field/, and every
//! comment, threshold and document that cites a page or a heading of it must find it there.

use super::Fault;
use super::project::Project;

/// Where the facts stand, with their sources.
const FIELD: &str = "docs/field/";
/// The tests of these rules cite what is not there.
const OWN_TESTS: &str = "xtask/src/layers/tests.rs";

/// The anchors of a page's headings.
fn anchors(page: &str) -> impl Iterator<Item = String> {
    let mut in_code = false;
    page.lines().filter_map(move |line| {
        in_code ^= line.starts_with("```");
        let title = line
            .trim_start_matches('#')
            .strip_prefix(' ')
            .filter(|_| line.starts_with('#') && !in_code)?;
        Some(collection::site::anchor(&title.replace('`', "")))
    })
}

/// Paths such as `docs/field/ftl.md#model` in a line of code or text, without what follows them.
fn field_citations(line: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_ascii_alphanumeric() || "-_./#".contains(c);
    line.match_indices(FIELD).map(move |(at, _)| {
        let rest = &line[at..];
        rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())].trim_end_matches(['.', '/', '#'])
    })
}

/// What a line of Markdown links to.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](")
        .filter_map(|(at, open)| line[at + open.len()..].split_once(')').map(|(to, _)| to))
}

/// The reason why `path#anchor` leads nowhere, if it does.
fn is_lost(project: &Project, path: &str, anchor: Option<&str>) -> Option<String> {
    let is_folder = || project.all().any(|(file, _)| file.starts_with(&format!("{path}/")));
    let Some(text) = project.text(path) else {
        return (!project.has(path) && !is_folder()).then(|| format!("{path} is not there"));
    };
    let anchor = anchor.filter(|_| path.ends_with(".md"))?;
    let is_there = anchors(text).any(|known| known == anchor);
    (!is_there).then(|| format!("{path} has no heading for #{anchor}"))
}

fn split(to: &str) -> (&str, Option<&str>) {
    to.split_once('#').map_or((to, None), |(path, anchor)| (path, Some(anchor)))
}

/// Every page and heading of docs/field/ that is cited is there.
pub fn field_citations_exist(project: &Project) -> Vec<Fault> {
    let why = "a threshold is worth what its source is worth: whoever doubts it must find the paragraph in two clicks";
    let cited = project.all().filter(|(path, _)| !path.ends_with(".md") && *path != OWN_TESTS);
    let cited = cited.flat_map(|(path, text)| {
        text.lines().enumerate().map(move |(at, line)| (path, at + 1, line))
    });
    let lost = |(path, number, line)| -> Vec<Fault> {
        let lost = field_citations(line).filter_map(|to| {
            let (page, anchor) = split(to);
            is_lost(project, page, anchor)
        });
        lost.map(|what| Fault::new(path, format!("line {number}: {what}"), why)).collect()
    };
    cited.flat_map(lost).collect()
}

/// Every link from one document to another leads there.
pub fn links_between_documents_lead_there(project: &Project) -> Vec<Fault> {
    let why = "a reader follows it";
    let mut faults = Vec::new();
    for (path, text) in project.all().filter(|(path, _)| path.ends_with(".md")) {
        let mut in_code = false;
        for (at, line) in text.lines().enumerate() {
            in_code ^= line.trim_start().starts_with("```");
            let inside = links(line)
                .filter(|to| !in_code && !to.contains("://") && !to.starts_with("mailto:"));
            let lost = inside.filter_map(|to| {
                let (to, anchor) = split(to);
                let page = if to.is_empty() {
                    Some(path.to_owned())
                } else {
                    collection::site::linked_path(path, to)
                };
                page.map_or_else(
                    || Some(format!("{to} is outside the project")),
                    |page| is_lost(project, &page, anchor),
                )
            });
            faults
                .extend(lost.map(|what| Fault::new(path, format!("line {}: {what}", at + 1), why)));
        }
    }
    faults
}
