//! Every published figure is on a page, with the digits and the unit of its source.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Site;

/// The tables and their numbers of figures; 1382 in all (docs/field/published-figures.md).
const TABLES: [(&str, usize); 9] = [
    ("articles", 308),
    ("flashbench_posts", 276),
    ("iozone_posts", 355),
    ("jamesachambers_pi_storage_2019", 64),
    ("olpc_sdcard_testing", 58),
    ("pidramble_microsd", 128),
    ("same_script_posts", 107),
    ("small_tables", 53),
    ("speed_class_thresholds", 33),
];

/// The rows of a table with a number, from the file that people edit: id and the text of the source
/// ("~ 94-96 s").
fn figures(table: &str) -> Vec<(String, String)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/reference");
    let mut reader = csv::Reader::from_path(file.join(format!("{table}.csv"))).unwrap();
    let rows = reader.deserialize::<BTreeMap<String, String>>().map(Result::unwrap);
    let of_row = |row: BTreeMap<String, String>| {
        let most = Some(&row["value_max"]).filter(|most| !most.is_empty());
        let range = most.map_or(row["value"].clone(), |most| format!("{}-{most}", row["value"]));
        let parts = [row["qualifier"].clone(), range, row["unit"].clone()];
        let shown: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        (row["row_id"].clone(), shown.join(" "))
    };
    rows.filter(|row| row["value"].parse::<f64>().is_ok()).map(of_row).collect()
}

/// A site with the reference data as lines.
fn with_reference() -> Site {
    let site = Site::sqlite();
    let entries = import::reference::entries();
    site.collection.keep_reference(&entries, "2026-11-21T22:00:00Z").unwrap();
    site
}

/// Links on a page to pages of published figures.
fn links(text: &str) -> BTreeSet<String> {
    let behind = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    behind.filter(|href| href.starts_with("/published")).map(str::to_owned).collect()
}

/// Visible text of the figure cell of each row, by the id of the row.
fn cells(text: &str) -> BTreeMap<String, String> {
    let rows = text.split("<tr id=\"").skip(1).filter_map(|row| {
        let (id, rest) = row.split_once('"')?;
        let row = rest.split("</tr>").next()?;
        let cell = row.split("<td class=\"num figure\">").nth(1)?.split("</td>").next()?;
        let cell = cell.replace("&lt;", "<").replace("&gt;", ">").replace("&#60;", "<");
        Some((id.to_owned(), cell.replace("&#62;", ">").replace('\u{a0}', " ")))
    });
    rows.collect()
}

#[test]
fn every_published_figure_is_on_a_page() {
    let site = Site::sqlite();
    let mut seen = BTreeMap::new();
    let index = site.get("/published").text();
    let mut wanted = links(&index);
    assert!(wanted.remove("/published"), "the index is in the navigation: {index}");
    for address in wanted {
        let page = site.get(&address).text();
        assert!(page.len() < 300_000, "{address}: {} bytes", page.len());
        for (id, cell) in cells(&page) {
            assert_eq!(seen.insert(id.clone(), cell), None, "{id} is on two pages");
        }
    }
    let mut all = 0;
    let mut missing = Vec::new();
    for (table, count) in TABLES {
        let figures = figures(table);
        assert_eq!(figures.len(), count, "{table}");
        all += count;
        missing.extend(figures.into_iter().filter(|(id, figure)| seen.get(id) != Some(figure)));
    }
    assert_eq!(all, 1382);
    let first: Vec<_> = missing.iter().take(10).map(|it| (it, seen.get(&it.0))).collect();
    assert!(missing.is_empty(), "{} of {all} figures are on no page: {first:#?}", missing.len());
    assert_eq!(seen.len(), all, "and nothing else is");
}

/// Every published quantity can be chosen as a column, and its command is beside it.
#[test]
fn every_published_quantity_is_a_column_that_is_offered() {
    let listed: BTreeSet<&str> = record::columns().iter().map(|it| it.name.as_str()).collect();
    let mut seen = BTreeSet::new();
    for source in import::reference::sources() {
        for cell in source.figures.iter().filter_map(|figure| figure.cell.as_ref()) {
            seen.extend(record::quantities(cell).into_iter().map(|(column, _)| column.name));
        }
    }
    assert_eq!(seen.len(), 86, "{seen:?}");
    let missing: Vec<&String> = seen.iter().filter(|name| !listed.contains(&name[..])).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Heads of the table's columns.
fn heads(text: &str) -> Vec<String> {
    let head = text.split("<thead>").nth(1).unwrap().split("</thead>").next().unwrap();
    let heads = head.split("<th ").skip(2).map(|cell| {
        let text = cell.split_once('>').unwrap().1.split("<small>").next().unwrap();
        text.trim_end_matches("</th>").trim_end_matches("</tr>").to_owned()
    });
    heads.collect()
}

#[test]
fn a_reader_chooses_columns_and_the_address_keeps_them() {
    let site = with_reference();
    let usual = site.get("/").text();
    for name in ["dd-write-64k", "iozone-random-write-4k", "threads", "all"] {
        let ticked = format!("name=\"columns\" value=\"{name}\">");
        assert!(usual.contains(&ticked), "{name} is offered, and not ticked");
    }
    // Values as check boxes send them, one of which is not a column.
    let chosen = "/?q=&columns=sector-write-ms&columns=dd-write-64k&columns=seeks&columns=nonsense";
    let page = site.get(chosen).text();
    let names = ["Medium", "512 B write", "dd write, 64 KiB", "Seeks"];
    assert_eq!(heads(&page), names, "in the order of the choice");
    assert!(page.contains("value=\"dd-write-64k\" checked>"), "the form shows what was chosen");
    for link in
        ["kind=sd&#38;columns=sector-write-ms,dd-write-64k,seeks", "page=2&#38;columns=sector"]
    {
        assert!(page.contains(link), "{link} keeps the choice: {page}");
    }
    // If one of three is left out, two remain.
    assert!(page.contains("?columns=sector-write-ms,seeks\""), "{page}");
    let sandisk = site.get("/?q=Extreme+Pro+8&columns=dd-write-4k,iozone").text();
    assert!(sandisk.contains("<b>1.70</b><small>one run</small>"), "{sandisk}");
    assert_eq!(heads(&sandisk)[1], "dd write, 4 KiB");
    assert!(heads(&sandisk).contains(&"iozone random write, 4 KiB".to_owned()), "{sandisk}");
}

#[test]
fn repeats_of_a_publication_have_an_interval() {
    let site = with_reference();
    let page = site.get("/?q=ultra+microsdxc&columns=dd-write-100m").text();
    // 6.7, 7.3 and 6.9 MB/s: 6.967 ± 0.3055 * 4.303 / sqrt(3).
    assert!(page.contains("<b>6.97</b><small>6.21 to 7.73, 3 runs</small>"), "{page}");
    // On the page of the publication each of the three has it, and so have reads, in no column.
    let page = site.get("/published/same-script-posts-8").text();
    assert_eq!(page.matches("3 runs: 6.97 MB/s (6.21 to 7.73)").count(), 3, "{page}");
    assert_eq!(page.matches("<small>3 runs: ").count(), 24, "four hosts write and read");
}

/// A page with all columns of all media has a limited size.
#[test]
fn a_page_of_every_column_is_small() {
    let site = with_reference();
    let page = site.get("/?columns=all");
    assert_eq!(page.status, 200);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(4));
    std::io::Write::write_all(&mut packer, page.text().as_bytes()).unwrap();
    let packed = packer.finish().unwrap().len();
    assert!(packed < 300_000, "{packed} bytes");
}

/// Also if none of the usual figures is among them.
#[test]
fn a_published_medium_shows_what_was_published_of_it() {
    let site = with_reference();
    let page = site.get("/medium/64-gb-class-card-sysfs-erase-size-4m-reference").text();
    assert!(page.contains("None of the usual figures is known."), "{page}");
    assert_eq!(
        page.matches(
            "<td class=\"num\">363 us</td><td class=\"num\" data-h=\"Interval (95 %)\">one run</td>"
        )
        .count(),
        1
    );
    let page = site.get("/medium/sandisk-ultra-reference-a0e8cdc2").text();
    assert!(
        page.contains(
            "6.97 MB/s</td><td class=\"num\" data-h=\"Interval (95 %)\">6.21 to 7.73, 3 runs"
        ),
        "{page}"
    );
}
