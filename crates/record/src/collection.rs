//! What a collection of published runs consists of, as the crates hand it to each other: `findings`
//! draws a headline from a run, `store` keeps and finds, `report` makes pages, `site` serves them.
//! Plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{MediumKind, Published};

pub use media::{Media, MediumApart, MediumFigure, MediumRun};

pub use crate::figures::{FIGURES, Figure, FigureUnit, HeadlineFigure, ReferenceMark};

mod media;
mod naming;

/// What one run says of its medium in a line: only sound figures, each of the cell that stands for
/// it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Headline"))]
#[serde(default)]
pub struct RunHeadline {
    /// Figures; one that was not measured, or not soundly, is absent.
    pub figures: BTreeMap<HeadlineFigure, f64>,
    /// The verdict in a sentence.
    pub verdict: Option<String>,
    /// What is wrong with it, by the ids of the findings (`capacity-fake`, `span-cache`, ...).
    pub faults: Vec<String>,
    /// The levels of the uses that it was judged for, a word each: `root-disk=good`,
    /// `video=usable-100` with the rate in Mbit/s.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// Whether less is there than it says: it is left out of the figures of its model.
    pub is_fake: bool,
}

impl RunHeadline {
    /// Its faults and levels, with a space between them: what it says of the medium beside figures.
    pub fn claims(&self) -> String {
        let claims: Vec<&str> =
            self.faults.iter().chain(&self.levels).map(String::as_str).collect();
        claims.join(" ")
    }
}

/// Stands where nobody knows when a run came in: before all that do. RFC 3339.
pub const NO_TIME: &str = "1970-01-01T00:00:00Z";

/// By which the runs of one model of a medium belong together: capacity as labelled, words without
/// case and odd spaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    /// What kind of thing it is: SD card, USB stick, SSD.
    pub kind: MediumKind,
    /// "sandisk", or nothing where nobody knows.
    pub vendor: String,
    /// "sd32g"; what the run's label says where the medium does not tell.
    pub model: String,
    /// Whole GB (10^9) as a maker would print it: 31 914 983 424 bytes are 32 GB.
    pub capacity_gb: u64,
}

/// Where a figure comes from.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Every origin; `named` looks through them.
    pub const ALL: [Origin; 4] =
        [Origin::Measured, Origin::Imported, Origin::Reference, Origin::Simulated];

    /// Its name in JSON, addresses and downloads.
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

/// What became of a submission.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Status"))]
#[serde(rename_all = "kebab-case")]
pub enum SubmissionStatus {
    /// Part of the collection: it is shown, and counts in the figures.
    #[default]
    Accepted,
    /// Waits for a person: doubtful.
    Quarantined,
    /// Refused by a person.
    Rejected,
    /// Taken back by who sent it, or replaced by a later revision.
    Withdrawn,
}

impl SubmissionStatus {
    /// Every status; `named` looks through them.
    pub const ALL: [SubmissionStatus; 4] = [
        SubmissionStatus::Accepted,
        SubmissionStatus::Quarantined,
        SubmissionStatus::Rejected,
        SubmissionStatus::Withdrawn,
    ];

    /// Its name in JSON, addresses and downloads.
    pub const fn name(self) -> &'static str {
        match self {
            SubmissionStatus::Accepted => "accepted",
            SubmissionStatus::Quarantined => "quarantined",
            SubmissionStatus::Rejected => "rejected",
            SubmissionStatus::Withdrawn => "withdrawn",
        }
    }

    /// The status of that name.
    pub fn named(name: &str) -> Option<SubmissionStatus> {
        SubmissionStatus::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// One run of a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Entry"))]
pub struct CollectionRun {
    /// Name of the run in every collection, made of its content: lower-case letters, digits and
    /// hyphens.
    pub id: String,
    /// Its name on the machine that measured it, where it was read there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_name: Option<String>,
    /// RFC 3339, when it came in.
    pub received: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Accepted, waiting for a moderator, refused or withdrawn.
    #[serde(alias = "standing")] // as it was called first
    pub status: SubmissionStatus,
    /// 1, and one more with each replacement.
    pub revision: u32,
    /// Which model it is of.
    pub model: Model,
    /// Its figures, verdict and faults in short.
    pub headline: RunHeadline,
    /// The published part of its record.
    pub run: Published,
}

/// The middle of several units or hosts, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Spread"))]
pub struct HostSpread {
    /// The median over senders that agree, or over hosts where senders are not told apart; each of
    /// these by the median of its runs.
    pub median: f64,
    /// The lowest value of any run; of any sender, where these are told apart.
    pub low: f64,
    /// The highest value of any run; of any sender, where these are told apart.
    pub high: f64,
    /// Number of runs that have the figure.
    pub runs: u64,
    /// Number of hosts; each run of an unknown host counts as one more.
    pub hosts: u64,
    /// Senders that agree on it; 0 where senders are not told apart.
    #[serde(default)]
    pub senders: u64,
}

/// Senders that have to agree before a figure is ranked.
pub const CONFIRMING_SENDERS: u64 = 3;

impl HostSpread {
    /// Whether enough senders agree, or none are told apart.
    pub fn is_confirmed(&self) -> bool {
        self.senders == 0 || self.senders >= CONFIRMING_SENDERS
    }
}

/// Senders that agree with each other on figures of a model, and with nobody else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Apart {
    /// How many they are.
    pub senders: u64,
    /// Their runs.
    pub runs: u64,
    /// How the medium was attached to all of their hosts, where no host of the others had it so.
    pub interface: Option<String>,
    /// Their figures.
    pub figures: BTreeMap<HeadlineFigure, HostSpread>,
}

impl Apart {
    /// Why they may differ, in words.
    pub fn reason(&self) -> String {
        self.interface.as_ref().map_or_else(
            || "another revision of the medium, or a fake under its name".to_owned(),
            |interface| format!("other hosts: {interface}"),
        )
    }
}

/// One line of the table: a model of a medium, with what all of its runs say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Line"))]
pub struct CollectionLine {
    /// Name in addresses: lower-case letters, digits and hyphens, unique in a collection.
    pub slug: String,
    /// What it is called: "SanDisk SD32G 32 GB".
    pub name: String,
    /// Other names of the product, in small letters, by which a search finds it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub other_names: String,
    /// Kind, vendor, model and capacity, by which its runs belong together.
    pub model: Model,
    /// Where its figures come from. Two origins of one model are two lines: they are never mixed.
    pub origin: Origin,
    /// `usb 2.0`, `sd uhs-i`, `sata`, as most of its senders say.
    pub interface: Option<String>,
    /// The claimed classes in a few words: "C10 U1 A1".
    pub classes: Vec<String>,
    /// Runs behind it.
    pub runs: u64,
    /// Senders that had a fake of this model, or runs of fakes where senders are not told apart. A
    /// line for them alone has `is_fake`.
    pub fakes: u64,
    /// Whether this line is that of the fakes of a model.
    pub is_fake: bool,
    /// Figures over the runs.
    pub figures: BTreeMap<HeadlineFigure, HostSpread>,
    /// The verdict of the run that lies nearest to the figures, of those that name no fault but what
    /// most senders name.
    pub verdict: Option<String>,
    /// Senders that agree with each other and not with these figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<Apart>,
    /// RFC 3339, when the latest run came in.
    pub latest: String,
}

/// What to order lines by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
    /// The first figure, which decides most.
    fn default() -> SortBy {
        SortBy::Figure(HeadlineFigure::ALL[0])
    }
}

/// Which lines to show. Everything is optional; what is given holds together (and).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Query {
    /// Words that the name contains, in any order, without regard to case.
    pub words: String,
    /// Only these kinds of media; nothing: all kinds.
    pub kinds: Vec<MediumKind>,
    /// Only these origins; nothing: measured, imported and reference, but no simulated media.
    pub origins: Vec<Origin>,
    /// At least, in GB.
    pub capacity_from_gb: Option<u64>,
    /// At most, in GB.
    pub capacity_to_gb: Option<u64>,
    /// A claimed class the line must have: "A1".
    pub class: Option<String>,
    /// Words of the interface: "usb".
    pub interface: Option<String>,
    /// A threshold of one's own: the median is at least this good.
    pub at_least: Vec<(HeadlineFigure, f64)>,
    /// Whether fakes are shown (apart, as their own lines). `None`: both.
    pub fakes: Option<bool>,
    /// Order; the first figure, best first, where nothing is said.
    pub sort: Option<SortBy>,
    /// The other way round.
    pub reversed: bool,
    /// Lines a page, 50 where nothing is said, at most 500.
    pub per_page: Option<u32>,
    /// Which page, from 0.
    pub page: u32,
    /// Columns to show instead of the usual ones: names, families, or "all"
    /// ([`crate::chosen_columns`]). They choose no lines.
    pub columns: Vec<String>,
}

/// A page of lines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// The lines of this page, in the order that was asked for.
    pub lines: Vec<CollectionLine>,
    /// How many fit the query.
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
        for status in SubmissionStatus::ALL {
            assert_eq!(SubmissionStatus::named(status.name()), Some(status));
        }
        assert_eq!((Origin::named("none"), SubmissionStatus::named("none")), (None, None));
    }
}
