//! A comparison on one screen: a sentence, one table of the main figures, and the best medium for
//! each use. The rest is counted.

use findings::{FasterMedium, FastestMedium, MediaComparison, RankPlace};
use record::units::{KIB, MIB};

use super::names::Names;
use super::works::{MediaRow, media_table};
use super::{ComparedPair, ComparisonContent, Ranges, figures, noted, ranked, works};
use crate::{display, text, words};

/// Most rows of the table.
const ROWS: usize = 12;
/// Longest name of a figure.
const LONGEST: usize = 23;
/// Block sizes that come first where there are too many.
const MAIN_SIZES: [u64; 3] = [4 * KIB, 16 * KIB, MIB];

/// The comparison on one screen; `None` of file systems and of levels, which have tables of their
/// own.
pub(super) fn screen(
    comparison: &MediaComparison,
    content: &ComparisonContent,
    width: usize,
) -> Option<String> {
    if comparison.levels.is_some() || !comparison.matrices.is_empty() {
        return None;
    }
    let names = Names::of(comparison);
    let rows = rows(comparison);
    let fastest: Vec<Option<FastestMedium>> = rows.iter().map(|(row, _)| row.fastest).collect();
    let line = |text: &str| text::paragraph(text, width);
    let item = |text: &str| line(&format!("- {text}"));
    let mut out: String = content.media.iter().chain(&content.faults).map(|it| line(it)).collect();
    if !content.differences.is_empty() {
        out += &format!("{}\n", content.differ);
        out.extend(content.differences.iter().map(|it| item(it)));
    }
    if !rows.is_empty() {
        out += &format!("\n{}\n", line(&sentence(comparison, &fastest, &names)));
        let shown = main(rows);
        let shown = shown.map(|row| MediaRow { name: fitted(&row.name), ..row });
        out += &text::plain(&media_table("", comparison, &names, shown), width);
    }
    if !comparison.ranks.is_empty() {
        out += "\nBy use, the best first\n";
    }
    // "a1 (good), then class10 (not suitable)".
    let level = |it: &RankPlace| noted(&[it.level, it.caveat.as_deref().unwrap_or_default()]);
    out.extend(
        comparison
            .ranks
            .iter()
            .map(|rank| item(&format!("{}: {}", rank.name, ranked(rank, level)))),
    );
    out += if content.more_runs.is_empty() { "" } else { "\n" };
    out.extend(content.more_runs.iter().map(|it| line(it)));
    out.extend(
        content.nothing.iter().chain(&content.one_medium).map(|it| format!("\n{}", line(it))),
    );
    let left = [
        words::counted(fastest.len().saturating_sub(ROWS), "more figure"),
        counted_as(content.not_compared.len(), "not compared, and why"),
    ];
    let left: Vec<String> = left.into_iter().filter(|text| !text.is_empty()).collect();
    if !left.is_empty() {
        out += &format!("\n{}", line(&format!("With --details: {}.", left.join(", "))));
    }
    Some(out)
}

/// "3 not compared, and why"; empty for none.
fn counted_as(n: usize, what: &str) -> String {
    if n == 0 { String::new() } else { format!("{n} {what}") }
}

/// All figures in rows, with the block size of those that have one.
fn rows(comparison: &MediaComparison) -> Vec<(MediaRow, Option<u64>)> {
    let of_works = comparison.works.iter().flat_map(|work| {
        works::rows(comparison, work, Ranges::Without).zip(&work.rows).map(|(row, of)| {
            let name = format!("{}, {}", works::title(work), row.name);
            (MediaRow { name, ..row }, Some(of.block_bytes))
        })
    });
    let others = figures::rows(comparison, Ranges::Without).map(|row| (row, None));
    of_works.chain(others).collect()
}

/// "Flush cost, f.., 4 KiB": a name that fits; its end tells it from others.
fn fitted(name: &str) -> String {
    match name.rsplit_once(", ") {
        Some((head, end)) if display::width(name) > LONGEST => {
            let room = LONGEST.saturating_sub(display::width(end) + 2);
            format!("{}, {end}", text::short(head, room))
        }
        _ => text::short(name, LONGEST),
    }
}

/// The figures of two media that its screen shows, each with the ratio of the first to the second.
pub(super) fn pairs(comparison: &MediaComparison) -> Vec<ComparedPair> {
    if comparison.media.len() != 2 {
        return Vec::new();
    }
    let pair = |row: MediaRow| {
        let found = row.pair?;
        Some(ComparedPair { name: row.name, judged: super::judged(&found), found })
    };
    main(rows(comparison)).filter_map(pair).collect()
}

/// The main sizes where there are too many rows, in their order.
fn main(rows: Vec<(MediaRow, Option<u64>)>) -> impl Iterator<Item = MediaRow> {
    let has_room = rows.len() <= ROWS;
    let is_main = |size: &Option<u64>| has_room || size.is_some_and(|it| MAIN_SIZES.contains(&it));
    let (main, rest): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, size)| is_main(size));
    main.into_iter().chain(rest).take(ROWS).map(|(row, _)| row)
}

/// "B is faster in 7 of 9 figures; A in 1; in 1 no important difference is shown."
fn sentence(
    comparison: &MediaComparison,
    fastest: &[Option<FastestMedium>],
    names: &Names,
) -> String {
    let winner = |it: &Option<FastestMedium>| {
        it.filter(|it| it.found.judgement == FasterMedium::Faster).map(|it| it.medium)
    };
    let won: Vec<usize> = fastest.iter().filter_map(winner).collect();
    let times = |medium: usize| won.iter().filter(|it| **it == medium).count();
    let mut winners = won.clone();
    winners.sort_by_key(|medium| (std::cmp::Reverse(times(*medium)), *medium));
    winners.dedup();
    let all = fastest.len();
    let Some((best, others)) = winners.split_first() else {
        return "No important difference is shown.".to_owned();
    };
    let head = names.lead(comparison, *best);
    let first = match times(*best) {
        1 if all == 1 => format!("{head} is faster in the one figure of both"),
        n if n == all => format!("{head} is faster in all of {}", words::count(all, "figure")),
        n => format!("{head} is faster in {n} of {}", words::count(all, "figure")),
    };
    let others = others.iter().map(|it| format!("{} in {}", names.head(*it), times(*it)));
    let open = Some(all - won.len()).filter(|open| *open > 0);
    let open = open.map(|open| format!("in {open} no important difference is shown"));
    let parts: Vec<String> = std::iter::once(first).chain(others).chain(open).collect();
    parts.join("; ") + "."
}
