//! Plain data types of a collection of published runs, shared by the crates: `findings` draws a
//! headline from a run, `collection` makes lines of runs, `report` makes pages of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{MediumKind, Published};

pub use crate::figures::{FIGURES, Figure, FigureUnit, HeadlineFigure, ReferenceMark};

mod spelling;

/// Headline of one run for the line of its medium: only sound figures, each from its representative
/// cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunHeadline {
    /// Figures; one that was not measured, or is not sound, is absent.
    pub figures: BTreeMap<HeadlineFigure, f64>,
    /// Those among them with too few I/Os or too little time to be evidence
    /// ([`Figure::is_evidence`]): they are shown, and have no vote.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub thin: BTreeSet<HeadlineFigure>,
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
    /// True if it is no fake and its verdict is not to use it.
    pub is_damaged: bool,
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

crate::named! {
/// Origin of a figure.
Origin {
    /// Measured by Flashmark on a real medium.
    #[default]
    Measured = "measured",
    /// Imported from the output of another tool.
    Imported = "imported",
    /// Published by others; the built-in reference collection.
    Reference = "reference",
    /// Measured on a simulated medium, in virtual time.
    Simulated = "simulated",
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
    /// Why it has no voice in the figures of its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncounted: Option<String>,
    /// Summary of its figures, verdict and faults.
    pub headline: RunHeadline,
    /// The published part of its record.
    pub run: Published,
}

/// What a figure of a line rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Enough senders agree, at least twice as many as do not; or senders are not distinguished.
    #[default]
    Confirmed,
    /// It was confirmed, and since then more than a third of the senders disagree.
    Disputed,
    /// Never confirmed: shown, and not ranked.
    Unconfirmed,
    /// One run with too few I/Os or too little time to be evidence.
    Thin,
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// A figure of several units or hosts, and its range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSpread {
    /// The value on which senders agree; median over hosts if senders are not distinguished. Each
    /// host counts with the median of its runs.
    pub median: f64,
    /// Lowest value of any run; of any sender that agrees if these are distinguished.
    pub low: f64,
    /// Highest value of any run; of any sender that agrees if these are distinguished.
    pub high: f64,
    /// Number of runs that have the figure.
    pub runs: u64,
    /// Number of hosts; each run of an unknown host counts as one more.
    pub hosts: u64,
    /// Number of senders that agree on it; 0 if senders are not distinguished.
    #[serde(default)]
    pub senders: u64,
    /// Number of senders that have another value over the same link.
    #[serde(default)]
    pub against: u64,
    /// What it rests on.
    #[serde(default)]
    pub standing: Standing,
}

/// Number of senders that must agree before a figure is ranked.
pub const CONFIRMING_SENDERS: u64 = 3;

impl HostSpread {
    /// True if it has a place among others.
    pub fn is_confirmed(&self) -> bool {
        matches!(self.standing, Standing::Confirmed | Standing::Disputed)
    }
}

/// Figures of a model over one link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkFigures {
    /// The link in words: `usb 2.0`. `None` for runs of which it is unknown.
    pub link: Option<String>,
    /// Number of senders with a run over it; of runs if senders are not distinguished.
    pub voices: u64,
    /// Their figures.
    pub figures: BTreeMap<HeadlineFigure, HostSpread>,
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
    /// Number of its senders; 0 if senders are not distinguished.
    pub senders: u64,
    /// Number of those (of its runs, if senders are not distinguished) who report a fake of it.
    pub fakes: u64,
    /// Number of those who report that theirs is damaged.
    pub damaged: u64,
    /// True if at least [`CONFIRMING_SENDERS`] report a fake, and twice as many as do not.
    pub is_fake: bool,
    /// The same for damage.
    pub is_damaged: bool,
    /// True if its name is in the register of names, or its runs are those of the publisher. A
    /// line without is not ranked.
    pub is_listed: bool,
    /// Figures over the runs, each over the link that has its rank.
    pub figures: BTreeMap<HeadlineFigure, HostSpread>,
    /// Figures by link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkFigures>,
    /// Verdict of one of its runs, which claims only what senders agree on.
    pub verdict: Option<String>,
    /// That run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// Time at which the latest run was received, in RFC 3339.
    pub latest: String,
}

impl CollectionLine {
    /// Place of a figure before its value counts, the best first: a measured figure with a rank,
    /// one without, one that somebody else measured, one of a name that is not listed. `None` if
    /// it has no such figure.
    pub fn tier(&self, figure: HeadlineFigure) -> Option<u8> {
        let spread = self.figures.get(&figure)?;
        let is_measured = matches!(self.origin, Origin::Measured | Origin::Simulated);
        Some(match (self.is_listed, is_measured, spread.is_confirmed()) {
            (true, true, true) => 0,
            (true, true, false) => 1,
            (true, false, true) => 2,
            (true, false, false) => 3,
            (false, ..) => 4,
        })
    }

    /// True if a figure has a place among others.
    pub fn is_ranked(&self, figure: HeadlineFigure) -> bool {
        matches!(self.tier(figure), Some(0 | 2))
    }

    /// Runs whose cells may stand for it on pages: where senders are distinguished only the one
    /// whose verdict it has, so that no other sender sets what is shown.
    pub fn believed<'a>(&self, runs: &'a [CollectionRun]) -> Vec<&'a CollectionRun> {
        let is_it = |run: &&CollectionRun| match self.senders {
            0 => run.uncounted.is_none(),
            _ => self.shown.as_ref() == Some(&run.id),
        };
        runs.iter().filter(is_it).filter(|run| run.headline.is_fake == self.is_fake).collect()
    }
}

/// The lines of a page. All given conditions apply together (and).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Kinds of media; empty: all kinds.
    pub kinds: Vec<MediumKind>,
    /// Origins; empty: measured, imported and reference, but no simulated media.
    pub origins: Vec<Origin>,
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
