//! The judgement of `flashmark compare --before --after --fail-if`, figure by figure.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use record::units::Bytes;
use serde::Deserialize;

use super::checks::read;
use crate::attached::medium::Program;
use crate::programs::output_if;
use crate::truth::Share;

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

/// Comparisons of each figure that found it slower, and all.
pub type Counts = BTreeMap<Compared, Share>;

/// Counts the JSON that `compare` printed.
fn count(printed: &[u8], counts: &mut Counts) -> Result<()> {
    let Comparison { regression: Lists { slower, unclear, kept } } =
        serde_json::from_slice(printed).context("reading what compare printed")?;
    let of = |list: Vec<Compared>, found| list.into_iter().map(move |figure| (figure, found));
    for (figure, found) in of(slower, true).chain(of(unclear, false)).chain(of(kept, false)) {
        counts.entry(figure).or_default().count(found);
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
    // Exit code 1 says that something is slower.
    count(output_if(&mut command, |code| code == 1)?.as_bytes(), counts)
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
        let counts: Vec<(String, Share)> =
            counts.into_iter().map(|(figure, count)| (figure.name(), count)).collect();
        let expected = [
            ("commit".to_owned(), Share { of: 0, all: 2 }),
            ("random-write 4 KiB".to_owned(), Share { of: 2, all: 3 }),
        ];
        assert_eq!(counts, expected);
        assert!(count(b"{}", &mut Counts::new()).is_err());
    }
}
