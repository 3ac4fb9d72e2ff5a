//! Writes all pages and files of a site into a directory. Media are taken one by one, so that a
//! collection of any size fits.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use record::MediumKind;
use record::collection::{
    CollectionLine, CollectionRun, HeadlineFigure, Model, Origin, Page, Query, SortBy,
};
use report::collection::data::{self, Bulk};
use report::collection::{self as pages, Item, MOST_COMPARED, SiteInfo, query};
use store::export::{ParquetSink, Sink};

use super::filling::Tree;
use super::publications;
use super::source::PublishedLines;
use crate::parallel::on_all_processors;

/// What is said of the site as a whole.
pub struct SiteSummary {
    pub title: String,
    /// Its full address, with a slash at its end.
    pub address: Option<String>,
    /// When the site is made: RFC 3339 in UTC.
    pub now: String,
    /// Whether it has pages of what others have published.
    pub has_published: bool,
}

/// Results in the feed.
const FEED: usize = 50;

/// Writes the site; returns how many files it has.
pub fn write(dir: &Path, source: &PublishedLines, made: &SiteSummary) -> Result<usize> {
    let tree = Tree::new(dir);
    let published = made.has_published.then_some("published");
    let folders = ["assets", "medium", "compare", "data", "data/medium", "data/run"];
    for folder in folders.into_iter().chain(published) {
        fs::create_dir(dir.join(folder)).with_context(|| format!("cannot make {folder}"))?;
    }
    let lines: Vec<&CollectionLine> = source.lines().collect();
    let site = site(&lines, made);
    for asset in pages::assets() {
        tree.write(&asset.path, asset.text)?;
    }
    tables(&tree, &site, &lines)?;
    texts(&tree, &site, source)?;
    whole(&tree, made, &lines)?;
    parquet(&tree, source, lines.len())?;
    feed(&tree, &site, source, &lines)?;
    comparisons(&tree, &site, source, &lines)?;
    media(&tree, &site, source, &lines)?;
    if site.has_published {
        publications::write(&tree, &site, source, &lines)?;
    }
    Ok(tree.written())
}

fn site(lines: &[&CollectionLine], made: &SiteSummary) -> SiteInfo {
    let filled = |shelf: &Query| lines.iter().any(|line| pages::lies_on(line, shelf));
    SiteInfo {
        title: made.title.clone(),
        place: pages::SiteKind::Tree,
        base: made.address.clone(),
        made: Some(made.now.clone()),
        shelves: Some(
            pages::shelves().into_iter().map(|shelf| shelf.query).filter(filled).collect(),
        ),
        has_published: made.has_published,
    }
}

/// The table in every order, and each shelf in the usual one.
fn tables(tree: &Tree, site: &SiteInfo, lines: &[&CollectionLine]) -> Result<()> {
    let usual = |sort: &SortBy| *sort == SortBy::default();
    let orders = pages::orders()
        .into_iter()
        .map(|sort| Query { sort: (!usual(&sort)).then_some(sort), ..Query::default() });
    let shelves =
        site.shelves.iter().flatten().filter(|shelf| **shelf != Query::default()).cloned();
    let asked: Vec<Query> = orders.chain(shelves).collect();
    on_all_processors(asked.len(), |at| sorted(tree, site, lines, &asked[at]))
}

/// The pages of what is asked for, in its order.
fn sorted(tree: &Tree, site: &SiteInfo, lines: &[&CollectionLine], asked: &Query) -> Result<()> {
    let mut lines: Vec<&CollectionLine> =
        lines.iter().copied().filter(|line| pages::lies_on(line, asked)).collect();
    pages::order(&mut lines, asked.sort.unwrap_or_default());
    let total = lines.len() as u64;
    let empty: &[&CollectionLine] = &[];
    let chunks: Vec<&[&CollectionLine]> =
        if lines.is_empty() { vec![empty] } else { lines.chunks(query::LINES as usize).collect() };
    for (number, chunk) in chunks.into_iter().enumerate() {
        let asked = Query { page: number as u32, ..asked.clone() };
        let page = Page { lines: chunk.iter().map(|line| (*line).clone()).collect(), total };
        let file = pages::file_of(&asked).context("a shelf or an order without a file")?;
        tree.write(&file, &pages::table(site, &page, &asked))?;
    }
    Ok(())
}

fn texts(tree: &Tree, site: &SiteInfo, source: &PublishedLines) -> Result<()> {
    tree.write("methodology.html", &pages::methodology(site))?;
    tree.write("about.html", &pages::about(site, source.media() as u64, source.runs() as u64))?;
    for name in pages::TEXTS.iter().map(|text| text.name).chain(["findings"]) {
        let page =
            pages::text_page(site, name).context("a page of text that is listed and missing")?;
        tree.write(&format!("{name}.html"), &page)?;
    }
    Ok(())
}

/// What a list of lines ends with.
const END: &str = "\n]}\n";

/// The whole collection as JSON, as CSV, and in the short form for the script.
fn whole(tree: &Tree, made: &SiteSummary, lines: &[&CollectionLine]) -> Result<()> {
    let head = serde_json::json!({ "schema": "flashmark-collection/1", "title": made.title, "made": made.now }).to_string();
    let open = head.trim_end_matches('}').to_owned() + ",\"lines\":[\n";
    let list =
        |path: &str, open: &str, each: fn(&CollectionLine) -> String, close: &str| -> Result<()> {
            let mut file = tree.create(path)?;
            file.write_all(open.as_bytes())?;
            for (at, line) in lines.iter().enumerate() {
                let between = if at == 0 { "" } else { ",\n" };
                write!(file, "{between}{}", each(line))?;
            }
            file.write_all(close.as_bytes())?;
            Ok(file.flush()?)
        };
    list("data/collection.json", &open, data::line_json, END)?;
    let short = "{\"schema\":\"flashmark-table/2\",\"lines\":[\n";
    list("data/table.json", short, data::short_json, END)?;
    // A page that is opened from a file may load a script, and nothing else.
    let script = format!("window.flashmark_table = {short}");
    list("data/table.js", &script, data::short_json, "\n]};\n")?;
    let csv: String = std::iter::once(data::csv_head())
        .chain(lines.iter().map(|line| data::line_csv(line)))
        .collect();
    tree.write("data/collection.csv", &csv)
}

/// Every run and every cell, for questions to the whole collection.
fn parquet(tree: &Tree, source: &PublishedLines, media: usize) -> Result<()> {
    let (runs, cells) = (tree.create("data/runs.parquet")?, tree.create("data/cells.parquet")?);
    let mut sink = Box::new(ParquetSink::new(runs, cells)?);
    for at in 0..media {
        source.each_run(at, &mut |entry| Ok(sink.add(&entry)?))?;
    }
    Ok(sink.finish()?)
}

fn feed(
    tree: &Tree,
    site: &SiteInfo,
    source: &PublishedLines,
    lines: &[&CollectionLine],
) -> Result<()> {
    let by_model: HashMap<(&Model, Origin, bool), &CollectionLine> =
        lines.iter().map(|line| ((&line.model, line.origin, line.is_fake), *line)).collect();
    let latest = source.latest(FEED)?;
    let line_of = |entry: &CollectionRun| {
        by_model.get(&(&entry.model, entry.origin, entry.headline.is_fake)).copied()
    };
    let items: Vec<Item> = latest
        .iter()
        .filter_map(|entry| {
            line_of(entry).map(|line| Item { entry, slug: &line.slug, name: &line.name })
        })
        .collect();
    tree.write("feed.atom", &pages::feed(site, &items))
}

/// The best of each kind side by side, and the page on which the script compares others.
fn comparisons(
    tree: &Tree,
    site: &SiteInfo,
    source: &PublishedLines,
    lines: &[&CollectionLine],
) -> Result<()> {
    let mut ready = Vec::new();
    for kind in MediumKind::ALL {
        let fits = |line: &CollectionLine| {
            line.model.kind == kind
                && !line.is_fake
                && line.figures.contains_key(&HeadlineFigure::RandomWrite4k)
        };
        let mut best: Vec<&CollectionLine> = lines
            .iter()
            .copied()
            .filter(|line| fits(line) && line.origin != Origin::Simulated)
            .collect();
        pages::order(&mut best, SortBy::Figure(HeadlineFigure::RandomWrite4k));
        best.truncate(MOST_COMPARED);
        if best.len() < 2 {
            continue;
        }
        let media =
            best.iter().map(|line| medium_of(source, lines, line)).collect::<Result<Vec<_>>>()?;
        tree.write(&pages::ready_file(kind), &pages::compare_kind(site, kind, &media))?;
        ready.push(kind);
    }
    tree.write("compare.html", &pages::choose(site, &ready))
}

fn medium_of(
    source: &PublishedLines,
    lines: &[&CollectionLine],
    wanted: &CollectionLine,
) -> Result<(CollectionLine, Vec<CollectionRun>)> {
    let at =
        lines.iter().position(|line| line.slug == wanted.slug).context("a line that is gone")?;
    let (line, entries) = source.medium(at)?;
    Ok((line.clone(), entries))
}

/// A page and the data of each medium and each run.
fn media(
    tree: &Tree,
    site: &SiteInfo,
    source: &PublishedLines,
    lines: &[&CollectionLine],
) -> Result<()> {
    let mut by_model: HashMap<&Model, Vec<&CollectionLine>> = HashMap::new();
    for line in lines {
        by_model.entry(&line.model).or_default().push(line);
    }
    on_all_processors(lines.len(), |at| {
        let line = lines[at];
        let others = by_model.get(&line.model).into_iter().flatten();
        let beside: Vec<CollectionLine> =
            others.filter(|other| other.slug != line.slug).map(|other| (*other).clone()).collect();
        let entries = runs(tree, source, at, line)?;
        tree.write(
            &format!("medium/{}.html", line.slug),
            &pages::medium_beside(site, line, &entries, &beside, &source.told_apart(at)?),
        )
    })
}

/// Writes the data of a line and of each of its runs. What comes back is for the page: only the run
/// that its charts are made of is whole, the first of those with most cells, so that a line of a
/// thousand runs fits in memory.
fn runs(
    tree: &Tree,
    source: &PublishedLines,
    at: usize,
    line: &CollectionLine,
) -> Result<Vec<CollectionRun>> {
    let path = format!("data/medium/{}.json", line.slug);
    let mut file = tree.create(&path)?;
    file.write_all(data::medium_json_head(line).as_bytes())?;
    let mut entries: Vec<CollectionRun> = Vec::new();
    // Of sound runs and of fakes.
    let mut whole: [Option<(usize, Bulk)>; 2] = [None, None];
    source.each_run(at, &mut |mut entry| {
        if pages::is_slug(&entry.id) {
            tree.write(&format!("data/run/{}.json", entry.id), &data::run_json(&mut entry))
                .map_err(std::io::Error::other)?;
        }
        let bulk = Bulk::of(&mut entry);
        file.write_all(data::medium_json_run(entries.len(), &entry).as_bytes())?;
        let known = &mut whole[usize::from(entry.headline.is_fake)];
        if known
            .as_ref()
            .is_none_or(|(best, _)| entries[*best].run.cells.len() < entry.run.cells.len())
        {
            *known = Some((entries.len(), bulk));
        }
        entries.push(entry);
        Ok(())
    })?;
    file.write_all(data::MEDIUM_JSON_END.as_bytes())?;
    file.flush().with_context(|| format!("cannot write {path}"))?;
    for (at, bulk) in whole.into_iter().flatten() {
        bulk.put_back(&mut entries[at]);
    }
    Ok(entries)
}
