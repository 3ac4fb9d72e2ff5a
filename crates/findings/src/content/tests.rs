use record::units::MIB;
use record::{Direction, Params, Series};

use super::*;
use crate::testing::{cell, exact, known, record_of};

/// A fill or a write of this content at this rate, known exactly.
fn written(test: &str, number: u32, content: Content, bps: f64) -> Cell {
    let mut cell = cell(test, number, MIB);
    cell.params.content = Some(content);
    cell.metrics.bps = Some(known(bps, 0.0, 400));
    exact(cell)
}

fn found(cells: Vec<Cell>) -> Option<String> {
    conclude(&record_of(cells)).first().map(|found| found.id.clone())
}

#[test]
fn easy_data_is_told_from_fifteen_hundredths_more_on() {
    let of = |test: &'static str, other: &'static str, easy: Content, times: f64| {
        found(vec![
            written(test, 1, easy, times * 1e6),
            written(other, 2, Content::Incompressible, 1e6),
        ])
    };
    for (easy, id) in [
        (Content::Zeros, "compression"),
        (Content::Byte(0x55), "compression"),
        (Content::Repeated, "repeats-recognised"),
    ] {
        assert_eq!(of(test::CONTENT_SWEEP, test::CONTENT_SWEEP, easy, 1.149), None);
        assert_eq!(of(test::CONTENT_SWEEP, test::CONTENT_SWEEP, easy, 1.16).as_deref(), Some(id));
    }
    assert_eq!(of(test::CONTENT_SWEEP, test::CONTENT_SWEEP, Content::Compressible(50), 9.0), None);
    assert!(of(test::ZERO_FILL, test::RANDOM_FILL, Content::Zeros, 1.16).is_some());
    assert_eq!(of(test::ZERO_FILL, test::CONTENT_SWEEP, Content::Zeros, 1.16), None);
}

#[test]
fn only_what_differs_in_content_alone_is_a_pair() {
    let with = |change: fn(&mut Params)| {
        let mut hard = written(test::CONTENT_SWEEP, 2, Content::Incompressible, 1e6);
        change(&mut hard.params);
        found(vec![written(test::CONTENT_SWEEP, 1, Content::Zeros, 2e6), hard]).is_some()
    };
    assert!(with(|_| ()));
    assert!(with(|params| params.form = Some("rewrite-new".into())));
    assert!(!with(|params| params.form = Some("rewrite-equal".into())));
    assert!(!with(|params| params.block_bytes = Some(4096)));
    assert!(!with(|params| params.queue_depth = 2));
    assert!(!with(|params| params.threads = 2));
    assert!(!with(|params| params.region = None));
    assert!(!with(|params| params.direction = Some(Direction::Read)));
    assert!(!with(|params| params.pattern = None));
}

#[test]
fn a_fill_of_two_levels_tells_nothing_of_data() {
    let with = |rates: [f64; 2], test: &str| {
        let mut easy = written(test, 1, Content::Zeros, 2e6);
        let curve = rates.iter().flat_map(|rate| vec![*rate; 20]).zip(1..);
        easy.series.push(Series {
            name: "rate".into(),
            x: SeriesAxis::Bytes,
            y: SeriesAxis::Bps,
            points: curve.map(|(rate, at)| [f64::from(at), rate]).collect(),
        });
        let other = if test == test::ZERO_FILL { test::RANDOM_FILL } else { test };
        found(vec![easy, written(other, 2, Content::Incompressible, 1e6)]).is_some()
    };
    assert!(with([9.0, 9.0], test::ZERO_FILL));
    assert!(!with([9.0, 3.0], test::ZERO_FILL));
    assert!(with([9.0, 3.0], test::CONTENT_SWEEP));
}

/// A sweep of zeros, then one of incompressible data, and fills at 1 MiB: as a stick with three
/// levels gave them, whose middle one came to its end at 256 KiB of the second sweep.
fn sweeps(fill: Option<[f64; 2]>) -> Vec<Cell> {
    let rates = [(64, 73.3, 72.9), (128, 76.5, 76.0), (256, 78.8, 45.5), (512, 79.2, 44.8)];
    let at = |number, kib: u64, content, rate| {
        let mut cell = written(test::SEQUENTIAL_WRITE, number, content, rate * 1e6);
        cell.params.block_bytes = Some(kib << 10);
        cell
    };
    let zeros = rates.iter().zip(1..).map(|((kib, rate, _), n)| at(n, *kib, Content::Zeros, *rate));
    let data = rates
        .iter()
        .zip(11..)
        .map(|((kib, _, rate), n)| at(n, *kib, Content::Incompressible, *rate));
    let fills = fill.map(|[zeros, data]| {
        [
            written(test::ZERO_FILL, 1, Content::Zeros, zeros * 1e6),
            written(test::RANDOM_FILL, 1, Content::Incompressible, data * 1e6),
        ]
    });
    zeros.chain(data).chain(fills.into_iter().flatten()).collect()
}

#[test]
fn a_medium_that_fell_between_two_sweeps_does_not_compress() {
    assert_eq!(found(sweeps(None)), None, "its own smaller blocks were faster");
    let only_large = |cells: Vec<Cell>| -> Vec<Cell> {
        cells.into_iter().filter(|cell| cell.params.block_bytes > Some(128 << 10)).collect()
    };
    assert_eq!(found(only_large(sweeps(None))).as_deref(), Some("compression"));
    assert_eq!(found(only_large(sweeps(Some([44.9, 44.8])))), None, "fills are as fast");
    assert_eq!(
        found(only_large(sweeps(Some([79.0, 44.8])))).as_deref(),
        Some("compression"),
        "fills differ too"
    );
}

#[test]
fn small_blocks_that_cost_the_same_refute_nothing_of_large_ones() {
    let mut small = sweeps(None);
    small.retain(|cell| cell.params.block_bytes == Some(64 << 10));
    small.extend([
        written(test::SEQUENTIAL_WRITE, 5, Content::Zeros, 200e6),
        written(test::SEQUENTIAL_WRITE, 15, Content::Incompressible, 100e6),
    ]);
    assert_eq!(found(small).as_deref(), Some("compression"));
}

/// A cell whose median is this, known to a share of it, with a mean of no use.
fn typical(number: u32, content: Content, p50: u64, share: f64) -> Cell {
    let mut cell = written(test::CONTENT_SWEEP, number, content, 1e6);
    let ends = [1.0 - share, 1.0 + share].map(|times| (p50 as f64 * times) as u64);
    cell.metrics.latency_ns = Some(record::Latency {
        n: 400,
        p50: Some(p50),
        ci95: [("p50".to_owned(), ends)].into(),
        ..record::Latency::default()
    });
    cell
}

#[test]
fn medians_tell_what_merges_hide_where_their_interval_leaves_out_a_twentieth() {
    let of = |hard: u64, share: f64| {
        found(vec![
            typical(1, Content::Zeros, 100_000, share),
            typical(2, Content::Incompressible, hard, share),
        ])
        .is_some()
    };
    assert!(of(116_000, 0.01));
    assert!(!of(114_900, 0.01));
    // 1.16 over exp(sqrt(2) x 0.06) is 1.066, over exp(sqrt(2) x 0.08) 1.036.
    assert!(of(116_000, 0.06));
    assert!(!of(116_000, 0.08));
}

#[test]
fn equal_rewrites_are_held_against_new_data() {
    let of = |times: f64| {
        let cells = [("rewrite-equal", times), ("rewrite-new", 1.0)].map(|(form, times)| {
            let number = if times > 1.0 { 1 } else { 2 };
            let mut cell =
                written(test::CONTENT_SWEEP, number, Content::Incompressible, times * 1e6);
            cell.params.form = Some(form.into());
            cell
        });
        found(cells.into())
    };
    assert_eq!(of(1.149), None);
    assert_eq!(of(1.16).as_deref(), Some("equal-rewrites-skipped"));
}

#[test]
fn fifteen_hundredths_between_medians_tell() {
    let of = |hard: u64| {
        found(vec![
            typical(1, Content::Zeros, 100_000, 0.0),
            typical(2, Content::Incompressible, hard, 0.0),
        ])
    };
    assert_eq!([of(114_999).is_some(), of(115_000).is_some()], [false, true]);
}
