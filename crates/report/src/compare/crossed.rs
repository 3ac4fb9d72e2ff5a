//! Charts of several media at the levels of a factor: parallel lines are effects that multiply,
//! crossing lines are an interaction.

use findings::{CombinationFigure, Experiment, ExplainedFigure};
use record::text::{capitalised, printable};
use record::{metric, test};

use super::{experiment, works};
use crate::chart::{AxisSpec, AxisUnit, Chart, ChartLine, ChartPoint, Scale};
use crate::panels::Panel;
use crate::tables::Table;
use crate::words;

/// A chart for each main figure; empty if nothing can be split.
pub(super) fn panels(experiment: &Experiment) -> Vec<Panel> {
    let is_shown =
        |figure: &&ExplainedFigure| experiment.unsplit.is_none() && !figure.combinations.is_empty();
    let crossed = experiment::main(experiment).filter(is_shown);
    crossed.map(|figure| panel(experiment, figure)).collect()
}

fn panel(found: &Experiment, figure: &ExplainedFigure) -> Panel {
    let [media, by] = [0, 1].map(|at| &found.factors[at]);
    let is_random = matches!(&*figure.test, test::RANDOM_WRITE | test::RANDOM_READ);
    let (metric, unit, label) = if is_random {
        (metric::IOPS, AxisUnit::Iops, "IOPS, more is better")
    } else {
        (metric::BPS, AxisUnit::Rate, "bytes per second, more is better")
    };
    let of = |medium: &String, level: &String| {
        figure.combinations.iter().find(|of| of.medium == *medium && of.level == *level)
    };
    let line = |(nth, level): (usize, &String)| ChartLine {
        name: printable(level),
        points: (media.levels.iter().zip(1..))
            .filter_map(|(medium, at)| Some(point(f64::from(at), metric, of(medium, level)?)))
            .collect(),
        style: works::look(nth),
    };
    let numbered: Vec<String> = (media.levels.iter().zip(1..))
        .map(|(medium, at)| format!("{at}: {}", printable(medium)))
        .collect();
    let bare = media.name.trim_start_matches("the ");
    let chart = Chart {
        id: format!("crossed-{}", figure.test),
        title: format!(
            "{}: each {bare} by {}",
            capitalised(&experiment::named(figure)),
            by.name.trim_start_matches("the ")
        ),
        x: AxisSpec { label: bare.to_owned(), scale: Scale::Linear, unit: AxisUnit::Nth },
        y: AxisSpec { label: label.to_owned(), scale: Scale::Log, unit },
        series: by.levels.iter().enumerate().map(line).filter(|it| !it.points.is_empty()).collect(),
        references: Vec::new(),
        note: format!(
            "{}. Lines side by side: effects multiply. Lines that come closer or cross: they depend on each other. Whiskers: 95 % intervals.",
            numbered.join(", ")
        ),
    };
    let heads = [bare.to_owned()].into_iter().chain(by.levels.iter().map(|it| printable(it)));
    let mut table = Table::named(heads.collect());
    for medium in &media.levels {
        let cells = by.levels.iter().map(|level| {
            of(medium, level).map_or_else(|| "-".to_owned(), |it| figure_text(metric, it))
        });
        table.push([printable(medium)].into_iter().chain(cells).collect(), Vec::new());
    }
    Panel { chart, table }
}

fn point(x: f64, metric: &str, of: &CombinationFigure) -> ChartPoint {
    let tip = format!(
        "{} with {}: {} ({})",
        printable(&of.medium),
        printable(&of.level),
        figure_text(metric, of),
        words::count(of.runs, "run")
    );
    ChartPoint { x, y: of.value, interval: of.ci95, tip }
}

/// "312 IOPS (300 to 324)".
fn figure_text(metric: &str, of: &CombinationFigure) -> String {
    let text = words::quantity(metric, of.value);
    match of.ci95.map(|ends| words::interval(metric, ends)) {
        Some(ends) => format!("{text} ({})", words::without_unit(&ends, &text)),
        None => text,
    }
}
