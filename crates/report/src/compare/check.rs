//! Unclear differences of a comparison: the number of further runs needed, and the result of
//! `--fail-if`.

use std::collections::BTreeMap;

use findings::{ChangedFigure, MediaComparison, Regression};
use record::text::printable;
use record::units::Bytes;

use super::times;
use crate::{text, words};

/// Numbers of further runs that would show a difference of 10 %, a line for each.
pub(super) fn more_runs(comparison: &MediaComparison) -> Vec<String> {
    needed_runs(&findings::unclear(comparison), "tell a difference of 10 %")
}

/// Limit of estimates from single runs.
const SINGLE: &str = "Single runs do not see changes between runs: it may take more.";

/// "3 more runs of each would tell a difference of 10 %: random write, 4 KiB; random read, 4 KiB."
fn needed_runs(figures: &[ChangedFigure], what: &str) -> Vec<String> {
    let mut by_runs: BTreeMap<(bool, u32), Vec<String>> = BTreeMap::new();
    let known = || figures.iter().filter_map(|figure| Some((figure, figure.more_runs?)));
    for (figure, more) in known() {
        by_runs.entry((more.is_too_few, more.of_each)).or_default().push(named(figure));
    }
    let line = |(runs, names): (&(bool, u32), &Vec<String>)| {
        let changes = match runs {
            (true, most) => format!("It takes more than {most} more runs of each to {what}"),
            (false, 1) => format!("One more run of each would {what}"),
            (false, runs) => format!("{runs} more runs of each would {what}"),
        };
        format!("{changes}: {}.", names.join("; "))
    };
    let lines = by_runs.iter().map(line);
    let is_single = known().any(|(_, more)| more.is_from_single_runs);
    lines.chain(is_single.then(|| SINGLE.to_owned())).collect()
}

/// Result of the check for regressions, for a terminal.
pub(super) fn regression(found: &Regression, width: usize) -> String {
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
    out += "\n";
    let what = format!("tell whether it is slower by more than {percent}");
    let more_runs = needed_runs(&found.unclear, &what);
    for line in more_runs.into_iter().chain(without_interval(&found.unclear)) {
        out += &text::paragraph(&line, width);
    }
    out += &text::paragraph(&result(found, &percent), width);
    out
}

/// Sentence about the result for all figures.
pub(crate) fn result(found: &Regression, percent: &str) -> String {
    let all = found.slower.len() + found.unclear.len() + found.kept.len();
    match (found.slower.len(), found.unclear.len()) {
        (0, 0) if all == 0 => "Nothing was measured of both.".to_owned(),
        (0, 0) => format!("Passed: none of {all} figures is slower by more than {percent}."),
        (0, unclear) if unclear == all => {
            format!("Failed: nothing could be told of {all} figures.")
        }
        (0, unclear) => format!(
            "Passed as far as can be told: of {unclear} of {all} figures it is not certain; --strict fails on these."
        ),
        (slower, _) => {
            format!("Failed: {slower} of {all} figures are slower by more than {percent}.")
        }
    }
}

/// Figures without any information on how much runs differ.
fn without_interval(figures: &[ChangedFigure]) -> Option<String> {
    let unknown = figures.iter().filter(|figure| figure.more_runs.is_none());
    let names: Vec<String> = unknown.map(named).collect();
    let changes =
        format!("Without an interval until there are two runs of each: {}.", names.join("; "));
    (!names.is_empty()).then_some(changes)
}

/// "random write, 4 KiB: 0.53x of before (0.50x to 0.56x)".
fn changed(figure: &ChangedFigure) -> String {
    format!("{}: {}", named(figure), ratio(figure))
}

/// "0.53x of before (0.50x to 0.56x)".
pub(crate) fn ratio(figure: &ChangedFigure) -> String {
    let interval = match figure.ci95 {
        Some([low, high]) => format!("{} to {}", times(low), times(high)),
        None => "no interval".to_owned(),
    };
    format!("{} of before ({interval})", times(figure.ratio))
}

/// "random write, 4 KiB".
pub(crate) fn named(figure: &ChangedFigure) -> String {
    if let Some(params) = &figure.params {
        let label = words::whole_label(&figure.test, params);
        let name = figure.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        return format!("{name}{label}");
    }
    let block = figure.block_bytes.map(|bytes| Bytes(bytes).to_string());
    let at = block.or_else(|| figure.combination.as_deref().map(printable)).unwrap_or_default();
    format!("{}, {at}", words::test(&figure.test))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_figure_is_named_with_its_column_and_its_settings() {
        let params = record::Params { block_bytes: Some(512), ..record::Params::default() };
        let figure = |name: Option<&str>| ChangedFigure {
            test: "seek".into(),
            name: name.map(Into::into),
            params: Some(params.clone()),
            block_bytes: Some(512),
            combination: None,
            ratio: 0.1,
            ci95: None,
            more_runs: None,
        };
        let changes = changed(&figure(Some("Seeks")));
        assert!(changes.starts_with("Seeks: Seek") && changes.contains("512 B"), "{changes}");
        assert!(changes.ends_with("0.100x of before (no interval)"), "{changes}");
        assert!(changed(&figure(None)).starts_with("Seek"));
    }
}
