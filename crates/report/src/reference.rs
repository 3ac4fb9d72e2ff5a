//! Measurements that others have published: the records of `reference/`, which are part of the
//! program (docs/importing.md#the-reference-collection).

use std::io::Read as _;

use flate2::read::DeflateDecoder;
use record::{Flag, Published};

use crate::articles::{Article, ArticleFigures};

/// The records as build.rs packed them.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/reference.deflate"));

/// All records, one for each medium of a publication on a host.
///
/// # Panics
/// If a record cannot be read: a test reads all of them.
pub fn runs() -> Vec<Published> {
    let mut text = String::new();
    DeflateDecoder::new(PACKED).read_to_string(&mut text).expect("build.rs packed a text");
    let read = |line: &str| Published::decode(line).expect("the built-in records are read");
    text.lines().map(read).collect()
}

/// An article with its published figures.
pub fn figures_of(article: &'static Article) -> ArticleFigures {
    ArticleFigures { article, runs: self::article(article) }
}

/// The records of an article, in the order of its figures. Those of article 004 have no address.
pub fn article(article: &Article) -> Vec<Published> {
    let address = if article.number == "004" { "" } else { article.address };
    let mut found = runs();
    found.retain(|run| source(run) == Some(address));
    found.sort_by_key(|run| run.cells.first().map(|cell| cell.label("row").to_owned()));
    found
}

/// Address of the publication of a record: "published by others, 2012-01-25: http://..".
fn source(run: &Published) -> Option<&str> {
    run.flags.iter().find_map(|flag| match flag {
        Flag::Note { text } => {
            Some(text.strip_prefix("published by others, ")?.split_once(": ")?.1)
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::articles::ARTICLES;

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
        let counts =
            ARTICLES.map(|it| article(&it).iter().map(|run| run.cells.len()).sum::<usize>());
        assert_eq!(counts, [1, 4, 149, 31, 61]);
        let of_fifth = article(&ARTICLES[4]);
        let rows = of_fifth.iter().map(|run| run.cells[0].label("row"));
        assert!(rows.clone().all(|row| row.starts_with("article-")) && rows.is_sorted());
    }
}
