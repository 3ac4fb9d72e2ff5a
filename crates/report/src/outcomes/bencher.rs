//! Bencher Metric Format (<https://bencher.dev/docs/reference/bencher-metric-format/>).

use std::collections::BTreeMap;

use findings::Regression;
use serde_json::{Value, json};

use crate::compare::figure_name;

/// The ratio of each figure to its earlier value, with its 95 % interval, as JSON.
pub fn bencher(found: &Regression) -> String {
    let figures = [&found.slower, &found.unclear, &found.kept].into_iter().flatten();
    let benchmarks: BTreeMap<String, Value> = figures
        .map(|figure| {
            let mut ratio = json!({ "value": figure.ratio });
            if let Some([low, high]) = figure.ci95 {
                ratio["lower_value"] = low.into();
                ratio["upper_value"] = high.into();
            }
            (figure_name(figure), json!({ "ratio": ratio }))
        })
        .collect();
    format!("{:#}\n", json!(benchmarks))
}
