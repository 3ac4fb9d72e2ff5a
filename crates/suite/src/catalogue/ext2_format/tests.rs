use device::{Op, Request};
use record::units::{GIB, MILLISECOND_NS};

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
    assert!((ran.other("ext2-format/1", "groups_per_s") - 473.0 / seconds).abs() < 1e-9);
    assert!((ran.other("ext2-format/1", "format_s") - seconds).abs() < 1e-6);
    let cell = ran.cell("ext2-format/1");
    assert_eq!((cell.stop, cell.metrics.other["groups_per_s"].n), (Stop::Bytes, 473));
    assert!(ran.requests.iter().all(|r| r.content == Content::Zeros || r.op == Op::Flush));
}

#[test]
fn the_simple_form_is_64_kib_every_8_mib() {
    let ran = bench(GIB).run(&["ext2-format form=simple"]);
    assert_eq!(blocks(&ran.requests), (0..128).map(|g| (g * 8192, 64)).collect::<Vec<_>>());
    assert_eq!(ran.other("ext2-format/1", "groups_per_s"), 1.0 / (0.1 + 1.0 / 128.0));
    assert_eq!(ran.cell("ext2-format/1").metrics.other["groups_per_s"].n, 128);
}

#[test]
fn without_time_for_all_a_sample_lies_over_the_whole_medium() {
    let ran = bench(32 * GIB).run(&["ext2-format max_time=60s"]);
    for (id, truth) in [("ext2-format/1", 1.0 / 0.1279), ("ext2-format/2", 10.0)] {
        let cell = ran.cell(id);
        let rate = cell.metrics.other["groups_per_s"];
        assert!((rate.value / truth - 1.0).abs() < 0.02, "{id}: {rate:?}");
        assert!(rate.n > 300 && rate.n < 4096, "{rate:?}");
        assert_eq!(cell.stop, Stop::Time);
        assert!(matches!(&cell.flags[..], [Flag::Note { .. }]), "{:?}", cell.flags);
        assert!(cell.elapsed_ns < 60 * SECOND_NS);
    }
    let tables: Vec<u64> =
        ran.requests.iter().filter(|r| r.length_bytes == 65536).map(|r| r.offset_bytes).collect();
    assert!(tables.iter().any(|at| *at < GIB) && tables.iter().any(|at| *at > 31 * GIB));
}

#[test]
fn one_write_a_second_keeps_to_the_time() {
    let ran =
        TestBench::raw(4 * GIB, |_, _| SECOND_NS).run(&["ext2-format form=mke2fs max_time=60s"]);
    let cell = ran.cell("ext2-format/1");
    assert!(ran.requests.len() < 62, "{}", ran.requests.len());
    // Three writes a group, 17 more in 14 of 512, and a share of the flush.
    let rate = cell.metrics.other["groups_per_s"].value;
    assert!((0.26..0.30).contains(&rate), "{rate}");
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
