//! Frame of every record's page: at the head medium and run, at the foot the conditions of the
//! measurement, and the record itself.

use record::text::printable;
use record::{Ended, Record};
use report::{caveats, words};

use super::super::embedded_record::embedded_record;
use super::facts;

/// Head and foot of a page; `cover_*.html` show it.
pub(super) struct Cover {
    /// Kind of page: "Flashmark report".
    pub eyebrow: String,
    /// Name of the medium.
    pub name: String,
    /// Kind, capacity, link, file system.
    pub facts: String,
    /// The user's label for the run; may be empty.
    pub label: String,
    /// Suite, time, bytes written.
    pub run_facts: String,
    /// State of an incomplete run.
    pub state: Option<String>,
    /// True if an error ended the run.
    pub failed: bool,
    /// Left-out tests: (reason, tests).
    pub skipped: Vec<(String, String)>,
    /// Conditions of the measurement: sections of names and values.
    pub how: Vec<(&'static str, Vec<(String, String)>)>,
    /// True if the record has private data.
    pub private: bool,
    /// Id of the run.
    pub run: String,
    /// File name of the record.
    pub file_name: String,
    /// The compressed record.
    pub embedded_record: String,
}

impl Cover {
    /// Frame of a page of this kind ("report"), for a run in this state.
    pub fn of(record: &Record, kind: &str, state: Option<String>) -> Cover {
        Cover {
            eyebrow: format!("Flashmark {kind}"),
            name: words::name(&record.medium),
            facts: words::medium_facts(record).join(" · "),
            label: record.run.label.as_deref().map(printable).unwrap_or_default(),
            run_facts: caveats::run_facts(record).join(" · "),
            state,
            failed: record.run.ended == Ended::Error,
            skipped: caveats::skipped(record)
                .into_iter()
                .map(|(reason, tests)| (reason, tests.join(", ")))
                .collect(),
            how: facts::sections(record),
            private: facts::is_private(record),
            run: printable(&record.run.id),
            file_name: facts::file_name(record),
            embedded_record: embedded_record(record),
        }
    }
}
