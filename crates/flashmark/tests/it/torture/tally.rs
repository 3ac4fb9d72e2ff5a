//! What was tried and what was lost, for the table of `cargo validation torture`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::json;

/// The count of one kind of try. Ended by [`Tally::end`], which fails where something was lost.
pub struct Tally {
    part: &'static str,
    what: String,
    tries: u64,
    counts: BTreeMap<&'static str, u64>,
    lost: Vec<String>,
}

impl Tally {
    /// Of a part of the torture, and what exactly is tried.
    pub fn of(part: &'static str, what: impl Into<String>) -> Tally {
        Tally { part, what: what.into(), tries: 0, counts: BTreeMap::new(), lost: Vec::new() }
    }

    /// One more of something that is counted beside the tries.
    pub fn count(&mut self, name: &'static str, more: u64) {
        *self.counts.entry(name).or_default() += more;
    }

    /// How many there were.
    pub fn counted(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }

    /// So many tries in one go; where it panics, something was lost.
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
                let said = panic
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| panic.downcast_ref::<&str>().copied());
                self.lost.push(format!("{named}: {}", said.unwrap_or_default()));
                None
            }
        }
    }

    /// Both in one, of tries of the same kind.
    pub fn and(mut self, other: Tally) -> Tally {
        self.tries += other.tries;
        other.counts.into_iter().for_each(|(name, more)| self.count(name, more));
        self.lost.extend(other.lost);
        self
    }

    /// Tells the table, where there is one, and fails where something was lost.
    pub fn end(self) {
        if let Some(lost) = self.tell() {
            panic!("{lost}");
        }
    }

    /// Tells the table, where there is one; what was lost in words, if anything was.
    pub fn tell(self) -> Option<String> {
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
