//! A medium that stops answering for some seconds.

use std::time::Duration;

use super::Outcome;
use super::bus::Bus;
use super::middle::Middle;
use super::port::Port;
use crate::crash::{acknowledged, check_record};
use crate::vm::machine::Task;

/// Message of the program about an I/O that has taken 2 s.
const NO_ANSWER: &str = "the medium has not answered for";
/// Duration of a call that a cell has as a caveat.
const STALL: Duration = Duration::from_secs(5);

/// A run whose medium has stopped answering, and which has printed so.
fn stopped(port: &mut Port<'_>) -> Result<Task, Outcome> {
    if matches!(port.bus, Bus::Sd | Bus::Emmc) {
        return Err(Outcome::NotHere("QEMU's card stops the whole machine while it waits"));
    }
    let image = port.scene.used_card("mine");
    let run = port.begun(&image, Middle::Write);
    port.stop();
    port.until_printed(&run, NO_ANSWER);
    Ok(run)
}

/// The medium answers again: the run ends well, and the pause is in its record.
pub fn comes_back(port: &mut Port<'_>) -> Outcome {
    let run = match stopped(port) {
        Ok(run) => run,
        Err(outcome) => return outcome,
    };
    std::thread::sleep(STALL);
    port.go();
    let ran = port.scene.machine.wait(&run);
    assert_eq!(ran.code, Some(0), "{ran}");
    let kept = port.kept();
    check_record(&kept.run_dir(), &acknowledged(&kept));
    let record = serde_json::to_value(kept.record()).unwrap();
    let flags = record["cells"].as_array().unwrap().iter().flat_map(|cell| {
        let flags = cell["flags"].as_array().cloned().unwrap_or_default();
        flags.into_iter().map(|flag| (cell["id"].clone(), flag))
    });
    let stalled: Vec<_> = flags.filter(|(_, flag)| flag["flag"] == "stalled").collect();
    let [(cell, flag)] = stalled.as_slice() else { panic!("{stalled:?}: {ran}") };
    let longest_ns = flag["longest_ns"].as_u64().unwrap();
    assert!(u128::from(longest_ns) >= STALL.as_nanos(), "{flag}");
    let shown = port.shown(&ran);
    assert!(!shown.contains("Do not use it"), "{shown}");
    Outcome::Good(format!(
        "exit 0, \"{NO_ANSWER} ..\", \"one call took ..\" in {cell}, all 3 cells measured"
    ))
}

/// Ctrl-C ends the run, and `resume` continues it when the medium is back.
pub fn is_interrupted(port: &mut Port<'_>) -> Outcome {
    let run = match stopped(port) {
        Ok(run) => run,
        Err(outcome) => return outcome,
    };
    port.scene.signal("INT");
    // It says its last words while the medium is silent; the kernel keeps the process until then.
    port.until_printed(&run, "flashmark resume");
    port.go();
    let ran = port.scene.machine.wait(&run);
    assert_eq!(ran.code, Some(130), "{ran}");
    port.shown(&ran);
    let before = acknowledged(&port.kept());
    let resumed = port.scene.run("resume latest");
    assert_eq!(resumed.code, Some(0), "after {ran}resume: {resumed}");
    check_record(&port.kept().run_dir(), &before);
    let cells = before.len();
    Outcome::Good(format!(
        "its last words came while the medium was silent, exit 130, {cells} of 3 cells kept, `resume` ended it"
    ))
}
