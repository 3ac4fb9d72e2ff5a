//! Factor named by the user: hosts, readers, kernels, schedulers or settings with which media were
//! measured.

use std::collections::{BTreeMap, BTreeSet};

use record::units::Bytes;
use record::{Params, Record, Region};
use serde::Serialize;

use super::hosts::{CONDITIONS, named};
use super::others::STOP_RULES;
use super::{WORK, block_sizes};
use crate::figures::figure;

/// Factor whose levels are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedBy {
    /// The host: its board, or else its processor.
    Host,
    /// The card reader or USB bridge.
    Reader,
    /// The release of the kernel.
    Kernel,
    /// The I/O scheduler of the queue.
    Scheduler,
    /// Settings of the tests.
    Setting,
}

impl ComparedBy {
    /// "the reader".
    pub fn words(self) -> &'static str {
        match self {
            ComparedBy::Host => "the host",
            ComparedBy::Reader => "the reader",
            ComparedBy::Kernel => "the kernel",
            ComparedBy::Scheduler => "the scheduler",
            ComparedBy::Setting => "the setting",
        }
    }

    /// True for facts that are part of this factor or may follow from it: they need not be equal at
    /// its levels.
    pub(super) fn brings(self, fact: &str) -> bool {
        let host = ["the board", "the processor", "virtualisation"].contains(&fact);
        let kernel = ["the kernel", "the frequency governor", "the engine"].contains(&fact);
        let queue = [
            "the driver",
            "the link to the medium",
            "the scheduler",
            "the read-ahead",
            "the largest command",
            "the command queue",
        ];
        let queue = queue.contains(&fact);
        fact == self.words()
            || fact == "the version of the program"
            || match self {
                ComparedBy::Host => host || kernel || queue,
                ComparedBy::Kernel => kernel || queue,
                ComparedBy::Reader => queue,
                ComparedBy::Scheduler | ComparedBy::Setting => false,
            }
    }

    /// Level of this factor in each run; `None` if the record does not have it.
    pub(super) fn levels(self, records: &[&Record]) -> Vec<Option<String>> {
        match self {
            ComparedBy::Setting => settings(records),
            _ => records.iter().map(|record| self.level(record)).collect(),
        }
    }

    fn level(self, record: &Record) -> Option<String> {
        let of = |name: &str| {
            let fact = CONDITIONS.iter().find(|fact| fact.name == name);
            fact.and_then(|fact| (fact.of)(record))
        };
        match self {
            ComparedBy::Host => of("the board").or_else(|| of("the processor")),
            ComparedBy::Reader => of("the reader").or_else(|| bridge(record)),
            _ => of(self.words()),
        }
    }

    /// Name with the level: "Kingston (kernel 6.1)".
    pub(super) fn named(self, level: &str) -> String {
        let fact = CONDITIONS.iter().find(|fact| fact.name == self.words());
        fact.map_or_else(|| level.to_owned(), |fact| named(fact, level))
    }
}

/// Name or id of a USB bridge, if the medium is not known to be removable.
fn bridge(record: &Record) -> Option<String> {
    let link = record.target.link.as_ref()?;
    link.usb_name.clone().or_else(|| link.usb_id.clone())
}

/// Settings by test and name.
type Settings = BTreeMap<(String, String), String>;

/// Settings that differ between the runs that have them: "queue_depth 4". A test that only one run
/// has is not a difference.
fn settings(records: &[&Record]) -> Vec<Option<String>> {
    let of_runs: Vec<Settings> = records.iter().map(|record| settings_of(record)).collect();
    let differs = |key: &&(String, String)| {
        let mut values = of_runs.iter().filter_map(|of| of.get(*key));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let differing: BTreeSet<&(String, String)> =
        of_runs.iter().flat_map(BTreeMap::keys).filter(differs).collect();
    let level = |of: &Settings| {
        let parts = differing.iter().filter_map(|key| Some(format!("{} {}", key.1, of.get(*key)?)));
        let parts: Vec<String> = parts.collect::<BTreeSet<_>>().into_iter().collect();
        let level_text = if parts.is_empty() { "the same".to_owned() } else { parts.join(", ") };
        (!of.is_empty()).then_some(level_text)
    };
    of_runs.iter().map(level).collect()
}

/// Settings of the standard cells, except those that identify the figure and those that only end a
/// cell.
fn settings_of(record: &Record) -> Settings {
    let of_test = |test: &'static str| {
        let sizes: BTreeSet<u64> = block_sizes(record, test).collect();
        sizes.into_iter().filter_map(move |size| {
            Some((
                format!("{test} {size}"),
                &figure::usable_standard_cell(record, test, size)?.params,
            ))
        })
    };
    let of_cell = |(cell, params): (String, &Params)| {
        named_settings(params).into_iter().map(move |(name, value)| ((cell.clone(), name), value))
    };
    WORK.iter().flat_map(|(test, _)| of_test(test)).flat_map(of_cell).collect()
}

fn named_settings(params: &Params) -> Vec<(String, String)> {
    fn value_text(value: &impl std::fmt::Debug) -> String {
        format!("{value:?}").to_lowercase()
    }
    let Params { queue_depth, threads, sync, path, other, .. } = params;
    // Offset and length of the middle follow from the size of the medium.
    let placed = |bytes: Option<u64>| bytes.filter(|_| params.region != Some(Region::Middle));
    let always = [
        ("queue depth", value_text(queue_depth)),
        ("threads", value_text(threads)),
        ("sync", value_text(sync)),
        ("path", value_text(path)),
    ];
    let where_known = [
        ("pattern", params.pattern.as_ref().map(value_text)),
        ("content", params.content.as_ref().map(value_text)),
        ("region", params.region.as_ref().map(value_text)),
        ("span", placed(params.span_bytes).map(|bytes| Bytes(bytes).to_string())),
        ("offset", placed(params.span_offset_bytes).map(|bytes| Bytes(bytes).to_string())),
        ("passes", params.passes.as_ref().map(value_text)),
        ("form", params.form.clone()),
    ];
    let other = other.iter().filter(|(name, _)| !STOP_RULES.contains(&name.as_str()));
    always
        .into_iter()
        .chain(where_known.into_iter().filter_map(|(name, value)| Some((name, value?))))
        .map(|(name, value)| (name.to_owned(), value))
        .chain(other.map(|(name, value)| (name.clone(), value.to_string())))
        .collect()
}
