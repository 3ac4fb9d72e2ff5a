//! Runs for tests.

use record::collection::{HeadlineFigure, Origin, RunHeadline, SubmissionStatus};
use record::{Claims, Link, MediumKind, Published, Record};

use crate::collection::Submission;

/// The run of the fixture.
pub fn fixture() -> Published {
    let text = include_str!("../../../../../fixtures/records/flashmark-0.1.0-sim.json");
    Published::from(&Record::from_json(text).expect("the fixture is a record"))
}

/// A run of a card of that name on that board. Each number gives another content.
pub fn run(number: u64, vendor: &str, model: &str, board: Option<&str>) -> Published {
    let non_empty = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Published {
        seed: number,
        kind: MediumKind::Sd,
        vendor: non_empty(vendor),
        model: non_empty(model),
        profile: None,
        capacity_bytes: Some(31_914_983_424),
        interface: non_empty("mmc"),
        link: Some(Link {
            mode: non_empty("sd uhs SDR104, 4 bit, 200 MHz"),
            driver: non_empty("sdhci"),
            ..Link::default()
        }),
        claims: Some(Claims { speed_class: Some(10), app_class: Some(1), ..Claims::default() }),
        board: board.map(str::to_owned),
        kernel: non_empty("6.12.3"),
        arch: board.map(|_| "aarch64".to_owned()),
        cpu: None,
        cpus: None,
        ..fixture()
    }
}

/// A headline with random writes of 4 KiB, in IOPS.
pub fn headline(random_write: f64) -> RunHeadline {
    RunHeadline {
        figures: [(HeadlineFigure::RandomWrite4k, random_write)].into(),
        verdict: Some(format!("Does {random_write} random writes a second.")),
        ..RunHeadline::default()
    }
}

/// The `number`-th run of a card, received on that day of May.
pub fn submission(number: u64, model: &str, board: Option<&str>, random_write: f64) -> Submission {
    let received = format!("2026-05-{:02}T12:00:00Z", number % 28 + 1);
    Submission::new(
        run(number, "SanDisk", model, board),
        headline(random_write),
        Origin::Measured,
        received,
    )
}

/// Puts the submission in quarantine.
pub fn quarantined(submission: Submission) -> Submission {
    Submission { status: SubmissionStatus::Quarantined, why: "too fast".to_owned(), ..submission }
}

/// Marks the submission as one of a fake.
pub fn fake(mut submission: Submission) -> Submission {
    submission.headline.is_fake = true;
    submission
}
