//! Test of every machine in `machines/`: each question has the answer below it.

use std::fs;
use std::path::Path;

use crate::machine::Machine;

/// The lines of a file with the answers of its machines.
fn answered(text: &str) -> String {
    let mut machine = Machine::of("");
    let mut lines = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with("  ")) {
        lines.push(line.to_owned());
        if line.starts_with("## ") {
            machine = Machine::of("");
        } else if let Some(question) = line.strip_prefix("? ") {
            let answer = machine.answer(question);
            lines.extend(answer.lines().map(|line| format!("  {line}")));
        } else if !line.is_empty() && !line.starts_with('#') {
            machine.build(line);
        }
    }
    lines.join("\n") + "\n"
}

/// With TRYCMD=overwrite the answers are written, to be looked at in the change.
#[test]
fn every_machine_answers_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/machines");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("known.txt") || path.extension().is_none_or(|end| end != "txt") {
            continue;
        }
        let expected = fs::read_to_string(&path).unwrap();
        let found = answered(&expected);
        if std::env::var("TRYCMD").is_ok_and(|how| how == "overwrite") {
            fs::write(&path, &found).unwrap();
            continue;
        }
        let pairs = found.lines().zip(expected.lines().chain(std::iter::repeat("(the end)")));
        for (number, (found, expected)) in pairs.enumerate() {
            assert_eq!(found, expected, "{}:{}", path.display(), number + 1);
        }
        assert_eq!(found.lines().count(), expected.lines().count(), "{}", path.display());
    }
}
