//! Writes all pages and files of a site into a directory. Media are taken one by one, so that a
//! collection of any size fits.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use crate::export::{ParquetSink, Sink, groups_of, in_memory};
use anyhow::{Context, Result};
use collection::site::data::{self, Bulk};
use collection::site::{self, MAX_COMPARED, SiteInfo, query};
use record::MediumKind;
use record::collection::{
    CollectionLine, CollectionRun, HeadlineFigure, Model, Origin, Page, Query,
};

use super::filling::{ParquetGroup, TextDigest, Tree};
use super::intake;
use super::source::{self, PublishedLines};
use crate::parallel::{each_of, on_all_processors};

/// Makes the directories of a site.
pub fn begin(dir: &Path) -> Result<()> {
    let folders = ["assets", "medium", "compare", "data", "data/medium", "data/run"];
    folders.into_iter().try_for_each(|folder| {
        fs::create_dir(dir.join(folder)).with_context(|| format!("cannot make {folder}"))
    })
}

/// Writes the site.
pub fn write(
    tree: &Tree,
    source: &PublishedLines,
    title: &str,
    submit_to: Option<String>,
) -> Result<()> {
    let lines: Vec<&CollectionLine> = source.lines().collect();
    let site = site(&lines, title, submit_to);
    for asset in site::assets() {
        tree.write(&asset.path, asset.text)?;
    }
    tables(tree, &site, &lines)?;
    texts(tree, &site, source)?;
    whole(tree, title, &lines)?;
    parquet(tree, source, lines.len())?;
    comparisons(tree, &site, source, &lines)?;
    media(tree, &site, source, &lines)?;
    Ok(())
}

/// Facts about the site that every page shows.
pub fn site(lines: &[&CollectionLine], title: &str, submit_to: Option<String>) -> SiteInfo {
    let filled = |category: &Query| lines.iter().any(|line| site::lies_on(line, category));
    SiteInfo {
        title: title.to_owned(),
        submit_to,
        categories: Some(
            site::categories().into_iter().map(|category| category.query).filter(filled).collect(),
        ),
    }
}

/// Writes the table, and that of each category.
fn tables(tree: &Tree, site: &SiteInfo, lines: &[&CollectionLine]) -> Result<()> {
    let all = [Query::default()];
    let others = site.categories.iter().flatten().filter(|category| !all.contains(category));
    let asked: Vec<&Query> = all.iter().chain(others).collect();
    on_all_processors(asked.len(), |at| sorted(tree, site, lines, asked[at]))
}

/// Writes the pages of a query, in its order.
fn sorted(tree: &Tree, site: &SiteInfo, lines: &[&CollectionLine], asked: &Query) -> Result<()> {
    let mut lines: Vec<&CollectionLine> =
        lines.iter().copied().filter(|line| site::lies_on(line, asked)).collect();
    site::order(&mut lines);
    let total = lines.len() as u64;
    let empty: &[&CollectionLine] = &[];
    let chunks: Vec<&[&CollectionLine]> =
        if lines.is_empty() { vec![empty] } else { lines.chunks(query::LINES as usize).collect() };
    for (number, chunk) in chunks.into_iter().enumerate() {
        let asked = Query { page: number as u32, ..asked.clone() };
        let page = Page { lines: chunk.iter().map(|line| (*line).clone()).collect(), total };
        let file = site::file_of(&asked).context("a category or an order without a file")?;
        tree.write(&file, site::table(site, &page, &asked))?;
    }
    Ok(())
}

fn texts(tree: &Tree, site: &SiteInfo, source: &PublishedLines) -> Result<()> {
    tree.write("methodology.html", site::methodology(site))?;
    tree.write("about.html", site::about(site, source.media() as u64, source.runs() as u64))?;
    for name in site::TEXTS.iter().map(|text| text.name).chain(["findings"]) {
        let page =
            site::text_page(site, name).context("a page of text that is listed and missing")?;
        tree.write(&format!("{name}.html"), &page)?;
    }
    Ok(())
}

/// End of a list of lines in JSON.
const END: &str = "\n]}\n";

/// Writes the whole collection as JSON, as CSV, and in a short form for the script.
fn whole(tree: &Tree, title: &str, lines: &[&CollectionLine]) -> Result<()> {
    let latest = lines.iter().map(|line| line.latest.as_str()).max();
    let head =
        serde_json::json!({ "schema": "flashmark-collection/1", "title": title, "latest": latest })
            .to_string();
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

/// Most runs of a piece, which share row groups of the Parquet files. One run more changes little,
/// and a query to a small collection reads few groups.
const PIECE: usize = 64;
const MAX_PIECES: usize = 32;
/// Paths of the file of runs and of the file of cells.
const PARQUET: [&str; 2] = ["data/runs.parquet", "data/cells.parquet"];

/// Writes every run and every cell, for queries to the whole collection. Runs whose cells are in
/// files of the tree are dealt into pieces by their names; a piece of the same runs is copied from
/// the old tree.
fn parquet(tree: &Tree, source: &PublishedLines, media: usize) -> Result<()> {
    let mut short: Vec<&CollectionRun> =
        (0..media).filter_map(|at| source.in_short(at)).flatten().collect();
    short.sort_by(|a, b| a.id.cmp(&b.id));
    let count = short.len().div_ceil(PIECE).next_power_of_two().min(MAX_PIECES);
    let place = |id: &str| id.bytes().map(usize::from).sum::<usize>() % count;
    let mut pieces: Vec<Vec<&CollectionRun>> = vec![Vec::new(); count];
    short.into_iter().for_each(|run| pieces[place(&run.id)].push(run));
    pieces.retain(|piece| !piece.is_empty());
    let (runs, cells) = (tree.create(PARQUET[0])?, tree.create(PARQUET[1])?);
    let mut sink = Box::new(ParquetSink::new(runs, cells)?);
    let old = OldParquet::of(tree);
    // A few at a time: what is made waits in memory for its turn.
    for pieces in pieces.chunks(8) {
        let made = each_of(pieces.len(), |at| {
            let key = TextDigest::default();
            let key = pieces[at].iter().fold(key, |key, run| key.with(run.encode())).text();
            if let Some(groups) = old.as_ref().and_then(|old| old.groups.get(&key)) {
                return Ok((key, Err(groups.clone())));
            }
            let runs = pieces[at].iter().map(|run| {
                source::whole(tree, run).map_err(|error| io::Error::other(error).into())
            });
            Ok((key, Ok(in_memory(runs)?)))
        })?;
        for (key, made) in made {
            let groups = match (made, &old) {
                (Ok([runs, cells]), _) => {
                    let groups = [0..groups_of(&runs)?, 0..groups_of(&cells)?];
                    sink.append([&runs, &cells], groups.clone())?;
                    groups
                }
                (Err(groups), Some(old)) => {
                    sink.append([&old.files[0], &old.files[1]], groups.clone())?;
                    groups
                }
                (Err(_), None) => continue,
            };
            tree.note(|made| {
                made.pieces.push(ParquetGroup { key, groups: groups.map(|it| it.len()) })
            });
        }
    }
    for at in (0..media).filter(|at| source.in_short(*at).is_none()) {
        source.each_run(tree, at, &mut |run| Ok(sink.add(&run)?))?;
    }
    Ok(sink.finish()?)
}

/// The Parquet files of the old tree, with the row groups of each piece by its key.
struct OldParquet {
    files: [fs::File; 2],
    groups: BTreeMap<String, [Range<usize>; 2]>,
}

impl OldParquet {
    fn of(tree: &Tree) -> Option<OldParquet> {
        let open = |path: &str| fs::File::open(tree.old_file(path)).ok();
        let files = [open(PARQUET[0])?, open(PARQUET[1])?];
        let mut next = [0, 0];
        let mut groups = BTreeMap::new();
        for ParquetGroup { key, groups: [runs, cells] } in &tree.old().pieces {
            let end = [next[0] + runs, next[1] + cells];
            groups.insert(key.clone(), [next[0]..end[0], next[1]..end[1]]);
            next = end;
        }
        Some(OldParquet { files, groups })
    }
}

/// Writes the page that compares the best of each kind, and the page on which the script compares
/// others.
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
                && line.is_ranked(HeadlineFigure::RandomWrite4k)
        };
        let mut best: Vec<&CollectionLine> = lines
            .iter()
            .copied()
            .filter(|line| fits(line) && line.origin != Origin::Simulated)
            .collect();
        site::order(&mut best);
        best.truncate(MAX_COMPARED);
        if best.len() < 2 {
            continue;
        }
        let places: Vec<usize> = best
            .iter()
            .filter_map(|best| lines.iter().position(|line| line.slug == best.slug))
            .collect();
        let file = site::ready_file(kind);
        tree.make(&[&file], source.page_key(site, &places)?, || {
            let media =
                places.iter().map(|at| source.medium(tree, *at)).collect::<Result<Vec<_>>>()?;
            tree.write(&file, site::compare_kind(site, kind, &media))
        })?;
        ready.push(kind);
    }
    tree.write("compare.html", site::choose(site, &ready))
}

/// Writes a page and the data of each medium and each run.
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
        let page = format!("medium/{}.html", line.slug);
        let data = format!("data/medium/{}.json", line.slug);
        let key = source.page_key(site, &[at])?;
        let key = beside.iter().fold(key, |key, line| key.with(line.encode()));
        let files = source.made_with_page(at);
        let files: Vec<String> = files.iter().map(|id| intake::path_of(id)).collect();
        let paths: Vec<&str> = files.iter().map(String::as_str).chain([&*page, &*data]).collect();
        tree.make(&paths, key, || {
            let entries = runs(tree, source, at, line)?;
            tree.write(&page, site::medium_beside(site, line, &entries, &beside))
        })
    })
}

/// Writes the data of a line, and of each of its runs if they are not there yet. Returns the runs
/// for the page. Only the run behind its charts (the first of those with most cells) has its cells,
/// so that a line of a thousand runs fits in memory.
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
    let mut whole: Option<(usize, Bulk)> = None;
    source.each_run(tree, at, &mut |mut entry| {
        if source.in_short(at).is_none() && site::is_slug(&entry.id) {
            intake::keep(tree, &entry.id, &entry.run, entry.run.cells.clone())?;
        }
        let bulk = Bulk::of(&mut entry);
        // Figures and findings are in the files of runs.
        let cells = std::mem::take(&mut entry.run.cells);
        let findings = std::mem::take(&mut entry.run.findings);
        file.write_all(data::medium_json_run(entries.len(), &entry).as_bytes())?;
        (entry.run.cells, entry.run.findings) = (cells, findings);
        let is_larger = whole
            .as_ref()
            .is_none_or(|(best, _)| entries[*best].run.cells.len() < entry.run.cells.len());
        if is_larger && !line.believed(std::slice::from_ref(&entry)).is_empty() {
            whole = Some((entries.len(), bulk));
        }
        entries.push(entry);
        Ok(())
    })?;
    file.write_all(data::MEDIUM_JSON_END.as_bytes())?;
    file.flush().with_context(|| format!("cannot write {path}"))?;
    if let Some((best, bulk)) = whole {
        let entry = &mut entries[best];
        match source.whole_cells(&entry.id) {
            Some(cells) => entry.run.cells = cells,
            None => bulk.put_back(entry),
        }
    }
    Ok(entries)
}
