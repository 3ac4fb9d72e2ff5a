//! `flashmark publish`: a complete tree of files, without links that lead nowhere, which replaces
//! nothing that it has not made.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Flashmark, Scratch};

/// All files of a tree by their path in it.
fn files(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), path);
            }
        }
    }
    found
}

/// All values of an attribute.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let mark = format!(" {name}=\"");
    page.split(mark.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// A path relative to a page, in the tree.
fn resolved(page: &str, href: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in href.split('/') {
        match part {
            ".." => drop(parts.pop().unwrap_or_else(|| panic!("{href} leads out of the tree"))),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Checks that every link of every page leads to a file of the tree, and to an id in it if the link
/// names one; no id occurs twice.
fn check_links(root: &Path) {
    let files = files(root);
    let text = |name: &str| fs::read_to_string(&files[name]).unwrap();
    let pages: Vec<&String> = files.keys().filter(|name| name.ends_with(".html")).collect();
    let ids =
        |page: &str| attributes(page, "id").into_iter().map(str::to_owned).collect::<Vec<_>>();
    let known: BTreeMap<&str, BTreeSet<String>> =
        pages.iter().map(|name| (name.as_str(), ids(&text(name)).into_iter().collect())).collect();
    for name in &pages {
        let page = text(name);
        assert_eq!(ids(&page).len(), known[name.as_str()].len(), "an id twice in {name}");
        for href in ["href", "src", "action", "data-source"]
            .iter()
            .flat_map(|attribute| attributes(&page, attribute))
        {
            if href.starts_with("https://") || href.starts_with("http://") || href == "data:," {
                continue;
            }
            // An ampersand is written as a number, with the sign that begins a place in a page.
            let href = &href.replace("&#38;", "&");
            let (path, place) = href.split_once('#').unwrap_or((href, ""));
            let path = path.split('?').next().unwrap();
            let target = if path.is_empty() { (*name).clone() } else { resolved(name, path) };
            assert!(files.contains_key(&target), "{name}: {href} leads to nothing");
            assert!(
                place.is_empty() || known[target.as_str()].contains(place),
                "{name}: there is no {href}"
            );
        }
    }
}

/// A record of a simulated run, as if it had been measured on a real medium.
fn as_measured(flashmark: &Flashmark, scratch: &Scratch, profile: &str, vendor: &str) -> String {
    let path = scratch.at(&format!("{profile}.json"));
    let json = path.to_str().unwrap().to_owned();
    let target = format!("sim:{profile}");
    let words = ["run", &target, "--suite", "quick", "--seed", "1", "--quiet", "--json", &json];
    flashmark.done(&words);
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let medium = &mut record["medium"];
    (medium["kind"], medium["profile"]) = (json!("sd"), Value::Null);
    (medium["vendor"], medium["model"], medium["serial"]) =
        (json!(vendor), json!("<b>Card</b>"), json!("SECRET-SERIAL"));
    record["target"]["kind"] = json!("block");
    record["target"]["path"] = json!("/home/SECRET-USER");
    record["target"]["engine"] = json!("io_uring");
    fs::write(&path, record.to_string()).unwrap();
    json
}

#[test]
fn a_published_tree_is_whole() {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let one = as_measured(&flashmark, &scratch, "a1", "Ada");
    let two = as_measured(&flashmark, &scratch, "class10", "Bea");
    let site = scratch.at("site");
    let to = site.to_str().unwrap();
    let words = ["publish", to, &one, &two, "latest", "--title", "Cards & sticks"];
    let ran = flashmark.done(&words);
    assert!(ran.out.contains("site/index.html"), "{ran}");
    check_links(&site);
    let files = files(&site);
    for name in ["index.html", "kind-sd.html", "simulated.html", "compare.html", "compare/sd.html"]
    {
        assert!(files.contains_key(name), "{name}: {:?}", files.keys());
    }
    for (name, path) in &files {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        assert!(!text.contains("SECRET"), "{name} holds what is not published");
        if name.ends_with(".html") {
            assert!(!text.contains("<b>Card</b>") && text.contains("Cards &#38; sticks"), "{name}");
        }
        if name.ends_with(".json") {
            assert!(serde_json::from_str::<Value>(&text).is_ok(), "{name}");
        }
    }
    let all: Value =
        serde_json::from_str(&fs::read_to_string(&files["data/collection.json"]).unwrap()).unwrap();
    let lines = all["lines"].as_array().unwrap();
    let csv = fs::read_to_string(&files["data/collection.csv"]).unwrap();
    assert_eq!(csv.lines().count(), lines.len() + 1);
    for line in lines {
        let slug = line["slug"].as_str().unwrap();
        let pages = [format!("medium/{slug}.html"), format!("data/medium/{slug}.json")];
        assert!(pages.iter().all(|name| files.contains_key(name)), "{slug}");
    }
    for name in ["data/runs.parquet", "data/cells.parquet"] {
        assert!(fs::read(&files[name]).unwrap().starts_with(b"PAR1"), "{name}");
    }
    // A run's file is a record: the program reads it.
    let records = files.iter().filter(|(name, _)| name.starts_with("data/run/"));
    let records: Vec<&str> = records.map(|(_, path)| path.to_str().unwrap()).take(2).collect();
    let html = scratch.at("page.html");
    let html = html.to_str().unwrap();
    for words in [
        &["show", records[0]][..],
        &["report", records[0], "--html", html],
        &["compare", records[0], records[1]],
    ] {
        flashmark.done(words);
    }
    let curves = run_of(Path::new(records[0]))["cells"].as_array().unwrap().clone();
    let points =
        curves.iter().flat_map(|cell| cell["series"].as_array().cloned().unwrap_or_default());
    assert!(points.map(|curve| curve["points"].as_array().unwrap().len()).max() <= Some(16));
}

/// Two trees are the same, file by file.
fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert!(one.keys().eq(other.keys()), "{:?}\n{:?}", one.keys(), other.keys());
    for (name, path) in &one {
        assert!(fs::read(path).unwrap() == fs::read(&other[name]).unwrap(), "{name} differs");
    }
}

#[test]
fn a_tree_published_again_is_what_one_from_nothing_is() {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let one = as_measured(&flashmark, &scratch, "a1", "Ada");
    let two = as_measured(&flashmark, &scratch, "class10", "Bea");
    let three = as_measured(&flashmark, &scratch, "class6", "Ada");
    let (site, fresh) = (scratch.at("site"), scratch.at("fresh"));
    let publish = |dir: &Path, runs: &[&String]| {
        let mut words = vec!["publish", dir.to_str().unwrap()];
        words.extend(runs.iter().map(|run| run.as_str()));
        flashmark.done(&words);
    };
    let number = |dir: &Path, name: &str| {
        std::os::unix::fs::MetadataExt::ino(&fs::metadata(dir.join(name)).unwrap())
    };
    publish(&site, &[&one, &two]);
    let bea = files(&site).into_keys().find(|name| name.starts_with("medium/bea-")).unwrap();
    let of_bea = number(&site, &bea);
    // One more, another order, one less: always what a new tree is.
    for runs in [&[&one, &two, &three][..], &[&three, &two, &one], &[&two, &three]] {
        publish(&site, runs);
        assert_eq!(number(&site, &bea), of_bea, "the page of Bea is the old file");
        let _ = fs::remove_dir_all(&fresh);
        publish(&fresh, runs);
        assert_same(&site, &fresh);
    }
    // A record whose file changes is another run.
    let mut changed: Value = serde_json::from_str(&fs::read_to_string(&two).unwrap()).unwrap();
    changed["medium"]["firmware"] = json!("9");
    fs::write(&two, changed.to_string()).unwrap();
    publish(&site, &[&two, &three]);
    assert_ne!(number(&site, &bea), of_bea);
    fs::remove_dir_all(&fresh).unwrap();
    publish(&fresh, &[&two, &three]);
    assert_same(&site, &fresh);
    // A damaged note of what was made costs only time.
    fs::write(site.join(".flashmark-made.json.gz"), "x").unwrap();
    publish(&site, &[&two, &three]);
    assert_same(&site, &fresh);
}

/// The record in the file of a run.
fn run_of(path: &Path) -> Value {
    serde_json::from_reader(flate2::read::GzDecoder::new(fs::File::open(path).unwrap())).unwrap()
}

/// Numbers in the table of all figures, and in that of the usual ones, on a medium's page.
fn numbers_on(page: &str) -> Vec<f64> {
    let figures = page.split("<section").take_while(|part| !part.contains("id=\"runs\""));
    let text: String = figures.collect();
    let tokens = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    tokens.filter_map(|token| token.trim_matches('.').parse().ok()).collect()
}

/// Number of a printed figure; the middle of a range such as "94-96 s".
fn middle_of(printed: &str) -> f64 {
    let number = printed.trim_start_matches(['~', '<', '>', '=', ' ']).split(' ').next().unwrap();
    let ends: Vec<f64> = number.split('-').map(|end| end.parse().unwrap()).collect();
    ends.iter().sum::<f64>() / ends.len() as f64
}

/// 92 of them were found once; formats, fills, seeks and iozone's writes were on no page.
#[test]
fn each_measured_figure_of_the_articles_is_on_its_medium_s_page() {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    flashmark.done(&["run", "sim:a1", "--suite", "quick", "--seed", "1", "--quiet"]);
    let site = scratch.at("site");
    flashmark.done(&["publish", site.to_str().unwrap(), "latest"]);
    let (mut all, mut missing) = (0, Vec::new());
    let packed = files(&site.join("data/run"));
    for medium in files(&site.join("data/medium")).into_values() {
        let slug = medium.file_stem().unwrap().to_str().unwrap().to_owned();
        let runs: Value = serde_json::from_str(&fs::read_to_string(&medium).unwrap()).unwrap();
        let page = fs::read_to_string(site.join(format!("medium/{slug}.html"))).unwrap();
        let shown = numbers_on(&page);
        for run in runs["runs"].as_array().unwrap() {
            let id = run["id"].as_str().unwrap();
            for cell in run_of(&packed[&format!("{id}.json.gz")])["cells"].as_array().unwrap() {
                let row = cell["labels"]["row"].as_str().unwrap_or_default();
                if !row.starts_with("article-") {
                    continue;
                }
                let printed = cell["labels"]["published"].as_str().unwrap();
                let number = middle_of(printed);
                all += 1;
                // A page has three digits, or the figure as it was printed.
                let is_shown = |shown: &f64| (shown / number - 1.0).abs() < 0.005;
                if !page.contains(printed) && !shown.iter().any(is_shown) {
                    missing.push(format!("{slug}: {} {printed}", cell["test"]));
                }
            }
        }
    }
    println!("{} of {all}", all - missing.len());
    assert_eq!((all, missing), (246, Vec::new()));
}
