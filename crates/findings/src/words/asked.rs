//! Requested uses and claims that a run cannot decide: for callers that must not take missing
//! verdicts for positive ones.

use record::{Fitness, Outcome, Record, Severity, Use};

use crate::figures::genuineness;
use crate::words::analysis::use_levels;

/// Undecided ones among these uses and the user's claims, each in a few words. Also undecided is a
/// verdict with few samples at the border between suitable and not suitable.
pub fn undecided(record: &Record, uses: &[Use]) -> Vec<String> {
    let levels = use_levels(record);
    let is_decided = |wanted: &Use| {
        levels.iter().filter(|one| one.wanted == *wanted).any(|one| {
            let is_known = !matches!(one.level, Fitness::NotTested | Fitness::CannotTell);
            let is_at_border = matches!(one.level, Fitness::Poor | Fitness::Usable);
            is_known && one.condition.is_none() && !(one.sure_percent.is_some() && is_at_border)
        })
    };
    let open = uses.iter().filter(|wanted| !is_decided(wanted)).map(Use::to_string);
    let is_open = |finding: &&record::Finding| {
        finding.id == "claim"
            && finding.severity != Severity::Failure
            && finding.outcome != Some(Outcome::Claim { holds: Some(true) })
    };
    let claims = record.findings.iter().filter(is_open).map(|claim| claim.statement.clone());
    // A check promises to say if the medium is genuine; an incomplete probe does not.
    let is_check = record.run.suite == "check";
    let is_cut = is_check && genuineness::is_probe_cut(record);
    open.chain(claims).chain(is_cut.then(|| "whether it is genuine".to_owned())).collect()
}
