//! What the medium is good for, with reasons: one finding for each use, and one that sums them up in a sentence.
//!
//! A use has needs; each need holds a figure against three thresholds. The weakest need decides, and it is the reason given.

use record::units::{GIB, KIB, MIB, Nanos, SECOND_NS};
use record::{Direction, Finding, Record, Severity};

use crate::draft::Draft;
use crate::figure::{self, Figure, quantity, size};
use crate::{Use, lasting, stalls, tricks};

/// How well a medium does what is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Unusable,
    Poor,
    Fair,
    Good,
}

impl Level {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Level::Unusable => "unusable",
            Level::Poor => "poor",
            Level::Fair => "usable",
            Level::Good => "good",
        }
    }
}

/// Random writes of a 5400 rpm laptop disk: the yardstick (flash.md E3).
pub(crate) const DISK_IOPS: f64 = 90.0;
/// Random writes that class A1 promises (flash.md D1).
const A1_WRITES: f64 = 500.0;
/// Single writes that one commit costs SQLite with a rollback journal: journal, its header, the page, and the journal's end
/// (sqlite.org/atomiccommit.html).
const WRITES_PER_COMMIT: f64 = 4.0;

/// A figure against the least it takes to be poor, usable and good; what is below the first is unusable.
struct Need {
    level: Level,
    /// Why, as in "it does 1.06 random writes of 4 KiB a second, a laptop disk does 90".
    reason: String,
    evidence: Vec<String>,
    confidence: Option<f64>,
}

/// The verdict on one use.
pub(crate) struct Verdict {
    pub wanted: Use,
    pub level: Level,
    reason: String,
    evidence: Vec<String>,
    confidence: Option<f64>,
    /// What it takes to be sure and was not measured.
    untested: Vec<&'static str>,
}

impl Need {
    /// The more the better.
    fn at_least(figure: &Figure, [poor, fair, good]: [f64; 3], reason: String, source: &str) -> Need {
        let level = match figure.value {
            value if value >= good => Level::Good,
            value if value >= fair => Level::Fair,
            value if value >= poor => Level::Poor,
            _ => Level::Unusable,
        };
        let (from, to) = match level {
            Level::Good => (Some(good), None),
            Level::Fair => (Some(fair), Some(good)),
            Level::Poor => (Some(poor), Some(fair)),
            Level::Unusable => (None, Some(poor)),
        };
        let share = |threshold: Option<f64>, missing: f64| threshold.map_or(Some(missing), |t| figure.above(t));
        let confidence = figure.ci95.and_then(|_| Some(share(from, 1.0)? - share(to, 0.0)?));
        let asked = format!(
            "poor from {}, usable from {}, good from {} ({source})",
            quantity(figure.name, poor),
            quantity(figure.name, fair),
            quantity(figure.name, good)
        );
        Need { level, reason, evidence: vec![figure.to_string(), asked], confidence }
    }

    /// The longest single write: the less the better.
    /// Without a limit for the poor, however long it is makes nothing unusable.
    fn at_most(stall: &stalls::Worst, good_ns: u64, fair_ns: u64, poor_ns: Option<u64>, reason: String, source: &str) -> Need {
        let level = match stall.ns {
            ns if ns <= good_ns => Level::Good,
            ns if ns <= fair_ns => Level::Fair,
            ns if poor_ns.is_none_or(|poor_ns| ns <= poor_ns) => Level::Poor,
            _ => Level::Unusable,
        };
        let poor = poor_ns.map(|ns| format!(", poor up to {}", Nanos(ns))).unwrap_or_else(|| ", beyond it poor".into());
        let asked = format!("good up to {}, usable up to {}{poor} ({source})", Nanos(good_ns), Nanos(fair_ns));
        Need { level, reason, evidence: vec![stall.to_string(), asked], confidence: None }
    }
}

/// The verdict from these needs: the weakest decides. `None` where nothing that a use needs was measured.
fn weigh(wanted: Use, needs: Vec<Need>, untested: Vec<&'static str>) -> Option<Verdict> {
    let level = needs.iter().map(|need| need.level).min()?;
    let evidence = needs.iter().flat_map(|need| need.evidence.clone()).fold(Vec::new(), |mut all: Vec<String>, line| {
        if !all.contains(&line) {
            all.push(line);
        }
        all
    });
    let weakest = needs.into_iter().find(|need| need.level == level)?;
    Some(Verdict { wanted, level, reason: weakest.reason, evidence, confidence: weakest.confidence, untested })
}

/// Random writes at a size as a need of a system.
fn writes_need(record: &Record, block_bytes: u64) -> Option<Need> {
    let figure = figure::random_write(record, block_bytes)?;
    let reason = format!("{} random writes of {} a second, a laptop disk does 90", plain(figure.value), size(block_bytes));
    let source = "a tenth of a laptop disk, a laptop disk, class A1; flash.md E3, D1";
    Some(Need::at_least(&figure, [DISK_IOPS / 10.0, DISK_IOPS, A1_WRITES], reason, source))
}

fn plain(value: f64) -> String {
    record::units::significant(value)
}

/// What holds data that must survive a power cut needs a flush that waits for flash. Data is lost only then: poor, not unusable.
fn safety_need(record: &Record) -> Option<Need> {
    let (durable, fastest) = tricks::lying_flush(record)?;
    let reason = "its flush does not wait for flash, and what it says is safe may be lost when the power goes".to_owned();
    let evidence = vec![durable.to_string(), format!("it writes {} at most (flash.md C2)", quantity("bps", fastest))];
    Some(Need { level: Level::Poor, reason, evidence, confidence: None })
}

fn root_disk(record: &Record) -> Option<Verdict> {
    // The weaker first, so that it is the one that is named: media exist with 261 IOPS at 4 KiB and 4 at 16 KiB (flash.md E2).
    let mut needs: Vec<(f64, Need)> = [4 * KIB, 16 * KIB]
        .into_iter()
        .filter_map(|block| Some((figure::random_write(record, block)?.value, writes_need(record, block)?)))
        .collect();
    let untested = if needs.len() < 2 { vec!["random writes of both 4 KiB and 16 KiB"] } else { vec![] };
    // Of equals the small writes are named: everyone knows the figure.
    needs.sort_by(|a, b| (a.0 * 2.0 < b.0).cmp(&(b.0 * 2.0 < a.0)).reverse());
    let mut needs: Vec<Need> = needs.into_iter().map(|(_, need)| need).collect();
    if needs.is_empty() {
        return None;
    }
    needs.extend(safety_need(record));
    if let Some(stall) = stalls::worst(record, 64 * KIB) {
        let reason = format!("a single small write took {} ({}); the system stands still that long", Nanos(stall.ns), stall.cell.test);
        // A stall alone makes a system disk a nuisance, not unusable.
        let need =
            Need::at_most(&stall, SECOND_NS, 5 * SECOND_NS, None, reason, "one second is noticed, five are taken for a crash; our choice");
        needs.push(need);
    }
    weigh(Use::RootDisk, needs, untested)
}

fn camera(record: &Record) -> Option<Verdict> {
    let figure = figure::sustained_write(record)?;
    let reason = format!("it writes {} in sequence", figure.text());
    let needs = vec![Need::at_least(&figure, [2e6, 4e6, 10e6], reason, "classes C2, C4, C10; flash.md D1")];
    weigh(Use::Camera, needs, vec![])
}

fn video(record: &Record, mbit: u32) -> Option<Verdict> {
    let figure = figure::sustained_write(record)?;
    let need_bps = f64::from(mbit) * 125e3;
    let reason = format!("it writes {} in sequence, the recording is {}", figure.text(), quantity("bps", need_bps));
    // What only just keeps up has no reserve for the file system: a quarter more is good.
    let mut needs =
        vec![Need::at_least(&figure, [need_bps * 0.999, need_bps, need_bps * 1.25], reason, "the recording's rate, and a quarter more")];
    if let Some((from, slowest)) = slowest_stretch(record).filter(|(_, slowest)| *slowest < need_bps && needs[0].level > Level::Unusable) {
        let reason = format!("there are stretches of {} only, the recording is {}", quantity("bps", slowest), quantity("bps", need_bps));
        needs.push(Need { level: Level::Poor, reason, evidence: vec![from], confidence: None });
    }
    let stall = stalls::worst_of(record, |cell| cell.test == "sequential-write" || cell.test == "sustained", MIB);
    match &stall {
        Some(stall) => {
            let held = need_bps * stall.ns as f64 / 1e9;
            let reason =
                format!("a single write took {}; the camera would have to hold {} meanwhile", Nanos(stall.ns), quantity("_bytes", held));
            needs.push(Need::at_most(
                stall,
                SECOND_NS,
                2 * SECOND_NS,
                Some(10 * SECOND_NS),
                reason,
                "a camera buffers a second or two; our choice",
            ));
        }
        None => return weigh(Use::Video { mbit }, needs, vec!["how long a single large write can take"]),
    }
    weigh(Use::Video { mbit }, needs, vec![])
}

/// A camera holds back what it films for so long; a stretch that is slower for longer loses frames. In seconds; our choice.
const CAMERA_BUFFER_S: f64 = 2.0;

/// The slowest stretch of at least two seconds of any long sequential write with its cell, in bytes a second.
fn slowest_stretch(record: &Record) -> Option<(String, f64)> {
    let long = ["sustained", "random-fill", "prime"].iter().flat_map(|test| figure::cells(record, test));
    let curves = long.flat_map(|cell| cell.series.iter().map(move |series| (cell, series)));
    let along =
        curves.filter(|(_, series)| series.y == record::Axis::Bps && matches!(series.x, record::Axis::Bytes | record::Axis::OffsetBytes));
    let slowest = along.filter_map(|(cell, series)| {
        let rate = slowest_of(&series.points)?;
        Some((format!("{}: slowest stretch of '{}' {}", cell.id, series.name, quantity("bps", rate)), rate))
    });
    slowest.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The slowest stretch of at least two seconds in points (bytes so far, bytes a second since the point before).
fn slowest_of(points: &[[f64; 2]]) -> Option<f64> {
    let step = |pair: &[[f64; 2]]| {
        let (bytes, bps) = (pair[1][0] - pair[0][0], pair[1][1]);
        (bytes > 0.0 && bps > 0.0 && bytes.is_finite() && bps.is_finite()).then(|| (bytes, bytes / bps))
    };
    let steps: Vec<(f64, f64)> = points.windows(2).filter_map(step).collect();
    let (mut from, mut bytes, mut seconds, mut slowest) = (0, 0.0, 0.0, None::<f64>);
    for (to, (step_bytes, step_seconds)) in steps.iter().enumerate() {
        (bytes, seconds) = (bytes + step_bytes, seconds + step_seconds);
        while from < to && seconds - steps[from].1 >= CAMERA_BUFFER_S {
            (bytes, seconds) = (bytes - steps[from].0, seconds - steps[from].1);
            from += 1;
        }
        if seconds >= CAMERA_BUFFER_S {
            slowest = Some(slowest.map_or(bytes / seconds, |least| least.min(bytes / seconds)));
        }
    }
    slowest
}

fn logger(record: &Record) -> Option<Verdict> {
    let stall = stalls::worst_in(record, &stalls::LOGGING, 64 * KIB)?;
    let reason = format!("a single small write took {} ({}); records must be held in memory that long", Nanos(stall.ns), stall.cell.test);
    let source = "the busy limits of the SD specification, 250 and 500 ms, and one second";
    let mut need = Need::at_most(&stall, SECOND_NS / 4, SECOND_NS / 2, Some(SECOND_NS), reason, source);
    need.evidence.push(stalls::looked_at(record, &stalls::LOGGING));
    weigh(Use::Logger, vec![need], vec![])
}

fn database(record: &Record) -> Option<Verdict> {
    let figure = figure::random_write(record, 4 * KIB)?;
    let commits = figure.value / WRITES_PER_COMMIT;
    let reason = format!(
        "about {} commits a second, at {} random writes of 4 KiB for {WRITES_PER_COMMIT} a commit",
        plain(commits),
        plain(figure.value)
    );
    let source = "a tenth of a laptop disk, a laptop disk, class A1; flash.md E3, D1";
    let mut needs = vec![Need::at_least(&figure, [DISK_IOPS / 10.0, DISK_IOPS, A1_WRITES], reason, source)];
    needs.extend(safety_need(record));
    needs.extend(stalls::worst_in(record, &stalls::COMMITTING, 64 * KIB).map(|stall| {
        let reason = format!("a single small write took {} ({}), and a commit waits for it", Nanos(stall.ns), stall.cell.test);
        Need::at_most(&stall, SECOND_NS, 5 * SECOND_NS, None, reason, "five seconds are a usual time-out for a locked database; our choice")
    }));
    let flushed = ["flush-cost", "record-ops"].iter().any(|test| figure::cells(record, test).next().is_some());
    weigh(Use::Database, needs, if flushed { vec![] } else { vec!["flushing after each write"] })
}

fn verdict_on(record: &Record, wanted: Use) -> Option<Verdict> {
    match wanted {
        Use::RootDisk => root_disk(record),
        Use::Camera => camera(record),
        Use::Video { mbit } => video(record, mbit),
        Use::Logger => logger(record),
        Use::Database => database(record),
    }
}

/// What a medium comes to for a use, the figure that decides as a number that is the better the larger, and as text.
pub(crate) fn standing(record: &Record, wanted: Use) -> Option<(Level, f64, String)> {
    let level = verdict_on(record, wanted)?.level;
    let figure = match wanted {
        Use::RootDisk => [4 * KIB, 16 * KIB]
            .into_iter()
            .filter_map(|block| figure::random_write(record, block))
            .min_by(|a, b| a.value.total_cmp(&b.value))?,
        Use::Database => figure::random_write(record, 4 * KIB)?,
        Use::Camera | Use::Video { .. } => figure::sustained_write(record)?,
        Use::Logger => {
            let worst = stalls::worst_in(record, &stalls::LOGGING, 64 * KIB)?;
            return Some((level, -(worst.ns as f64), format!("slowest small write {}", Nanos(worst.ns))));
        }
    };
    let what = match wanted {
        Use::Camera | Use::Video { .. } => "written in sequence".to_owned(),
        _ => format!("random writes of {}", size(figure.cell.params.block_bytes.unwrap_or(0))),
    };
    Some((level, figure.value, format!("{} {what}", figure.text())))
}

/// The verdicts on these uses; one that cannot be given is left out.
pub(crate) fn verdicts(record: &Record, uses: &[Use]) -> Vec<Verdict> {
    uses.iter().filter_map(|wanted| verdict_on(record, *wanted)).collect()
}

/// The usual recording rates, in Mbit/s: standard definition, HD, action cameras, 4K, and the video speed classes.
const USUAL_VIDEO: [u32; 8] = [8, 17, 28, 50, 100, 200, 400, 720];

/// The fastest usual recording it is good for, or else usable for, or else the slowest one.
fn usual_video(record: &Record) -> u32 {
    let fastest =
        |level: Level| USUAL_VIDEO.into_iter().rev().find(|mbit| video(record, *mbit).is_some_and(|verdict| verdict.level >= level));
    fastest(Level::Good).or_else(|| fastest(Level::Fair)).unwrap_or(USUAL_VIDEO[0])
}

/// All verdicts: the summary first, then each use. Where something is wrong with the medium itself (`faults`: it is a fake, it loses data, it
/// fails), that is the verdict, and no speed is spoken of.
pub(crate) fn conclude(record: &Record, wanted: &[Use], faults: &[&Finding]) -> Vec<Finding> {
    if let Some(fault) = faults.first() {
        let others = faults.iter().skip(1).map(|fault| fault.statement.clone());
        return vec![
            Draft::failure("verdict", format!("Do not use it. {}", fault.statement))
                .notes(fault.evidence.iter().cloned())
                .notes(others)
                .surely(fault.confidence)
                .done(),
        ];
    }
    let all = [Use::RootDisk, Use::Camera, Use::Video { mbit: usual_video(record) }, Use::Logger, Use::Database];
    let uses: Vec<Use> = if wanted.is_empty() { all.to_vec() } else { wanted.to_vec() };
    let verdicts = verdicts(record, &uses);
    let lasts = lasting::untested(record);
    let mut findings: Vec<Finding> = summary(&verdicts, !wanted.is_empty(), lasts).into_iter().collect();
    findings.extend(verdicts.iter().map(|verdict| finding(verdict, !wanted.is_empty())));
    let given = |wanted: &Use| verdicts.iter().any(|verdict| verdict.wanted == *wanted);
    findings.extend(wanted.iter().filter(|wanted| !given(wanted)).map(untested));
    findings
}

/// The verdict where nothing but what the medium keeps was looked at: that it passed.
pub(crate) fn of_checks(findings: &[Finding]) -> Option<Finding> {
    let passed: Vec<&Finding> = findings
        .iter()
        .filter(|finding| ["capacity", "verify"].contains(&finding.id.as_str()) && finding.severity == Severity::Info)
        .collect();
    let said = passed.iter().map(|finding| finding.statement.as_str()).collect::<Vec<_>>().join(" ");
    let evidence = passed.iter().flat_map(|finding| finding.evidence.iter().cloned());
    (!passed.is_empty()).then(|| Draft::info("verdict", said).notes(evidence).done())
}

/// Whether a figure is certain enough to be said flatly.
fn is_sure(verdict: &Verdict) -> bool {
    verdict.confidence.is_none_or(|share| share >= 0.95)
}

/// What was asked for and cannot be said.
fn untested(wanted: &Use) -> Finding {
    let why = match wanted {
        Use::RootDisk | Use::Database => "random writes of 4 KiB were not measured",
        Use::Camera | Use::Video { .. } => "sequential writes were not measured",
        Use::Logger => "no small writes were measured",
    };
    Draft::info(id(*wanted), format!("Whether it is good as {wanted} cannot be said: {why}.")).done()
}

pub(crate) fn id(wanted: Use) -> &'static str {
    match wanted {
        Use::RootDisk => "verdict-root-disk",
        Use::Camera => "verdict-camera",
        Use::Video { .. } => "verdict-video",
        Use::Logger => "verdict-logger",
        Use::Database => "verdict-database",
    }
}

fn finding(verdict: &Verdict, asked: bool) -> Finding {
    let Verdict { wanted, level, reason, evidence, confidence, untested } = verdict;
    let severity = match level {
        Level::Unusable if asked && is_sure(verdict) => Severity::Failure,
        Level::Unusable | Level::Poor => Severity::Warning,
        Level::Fair | Level::Good => Severity::Info,
    };
    let word = capitalised(level.word());
    let doubt = if is_sure(verdict) { "" } else { ", as far as the few samples tell" };
    let open = if untested.is_empty() { String::new() } else { format!(" Not tested: {}.", untested.join(", ")) };
    Draft::new(id(*wanted), severity, format!("{word} as {wanted}{doubt}: {reason}.{open}"))
        .notes(evidence.iter().cloned())
        .surely(*confidence)
        .done()
}

/// One sentence: what it is unfit for and why, what it is good for. With `asked`, only about what was asked for, and loud if it is unfit.
fn summary(verdicts: &[Verdict], asked: bool, lasts: Option<&str>) -> Option<Finding> {
    let worst = verdicts.iter().min_by_key(|verdict| verdict.level)?;
    let names = |level: Level| {
        let mut names: Vec<String> =
            verdicts.iter().filter(|verdict| verdict.level == level).map(|verdict| verdict.wanted.to_string()).collect();
        let last = names.pop()?;
        Some(if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) })
    };
    let mut parts = Vec::new();
    for level in [Level::Unusable, Level::Poor, Level::Fair, Level::Good] {
        let Some(uses) = names(level) else { continue };
        let because = if level == worst.level { format!(": {}", worst.reason) } else { String::new() };
        parts.push(capitalised(&format!("{} as {uses}{because}.", level.word())));
    }
    // Praise rests on figures that may not last; blame does not.
    let praised = verdicts.iter().any(|verdict| verdict.level >= Level::Fair);
    parts.extend(lasts.filter(|_| praised).map(str::to_owned));
    let severity = if worst.level <= Level::Poor { Severity::Warning } else { Severity::Info };
    let severity = if asked && worst.level == Level::Unusable && is_sure(worst) { Severity::Failure } else { severity };
    Some(Draft::new("verdict", severity, parts.join(" ")).notes(worst.evidence.iter().cloned()).surely(worst.confidence).done())
}

/// The first letter large.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The largest capacity of an SDHC card; larger ones are SDXC, with longer busy limits.
pub(crate) const SDHC_BYTES: u64 = 32 * GIB;

/// Whether a cell writes.
pub(crate) fn writes(cell: &record::Cell) -> bool {
    cell.params.direction == Some(Direction::Write)
}
