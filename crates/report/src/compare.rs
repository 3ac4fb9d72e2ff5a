//! Several media side by side, for a terminal and as a page.

use askama::Template;
use findings::{BlockSizePoint, ChangedFigure, Curve, FasterMedium, MediaComparison, Regression};
use record::units::{Bytes, significant};

use crate::html::PageHead;
use crate::html::view::{self, PanelView, TableView};
use crate::tables::Table;
use crate::{text, words};

mod names;
#[cfg(test)]
mod screens;
mod works;

use names::Names;

/// The comparison for a terminal, in lines of at most `width` columns.
pub fn summary(comparison: &MediaComparison, width: usize) -> String {
    let names = Names::of(comparison);
    let mut out = String::new();
    for line in names.media(comparison) {
        out += &text::paragraph(&line, width);
    }
    if !comparison.differences.is_empty() {
        out += "\nNot only the media differ\n";
        for difference in &comparison.differences {
            out += &text::paragraph(&format!("- {}", words::clean(difference)), width);
        }
    }
    if !comparison.ranks.is_empty() {
        out += "\nBest for\n";
    }
    for rank in &comparison.ranks {
        out += &text::paragraph(&format!("- {}: {}", rank.wanted, order(rank)), width);
    }
    for work in &comparison.works {
        out += "\n";
        out += &text::paragraph(&works::title(work), width);
        for sentence in works::sentences(comparison, work) {
            out += &text::paragraph(&sentence, width);
        }
        out += &text::plain(&works::table(comparison, work, &names), width);
    }
    if !comparison.not_compared.is_empty() {
        out += "\nNot compared\n";
        for why in &comparison.not_compared {
            out += &text::paragraph(&format!("- {}", words::clean(why)), width);
        }
    }
    if comparison.media.len() < 2 {
        out += "\n";
        out += &text::paragraph(
            "All runs are of one medium: there is nothing to compare it with.",
            width,
        );
    }
    out
}

/// The comparison as a page.
pub fn page(comparison: &MediaComparison) -> String {
    let names = Names::of(comparison);
    let page = ComparisonPage {
        title: names.heading(comparison),
        media: names.media(comparison),
        differences: comparison
            .differences
            .iter()
            .map(|difference| words::clean(difference))
            .collect(),
        ranks: comparison.ranks.iter().map(|rank| (rank.wanted.clone(), order(rank))).collect(),
        not_compared: comparison.not_compared.iter().map(|why| words::clean(why)).collect(),
        works: comparison
            .works
            .iter()
            .map(|work| WorkView {
                title: works::title(work),
                sentences: works::sentences(comparison, work),
                panel: view::panel(works::panel(comparison, work, &names)),
            })
            .collect(),
    };
    page.render().expect("a template that compiled renders into memory")
}

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparisonPage {
    title: String,
    media: Vec<String>,
    differences: Vec<String>,
    ranks: Vec<(String, String)>,
    not_compared: Vec<String>,
    works: Vec<WorkView>,
}

/// All media at one kind of work.
struct WorkView {
    title: String,
    sentences: Vec<String>,
    panel: PanelView,
}

/// A pair of media at one kind of work.
pub(crate) struct CurveView {
    pub title: String,
    pub sentences: Vec<String>,
    pub table: TableView,
}

impl CurveView {
    pub fn of(curve: &Curve) -> CurveView {
        CurveView {
            title: title(curve),
            sentences: sentences(curve),
            table: TableView::new(table(curve), format!("{}, by block size", title(curve))),
        }
    }
}

fn title(curve: &Curve) -> String {
    format!(
        "{}: A is {}, B is {}",
        words::capitalised(&words::test(&curve.test)),
        words::clean(&curve.a),
        words::clean(&curve.b)
    )
}

/// "1. X (good, 1480 IOPS random writes of 4 KiB), 2. Y (..)".
fn order(rank: &findings::Rank) -> String {
    let place = |(at, place): (usize, &findings::RankPlace)| {
        format!(
            "{}. {} ({}, {})",
            at + 1,
            words::clean(&place.name),
            place.level,
            words::clean(&place.figure)
        )
    };
    rank.order.iter().enumerate().map(place).collect::<Vec<_>>().join("; ")
}

/// Where one overtakes the other.
fn crossings(curve: &Curve) -> Vec<String> {
    let (a, b) = (words::clean(&curve.a), words::clean(&curve.b));
    let size = |bytes: f64| Bytes(bytes.max(0.0).round() as u64).to_string();
    let told = |crossing: &findings::Crossing| {
        let (winner, loser) = if crossing.above == "a" { (&a, &b) } else { (&b, &a) };
        let range = crossing
            .ci95
            .map(|[low, high]| format!(" (between {} and {})", size(low), size(high)))
            .unwrap_or_default();
        let block = size(crossing.block_bytes);
        format!("{winner} overtakes {loser} at blocks of about {block}{range}.")
    };
    curve.crossings.iter().map(told).collect()
}

/// Where the curves cross; or who is faster everywhere.
fn sentences(curve: &Curve) -> Vec<String> {
    let (a, b) = (words::clean(&curve.a), words::clean(&curve.b));
    let mut said = crossings(curve);
    let all = |wanted: FasterMedium| {
        !curve.points.is_empty() && curve.points.iter().all(|point| point.judgement == wanted)
    };
    for (wanted, sentence) in [
        (FasterMedium::Faster, format!("{a} is faster at every size.")),
        (FasterMedium::Slower, format!("{b} is faster at every size.")),
        (FasterMedium::Same, "They are equal at every size, within 10 %.".to_owned()),
        (FasterMedium::Unclear, "No difference is significant.".to_owned()),
    ] {
        said.extend(all(wanted).then_some(sentence));
    }
    said
}

fn table(curve: &Curve) -> Table {
    let mut table = Table::new(&["Block", "#A", "#B", "A is"]);
    for point in &curve.points {
        let figure = |value: f64| words::quantity(&curve.metric, value);
        let size = Bytes(point.block_bytes).to_string();
        table.push(vec![size, figure(point.a), figure(point.b), judged(point)], Vec::new());
    }
    table
}

/// "556x faster (389x to 794x)".
fn judged(point: &BlockSizePoint) -> String {
    let ratio = match (point.judgement, point.ci95) {
        (FasterMedium::Slower, Some([low, high])) if low > 0.0 => {
            Some((1.0 / point.ratio, 1.0 / high, 1.0 / low))
        }
        (_, Some([low, high])) => Some((point.ratio, low, high)),
        (_, None) => None,
    };
    let by = ratio.map(|(value, low, high)| [value, low, high].map(times));
    match (point.judgement, by) {
        (FasterMedium::Faster, Some([by, low, high])) => format!("{by} faster ({low} to {high})"),
        (FasterMedium::Slower, Some([by, low, high])) => format!("{by} slower ({low} to {high})"),
        (FasterMedium::Same, Some([_, low, high])) => {
            format!("equal within 10 % ({low} to {high})")
        }
        (_, Some([by, low, high])) => format!("cannot be told: {by} ({low} to {high})"),
        (_, None) => {
            format!("cannot be told: {}, without an interval", times(point.ratio))
        }
    }
}

/// "0.53x", "556x".
fn times(ratio: f64) -> String {
    format!("{}x", significant(ratio))
}

/// Whether something became slower than allowed, for a terminal.
pub fn regression(found: &Regression, width: usize) -> String {
    let percent = format!("{} %", (found.allowed * 1e4).round() / 100.0);
    let mut out = String::new();
    let lists = [
        (format!("Slower by more than {percent}"), &found.slower),
        (format!("Cannot be told whether slower by more than {percent}"), &found.unclear),
    ];
    for (title, figures) in lists.iter().filter(|(_, figures)| !figures.is_empty()) {
        out += &format!("\n{title}\n");
        for figure in *figures {
            out += &text::paragraph(&format!("- {}", changed(figure)), width);
        }
    }
    let all = found.slower.len() + found.unclear.len() + found.kept.len();
    let result = match (found.slower.len(), found.unclear.len()) {
        (0, 0) if all == 0 => "Nothing was measured of both.".to_owned(),
        (0, 0) => format!("Passed: none of {all} figures is slower by more than {percent}."),
        (0, unclear) if unclear == all => format!(
            "Cannot be told of any of {all} figures. More runs of each label, or --precision, narrow the intervals; --strict fails on this."
        ),
        (0, unclear) => format!(
            "Passed as far as can be told: of {unclear} of {all} figures it is not certain; --strict fails on these."
        ),
        (slower, _) => {
            format!("Failed: {slower} of {all} figures are slower by more than {percent}.")
        }
    };
    out += "\n";
    out += &text::paragraph(&result, width);
    out
}

/// "random write, 4 KiB: 0.53x of before (0.50x to 0.56x)".
fn changed(figure: &ChangedFigure) -> String {
    let interval = match figure.ci95 {
        Some([low, high]) => format!("{} to {}", times(low), times(high)),
        None => "no interval".to_owned(),
    };
    format!(
        "{}, {}: {} of before ({interval})",
        words::test(&figure.test),
        Bytes(figure.block_bytes),
        times(figure.ratio)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo;

    #[test]
    fn a_good_card_against_a_horrible_one() {
        let found = findings::compare(&[demo::horrible(), demo::good()]);
        let text = summary(&found, 80);
        assert!(text.lines().next().is_some_and(|line| line.contains("Transcend")), "{text}");
        assert!(text.contains("root-disk: 1. SanDisk"), "{text}");
        assert!(text.contains("is faster at every size."), "{text}");
        let page = page(&found);
        assert!(page.contains("<table") && page.contains("SanDisk Extreme A1"), "{page}");
    }

    #[test]
    fn names_cannot_break_out() {
        let (mut one, other) = (demo::horrible(), demo::good());
        one.medium.model = Some("</script><b>\u{1b}[2J".into());
        let found = findings::compare(&[one, other]);
        assert!(!page(&found).contains("<b>") && !summary(&found, 80).contains('\u{1b}'));
    }

    #[test]
    fn one_medium_is_no_comparison() {
        let found = findings::compare(&[demo::good(), demo::good()]);
        assert!(summary(&found, 80).contains("nothing to compare"), "{found:?}");
    }
}
