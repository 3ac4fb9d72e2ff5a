//! What `import` keeps of another tool's output; `cases/import.trycmd` of flashmark has its answers.

use std::process::Stdio;

use crate::support::{Flashmark, Ran};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import/ioping_c5.txt");

#[test]
fn standard_input_is_a_file_too_and_is_kept_beside_its_record() {
    let flashmark = Flashmark::new();
    let file = std::fs::File::open(SAMPLE).unwrap();
    let ran = Ran::of(flashmark.command(&["import", "-"]).stdin(Stdio::from(file)));
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.out.starts_with("-: ioping of loop0, 1 result"), "{ran}");
    let entries = std::fs::read_dir(flashmark.home()).unwrap().map(|entry| entry.unwrap().path());
    let kept = entries.map(|run| run.join("imported.txt")).find(|file| file.is_file()).unwrap();
    assert_eq!(std::fs::read(kept).unwrap(), std::fs::read(SAMPLE).unwrap());
}
