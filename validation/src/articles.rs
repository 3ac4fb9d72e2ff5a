//! `cargo validation articles`: compares the tools of the articles with our form of each, on one
//! loop device, in pairs whose first side changes.
//!
//! Both sides are read into the same columns: the tool's output by our importers, ours from the
//! record. The table is in docs/articles.md.

mod pairings;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail, ensure};
use record::units::{Bytes, significant};
use record::{Cell, Record};
use report::column_figures::column_figures;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::agree::loop_medium::{LoopMedium, On};
use crate::agree_work::Mounted;
use crate::{released, section};
use pairings::{PAIRINGS, Pairing};

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Pairs of runs of each tool.
    #[arg(long, default_value_t = 5)]
    pairs: usize,
    /// Text in the commands of the tools to measure. Without it, all.
    #[arg(long)]
    only: Option<String>,
    /// Size of the file under the loop device.
    #[arg(long, default_value = "1GiB")]
    size: Bytes,
    /// Storage of the file under the loop device.
    #[arg(long, value_delimiter = ',', default_value = "disk,tmpfs")]
    on: Vec<On>,
    /// Program to measure. Without it, a release build is made.
    #[arg(long)]
    program: Option<PathBuf>,
    /// Write the table to docs/articles.md.
    #[arg(long)]
    write: bool,
}

/// Figures by the name of their column, in its unit.
type Figures = BTreeMap<String, f64>;

/// Measures and prints the table.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let program = released::given_or_built(flags.program.as_deref(), root, "flashmark")?;
    let tools = install(root)?;
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, interrupted.clone()).context("listening for Ctrl-C")?;
    }
    let mut text = String::new();
    for on in &flags.on {
        let loop_medium = LoopMedium::make(root, *on, flags.size.0)?;
        let table = table(&program, &tools, &loop_medium, flags, &interrupted)?;
        let _ = write!(text, "On {on}:\n\n{table}\n");
    }
    println!("\n{text}");
    if flags.write {
        let page = root.join("docs/articles.md");
        section::keep(
            &page,
            "Beside the tools of the articles",
            "cargo validation articles",
            &text,
        )?;
    }
    Ok(())
}

/// Measures all pairings on one loop device.
fn table(
    program: &Path,
    tools: &Path,
    loop_medium: &LoopMedium,
    flags: &Flags,
    interrupted: &AtomicBool,
) -> Result<String> {
    let chosen = |is_in_directory: bool| {
        PAIRINGS.iter().filter(move |pairing| {
            pairing.is_in_directory() == is_in_directory
                && flags.only.as_ref().is_none_or(|only| pairing.tool.contains(only))
        })
    };
    let mut table = String::from(
        "| article | tool | column | flashmark | tool | ratio (smallest to largest) |\n|---|---|---|---:|---:|---:|\n",
    );
    let mut bench = Bench { program, tools, loop_medium, interrupted, directory: None };
    for pairing in chosen(false) {
        table += &bench.pairs(pairing, flags.pairs)?;
    }
    let mounted = Mounted::make(loop_medium)?;
    bench.directory = Some(mounted.point());
    for pairing in chosen(true) {
        table += &bench.pairs(pairing, flags.pairs)?;
    }
    Ok(table)
}

/// Installs hdparm, and iozone below target/ (Debian has it in non-free, on the same server as this
/// machine's packages); returns the folder of iozone.
fn install(root: &Path) -> Result<PathBuf> {
    let folder = root.join("target/articles");
    let script = format!(
        r#"set -e
        command -v hdparm >/dev/null || apt-get install -qy --no-install-recommends hdparm >&2
        command -v iozone >/dev/null || [ -x '{0}/usr/bin/iozone' ] || {{
            mkdir -p '{0}/lists/partial'; cd '{0}'
            from=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' | head -n1)
            echo "deb $from non-free" >sources.list
            apt() {{ apt-get -q -o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$PWD/lists" "$@" >&2; }}
            apt update; apt download iozone3; dpkg-deb -x iozone3_*.deb .
        }}"#,
        folder.display()
    );
    let output = shell(&script, root)?;
    ensure!(
        output.status.success(),
        "hdparm and iozone could not be installed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(folder.join("usr/bin"))
}

fn shell(script: &str, directory: &Path) -> Result<std::process::Output> {
    let mut command = Command::new("bash");
    command.args(["-c", script]).current_dir(directory).env("LC_ALL", "C");
    command.output().with_context(|| format!("{script} does not start"))
}

/// Ground and programs of both sides.
struct Bench<'a> {
    program: &'a Path,
    tools: &'a Path,
    loop_medium: &'a LoopMedium,
    /// True after a signal: the loop device and the workers are restored at the end of a pair.
    interrupted: &'a AtomicBool,
    directory: Option<&'a Path>,
}

impl Bench<'_> {
    /// Measures a pairing and returns its rows; one run of each side before them does not count.
    fn pairs(&self, pairing: &Pairing, count: usize) -> Result<String> {
        eprintln!("{}", pairing.tool);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        self.ours(pairing)?;
        self.theirs(pairing)?;
        for pair in 0..count {
            ensure!(!self.interrupted.load(Ordering::Relaxed), "interrupted");
            if pair % 2 == 0 {
                ours.push(self.ours(pairing)?);
                theirs.push(self.theirs(pairing)?);
            } else {
                theirs.push(self.theirs(pairing)?);
                ours.push(self.ours(pairing)?);
            }
        }
        Ok(pairing.columns.iter().map(|column| row(pairing, column, &ours, &theirs)).collect())
    }

    fn placed(&self, text: &str) -> String {
        let directory = self.directory.map(|it| it.display().to_string()).unwrap_or_default();
        text.replace("DEV", &self.loop_medium.device().display().to_string())
            .replace("DIR", &directory)
    }

    fn theirs(&self, pairing: &Pairing) -> Result<Figures> {
        let command = self.placed(pairing.tool);
        let directory = self.directory.unwrap_or(Path::new("/"));
        let script = format!("PATH=$PATH:/usr/sbin:/sbin:{}; {command} 2>&1", self.tools.display());
        let mut tool = self.loop_medium.pinned(Path::new("bash"));
        let output =
            tool.args(["-c", &script]).current_dir(directory).env("LC_ALL", "C").output()?;
        ensure!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stdout));
        // As on a terminal: the command line tells what dd's three lines are of.
        let text = format!("# {command}\n{}", String::from_utf8_lossy(&output.stdout));
        let records = import::read("terminal.txt", text.as_bytes())?;
        Ok(figures(records.iter().flat_map(|record| &record.cells)))
    }

    fn ours(&self, pairing: &Pairing) -> Result<Figures> {
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
        let output = program.output()?;
        if !output.status.success() {
            bail!("{command}: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let text = String::from_utf8(output.stdout)?;
        let cells: Vec<Cell> = match words[0] {
            "work" => serde_json::from_str(&text)?,
            _ => Record::from_json(&text)?.cells,
        };
        Ok(figures(&cells))
    }
}

fn figures<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Figures {
    let cells: Vec<Cell> = cells.into_iter().cloned().collect();
    column_figures(&cells).into_iter().map(|(name, found)| (name, found.figure.value)).collect()
}

fn row(pairing: &Pairing, column: &str, ours: &[Figures], theirs: &[Figures]) -> String {
    let values = |side: &[Figures]| -> Vec<f64> {
        side.iter().map(|figures| figures.get(column).copied().unwrap_or(f64::NAN)).collect()
    };
    let (ours, theirs) = (values(ours), values(theirs));
    let mut ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(own, other)| own / other).collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(0.0, f64::max);
    let median = |mut values: Vec<f64>| stats::median(&mut values).unwrap_or(f64::NAN);
    let mut line = String::new();
    let _ = writeln!(
        line,
        "| {} | `{}` | {column} | {} | {} | {:.3} ({least:.3} to {most:.3}) |",
        pairing.article,
        pairing.tool,
        significant(median(ours)),
        significant(median(theirs)),
        stats::median(&mut ratios).unwrap_or(f64::NAN),
    );
    eprint!("{line}");
    line
}
