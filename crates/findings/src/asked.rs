//! Requested uses and claims that a run cannot decide: for callers that must not take missing
//! verdicts for positive ones.

use record::{Fitness, Outcome, Record, Severity, Use};

use crate::{genuineness, use_levels};

/// Undecided ones among these uses and the user's claims, each in a few words. Also undecided is a
/// verdict with few samples at the border between suitable and not suitable.
pub fn untold(record: &Record, uses: &[Use]) -> Vec<String> {
    let levels = use_levels(record);
    let is_told = |wanted: &Use| {
        levels.iter().filter(|one| one.wanted == *wanted).any(|one| {
            let is_known = !matches!(one.level, Fitness::NotTested | Fitness::CannotTell);
            let is_at_border = matches!(one.level, Fitness::Poor | Fitness::Usable);
            is_known && one.condition.is_none() && !(one.few_samples.is_some() && is_at_border)
        })
    };
    let open = uses.iter().filter(|wanted| !is_told(wanted)).map(Use::to_string);
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

#[cfg(test)]
mod tests {
    use record::units::KIB;
    use record::{Claims, Record};

    use super::*;
    use crate::testing::{empty, exact, iops};

    /// `check --for database --strict` passed, though no test had looked at the flush.
    #[test]
    fn a_database_is_not_told_without_a_test_of_the_flush() {
        let uses = [Use::Database];
        let mut commits = exact(iops(record::test::COMMIT, 1, 4 * KIB, 900.0, 1_000_000));
        commits.params.form = Some("rollback".into());
        let writes = exact(iops("random-write", 1, 4 * KIB, 900.0, 1_000_000));
        let record = judged(vec![commits, writes], Claims::default(), &uses);
        assert!(record.findings.iter().any(|it| it.statement.contains("was not tested")));
        assert_eq!(untold(&record, &uses), [Use::Database.to_string()]);
    }

    fn judged(cells: Vec<record::Cell>, claims: Claims, uses: &[Use]) -> Record {
        let mut record = Record { cells, ..empty() };
        record.medium.claims = Some(claims);
        record.findings = crate::conclude_for(&record, uses);
        record
    }

    #[test]
    fn what_was_not_measured_is_not_told_and_what_was_is() {
        let uses = [Use::RootDisk, Use::Logger];
        let claims = || Claims { random_write_iops: Some(300.0), ..Claims::default() };
        let writes = || {
            [4 * KIB, 16 * KIB].map(|block| exact(iops("random-write", 1, block, 600.0, 1_000_000)))
        };
        let nothing = judged(Vec::new(), claims(), &uses);
        let open = untold(&nothing, &uses);
        assert_eq!(open.len(), 3, "{open:?}");
        let written = judged(writes().into(), claims(), &[Use::RootDisk]);
        assert_eq!(untold(&written, &[Use::RootDisk]), [""; 0], "{:?}", written.findings);
        let too_slow = Claims { random_write_iops: Some(900.0), ..Claims::default() };
        let failed = judged(writes().into(), too_slow, &[]);
        assert_eq!(untold(&failed, &[]), [""; 0], "a claim that fails is told");
        let class = Claims { speed_class: Some(10), ..Claims::default() };
        let untested = judged(writes().into(), class, &[]);
        assert!(untold(&untested, &[])[0].contains("was not tested"), "{untested:?}");
    }
}
