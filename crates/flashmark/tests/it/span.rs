//! Nothing around the span is ever written.

use std::collections::BTreeMap;

use crate::support::{Chance, Flashmark, LoopDevice, MIB, Scratch, has_root, seed, sum_of, times};
use crate::torture::Tally;

/// Names of the tests that write, as the program tells them.
fn writing_tests(flashmark: &Flashmark) -> Vec<String> {
    let list = flashmark.done(&["tests"]).out;
    let writing = list.lines().filter(|line| line.contains("[writes]"));
    writing.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// Runs one test in a random span of a patterned medium. Whether it wrote; everything around the span must be as it was.
fn stays_in_its_span(test: &str, chance: &mut Chance) -> bool {
    const MEDIUM: u64 = 96 * MIB;
    const BLOCK: u64 = 4096;
    let scratch = Scratch::new();
    let image = scratch.image("image", MEDIUM);
    let device = LoopDevice::new(&image);
    let bytes = (1 + chance.below(48 * MIB / BLOCK)) * BLOCK;
    let offset = chance.below((MEDIUM - bytes) / BLOCK + 1) * BLOCK;
    let around = || (sum_of(&image, 0, offset), sum_of(&image, offset + bytes, u64::MAX));
    let inside = || sum_of(&image, offset, bytes);
    let (around_before, inside_before) = (around(), inside());
    let flashmark = Flashmark::new();
    let (span, seed) = (format!("{offset}+{bytes}"), chance.below(1000).to_string());
    let words = ["run", device.word(), "--erase", device.word(), "--span", &span, "--only", test, "--seed", &seed];
    let ran = flashmark.run(&[&words[..], &["--suite", "quick", "--time-limit", "400ms", "--quiet"]].concat());
    assert!(around() == around_before, "{words:?} wrote outside of its span: {ran}");
    let wrote = inside() != inside_before;
    assert_eq!(ran.code, Some(if wrote || !flashmark.runs().is_empty() { 0 } else { 2 }), "{words:?}: {ran}");
    wrote
}

#[test]
fn nothing_around_the_span_is_written() {
    if !has_root() {
        return;
    }
    let mut chance = Chance(seed(3));
    let mut tally = Tally::of("spans", "random spans on a loop device, bytes around them compared");
    let tests = writing_tests(&Flashmark::new());
    assert!(tests.len() >= 4, "{tests:?}");
    let mut wrote = BTreeMap::<&str, u64>::new();
    for turn in 0..times("SPANS", 20).max(tests.len() as u64) {
        let test = tests[turn as usize % tests.len()].as_str();
        let came = tally.attempt(1, &format!("turn {turn}, {test}"), |_| stays_in_its_span(test, &mut chance));
        tally.count("wrote", u64::from(came == Some(true)));
        *wrote.entry(test).or_default() += u64::from(came == Some(true));
    }
    tally.end();
    for test in ["prime", "random-write", "sequential-write", "random-fill"] {
        assert!(wrote[test] > 0, "{test} never wrote anything: {wrote:?}");
    }
}
