//! `cargo validation articles`: compares the tools of the articles with our form of each, on one
//! loop device under one limit, in pairs whose first side changes.
//!
//! Both sides are read into the same columns: the tool's output by our importers, ours from the
//! record. The table is in docs/articles.md.

mod limit;
mod pairings;
mod seeker;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use record::units::{Bytes, significant};
use record::{Cell, Record, quantities, test};
use serde_json::Value;

use crate::agree::loop_medium::LoopMedium;
use crate::agree_work::mounted_on;
use crate::pairs::{PairFlags, Pairs, in_turn};
use crate::programs::{interrupts, output};
use crate::released;
use crate::section::Section;
use limit::Limit;
use pairings::{PAIRINGS, Pairing};
pub use seeker::{Seeks, seek};

const TABLE: Section<'static> = Section {
    page: "docs/articles.md",
    heading: "Beside the tools of the articles",
    name: "cargo validation articles",
};

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    #[command(flatten)]
    pairs: PairFlags,
    /// Size of the file under the loop device.
    #[arg(long, default_value = "1GiB")]
    size: Bytes,
    /// Program to measure. Without it, a release build is made.
    #[arg(long)]
    program: Option<PathBuf>,
}

/// Most that the median of the ratios is apart from 1, if 1 is not between the smallest and the
/// largest.
const TOLERANCE: f64 = 0.07;

/// Figures by the name of their column, in its unit.
type Figures = BTreeMap<String, f64>;

/// Measures and prints the table.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let program = released::given_or_built(flags.program.as_deref(), root, "flashmark")?;
    let tools = install(root)?;
    let interrupted = interrupts()?;
    let mut text = String::new();
    for on in &flags.pairs.on {
        let loop_medium = LoopMedium::make(root, *on, flags.size.0)?;
        let _limit = Limit::on(loop_medium.device())?;
        let mut bench = Bench {
            program: &program,
            tools: &tools,
            loop_medium: &loop_medium,
            interrupted: &interrupted,
            directory: None,
        };
        let mut rows = bench.pairs(&flags.pairs)?;
        let mounted = mounted_on(&loop_medium, root)?;
        bench.directory = Some(mounted.point());
        rows += &bench.pairs(&flags.pairs)?;
        text += &format!(
            "On {on}, {}:\n\n| article | tool | column | flashmark | tool | ratio (smallest to largest) | |\n|---|---|---|---:|---:|---:|---|\n{rows}\n",
            limit::WORDS
        );
    }
    TABLE.publish(root, &text, flags.pairs.write)
}

/// Installs hdparm and iostat, and iozone below target/ (Debian has it in non-free, on the same server as this
/// machine's packages); returns the folder of iozone.
fn install(root: &Path) -> Result<PathBuf> {
    let folder = root.join("target/articles");
    let script = format!(
        r#"set -e
        command -v hdparm >/dev/null || apt-get install -qy --no-install-recommends hdparm >&2
        command -v iostat >/dev/null || apt-get install -qy --no-install-recommends sysstat >&2
        command -v iozone >/dev/null || [ -x '{0}/usr/bin/iozone' ] || {{
            mkdir -p '{0}/lists/partial'; cd '{0}'
            from=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' | head -n1)
            echo "deb $from non-free" >sources.list
            apt() {{ apt-get -q -o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$PWD/lists" "$@" >&2; }}
            apt update; apt download iozone3; dpkg-deb -x iozone3_*.deb .
        }}"#,
        folder.display()
    );
    output(Command::new("bash").args(["-c", &script]).env("LC_ALL", "C"))
        .context("hdparm, iostat and iozone could not be installed")?;
    Ok(folder.join("usr/bin"))
}

/// LoopMedium and programs of both sides.
struct Bench<'a> {
    program: &'a Path,
    tools: &'a Path,
    loop_medium: &'a LoopMedium,
    /// True after a signal: the loop device and the workers are restored at the end of a pair.
    interrupted: &'a AtomicBool,
    directory: Option<&'a Path>,
}

impl Bench<'_> {
    /// Measures the pairings of the device, or of the directory if there is one; returns their rows.
    fn pairs(&self, flags: &PairFlags) -> Result<String> {
        let mut rows = String::new();
        let is_here = |pairing: &&Pairing| {
            pairing.is_in_directory() == self.directory.is_some() && flags.is_wanted(pairing.tool)
        };
        for pairing in PAIRINGS.iter().filter(is_here) {
            eprintln!("{}", pairing.tool);
            // The first run of each side does not count.
            self.ours(pairing)?;
            self.theirs(pairing)?;
            let (ours, theirs) = in_turn(
                0,
                flags.pairs,
                self.interrupted,
                || self.ours(pairing),
                || self.theirs(pairing),
            )?;
            for column in pairing.columns {
                let row = row(pairing, column, &ours, &theirs);
                eprint!("{row}");
                rows += &row;
            }
        }
        Ok(rows)
    }

    fn placed(&self, text: &str) -> String {
        let directory = self.directory.map(|it| it.display().to_string()).unwrap_or_default();
        text.replace("DEV", &self.loop_medium.device().display().to_string())
            .replace("DIR", &directory)
    }

    /// What is watched, while one of the two watches.
    fn load(&self, pairing: &Pairing) -> Result<Option<Load>> {
        if !pairing.is_watching() {
            return Ok(None);
        }
        let mut dd = self.loop_medium.pinned(Path::new("dd"));
        dd.arg(format!("if={}", self.loop_medium.device().display()));
        dd.args(["of=/dev/null", "iflag=direct", "bs=16k"]).stderr(Stdio::null());
        Ok(Some(Load(dd.spawn().context("dd does not start")?)))
    }

    fn theirs(&self, pairing: &Pairing) -> Result<Figures> {
        let _load = self.load(pairing)?;
        let itself = std::env::current_exe()?.display().to_string();
        let command = self.placed(pairing.tool).replace("seeker ", &format!("{itself} seeker "));
        let directory = self.directory.unwrap_or(Path::new("/"));
        let script = format!("PATH=$PATH:/usr/sbin:/sbin:{}; {command} 2>&1", self.tools.display());
        let mut tool = self.loop_medium.pinned(Path::new("bash"));
        tool.args(["-c", &script]).current_dir(directory).env("LC_ALL", "C");
        let text = output(&mut tool)?;
        if pairing.is_watching() {
            let report: Value = serde_json::from_str(&text)?;
            let looks = &report["sysstat"]["hosts"][0]["statistics"];
            return look(&looks[1]["disk"][0]);
        }
        // As on a terminal: the command line tells what dd's three lines are of.
        let text = format!("# {command}\n{text}");
        let records = import::read("terminal.txt", text.as_bytes())?;
        Ok(figures(records.iter().flat_map(|record| &record.cells)))
    }

    fn ours(&self, pairing: &Pairing) -> Result<Figures> {
        let _load = self.load(pairing)?;
        let command = self.placed(pairing.ours);
        let words: Vec<&str> = command.split(' ').collect();
        let mut program = match words[0] {
            "work" => self.loop_medium.pinned(&std::env::current_exe()?),
            _ => self.loop_medium.pinned(self.program),
        };
        program
            .args(&words)
            .env("FLASHMARK_HOME", self.loop_medium.scratch().with_file_name("home"));
        if words[0] == "run" {
            program.args(["--quiet", "--json=-"]);
        }
        if words[0] == "run" && self.directory.is_none() {
            program.arg("--erase").arg(self.loop_medium.device());
        }
        let text = output(&mut program)?;
        if words[0] == "watch" {
            return look(&serde_json::from_str(&text)?);
        }
        let cells: Vec<Cell> = match words[0] {
            "work" => serde_json::from_str(&text)?,
            _ => Record::from_json(&text)?.cells,
        };
        Ok(figures(&cells))
    }
}

/// A program that reads the device until this is dropped.
struct Load(Child);

impl Drop for Load {
    fn drop(&mut self) {
        let _ended = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Figures of a device under iostat's names.
fn look(device: &Value) -> Result<Figures> {
    let device = device.as_object().context("a device was watched")?;
    Ok(device.iter().filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect())
}

/// Of a column that several cells have, the first counts. Reads of several threads have none.
fn figures<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Figures {
    let mut found = Figures::new();
    for cell in cells {
        let columns = quantities(cell).into_iter().map(|(column, it)| (column.name, it.value));
        let seeks = cell.metrics.iops.filter(|_| cell.test == test::RANDOM_READ);
        for (name, value) in columns.chain(seeks.map(|it| ("seeks".to_owned(), it.value))) {
            found.entry(name).or_insert(value);
        }
    }
    found
}

fn row(pairing: &Pairing, column: &str, ours: &[Figures], theirs: &[Figures]) -> String {
    let figure = |figures: &Figures| figures.get(column).copied().unwrap_or(f64::NAN);
    let pairs = Pairs::of(ours, theirs, figure);
    let [own, other] = pairs.medians().map(significant);
    format!(
        "| {} | `{}` | {column} | {own} | {other} | {:.3} ({}) | {} |\n",
        pairing.article,
        pairing.tool,
        pairs.ratio(),
        pairs.range(3),
        if pairs.agree(TOLERANCE) { "agrees" } else { "**differs**" }
    )
}
