//! Records in, findings out: what is concluded, what is not, and that nothing panics.
#![allow(clippy::disallowed_methods, reason = "records and media are drawn on all processors")]

mod drawn_media;
mod drawn_records;
mod on_media;
mod quoted_numbers;
mod thresholds;

use crate::kinds::{IDS, about};

#[test]
fn every_id_has_a_page() {
    for id in IDS {
        let page = about(id).unwrap();
        assert!(page.starts_with("# ") && page.lines().count() >= 3, "{id}");
    }
    assert_eq!(about("x"), None);
}
