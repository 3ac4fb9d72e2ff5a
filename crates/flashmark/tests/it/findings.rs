//! Findings as a user reads them: the verdict first, the evidence on request, and media side by
//! side.

use std::fs;

use crate::support::{Flashmark, Scratch};

#[test]
fn not_suitable_for_the_wanted_use_is_a_failed_check() {
    let flashmark = Flashmark::new();
    let run = |wanted: &str| {
        flashmark.run(&["run", "sim:sd-worst", "--suite", "quick", "--quiet", "--for", wanted])
    };
    assert_eq!(run("root-disk,logger").code, Some(1));
    assert_eq!(run("video=8Mbit").code, Some(0));
    let refused = run("fridge");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.err.contains(
            "'fridge' is not a known use; type root-disk, camera, video=100Mbit, logger or database"
        ),
        "{refused}"
    );
}

#[test]
fn evidence_can_be_opened_in_text_and_on_the_page() {
    let scratch = Scratch::new();
    let page = scratch.at("page.html");
    let flashmark = Flashmark::new();
    flashmark.done(&format!(
        "run sim:class10-bypass --suite standard --quiet --html {}",
        page.to_str().unwrap()
    ));
    let screen = flashmark.done(&["show", "--findings"]).out;
    assert!(screen.contains("what it means: flashmark explain small-write-bypass"), "{screen}");
    assert!(screen.contains("random-write/2, 4 KiB: "), "{screen}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<details><summary>Small writes take a fast path"), "{page}");
    assert!(
        page.contains("href=\"#about-small-write-bypass\"")
            && page.contains("id=\"about-small-write-bypass\""),
        "{page}"
    );
    let asked = flashmark.done(&["show", "--for", "camera", "--findings"]).out;
    assert!(asked.contains("for a camera") && !asked.contains("for a root disk"), "{asked}");
}
