//! Figures of runs for Prometheus: gauges in the text of OpenMetrics 1.0, without times of samples
//! (<https://prometheus.io/docs/specs/om/open_metrics_spec/>), which node_exporter's textfile
//! collector reads, too. docs/metrics.md lists them.

use std::collections::BTreeMap;

use findings::Figures;
use record::collection::{Figure, FigureUnit, Origin, RunHeadline};
use record::text::printable;
use record::{Moment, Published, Record, Severity};
use store::{RunDir, RunSummary};

use program::exit::Result;
use session::{kept, published_run};

/// A run that measured its medium.
struct MeasuredRun {
    name: String,
    record: Record,
    run: Published,
}

impl MeasuredRun {
    fn of(dir: &RunDir) -> Result<MeasuredRun> {
        let record = kept::measured(dir)?;
        let (run, _) = published_run::of(&record)?;
        Ok(MeasuredRun { name: dir.name().to_owned(), record, run })
    }

    /// When it ended; empty for a simulated run.
    fn ended(&self) -> &str {
        let Record { run, .. } = &self.record;
        run.finished.as_deref().or(run.started.as_deref()).unwrap_or_default()
    }
}

/// A sample of each figure for each medium and label, taken from its latest run. A run of which
/// nothing can be made is named on standard error.
pub fn text(runs: &[RunSummary]) -> String {
    let mut newest: BTreeMap<String, NewestRun> = BTreeMap::new();
    for RunSummary { dir, .. } in runs {
        match MeasuredRun::of(dir) {
            Ok(measured) => {
                let run = NewestRun { ended: measured.ended().into(), samples: samples(&measured) };
                let place = newest.entry(medium(&measured.run)).or_default();
                if run.ended >= place.ended {
                    *place = run;
                }
            }
            Err(why) => program::say!(
                "flashmark: {} is left out: {}",
                printable(dir.name()),
                printable(&why.to_string())
            ),
        }
    }
    families(&newest)
}

#[derive(Default)]
struct NewestRun {
    ended: String,
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

/// All samples of a metric are one group, as the format asks for.
fn families(newest: &BTreeMap<String, NewestRun>) -> String {
    let mut families: BTreeMap<&str, (&str, String)> = BTreeMap::new();
    for (medium, run) in newest {
        for Sample { name, help, labels, value } in &run.samples {
            let (_, lines) = families.entry(name).or_insert_with(|| (help, String::new()));
            *lines += &format!("flashmark_{name}{{{medium}{labels}}} {value}\n");
        }
    }
    let text = |(name, (help, lines)): (&str, (&str, String))| {
        format!("# HELP flashmark_{name} {help}\n# TYPE flashmark_{name} gauge\n{lines}")
    };
    families.into_iter().map(text).collect::<String>() + "# EOF\n"
}

/// The labels by which one medium stays one series from run to run.
fn medium(run: &Published) -> String {
    let labels = [
        ("medium", Some(run.name())),
        ("kind", Some(run.kind.name().to_owned())),
        ("origin", Some(Origin::of(run).name().to_owned())),
        ("label", run.label.clone()),
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

fn samples(measured: &MeasuredRun) -> Vec<Sample> {
    let (run, headline) = (&measured.run, findings::headline(&measured.record));
    let mut all = vec![info(measured)];
    if let Some(time) = Moment::read(measured.ended()) {
        let help = "When the run ended, in seconds since 1970.";
        all.push(gauge("run_timestamp_seconds", help, time.0.div_euclid(1_000_000_000) as f64));
    }
    let seconds = run.elapsed_ns as f64 / 1e9;
    all.push(gauge("run_duration_seconds", "Time that the run took.", seconds));
    if let Some(bytes) = run.capacity_bytes {
        let help = "Capacity that the medium says it has.";
        all.push(gauge("medium_capacity_bytes", help, bytes as f64));
    }
    let health = run.health.clone().unwrap_or_default();
    let used = health.used_percent.map(|used| used / 100.0);
    let [written, errors] =
        [health.written_bytes, health.media_errors].map(|it| it.map(|n| n as f64));
    let of_health = [
        ("medium_life_used_ratio", "Share of its rated life that it says is used.", used),
        ("medium_life_written_bytes", "Bytes that it says it was given in its life.", written),
        ("medium_media_errors", "Media errors that it says it had in its life.", errors),
    ];
    let known =
        of_health.into_iter().filter_map(|(name, help, value)| Some(gauge(name, help, value?)));
    all.extend(known);
    all.extend(findings(run));
    for fault in &headline.faults {
        let one = gauge("fault", "1 for each fault that the run found, by its finding.", 1.0);
        all.push(labelled(one, &[("finding", Some(fault))]));
    }
    all.extend(figures(&measured.record, &headline).flat_map(|(figure, value, ci95)| {
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

/// Figures of a run, each with its value and its 95 % interval in the unit of the figure.
fn figures<'a>(
    record: &'a Record,
    headline: &'a RunHeadline,
) -> impl Iterator<Item = (&'static Figure, f64, Option<[f64; 2]>)> {
    let known = Figures::of(record);
    headline.figures.iter().map(move |(&wanted, &value)| {
        let ci95 = known.get(wanted).and_then(|known| known.estimate.ci95);
        (wanted.entry(), value, ci95)
    })
}

fn info(MeasuredRun { name, run, .. }: &MeasuredRun) -> Sample {
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
fn findings(run: &Published) -> [Sample; 3] {
    [("failure", Severity::Failure), ("warning", Severity::Warning), ("info", Severity::Info)].map(
        |(name, severity)| {
            let count = run.findings.iter().filter(|it| it.severity == severity).count();
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
