//! Verdicts with reasons: the level of a medium for a use, by the figures that the use needs.

pub(crate) mod benchmark_bias;
pub(crate) mod classes;
pub(crate) mod commits;
pub(crate) mod conditions;
mod database;
pub(crate) mod findings;
pub(crate) mod limits;
pub(crate) mod logger;
pub(crate) mod need;
mod recording;
mod root_disk;
pub(crate) mod use_names;

use record::units::{Bytes, Nanos, quantity};
use record::{Condition, Evidence, Finding, Fitness, Record, Use, metric, test};

use self::need::{NeedLevel, OpenVerdict, UseVerdict};
use crate::conclusions::speed::flush::Flush;
use crate::figures::figure::{self, size};
use crate::figures::written_share::{self, Share};
use crate::figures::{Figures, genuineness, usability};
use crate::phrases::{FEW_SAMPLES, FLUSH_LIES, HOST_CACHED, RANDOM_WRITES};

/// The verdict on a use; `None` if its needs were not measured, or the figures are not the
/// medium's.
pub(crate) fn verdict_on(record: &Record, wanted: Use) -> Option<UseVerdict> {
    if withheld(record).is_some() {
        return None;
    }
    let verdict = match wanted {
        Use::RootDisk => root_disk::verdict(record),
        Use::Camera => recording::camera(record),
        Use::Video { mbit } => recording::video(record, mbit),
        Use::Logger => logger::verdict(record),
        Use::Database => database::verdict(record),
    };
    verdict.map(|verdict| within(record, verdict))
}

/// Reason why nothing can be said of any use.
pub(crate) fn withheld(record: &Record) -> Option<&'static str> {
    let open = || {
        genuineness::is_damage_open(record)
            .then_some("its probe lost data or failed, which was not tried twice")
    };
    usability::is_host_cached(record).then_some(HOST_CACHED).or_else(open)
}

/// The verdict with what was written, where it praises and not all of the medium was.
fn within(record: &Record, mut verdict: UseVerdict) -> UseVerdict {
    let Share::Part(bytes) = written_share::of(record, verdict.wanted) else { return verdict };
    verdict.evidence.push(format!("these writes went to {} of the medium", Bytes(bytes)).into());
    verdict.within_bytes = (verdict.level >= Fitness::Usable).then_some(bytes);
    verdict
}

/// Level of a medium for a use, with the deciding figure.
pub(crate) struct UseFigure {
    pub level: Fitness,
    /// True if it is reached on a small part of the medium only.
    pub is_narrow: bool,
    /// Sort key: larger is better.
    pub key: f64,
    /// Ends of its 95 % interval, in the unit of the key.
    pub ends: Option<[f64; 2]>,
    /// The figure as text.
    pub text: String,
    /// Caveat of the level.
    pub caveat: Option<String>,
}

/// The deciding figure of a use, for ranking media.
pub(crate) fn use_figure(record: &Record, wanted: Use) -> Option<UseFigure> {
    let verdict = verdict_on(record, wanted)?;
    let caveats: Vec<String> = few_samples(verdict.confidence)
        .into_iter()
        .chain(verdict.condition.map(|it| it.to_string()))
        .collect();
    let is_narrow =
        matches!(verdict.condition, Some(Condition::SmallFiles | Condition::SmallFilesFlushHonest));
    let of = |key: f64, ends: Option<[f64; 2]>, text: String| UseFigure {
        level: verdict.level,
        is_narrow,
        key,
        ends,
        text,
        caveat: (!caveats.is_empty()).then(|| caveats.join("; ")),
    };
    let figure = match wanted {
        Use::RootDisk => Figures::of(record).small_writes().into_iter().next()?,
        Use::Database => {
            let commits = commits::of(record)?;
            return Some(of(commits.figure.value, commits.figure.ci95, commits.reason));
        }
        Use::Camera | Use::Video { .. } => figure::sustained_write(record)?,
        Use::Logger => {
            let third = logger::lines(record)?.lasting()?;
            let text = format!("third slowest line: {}", Nanos(third.ns));
            return Some(of(-(third.ns as f64), None, text));
        }
    };
    let what = match wanted {
        Use::Camera | Use::Video { .. } => "sequential writes".to_owned(),
        _ => format!("{RANDOM_WRITES} of {}", size(figure.cell.params.block_bytes.unwrap_or(0))),
    };
    Some(of(figure.value, figure.ci95, format!("{what}: {}", figure.with_interval())))
}

/// The verdicts on these uses; uses without one are left out.
pub(crate) fn verdicts(record: &Record, uses: &[Use]) -> Vec<UseVerdict> {
    uses.iter().filter_map(|wanted| verdict_on(record, *wanted)).collect()
}

/// Verdicts on these uses; on all judged ones if empty.
pub(crate) fn judged(record: &Record, wanted: &[Use]) -> Vec<UseVerdict> {
    if wanted.is_empty() { verdicts(record, &all(record)) } else { verdicts(record, wanted) }
}

/// All judged uses: video at the fastest suitable recording rate.
pub(crate) fn all(record: &Record) -> [Use; 5] {
    let mbit = recording::usual_video(record);
    [Use::RootDisk, Use::Camera, Use::Video { mbit }, Use::Logger, Use::Database]
}

impl UseVerdict {
    /// True if it is decided: it has no condition that no run can test, and few samples do not
    /// leave it at the border between suitable and not suitable.
    pub(crate) fn is_decided(&self) -> bool {
        let is_at_border = matches!(self.level, Fitness::Poor | Fitness::Usable);
        self.condition.is_none() && (is_sure(self) || !is_at_border)
    }
}

/// True if a figure is certain enough for a statement without a note.
pub(crate) fn is_sure(verdict: &UseVerdict) -> bool {
    few_samples(verdict.confidence).is_none()
}

/// Note on a level that rests on few samples: "few samples, 59 % sure"; `None` from 95 % on.
pub(crate) fn few_samples(confidence: Option<f64>) -> Option<String> {
    Some(format!("{FEW_SAMPLES}, {} % sure", sure_percent(confidence)?))
}

/// How sure a level is, in percent; `None` from 95 % on.
pub(crate) fn sure_percent(confidence: Option<f64>) -> Option<u32> {
    confidence.filter(|share| *share < 0.95).map(|share| (100.0 * share) as u32)
}

/// A use without a verdict in this record.
pub(crate) fn open_verdict(record: &Record, wanted: Use) -> OpenVerdict {
    if wanted == Use::Database && withheld(record).is_none() {
        return commits::untested(record);
    }
    let (level, why) = why_untested(record, wanted);
    OpenVerdict::new(level, format!("{why}."))
}

/// Level (not tested, or cannot be told) and reason if nothing can be said about a use.
pub(crate) fn why_untested(record: &Record, wanted: Use) -> (Fitness, String) {
    if let Some(why) = withheld(record) {
        return (Fitness::CannotTell, why.to_owned());
    }
    if let Some(why) = usability::of_run(record) {
        return (Fitness::CannotTell, why.to_string());
    }
    let has = |test: &str| record.cells_of(test).next().is_some();
    let (level, why) = match wanted {
        Use::Database if has(test::COMMIT) || commits::of(record).is_some() => {
            (Fitness::CannotTell, "its commits gave no figure that is certain enough")
        }
        Use::Database => (Fitness::NotTested, "commits were not measured"),
        Use::RootDisk if has(test::RANDOM_WRITE) => (
            Fitness::CannotTell,
            "random writes of 4 and 16 KiB gave no figure that is certain enough",
        ),
        Use::RootDisk => (Fitness::NotTested, "random writes of 4 KiB were not measured"),
        Use::Camera | Use::Video { .. } if has(test::SEQUENTIAL_WRITE) => {
            (Fitness::CannotTell, "sequential writes gave no figure that is certain enough")
        }
        Use::Camera | Use::Video { .. } => {
            (Fitness::NotTested, "sequential writes were not measured")
        }
        Use::Logger if logger::has_lines(record) => (
            Fitness::CannotTell,
            "too few lines were written, or the host stood still while they were written",
        ),
        Use::Logger => (Fitness::NotTested, "no lines were appended (log-append)"),
    };
    (level, why.to_owned())
}

/// Need for an honest flush: data that must survive a power cut depends on it. Data is lost only in
/// a power cut, so the level is poor, not unsuitable.
fn safety_need(record: &Record) -> Option<NeedLevel> {
    let Flush::Lies(durable, fastest) = Flush::of(record) else { return None };
    let reason =
        format!("{FLUSH_LIES}, so data that it reports as safe can be lost in a power cut");
    let evidence = vec![
        Evidence::from(&durable),
        Evidence::from(format!(
            "its write rate is at most {} (docs/field/cheats.md#cheats-and-caches)",
            quantity(metric::BPS, fastest)
        )),
    ];
    Some(NeedLevel { level: Fitness::Poor, reason, evidence, confidence: None })
}

/// True if a finding is part of the verdict, which a reader wants to know first.
pub fn is_verdict(finding: &Finding) -> bool {
    finding.id == "verdict" || finding.id.starts_with("verdict-")
}
