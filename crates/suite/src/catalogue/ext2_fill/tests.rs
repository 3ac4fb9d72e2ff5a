use device::{Op, Request};
use record::units::{MIB, MILLISECOND_NS};

use super::*;
use crate::catalogue::testing::{TestBench, run_simulated};

/// A medium that takes 1 ms per KiB.
fn bench(capacity_bytes: u64) -> TestBench {
    TestBench::raw(capacity_bytes, |request: &Request, _| {
        if request.op == Op::Flush { 0 } else { request.length_bytes / 1024 * MILLISECOND_NS }
    })
}

#[test]
fn only_file_data_counts_but_all_time() {
    let ran = bench(64 * MIB).run(&["ext2-fill"]);
    for id in ["ext2-fill/1", "ext2-fill/2"] {
        let cell = ran.cell(id);
        assert_eq!(cell.stop, Stop::Bytes, "the file system is full");
        let bps = cell.metrics.bps.unwrap();
        let share = ran.other(id, "metadata_share");
        assert!(
            bps.value < 1_024_000.0 * (1.0 - share),
            "the last block of a file is not full: {bps:?}, {share}"
        );
        assert!(bps.value > 800_000.0, "{bps:?}");
        let [low, high] = bps.ci95.unwrap();
        assert!(low < bps.value && bps.value < high);
        assert_eq!(cell.series[0].name, "rate of file data");
        assert!(cell.written_bytes <= 72 * MIB);
    }
    assert!(
        ran.other("ext2-fill/1", "metadata_share") < ran.other("ext2-fill/2", "metadata_share")
    );
}

/// Morton's published figures, on the models of his media (docs/field/ext2.md#mortons-benchmark,
/// docs/field/ftl.md#profiles). The models were fitted to other tests of his, and his way of
/// filling is unknown.
#[test]
fn the_rates_are_of_the_published_order() {
    for (profile, published) in
        [("class10", 4.65), ("usb2-voyager", 3.16), ("usb2-kingston", 2.66), ("disk-7200", 5.07)]
    {
        let cells = run_simulated(profile, 1, &["ext2-fill order=async max_time=60s"]);
        let rate = cells[0].metrics.bps.unwrap().value / 1e6;
        assert!(
            (0.6..1.2).contains(&(rate / published)),
            "{profile}: {rate} MB/s, published {published}"
        );
    }
}
