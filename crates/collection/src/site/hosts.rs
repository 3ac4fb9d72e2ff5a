//! Hosts and links of runs in words.

use record::collection::{CollectionRun, Origin};
use record::text::printable;
use record::{Published, TargetKind};

use crate::lines::known_link;

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
pub(crate) fn link(entry: &CollectionRun) -> String {
    let run = &entry.run;
    let link = run.link.clone().unwrap_or_default();
    let mut parts: Vec<String> =
        [cleaned(&link.driver), cleaned(&link.mode)].into_iter().flatten().collect();
    if parts.is_empty() {
        parts.extend(match entry.origin {
            Origin::Reference => cleaned(&run.interface),
            _ => known_link(run),
        });
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
