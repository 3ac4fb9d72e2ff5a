//! The judgement of `flashmark compare --before --after --fail-if`, figure by figure.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use record::Record;
use record::units::Bytes;
use serde::Deserialize;

use crate::attached::medium::Program;

/// Share that a figure may lose.
pub const ALLOWED: &str = "10%";

/// A figure that was compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Compared {
    pub test: String,
    pub block_bytes: Option<u64>,
}

impl Compared {
    /// Name of the figure: "random-write 4 KiB".
    pub fn name(&self) -> String {
        let size = self.block_bytes.map_or(String::new(), |bytes| format!(" {}", Bytes(bytes)));
        format!("{}{size}", self.test)
    }
}

/// Fields that are read of a comparison; its other parts are for people.
#[derive(Debug, Deserialize)]
struct Comparison {
    regression: Lists,
}

#[derive(Debug, Deserialize)]
struct Lists {
    slower: Vec<Compared>,
    unclear: Vec<Compared>,
    kept: Vec<Compared>,
}

/// Count of comparisons, and of those that found the figure slower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub found: u32,
    pub all: u32,
}

impl Count {
    /// Percent of the comparisons; `None` without any.
    pub fn percent(self) -> Option<f64> {
        (self.all > 0).then(|| 100.0 * f64::from(self.found) / f64::from(self.all))
    }

    pub fn add(&mut self, other: Count) {
        self.found += other.found;
        self.all += other.all;
    }
}

/// Count of each figure.
pub type Counts = BTreeMap<Compared, Count>;

/// Counts the JSON that `compare` printed.
fn count(printed: &[u8], counts: &mut Counts) -> Result<()> {
    let Comparison { regression: Lists { slower, unclear, kept } } =
        serde_json::from_slice(printed).context("reading what compare printed")?;
    let of = |list: Vec<Compared>, found| list.into_iter().map(move |figure| (figure, found));
    for (figure, found) in of(slower, 1).chain(of(unclear, 0)).chain(of(kept, 0)) {
        counts.entry(figure).or_default().add(Count { found, all: 1 });
    }
    Ok(())
}

/// Compares these record files and counts the figures.
pub fn judge(
    program: &Program,
    before: &[&Path],
    after: &[&Path],
    counts: &mut Counts,
) -> Result<()> {
    let home = tempfile::tempdir()?;
    let side = |label: &str, records: &[&Path]| side(home.path(), label, records);
    let mut command = Command::new(program.word());
    command.arg("compare").arg("--before").arg(side("before", before)?);
    command.arg("--after").arg(side("after", after)?);
    command.args(["--fail-if", ALLOWED, "--json", "-"]);
    command.env("FLASHMARK_HOME", home.path()).stdin(Stdio::null());
    let output = command.output()?;
    // Exit code 1 says that something is slower.
    ensure!(
        matches!(output.status.code(), Some(0 | 1)),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    count(&output.stdout, counts)
}

/// Argument for these runs: one by its file, several by a label that copies of them get in `home`.
/// All copies are given one medium, whichever loop device they were on.
fn side(home: &Path, label: &str, records: &[&Path]) -> Result<String> {
    if let [record] = records {
        return Ok(format!("loop={}", record.display()));
    }
    for (number, path) in records.iter().enumerate() {
        let mut record = read(path)?;
        record.run.label = Some(label.to_owned());
        let run = home.join(format!("{label}-{number}"));
        fs::create_dir(&run)?;
        fs::write(run.join("record.json"), serde_json::to_vec(&record)?)?;
    }
    Ok(format!("loop={label}"))
}

fn read(path: &Path) -> Result<Record> {
    let text = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("reading {}", path.display()))
}

/// Paths at these indices.
pub fn picked<'a>(pool: &'a [PathBuf], places: &[usize]) -> Vec<&'a Path> {
    places.iter().map(|place| pool[*place].as_path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_counted_whichever_list_they_are_in() {
        let write = serde_json::json!({"test": "random-write", "block_bytes": 4096, "ratio": 0.8});
        let matrix = serde_json::json!({"test": "commit", "block_bytes": null, "ratio": 1.0});
        let printed = |slower: &[_], unclear: &[_], kept: &[_]| {
            let lists = serde_json::json!({"slower": slower, "unclear": unclear, "kept": kept});
            serde_json::to_vec(&serde_json::json!({"curves": [], "regression": lists})).unwrap()
        };
        let (write, matrix) = ([write], [matrix]);
        let mut counts = Counts::new();
        count(&printed(&write, &matrix, &[]), &mut counts).unwrap();
        count(&printed(&[], &write, &matrix), &mut counts).unwrap();
        count(&printed(&write, &[], &[]), &mut counts).unwrap();
        let counts: Vec<(String, Count)> =
            counts.into_iter().map(|(figure, count)| (figure.name(), count)).collect();
        let expected = [
            ("commit".to_owned(), Count { found: 0, all: 2 }),
            ("random-write 4 KiB".to_owned(), Count { found: 2, all: 3 }),
        ];
        assert_eq!(counts, expected);
        assert!(count(b"{}", &mut Counts::new()).is_err());
    }
}
