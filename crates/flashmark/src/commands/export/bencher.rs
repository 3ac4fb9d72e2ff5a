//! Figures of runs for Bencher: an object of Bencher Metric Format
//! (<https://bencher.dev/docs/reference/bencher-metric-format/>), which its thresholds watch from
//! run to run.

use std::io::Write;

use record::collection::{CollectionRun, FigureUnit};
use serde_json::{Map, Value, json};
use store::export::{ExportError, Sink};

use super::figures::figures;

/// Writes a benchmark for each figure of each medium; of several runs of one the last counts.
pub struct BencherSink<W: Write> {
    to: W,
    benchmarks: Map<String, Value>,
}

impl<W: Write> BencherSink<W> {
    /// Writes to `to`, when all runs are known.
    pub fn new(to: W) -> BencherSink<W> {
        BencherSink { to, benchmarks: Map::new() }
    }
}

impl<W: Write> Sink for BencherSink<W> {
    fn add(&mut self, entry: &CollectionRun) -> Result<(), ExportError> {
        for (figure, value, ci95) in figures(entry) {
            let mut metric = json!({ "value": value });
            if let Some([low, high]) = ci95 {
                metric["lower_value"] = low.into();
                metric["upper_value"] = high.into();
            }
            let name = format!("{}: {}", entry.run.name(), figure.label);
            self.benchmarks.insert(name, json!({ measure(figure.unit): metric }));
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        serde_json::to_writer_pretty(&mut self.to, &self.benchmarks)?;
        self.to.write_all(b"\n")?;
        Ok(self.to.flush()?)
    }
}

/// The measure of Bencher, which knows `latency` in nanoseconds; others are made when they are
/// first sent.
fn measure(unit: FigureUnit) -> &'static str {
    match unit {
        FigureUnit::Iops => "iops",
        FigureUnit::Bps => "bytes-per-second",
        FigureUnit::Ns => "latency",
    }
}
