//! JUnit XML, as most servers of continuous integration read it
//! (<https://github.com/testmoapp/junitxml>).

use askama::Template;

use super::{CheckOutcome, CheckVerdict, Outcomes};

#[derive(Template)]
#[template(path = "junit.xml")]
struct Document<'a> {
    outcomes: &'a Outcomes,
    failed: usize,
    skipped: usize,
}

/// A test suite with a case for each check; undecided ones are skipped.
pub fn junit(outcomes: &Outcomes) -> String {
    let count = |verdict| outcomes.checks.iter().filter(|it| it.verdict == verdict).count();
    let (failed, skipped) = (count(CheckVerdict::Failed), count(CheckVerdict::Undecided));
    let document = Document { outcomes, failed, skipped };
    document.render().expect("a template of our own, written to memory")
}

impl CheckOutcome {
    fn element(&self) -> Option<&'static str> {
        match self.verdict {
            CheckVerdict::Passed => None,
            CheckVerdict::Failed => Some("failure"),
            CheckVerdict::Undecided => Some("skipped"),
        }
    }
}
