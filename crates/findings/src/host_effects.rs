//! Effects of host settings on reads of a medium, from `flashmark host-effects`.

use record::units::significant;
use record::{Cell, Finding, Flag, IoLimitKind, Record, metric, test};
use stats::LargerRate;

use crate::figure;
use crate::finding_builder::FindingBuilder;

/// Kinds of reads: form, name, metric.
const READS: [(&str, &str, &str); 2] = [
    ("sequential", "sequential reads", metric::BPS),
    ("random", "random reads of 4 KiB", metric::IOPS),
];
const RANDOM_BYTES: f64 = 4096.0;

/// One finding for each value that was tried; `None` for other records.
pub(crate) fn conclude(record: &Record) -> Option<Vec<Finding>> {
    let is_one = record.run.suite == test::HOST_EFFECTS
        || record.cells.iter().any(|cell| cell.test == test::HOST_EFFECTS);
    is_one.then(|| {
        let mut tried: Vec<(&str, &str, &str)> = Vec::new();
        for cell in record.cells_of(test::HOST_EFFECTS) {
            let key = (cell.label("setting"), cell.label("before"), cell.label("value"));
            if !tried.contains(&key) {
                tried.push(key);
            }
        }
        tried
            .into_iter()
            .map(|(setting, before, value)| of(record, setting, before, value))
            .collect()
    })
}

fn of(record: &Record, setting: &str, before: &str, value: &str) -> Finding {
    let (mut statements, mut evidence) = (Vec::new(), Vec::new());
    for (form, name, metric) in READS {
        let of_side = |side: &str| -> Vec<f64> {
            let is_it = |cell: &&Cell| {
                cell.params.form.as_deref() == Some(form)
                    && (cell.label("setting"), cell.label("value")) == (setting, value)
                    && cell.label("is") == side
            };
            let figure = |cell: &Cell| match metric {
                metric::IOPS => cell.metrics.iops.map(|of| of.value),
                _ => cell.metrics.bps.map(|of| of.value),
            };
            record.cells_of(test::HOST_EFFECTS).filter(is_it).filter_map(figure).collect()
        };
        let (as_is, changed) = (of_side(before), of_side(value));
        if as_is.is_empty() && changed.is_empty() {
            continue;
        }
        let is_held = |value: &f64| reaches_limit(record, metric, *value);
        statements.push(match as_is.iter().chain(&changed).all(is_held) {
            true => format!("{name} are held by the limit of the control group"),
            false => effect(name, &as_is, &changed),
        });
        for (side, figures) in [(before, &as_is), (value, &changed)] {
            let each: Vec<String> =
                figures.iter().map(|figure| figure::quantity(metric, *figure)).collect();
            evidence.push(format!("{name}, {setting} {side}: {}", each.join(", ")));
        }
    }
    let statement = format!(
        "{} instead of {}: {}.",
        words(setting, value),
        worded(setting, before),
        statements.join("; ")
    );
    FindingBuilder::info("host-effects", statement).notes(evidence).done()
}

/// Share of a limit from which on it limits a rate: in short windows the kernel lets bursts
/// through.
const HELD: f64 = 0.8;

/// True if a read limit of the control group limits a figure.
fn reaches_limit(record: &Record, metric: &str, value: f64) -> bool {
    record.flags.iter().any(|flag| {
        let Flag::IoLimit { limit, per_second } = flag else { return false };
        let figure = match (limit, metric) {
            (IoLimitKind::ReadBps, metric::BPS) | (IoLimitKind::ReadIops, metric::IOPS) => value,
            (IoLimitKind::ReadBps, metric::IOPS) => value * RANDOM_BYTES,
            _ => return false,
        };
        figure >= *per_second as f64 * HELD && figure <= *per_second as f64 / HELD
    })
}

/// "sequential reads are 1.80x faster (1.60x to 2.00x)".
fn effect(name: &str, as_is: &[f64], changed: &[f64]) -> String {
    let Some(found) = stats::compare(changed, as_is) else {
        return format!("the effect on {name} cannot be told, too few were measured");
    };
    let (ratio, low, high) = (found.ratio, found.ci95.low, found.ci95.high);
    let [ratio, low, high, slower, least, most] =
        [ratio, low, high, 1.0 / ratio, 1.0 / high, 1.0 / low].map(significant);
    match found.judgement {
        LargerRate::Larger => format!("{name} are {ratio}x faster ({low}x to {high}x)"),
        LargerRate::Smaller => format!("{name} are {slower}x slower ({least}x to {most}x)"),
        _ => format!("no effect on {name} is told ({low}x to {high}x)"),
    }
}

/// "Scheduler bfq", "Read-ahead 4096 KiB".
fn words(setting: &str, value: &str) -> String {
    let name = match setting {
        "scheduler" => "Scheduler",
        "read_ahead_kb" => "Read-ahead",
        "max_sectors_kb" => "Largest command",
        "governor" => "Frequency governor",
        "rbps" | "riops" => "Limit of the control group on reads:",
        other => other,
    };
    format!("{name} {}", worded(setting, value))
}

fn worded(setting: &str, value: &str) -> String {
    match (setting, value.parse()) {
        ("rbps", Ok(per_second)) => IoLimitKind::ReadBps.quantity(per_second),
        ("riops", Ok(per_second)) => IoLimitKind::ReadIops.quantity(per_second),
        ("rbps" | "riops", Err(_)) => "none".to_owned(),
        _ if setting.ends_with("_kb") => format!("{value} KiB"),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_reported_with_its_interval_if_there_is_one() {
        let [slower, unclear] =
            [[50.0, 51.0], [40.0, 190.0]].map(|changed| effect("reads", &[100.0, 101.0], &changed));
        assert!(slower.starts_with("reads are 1.99x slower (1."), "{slower}");
        assert!(unclear.starts_with("no effect on reads is told ("), "{unclear}");
        assert!(effect("reads", &[1.0], &[2.0]).contains("cannot be told"));
        let limit = format!("{} instead of {}", words("rbps", "max"), worded("rbps", "2000000"));
        assert_eq!(limit, "Limit of the control group on reads: none instead of 2.00 MB/s");
    }
}
