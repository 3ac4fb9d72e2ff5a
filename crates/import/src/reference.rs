//! Measurements that others have published: the records of `reference/`, which are part of the
//! program (docs/importing.md#the-reference-collection).

use std::io::Read as _;

use flate2::read::DeflateDecoder;
use record::{Flag, Published};

/// The records as build.rs packed them.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/reference.deflate"));

/// Addresses of the five articles by the names of their pages; that of the last is in no record.
const ARTICLES: [(&str, &str); 5] = [
    ("article-1", "http://abatis.org.uk/CFbench.html"),
    ("article-2", "http://abatis.org.uk/CFbenchPart2.html"),
    (
        "article-3",
        "http://www.altechnative.net/2012/01/25/flash-module-benchmark-collection-sd-cards-cf-cards-usb-sticks/",
    ),
    (
        "article-4",
        "https://www.pitt-pladdy.com/blog/_20120214-133809_0000_Filesystems_Schedulers_with_CompactFlash/",
    ),
    ("article-5", ""),
];

/// All records, one for each medium of a publication on a host.
///
/// # Panics
/// If a record cannot be read: a test reads all of them.
pub fn runs() -> Vec<Published> {
    let mut text = String::new();
    DeflateDecoder::new(PACKED).read_to_string(&mut text).expect("build.rs packed a text");
    let read = |line: &str| serde_json::from_str(line).expect("the built-in records are read");
    text.lines().map(read).collect()
}

/// The records of an article by the name of its page ("article-3"), in the order of its figures.
pub fn article(key: &str) -> Vec<Published> {
    let address = ARTICLES.iter().find(|(known, _)| *known == key).map(|(_, address)| address);
    let mut found = runs();
    found.retain(|run| address.is_some() && source(run) == address.copied());
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
