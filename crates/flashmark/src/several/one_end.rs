//! Outcome of one of several media.

use record::Summary;
use report::summaries::MediumSummary;
use serde_json::Value;

use program::exit::Exit;

/// Outcome of one medium.
pub struct OneEnd {
    /// The target as it was typed.
    pub target: String,
    /// Its place among the targets that were typed.
    pub nth: usize,
    /// Exit code of its process.
    pub exit: Exit,
    /// Name of its run, if there is one.
    pub run: Option<String>,
    /// Summary of its run.
    pub summary: Option<Summary>,
    /// Its last message, if it has no run.
    pub last_message: String,
    /// Standard output of its process.
    pub output: String,
}

impl OneEnd {
    /// Outcome of a medium whose turn did not come before the call was interrupted.
    pub fn never_begun(target: &str, nth: usize) -> OneEnd {
        OneEnd {
            target: target.to_owned(),
            nth,
            exit: Exit::Interrupted,
            run: None,
            summary: None,
            last_message: "interrupted before its turn".to_owned(),
            output: String::new(),
        }
    }

    /// Outcome in a word or two.
    pub fn outcome(&self) -> &'static str {
        match self.exit {
            Exit::Done => "done",
            Exit::MediumFailed => "it failed",
            Exit::Usage => "not understood",
            Exit::Refused => "refused",
            Exit::Io => "an I/O error ended it",
            Exit::Internal => "it could not be measured",
            Exit::Interrupted => "interrupted",
        }
    }

    /// A row of the table.
    pub fn summarised(&self) -> MediumSummary<'_> {
        MediumSummary {
            target: &self.target,
            summary: self.summary.as_ref(),
            outcome: self.outcome(),
            why: &self.last_message,
            run: self.run.as_deref(),
        }
    }

    /// Takes an event of its progress (docs/progress.md).
    pub fn take(&mut self, event: &Value) {
        match event["event"].as_str() {
            Some("record") => {
                self.run = event["run"].as_str().map(str::to_owned);
                self.summary = Summary::decode(&event["summary"].to_string()).ok();
            }
            Some("message") => {
                let text = event["text"].as_str().unwrap_or_default();
                text.trim_start_matches("flashmark: ").clone_into(&mut self.last_message);
            }
            _ => {}
        }
    }
}
