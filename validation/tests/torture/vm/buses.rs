//! The program on media behind the kernel's own drivers of USB, SD, NVMe and SCSI: how it
//! identifies them, and what it prints when they are pulled out, fail, stop answering or are
//! exchanged.
//!
//! `cargo validation buses` runs all of it and makes a table of the results.

mod bus;
mod failing;
mod hanging;
mod identity;
mod middle;
mod port;
mod pulled;
mod swapped;

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

use super::machine::Machine;
use bus::Bus;
use port::Port;

/// Outcome of a trial without a fault.
enum Outcome {
    /// Success, in words.
    Good(String),
    /// It cannot be tried here; the reason.
    NotHere(&'static str),
}

/// Name of a trial and its function, which panics if something is wrong.
type Trial = (&'static str, fn(&mut Port<'_>) -> Outcome);

const TRIALS: &[Trial] = &[
    ("identity", identity::is_what_was_plugged_in),
    ("pulled out while it is written", pulled::while_writing),
    ("pulled out while it is read", pulled::while_reading),
    ("pulled out while it commits (write, flush)", pulled::while_committing),
    ("a read fails at 35 MiB", failing::reads),
    ("a write fails at 35 MiB", failing::writes),
    ("stops answering for more than 5 s", hanging::comes_back),
    ("stops answering, Ctrl-C", hanging::is_interrupted),
    ("another of its size in its place, resume", swapped::for_another),
];

#[test]
#[ignore = "minutes in virtual machines: cargo validation buses"]
fn media_on_real_drivers_are_named_and_their_faults_reported() {
    let only = std::env::var("FLASHMARK_BUSES").unwrap_or_default();
    let is_wanted = |bus: &Bus| only.is_empty() || only.split(',').any(|name| name == bus.name());
    let mut faults = Vec::new();
    for bus in Bus::ALL.into_iter().filter(is_wanted) {
        if !bus.is_known_to_qemu() {
            write_line(bus, "all", "not in this QEMU", true);
            continue;
        }
        let Some(mut machine) = Machine::with(&[], &bus.hardware().split_whitespace().collect::<Vec<_>>()) else { return };
        machine.done(&format!("modprobe --all {}", bus.modules()));
        for trial in TRIALS {
            faults.extend(attempt(&mut machine, bus, trial));
        }
    }
    assert!(faults.is_empty(), "{} trials went wrong:\n{}", faults.len(), faults.join("\n"));
}

/// Makes one trial, and writes its line for the table; returns what went wrong, if anything did.
fn attempt(machine: &mut Machine, bus: Bus, (name, trial): &Trial) -> Option<String> {
    let mut port = Port::of(machine, bus);
    let came = catch_unwind(AssertUnwindSafe(|| trial(&mut port)));
    port.clear();
    match came {
        Ok(Outcome::Good(words)) => write_line(bus, name, &words, true),
        Ok(Outcome::NotHere(reason)) => {
            write_line(bus, name, &format!("not tried: {reason}"), true);
        }
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message =
                message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
            write_line(bus, name, message, false);
            return Some(format!("{}, {name}: {message}", bus.name()));
        }
    }
    None
}

/// Writes a line for the table.
fn write_line(bus: Bus, trial: &str, outcome: &str, is_good: bool) {
    let _ = writeln!(std::io::stdout(), "{}, {trial}: {outcome}", bus.name());
    if let Ok(path) = std::env::var("FLASHMARK_TALLY") {
        let line = json!({
            "bus": bus.name(), "driver": bus.driver(), "trial": trial, "outcome": outcome, "good": is_good,
        });
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}
