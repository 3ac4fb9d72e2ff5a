//! Lines of runs that are made for the purpose.

use record::collection::{HeadlineFigure, HostSpread, Page, Query};
use record::{Claims, Link, MediumKind, Record};

use super::*;

/// The `number`-th run of a card, received on that day of May: random writes of 4 KiB, in IOPS.
fn sent(number: u64, model: &str, board: Option<&str>, random_write: f64) -> SentRun {
    let text = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
    let fixture = Published::from(&Record::from_json(text).unwrap());
    let run = Published {
        seed: number,
        kind: MediumKind::Sd,
        target: record::TargetKind::Block,
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
    let marks = RunMarks::of(&Published { cells: Vec::new(), ..run.clone() });
    SentRun {
        id: content_name(&run),
        marks,
        is_settled: false,
        run,
        headline,
        origin: Origin::Measured,
        received: format!("2026-05-{number:02}T12:00:00Z"),
        sender: None,
    }
}

fn lines(runs: Vec<SentRun>) -> Vec<LineRuns> {
    lines_of(runs, Names::built_in())
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
    let lines = lines(runs.into());
    let [LineRuns { line, runs }] = &lines[..] else { panic!("one line") };
    let (low, high) = (10.0, 100.0);
    let expected =
        HostSpread { median: 50.0, low, high, runs: 5, hosts: 3, ..HostSpread::default() };
    assert_eq!(line.figures.get(&HeadlineFigure::RandomWrite4k), Some(&expected));
    let words = [line.slug.as_str(), &line.name, &line.classes.join(" "), &line.latest].join("; ");
    let expected = "sandisk-sd32g-32-gb; SanDisk SD32G 32 GB; C10 A1; 2026-05-05T12:00:00Z";
    assert_eq!(words, expected);
    assert_eq!((line.runs, line.model.capacity_gb), (5, 32));
    assert_eq!(line.interface.as_deref(), Some("sd uhs-i"));
    assert_eq!(line.verdict.as_deref(), Some("Does 50 random writes a second."));
    let seeds = |runs: &[CollectionRun]| runs.iter().map(|it| it.run.seed).collect::<Vec<_>>();
    assert_eq!(seeds(runs), [5, 4, 3, 2, 1]);
}

/// The same run as an account sent it.
fn by(sender: &str, run: SentRun) -> SentRun {
    SentRun { sender: Some(sender.to_owned()), ..run }
}

/// Regression: a single sender that came in first set the name of a line, and marked it as a fake
/// and as damaged by repetition; a line of fakes took the model over.
#[test]
fn a_line_shows_what_most_senders_report() {
    let of = |number, sender: &str| by(sender, sent(number, "Ultra", Some("Raspberry Pi 4"), 10.0));
    let honest = || [(11, "ada"), (12, "bea"), (13, "cem")].map(|(number, who)| of(number, who));
    let lies = (1..=4).map(|number| {
        let mut lie = of(number, "mallory");
        lie.run.model = Some("ULTRA".to_owned());
        lie.run.interface = Some("ata".to_owned());
        lie.headline.verdict = Some("Do not use it.".to_owned());
        lie.headline.faults = vec!["capacity".to_owned()];
        (lie.headline.is_fake, lie.headline.is_damaged) = (number > 2, number <= 2);
        lie
    });
    let before = lines(honest().into());
    let after = lines(lies.chain(honest()).collect());
    assert_eq!(after.len(), 1, "a fake is no line of its own");
    let (before, after) = (&before[0].line, &after[0].line);
    let counts = (after.runs, after.senders, after.fakes, after.damaged, after.is_fake);
    assert_eq!(counts, (7, 4, 1, 1, false), "one sender is one report");
    let facts = |line: &CollectionLine| {
        (line.name.clone(), line.interface.clone(), line.verdict.clone(), line.figures.clone())
    };
    assert_eq!(facts(after), facts(before));
    let page = crate::site::medium_beside(&site(), after, &[], &[]);
    assert_eq!(page.matches("1 of 4 reports").count(), 2);
}

fn site() -> crate::site::SiteInfo {
    crate::site::SiteInfo { title: "Cards".into(), categories: None, submit_to: None }
}

/// Words of the order of lines: each with the standing of its first figure.
fn ordered(runs: Vec<SentRun>) -> Vec<String> {
    let found = lines(runs);
    let mut sorted: Vec<&CollectionLine> = found.iter().map(|it| &it.line).collect();
    crate::site::order(&mut sorted);
    let figure = HeadlineFigure::RandomWrite4k;
    let said = |line: &&CollectionLine| {
        let rank = if line.is_ranked(figure) { "ranked" } else { "no rank" };
        format!("{}: {}, {rank}", line.name, line.figures[&figure].standing)
    };
    sorted.iter().map(said).collect()
}

#[test]
fn no_attack_gives_a_rank_to_what_nobody_listed() {
    const HONEST: &str = "SanDisk Ultra 32 GB: confirmed, ranked";
    const UNNAMED: &str = "SD card 32 GB: confirmed, no rank";
    const SMALL: &str = "SanDisk Ultra 19 GB: confirmed, no rank";
    let of = |(who, number): (&str, u64), value| by(who, sent(number, "Ultra", None, value));
    type Attack = (fn(&mut SentRun), &'static str);
    let attacks: [Attack; 7] = [
        (|it| it.run.model = Some("Invented".into()), UNNAMED),
        (|it| it.run.model = Some("Ultra No.1".into()), UNNAMED),
        (|it| (it.run.model, it.run.label) = (None, Some("Best".into())), UNNAMED),
        (|it| it.run.capacity_bytes = Some(19_000_000_000), SMALL),
        (|it| it.run.kind = MediumKind::Nvme, "NVMe SSD 32 GB: confirmed, no rank"),
        (|it| it.origin = Origin::Imported, HONEST),
        (|it| it.headline.thin.extend([HeadlineFigure::RandomWrite4k]), HONEST),
    ];
    for (change, says) in attacks {
        let lies = [("eve", 7), ("fay", 8), ("gus", 9)].map(|it| {
            let mut run = of(it, 9e5);
            change(&mut run);
            SentRun { id: content_name(&run.run), ..run }
        });
        let honest = [("ada", 1), ("bea", 2), ("cem", 3)].map(|it| of(it, 20.0));
        let found = ordered(lies.into_iter().chain(honest).collect());
        assert_eq!((found[0].as_str(), found.last().unwrap().as_str()), (HONEST, says));
    }
}

/// Advertisements and slanders. Regression: 15 of 15 were taken.
const ADVERTISEMENTS: &str = "No.1 Best SD card ever; counterfeit scam do not buy; B3ST C4RD 0F 2026; \
    5anDisk i5 a 5cam; SanDisk Ultra counterfeit; Samsung EVO Plus No.1; Buy at cards dot example; \
    Verified by Flashmark; Genuine original 100%; Recommended by experts; Wor1d's fa5test; \
    d0 n0t buy SanDisk; SanDisk = fraud; \u{412}est c\u{430}rd; Top rated 5 stars";

#[test]
fn no_advertisement_and_no_slander_is_a_name_on_a_page() {
    let fields: [fn(&mut Published, String); 9] = [
        |run, text| run.vendor = Some(text),
        |run, text| run.model = Some(text),
        |run, text| (run.model, run.label) = (None, Some(text)),
        |run, text| run.label = Some(text),
        |run, text| (run.manufacturer, run.oem) = (Some(text.clone()), Some(text)),
        |run, text| run.link = Some(Link { usb_id: Some(text), ..Link::default() }),
        |run, text| (run.interface, run.link) = (Some(text), None),
        |run, text| (run.kind, run.profile) = (MediumKind::Simulated, Some(text)),
        |run, text| (run.firmware, run.made) = (Some(text.clone()), Some(text)),
    ];
    let texts = ADVERTISEMENTS.split("; ");
    for (text, change) in texts.flat_map(|text| fields.map(|change| (text, change))) {
        let mut sent = by("mallory", sent(1, "Ultra", None, 1.0));
        change(&mut sent.run, text.to_owned());
        sent.run.cells.clear();
        let [LineRuns { line, runs }] = &lines(vec![sent])[..] else { panic!("one line") };
        let shown = Page { lines: vec![line.clone()], total: 1 };
        let table = crate::site::table(&site(), &shown, &Query::default());
        let page = crate::site::medium_beside(&site(), line, runs, &[]);
        let pages =
            [table, page, crate::site::data::short_json(line), crate::site::data::line_csv(line)];
        let pages = pages.concat().to_lowercase();
        let has = |text: &str| pages.contains(&text.to_lowercase());
        assert!(!has(text) && !has(&slug(text)), "{text}: {}", line.name);
    }
}

/// Regression: who copied an open request and was merged first kept it, and the owner was doubtful;
/// of two requests with one measurement none stood.
#[test]
fn one_measurement_is_one_voice_for_one_name() {
    let card = |who: &str, number, model: &str, value: f64| {
        let mut run = by(who, sent(number, model, None, value));
        run.marks.exact = [format!("latencies of {value}")].into();
        run.run.label = Some(who.to_owned());
        run.id = content_name(&run.run);
        run
    };
    let honest = || [card("ada", 2, "Ultra", 10.0), card("bea", 3, "Ultra", 11.0)];
    let copies = || ["eve", "fay", "gus"].map(|who| card(who, 1, "Ultra", 10.0));
    let found = lines(copies().into_iter().chain(honest()).collect());
    let figure = found[0].line.figures[&HeadlineFigure::RandomWrite4k];
    assert_eq!((figure.senders, figure.median), (2, 10.0), "ada's measurement, and bea's");
    let uncounted =
        |runs: &[CollectionRun]| runs.iter().filter(|run| run.uncounted.is_some()).count();
    assert_eq!(uncounted(&found[0].runs), 3);
    let guest = by(GUEST, sent(1, "Ultra", None, 10.0));
    assert!(lines(vec![guest])[0].line.figures.is_empty(), "nobody answers for a guest");
    let both =
        || [by(GUEST, sent(1, "Ultra", None, 10.0)), by("ada", sent(1, "Ultra", None, 10.0))];
    assert_eq!(lines(both().into())[0].line.senders, 1, "a guest takes no voice");
    let renamed = || card("eve", 1, "Extreme", 10.0);
    let found = lines(honest().into_iter().chain([renamed()]).collect());
    assert_eq!(found.iter().map(|it| uncounted(&it.runs)).collect::<Vec<_>>(), [1, 1]);
    let settled = honest().map(|run| SentRun { is_settled: true, ..run });
    let found = lines(settled.into_iter().chain([renamed()]).collect());
    let senders: Vec<u64> = found.iter().map(|it| it.line.senders).collect();
    assert_eq!(senders, [0, 2], "a reviewer decides");
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
