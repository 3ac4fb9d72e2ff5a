//! What a medium comes to for each use, in a word: what a screen has room for.

use record::{Finding, Record};

use crate::Use;
use crate::verdict::{self, Fitness};

/// What a medium comes to for a use, as far as it was tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseLevel {
    /// It does all that the use asks for.
    Good,
    /// It does what the use needs, and not much more.
    Usable,
    /// Poor or unusable.
    NotSuitable,
    /// Nothing was measured that tells.
    NotTested,
}

/// What a medium comes to for one use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseAtAGlance {
    /// The use; of video the rate that was asked for, or else the fastest it is good for.
    pub wanted: Use,
    /// What it comes to.
    pub level: UseLevel,
    /// What it depends on and no run can tell, "if its flush is honest, which ..".
    pub condition: Option<&'static str>,
    /// Whether that few samples tell it that it may come out otherwise.
    pub has_few_samples: bool,
}

/// All uses, each with what the medium comes to for it; as [`conclude`](crate::conclude) judges
/// them, where nothing is wrong with the medium itself.
pub fn uses_at_a_glance(record: &Record) -> Vec<UseAtAGlance> {
    let mbit = asked_video(&record.findings).unwrap_or_else(|| verdict::usual_video(record));
    let uses = [Use::RootDisk, Use::Camera, Use::Video { mbit }, Use::Logger, Use::Database];
    let verdicts = verdict::verdicts(record, &uses);
    let of = |wanted: Use| {
        let found = verdicts.iter().find(|verdict| verdict.wanted == wanted);
        let level = match found.map(|verdict| verdict.level) {
            Some(Fitness::Good) => UseLevel::Good,
            Some(Fitness::Fair) => UseLevel::Usable,
            Some(Fitness::Poor | Fitness::Unusable) => UseLevel::NotSuitable,
            None => UseLevel::NotTested,
        };
        UseAtAGlance {
            wanted,
            level,
            condition: found.and_then(|verdict| verdict.condition),
            has_few_samples: found.is_some_and(|verdict| !verdict::is_sure(verdict)),
        }
    };
    uses.into_iter().map(of).collect()
}

/// The rate of the recording that the findings speak of, in Mbit/s.
fn asked_video(findings: &[Finding]) -> Option<u32> {
    let video = findings.iter().find(|finding| finding.id == "verdict-video")?;
    let before = video.statement.split(" Mbit/s").next()?;
    before.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_that_was_asked_for_is_found_again() {
        let wanted = Use::Video { mbit: 100 };
        let finding = Finding {
            id: "verdict-video".to_owned(),
            severity: record::Severity::Info,
            statement: format!("Usable as {wanted}: it writes 13.0 MB/s in sequence."),
            evidence: Vec::new(),
            confidence: None,
        };
        assert_eq!(asked_video(&[finding]), Some(100));
        assert_eq!(asked_video(&[]), None);
    }

    #[test]
    fn what_was_not_measured_was_not_tested() {
        let levels = uses_at_a_glance(&crate::testing::empty());
        assert_eq!(levels.len(), 5);
        assert!(levels.iter().all(|one| one.level == UseLevel::NotTested));
    }
}
