//! What a user reads of a medium: the verdict first, the evidence when asked for, and media side by
//! side.

use std::fs;

use record::Record;
use serde_json::Value;

use crate::support::{Flashmark, Scratch};

/// The first five lines that `run --suite standard` prints, as one.
fn opening(profile: &str) -> String {
    let flashmark = Flashmark::new();
    let ran = flashmark.run(&["run", &format!("sim:{profile}"), "--suite", "standard"]);
    let opening = ran.out.lines().take(6).collect::<Vec<_>>().join(" ");
    opening.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn whoever_measures_a_bad_card_reads_so_and_why_in_the_first_six_lines() {
    let slow = [
        "sd-worst",
        "sd-class4",
        "class10",
        "class10-bypass",
        "usb2-voyager",
        "cf-kingston-266x",
        "zero-cheat",
        "span-cheat-16",
        "span-cheat-128",
    ];
    for profile in slow {
        let said = opening(profile);
        assert!(said.contains("Not suitable for a root disk"), "{profile}: {said}");
        assert!(said.contains("; a laptop disk reaches 90"), "{profile}: {said}");
    }
    let said = opening("pattern-cheat");
    assert!(said.contains("Poor for a root disk and a database"), "{said}");
}

#[test]
fn whoever_measures_a_fake_or_a_dying_medium_reads_that_first() {
    let told = [
        ("fake-limbo", "it says 64 GiB, it has", "is lost without an error"),
        ("fake-wrap", "it says 64 GiB, it has", "overwrites data at the front"),
        // That a part of what it folds to is missing, only the whole probe finds out.
        ("chain", "it says 64 GiB, it has", "overwrites data at the front"),
        ("worn", "It fails in places", "Copy what is on it now"),
    ];
    for (profile, what, why) in told {
        let said = opening(profile);
        assert!(
            said.contains("Do not use it.") && said.contains(what) && said.contains(why),
            "{profile}: {said}"
        );
    }
    let ran = Flashmark::new().run(&["run", "sim:fake-limbo", "--suite", "standard", "--quiet"]);
    assert_eq!(ran.code, Some(1), "a fake fails the check");
}

#[test]
fn what_the_run_wore_is_told() {
    let flashmark = Flashmark::new();
    flashmark.done(&["run", "sim:class10", "--suite", "quick", "--quiet"]);
    let told = flashmark.done(&["show", "--findings"]).out;
    assert!(told.contains("This run wrote") && told.contains("flashmark explain wear"), "{told}");
}

#[test]
fn patterns_of_uflip_are_put_in_words() {
    let flashmark = Flashmark::new();
    flashmark.done(&["run", "sim:class6", "--only", "uflip", "--quiet"]);
    let told = flashmark.done(&["show", "--findings"]).out;
    for page in ["random-locality", "write-rows", "write-order", "pauses"] {
        assert!(told.contains(&format!("flashmark explain {page}")), "{page}: {told}");
    }
}

#[test]
fn a_good_card_is_called_good_and_no_cheat() {
    let flashmark = Flashmark::new();
    let ran = flashmark.done(&["run", "sim:a1", "--suite", "standard"]);
    let flat = ran.out.lines().take(5).collect::<Vec<_>>().join(" ");
    assert!(flat.contains("Good for root disk"), "{flat}");
    let cheats = [
        "span-cache",
        "small-span",
        "compression",
        "small-write-bypass",
        "slc-cache",
        "throttling",
        "front-area",
        "pattern-cheat",
    ];
    let found = flashmark.record().findings;
    assert!(!found.iter().any(|finding| cheats.contains(&finding.id.as_str())), "{found:#?}");
}

#[test]
fn unfit_for_what_it_is_wanted_for_is_a_failed_check() {
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
    flashmark.done(&[
        "run",
        "sim:class10-bypass",
        "--suite",
        "standard",
        "--quiet",
        "--html",
        page.to_str().unwrap(),
    ]);
    let told = flashmark.done(&["show", "--findings"]).out;
    assert!(told.contains("what it means: flashmark explain small-write-bypass"), "{told}");
    assert!(told.contains("random-write/2, 4 KiB: "), "{told}");
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

#[test]
fn media_are_compared() {
    let scratch = Scratch::new();
    let (json, page) = (scratch.at("compared.json"), scratch.at("compared.html"));
    let flashmark = Flashmark::new();
    for (profile, seed) in
        [("class10-bypass", "1"), ("class10-bypass", "2"), ("class6", "1"), ("class6", "2")]
    {
        flashmark.done(&[
            "run",
            &format!("sim:{profile}"),
            "--suite",
            "standard",
            "--quiet",
            "--seed",
            seed,
        ]);
    }
    let runs: Vec<String> = flashmark
        .runs()
        .iter()
        .map(|dir| dir.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let words = [
        &["compare"],
        &runs[..],
        &["--json", json.to_str().unwrap(), "--html", page.to_str().unwrap()],
    ]
    .concat();
    let told = flashmark.done(&words).out;
    // 49 IOPS at 4 KiB and 2 at 16 KiB against 10 at both: one overtakes the other between.
    assert!(told.contains("class6 overtakes class10-bypass at blocks of about"), "{told}");
    let compared: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(compared["media"].as_array().unwrap().len(), 2);
    assert_eq!(compared["media"][0]["runs"].as_array().unwrap().len(), 2);
    assert!(fs::read_to_string(page).unwrap().contains("overtakes"));
    assert_eq!(flashmark.run(&["compare", runs[0]]).code, Some(2), "one run is no comparison");
    assert_eq!(flashmark.run(&["compare", runs[0], "no-such-run"]).code, Some(2));
}

#[test]
fn findings_can_be_drawn_again_from_the_record() {
    let flashmark = Flashmark::new();
    flashmark.done(&["run", "sim:class10", "--suite", "quick", "--quiet"]);
    let record = flashmark.record();
    assert_eq!(::findings::conclude(&record), record.findings);
    let read = Record::from_json(&record.to_json()).unwrap();
    assert_eq!(::findings::conclude(&read), record.findings);
}
