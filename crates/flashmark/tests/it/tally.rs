//! Tries and losses, for the table of `cargo validation torture`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

/// Count of one kind of try. [`Tally::end`] fails if something was lost.
pub struct Tally {
    part: &'static str,
    what: String,
    tries: u64,
    counts: BTreeMap<&'static str, u64>,
    lost: Vec<String>,
}

impl Tally {
    /// Count for a part of the torture tests, with a description of its tries.
    pub fn of(part: &'static str, what: impl Into<String>) -> Tally {
        Tally { part, what: what.into(), tries: 0, counts: BTreeMap::new(), lost: Vec::new() }
    }

    /// Adds to a count beside the tries.
    pub fn count(&mut self, name: &'static str, more: u64) {
        *self.counts.entry(name).or_default() += more;
    }

    /// Value of such a count.
    pub fn counted(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }

    /// Makes so many tries in one go; a panic says that something was lost.
    pub fn attempt<T>(
        &mut self,
        tries: u64,
        named: &str,
        attempt: impl FnOnce(&mut Tally) -> T,
    ) -> Option<T> {
        self.tries += tries;
        match catch_unwind(AssertUnwindSafe(|| attempt(&mut *self))) {
            Ok(came) => Some(came),
            Err(panic) => {
                let message = panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| panic.downcast_ref::<&str>().copied());
                self.lost.push(format!("{named}: {}", message.unwrap_or_default()));
                None
            }
        }
    }

    /// Sum of two counts of the same kind.
    pub fn and(mut self, other: Tally) -> Tally {
        self.tries += other.tries;
        other.counts.into_iter().for_each(|(name, more)| self.count(name, more));
        self.lost.extend(other.lost);
        self
    }

    /// Writes a line for the table, if there is one, and fails if something was lost.
    pub fn end(self) {
        if let Some(lost) = self.report() {
            panic!("{lost}");
        }
    }

    /// Writes a line for the table, if there is one; returns a message if something was lost.
    pub fn report(self) -> Option<String> {
        let Tally { part, what, tries, counts, lost } = self;
        if let Ok(path) = std::env::var("FLASHMARK_TALLY") {
            let line = json!({ "part": part, "what": what, "tries": tries, "counts": counts, "lost": lost });
            let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
        let (count, words) = (lost.len(), lost.join("\n"));
        (count > 0)
            .then(|| format!("{part}, {what}: {count} of {tries} tries lost something:\n{words}"))
    }
}
