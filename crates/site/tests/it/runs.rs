//! Runs to submit: a real one of a simulated card, and imitations of measurements on real cards.

use std::fs;
use std::sync::OnceLock;

use record::{MediumKind, Published, Record, TargetKind};

use crate::environment::Flashmark;

/// Published part of a quick run on a simulated class 10 card; always the same.
pub fn simulated() -> &'static Published {
    static RUN: OnceLock<Published> = OnceLock::new();
    RUN.get_or_init(|| {
        let flashmark = Flashmark::new();
        let file = flashmark.home().join("run.json");
        flashmark.done(&[
            "run",
            "sim:class10",
            "--suite",
            "quick",
            "--seed",
            "1",
            "--quiet",
            "--json",
            file.to_str().unwrap(),
        ]);
        Published::from(&Record::from_json(&fs::read_to_string(file).unwrap()).unwrap())
    })
}

/// The same, modified to look like a measurement on a card of this vendor and model; the seed makes
/// it another run. Cells with enough I/Os for the detection of copies are left out.
pub fn measured(vendor: &str, model: &str, seed: u64) -> Published {
    let mut run = simulated().clone();
    (run.kind, run.profile, run.target) = (MediumKind::Sd, None, TargetKind::Block);
    (run.vendor, run.model) = (Some(vendor.to_owned()), Some(model.to_owned()));
    (run.interface, run.capacity_bytes) = (Some("sd uhs-i".to_owned()), Some(4 << 30));
    (run.engine, run.seed) = (Some("io_uring".to_owned()), seed);
    run.cells.retain(|cell| cell.ops <= 100);
    run
}
