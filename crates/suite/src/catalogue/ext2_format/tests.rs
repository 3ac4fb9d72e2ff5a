use device::{Op, Request};
use record::units::MILLISECOND_NS;

use super::*;
use crate::catalogue::testing::{TestBench, run_simulated};

/// A medium that takes 100 ms for a table, 10 ms for a kilobyte of other data, a second for a
/// flush.
fn bench(capacity_bytes: u64) -> TestBench {
    TestBench::raw(capacity_bytes, |request, _| match (request.op, request.length_bytes) {
        (Op::Flush, _) => SECOND_NS,
        (_, 1024) => 10 * MILLISECOND_NS,
        _ => 100 * MILLISECOND_NS,
    })
}

fn blocks(requests: &[Request]) -> Vec<(u64, u64)> {
    requests
        .iter()
        .filter(|r| r.op == Op::Write)
        .map(|r| (r.offset_bytes / 1024, r.length_bytes / 1024))
        .collect()
}

#[test]
fn the_published_example_is_written_in_mke2fs_order() {
    let ran = bench(3_965_190_144).run(&["ext2-format form=mke2fs"]);
    let seen = blocks(&ran.requests);
    assert_eq!(seen[..3], [(19, 64), (8211, 64), (16387, 64)]);
    assert_eq!(seen[472], (472 * 8192 + 3, 64));
    let first: Vec<_> = [17, 18].into_iter().chain(1..=16).map(|block| (block, 1)).collect();
    assert_eq!(seen[473..473 + 18], first);
    let second: Vec<_> = [8209, 8210]
        .into_iter()
        .chain(8193..=8208)
        .chain([16385, 16386])
        .map(|block| (block, 1))
        .collect();
    assert_eq!(seen[473 + 18..473 + 38], second);
    // 13 groups with superblock and 15 blocks of descriptors.
    assert_eq!(seen.len(), 473 + 2 * 473 + 13 * 16);
    assert_eq!(ran.requests.last().unwrap().op, Op::Flush);
    let seconds = 473.0 * 0.1 + (2.0 * 473.0 + 13.0 * 16.0) * 0.01 + 1.0;
    assert!((ran.other("ext2-format/1", "groups_per_s") - 473.0 / seconds).abs() < 1e-5);
    assert!((ran.other("ext2-format/1", "format_s") - seconds).abs() < 1e-6);
    let cell = ran.cell("ext2-format/1");
    assert_eq!((cell.stop, cell.metrics.other["groups_per_s"].n), (Stop::Bytes, 473));
    assert!(ran.requests.iter().all(|r| r.content == Content::Zeros || r.op == Op::Flush));
}

#[test]
fn samples_are_even() {
    let numbers: Vec<u64> = (0..100).collect();
    assert_eq!(spread(4, &numbers), [12, 37, 62, 87]);
    assert_eq!(spread(100, &numbers), numbers);
    assert_eq!(spread(200, &numbers), numbers);
    assert_eq!(spread(0, &numbers), [50]);
    assert!(spread(3, &[]).is_empty());
}

/// Morton's published figures, on the models of his media (docs/field/ext2.md#mortons-benchmark,
/// docs/field/ftl.md#profiles).
#[test]
fn the_simple_form_is_mortons() {
    for (profile, published) in
        [("class6", 8.38), ("class10", 2.48), ("usb2-voyager", 1.08), ("usb2-kingston", 1.82)]
    {
        let cells = run_simulated(profile, 1, &["ext2-format form=simple max_time=60s"]);
        let rate = cells[0].metrics.other["groups_per_s"].value;
        assert!(
            (0.9..1.25).contains(&(rate / published)),
            "{profile}: {rate}, published {published}"
        );
    }
}
