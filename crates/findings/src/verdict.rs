//! Verdicts with reasons: one finding for each use, and one that sums them up in a sentence.

use record::classes::{A1_RANDOM, SPEED};
use record::figures::DISK_IOPS;
use record::text::capitalised;
use record::units::{KIB, MIB, Nanos, SECOND_NS};
use record::{
    Bound, Condition, Direction, Finding, Fitness, Outcome, Record, Severity, Use, VerdictSentence,
    metric, test,
};

use crate::caches::SpanContrast;
use crate::conditions::{self, listed, listed_with};
use crate::figure::{self, UsableEstimate, quantity, size, writes};
use crate::finding_builder::FindingBuilder;
use crate::flush::Flush;
use crate::need::{FigureLevel, OpenVerdict, UseVerdict, weakest_verdict};
use crate::phrases::{DO_NOT_USE, FEW_SAMPLES, FLUSH_LIES, HOST_CACHED, RANDOM_WRITES};
use crate::stalls::{self, EVENTS};
use crate::{Figures, commits, logger, usability};

/// Random write IOPS from which on a system disk is poor, usable and good.
const WRITES: [f64; 3] = [DISK_IOPS / 10.0, DISK_IOPS, A1_RANDOM[1]];
const WRITES_SOURCE: &str = "a tenth of a laptop disk, a laptop disk, class A1; docs/field/published-figures.md#other-figures, docs/field/classes.md#minimum-rates";

/// Need of a system for random writes at a block size.
fn writes_need(figure: &UsableEstimate) -> Option<FigureLevel> {
    let block = size(figure.cell.params.block_bytes?);
    let reason = format!(
        "{RANDOM_WRITES} of {block} reach {}; a laptop disk reaches 90",
        figure.with_interval()
    );
    FigureLevel::at_least(figure, WRITES, reason, WRITES_SOURCE)
}

/// Need for an honest flush: data that must survive a power cut depends on it. Data is lost only in
/// a power cut, so the level is poor, not unsuitable.
fn safety_need(record: &Record) -> Option<FigureLevel> {
    let Flush::Lies(durable, fastest) = Flush::of(record) else { return None };
    let reason =
        format!("{FLUSH_LIES}, so data that it reports as safe can be lost in a power cut");
    let evidence = vec![
        durable.to_string(),
        format!(
            "its write rate is at most {} (docs/field/cheats.md#cheats-and-caches)",
            quantity(metric::BPS, fastest)
        ),
    ];
    Some(FigureLevel { level: Fitness::Poor, reason, evidence, confidence: None })
}

fn root_disk(record: &Record) -> Option<UseVerdict> {
    let mut needs: Vec<FigureLevel> =
        Figures::of(record).small_writes().iter().filter_map(writes_need).collect();
    let untested =
        if needs.len() < 2 { vec!["random writes of both 4 KiB and 16 KiB"] } else { vec![] };
    if needs.is_empty() {
        return None;
    }
    needs.extend(safety_need(record));
    if let Some(stalls) = stalls::longest_small_writes(record) {
        let reason = |wording: &str, _: u64| format!("{wording}; the system freezes for that long");
        // A stall alone makes a system disk a nuisance, not unsuitable.
        let source = "people notice one second and take five for a crash; our choice";
        needs.extend(FigureLevel::at_most(
            &stalls,
            [SECOND_NS, 5 * SECOND_NS],
            None,
            reason,
            source,
        ));
    }
    weakest_verdict(Use::RootDisk, needs, untested)
}

fn camera(record: &Record) -> Option<UseVerdict> {
    let figure = figure::sustained_write(record)?;
    let reason = format!("sequential writes reach {}", figure.with_interval());
    let need = FigureLevel::at_least(
        &figure,
        [SPEED[0], SPEED[1], SPEED[3]].map(|class| class.write_bps),
        reason,
        "classes C2, C4, C10; docs/field/classes.md#minimum-rates",
    )?;
    weakest_verdict(Use::Camera, vec![need], vec![])
}

fn video(record: &Record, mbit: u32) -> Option<UseVerdict> {
    let figure = figure::sustained_write(record)?;
    let need_bps = f64::from(mbit) * 125e3;
    let reason = format!(
        "sequential writes reach {}; the recording needs {}",
        figure.with_interval(),
        quantity(metric::BPS, need_bps)
    );
    // A rate equal to the need leaves no reserve for the file system: 25 % more is good.
    let asked = [need_bps * 0.999, need_bps, need_bps * 1.25];
    let mut needs =
        vec![FigureLevel::at_least(&figure, asked, reason, "the recording's rate, and 25 % more")?];
    let slow = slowest_stretch(record, need_bps)
        .filter(|(_, slowest, _)| *slowest < need_bps && needs[0].level > Fitness::NotSuitable);
    if let Some((from, slowest, many)) = slow {
        let reason = format!(
            "some stretches reach only {}; the recording needs {}",
            quantity(metric::BPS, slowest),
            quantity(metric::BPS, need_bps)
        );
        needs.push(FigureLevel {
            level: Fitness::Poor,
            reason,
            evidence: vec![from],
            confidence: Some(stalls::chance_again(many)),
        });
    }
    let stalls = stalls::of(
        record,
        |cell| cell.test == test::SEQUENTIAL_WRITE || cell.test == test::SUSTAINED,
        MIB,
    );
    let stall = stalls.and_then(|stalls| {
        let held = |ns: u64| quantity("_bytes", need_bps * ns as f64 / 1e9);
        let reason = |wording: &str, ns: u64| {
            format!("{wording}; the camera must buffer {} for that long", held(ns))
        };
        let source = "a camera buffers one or two seconds; our choice";
        FigureLevel::at_most(
            &stalls,
            [SECOND_NS, 2 * SECOND_NS],
            Some(10 * SECOND_NS),
            reason,
            source,
        )
    });
    let untested = if stall.is_none() { vec!["the slowest single large write"] } else { vec![] };
    needs.extend(stall);
    weakest_verdict(Use::Video { mbit }, needs, untested)
}

/// Time in seconds that a camera can buffer; a longer slow stretch loses frames. Our choice.
const CAMERA_BUFFER_S: f64 = 2.0;

/// The third lowest rate (bytes per second) of two-second stretches in a long sequential write, the
/// lowest over all such writes: evidence in words, the rate, and the number of stretches of that
/// write below `need_bps`. A single slow stretch may be the host's fault.
fn slowest_stretch(record: &Record, need_bps: f64) -> Option<(String, f64, u64)> {
    let long = [test::SUSTAINED, test::RANDOM_FILL, test::PRIME]
        .iter()
        .flat_map(|test| figure::cells(record, test));
    let quiet = long.filter(|cell| usability::adverse_exclusion(record, cell).is_none());
    let along = quiet
        .flat_map(|cell| figure::rates_over_bytes(cell).map(move |(series, _)| (cell, series)));
    let slowest = along.filter_map(|(cell, series)| {
        let rates = stretches(&series.points);
        let rate = *rates.get(EVENTS - 1)?;
        let many = rates.iter().filter(|rate| **rate < need_bps).count() as u64;
        Some((
            format!(
                "{}: {EVENTS} stretches of '{}' at {} or less",
                cell.id,
                series.name,
                quantity(metric::BPS, rate)
            ),
            rate,
            many,
        ))
    });
    slowest.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Rates of stretches of two seconds, the slowest first. Points are (bytes so far, bytes per second
/// since the point before).
fn stretches(points: &[[f64; 2]]) -> Vec<f64> {
    let step = |pair: &[[f64; 2]]| {
        let (bytes, bps) = (pair[1][0] - pair[0][0], pair[1][1]);
        (bytes > 0.0 && bps > 0.0 && bytes.is_finite() && bps.is_finite())
            .then(|| (bytes, bytes / bps))
    };
    let (mut bytes, mut seconds) = (0.0, 0.0);
    let mut rates: Vec<f64> = Vec::new();
    for (step_bytes, step_seconds) in points.windows(2).filter_map(step) {
        (bytes, seconds) = (bytes + step_bytes, seconds + step_seconds);
        if seconds >= CAMERA_BUFFER_S {
            rates.push(bytes / seconds);
            (bytes, seconds) = (0.0, 0.0);
        }
    }
    rates.sort_by(f64::total_cmp);
    rates
}

fn database(record: &Record) -> Option<UseVerdict> {
    let mut needs: Vec<FigureLevel> =
        commits_need(record).into_iter().chain(safety_need(record)).collect();
    if needs.is_empty() {
        return None;
    }
    needs.extend(stalls::of_tests(record, &stalls::COMMITTING).and_then(|stalls| {
        let reason = |wording: &str, _: u64| format!("{wording}; a commit waits that long");
        let source = "a locked database usually times out after five seconds; our choice";
        FigureLevel::at_most(&stalls, [SECOND_NS, 5 * SECOND_NS], None, reason, source)
    }));
    let verdict = weakest_verdict(Use::Database, needs, vec![])?;
    let honest = match Flush::of(record) {
        Flush::Unclear(_) | Flush::TooFast(_) => Some(Condition::FlushHonest),
        Flush::Untested => Some(Condition::FlushUntested),
        Flush::Lies(..) | Flush::Empties(_) => None,
    };
    let condition = match honest {
        Some(_) if is_fast_only_here(record, verdict.level) => {
            Some(Condition::SmallFilesFlushHonest)
        }
        None if is_fast_only_here(record, verdict.level) => Some(Condition::SmallFiles),
        honest => honest,
    };
    let condition = condition.filter(|_| verdict.level >= Fitness::Usable);
    Some(UseVerdict { condition, ..verdict })
}

fn commits_need(record: &Record) -> Option<FigureLevel> {
    let commits = commits::of(record)?;
    let mut need = FigureLevel::at_least(
        &commits.figure,
        WRITES.map(|writes| writes / commits::WRITES_PER_COMMIT),
        commits.reason,
        WRITES_SOURCE,
    )?;
    need.evidence.splice(0..1, commits.evidence);
    Some(need)
}

/// True if random writes over a large span would not reach this level: the files of the test
/// `commit` take at most 48 MiB, less than the span of random writes.
fn is_fast_only_here(record: &Record, level: Fitness) -> bool {
    let [_, usable, good] = WRITES;
    let needed = if level == Fitness::Good { good } else { usable };
    let over_all = SpanContrast::of(record).map(|contrast| contrast.over_all().value);
    let widest = figure::random_write(record, 4 * KIB)
        .or_else(|| figure::random_write_bound(record, 4 * KIB))
        .filter(|figure| figure.bound != Some(Bound::AtLeast))
        .map(|figure| figure.value);
    over_all.into_iter().chain(widest).any(|value| value < needed)
}

/// The verdict on a use; `None` if its needs were not measured, or the figures are not the
/// medium's.
pub(crate) fn verdict_on(record: &Record, wanted: Use) -> Option<UseVerdict> {
    if usability::is_host_cached(record) {
        return None;
    }
    match wanted {
        Use::RootDisk => root_disk(record),
        Use::Camera => camera(record),
        Use::Video { mbit } => video(record, mbit),
        Use::Logger => logger::verdict(record),
        Use::Database => database(record),
    }
}

/// Level of a medium for a use, with the deciding figure.
pub(crate) struct UseFigure {
    pub level: Fitness,
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
    let of = |key: f64, ends: Option<[f64; 2]>, text: String| UseFigure {
        level: verdict.level,
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

/// Usual recording rates, in Mbit/s: standard definition, HD, action cameras, 4K, and the video
/// speed classes.
const USUAL_VIDEO: [u32; 8] = [8, 17, 28, 50, 100, 200, 400, 720];

/// The fastest usual recording rate (Mbit/s) that it is good for, or else usable for, or else the
/// slowest one.
pub(crate) fn usual_video(record: &Record) -> u32 {
    let fastest = |level: Fitness| {
        USUAL_VIDEO
            .into_iter()
            .rev()
            .find(|mbit| video(record, *mbit).is_some_and(|verdict| verdict.level >= level))
    };
    fastest(Fitness::Good).or_else(|| fastest(Fitness::Usable)).unwrap_or(USUAL_VIDEO[0])
}

/// All verdicts: the summary first, then each use. A fault of the medium itself (`faults`: it is a
/// fake, it loses data, it fails) is the only verdict; no rates are mentioned then.
pub(crate) fn conclude(record: &Record, wanted: &[Use], faults: &[Finding]) -> Vec<Finding> {
    if let Some(fault) = faults.first() {
        let others = faults.iter().skip(1).map(|fault| fault.statement.clone());
        return vec![
            FindingBuilder::failure("verdict", unusable(&fault.statement))
                .outcome(Outcome::Unusable { because: fault.id.clone() })
                .notes(fault.evidence.iter().cloned())
                .notes(others)
                .with_probability(fault.confidence)
                .done(),
        ];
    }
    if usability::is_host_cached(record) {
        return of_host_memory(record, wanted);
    }
    let verdicts = judged(record, wanted);
    let mut findings: Vec<Finding> =
        summary(record, &verdicts, !wanted.is_empty()).into_iter().collect();
    findings.extend(verdicts.iter().map(|verdict| finding(verdict, !wanted.is_empty())));
    let given = |wanted: &Use| verdicts.iter().any(|verdict| verdict.wanted == *wanted);
    findings.extend(
        wanted.iter().filter(|wanted| !given(wanted)).map(|wanted| untested(record, *wanted)),
    );
    // The rate that random writes seem to promise a database is given, but not as a verdict.
    let has_writes =
        figure::random_write(record, 4 * KIB).is_some() || commits::of(record).is_some();
    let open = [(Use::Logger, logger::has_lines(record)), (Use::Database, has_writes)].into_iter();
    let is_open = |(of, was_tried): &(Use, bool)| wanted.is_empty() && *was_tried && !given(of);
    findings.extend(open.filter(is_open).map(|(of, _)| untested(record, of)));
    findings
}

/// Verdicts on a device in the host's memory: its figures count neither for nor against it.
fn of_host_memory(record: &Record, wanted: &[Use]) -> Vec<Finding> {
    let statement = format!("Cannot be told here: what it is good for; {HOST_CACHED}.");
    let is_written = record.cells.iter().any(writes);
    let verdict = is_written.then(|| FindingBuilder::warning("verdict", statement).done());
    let of_use = |wanted: &Use| {
        let statement = format!("{}: {HOST_CACHED}.", Fitness::CannotTell.verdict(*wanted));
        FindingBuilder::on_use(*wanted, Fitness::CannotTell, Severity::Warning, statement).done()
    };
    verdict.into_iter().chain(wanted.iter().map(of_use)).collect()
}

/// Verdict if only the capacity or the kept data were checked: passed.
pub(crate) fn of_checks(findings: &[Finding]) -> Option<Finding> {
    let passed: Vec<&Finding> = findings
        .iter()
        .filter(|finding| {
            ["capacity", "verify"].contains(&finding.id.as_str())
                && finding.severity == Severity::Info
        })
        .collect();
    let statement =
        passed.iter().map(|finding| finding.statement.as_str()).collect::<Vec<_>>().join(" ");
    let evidence = passed.iter().flat_map(|finding| finding.evidence.iter().cloned());
    (!passed.is_empty()).then(|| FindingBuilder::info("verdict", statement).notes(evidence).done())
}

/// First finding for a medium that was only read: neither its uses nor its capacity can be judged.
pub(crate) fn of_reads(record: &Record) -> Option<Finding> {
    let is_read = |cell: &record::Cell| cell.params.direction == Some(Direction::Read);
    let is_raw = record.target.kind == record::TargetKind::Block;
    (is_raw && usability::cells(record).any(is_read) && !record.cells.iter().any(writes)).then(|| {
        let statement = "It was only read. Not tested: whether it is a fake, and what it is good for. \
                    Both need writing; --only capacity finds a fake and restores what was there.";
        FindingBuilder::info("verdict", statement).done()
    })
}

/// Verdicts on these uses; on all judged ones if empty.
pub(crate) fn judged(record: &Record, wanted: &[Use]) -> Vec<UseVerdict> {
    if wanted.is_empty() { verdicts(record, &all(record)) } else { verdicts(record, wanted) }
}

/// All judged uses: video at the fastest suitable recording rate.
pub(crate) fn all(record: &Record) -> [Use; 5] {
    let mbit = usual_video(record);
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
    let share = confidence.filter(|share| *share < 0.95)?;
    Some(format!("{FEW_SAMPLES}, {:.0} % sure", (100.0 * share).floor()))
}

/// The note as evidence.
fn few_samples_note(verdict: &UseVerdict) -> Option<String> {
    Some(format!("how well it does for {}: {}", verdict.wanted, few_samples(verdict.confidence)?))
}

/// The note in parentheses, or empty.
fn in_brackets(verdict: &UseVerdict) -> String {
    few_samples(verdict.confidence)
        .map(|few_samples| format!(" ({few_samples})"))
        .unwrap_or_default()
}

/// A use without a verdict in this record.
pub(crate) fn open_verdict(record: &Record, wanted: Use) -> OpenVerdict {
    if wanted == Use::Database {
        return commits::untested(record);
    }
    let (level, why) = why_untested(record, wanted);
    OpenVerdict::new(level, format!("{why}."))
}

/// Finding on a requested use that cannot be judged.
pub(crate) fn untested(record: &Record, wanted: Use) -> Finding {
    let OpenVerdict { level, why, evidence } = open_verdict(record, wanted);
    let statement = format!("{}: {why}", level.verdict(wanted));
    FindingBuilder::on_use(wanted, level, Severity::Info, statement).notes(evidence).done()
}

/// Level (not tested, or cannot be told) and reason if nothing can be said about a use.
pub(crate) fn why_untested(record: &Record, wanted: Use) -> (Fitness, String) {
    if usability::is_host_cached(record) {
        return (Fitness::CannotTell, HOST_CACHED.to_owned());
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

pub(crate) fn finding(verdict: &UseVerdict, asked: bool) -> Finding {
    let UseVerdict { wanted, level, reason, evidence, confidence, untested, condition } = verdict;
    let severity = match level {
        Fitness::NotSuitable | Fitness::Poor if asked && is_sure(verdict) => Severity::Failure,
        Fitness::NotSuitable | Fitness::Poor => Severity::Warning,
        Fitness::Usable | Fitness::Good | Fitness::CannotTell | Fitness::NotTested => {
            Severity::Info
        }
    };
    let caveat = in_brackets(verdict);
    let open = if untested.is_empty() {
        String::new()
    } else {
        format!(" Not measured: {}.", untested.join(", "))
    };
    let only = condition.map(|condition| format!(" {condition}")).unwrap_or_default();
    FindingBuilder::new(
        wanted.verdict_id(),
        severity,
        format!("{}{caveat}{only}: {reason}.{open}", level.verdict(wanted)),
    )
    .outcome(Outcome::Use { wanted: *wanted, level: *level, condition: *condition })
    .notes(evidence.iter().cloned())
    .notes(few_samples_note(verdict))
    .with_probability(*confidence)
    .done()
}

/// Summary: unsuitable uses with the reason, then suitable ones with their conditions. With `asked`
/// only about the requested uses, and with a higher severity if it is not suitable.
fn summary(record: &Record, verdicts: &[UseVerdict], asked: bool) -> Option<Finding> {
    let worst = verdicts.iter().min_by_key(|verdict| verdict.level)?;
    let blame = [Fitness::NotSuitable, Fitness::Poor].into_iter().filter_map(|level| {
        let has_reason = level == worst.level;
        let because = if has_reason { format!(": {}", worst.reason) } else { String::new() };
        let text = format!("{}{because}.", level.verdict(uses(verdicts, level)?));
        Some(VerdictSentence { text, level: Some(level), has_reason })
    });
    let mut sentences: Vec<VerdictSentence> = blame.chain(positive_sentences(verdicts)).collect();
    let praised = || verdicts.iter().filter(|verdict| verdict.level >= Fitness::Usable);
    // A use with a condition states it itself.
    let is_durable = |verdict: &UseVerdict| {
        matches!(verdict.wanted, Use::RootDisk | Use::Database | Use::Logger)
            && verdict.condition.is_none()
    };
    let caveats = if praised().next().is_none() {
        conditions::caveat_of_negative(record).map(str::to_owned)
    } else {
        conditions::caveats_of_positive(record, praised().any(is_durable))
    };
    let reason =
        (worst.level >= Fitness::Usable).then(|| format!("{}.", capitalised(&worst.reason)));
    let beside = caveats.into_iter().chain(reason);
    sentences.extend(beside.map(|text| VerdictSentence { text, level: None, has_reason: false }));
    let severity = if worst.level <= Fitness::Poor { Severity::Warning } else { Severity::Info };
    let severity = if asked && worst.level <= Fitness::Poor && is_sure(worst) {
        Severity::Failure
    } else {
        severity
    };
    Some(
        FindingBuilder::new("verdict", severity, in_order(&sentences))
            .outcome(Outcome::Uses { sentences })
            .notes(worst.evidence.iter().cloned())
            .notes(verdicts.iter().filter_map(few_samples_note))
            .with_probability(worst.confidence)
            .done(),
    )
}

/// List of the uses of this level without a condition; those that rest on few samples are marked.
fn uses(verdicts: &[UseVerdict], level: Fitness) -> Option<String> {
    let wording = |verdict: &UseVerdict| format!("{}{}", verdict.wanted, in_brackets(verdict));
    let names = verdicts
        .iter()
        .filter(|verdict| verdict.level == level && verdict.condition.is_none())
        .map(wording);
    if level == Fitness::NotSuitable { listed_with(names, "or") } else { listed(names) }
}

/// Sentences on uses that it is good or usable for: one for each level, and one for each use with a
/// condition.
fn positive_sentences(verdicts: &[UseVerdict]) -> impl Iterator<Item = VerdictSentence> {
    let levels = [Fitness::Good, Fitness::Usable].into_iter();
    let flat = levels.filter_map(move |level| {
        Some((level, format!("{}.", level.verdict(uses(verdicts, level)?))))
    });
    let praised = verdicts.iter().filter(|verdict| verdict.level >= Fitness::Usable);
    let only_if = praised.filter_map(|verdict| {
        let lead = verdict.level.verdict(verdict.wanted);
        Some((verdict.level, format!("{lead} only {}.", verdict.condition?)))
    });
    flat.chain(only_if).map(|(level, text)| VerdictSentence {
        text,
        level: Some(level),
        has_reason: false,
    })
}

/// The statement made of these sentences.
pub(crate) fn in_order(sentences: &[VerdictSentence]) -> String {
    sentences.iter().map(|sentence| sentence.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The verdict on a medium that fails a check.
fn unusable(fault: &str) -> String {
    format!("{DO_NOT_USE} {fault}")
}

/// True if a verdict includes everything that another finding says.
pub fn repeats(verdict: &Finding, other: &Finding) -> bool {
    match &verdict.outcome {
        Some(Outcome::Unusable { because }) => {
            *because == other.id && verdict.statement == unusable(&other.statement)
        }
        Some(Outcome::Uses { sentences }) => {
            sentences.iter().any(|sentence| sentence.text == other.statement)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{empty, iops};

    #[test]
    fn stretches_of_two_seconds_are_listed_slowest_first() {
        // A second at 10 MB/s, one at 20, two at 5 and one that ends too soon.
        let points = [[0.0, 0.0], [10e6, 10e6], [30e6, 20e6], [40e6, 5e6], [44e6, 4e6]];
        assert_eq!(stretches(&points), [5e6, 15e6]);
        assert_eq!(stretches(&points[..2]), [0.0; 0]);
    }

    #[test]
    fn a_verdict_is_unqualified_from_95_percent_confidence_on() {
        let of = |confidence: Option<f64>, level: Fitness| UseVerdict {
            wanted: Use::Camera,
            level,
            reason: "so".into(),
            evidence: Vec::new(),
            confidence,
            untested: Vec::new(),
            condition: None,
        };
        for (confidence, sure) in
            [(None, true), (Some(0.96), true), (Some(0.95), true), (Some(0.94), false)]
        {
            let verdict = of(confidence, Fitness::NotSuitable);
            assert_eq!(is_sure(&verdict), sure, "{confidence:?}");
            let wording = finding(&verdict, true);
            assert_eq!(wording.statement.contains(FEW_SAMPLES), !sure, "{confidence:?}");
            assert_eq!(
                wording.severity,
                if sure { Severity::Failure } else { Severity::Warning },
                "{confidence:?}"
            );
            // Nobody asked about a camera.
            assert_eq!(finding(&verdict, false).severity, Severity::Warning);
        }
        let levels = [Fitness::Poor, Fitness::Usable, Fitness::Good]
            .map(|level| finding(&of(None, level), true).severity);
        assert_eq!(levels, [Severity::Failure, Severity::Info, Severity::Info]);
    }

    #[test]
    fn the_third_slowest_stretch_decides_and_those_below_the_need_are_counted() {
        let along = |rates: &[f64]| {
            let mut cell = iops(test::SUSTAINED, 1, MIB, 40.0, 1);
            let mut at = 0.0;
            let mut points = vec![[0.0, rates[0]]];
            for rate in rates {
                at += rate * CAMERA_BUFFER_S;
                points.push([at, *rate]);
            }
            cell.series.push(record::Series {
                name: "rate".into(),
                x: record::SeriesAxis::Bytes,
                y: record::SeriesAxis::Bps,
                points,
            });
            slowest_stretch(&Record { cells: vec![cell], ..empty() }, 4e6)
                .map(|(_, rate, many)| (rate, many))
        };
        assert_eq!(along(&[9e6, 1e6, 2e6, 4e6, 9e6]), Some((4e6, 2)));
        assert_eq!(along(&[3e6, 3e6, 3e6]), Some((3e6, 3)));
        assert_eq!(along(&[3e6, 3e6]), None, "too few to tell from the host's");
    }
}
