//! A line of progress for each of several media.

use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use record::PlannedCell;
use record::text::printable;
use record::units::Nanos;
use serde_json::Value;

use super::one_end::OneEnd;
use program::messages;
use program::say;
use program::terminal::OutputStream;
use session::words;

/// The screen; dropping it clears the lines.
pub struct SeveralScreen {
    lines: Mutex<Vec<TargetLine>>,
    all: MultiProgress,
    is_quiet: bool,
}

struct TargetLine {
    name: String,
    bar: Option<ProgressBar>,
    plan: Vec<PlannedCell>,
}

impl SeveralScreen {
    /// A screen without lines.
    pub fn open(is_quiet: bool) -> SeveralScreen {
        let is_quiet = is_quiet || messages::are_json();
        SeveralScreen { lines: Mutex::new(Vec::new()), all: MultiProgress::new(), is_quiet }
    }

    /// Adds a line, with the next number: at the bottom of a terminal, elsewhere whenever a cell has
    /// ended.
    pub fn add(&self, name: &str) {
        let name = printable(name);
        let bar = (!self.is_quiet && OutputStream::Error.is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{prefix}  {wide_msg}");
            let bar = self.all.add(ProgressBar::new_spinner());
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_prefix(name.clone());
            bar.set_message("waits for its turn");
            bar
        });
        self.lock().push(TargetLine { name, bar, plan: Vec::new() });
    }

    /// Shows an event of the target with that number.
    pub fn show(&self, nth: usize, event: &Value) {
        let mut lines = self.lock();
        let Some(line) = lines.get_mut(nth) else { return };
        match event["event"].as_str() {
            Some("planned") => {
                let cells = event["cells"].as_array().into_iter().flatten();
                let plan = cells.map(|cell| PlannedCell::decode(&cell.to_string()));
                line.plan = plan.collect::<Result<_, _>>().unwrap_or_default();
            }
            Some("cell-started") => line.set(&line.doing(event)),
            Some("progress") => {
                let left = event["remaining_ns"].as_u64();
                let left = left.map(|ns| format!(", about {} left", Nanos(ns)));
                line.set(&format!("{}{}", line.doing(event), left.unwrap_or_default()));
            }
            Some("cell-finished") if line.bar.is_none() => {
                let figure = event["figure"].as_str().unwrap_or_default();
                self.print_line(&format!("{}  {}  {figure}", line.name, line.doing(event)));
            }
            Some("message") => {
                let text = event["text"].as_str().unwrap_or_default();
                self.print_line(&format!("{}  {text}", line.name));
            }
            _ => {}
        }
    }

    /// Shows that one has ended.
    pub fn end(&self, ended: &OneEnd) {
        if let Some(line) = self.lock().get(ended.nth) {
            line.set(ended.outcome());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<TargetLine>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints a message above the lines.
    fn print_line(&self, text: &str) {
        if !self.is_quiet {
            self.all.suspend(|| say!("{text}"));
        }
    }
}

impl Drop for SeveralScreen {
    fn drop(&mut self) {
        let _ = self.all.clear();
    }
}

impl TargetLine {
    fn set(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
            bar.tick();
        }
    }

    /// "3/12 random-write 4 KiB".
    fn doing(&self, event: &Value) -> String {
        let index = event["index"].as_u64().unwrap_or_default() as usize;
        let name = self.plan.get(index).map(|cell| words::cell(&cell.test, &cell.params));
        format!("{}/{} {}", index + 1, event["cells"], name.unwrap_or_default())
    }
}
