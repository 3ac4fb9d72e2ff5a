use record::units::{KIB, MIB};
use record::{Host, Link, MediumKind, test};

use super::*;
use crate::testing::{empty, iops, known};

/// A run of a card in a reader under a kernel: so many random reads a second, known to 3 %.
fn run(card: &str, reader: &str, kernel: &str, value: f64) -> Record {
    let mut record = empty();
    record.run.id = format!("{card}-{reader}-{kernel}-{value}");
    record.medium.kind = MediumKind::Sd;
    record.medium.model = Some(card.into());
    record.medium.behind_reader = Some(true);
    record.target.link = Some(Link { usb_id: Some(reader.into()), ..Link::default() });
    record.host = Some(Host { kernel: Some(kernel.into()), ..Host::default() });
    record.cells = vec![iops(test::RANDOM_READ, 1, 4 * KIB, value, 1)];
    record
}

fn of(records: &[Record]) -> Option<Experiment> {
    experiment(&records.iter().collect::<Vec<_>>())
}

#[track_caller]
fn ratio(found: &Experiment, factor: usize) -> (f64, [f64; 2]) {
    match &found.figures[0].effects[factor] {
        Explained::Known { ratio, ci95, .. } => (*ratio, ci95.unwrap()),
        other => panic!("{other:?}"),
    }
}

/// Two cards in three readers: the slow reader costs a factor of 4, the slow card one of 1.5.
fn grid() -> Vec<Record> {
    let cards = [("slow", 1.0), ("fast", 1.5)];
    let readers = [("1:1", 100.0), ("2:2", 200.0), ("3:3", 400.0)];
    cards
        .iter()
        .flat_map(|(card, times)| {
            readers.map(|(reader, base)| run(card, reader, "6.1", base * times))
        })
        .collect()
}

#[test]
fn a_grid_tells_the_card_from_the_reader() {
    let found = of(&grid()).unwrap();
    let names: Vec<&str> = found.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(names, ["the card", "the reader"]);
    let figure = &found.figures[0];
    assert!((figure.range - 6.0).abs() < 1e-9 && figure.repeats.is_none(), "{figure:?}");
    let (card, [low, high]) = ratio(&found, 0);
    // Three pairs, each run known to 3 %: 1.5 within 0.03 x sqrt(2 / 3).
    let half = (1.03_f64 / 0.97).ln() / 2.0 * (2.0_f64 / 3.0).sqrt();
    assert!((card - 1.5).abs() < 1e-9, "{card}");
    assert!((low.ln() - (1.5_f64.ln() - half)).abs() < 1e-6 && high > 1.5, "{low} {high}");
    let (reader, _) = ratio(&found, 1);
    assert!((reader - 4.0).abs() < 1e-9, "{reader}");
    assert_eq!(figure.interacts, None, "no combination was measured twice");
    let mut incomplete = grid();
    incomplete.remove(4);
    assert!((ratio(&of(&incomplete).unwrap(), 1).0 - 4.0).abs() < 1e-9);
}

#[test]
fn each_card_in_its_own_reader_cannot_be_told() {
    let pairs =
        [("a", "1:1", 100.0), ("a", "1:1", 104.0), ("b", "2:2", 300.0), ("b", "2:2", 310.0)];
    let found = of(&pairs.map(|(card, reader, value)| run(card, reader, "6.1", value))).unwrap();
    let with = |name: &str| Explained::Confounded { with: vec![name.to_owned()] };
    assert_eq!(found.figures[0].effects, [with("the reader"), with("the card")]);
    assert!(found.hides_cards);
}

#[test]
fn repeats_decide_and_an_interaction_is_told_by_what_each_card_does() {
    // With the old kernel the slow card is four times slower, with the new one not at all.
    let levels =
        [("a", "5.4", 100.0), ("b", "5.4", 400.0), ("a", "6.1", 410.0), ("b", "6.1", 400.0)];
    let runs: Vec<Record> = levels
        .iter()
        .flat_map(|(card, kernel, value)| {
            [0.99, 1.0, 1.02].map(|times| run(card, "1:1", kernel, value * times))
        })
        .collect();
    let found = of(&runs).unwrap();
    let figure = &found.figures[0];
    assert_eq!((figure.repeats, figure.interacts), (Some(8), Some(true)));
    let Explained::Known { simple, .. } = &figure.effects[0] else { panic!("{figure:?}") };
    let simple_effects: Vec<(&str, f64)> =
        simple.iter().map(|it| (it.at.as_str(), it.ratio)).collect();
    assert!(
        simple_effects.iter().any(|(at, ratio)| *at == "5.4" && (ratio - 4.0).abs() < 1e-9),
        "{simple_effects:?}"
    );
    assert!(
        simple_effects.iter().any(|(at, ratio)| *at == "6.1" && *ratio < 1.0),
        "{simple_effects:?}"
    );
    assert_eq!(found.factors[1].name, "the kernel");
}

/// One run without an interval takes it from all, unless there are repeats.
#[test]
fn a_figure_of_one_run_has_no_interval() {
    let mut runs = grid();
    runs[2].cells[0].metrics.iops.as_mut().unwrap().ci95 = None;
    let found = of(&runs).unwrap();
    let Explained::Known { ratio, ci95: None, .. } = &found.figures[0].effects[1] else {
        panic!("{found:?}")
    };
    assert!((ratio - 4.0).abs() < 1e-9);
}

#[test]
fn a_cache_of_the_host_and_a_fake_are_left_out_and_a_link_is_said() {
    let mut runs = grid();
    runs[5].cells[0].flags.push(Flag::HostCached);
    assert_eq!(of(&runs).unwrap().figures[0].runs, 5);
    let mut fake = run("fake", "1:1", "6.1", 9000.0);
    let mut probe = crate::testing::cell("capacity", 1, 512);
    for (name, value) in [("type", 2.0), ("real_bytes", 4e9)] {
        probe.metrics.other.insert(name.into(), known(value, 0.0, 1));
    }
    fake.cells.push(probe);
    fake.medium.capacity_bytes = Some(64_000_000_000);
    let found = of(&[runs, vec![fake.clone()]].concat()).unwrap();
    assert_eq!(found.left_out[0], format!("{}: the medium is a fake", fake.run.id));
    let mut linked = grid();
    for record in &mut linked {
        let mut cell = iops(test::SEQUENTIAL_READ, 1, MIB, 1.0, 1);
        cell.metrics.bps = Some(known(40e6, 0.01, 100));
        record.cells.push(cell);
        record.target.link.as_mut().unwrap().max_bps = Some(53.2e6);
    }
    let found = of(&linked).unwrap();
    let read = found.figures.iter().find(|figure| figure.test == test::SEQUENTIAL_READ).unwrap();
    assert_eq!(read.limited_by_link, 6);
}

#[test]
fn two_media_of_one_name_are_two_and_three_runs_are_no_experiment() {
    let mut runs = grid();
    for (at, record) in runs.iter_mut().enumerate() {
        record.medium.model = Some("same".into());
        record.medium.serial = Some((at / 3).to_string());
        record.run.label = Some("one label".into());
    }
    let found = of(&runs).unwrap();
    assert_eq!(found.factors[0].levels, ["same (A)", "same (B)"]);
    assert!((ratio(&found, 0).0 - 1.5).abs() < 1e-9);
    assert_eq!(of(&runs[..3]), None);
    assert_eq!(of(&[]), None);
    // Three readers and one card differ in one thing.
    assert_eq!(of(&[&runs[..3], &[run("slow", "1:1", "6.1", 9.0)][..]].concat()[..3]), None);
}

/// What follows from the reader (driver, board) is told with it and takes nothing from it.
#[test]
fn facts_that_change_together_are_one_factor() {
    let mut runs = grid();
    for record in &mut runs {
        let link = record.target.link.as_mut().unwrap();
        let is_first = link.usb_id.as_deref() == Some("1:1");
        // The mode is agreed on by card and reader.
        link.mode = Some(format!("{} {:?}", record.run.id.len(), link.usb_id));
        let board = if is_first { "Pi 4" } else { "laptop" };
        record.host.as_mut().unwrap().board = Some(board.into());
    }
    let found = of(&runs).unwrap();
    let names: Vec<&str> = found.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(names, ["the card", "the host (reader, board)"]);
    assert!((ratio(&found, 1).0 - 4.0).abs() < 1e-9);
}

#[test]
fn fifty_runs_are_a_matter_of_moments() {
    let runs: Vec<Record> = (0..50)
        .map(|at| {
            let (card, reader) = (at % 10, at / 10);
            let value = 100.0 * 1.1_f64.powi(card) * 1.3_f64.powi(reader);
            run(&format!("card {card}"), &format!("{reader}:0"), "6.1", value)
        })
        .collect();
    let found = super::super::compare_runs(&runs);
    let experiment = found.experiment.unwrap();
    assert!((ratio(&experiment, 0).0 - 1.1_f64.powi(9)).abs() < 1e-9);
    assert_eq!(found.media.len(), 50);
}

/// Three runs a combination, a percent or so apart, of cards in hosts of known cost.
fn in_hosts(rates: &[(&str, &str, f64)]) -> Vec<Record> {
    let repeats = |(card, host, rate): &(&str, &str, f64)| {
        [0.99, 1.0, 1.012].map(|times| {
            let mut record = run(card, "1:1", "6.1", rate * times);
            record.run.id = format!("{card}-{host}-{times}");
            let known = record.host.as_mut().unwrap();
            (known.board, known.kernel) = (Some((*host).into()), Some(format!("6.1-{host}")));
            record
        })
    };
    rates.iter().flat_map(repeats).collect()
}

fn by(records: &[Record], by: ComparedBy) -> Experiment {
    super::super::compare_by(records, by).experiment.unwrap()
}

fn interaction(found: &Experiment) -> (f64, [f64; 2]) {
    let found = found.figures[0].interaction.unwrap();
    (found.ratio, found.ci95.unwrap())
}

#[test]
fn two_cards_in_two_hosts_have_both_effects_and_no_interaction() {
    let runs = in_hosts(&[
        ("slow", "Pi", 100.0),
        ("slow", "laptop", 260.0),
        ("fast", "Pi", 150.0),
        ("fast", "laptop", 390.0),
    ]);
    let found = by(&runs, ComparedBy::Host);
    let names: Vec<&str> = found.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!((names, &found.unsplit), (vec!["the card", "the host"], &None));
    assert_eq!(found.factors[1].with, ["the kernel"]);
    for (factor, truth) in [(0, 1.5_f64), (1, 2.6)] {
        let (ratio, [low, high]) = ratio(&found, factor);
        assert!((ratio / truth).ln().abs() < 0.1 && low < truth && truth < high, "{found:?}");
    }
    let figure = &found.figures[0];
    assert_eq!((figure.repeats, figure.interacts), (Some(8), Some(false)));
    let (ratio, [low, high]) = interaction(&found);
    assert!(ratio < 1.01 && low < 1.0 && high < 1.1, "{ratio} {low} {high}");
    assert_eq!(figure.combinations.len(), 4);
    assert!(figure.combinations.iter().all(|of| of.runs == 3 && of.ci95.is_some()));
}

#[test]
fn a_card_that_one_host_alone_slows_is_an_interaction() {
    let runs = in_hosts(&[
        ("a", "Pi", 100.0),
        ("a", "laptop", 200.0),
        ("b", "Pi", 150.0),
        ("b", "laptop", 100.0),
    ]);
    let found = by(&runs, ComparedBy::Host);
    assert_eq!(found.figures[0].interacts, Some(true));
    let (ratio, [low, high]) = interaction(&found);
    assert!((ratio - 3.0).abs() < 0.01 && low > 2.5 && high < 3.5, "{ratio} {low} {high}");
}

#[test]
fn a_missing_combination_is_estimated_and_a_whole_row_is_refused() {
    let three = [("slow", "Pi", 100.0), ("slow", "laptop", 260.0), ("fast", "Pi", 150.0)];
    let found = by(&in_hosts(&three), ComparedBy::Host);
    assert!((ratio(&found, 0).0 - 1.5).abs() < 0.01 && (ratio(&found, 1).0 - 2.6).abs() < 0.01);
    assert_eq!((found.figures[0].interaction, found.figures[0].interacts), (None, None));
    let own = [("a", "Pi", 100.0), ("b", "Pi", 90.0), ("c", "laptop", 150.0)];
    let found = by(&in_hosts(&own), ComparedBy::Host);
    let why = found.unsplit.unwrap();
    assert!(why.contains("a and b with Pi; c with laptop"), "{why}");
    let other = by(&in_hosts(&own), ComparedBy::Reader).unsplit.unwrap();
    assert_eq!(other, "all runs have the same reader (1:1)");
    let unknown = by(&in_hosts(&own), ComparedBy::Scheduler);
    assert_eq!(unknown.unsplit.as_deref(), Some("no record says the scheduler"));
    assert_eq!(unknown.left_out.len(), 9);
    assert_eq!(unknown.left_out[0], "a-Pi-0.99: the record does not say the scheduler");
    let one = by(&in_hosts(&three[..2]), ComparedBy::Host).unsplit.unwrap();
    assert!(one.starts_with("all runs are of one medium (slow)"), "{one}");
}

#[test]
fn a_setting_of_the_tests_is_a_factor_and_another_kernel_is_one_beside_it() {
    let of = |card: &str, kernel: &str, threads: u32, rate: f64| {
        let mut record = run(card, "1:1", kernel, rate);
        record.cells[0].params.threads = threads;
        record
    };
    let mut runs = Vec::new();
    for (card, base) in [("a", 100.0), ("b", 300.0)] {
        for (kernel, slower) in [("6.1", 1.0), ("6.12", 0.8)] {
            for (threads, times) in [(1, 1.0), (4, 2.0)] {
                runs.push(of(card, kernel, threads, base * slower * times));
            }
        }
    }
    let found = by(&runs, ComparedBy::Setting);
    let names: Vec<&str> = found.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(names, ["the card", "the setting", "the kernel"]);
    assert_eq!(found.factors[1].levels, ["threads 1", "threads 4"]);
    for (factor, truth) in [(0, 3.0), (1, 2.0), (2, 1.25)] {
        assert!((ratio(&found, factor).0 - truth).abs() < 1e-9, "{found:?}");
    }
    assert_eq!(found.figures[0].combinations.len(), 4);
    assert_eq!(found.figures[0].combinations[0].ci95, None, "runs of two kernels");
}

/// The interval of a run of rounds is that of a repetition: of two such runs.
#[test]
fn rounds_tell_the_variance_of_the_run_and_not_of_its_repetition() {
    let mut runs = grid();
    for record in &mut runs {
        let rate = record.cells[0].metrics.iops.unwrap().value;
        record.cells[0].rounds = [0.98, 0.99, 1.0, 1.01, 1.02]
            .map(|times| record::Round {
                began_ns: 0,
                ops: 1000,
                elapsed_ns: 1_000_000_000,
                iops: rate * times,
                half_width: None,
            })
            .into();
    }
    let found = of(&runs).unwrap();
    let (_, [low, high]) = ratio(&found, 0);
    // Three pairs of runs, each known to t(4) 0.03 / (t(4) sqrt 2), with 24 degrees of freedom.
    let half = stats::student_t(0.975, 24.0) * 0.03 / stats::student_t(0.975, 4.0) / 3.0_f64.sqrt();
    assert!(((high / low).ln() / 2.0 - half).abs() < 0.02 * half, "{low} {high} {half}");
}
