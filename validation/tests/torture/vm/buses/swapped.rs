//! Another medium of the same size in place of the run's own.

use std::fs;

use super::Outcome;
use super::middle::Middle;
use super::port::{Port, SERIAL};
use crate::card::{refused, unchanged};

/// `resume` refuses it and writes nothing, whatever identity it reports.
pub fn for_another(port: &mut Port<'_>) -> Outcome {
    let image = port.scene.used_card("mine");
    let run = port.begun(&image, Middle::Write);
    port.scene.signal("INT");
    if !port.bus.is_slot() {
        port.go();
    }
    let ran = port.scene.machine.wait(&run);
    assert_eq!(ran.code, Some(130), "{ran}");
    let photos = port.scene.photos("photos");
    let before = fs::read(&photos).unwrap();
    // Every card of QEMU's says that it is the same one.
    let serials = if port.bus.is_slot() { &[SERIAL][..] } else { &["OTHER0002", SERIAL] };
    for serial in serials {
        port.pull();
        port.scene.machine.until(&format!("! ls {} 2>/dev/null", port.bus.nodes()));
        port.put(&photos, serial);
        let ran = port.scene.run("resume latest");
        unchanged(&photos, &before, &ran);
        if *serial == SERIAL {
            refused(&ran);
        } else {
            assert_eq!(ran.code, Some(3), "{ran}");
            let named = format!("its serial number was {SERIAL}, is {serial}");
            assert!(ran.err.contains(&named), "{ran}");
        }
    }
    let which = match serials {
        [_] => "of the same identity",
        _ => "of another and of the same serial number",
    };
    Outcome::Good(format!("{which}: refused (exit 3), every byte of it as before"))
}
