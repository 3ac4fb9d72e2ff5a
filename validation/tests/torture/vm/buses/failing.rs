//! A medium with a place that cannot be read, or cannot be written.

use serde_json::json;

use super::Outcome;
use super::bus::Bus;
use super::port::{Port, SERIAL};
use crate::support::MIB;

/// Offset of the failure, in the middle of what both sequential tests touch.
const PLACE: u64 = 35 * MIB;

/// Cells at that place, and beside it.
const SUITE: &str = "sequential-write block=1MiB span=8MiB total=8MiB certainty=0.001% min_time=10ms max_time=20m; \
     sequential-read block=1MiB span=8MiB total=8MiB certainty=0.001% min_time=10ms max_time=20m; \
     sequential-write block=64KiB span=1MiB total=1MiB region=front min_time=10ms max_time=20m; \
     sequential-read block=64KiB span=1MiB total=1MiB region=front min_time=10ms max_time=20m";

pub fn reads(port: &mut Port<'_>) -> Outcome {
    fails(port, "read")
}

pub fn writes(port: &mut Port<'_>) -> Outcome {
    fails(port, "write")
}

/// Checks that one cell ends at that place with an error, and the others are measured.
fn fails(port: &mut Port<'_>, direction: &str) -> Outcome {
    if matches!(port.bus, Bus::Sd | Bus::Emmc) {
        return Outcome::NotHere("QEMU's card answers well whatever its file says");
    }
    let image = port.scene.used_card("mine");
    let errors =
        json!([{ "event": "none", "iotype": direction, "errno": 5, "sector": PLACE / 512 }]);
    let node = port.put_failing(&image, SERIAL, Some(errors));
    let suite = port.scene.scratch.suite(SUITE);
    let words = format!("run {node} --erase {} --suite {}", port.erase(), suite);
    let ran = port.scene.run(&words);
    assert_eq!(ran.code, Some(4), "{ran}");
    assert!(ran.err.contains(&format!("at byte {PLACE}")), "the place is named: {ran}");
    let record = serde_json::to_value(port.kept().record()).unwrap();
    let cells = record["cells"].as_array().unwrap();
    let failed: Vec<_> = cells.iter().filter(|cell| cell["stop"] == "error").collect();
    let [cell] = failed.as_slice() else { panic!("{} cells failed: {ran}", failed.len()) };
    let error = &cell["error"];
    assert_eq!(error["kind"], "medium", "{cell}");
    assert_eq!(error["direction"], direction, "{cell}");
    assert_eq!(error["offset_bytes"], PLACE, "{cell}");
    assert_eq!(cells.len(), 4, "the run goes on: {ran}");
    let shown = port.shown(&ran);
    assert!(shown.contains("One area fails"), "{shown}");
    Outcome::Good(format!(
        "exit 4, errno {} at byte {PLACE} kept in {}, 3 other cells measured, \"One area fails\"",
        error["errno"], cell["id"]
    ))
}
