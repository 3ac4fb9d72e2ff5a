//! Summary of a run: three answers and four figures. Each answer follows from the findings of the
//! record and from its cells, and names what was not tested.

mod missing;

use record::collection::HeadlineFigure;
use record::units::{Bytes, decimal, saturating_sum};
use record::{
    Answer, Cell, Finding, Fitness, Flag, Record, Severity, Stop, Summary, Use, metric, test,
};

use crate::conclusions::genuine::{no_sign, read_back};
use crate::conclusions::health::{failing, waits};
use crate::conclusions::host::not_of_a_medium::NoMedium;
use crate::conclusions::speed::stalls;
use crate::figures::figure::UsableEstimate;
use crate::figures::genuineness::{self, Genuineness};
use crate::figures::sectors::{SECTOR_BYTES, Sectors, number, read_parts};
use crate::figures::{Figures, usability};
use crate::matrix;
use crate::verdict::need::UseVerdict;
use crate::verdict::{self, is_verdict};
use crate::words::use_levels::levels;

/// The four figures of every summary.
const FOUR: [HeadlineFigure; 4] = [
    HeadlineFigure::SequentialRead,
    HeadlineFigure::SequentialWrite,
    HeadlineFigure::RandomRead4k,
    HeadlineFigure::RandomWrite4k,
];

/// Summary of a record with these findings for the wanted uses (all judged uses if empty).
pub(crate) fn summary(record: &Record, wanted: &[Use], findings: &[Finding]) -> Summary {
    let (genuine, genuine_reason) = genuine(record, findings);
    let (fit, fit_reason) = fit(record, wanted, findings);
    let (healthy, healthy_reason) = healthy(record, findings);
    // Cells of a matrix are of many file systems, those of a fake or of memory are not of a medium.
    let of_a_medium = usability::of_record(record).is_none() && matrix::of(record).is_none();
    let figure = |wanted| {
        let found = Figures::of(record).sound(wanted).filter(|found| found.bound.is_none());
        found.filter(|_| of_a_medium)
    };
    let found = FOUR.map(figure);
    let missing = FOUR.into_iter().zip(&found).filter(|(_, found)| found.is_none());
    let missing =
        missing.map(|(wanted, _)| (missing::field(wanted), missing::why(record, wanted))).collect();
    let [reads, writes, random_reads, random_writes] = found;
    let larger_writes = figure(HeadlineFigure::RandomWrite16k);
    let real_bytes = genuineness::real_bytes(record);
    let value = |figure: &Option<UsableEstimate>| figure.as_ref().map(|figure| figure.value);
    let interval = |figure: &Option<UsableEstimate>| {
        figure.as_ref().filter(|figure| !figure.cell.is_one_look())?.ci95
    };
    let low = |figure: &Option<UsableEstimate>| interval(figure).map(|[low, _]| low);
    let high = |figure: &Option<UsableEstimate>| interval(figure).map(|[_, high]| high);
    let latency = random_writes.as_ref().and_then(|found| found.cell.metrics.latency_ns.as_ref());
    let longest = stalls::longest_write(record).filter(|_| of_a_medium);
    Summary {
        genuine,
        genuine_reason,
        written_bytes: looked_at(record, metric::PROBE_WRITTEN_BYTES),
        read_bytes: looked_at(record, metric::PROBE_READ_BYTES),
        real_bytes_low: real_bytes.map(|[low, _]| low),
        real_bytes_high: real_bytes.map(|[_, high]| high),
        fit,
        fit_reason,
        levels: levels(record, findings, !wanted.is_empty()),
        healthy,
        healthy_reason,
        ios: saturating_sum(record.cells.iter().map(|cell| cell.ops)),
        read_back: read_back::writes(record),
        sequential_read_bps: value(&reads),
        sequential_read_bps_low: low(&reads),
        sequential_read_bps_high: high(&reads),
        sequential_write_bps: value(&writes),
        sequential_write_bps_low: low(&writes),
        sequential_write_bps_high: high(&writes),
        random_read_4k_iops: value(&random_reads),
        random_read_4k_iops_low: low(&random_reads),
        random_read_4k_iops_high: high(&random_reads),
        random_write_4k_iops: value(&random_writes),
        random_write_4k_iops_low: low(&random_writes),
        random_write_4k_iops_high: high(&random_writes),
        random_write_16k_iops: value(&larger_writes),
        random_write_16k_iops_low: low(&larger_writes),
        random_write_16k_iops_high: high(&larger_writes),
        random_write_4k_p99_ns: latency.and_then(|latency| latency.p99),
        random_write_4k_worst_ns: latency.map(|latency| latency.max),
        longest_write_ns: longest.as_ref().map(|longest| longest.ns),
        longest_write_n: longest.as_ref().map(|longest| longest.n),
        missing,
    }
}

/// Statement of the first finding with this id.
fn statement(findings: &[Finding], id: &str) -> Option<String> {
    findings.iter().find(|finding| finding.id == id).map(|finding| finding.statement.clone())
}

/// Reason in the record why a test was left out.
fn skipped<'a>(record: &'a Record, test: &str) -> Option<&'a str> {
    record.skipped.iter().find(|skip| skip.test == test).map(|skip| skip.reason.as_str())
}

/// Reason for a probe that its time limit ended.
const PROBE_CUT: &str =
    "its probe was not done in time; `--only capacity` takes as long as it needs.";

/// Reason why the probe of the capacity has no result.
fn not_probed(record: &Record) -> String {
    match skipped(record, test::CAPACITY) {
        Some(reason) => format!("{reason}."),
        None if genuineness::is_probe_cut(record) => {
            match (probe_error(record), genuineness::failed_places(record)) {
                (Some(why), _) => format!("the probe of its capacity ended by an error: {why}."),
                (None, 0) => PROBE_CUT.into(),
                (None, failed) => {
                    format!(
                        "{failed} places of the probe of its capacity gave errors; measure again."
                    )
                }
            }
        }
        None => "its capacity was not probed.".into(),
    }
}

/// What ended a probe of the capacity before it was done, if that was an error.
fn probe_error(record: &Record) -> Option<&str> {
    let mut probes = record.cells_of(test::CAPACITY).filter(|cell| cell.stop == Stop::Error);
    probes.find_map(|cell| cell.reason.as_deref())
}

fn genuine(record: &Record, findings: &[Finding]) -> (Answer, String) {
    if let Some(none) = NoMedium::of(record) {
        return (Answer::NotTested, none.with_step());
    }
    let text = |id| statement(findings, id);
    let (answer, why) = match genuineness::of(record) {
        Genuineness::Fake => {
            let fault = text("capacity").or_else(|| text("verify"));
            return (Answer::No, fault.unwrap_or_default());
        }
        // Damage is described once, in the answer on its health.
        Genuineness::Damaged => return (Answer::Inconclusive, damaged(record).into()),
        Genuineness::Proven => (Answer::Yes, text("verify")),
        Genuineness::NoSign => (Answer::NoSign, Some(no_sign::reason(record))),
        Genuineness::Unknown => {
            let was_tested = genuineness::capacity_verdict(record).is_some()
                || read_parts(record).next().is_some();
            let of_a_part = no_sign::of_a_partition(record).filter(|_| was_tested);
            match of_a_part.or_else(|| kept(record)) {
                Some(why) => (Answer::Inconclusive, Some(why)),
                None => (Answer::NotTested, None),
            }
        }
    };
    match text("counterfeit-hints") {
        Some(hint) => {
            (Answer::Inconclusive, why.into_iter().chain([hint]).collect::<Vec<_>>().join(" "))
        }
        None => (answer, why.unwrap_or_else(|| not_probed(record))),
    }
}

/// What was read back where only a part of a medium was verified, and is as it was written.
fn kept(record: &Record) -> Option<String> {
    let sectors = Sectors::of(read_parts(record));
    let is_probed = genuineness::capacity_verdict(record).is_some();
    if is_probed || sectors.good == 0 || sectors.bad() > 0 {
        return None;
    }
    let read = decimal(sectors.good.saturating_mul(SECTOR_BYTES));
    let size = record.medium.capacity_bytes.map(|bytes| format!(" of its {}", Bytes(bytes)));
    let size = size.unwrap_or_default();
    Some(format!("{read}{size} were read back as written; the rest was not."))
}

/// Bytes that the probes wrote (read back), with those of a verification.
fn looked_at(record: &Record, by_probe: &str) -> Option<u64> {
    let probed = record.cells_of(test::CAPACITY).filter_map(|cell| number(cell, by_probe));
    let verified: Vec<u64> = if by_probe == metric::PROBE_READ_BYTES {
        let sectors = Sectors::of(read_parts(record));
        vec![sectors.good.saturating_add(sectors.bad()).saturating_mul(SECTOR_BYTES)]
    } else {
        record.cells_of(test::VERIFY).map(|cell| cell.written_bytes).collect()
    };
    let all = probed.map(|bytes| bytes as u64).chain(verified.into_iter().filter(|n| *n > 0));
    let all: Vec<u64> = all.collect();
    (!all.is_empty()).then(|| saturating_sum(all))
}

fn fit(record: &Record, wanted: &[Use], findings: &[Finding]) -> (Answer, String) {
    let verdict = statement(findings, "verdict");
    if let Some(none) = NoMedium::of(record) {
        return (Answer::NotTested, none.what.to_owned());
    }
    let is_fault = |finding: &Finding| {
        finding.severity == Severity::Failure && !is_verdict(finding) && finding.id != "claim"
    };
    if genuineness::is_fake(record) {
        return (Answer::No, "a fake is fit for nothing.".into());
    }
    if record.flags.iter().any(Flag::is_impossible) {
        let why = statement(findings, "impossible").unwrap_or_default();
        return (Answer::Inconclusive, why);
    }
    if health_fault(findings).is_some_and(|fault| fault.severity == Severity::Failure) {
        return (Answer::No, "a medium that is not healthy is fit for nothing.".into());
    }
    if findings.iter().any(is_fault) {
        return (Answer::No, verdict.unwrap_or_default());
    }
    if let Some(why) = verdict::withheld(record) {
        return (Answer::Inconclusive, format!("{why}."));
    }
    let judged = verdict::judged(record, wanted);
    let is_open = |of: &&Use| !judged.iter().any(|verdict| verdict.wanted == **of);
    let open = wanted
        .iter()
        .filter(is_open)
        .map(|of| format!("For {of}: {}", verdict::open_verdict(record, *of).why));
    let verdict_text = verdict.filter(|_| !judged.is_empty());
    let reasons: Vec<String> = verdict_text.into_iter().chain(open).collect();
    let any = |fits: bool| judged.iter().any(|verdict| (verdict.level >= Fitness::Usable) == fits);
    let is_decided =
        judged.iter().all(UseVerdict::is_decided) && !wanted.iter().any(|of| is_open(&of));
    let was_tried = |of: &Use| verdict::why_untested(record, *of).0 == Fitness::CannotTell;
    let answer = match (any(true), any(false)) {
        (false, false) if wanted.iter().any(was_tried) => Answer::Inconclusive,
        (false, false) => Answer::NotTested,
        (true, true) => Answer::Partly,
        // If one of several uses fits, the others may still be undecided.
        (fits, _) if !is_decided && (!fits || !wanted.is_empty()) => Answer::Inconclusive,
        (fits, _) => {
            if fits {
                Answer::Yes
            } else {
                Answer::No
            }
        }
    };
    (answer, if reasons.is_empty() { not_judged(record) } else { reasons.join(" ") })
}

/// Reason why there is no verdict.
fn not_judged(record: &Record) -> String {
    let skip = [test::RANDOM_WRITE, test::SEQUENTIAL_WRITE]
        .into_iter()
        .find_map(|test| skipped(record, test));
    match skip {
        Some(reason) => format!("it was not written: {reason}."),
        None => "what uses depend on was not measured, or not well enough.".into(),
    }
}

/// Faults of the medium's health, not of its genuineness.
const FAULTS: [&str; 4] = ["io-error", "verify", "read-back", "capacity"];

/// Reason why the capacity of a damaged medium is not reported.
const DAMAGED: &str = "a damaged medium does not show its capacity.";

/// The same for a medium of which it cannot be told if it is damaged.
fn damaged(record: &Record) -> &'static str {
    let probe = genuineness::capacity_verdict(record).map(|(cell, _)| cell);
    match probe.and_then(genuineness::failed_again) {
        Some(true) => DAMAGED,
        Some(false) => "its probe failed at first, and not when it was repeated.",
        None if genuineness::is_damage_open(record) && !failing::has_errors(record) => {
            "its probe failed, and was not repeated."
        }
        None => DAMAGED,
    }
}

/// The first finding against its health.
fn health_fault(findings: &[Finding]) -> Option<&Finding> {
    findings
        .iter()
        .find(|finding| finding.severity > Severity::Info && FAULTS.contains(&finding.id.as_str()))
}

fn healthy(record: &Record, findings: &[Finding]) -> (Answer, String) {
    if let Some(none) = NoMedium::of(record) {
        return (Answer::NotTested, none.what.to_owned());
    }
    match health_fault(findings) {
        Some(_) if genuineness::is_fake(record) => {
            return (Answer::NotTested, "a fake is not judged by its health.".into());
        }
        Some(fault) if fault.severity == Severity::Failure => {
            return (Answer::No, fault.statement.clone());
        }
        Some(fault) => return (Answer::Inconclusive, fault.statement.clone()),
        None => {}
    }
    let read_back = statement(findings, "read-back").map(|found| format!(" {found}"));
    let seen = format!("{}{}", seen(record), read_back.unwrap_or_default());
    match findings.iter().find(|finding| finding.id == "health") {
        Some(finding) if finding.severity == Severity::Info => {
            (Answer::Yes, format!("{} {seen}", finding.statement))
        }
        Some(finding) => (Answer::No, finding.statement.clone()),
        None => (
            Answer::NotTested,
            format!("it tells nothing of its wear, as most cards and sticks. {seen}"),
        ),
    }
}

/// "No I/O error in 1234 I/Os (2.1 GB)."; other ends of a cell are findings.
fn seen(record: &Record) -> String {
    let ops = saturating_sum(record.cells.iter().map(|cell| cell.ops));
    let moved = |cell: &Cell| {
        let block = cell.params.block_bytes.unwrap_or(0);
        cell.ops.saturating_mul(block).max(cell.written_bytes)
    };
    let bytes = saturating_sum(record.cells.iter().map(moved));
    let errors = match genuineness::failed_places(record) {
        0 => "No I/O error".to_owned(),
        failed => format!("{failed} places gave errors and work now; no other I/O error"),
    };
    format!("{errors} in {ops} I/Os ({}{}).", Bytes(bytes), waits::slowest(record))
}
