//! A page that is written again and again between other writes, and writes in order that leave gaps
//! (docs/field/ftl.md#rewritten-pages, docs/field/ftl.md#gaps).

use device::Request;
use flashmark_sim::SimDevice;

use crate::common::*;

/// A medium of 1 GiB with this translation layer; the test adds "rewrite".
fn medium(ftl: &str) -> String {
    format!(
        r#"
about = "a merge or a collection takes 100 ms"
source = "test"
guesses = "test"
[medium]
capacity = "1 GiB"
[read]
command = "1 ms"
rate = "20 MB/s"
[write]
command = "1 ms"
rate = "1 GB/s"
unit = "16 KiB"
{ftl}
"#
    )
}

const ONE_OPEN: &str = r#"
[log_block]
au = "1 MiB"
open_aus = 1
copy_rate = "10.49 MB/s"
erase = "0 ms"
"#;

const MAPPED: &str = r#"
[page_mapped]
gc = "100 ms"
"#;

/// Time of 5 ms for a page that is rewritten.
const REWRITE: &str = "rewrite = \"5 ms\"";

/// Mean ms of sequential writes of 4 KiB, and of those to one place between them.
fn between(device: &mut SimDevice, n: u64) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for i in 0..n {
        let places = [512 * MIB + i * 4 * KIB, 64 * MIB];
        let times = places.map(|place| ms(device, Request::write(0, place, 4 * KIB)));
        // The place is not known before it comes again.
        if i > 1 {
            sums[0] += times[0];
            sums[1] += times[1];
        }
    }
    sums.map(|sum| sum / (n - 2) as f64)
}

#[test]
fn a_page_that_comes_again_and_again_costs_its_own_time_alone() {
    for text in [ONE_OPEN, MAPPED] {
        let [data, page] = between(&mut of_text(&medium(text), 1), 100);
        assert!(data > 90.0 && page > 90.0, "{data} {page}");
        let apart = medium(&format!("{REWRITE}{text}"));
        let [data, page] = between(&mut of_text(&apart, 1), 100);
        assert!(data < 1.1 && (5.9..6.1).contains(&page), "{data} {page}");
    }
}

#[test]
fn what_lies_in_an_open_unit_or_is_larger_than_a_unit_is_not_kept_apart() {
    let apart = medium(&format!("{REWRITE}{ONE_OPEN}"));
    let mut device = of_text(&apart, 1);
    let mut write = |place, bytes| ms(&mut device, Request::write(0, place, bytes));
    let open = [0, 4, 0, 4].map(|block| write(block * KIB, 4 * KIB));
    assert!(open.iter().all(|ms| *ms < 1.1), "{open:?}");
    let large = [1, 2, 1, 2].map(|unit| write(unit * MIB, 32 * KIB));
    assert!(large.iter().all(|ms| *ms > 90.0), "{large:?}");
}

/// Files of a file system with one block between them: an ascending order with gaps.
#[test]
fn a_gap_is_copied_or_the_whole_unit_is() {
    let fill = |text: &str| {
        let mut device = of_text(&medium(text), 1);
        let place = |i: u64| Request::write(0, i * 8 * KIB, 4 * KIB);
        (0..1280).map(|i| ms(&mut device, place(i))).sum::<f64>() / 1280.0
    };
    let filling = ONE_OPEN.replace("erase", "fills_gaps = true\nerase");
    // For 128 writes: two logs of partial units and the unit are merged, or half of it is copied.
    assert!((3.2..3.4).contains(&fill(ONE_OPEN)), "{}", fill(ONE_OPEN));
    assert!((1.35..1.45).contains(&fill(&filling)), "{}", fill(&filling));
}

/// A card of Kingston's reads 32 KiB in about the same time as 64 KiB.
#[test]
fn short_reads_have_a_rate_of_their_own() {
    let mean = |bytes: u64| {
        let mut device = fast("cf-kingston-266x", 1);
        (0..500).map(|i| ms(&mut device, Request::read(0, i * bytes, bytes))).sum::<f64>() / 500.0
    };
    let (half, whole) = (mean(32 * KIB), mean(64 * KIB));
    assert!((0.95..1.05).contains(&(half / whole)), "{half} {whole}");
}
