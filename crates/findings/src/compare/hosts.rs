//! Differences between hosts and runs of several media that could explain a difference between
//! these (docs/field/identity.md#host-facts).

use std::collections::BTreeSet;

use record::units::{Bytes, KIB};
use record::{Link, Queue, Record};

use super::groups::RunGroup;

/// A fact of a record that may influence its numbers.
pub(super) struct Fact {
    /// As a sentence names it: "the scheduler".
    pub name: &'static str,
    /// Value of the fact in a run.
    pub of: fn(&Record) -> Option<String>,
    /// Short value for the head of a column.
    pub short: fn(&Record) -> Option<String>,
}

const fn fact(name: &'static str, of: fn(&Record) -> Option<String>) -> Fact {
    Fact { name, of, short: of }
}

fn link(record: &Record) -> Option<&Link> {
    record.target.link.as_ref()
}

fn queue(record: &Record) -> Option<&Queue> {
    record.target.queue.as_ref()
}

/// Facts of the host and of the path to the medium, the most distinctive first.
pub(super) const CONDITIONS: [Fact; 14] = [
    Fact { short: reader_id, ..fact("the reader", reader) },
    fact("the board", |record| record.host.as_ref()?.board.clone()),
    Fact {
        short: |record| Some(format!("kernel {}", kernel_version(record)?)),
        ..fact("the kernel", |record| record.host.as_ref()?.kernel.clone())
    },
    fact("the driver", |record| link(record)?.driver.clone()),
    fact("the link to the medium", |record| link(record)?.mode.clone()),
    fact("the scheduler", |record| queue(record)?.scheduler.clone()),
    Fact {
        short: |record| Some(format!("{} ahead", kib(queue(record)?.read_ahead_kb?))),
        ..fact("the read-ahead", |record| Some(kib(queue(record)?.read_ahead_kb?)))
    },
    Fact {
        short: |record| Some(format!("{} at most", kib(queue(record)?.max_sectors_kb?))),
        ..fact("the largest command", |record| Some(kib(queue(record)?.max_sectors_kb?)))
    },
    fact("the frequency governor", |record| record.host.as_ref()?.governor.clone()),
    Fact {
        short: |record| Some(format!("queue {}", on_or_off(link(record)?.command_queue?))),
        ..fact("the command queue", |record| Some(on_or_off(link(record)?.command_queue?)))
    },
    fact("the processor", |record| record.host.as_ref()?.cpu.clone()),
    fact("virtualisation", |record| record.host.as_ref()?.virtualised.clone()),
    fact("the file system", |record| record.target.filesystem.as_ref()?.kind.clone()),
    fact("the engine", |record| record.target.engine.clone()),
];

/// Facts of the procedure.
const PROCEDURES: [Fact; 4] = [
    fact("the kind of target", |record| Some(format!("{:?}", record.target.kind).to_lowercase())),
    fact("the suite", |record| Some(record.run.suite.clone()).filter(|name| !name.is_empty())),
    fact("the program", |record| {
        Some(record.run.software.name.clone()).filter(|name| !name.is_empty())
    }),
    fact("the version of the program", |record| {
        Some(record.run.software.version.clone()).filter(|version| !version.is_empty())
    }),
];

/// Reader of the card by name and id, or "no reader".
fn reader(record: &Record) -> Option<String> {
    if !record.medium.behind_reader? {
        return Some("no reader".to_owned());
    }
    let link = link(record);
    let name = link.and_then(|link| link.usb_name.clone()).filter(|name| !name.trim().is_empty());
    let id = link.and_then(|link| link.usb_id.clone());
    Some(match (name, id) {
        (Some(name), Some(id)) => format!("{} ({id})", name.trim()),
        (Some(name), None) => name.trim().to_owned(),
        (None, Some(id)) => id,
        (None, None) => "a reader".to_owned(),
    })
}

fn reader_id(record: &Record) -> Option<String> {
    let is_behind = record.medium.behind_reader?;
    link(record)
        .and_then(|link| link.usb_id.clone())
        .filter(|_| is_behind)
        .or_else(|| reader(record))
}

/// "6.12.74" of "6.12.74+deb13-arm64".
fn kernel_version(record: &Record) -> Option<String> {
    let release = record.host.as_ref()?.kernel.as_ref()?;
    Some(release.split(['-', '+']).next().unwrap_or(release).to_owned())
}

fn kib(kib: u64) -> String {
    Bytes(kib.saturating_mul(KIB)).to_string()
}

fn on_or_off(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.to_owned()
}

/// All facts.
pub(super) fn facts() -> impl Iterator<Item = &'static Fact> + Clone {
    CONDITIONS.iter().chain(&PROCEDURES)
}

/// Values of a fact in the runs of a group; several if they differ.
pub(super) fn values(group: &RunGroup, fact: fn(&Record) -> Option<String>) -> Vec<String> {
    let value_text = |record: &&Record| fact(record).unwrap_or_else(|| "not known".into());
    let values: BTreeSet<String> = group.records.iter().map(value_text).collect();
    values.into_iter().collect()
}

/// "scheduler bfq"; "no reader" needs no name before it.
pub(super) fn named(fact: &Fact, value: &str) -> String {
    let what = fact.name.trim_start_matches("the ");
    if value.ends_with(what) { value.to_owned() } else { format!("{what} {value}") }
}

/// A sentence for each fact that differs between records, with its value for each medium. Facts
/// that are part of the media's names are left out.
pub(super) fn differences(groups: &[RunGroup]) -> Vec<String> {
    facts().filter_map(|fact| difference(groups, fact)).collect()
}

fn difference(groups: &[RunGroup], fact: &Fact) -> Option<String> {
    let all: Vec<(String, Vec<String>)> =
        groups.iter().map(|group| (group.name.clone(), values(group, fact.of))).collect();
    let first = all.first()?.1.clone();
    let differs = all.iter().any(|(_, values)| values.len() > 1 || *values != first);
    let is_in_name = |(name, values): &(String, Vec<String>)| match &values[..] {
        [value] => *name == named(fact, value),
        _ => false,
    };
    if all.iter().all(is_in_name) {
        return None;
    }
    let values_text = all
        .iter()
        .map(|(medium, values)| format!("{medium}: {}", values.join(" and ")))
        .collect::<Vec<_>>()
        .join("; ");
    differs.then(|| format!("{} differs ({values_text})", fact.name))
}
