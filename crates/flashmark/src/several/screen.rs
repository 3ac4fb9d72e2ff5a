//! A line of progress for each of several media.

use std::sync::{Mutex, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use record::PlannedCell;
use record::units::Nanos;
use report::display;
use serde_json::Value;

use super::OneTarget;
use super::one_end::OneEnd;
use crate::terminal::OutputStream;
use crate::{messages, say, words};

/// The screen; dropping it wipes the lines.
pub struct SeveralScreen {
    lines: Vec<Mutex<TargetLine>>,
    all: MultiProgress,
    is_quiet: bool,
}

struct TargetLine {
    name: String,
    bar: Option<ProgressBar>,
    plan: Vec<PlannedCell>,
}

impl SeveralScreen {
    /// A line for each target: at the bottom of a terminal, elsewhere when a cell has ended.
    pub fn open(targets: &[OneTarget], is_quiet: bool) -> SeveralScreen {
        let all = MultiProgress::new();
        let is_shown = !is_quiet && !messages::are_json() && OutputStream::Error.is_terminal();
        let width = targets.iter().map(|one| display::width(&one.name)).max().unwrap_or_default();
        let line = |one: &OneTarget| {
            let name = display::padded(&report::words::clean(&one.name), width);
            let bar = is_shown.then(|| {
                let style = ProgressStyle::with_template("{prefix}  {wide_msg}");
                let bar = all.add(ProgressBar::new_spinner());
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
                bar.set_prefix(name.clone());
                bar.set_message("waits for its turn");
                bar
            });
            Mutex::new(TargetLine { name, bar, plan: Vec::new() })
        };
        let lines = targets.iter().map(line).collect();
        SeveralScreen { lines, all, is_quiet: is_quiet || messages::are_json() }
    }

    /// Shows an event of the target with that number.
    pub fn show(&self, nth: usize, event: &Value) {
        let mut line = self.lines[nth].lock().unwrap_or_else(PoisonError::into_inner);
        match event["event"].as_str() {
            Some("planned") => {
                line.plan = serde_json::from_value(event["cells"].clone()).unwrap_or_default();
            }
            Some("cell-started") => line.set(&line.doing(event)),
            Some("progress") => {
                let left = event["remaining_ns"].as_u64();
                let left = left.map(|ns| format!(", at most {} left", Nanos(ns)));
                line.set(&format!("{}{}", line.doing(event), left.unwrap_or_default()));
            }
            Some("cell-finished") if line.bar.is_none() => {
                let figure = event["figure"].as_str().unwrap_or_default();
                self.say(&format!("{}  {}  {figure}", line.name, line.doing(event)));
            }
            Some("message") => {
                let text = event["text"].as_str().unwrap_or_default();
                self.say(&format!("{}  {text}", line.name));
            }
            _ => {}
        }
    }

    /// Shows that one has ended.
    pub fn end(&self, ended: &OneEnd) {
        let line = self.lines[ended.nth].lock().unwrap_or_else(PoisonError::into_inner);
        line.set(ended.outcome());
    }

    fn say(&self, text: &str) {
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
