//! Effects of the host instead of the medium: limits of the link, settings that changed the
//! numbers, impossible numbers (docs/field/peers.md#wishes).

pub(crate) mod cpu;
pub(crate) mod not_of_a_medium;

use record::units::{BytesPerSecond, KIB, Nanos, significant};
use record::{Cell, Evidence, Finding, Flag, Record, metric, test};

use crate::figures::figure::{self, Ratio, UsableEstimate};
use crate::figures::usability;
use crate::finding_builder::FindingBuilder;

/// The findings `impossible`, `host` and `usb-split`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    [impossible(record), host(record), usb_split(record)].into_iter().flatten().collect()
}

/// Finding on numbers that are not the medium's.
fn impossible(record: &Record) -> Option<Finding> {
    let flagged = |cell: &Cell| {
        cell.flags
            .iter()
            .find(|flag| flag.is_impossible())
            .map(|flag| Evidence::on(cell, flag.to_string()))
    };
    let lines: Vec<Evidence> = record.cells.iter().filter_map(flagged).collect();
    let of_run: Vec<String> =
        record.flags.iter().filter(|flag| flag.is_impossible()).map(ToString::to_string).collect();
    if lines.is_empty() && of_run.is_empty() {
        return None;
    }
    let statement = match of_run.first() {
        Some(flag) => format!("The numbers of this run are not those of a medium: {flag}."),
        None => format!(
            "{} of {} results are impossible for this medium. Something else answered; they are not used.",
            lines.len(),
            record.cells.len()
        ),
    };
    Some(FindingBuilder::warning("impossible", statement).notes(of_run).notes(lines).done())
}

/// Share of the link's rate from which on reads are limited by the link.
const LINK_BOUND: f64 = 0.85;

/// Cells with host stalls so long that they are not used against the medium.
fn stalled_cells(record: &Record) -> Vec<&Cell> {
    record.cells.iter().filter(|cell| usability::host_stalled(cell).is_some()).collect()
}

/// Share of the time in which tasks wait for a CPU, from which on the I/O path may be among them;
/// our choice.
const PRESSED: f64 = 0.5;

/// The longest cell with too much CPU waiting, with the share.
fn most_pressed(record: &Record) -> Option<(&Cell, f64)> {
    let cell = record
        .cells
        .iter()
        .filter(|cell| cell.host_state.is_some())
        .max_by_key(|cell| cell.elapsed_ns)?;
    let looked_ns = cell.activity.last()?.at_ns.saturating_sub(cell.activity.first()?.at_ns);
    let lasted_ns = looked_ns.max(cell.elapsed_ns).max(1);
    let share = cell.host_state.as_ref()?.cpu_pressure_us? as f64 * 1e3 / lasted_ns as f64;
    (share > PRESSED).then_some((cell, share))
}

/// Note on a cell that was measured twice, about the host during the other attempt.
fn measured_twice(cell: &Cell) -> Option<Evidence> {
    let ns = cell.host_state.as_ref()?.other_time_host_stall_ns?;
    let text = format!("measured twice; the other time the host stood still for {}", Nanos(ns));
    Some(Evidence::on(cell, text))
}

/// Finding on limits of the host.
fn host(record: &Record) -> Option<Finding> {
    let mut limits: Vec<String> = Vec::new();
    let mut evidence: Vec<Evidence> = Vec::new();
    let link = record.target.link.clone().unwrap_or_default();
    let mode = link.mode.clone().unwrap_or_default();
    if let Some((figure, max_bps)) = figure::sequential(record, test::SEQUENTIAL_READ)
        .zip(link.max_bps.filter(|max| max.is_finite() && *max > 0.0))
        && figure.value >= LINK_BOUND * max_bps
    {
        limits.push(format!(
            "reads reach the limit of the link ({}), so the medium may be faster",
            BytesPerSecond(max_bps)
        ));
        evidence.push(Evidence::from(&figure));
    }
    let classes = record.medium.classes.clone().unwrap_or_default();
    let uhs = classes.uhs_grade.is_some_and(|grade| grade > 0)
        || classes.video_class.is_some_and(|class| class > 10);
    if uhs && ["high-speed", "legacy"].iter().any(|slow| mode.contains(slow)) {
        limits.push("a UHS card runs in a mode for older cards, at 25 MB/s or less, because of slot, wiring or driver".into());
    }
    if mode.starts_with("480 ") || mode.starts_with("12 ") {
        limits.push(
            "the medium is attached by USB 2 or slower, which reaches 30 to 42 MB/s at best".into(),
        );
    }
    if classes.app_class == Some(2) && link.command_queue != Some(true) {
        limits.push("an A2 card runs without its command queue, and is no faster than A1".into());
    }
    if record.medium.behind_reader == Some(true) {
        limits.push("the card is behind a reader, which adds 0.5 to 0.8 ms to each access".into());
    }
    let queue = record.target.queue.clone().unwrap_or_default();
    if queue.wbt_lat_usec.is_some_and(|usec| usec > 0)
        && record.cells.iter().any(|cell| {
            usability::of_cell(cell).is_none()
                && cell.params.path == record::Path::Buffered
                && crate::figures::figure::writes(cell)
        })
    {
        limits.push("writeback throttling is on and slows buffered writes".into());
    }
    if let Some(host) = &record.host {
        if host.governor.as_deref() == Some("powersave") && host.arch.as_deref() != Some("x86_64") {
            limits
                .push("the processor is held at its lowest frequency (governor powersave)".into());
        }
        if host.throttled.as_deref().is_some_and(|flags| !["", "0x0", "0"].contains(&flags)) {
            limits.push("the board throttled itself for heat or low voltage".into());
        }
    }
    let of_run = |wanted: fn(&Flag) -> bool| {
        record
            .flags
            .iter()
            .chain(record.cells.iter().flat_map(|cell| &cell.flags))
            .find(|flag| wanted(flag))
    };
    limits.extend(of_run(|flag| matches!(flag, Flag::BusyHost { .. })).map(ToString::to_string));
    limits.extend(of_run(|flag| matches!(flag, Flag::HostCached)).map(ToString::to_string));
    limits.extend(
        record
            .flags
            .iter()
            .filter(|flag| matches!(flag, Flag::IoLimit { .. }))
            .map(ToString::to_string),
    );
    if usability::is_host_cached(record) {
        limits.push("tricks of the controller look the same, so none is claimed".into());
    }
    let still = stalled_cells(record);
    if !still.is_empty() {
        limits.push(format!(
            "the host stood still during {} of {} cells, from which no trick and no stall is concluded",
            still.len(),
            record.cells.len()
        ));
        evidence.extend(still.iter().map(|cell| {
            let percent = significant(100.0 * cell.host_stall_share());
            Evidence::on(cell, format!("the host stood still for {percent} % of it"))
        }));
    }
    let twice: Vec<Evidence> = record.cells.iter().filter_map(measured_twice).collect();
    if !twice.is_empty() {
        limits.push(format!(
            "the host stood still, so {} of {} cells were measured twice, and the quieter result counts",
            twice.len(),
            record.cells.len()
        ));
        evidence.extend(twice);
    }
    if let Some((cell, share)) = most_pressed(record) {
        let percent = significant((100.0 * share).min(100.0));
        limits.push(format!(
            "the processors were busy: tasks waited for one {percent} % of the time"
        ));
        let text = format!("some task waited for a processor {percent} % of the time");
        evidence.push(Evidence::on(cell, text));
    }
    if limits.is_empty() {
        return None;
    }
    evidence.extend(link.driver.map(|driver| format!("driver {driver}").into()));
    evidence.extend((!mode.is_empty()).then(|| format!("link: {mode}").into()));
    evidence.extend(queue.scheduler.map(|scheduler| format!("scheduler {scheduler}").into()));
    let statement = format!("The host may have limited the result: {}.", limits.join("; "));
    Some(
        FindingBuilder::warning("host", statement)
            .notes(evidence)
            .note("docs/field/classes.md#minimum-rates, docs/field/linux-io.md#usb, docs/field/identity.md#host-facts")
            .done(),
    )
}

/// Ratio below which a rate at the next block size is a dip.
const DIP: f64 = 0.75;

/// `usb-split` or `medium-dip`: writes or reads of 128 KiB are slower than those of 64 KiB. If 120
/// KiB, the largest command of most USB drivers, is fast, the split is the cause: the remaining 8
/// KiB are a command of their own. If the limit is known, it is used instead.
fn usb_split(record: &Record) -> Option<Finding> {
    [test::SEQUENTIAL_WRITE, test::SEQUENTIAL_READ].into_iter().find_map(|test| {
        let at = |kib: u64| UsableEstimate::of(figure::usable_standard_cell(record, test, kib * KIB)?, metric::BPS);
        let (whole, dip) = (at(64)?, at(128)?);
        let ratio = Ratio::of(&whole, &dip);
        if !ratio.is_above(1.0 / DIP) {
            return None;
        }
        let limit_kib = record.target.queue.as_ref().and_then(|queue| queue.max_sectors_kb);
        let fits = at(120);
        let splits = limit_kib.is_some_and(|limit| limit < 128 && 128 % limit != 0);
        let blame = match &fits {
            Some(fits) => fits.value >= 0.9 * whole.value,
            None => splits,
        };
        let doing = if test == test::SEQUENTIAL_WRITE { "Writes" } else { "Reads" };
        let lost = significant((1.0 - dip.value / whole.value) * 100.0);
        let draft = if blame {
            let limit = limit_kib.filter(|limit| *limit < 128).unwrap_or(120);
            FindingBuilder::info("usb-split", format!("{doing} of 128 KiB are {lost} % slower than of 64 KiB because the driver splits them into {limit} KiB and a rest. The medium is not the cause: blocks of {limit} KiB, or of 1 MiB and more, avoid it."))
        } else {
            FindingBuilder::info("medium-dip", format!("{doing} of 128 KiB are {lost} % slower than of 64 KiB. No split of commands explains it: the medium is the cause."))
        };
        Some(draft.figures([&whole, &dip]).figures(fits.as_ref()).note(&ratio).note("docs/field/linux-io.md#usb").with_confidence(ratio.above(1.0 / DIP)).done())
    })
}

#[cfg(test)]
mod tests;
