//! Test of every machine in `machines/`: each question has the answer below it.

use std::fs;
use std::path::Path;

use crate::cases::{self, Case};
use crate::machine::Machine;

impl Case for Machine {
    fn build(&mut self, line: &str) {
        self.add(line);
    }

    fn answer(&mut self, question: &str) -> String {
        self.ask(question)
    }
}

#[test]
fn every_machine_answers_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/machines");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("known.txt") && path.extension().is_some_and(|end| end == "txt") {
            cases::check(&path, || Machine::of(""));
        }
    }
}
