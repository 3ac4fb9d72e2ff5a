//! Plain data types of a collection of published runs, shared by the crates: `findings` draws a
//! headline from a run, `collection` makes lines of runs, `report` makes pages of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{MediumKind, Published};

pub use crate::figures::{FIGURES, Figure, FigureUnit, HeadlineFigure, ReferenceMark};

mod naming;

/// Headline of one run for the line of its medium: only sound figures, each from its representative
/// cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunHeadline {
    /// Figures; one that was not measured, or is not sound, is absent.
    pub figures: BTreeMap<HeadlineFigure, f64>,
    /// The verdict in a sentence.
    pub verdict: Option<String>,
    /// Faults of the medium, by the ids of the findings (`capacity-fake`, `span-cache`, ...).
    pub faults: Vec<String>,
    /// The levels of the uses that it was judged for, a word each: `root-disk=good`,
    /// `video=usable-100` with the rate in Mbit/s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// True if its real capacity is smaller than the claimed one: its figures do not count for its
    /// model.
    pub is_fake: bool,
}

impl RunHeadline {
    /// Faults and levels, separated by spaces.
    pub fn claims(&self) -> String {
        let claims: Vec<&str> =
            self.faults.iter().chain(&self.levels).map(String::as_str).collect();
        claims.join(" ")
    }
}

/// Time of a run whose receipt is unknown, earlier than any other. RFC 3339.
pub const NO_TIME: &str = "1970-01-01T00:00:00Z";

/// Key by which runs of one model of a medium are grouped: capacity as labelled, words without case
/// and odd spaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Model {
    /// Kind of medium: SD card, USB stick, SSD.
    pub kind: MediumKind,
    /// Vendor, such as "sandisk"; empty if unknown.
    pub vendor: String,
    /// Model, such as "sd32g"; the run's label if the medium does not report one.
    pub model: String,
    /// Whole GB (10^9) as a maker would print it: 31 914 983 424 bytes are 32 GB.
    pub capacity_gb: u64,
}

/// Origin of a figure.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Measured by Flashmark on a real medium.
    #[default]
    Measured,
    /// Imported from the output of another tool.
    Imported,
    /// Published by others; the built-in reference collection.
    Reference,
    /// Measured on a simulated medium, in virtual time.
    Simulated,
}

impl Origin {
    /// Every origin, for `named`.
    pub const ALL: [Origin; 4] =
        [Origin::Measured, Origin::Imported, Origin::Reference, Origin::Simulated];

    /// Name in JSON, addresses and downloads.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Measured => "measured",
            Origin::Imported => "imported",
            Origin::Reference => "reference",
            Origin::Simulated => "simulated",
        }
    }

    /// The origin of that name.
    pub fn named(name: &str) -> Option<Origin> {
        Origin::ALL.into_iter().find(|origin| origin.name() == name)
    }
}

/// One run of a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectionRun {
    /// Name of the run in every collection, made of its content: lower-case letters, digits and
    /// hyphens.
    pub id: String,
    /// Name on the machine that measured it, if it was read there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_name: Option<String>,
    /// Time at which it was received, in RFC 3339.
    pub received: String,
    /// Origin of its figures.
    pub origin: Origin,
    /// Model of its medium.
    pub model: Model,
    /// Summary of its figures, verdict and faults.
    pub headline: RunHeadline,
    /// The published part of its record.
    pub run: Published,
}

/// Median of several units or hosts, and their range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostSpread {
    /// Median over senders that agree, or over hosts if senders are not distinguished; each of
    /// these counts with the median of its runs.
    pub median: f64,
    /// Lowest value of any run; of any sender if these are distinguished.
    pub low: f64,
    /// Highest value of any run; of any sender if these are distinguished.
    pub high: f64,
    /// Number of runs that have the figure.
    pub runs: u64,
    /// Number of hosts; each run of an unknown host counts as one more.
    pub hosts: u64,
    /// Number of senders that agree on it; 0 if senders are not distinguished.
    #[serde(default)]
    pub senders: u64,
}

/// Number of senders that must agree before a figure is ranked.
pub const CONFIRMING_SENDERS: u64 = 3;

impl HostSpread {
    /// True if enough senders agree, or senders are not distinguished.
    pub fn is_confirmed(&self) -> bool {
        self.senders == 0 || self.senders >= CONFIRMING_SENDERS
    }
}

/// Senders that agree with each other on figures of a model, and with nobody else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Apart {
    /// Number of these senders.
    pub senders: u64,
    /// Number of their runs.
    pub runs: u64,
    /// Interface of the medium on all of their hosts, if no other host had it.
    pub interface: Option<String>,
    /// Their figures.
    pub figures: BTreeMap<HeadlineFigure, HostSpread>,
}

impl Apart {
    /// Possible reason why they differ, in words.
    pub fn reason(&self) -> String {
        self.interface.as_ref().map_or_else(
            || "another revision of the medium, or a fake under its name".to_owned(),
            |interface| format!("other hosts: {interface}"),
        )
    }
}

/// One line of the table: a model of a medium, with figures over all of its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectionLine {
    /// Name in addresses: lower-case letters, digits and hyphens, unique in a collection.
    pub slug: String,
    /// Name for people: "SanDisk SD32G 32 GB".
    pub name: String,
    /// Other names of the product, in small letters, by which a search finds it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub other_names: String,
    /// Kind, vendor, model and capacity, by which its runs are grouped.
    pub model: Model,
    /// Origin of its figures. Two origins of one model are two lines: they are never mixed.
    pub origin: Origin,
    /// Interface that most of its senders report: `usb 2.0`, `sd uhs-i`, `sata`.
    pub interface: Option<String>,
    /// The claimed classes in a few words: "C10 U1 A1".
    pub classes: Vec<String>,
    /// Number of its runs.
    pub runs: u64,
    /// Number of senders that had a fake of this model, or of runs of fakes if senders are not
    /// distinguished. A line for them alone has `is_fake`.
    pub fakes: u64,
    /// True if this is the line of the fakes of a model.
    pub is_fake: bool,
    /// Figures over the runs.
    pub figures: BTreeMap<HeadlineFigure, HostSpread>,
    /// Verdict of the run that is nearest to the figures, among those whose faults are all named by
    /// most senders.
    pub verdict: Option<String>,
    /// Senders that agree with each other and not with these figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<Apart>,
    /// Time at which the latest run was received, in RFC 3339.
    pub latest: String,
}

/// Order of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// The median of a figure; lines without it come last, either way round.
    Figure(HeadlineFigure),
    /// By the name of the line, from A to Z.
    Name,
    /// By labelled capacity, the smallest first.
    Capacity,
    /// By number of runs.
    Runs,
    /// By the latest run.
    Latest,
}

impl Default for SortBy {
    /// The first figure: the most decisive one.
    fn default() -> SortBy {
        SortBy::Figure(HeadlineFigure::ALL[0])
    }
}

/// The lines of a page, and their order. All given conditions apply together (and).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Kinds of media; empty: all kinds.
    pub kinds: Vec<MediumKind>,
    /// Origins; empty: measured, imported and reference, but no simulated media.
    pub origins: Vec<Origin>,
    /// True: only fakes (in lines of their own), false: none. `None`: both.
    pub fakes: Option<bool>,
    /// Order; by default the first figure, best first.
    pub sort: Option<SortBy>,
    /// Number of the page, from 0.
    pub page: u32,
}

/// A page of lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The lines of this page, in the order that was asked for.
    pub lines: Vec<CollectionLine>,
    /// Number of lines that fit the query.
    pub total: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_and_statuses_are_known_by_their_names() {
        for origin in Origin::ALL {
            assert_eq!(Origin::named(origin.name()), Some(origin));
        }
        assert_eq!(Origin::named("none"), None);
    }
}
