//! Suitability of the medium: its levels by use, and the verdict beside them.

use findings::{UseLevel, use_levels};
use record::text::{capitalised, printable};
use record::units::decimal;
use record::{Finding, Fitness, Severity, Use};

use super::Screen;
use crate::text::AnsiStyle;

/// Sentence for a medium that failed.
const NO_USE: &str = "Not suitable for any use.";

/// Levels of a medium by use, and the verdict beside them.
pub(super) struct LevelsByUse {
    pub(super) uses: Vec<String>,
    pub(super) verdict: Option<String>,
    pub(super) severity: Severity,
    /// True if the verdict is positive: then it comes after the uses.
    is_praise: bool,
}

impl LevelsByUse {
    /// The uses and the verdict in their order: a negative verdict comes first, a positive one
    /// last.
    pub(super) fn ordered<T>(&self, uses: T, verdict: T) -> [T; 2] {
        if self.is_praise { [uses, verdict] } else { [verdict, uses] }
    }
}

impl Screen<'_> {
    pub(super) fn judged(&self) -> LevelsByUse {
        let (uses, reasoned) = self.uses();
        let is_overstated = findings::is_overstated(&self.record.findings);
        let verdict = self.verdict();
        let severity = verdict.map_or(Severity::Info, |verdict| verdict.severity);
        let sentence = verdict.map(|it| if uses.is_empty() { &it.statement } else { &reasoned });
        let verdict =
            sentence.map(|sentence| printable(sentence)).filter(|sentence| !sentence.is_empty());
        let is_praise = severity == Severity::Info && !is_overstated;
        LevelsByUse { uses, verdict, severity, is_praise }
    }

    /// Levels of the medium by use, at most three sentences, and the verdict beside them. Each use
    /// is in only one of the two.
    fn uses(&self) -> (Vec<String>, String) {
        let record = self.record;
        let is_fault = |finding: &Finding| {
            finding.severity == Severity::Failure
                && !findings::is_verdict(finding)
                && !finding.id.ends_with("claim")
        };
        let is_refused =
            self.verdict().is_some_and(|verdict| verdict.severity == Severity::Failure);
        let statement =
            || self.verdict().map(|verdict| verdict.statement.clone()).unwrap_or_default();
        if record.cells.is_empty() {
            return (Vec::new(), statement());
        }
        if is_refused && record.findings.iter().any(is_fault) {
            return (vec![NO_USE.to_owned()], statement());
        }
        let (beside, reasoned) = self.verdict().map(findings::beside_levels).unwrap_or_default();
        let mut all = use_levels(record);
        all.retain(|one| !reasoned.contains(&one.level));
        (levels(&all), beside)
    }

    pub(super) fn of_uses(&self, uses: &[String]) -> Vec<String> {
        let plain = |_: &AnsiStyle, line: &str| line.to_owned();
        let laid = |sentence: &String| match sentence.as_str() {
            NO_USE => self.prose(sentence, 2, 1, AnsiStyle::alarm),
            _ => self.prose(sentence, 2, 3, plain),
        };
        uses.iter().flat_map(laid).collect()
    }
}

/// A sentence for each level, with the uses that have it.
fn levels(all: &[UseLevel]) -> Vec<String> {
    let sentence = |level: Fitness| {
        let of_level = all.iter().filter(|one| one.level == level);
        let names: Vec<String> = of_level.map(named).collect();
        let names = Some(names.join(", ")).filter(|names| !names.is_empty())?;
        Some(match level {
            Fitness::CannotTell | Fitness::NotTested => {
                format!("{}: {names}.", capitalised(level.word()))
            }
            _ => format!("{}.", level.verdict(names)),
        })
    };
    let mut kinds: Vec<String> = Fitness::ALL.into_iter().rev().filter_map(sentence).collect();
    if kinds.len() > 3 {
        let last = kinds.split_off(2).join(" ");
        kinds.push(last);
    }
    kinds
}

/// A use in a few words: "video (100 Mbit/s)", "database (if its flush is honest)".
fn named(one: &UseLevel) -> String {
    let name = match one.wanted {
        Use::Video { .. } if one.level != Fitness::NotTested => one.wanted.to_string(),
        wanted => wanted.noun().to_owned(),
    };
    let name = match one.within_bytes {
        Some(bytes) => format!("{name} in {}", decimal(bytes)),
        None => name,
    };
    let condition = one.condition.map(|condition| condition.short().to_owned());
    let notes: Vec<String> = condition.into_iter().chain(one.few_samples.clone()).collect();
    if notes.is_empty() { name } else { format!("{name} ({})", notes.join(", ")) }
}
