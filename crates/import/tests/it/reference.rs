//! The published records: all are read, and each article has its own.

use std::collections::BTreeSet;

use import::reference::{article, runs};
use record::quantities;

#[test]
fn every_record_has_its_source_and_every_figure_as_printed() {
    let runs = runs();
    let cells = || runs.iter().flat_map(|run| &run.cells);
    let rows: BTreeSet<&str> = cells().map(|cell| cell.label("row")).collect();
    assert_eq!((runs.len(), cells().count(), rows.len()), (153, 1279, 1279));
    assert!(cells().all(|cell| !cell.label("published").is_empty()));
    assert!(runs.iter().all(|run| run.suite == "published" && !run.flags.is_empty()));
}

#[test]
fn the_articles_have_their_figures_in_the_order_of_the_source() {
    let keys = ["article-1", "article-2", "article-3", "article-4", "article-5"];
    let counts = keys.map(|key| article(key).iter().map(|run| run.cells.len()).sum::<usize>());
    assert_eq!(counts, [1, 4, 149, 31, 61]);
    assert!(article("article-6").is_empty() && article("").is_empty());
    let of_fifth = article("article-5");
    let rows = of_fifth.iter().map(|run| run.cells[0].label("row"));
    assert!(rows.clone().all(|row| row.starts_with("article-")) && rows.is_sorted());
}

#[test]
fn a_published_format_stands_beside_the_simple_form_of_ours() {
    let runs = article("article-5");
    let mut cells = runs.iter().flat_map(|run| &run.cells);
    // Seagate Momentus: 141 groups a second.
    let format = cells.find(|cell| cell.label("row") == "article-00275").unwrap();
    let (column, figure) = quantities(format).remove(0);
    assert_eq!((&*column.name, figure.value), ("format-groups", 141.0));
    assert!(column.command.ends_with("--set ext2-format.form=simple"), "{}", column.command);
}
