//! Runs of `flashmark check` and their printed figures.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use record::units::significant;
use serde_json::Value;
use tempfile::TempDir;

use super::storage::{Storage, scratch};
use crate::attached::medium::Program;

/// Flags of both studies.
#[derive(clap::Args)]
pub struct StudyFlags {
    /// Program to measure with. Without it, one is built.
    #[arg(long, value_name = "PATH")]
    pub program: Option<PathBuf>,
    /// Directory of the runs: existing ones are counted, missing ones are made and kept there.
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Time limit of each check, for example 15s. Without it, the default of `check`.
    #[arg(long, value_name = "DURATION")]
    pub budget: Option<String>,
    /// Write the table to docs/truth.md.
    #[arg(long)]
    pub write: bool,
}

impl StudyFlags {
    /// Arguments that change the measurement, each with a space before it.
    pub fn words(&self) -> String {
        self.budget.as_ref().map_or(String::new(), |budget| format!(" --budget {budget}"))
    }
}

/// Program and flags of the checks of a study.
pub struct Checks<'a> {
    root: &'a Path,
    pub program: Program,
    budget: Option<&'a str>,
    interrupted: Arc<AtomicBool>,
}

/// A check that ran; its record is removed when it is dropped.
pub struct Checked {
    home: TempDir,
    /// Line of JSON that it printed.
    pub printed: Value,
}

impl<'a> Checks<'a> {
    /// Finds or builds the program. Ctrl-C ends the running check, and this process goes on, to
    /// remove what it made.
    pub fn prepare(root: &'a Path, flags: &'a StudyFlags) -> Result<Checks<'a>> {
        let program = Program::given(root, flags.program.as_deref())?;
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, interrupted.clone())
                .context("listening for Ctrl-C")?;
        }
        Ok(Checks { root, program, budget: flags.budget.as_deref(), interrupted })
    }

    /// Checks this storage, with results in a directory of their own. An error if the check fails
    /// or is interrupted, but not if the medium is not suitable.
    pub fn run(&self, storage: &dyn Storage) -> Result<Checked> {
        let home = scratch(self.root)?;
        let mut command = storage.command(&self.program);
        command.arg("check").arg(storage.directory()).args(["--again", "--json", "--quiet"]);
        command.args(self.budget.map(|budget| format!("--budget={budget}")));
        command.env("FLASHMARK_HOME", home.path()).stdin(Stdio::null());
        let output = command.output().with_context(|| format!("{command:?} does not start"))?;
        ensure!(!self.interrupted.load(Ordering::Relaxed), "interrupted");
        ensure!(
            matches!(output.status.code(), Some(0 | 1)),
            "{command:?}: {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let printed =
            serde_json::from_slice(&output.stdout).context("reading what check printed")?;
        Ok(Checked { home, printed })
    }
}

impl Checked {
    /// Path of its record file.
    pub fn record(&self) -> Result<PathBuf> {
        let run = self.printed["run"].as_str().context("check printed no name of its run")?;
        Ok(self.home.path().join(run).join("record.json"))
    }
}

/// Figures of a check: name here, and name in its summary.
pub const FIGURES: [(&str, &str); 4] = [
    ("sequential read", "sequential_read_bps"),
    ("sequential write", "sequential_write_bps"),
    ("random read, 4 KiB", "random_read_4k_iops"),
    ("random write, 4 KiB", "random_write_4k_iops"),
];

/// A figure with its 95 % interval, in bytes a second or IOPS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    pub value: f64,
    pub ci95: Option<[f64; 2]>,
}

/// Figures of a check in the order of [`FIGURES`]; `None` for missing ones.
pub fn figures(printed: &Value) -> [Option<Figure>; 4] {
    let number = |name: &str| printed["summary"][name].as_f64();
    FIGURES.map(|(_, name)| {
        let bound = |end: &str| number(&format!("{name}_{end}"));
        let ci95 = bound("low").zip(bound("high")).map(|(low, high)| [low, high]);
        Some(Figure { value: number(name)?, ci95 })
    })
}

/// Figures of a check in one line, to show progress.
pub fn in_words(printed: &Value) -> String {
    let figure = |((head, _), figure): (_, Option<Figure>)| {
        format!("{head} {}", figure.map_or("-".to_owned(), |figure| significant(figure.value)))
    };
    FIGURES.into_iter().zip(figures(printed)).map(figure).collect::<Vec<_>>().join("; ")
}

/// Sentence that all goals are met, or a list of those that are missed.
pub fn goals_missed(missed: &[String]) -> String {
    match missed {
        [] => "None is missed.".to_owned(),
        missed => format!("Missed:\n\n- {}", missed.join("\n- ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_are_read_from_the_summary() {
        let printed = json!({"summary": {
            "sequential_read_bps": 10.0, "sequential_read_bps_low": 9.0, "sequential_read_bps_high": 12.0,
            "random_write_4k_iops": 3.0, "random_write_4k_iops_low": 2.0,
        }});
        let read = Figure { value: 10.0, ci95: Some([9.0, 12.0]) };
        let write = Figure { value: 3.0, ci95: None };
        assert_eq!(figures(&printed), [Some(read), None, None, Some(write)]);
        let line = in_words(&printed);
        insta::assert_snapshot!(line, @"sequential read 10.0; sequential write -; random read, 4 KiB -; random write, 4 KiB 3.00");
    }

    #[test]
    fn the_summary_has_the_names_that_are_asked_for() {
        let known = serde_json::to_value(schemars::schema_for!(record::Summary)).unwrap();
        for (_, name) in FIGURES {
            for end in ["", "_low", "_high"] {
                let name = format!("{name}{end}");
                assert!(known["properties"].get(&name).is_some(), "{name}");
            }
        }
    }
}
