//! A collection draws the figures of a run again from its evidence: of runs in a real directory it
//! finds what the program printed.

use record::{Cell, Published};

use crate::support::{Flashmark, Scratch, read_record};

/// The figures of a cell: rates with their intervals, times of single I/Os.
fn figures(cell: &Cell) -> Vec<f64> {
    let latency = cell.metrics.latency_ns.clone().unwrap_or_default();
    let times = [Some(latency.min), latency.p50, latency.p99, Some(latency.max)];
    let rates = [cell.metrics.iops, cell.metrics.bps].into_iter().flatten();
    let rates = rates.flat_map(|rate| {
        let [low, high] = rate.ci95.unwrap_or_default();
        [rate.value, low, high]
    });
    rates.chain([latency.mean]).chain(times.map(|ns| ns.unwrap_or(0) as f64)).collect()
}

#[test]
fn figures_of_a_real_directory_are_drawn_as_they_were_measured() {
    let flashmark = Flashmark::new();
    let scratch = Scratch::new();
    for threads in ["1", "8", "32"] {
        let set =
            format!("--set random-read.threads={threads} --set random-write.threads={threads}");
        flashmark
            .done(&format!("run {} --suite quick --quiet --time-limit 5s {set}", scratch.word()));
        let runs = flashmark.runs();
        let run = Published::from(&read_record(&runs.last().unwrap().join("record.json")));
        let judged = collection::judge(run.clone()).unwrap();
        for (was, is) in run.cells.iter().zip(&judged.run.cells) {
            let (was, is) = (figures(was), figures(is));
            let is_near = |(was, is): (&f64, &f64)| (was - is).abs() <= 0.005 * was.abs();
            assert!(was.iter().zip(&is).all(is_near), "{threads} threads: {was:?} {is:?}");
        }
        assert!(!run.cells.is_empty());
    }
}
