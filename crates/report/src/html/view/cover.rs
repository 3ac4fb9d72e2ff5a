//! What the page of every record has around what it is about: at the head who and what, at the foot
//! how it was measured, and the record itself.

use record::{Ended, Record};

use super::super::embedded_record::embedded_record;
use super::facts;
use crate::{caveats, words};

/// Head and foot of a page; `cover_*.html` show it.
pub(super) struct Cover {
    /// What the page is: "Flashmark report".
    pub eyebrow: String,
    /// What the medium goes by.
    pub name: String,
    /// Kind, capacity, link, file system.
    pub facts: String,
    /// The user's words for the run; empty where there are none.
    pub label: String,
    /// Suite, time, bytes written.
    pub run_facts: String,
    /// How far the run came, where that is not all the way.
    pub state: Option<String>,
    /// True if an error ended it.
    pub failed: bool,
    /// The reason why something was left out, and what.
    pub skipped: Vec<(String, String)>,
    /// How it was measured: sections of names and values.
    pub how: Vec<(&'static str, Vec<(String, String)>)>,
    /// True if the record holds what is nobody else's business.
    pub private: bool,
    /// What the run is called.
    pub run: String,
    /// What the record is called as a file.
    pub file_name: String,
    /// The record, compressed, where the page carries it.
    pub embedded_record: Option<String>,
}

impl Cover {
    /// Of a page that is a `kind` ("report"), of a run in this state. It does not carry the record.
    pub fn of(record: &Record, kind: &str, state: Option<String>) -> Cover {
        Cover {
            eyebrow: format!("Flashmark {kind}"),
            name: words::name(&record.medium),
            facts: words::medium_facts(record).join(" · "),
            label: record.run.label.as_deref().map(words::clean).unwrap_or_default(),
            run_facts: caveats::run_facts(record).join(" · "),
            state,
            failed: record.run.ended == Ended::Error,
            skipped: caveats::skipped(record),
            how: facts::sections(record),
            private: facts::is_private(record),
            run: words::clean(&record.run.id),
            file_name: facts::file_name(record),
            embedded_record: None,
        }
    }

    /// The same with the record in it.
    pub fn with_record(self, record: &Record) -> Cover {
        Cover { embedded_record: Some(embedded_record(record)), ..self }
    }
}
