//! Annotations of a GitHub workflow
//! (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions>).

use super::{CheckVerdict, Outcomes};

/// An error for each failed check, a warning for each undecided one, and a notice with the result.
pub fn github(outcomes: &Outcomes) -> String {
    let line = |level: &str, title: &str, text: &str| {
        format!("::{level} title={}::{}\n", property(title), data(text))
    };
    let annotations = outcomes.checks.iter().filter_map(|check| match check.verdict {
        CheckVerdict::Passed => None,
        CheckVerdict::Failed => Some(line("error", &check.name, &check.why)),
        CheckVerdict::Undecided => Some(line("warning", &check.name, &check.why)),
    });
    annotations.chain([line("notice", &outcomes.name, &outcomes.result)]).collect()
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
