//! The page of a comparison of several media, and charts of several media against block size.

use askama::Template;
use findings::{MediaComparison, WorkComparison, WorkRow};
use record::metric;
use record::units::{Bytes, quantity};
use report::compare::{ComparisonContent, ComparisonPart, Ranges, content};
use report::{words, yardstick};

use crate::chart::{
    AxisSpec, AxisUnit, Chart, ChartLine, ChartMark, ChartPoint, HUES, Reference, ReferenceAxis,
    Scale, Stroke, Style,
};
use crate::panels::Panel;
use crate::view::{self, PanelView, TableView};
use crate::{PageHead, filters, forest};

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparisonPage {
    content: ComparisonContent,
    /// Markup; empty for more than two media.
    forest: String,
    levels: Option<TableView>,
    works: Vec<PanelView>,
    figures: Option<TableView>,
    matrices: Vec<TableView>,
}

/// The comparison as a page; of a change with the share that it may lose, if one was asked.
pub fn comparison(comparison: &MediaComparison, allowed: Option<f64>) -> String {
    let content = content(comparison, Ranges::Without);
    let table = |part: &ComparisonPart, of: &str| {
        TableView::new(part.table.clone(), format!("{}{of}", part.title))
    };
    let works = content.works.iter().zip(&comparison.works);
    let matrices = content.matrices.iter();
    let first = content.columns.iter().find(|(at, _)| *at == 0).map_or("", |(_, head)| head);
    let plot = || forest::draw(&content.pairs, first, allowed);
    let forest = (!content.pairs.is_empty()).then(plot).unwrap_or_default();
    let page = ComparisonPage {
        forest,
        levels: content.levels.as_ref().map(|part| table(part, "")),
        works: works.map(|(part, work)| view::panel(panel(&content.columns, work, part))).collect(),
        figures: content.figures.as_ref().map(|part| table(part, "")),
        matrices: matrices.map(|part| table(part, ", by file system and scheduler")).collect(),
        content,
    };
    page.render().expect("a template that compiled renders into memory")
}

/// Chart of all media against block size, with the table.
fn panel(columns: &[(usize, String)], work: &WorkComparison, part: &ComparisonPart) -> Panel {
    let series = columns.iter().enumerate().map(|(nth, (at, head))| ChartLine {
        name: head.clone(),
        points: points(work, *at, head),
        style: look(nth),
    });
    let what = if work.metric == metric::IOPS { "IOPS" } else { "rate" };
    let chart = against_block_size(
        [&work.test, &work.metric],
        format!("{}: {what} against block size", part.title),
        series.filter(|line| !line.points.is_empty()).collect(),
        "Geometric means over runs; whiskers: the 95 % interval of a single run, or from the lowest run to the highest.",
    );
    Panel { chart, table: part.table.clone() }
}

fn points(work: &WorkComparison, medium: usize, name: &str) -> Vec<ChartPoint> {
    let point = |row: &WorkRow| {
        let figure = row.figures.get(medium).copied().flatten()?;
        let tip = format!(
            "{name}, {}: {} ({})",
            Bytes(row.block_bytes),
            quantity(&work.metric, figure.value),
            words::count(figure.runs, "run")
        );
        let x = row.block_bytes as f64;
        Some(ChartPoint { x, y: figure.value, interval: figure.range, tip })
    };
    work.rows.iter().filter_map(point).collect()
}

/// Chart of a metric of a test, IOPS or a rate, with lines for several media.
pub fn against_block_size(
    [test, metric]: [&str; 2],
    title: String,
    series: Vec<ChartLine>,
    note: &str,
) -> Chart {
    let (label, unit, disk) = if metric == metric::IOPS {
        ("IOPS, more is better", AxisUnit::Iops, yardstick::DISK_IOPS)
    } else {
        ("bytes per second, more is better", AxisUnit::Rate, yardstick::DISK_BPS)
    };
    Chart {
        id: format!("compare-{test}"),
        title,
        x: AxisSpec { label: "block size".to_owned(), scale: Scale::Log, unit: AxisUnit::Blocks },
        y: AxisSpec { label: label.to_owned(), scale: Scale::Log, unit },
        series,
        references: vec![Reference {
            axis: ReferenceAxis::Y,
            value: disk,
            label: format!("{}: {}", yardstick::DISK, quantity(metric, disk)),
        }],
        note: note.to_owned(),
    }
}

/// Style of the n-th of several media: six colours, then the same again with another stroke and
/// mark.
pub fn look(nth: usize) -> Style {
    let (stroke, mark) = if nth < HUES {
        (Stroke::Solid, ChartMark::Disc)
    } else {
        (Stroke::Dashed, ChartMark::Square)
    };
    Style { hue: nth % HUES, stroke, mark }
}

#[cfg(test)]
mod tests {
    use record::Record;
    use report::compare::{details, summary};

    use super::*;
    use crate::demo;

    #[test]
    fn a_good_card_against_a_horrible_one() {
        let found = findings::compare(&[demo::slow_card(), demo::good()]);
        let text = summary(&found, 80);
        assert!(text.lines().next().is_some_and(|line| line.contains("Transcend")), "{text}");
        assert!(text.contains("a Raspberry Pi: SanDisk"), "{text}");
        assert!(details(&found, 80).contains("is faster at every size."));
        let page = comparison(&found, Some(0.1));
        assert!(page.contains("<table") && page.contains("SanDisk Extreme A1"), "{page}");
        // Of each figure a row; lines at 1 and at the limit.
        let (_, forest) = page.split_once("aria-labelledby=\"forest\"").expect("a forest plot");
        let forest = forest.split("</svg>").next().unwrap_or_default();
        let rows = forest.matches("<circle").count();
        assert_eq!((rows, forest.matches("class=\"ref\"").count()), (12, 24), "{forest}");
    }

    #[test]
    fn names_cannot_break_out() {
        let (mut one, other) = (demo::slow_card(), demo::good());
        one.medium.model = Some("</script><b>\u{1b}[2J".into());
        let found = findings::compare(&[one, other]);
        assert!(
            !comparison(&found, None).contains("<b>") && !summary(&found, 80).contains('\u{1b}')
        );
    }

    #[test]
    fn one_medium_is_no_comparison_nor_are_two_without_a_figure_in_common() {
        let other = Record { cells: Vec::new(), ..demo::slow_card() };
        for (other, said) in [
            (demo::good(), "there is nothing to compare it with."),
            (other, "Nothing to compare: no figure that may be used was measured of two of them;"),
        ] {
            let found = findings::compare(&[demo::good(), other]);
            let text = summary(&found, 80).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(said), "{text}");
        }
    }
}
