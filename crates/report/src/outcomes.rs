//! Results of checks for CI systems: JUnit XML, annotations of GitHub, Bencher Metric Format.

use findings::{Regression, is_verdict};
use record::text::printable;
use record::{Answer, Finding, Record, Severity, Summary};

use crate::compare::{figure_name, figure_ratio, regression_result};

mod bencher;
mod github;
mod junit;

pub use bencher::bencher;
pub use github::github;
pub use junit::junit;

/// Results of a set of checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcomes {
    /// Name in a word or two: "flashmark compare".
    pub name: String,
    /// Overall result in a sentence.
    pub result: String,
    /// All checks.
    pub checks: Vec<CheckOutcome>,
}

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckOutcome {
    /// Name of the check: "random write, 4 KiB".
    pub name: String,
    /// Result.
    pub verdict: CheckVerdict,
    /// Reason in a sentence; empty if passed.
    pub why: String,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckVerdict {
    /// The condition holds.
    Passed,
    /// The condition does not hold.
    Failed,
    /// Not checked, or not decided by the figures.
    Undecided,
}

/// A check for each figure that was compared before and after a change. With `strict`, an undecided
/// one fails.
pub fn of_comparison(found: &Regression, strict: bool) -> Outcomes {
    use CheckVerdict::{Failed, Passed, Undecided};
    let is_strict = strict || found.is_undecided();
    let unclear = if is_strict { Failed } else { Undecided };
    let percent = format!("{} %", (found.allowed * 1e4).round() / 100.0);
    let lists = [
        (&found.slower, Failed, format!("slower by more than {percent}: ")),
        (
            &found.unclear,
            unclear,
            format!("cannot be told whether slower by more than {percent}: "),
        ),
        (&found.kept, Passed, String::new()),
    ];
    let checks = lists.into_iter().flat_map(|(figures, verdict, why)| {
        figures.iter().map(move |figure| CheckOutcome {
            name: figure_name(figure),
            verdict,
            why: format!("{why}{}", figure_ratio(figure)),
        })
    });
    Outcomes {
        name: "flashmark compare".into(),
        result: regression_result(found, &percent),
        checks: checks.collect(),
    }
}

/// The answers of a run to the three questions, and each failed check.
pub fn of_run(record: &Record) -> Outcomes {
    let summary = record.summary.clone().unwrap_or_default();
    let Summary { genuine, genuine_reason, fit, fit_reason, healthy, healthy_reason, .. } = summary;
    let answers = [
        ("Genuine?", genuine, genuine_reason),
        ("Fit?", fit, fit_reason),
        ("Healthy?", healthy, healthy_reason),
    ];
    // The verdict on all uses repeats the failures.
    let is_failure = |it: &&Finding| it.severity == Severity::Failure && it.id != "verdict";
    let failures: Vec<&Finding> = record.findings.iter().filter(is_failure).collect();
    let failed = failures.iter().map(|finding| CheckOutcome {
        name: finding.id.clone(),
        verdict: CheckVerdict::Failed,
        why: printable(&finding.statement),
    });
    let answered = answers.into_iter().map(|(question, answer, reason)| CheckOutcome {
        name: question.to_owned(),
        verdict: match answer {
            Answer::Yes => CheckVerdict::Passed,
            Answer::No if !failures.is_empty() => CheckVerdict::Failed,
            _ => CheckVerdict::Undecided,
        },
        why: printable(&format!("{}: {reason}", answer.words())),
    });
    let verdict = record.findings.iter().find(|finding| is_verdict(finding));
    Outcomes {
        name: "flashmark check".into(),
        result: verdict.map(|finding| printable(&finding.statement)).unwrap_or_default(),
        checks: answered.chain(failed).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(name: &str, why: &str) -> Outcomes {
        let check =
            CheckOutcome { name: name.into(), verdict: CheckVerdict::Failed, why: why.into() };
        Outcomes { name: "a".into(), result: "r".into(), checks: vec![check] }
    }

    /// A name from a record may hold any text.
    #[test]
    fn names_cannot_break_out() {
        let hostile = outcomes("a\"/><x>, b: c", "50 %\n::error::no ]]> & <y>");
        insta::assert_snapshot!(junit(&hostile), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
          <testsuite name="a" tests="1" failures="1" errors="0" skipped="0">
            <testcase classname="a" name="a&#34;/&#62;&#60;x&#62;, b: c"><failure message="50 %
        ::error::no ]]&#62; &#38; &#60;y&#62;"/></testcase>
            <system-out>r</system-out>
          </testsuite>
        </testsuites>
        "#);
        insta::assert_snapshot!(github(&hostile), @r#"
        ::error title=a"/><x>%2C b%3A c::50 %25%0A::error::no ]]> & <y>
        ::notice title=a::r
        "#);
    }
}
