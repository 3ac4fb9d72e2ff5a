//! What comparisons of records in words come to, as text.

use super::*;
use crate::testing::record_in_words;
use crate::testing::table::{RowAnswer, check_table};

const FILE: &str = include_str!("../../../../fixtures/findings/comparisons.txt");

/// "a: CELLS // b: CELLS": runs of media of these names.
fn records(given: &str) -> Vec<Record> {
    let record = |(text, number): (&str, u32)| {
        let named = text.split_once(':').filter(|(name, _)| !name.trim().contains([' ', '=']));
        let (name, text) = named.map_or((None, text), |(name, text)| (Some(name), text));
        let mut record = record_in_words(text);
        if let Some(name) = name {
            record.medium.model = Some(name.trim().to_owned());
        }
        if record.run.id.is_empty() {
            record.run.id = number.to_string();
        }
        record
    };
    given.split("//").zip(1..).filter(|(text, _)| !text.trim().is_empty()).map(record).collect()
}

fn interval(ci95: Option<[f64; 2]>) -> String {
    ci95.map_or_else(|| "no interval".into(), |[low, high]| format!("{low:.3} to {high:.3}"))
}

fn ratio(found: &MediaRatio) -> String {
    let more = found.more_runs.map_or_else(String::new, |more| {
        let single = if more.is_from_single_runs { ", of single runs" } else { "" };
        let few = if more.is_too_few { " or more" } else { "" };
        format!(", {}{few} more of each{single}", more.of_each)
    });
    let judgement = format!("{:?}", found.judgement).to_lowercase();
    format!("{:.3} ({}) {judgement}{more}", found.ratio, interval(found.ci95))
}

fn figures_in_words(figures: &[Option<ComparedFigure>]) -> String {
    let word = |figure: &Option<ComparedFigure>| match figure {
        Some(it) => format!("{:.2} ({}) of {}", it.value, interval(it.range), it.runs),
        None => "none".into(),
    };
    figures.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// All that a comparison says, a line for each thing.
fn lines(found: &MediaComparison) -> Vec<String> {
    let name = |at: usize| &found.media[at].name;
    let fastest = |fastest: &Option<FastestMedium>| {
        fastest.map_or_else(
            || "none is fastest".into(),
            |it| format!("{} before {}: {}", name(it.medium), name(it.next), ratio(&it.found)),
        )
    };
    let mut lines = Vec::new();
    for medium in &found.media {
        let head = medium.head.as_deref().map(|head| format!(" [{head}]")).unwrap_or_default();
        let fault = medium.fault.as_deref().unwrap_or("no fault");
        lines.push(format!("medium {}{head}: {} runs, {fault}", medium.name, medium.runs.len()));
    }
    lines.extend(found.differences.iter().map(|line| format!("host: {line}")));
    for curve in &found.curves {
        let Curve { test, a, b, .. } = curve;
        lines.extend(
            curve.points.iter().map(|point| {
                format!("{test} {} {a}/{b}: {}", point.block_bytes, ratio(&point.found))
            }),
        );
        lines.extend(curve.crossings.iter().map(|crossing| {
            let at = crossing.block_bytes.round();
            format!("crossing at {at} ({}), {} above", interval(crossing.ci95), crossing.above)
        }));
    }
    for work in &found.works {
        lines.extend(work.rows.iter().map(|row| {
            let figures = figures_in_words(&row.figures);
            format!("{} {}: {}: {figures}", work.test, row.block_bytes, fastest(&row.fastest))
        }));
    }
    for row in &found.figures {
        let of_first = row.of_first.as_ref().map_or_else(|| "no ratio".into(), ratio);
        let name = row.name.as_deref().unwrap_or(&row.test);
        lines.push(format!("{name}: {of_first}; {}", fastest(&row.fastest)));
    }
    for matrix in &found.matrices {
        lines.extend(matrix.rows.iter().map(|row| {
            let figures = figures_in_words(&row.figures);
            format!("{}, {}: {}: {figures}", matrix.work, row.combination, fastest(&row.fastest))
        }));
    }
    lines.extend(found.ranks.iter().map(|rank| {
        let place = |it: &RankPlace| {
            let caveat = it.caveat.as_deref().unwrap_or("for sure");
            format!("{}. {} {} {caveat}", it.place, it.name, it.level)
        };
        let order: Vec<String> = rank.order.iter().map(place).collect();
        let left_out = rank.left_out.iter().map(|(name, why)| format!("; not {name}: {why}"));
        format!("rank {}: {}{}", rank.wanted, order.join(", "), left_out.collect::<String>())
    }));
    lines.extend(found.not_compared.iter().map(|line| format!("not compared: {line}")));
    lines.extend(found.levels.iter().flat_map(level_lines));
    lines
}

fn level_lines(found: &LevelComparison) -> Vec<String> {
    let mut lines =
        vec![format!("levels {}; with {}", found.levels.join(", "), found.with.join(", "))];
    lines.extend(found.figures.iter().map(|figure| {
        let LevelFigure { test, level, of, found, .. } = figure;
        format!("{test}, {level} [{of}]: {}", ratio(found))
    }));
    lines.extend(found.left_out.iter().map(|line| format!("left out: {line}")));
    lines.extend(found.refusal.iter().map(|why| format!("refused: {why}")));
    lines.extend(found.hides_cards.then(|| "readers may hide cards".to_owned()));
    lines
}

/// What became of each figure, where so much slower is allowed.
fn change_lines(sides: [ComparisonSide; 2], allowed: f64) -> Vec<String> {
    let [before, after] = sides;
    let found = regression(&compare_change(before, after), allowed);
    let named = [("slower", found.slower), ("unclear", found.unclear), ("kept", found.kept)];
    let lines = named.into_iter().flat_map(|(what, figures)| {
        figures.into_iter().map(move |it| format!("{what}: {} {:.3}", it.test, it.ratio))
    });
    lines.collect()
}

fn answer(asked: &str, given: &str) -> RowAnswer {
    let records = records(given);
    let side = |record: &Record| {
        let name = record.medium.model.clone().unwrap_or_default();
        ComparisonSide { name, records: vec![record.clone()] }
    };
    let sides: Vec<ComparisonSide> = records.iter().map(side).collect();
    let (kind, of) = asked.split_once(' ').unwrap_or((asked, ""));
    let by = || match of {
        "host" => ComparedBy::Host,
        "reader" => ComparedBy::Reader,
        "kernel" => ComparedBy::Kernel,
        "scheduler" => ComparedBy::Scheduler,
        "setting" => ComparedBy::Setting,
        _ => panic!("nothing is compared by {of:?}"),
    };
    RowAnswer::of_lines(&match kind {
        "compare" => lines(&compare(&records)),
        "runs" => lines(&compare_runs(&records)),
        "by" => lines(&compare_by(&records, by())),
        "sides" => lines(&compare_sides(&sides)),
        "unclear" => {
            let unclear = unclear(&compare(&records)).into_iter();
            let more = |it: ChangedFigure| format!("{} {:?}", it.test, it.more_runs);
            unclear.map(more).collect()
        }
        "change" => {
            let sides = sides.try_into().expect("two sides, first before, then after");
            change_lines(sides, of.parse().expect("a share"))
        }
        _ => panic!("nobody knows how to ask {asked:?}"),
    })
}

#[test]
fn every_comparison_gives_the_result_in_the_file() {
    check_table(FILE, answer);
}

/// Of 27 cards of one name the last was called as the first.
#[test]
fn media_of_one_name_get_distinct_letters_however_many_there_are() {
    let named = [0, 1, 25, 26, 27, 51, 52, 701, 702].map(letters);
    assert_eq!(named, ["A", "B", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA"]);
    let run = |number: u32| format!("same: medium.serial=\"{number}\"; random-write 4KiB 10/s");
    let runs = records(&(0..27).map(run).collect::<Vec<_>>().join(" // "));
    let names: std::collections::BTreeSet<String> =
        compare(&runs).media.into_iter().map(|medium| medium.name).collect();
    assert_eq!(names.len(), 27, "{names:?}");
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

/// Runs that differ as their rounds do are known better than by two degrees of freedom.
#[test]
fn runs_that_agree_with_their_rounds_are_pooled_with_them() {
    let width = |rounds: &str| {
        let run = |(name, rate): (&str, f64)| {
            format!("{name}: random-write 4KiB {rate}/s ci=2% {rounds}")
        };
        let runs = [("a", 100.0), ("a", 100.6), ("b", 100.2), ("b", 100.8)].map(run).join(" // ");
        let [low, high] = compare(&records(&runs)).curves[0].points[0].found.ci95.unwrap();
        (high / low).ln()
    };
    let (pooled, apart) = (width("rounds=0.98,0.99,1,1.01,1.02"), width(""));
    assert!(pooled < 0.7 * apart, "{pooled} {apart}");
}
