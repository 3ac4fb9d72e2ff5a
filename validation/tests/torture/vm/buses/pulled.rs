//! A medium that is pulled out in the middle of a run, and plugged in again.

use super::Outcome;
use super::middle::Middle;
use super::port::{Port, SERIAL};
use crate::crash::{acknowledged, check_record};

pub fn while_writing(port: &mut Port<'_>) -> Outcome {
    pulled(port, Middle::Write)
}

pub fn while_reading(port: &mut Port<'_>) -> Outcome {
    pulled(port, Middle::Read)
}

pub fn while_committing(port: &mut Port<'_>) -> Outcome {
    pulled(port, Middle::Commit)
}

/// The run ends with its finished cells and says why; `show` says so too and does not blame the
/// medium; `resume` on the same medium completes the run.
fn pulled(port: &mut Port<'_>, middle: Middle) -> Outcome {
    let image = port.scene.used_card("mine");
    let run = port.begun(&image, middle);
    std::thread::sleep(std::time::Duration::from_secs(1));
    port.pull();
    let ran = port.scene.machine.wait(&run);
    assert_eq!(ran.code, Some(4), "{ran}");
    let at = ran.err.rfind("the medium is gone").unwrap_or_else(|| panic!("{ran}"));
    assert!(ran.err.contains("flashmark resume"), "{ran}");
    let shown = port.shown(&ran);
    assert!(shown.contains("The device went away"), "{shown}");
    assert!(!shown.contains("Do not use it"), "{shown}");
    let before = acknowledged(&port.kept());
    port.put(&image, SERIAL);
    let resumed = port.scene.run("resume latest");
    assert_eq!(resumed.code, Some(0), "after {ran}resume: {resumed}");
    check_record(&port.kept().run_dir(), &before);
    let message = ran.err[at..].split(';').next().unwrap_or_default();
    let words: Vec<&str> = message.split_whitespace().collect();
    let cells = before.len();
    Outcome::Good(format!(
        "exit 4, \"{}\"; {cells} of 3 cells kept, `resume` ended it",
        words.join(" ")
    ))
}
