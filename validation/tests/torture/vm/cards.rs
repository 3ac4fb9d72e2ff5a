//! All scenarios with one machine and its reader.

use super::machine::Machine;
use super::scene::play;
use super::{clock, restored};

#[test]
#[ignore = "minutes in a virtual machine: cargo validation torture --only cards --times 1"]
fn a_reader_is_plugged_and_pulled_and_its_cards_are_swapped() {
    let Some(mut machine) = Machine::boot(&[]) else { return };
    play(&mut machine, &[("clock", clock::SCENARIOS), ("restored", restored::SCENARIOS)]);
}
