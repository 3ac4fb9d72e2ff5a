//! Lines of runs that are made for the purpose.

use record::collection::{HeadlineFigure, HostSpread};
use record::{Claims, Link, MediumKind, Record};

use super::*;

/// The `number`-th run of a card, received on that day of May: random writes of 4 KiB, in IOPS.
fn sent(number: u64, model: &str, board: Option<&str>, random_write: f64) -> SentRun {
    let text = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
    let fixture = Published::from(&Record::from_json(text).unwrap());
    let run = Published {
        seed: number,
        kind: MediumKind::Sd,
        vendor: Some("SanDisk".into()),
        model: Some(model.into()),
        profile: None,
        capacity_bytes: Some(31_914_983_424),
        interface: Some("mmc".into()),
        link: Some(Link { mode: Some("sd uhs SDR104, 4 bit, 200 MHz".into()), ..Link::default() }),
        claims: Some(Claims { speed_class: Some(10), app_class: Some(1), ..Claims::default() }),
        board: board.map(str::to_owned),
        arch: board.map(|_| "aarch64".to_owned()),
        cpu: None,
        cpus: None,
        ..fixture
    };
    let headline = RunHeadline {
        figures: [(HeadlineFigure::RandomWrite4k, random_write)].into(),
        verdict: Some(format!("Does {random_write} random writes a second.")),
        ..RunHeadline::default()
    };
    SentRun {
        id: content_name(&run),
        run,
        headline,
        origin: Origin::Measured,
        received: format!("2026-05-{number:02}T12:00:00Z"),
        sender: None,
    }
}

fn lines(runs: Vec<SentRun>) -> Vec<LineRuns> {
    lines_of(runs)
}

fn slugs(runs: Vec<SentRun>) -> Vec<String> {
    lines(runs).into_iter().map(|it| it.line.slug).collect()
}

#[test]
fn a_model_is_a_line_and_hosts_count_once() {
    // Three runs on one kind of host, one on another, one on an unknown one; one comes twice.
    let hosts = [
        (1, Some("Pi 3"), 10.0),
        (2, Some("Pi 3"), 12.0),
        (3, Some("Pi 3"), 14.0),
        (4, Some("Pi 5"), 100.0),
        (5, None, 50.0),
        (5, None, 50.0),
    ];
    let runs = hosts.map(|(number, board, value)| sent(number, "SD32G", board, value));
    let lines = lines_of(runs);
    let [LineRuns { line, runs }] = &lines[..] else { panic!("one line") };
    let expected =
        HostSpread { median: 50.0, low: 10.0, high: 100.0, runs: 5, hosts: 3, senders: 0 };
    assert_eq!(line.figures.get(&HeadlineFigure::RandomWrite4k), Some(&expected));
    assert_eq!(
        (line.slug.as_str(), line.name.as_str()),
        ("sandisk-sd32g-32-gb", "SanDisk SD32G 32 GB")
    );
    assert_eq!((line.runs, line.model.capacity_gb), (5, 32));
    assert_eq!(
        (line.interface.as_deref(), line.classes.join(" ")),
        (Some("sd uhs-i"), "C10 A1".to_owned())
    );
    assert_eq!(line.verdict.as_deref(), Some("Does 50 random writes a second."));
    assert_eq!(line.latest, "2026-05-05T12:00:00Z");
    let seeds = |runs: &[CollectionRun]| runs.iter().map(|it| it.run.seed).collect::<Vec<_>>();
    assert_eq!(seeds(runs), [5, 4, 3, 2, 1]);
}

#[test]
fn fakes_are_a_line_of_their_own() {
    let mut fake = sent(1, "SD32G", None, 0.5);
    fake.headline.is_fake = true;
    let lines = lines(vec![fake, sent(2, "SD32G", None, 20.0), sent(3, "SD64G", None, 9.0)]);
    let facts =
        |it: &LineRuns| (it.line.slug.clone(), it.line.runs, it.line.fakes, it.line.is_fake);
    assert_eq!(
        lines.iter().map(facts).collect::<Vec<_>>(),
        [
            ("sandisk-sd32g-32-gb".to_owned(), 1, 1, false),
            ("sandisk-sd32g-32-gb-fake".to_owned(), 1, 1, true),
            ("sandisk-sd64g-32-gb".to_owned(), 1, 0, false)
        ]
    );
    assert_eq!(lines[0].line.figures[&HeadlineFigure::RandomWrite4k].median, 20.0);
}

/// Regression: a single sender that came in first set the name of a line, and marked it as a fake
/// and as damaged by repetition.
#[test]
fn a_line_shows_what_most_senders_report() {
    let of = |number, sender: &str| SentRun {
        sender: Some(sender.to_owned()),
        ..sent(number, "SD32G", Some("Raspberry Pi 4"), 10.0)
    };
    let honest = || [(11, "ada"), (12, "bea"), (13, "cem")].map(|(number, who)| of(number, who));
    let lies = (1..=4).map(|number| {
        let mut lie = of(number, "mallory");
        lie.run.model = Some("sd32G".to_owned());
        lie.run.interface = Some("ata".to_owned());
        lie.headline.verdict = Some("Do not use it.".to_owned());
        lie.headline.faults = vec!["capacity".to_owned()];
        lie.headline.is_fake = number > 2;
        lie
    });
    let before = lines(honest().into());
    let after = lines(lies.chain(honest()).collect());
    let (before, after) = (&before[0].line, &after[0].line);
    assert_eq!((after.runs, after.fakes), (5, 1), "one sender is one report");
    let facts =
        |line: &CollectionLine| (line.name.clone(), line.interface.clone(), line.verdict.clone());
    assert_eq!(facts(after), facts(before));
    assert_eq!(before.name, "SanDisk SD32G 32 GB");
}

#[test]
fn origins_are_never_mixed() {
    let runs = (1..).zip(Origin::ALL);
    let runs = runs.map(|(at, origin)| SentRun { origin, ..sent(at, "SD32G", None, at as f64) });
    let lines = lines(runs.collect());
    assert_eq!(lines.len(), Origin::ALL.len());
    for LineRuns { line, runs } in lines {
        assert!(runs.len() == 1 && runs[0].origin == line.origin, "{}", line.slug);
        assert_eq!(line.slug.ends_with(line.origin.name()), line.origin != Origin::Measured);
    }
}

#[test]
fn names_that_look_alike_get_addresses_of_their_own() {
    let names = ["SD-32G", "SD 32G", "SD.32G", "sd-32g"];
    let found = slugs((1..).zip(names).map(|(at, name)| sent(at, name, None, 1.0)).collect());
    assert_eq!(found.len(), 3, "case does not tell models apart, other characters do: {found:?}");
    assert!(found.iter().all(|slug| slug.starts_with("sandisk-sd-32g-32-gb")), "{found:?}");
}

/// Regression: two models with the names of both addresses of a third kept it out for ever.
#[test]
fn an_address_cannot_be_taken_in_advance() {
    let named = |number, vendor: &str, model: &str| {
        let mut run = sent(number, model, None, 10.0);
        run.run.vendor = Some(vendor.to_owned()).filter(|vendor| !vendor.is_empty());
        run.run.capacity_bytes = None;
        run
    };
    let plain = || named(1, "Acme", "X.");
    let marked = slugs(vec![plain(), named(2, "Acme", "X")]).pop().unwrap();
    assert!(marked.starts_with("acme-x-"), "{marked}");
    let squatter = named(3, "", &marked.replace('-', " "));
    let found = slugs(vec![plain(), squatter, named(2, "Acme", "X")]);
    assert!(found.len() == 3 && found.contains(&marked), "{found:?}");
    let reference = slugs(vec![named(4, "Acme", "X reference")]);
    assert!(!reference[0].ends_with("-reference"), "{reference:?} is one of published data");
}

#[test]
fn hostile_texts_are_only_texts() {
    let texts =
        ["'; DROP TABLE runs; --", "<script>alert(1)</script>", "a\0b", "../../etc", "日本", "😀"];
    for text in texts {
        let mut one = sent(1, text, Some(text), 1.0);
        one.headline.verdict = Some(text.into());
        let run = one.run.clone();
        let lines = lines(vec![one]);
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(lines[0].line.slug.bytes().all(is_plain), "{}", lines[0].line.slug);
        assert_eq!(lines[0].runs[0].run, run);
    }
}

#[test]
fn a_name_of_a_run_is_made_of_its_content_without_findings() {
    let mut content = [0u8; 32];
    assert_eq!(id_of(&content), "aaaaaaaaaaaaaaaa");
    content[..10].copy_from_slice(b"foobarfoob");
    // RFC 4648: "foobar" begins MZXW6YTB
    assert!(id_of(&content).starts_with("mzxw6ytb"), "{}", id_of(&content));
    let mut run = sent(1, "SD32G", None, 5.0).run;
    let name = content_name(&run);
    run.findings.clear();
    assert_eq!(content_name(&run), name);
    run.seed += 1;
    assert_ne!(content_name(&run), name);
}
