//! Hosts and links of runs in words, and differences between hosts.

use std::collections::BTreeMap;

use record::collection::{CollectionRun, HeadlineFigure};
use record::text::printable;
use record::{Published, TargetKind};
use report::words;

use super::figures;

fn cleaned(text: &Option<String>) -> Option<String> {
    text.as_deref().map(printable).filter(|text| !text.is_empty())
}

/// The machine: its board or processor.
pub(crate) fn machine(run: &Published) -> String {
    let processor = || match (cleaned(&run.cpu), run.cpus) {
        (Some(cpu), Some(n)) if n > 1 => Some(format!("{cpu}, {n} processors")),
        (cpu, _) => cpu,
    };
    cleaned(&run.board)
        .or_else(processor)
        .or_else(|| cleaned(&run.arch))
        .unwrap_or_else(|| "not known".to_owned())
}

/// Link of the medium: "sd uhs SDR104, 4 bit, 200 MHz", "usb-storage, 480 Mbit/s, behind a reader".
pub(crate) fn link(run: &Published) -> String {
    let link = run.link.clone().unwrap_or_default();
    let mut parts: Vec<String> =
        [cleaned(&link.driver), cleaned(&link.mode)].into_iter().flatten().collect();
    if parts.is_empty() {
        parts.extend(cleaned(&run.interface));
    }
    if run.behind_reader == Some(true) {
        parts.push("behind a reader".to_owned());
    }
    parts.join(", ")
}

/// Properties of the I/O path that may affect the numbers: kernel, file system, scheduler,
/// governor, write cache.
pub(crate) fn way(run: &Published) -> String {
    let mut parts: Vec<String> =
        cleaned(&run.kernel).map(|kernel| format!("Linux {kernel}")).into_iter().collect();
    parts.extend(match (run.target, cleaned(&run.filesystem)) {
        (TargetKind::Block, _) => Some("the raw medium".to_owned()),
        (TargetKind::Directory | TargetKind::File, Some(fs)) => Some(format!("a file on {fs}")),
        (TargetKind::Directory | TargetKind::File, None) => None,
        (TargetKind::Simulated, _) => Some("virtual time".to_owned()),
    });
    parts.extend(
        run.queue
            .as_ref()
            .and_then(|queue| cleaned(&queue.scheduler))
            .map(|name| format!("scheduler {name}")),
    );
    parts.extend(cleaned(&run.governor).map(|name| format!("governor {name}")));
    parts.join(", ")
}

/// A host with the figures of its runs.
pub(crate) struct Host {
    pub name: String,
    pub link: String,
    pub runs: usize,
    /// Median over its runs.
    pub figures: BTreeMap<HeadlineFigure, f64>,
}

/// The runs by machine and link, those with most runs first.
pub(crate) fn hosts(entries: &[&CollectionRun]) -> Vec<Host> {
    let mut groups: BTreeMap<(String, String), Vec<&CollectionRun>> = BTreeMap::new();
    for entry in entries {
        groups.entry((machine(&entry.run), link(&entry.run))).or_default().push(entry);
    }
    let mut hosts: Vec<Host> = groups
        .into_iter()
        .map(|((name, link), of)| Host { name, link, runs: of.len(), figures: medians(&of) })
        .collect();
    hosts.sort_by_key(|host| std::cmp::Reverse(host.runs));
    hosts
}

fn medians(entries: &[&CollectionRun]) -> BTreeMap<HeadlineFigure, f64> {
    let median = |figure: HeadlineFigure| {
        let mut values: Vec<f64> = entries
            .iter()
            .filter_map(|entry| entry.headline.figures.get(&figure).copied())
            .filter(|value| value.is_finite())
            .collect();
        stats::median(&mut values)
    };
    HeadlineFigure::ALL.into_iter().filter_map(|figure| Some((figure, median(figure)?))).collect()
}

/// Differences between hosts of at least 25 %: "Random write 4 KiB: 210 IOPS on A, 91 IOPS on B,
/// 2.3 times as much."
pub(crate) fn effects(hosts: &[Host]) -> Vec<String> {
    let effect = |figure: HeadlineFigure| {
        let known = || {
            hosts.iter().filter_map(|host| {
                Some((host, *host.figures.get(&figure)?)).filter(|(_, value)| *value > 0.0)
            })
        };
        let (low, least) = known().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let (high, most) = known().max_by(|a, b| a.1.total_cmp(&b.1))?;
        (most >= 1.25 * least).then(|| {
            format!(
                "{}: {} on {}, {} on {}, {} times as much.",
                figures::head(figure),
                figures::with_unit(figure, most),
                called(high),
                figures::with_unit(figure, least),
                called(low),
                words::times(most / least)
            )
        })
    };
    HeadlineFigure::ALL.into_iter().filter_map(effect).collect()
}

fn called(host: &Host) -> String {
    if host.link.is_empty() { host.name.clone() } else { format!("{} ({})", host.name, host.link) }
}
