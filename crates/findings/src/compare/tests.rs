use record::units::KIB;
use record::{Cell, Estimate, Params, Target};

use super::*;

/// A run of a medium with these random writes a second at 4, 16 and 64 KiB, each known to 3 %.
fn run(model: &str, iops: [f64; 3]) -> Record {
    let mut record = crate::testing::empty();
    record.medium.model = Some(model.into());
    record.run.id = format!("{model}-run");
    for (block, value) in [4 * KIB, 16 * KIB, 64 * KIB].into_iter().zip(iops) {
        let params = Params {
            block_bytes: Some(block),
            direction: Some(record::Direction::Write),
            ..Params::default()
        };
        let mut cell = Cell::begun(format!("random-write/{block}"), "random-write", params);
        cell.metrics.iops =
            Some(Estimate { value, ci95: Some([value * 0.97, value * 1.03]), n: 400 });
        cell.ops = 400;
        record.cells.push(cell);
    }
    record
}

/// Of 27 cards of one name the last was called as the first.
#[test]
fn media_of_one_name_are_told_apart_however_many_there_are() {
    let named = [0, 1, 25, 26, 27, 51, 52, 701, 702].map(letters);
    assert_eq!(named, ["A", "B", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA"]);
    let runs: Vec<Record> = (0..27)
        .map(|number| {
            let mut record = run("same", [10.0, 5.0, 2.0]);
            record.medium.serial = Some(number.to_string());
            record
        })
        .collect();
    let names: std::collections::BTreeSet<String> =
        compare(&runs).media.into_iter().map(|medium| medium.name).collect();
    assert_eq!(names.len(), 27, "{names:?}");
}

#[test]
fn curves_that_cross_say_where() {
    let found = compare(&[run("bypass", [261.0, 4.1, 4.0]), run("even", [100.0, 50.0, 20.0])]);
    let curve = &found.curves[0];
    assert_eq!(
        curve.points.iter().map(|point| point.found.judgement).collect::<Vec<_>>(),
        [FasterMedium::Faster, FasterMedium::Slower, FasterMedium::Slower]
    );
    assert!((curve.points[0].found.ratio - 2.61).abs() < 1e-9);
    let [crossing] = &curve.crossings[..] else { panic!("{:?}", curve.crossings) };
    let [low, high] = crossing.ci95.unwrap();
    assert!(
        low < crossing.block_bytes && crossing.block_bytes < high && low > 4096.0 && high < 16384.0,
        "{crossing:?}"
    );
    assert_eq!(crossing.above, "b");
}

#[test]
fn repeats_decide_over_single_runs() {
    let clear = compare(&[
        run("a", [200.0; 3]),
        run("a", [204.0; 3]),
        run("a", [198.0; 3]),
        run("b", [100.0; 3]),
        run("b", [103.0; 3]),
        run("b", [99.0; 3]),
    ]);
    assert_eq!(clear.media.iter().map(|medium| medium.runs.len()).collect::<Vec<_>>(), [3, 3]);
    assert_eq!(clear.curves[0].points[0].found.judgement, FasterMedium::Faster);
    // Each run is sure of its figure, and the runs of one medium are not of one mind.
    let apart = compare(&[
        run("a", [100.0; 3]),
        run("a", [180.0; 3]),
        run("b", [120.0; 3]),
        run("b", [90.0; 3]),
    ]);
    assert_eq!(apart.curves[0].points[0].found.judgement, FasterMedium::Unclear);
    let close = compare(&[run("a", [100.0; 3]), run("b", [104.0; 3])]);
    assert_eq!(close.curves[0].points[0].found.judgement, FasterMedium::Same);
}

#[test]
fn hosts_that_differ_are_named_and_media_ranked() {
    let mut slow = run("slow", [2.0; 3]);
    slow.target = Target { engine: Some("pread/pwrite".into()), ..Target::default() };
    let found = compare(&[slow, run("fast", [900.0; 3])]);
    assert_eq!(found.differences, ["the engine differs (slow: pread/pwrite; fast: not known)"]);
    let root = found.ranks.iter().find(|rank| rank.wanted == "root-disk").unwrap();
    assert_eq!(
        root.order.iter().map(|place| (place.name.as_str(), place.level)).collect::<Vec<_>>(),
        [("fast", "good"), ("slow", "not suitable")]
    );
}

#[test]
fn nothing_and_one_are_no_comparison() {
    assert_eq!(compare(&[]).media, []);
    assert_eq!(compare(&[run("alone", [1.0; 3])]).curves, []);
    assert_eq!(compare(&[crate::testing::empty(), crate::testing::empty()]).ranks, []);
}

#[test]
fn curves_cross_between_two_sizes_that_are_decided_and_in_a_single_point() {
    let point = |block_bytes: u64, ratio: f64, judgement| {
        let bare = |rate| [RunRate::bare(rate)];
        let mut found = MediaRatio::of(&bare(ratio), &bare(1.0)).unwrap();
        found.judgement = judgement;
        BlockSizePoint { block_bytes, a: ratio, b: 1.0, found }
    };
    use FasterMedium::{Faster, Slower, Unclear};
    let at = |points: &[BlockSizePoint]| {
        crossings(points).iter().map(|crossing| crossing.block_bytes.round()).collect::<Vec<_>>()
    };
    assert_eq!(at(&[point(4096, 2.0, Faster), point(16384, 0.5, Slower)]), [8192.0]);
    assert_eq!(
        at(&[point(4096, 2.0, Faster), point(8192, 1.0, Unclear), point(32768, 0.25, Slower)]),
        [8192.0]
    );
    assert_eq!(at(&[point(4096, 2.0, Faster), point(16384, 2.0, Faster)]), [0.0; 0]);
}

#[test]
fn a_copy_of_a_run_is_no_repeat() {
    let twice = [run("a", [100.0; 3]), run("a", [100.0; 3]), run("b", [50.0; 3])];
    let found = compare(&twice);
    assert_eq!(found.media.iter().map(|medium| medium.runs.len()).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn other_queue_depths_and_what_one_lacks_are_told_and_not_compared() {
    let mut deep = run("deep", [900.0; 3]);
    deep.cells[0].params.queue_depth = 32;
    deep.cells.pop();
    let found = compare(&[deep, run("shallow", [100.0; 3])]);
    assert_eq!(
        found.curves[0].points.iter().map(|point| point.block_bytes).collect::<Vec<_>>(),
        [16 * KIB]
    );
    assert_eq!(
        found.not_compared,
        [
            "random-write, 4 KiB: queue depth 32 of deep, 1 of shallow",
            "random-write, 64 KiB: not measured of deep"
        ]
    );
}

#[test]
fn three_media_have_one_table_a_work_and_the_fastest_is_told_from_the_next() {
    let media = [
        run("slow", [10.0, 5.0, 2.0]),
        run("fast", [100.0, 50.0, 2.02]),
        run("middle", [50.0, 50.0, 1.0]),
    ];
    let found = compare(&media);
    let [work] = &found.works[..] else { panic!("{:?}", found.works) };
    let work_names: Vec<_> = work
        .rows
        .iter()
        .map(|row| {
            let fastest = row.fastest.unwrap();
            (row.block_bytes, fastest.medium, fastest.next, fastest.found.judgement)
        })
        .collect();
    assert_eq!(
        work_names,
        [
            (4 * KIB, 1, 2, FasterMedium::Faster),
            (16 * KIB, 1, 2, FasterMedium::Same),
            (64 * KIB, 1, 0, FasterMedium::Same),
        ]
    );
    let first = work.rows[0].fastest.unwrap();
    let [low, high] = first.found.ci95.unwrap();
    assert!(
        (first.found.ratio - 2.0).abs() < 1e-9 && low < 2.0 && 2.0 < high && low > 1.9,
        "{first:?}"
    );
    let figure = work.rows[0].figures[2].unwrap();
    assert_eq!((figure.value, figure.range, figure.runs), (50.0, Some([48.5, 51.5]), 1));
    // Of two runs of a medium the range is theirs.
    let mut again = run("slow", [12.0, 5.0, 2.0]);
    again.run.id = "another".into();
    let repeated = compare(&[&media[..], &[again]].concat());
    let figure = repeated.works[0].rows[0].figures[0].unwrap();
    assert!((figure.value - 120_f64.sqrt()).abs() < 1e-9, "{figure:?}");
    assert_eq!((figure.range, figure.runs), (Some([10.0, 12.0]), 2));
}

#[test]
fn what_was_measured_at_another_depth_has_no_place_and_the_reason_is_told_once() {
    let mut deep = run("deep", [100.0, 50.0, 20.0]);
    deep.cells.iter_mut().for_each(|cell| cell.params.queue_depth = 32);
    let found = compare(&[run("a", [10.0, 5.0, 2.0]), run("b", [10.0, 5.0, 2.0]), deep]);
    assert!(found.works[0].rows.iter().all(|row| row.figures[2].is_none()));
    assert_eq!(
        found.not_compared,
        [
            "random-write, 4 KiB, 16 KiB, 64 KiB: queue depth 1 of a, 32 of deep",
            "random-write, 4 KiB, 16 KiB, 64 KiB: queue depth 1 of b, 32 of deep",
        ]
    );
}

/// A run of a medium with five rounds of this rate at each size, and the interval of a repetition.
fn in_rounds(model: &str, rate: f64, factor: f64) -> Record {
    let mut record = run(model, [rate; 3]);
    for cell in &mut record.cells {
        let round = |times: f64| record::Round {
            began_ns: 0,
            ops: 80,
            elapsed_ns: (8e10 / (rate * times)) as u64,
            iops: rate * times,
            half_width: None,
        };
        cell.rounds = [0.98, 0.99, 1.0, 1.01, 1.02].map(round).to_vec();
        let ends = [rate / factor, rate * factor];
        cell.metrics.iops = Some(Estimate { value: rate, ci95: Some(ends), n: 400 });
    }
    record
}

/// Two intervals of a repetition were added as if each were of one run.
#[test]
fn intervals_of_rounds_are_of_two_runs_already() {
    let found = compare(&[in_rounds("a", 110.0, 1.04), in_rounds("b", 100.0, 1.04)]);
    let held = found.curves[0].points[0].found;
    let [low, high] = held.ci95.unwrap();
    assert!((low - 1.1 / 1.04).abs() < 1e-9 && (high - 1.1 * 1.04).abs() < 1e-9, "{held:?}");
    let more = held.more_runs.unwrap();
    assert!(!more.is_too_few && more.is_from_single_runs, "{more:?}");
    let figures = unclear(&found);
    assert_eq!(figures.len(), 3, "{figures:?}");
    assert_eq!(figures[0].more_runs, Some(more));
}

/// Runs that differ as their rounds do are known better than by two degrees of freedom.
#[test]
fn runs_that_agree_with_their_rounds_are_pooled_with_them() {
    let side = |model: &str, rates: [f64; 2], is_in_rounds: bool| {
        rates.map(|rate| {
            let mut record = in_rounds(model, rate, 1.02);
            record.run.id = format!("{model}-{rate}");
            if !is_in_rounds {
                record.cells.iter_mut().for_each(|cell| cell.rounds.clear());
            }
            record
        })
    };
    let width = |is_in_rounds| {
        let (a, b) =
            (side("a", [100.0, 100.6], is_in_rounds), side("b", [100.2, 100.8], is_in_rounds));
        let [low, high] = compare(&[a, b].concat()).curves[0].points[0].found.ci95.unwrap();
        (high / low).ln()
    };
    assert!(width(true) < 0.7 * width(false), "{} {}", width(true), width(false));
}
