//! Figures of runs for Prometheus: gauges in the text of OpenMetrics 1.0, without times of samples
//! (<https://prometheus.io/docs/specs/om/open_metrics_spec/>), which node_exporter's textfile
//! collector reads, too. docs/metrics.md lists them.

use std::collections::BTreeMap;
use std::io::Write;

use record::Severity;
use record::collection::{CollectionRun, FigureUnit};
use store::export::{ExportError, Sink};

use super::figures::figures;

/// Writes a sample of each figure for each medium and label, taken from its latest run.
pub struct OpenMetricsSink<W: Write> {
    to: W,
    /// Latest run by the labels that tell media apart.
    newest: BTreeMap<String, NewestRun>,
}

struct NewestRun {
    received: String,
    samples: Vec<Sample>,
}

struct Sample {
    /// Name of the metric, with its unit and without the prefix.
    name: String,
    help: String,
    /// Labels of this sample beside those of its medium.
    labels: String,
    value: f64,
}

impl<W: Write> OpenMetricsSink<W> {
    /// Writes to `to`, when all runs are known.
    pub fn new(to: W) -> OpenMetricsSink<W> {
        OpenMetricsSink { to, newest: BTreeMap::new() }
    }
}

impl<W: Write> Sink for OpenMetricsSink<W> {
    fn add(&mut self, entry: &CollectionRun) -> Result<(), ExportError> {
        let run = NewestRun { received: entry.received.clone(), samples: samples(entry) };
        let newest = self
            .newest
            .entry(medium(entry))
            .or_insert_with(|| NewestRun { received: String::new(), samples: Vec::new() });
        if run.received >= newest.received {
            *newest = run;
        }
        Ok(())
    }

    /// All samples of a metric are one group, as the format asks for.
    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        let mut families: BTreeMap<&str, (&str, Vec<String>)> = BTreeMap::new();
        for (medium, run) in &self.newest {
            for Sample { name, help, labels, value } in &run.samples {
                let line = format!("flashmark_{name}{{{medium}{labels}}} {value}\n");
                families.entry(name).or_insert_with(|| (help, Vec::new())).1.push(line);
            }
        }
        for (name, (help, lines)) in families {
            write!(self.to, "# HELP flashmark_{name} {help}\n# TYPE flashmark_{name} gauge\n")?;
            lines.iter().try_for_each(|line| self.to.write_all(line.as_bytes()))?;
        }
        self.to.write_all(b"# EOF\n")?;
        Ok(self.to.flush()?)
    }
}

/// The labels by which one medium stays one series from run to run.
fn medium(entry: &CollectionRun) -> String {
    let labels = [
        ("medium", Some(entry.run.name())),
        ("kind", Some(entry.run.kind.name().to_owned())),
        ("origin", Some(entry.origin.name().to_owned())),
        ("label", entry.run.label.clone()),
    ];
    labels.map(|(name, value)| label(name, value.as_deref())).concat().trim_end_matches(',').into()
}

/// `name="value",`, or nothing.
fn label(name: &str, value: Option<&str>) -> String {
    let escaped = |text: &str| text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    value.map_or(String::new(), |text| format!("{name}=\"{}\",", escaped(text)))
}

fn gauge(name: impl Into<String>, help: impl Into<String>, value: f64) -> Sample {
    Sample { name: name.into(), help: help.into(), labels: String::new(), value }
}

/// The same sample with labels of its own.
fn labelled(sample: Sample, labels: &[(&str, Option<&str>)]) -> Sample {
    let labels: String = labels.iter().map(|(name, value)| label(name, *value)).collect();
    Sample { labels: format!(",{}", labels.trim_end_matches(',')), ..sample }
}

fn samples(entry: &CollectionRun) -> Vec<Sample> {
    let mut all = vec![info(entry)];
    if let Ok(time) = entry.received.parse::<jiff::Timestamp>() {
        let help = "When the run ended, in seconds since 1970.";
        all.push(gauge("run_timestamp_seconds", help, time.as_second() as f64));
    }
    let seconds = entry.run.elapsed_ns as f64 / 1e9;
    all.push(gauge("run_duration_seconds", "Time that the run took.", seconds));
    if let Some(bytes) = entry.run.capacity_bytes {
        let help = "Capacity that the medium says it has.";
        all.push(gauge("medium_capacity_bytes", help, bytes as f64));
    }
    all.extend(findings(entry));
    for fault in &entry.headline.faults {
        let one = gauge("fault", "1 for each fault that the run found, by its finding.", 1.0);
        all.push(labelled(one, &[("finding", Some(fault))]));
    }
    all.extend(figures(entry).flat_map(|(figure, value, ci95)| {
        let (unit, scale) = base_unit(figure.unit);
        let sample = |part: &str, what: &str, value: f64| {
            let (name, label) = (figure.column, figure.label);
            gauge(format!("{name}{part}_{unit}"), format!("{label}{what}."), value * scale)
        };
        let ends = ci95.map(|[low, high]| {
            [
                sample("_ci95_low", ": low end of the 95 % interval", low),
                sample("_ci95_high", ": high end of the 95 % interval", high),
            ]
        });
        std::iter::once(sample("", "", value)).chain(ends.into_iter().flatten())
    }));
    all
}

fn info(entry: &CollectionRun) -> Sample {
    let run = &entry.run;
    let name = entry.local_name.as_deref().unwrap_or(&entry.id);
    labelled(
        gauge("run_info", "1; its labels say what the run is.", 1.0),
        &[
            ("run", Some(name)),
            ("suite", Some(&run.suite)),
            ("vendor", run.vendor.as_deref()),
            ("model", run.model.as_deref()),
            ("firmware", run.firmware.as_deref()),
            ("version", Some(&run.software.version)),
        ],
    )
}

/// Number of conclusions of each severity, including 0.
fn findings(entry: &CollectionRun) -> [Sample; 3] {
    [("failure", Severity::Failure), ("warning", Severity::Warning), ("info", Severity::Info)].map(
        |(name, severity)| {
            let count = entry.run.findings.iter().filter(|it| it.severity == severity).count();
            let help = "Findings of the run by severity; a failure is a failed check.";
            labelled(gauge("findings", help, count as f64), &[("severity", Some(name))])
        },
    )
}

/// Base unit of Prometheus for a unit, and the factor to convert to it.
fn base_unit(unit: FigureUnit) -> (&'static str, f64) {
    match unit {
        FigureUnit::Iops => ("iops", 1.0),
        FigureUnit::Bps => ("bytes_per_second", 1.0),
        FigureUnit::Ns => ("seconds", 1e-9),
    }
}
