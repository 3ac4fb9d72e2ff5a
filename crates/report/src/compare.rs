//! Several media side by side, for a terminal and as a page.

use askama::Template;
use findings::{BlockSizePoint, Curve, FasterMedium, MediaComparison};
use record::units::{Bytes, significant};

use crate::html::PageHead;
use crate::tables::Table;
use crate::{text, words};

/// The comparison for a terminal, in lines of at most `width` columns; tables as wide as they need
/// to be.
pub fn summary(comparison: &MediaComparison, width: usize) -> String {
    let mut out = String::new();
    for medium in &comparison.media {
        out += &text::paragraph(
            &format!("{} ({})", words::clean(&medium.name), words::count(medium.runs.len(), "run")),
            width,
        );
    }
    if !comparison.differences.is_empty() {
        out += "\nNot only the media differ\n";
        for difference in &comparison.differences {
            out += &text::paragraph(&format!("- {}", words::clean(difference)), width);
        }
    }
    out += "\nBest for\n";
    for rank in &comparison.ranks {
        out += &text::paragraph(&format!("- {}: {}", rank.wanted, order(rank)), width);
    }
    for curve in &comparison.curves {
        out += &format!("\n{}\n", title(curve));
        for sentence in sentences(curve) {
            out += &text::paragraph(&sentence, width);
        }
        out += &text::plain(&table(curve));
    }
    if comparison.media.len() < 2 {
        out += "\nAll runs are of one medium: there is nothing to compare it with.\n";
    }
    out
}

/// The comparison as a page.
pub fn page(comparison: &MediaComparison) -> String {
    let media = comparison
        .media
        .iter()
        .map(|medium| {
            format!("{} ({})", words::clean(&medium.name), words::count(medium.runs.len(), "run"))
        })
        .collect();
    let page = ComparisonPage {
        media,
        differences: comparison
            .differences
            .iter()
            .map(|difference| words::clean(difference))
            .collect(),
        ranks: comparison.ranks.iter().map(|rank| (rank.wanted.clone(), order(rank))).collect(),
        curves: comparison.curves.iter().map(CurveView::of).collect(),
    };
    page.render().expect("a template that compiled renders into memory")
}

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparisonPage {
    media: Vec<String>,
    differences: Vec<String>,
    ranks: Vec<(String, String)>,
    curves: Vec<CurveView>,
}

/// A pair of media at one kind of work.
pub(crate) struct CurveView {
    pub title: String,
    pub sentences: Vec<String>,
    pub table: ComparisonTable,
}

impl CurveView {
    pub fn of(curve: &Curve) -> CurveView {
        CurveView {
            title: title(curve),
            sentences: sentences(curve),
            table: ComparisonTable { table: table(curve) },
        }
    }
}

#[derive(Template)]
#[template(path = "table.html")]
pub(crate) struct ComparisonTable {
    table: Table,
}

fn title(curve: &Curve) -> String {
    format!(
        "{}: {} against {}",
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

/// Where the curves cross; or who is faster everywhere.
fn sentences(curve: &Curve) -> Vec<String> {
    let (a, b) = (words::clean(&curve.a), words::clean(&curve.b));
    let mut said: Vec<String> = curve
        .crossings
        .iter()
        .map(|crossing| {
            let (winner, loser) = if crossing.above == "a" { (&a, &b) } else { (&b, &a) };
            let size = |bytes: f64| Bytes(bytes.max(0.0).round() as u64).to_string();
            let range = crossing
                .ci95
                .map(|[low, high]| format!(" (between {} and {})", size(low), size(high)))
                .unwrap_or_default();
            format!(
                "{winner} overtakes {loser} at blocks of about {}{range}.",
                size(crossing.block_bytes)
            )
        })
        .collect();
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
    let mut table =
        Table::new(&["Block", "#A", "#B", "#A over B", "95 % interval", "Which is faster"]);
    for point in &curve.points {
        let figure = |value: f64| words::quantity(&curve.metric, value);
        let interval = point
            .ci95
            .map(|[low, high]| format!("{} to {}", significant(low), significant(high)))
            .unwrap_or_else(|| "none".to_owned());
        table.push(
            vec![
                Bytes(point.block_bytes).to_string(),
                figure(point.a),
                figure(point.b),
                significant(point.ratio),
                interval,
                verdict(point).to_owned(),
            ],
            Vec::new(),
        );
    }
    table
}

fn verdict(point: &BlockSizePoint) -> &'static str {
    match point.judgement {
        FasterMedium::Faster => "A",
        FasterMedium::Slower => "B",
        FasterMedium::Same => "equal within 10 %",
        FasterMedium::Unclear => "cannot be told here",
    }
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
