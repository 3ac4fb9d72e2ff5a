//! `cargo validation bench`: speed of the program, as ratios to the distribution's fio on the same
//! machine in the same run.
//!
//! An absolute figure describes the machine; a ratio describes the program. Our runs and fio's
//! alternate, so that other load on the machine affects both; the median ratio of several rounds
//! counts, and the smallest and largest are shown beside it.

mod engine_limit;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use blockio::{EngineChoice, ExpectedFile, FileIdentity, OpenOptions, OpenSettings, RealDevice};
use device::{Completion, DataGenerator, Device, Request};
use record::{Content, Histogram};
use serde_json::Value;
use stats::Random;

use crate::pairs::{Pairs, in_turn};
use crate::programs::{fio_results, go_on, interrupts, output};
use crate::section::Section;
use crate::{machine, released};

/// Bytes of an I/O of the read benches.
const BLOCK_BYTES: u64 = 4096;
/// Size of a sparse file, in bytes: reading it never leaves the kernel, so that only the kernel and
/// the programs are measured.
const FILE_BYTES: u64 = 8 << 30;
const DEPTH: u32 = 32;
/// I/Os submitted and completed together, for us and for tuned fio alike.
const BATCH: usize = 8;
/// Bytes of data that are made at once.
const FILL_BYTES: usize = 1 << 20;
const SEED: u64 = 1;

const TABLE: Section<'static> =
    Section { page: "docs/performance.md", heading: "Against fio", name: "cargo validation bench" };

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Rounds of alternating runs.
    #[arg(long, default_value_t = 7)]
    pub rounds: usize,
    /// Duration of each run, in seconds.
    #[arg(long, default_value_t = 2)]
    pub seconds: u64,
    /// Directory on ext4 for the sparse file.
    #[arg(long, default_value = ".")]
    pub dir: PathBuf,
    /// Path of `t/io_uring`, built from fio's sources: the program's own reads are compared with it
    /// too.
    #[arg(long, value_name = "PATH")]
    pub tool: Option<PathBuf>,
    /// Write the table to docs/performance.md.
    #[arg(long)]
    pub write: bool,
}

/// Measures, prints the table, and fails if a target is missed.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    ensure!(
        flags.rounds > 0 && flags.seconds > 0,
        "at least one round of at least one second is needed"
    );
    let mut stat = Command::new("stat");
    let file_system = output(stat.args(["--file-system", "--format=%T"]).arg(&flags.dir))?;
    ensure!(
        file_system.trim() == "ext2/ext3",
        "{} is not on ext4; name a directory that is with --dir",
        flags.dir.display()
    );
    let bench = Bench::new(flags)?;
    let mut rows = bench.random_reads()?;
    rows.push(bench.in_turn(
        ("4 KiB random reads, pread, against fio psync", "IOPS", Target::AtLeast(1.0)),
        || bench.read_randomly(EngineChoice::Psync, 1, 1),
        || bench.fio_reads("psync", &[]),
    )?);
    rows.push(bench.in_turn(
        ("incompressible data, against fio refill_buffers", "B/s", Target::AtLeast(2.0)),
        || Ok(bench.fill()),
        || bench.fio_fills(),
    )?);
    if let Some(tool) = &flags.tool {
        rows.push(bench.against_tool(&released::build(root, "flashmark")?, tool)?);
    }
    let table = table(flags, &rows)?;
    TABLE.publish(root, &table, flags.write)?;
    let missed: Vec<&str> = rows.iter().filter(|row| !row.holds()).map(|row| row.what).collect();
    ensure!(missed.is_empty(), "below target: {}", missed.join(", "));
    Ok(())
}

/// Figures of one run.
#[derive(Default)]
struct Sample {
    /// I/Os or bytes a second.
    rate: f64,
    /// Processor time of the process for each of them, in nanoseconds.
    cpu_ns: f64,
    /// Processor time of the thread that watches for host stalls, for each of them, in nanoseconds;
    /// 0 for fio.
    looking_ns: f64,
}

impl Sample {
    /// Makes one without processor times.
    fn of(rate: f64) -> Sample {
        Sample { rate, ..Sample::default() }
    }
}

/// Limit of a ratio.
enum Target {
    AtLeast(f64),
    AtMost(f64),
}

/// One line of the table: our figure over fio's, or over that of another rival, round by round.
struct Row {
    what: &'static str,
    unit: &'static str,
    target: Target,
    pairs: Pairs,
}

impl Row {
    fn holds(&self) -> bool {
        match self.target {
            Target::AtLeast(least) => self.pairs.ratio() >= least,
            Target::AtMost(most) => self.pairs.ratio() <= most,
        }
    }
}

struct Bench {
    file: PathBuf,
    _dir: tempfile::TempDir,
    rounds: usize,
    time: Duration,
    interrupted: Arc<AtomicBool>,
}

impl Bench {
    fn new(flags: &Flags) -> Result<Bench> {
        let dir = tempfile::tempdir_in(&flags.dir)
            .with_context(|| format!("no directory can be made in {}", flags.dir.display()))?;
        let file = dir.path().join("sparse");
        fs::File::create(&file)?.set_len(FILE_BYTES)?;
        Ok(Bench {
            file,
            _dir: dir,
            rounds: flags.rounds,
            time: Duration::from_secs(flags.seconds),
            interrupted: interrupts()?,
        })
    }

    /// Random reads of 4 KiB at depth 32, against fio with its defaults and against fio at its
    /// best.
    fn random_reads(&self) -> Result<Vec<Row>> {
        let (mut ours, mut plain, mut tuned) = (Vec::new(), Vec::new(), Vec::new());
        let depth = format!("--iodepth={DEPTH}");
        let best = [
            "--registerfiles",
            "--fixedbufs",
            &format!("--iodepth_batch_submit={BATCH}"),
            &format!("--iodepth_batch_complete_min={BATCH}"),
            &format!("--iodepth_batch_complete_max={BATCH}"),
        ];
        for _ in 0..self.rounds {
            go_on(&self.interrupted)?;
            ours.push(self.read_randomly(EngineChoice::Uring, DEPTH, BATCH)?);
            plain.push(self.fio_reads("io_uring", &[&depth])?);
            tuned.push(self.fio_reads("io_uring", &[&[depth.as_str()], &best[..]].concat())?);
        }
        let cpu = |sample: &Sample| sample.cpu_ns;
        let against_plain = "4 KiB random reads, depth 32, against fio io_uring";
        let against_tuned = "the same against fio registerfiles, fixedbufs, batches of 8";
        let looking = "looking at the host, processor time for each I/O, against that of the I/O";
        let own_cpu = Pairs {
            ours: ours.iter().map(|sample| sample.looking_ns).collect(),
            theirs: ours.iter().map(cpu).collect(),
        };
        let cpu = Pairs::of(&ours, &plain, cpu);
        let rates = |theirs: &[Sample]| Pairs::of(&ours, theirs, |sample| sample.rate);
        let rows = [
            (against_plain, "IOPS", Target::AtLeast(1.5), rates(&plain)),
            ("the same, processor time for each I/O", "ns", Target::AtMost(0.75), cpu),
            (against_tuned, "IOPS", Target::AtLeast(1.1), rates(&tuned)),
            (looking, "ns", Target::AtMost(0.02), own_cpu),
        ];
        let row = |(what, unit, target, pairs)| Row { what, unit, target, pairs };
        Ok(rows.map(row).into())
    }

    /// Rates of both sides in turn.
    fn in_turn(
        &self,
        (what, unit, target): (&'static str, &'static str, Target),
        ours: impl FnMut() -> Result<Sample>,
        theirs: impl FnMut() -> Result<Sample>,
    ) -> Result<Row> {
        let (ours, theirs) = in_turn(0, self.rounds, &self.interrupted, ours, theirs)?;
        Ok(Row { what, unit, target, pairs: Pairs::of(&ours, &theirs, |sample| sample.rate) })
    }

    /// Our loop as a suite runs it: through `dyn Device`, with every latency recorded.
    fn read_randomly(&self, engine: EngineChoice, depth: u32, batch: usize) -> Result<Sample> {
        let path = std::fs::canonicalize(&self.file)?;
        let expect = ExpectedFile::File {
            capacity_bytes: FILE_BYTES,
            identity: FileIdentity::of(&std::fs::metadata(&path)?),
        };
        let settings = OpenSettings { engine, ..OpenSettings::default() };
        let mut device =
            RealDevice::open(&OpenOptions { path, writable: false, expect, settings })?;
        ensure!(!device.facts().direct_refused, "O_DIRECT is refused");
        closed_loop(&mut device, depth, batch, self.time)
    }

    fn fio_reads(&self, engine: &str, more: &[&str]) -> Result<Sample> {
        let file = format!("--filename={}", self.file.display());
        let (engine, size) = (format!("--ioengine={engine}"), format!("--size={FILE_BYTES}"));
        let arguments = [&file, &engine, &size, "--rw=randread", "--bs=4k", "--direct=1"];
        let job = self.fio(&[&arguments.map(|argument| argument as &str)[..], more].concat())?;
        sample_of(&job, "read", "iops")
    }

    fn fill(&self) -> Sample {
        let generator = DataGenerator::new(SEED);
        let mut buffer = vec![0; FILL_BYTES];
        let (start, mut bytes) = (Instant::now(), 0);
        while start.elapsed() < self.time {
            generator.fill(std::hint::black_box(&mut buffer), Content::Incompressible, 0, bytes);
            bytes += FILL_BYTES as u64;
        }
        Sample::of(bytes as f64 / start.elapsed().as_secs_f64())
    }

    /// Measures how fast fio fills its buffers: its null engine writes nothing.
    fn fio_fills(&self) -> Result<Sample> {
        let data = ["--rw=write", "--bs=1m", "--refill_buffers", "--randrepeat=0"];
        let job = self.fio(&[&["--ioengine=null", "--size=1t"][..], &data].concat())?;
        sample_of(&job, "write", "bw_bytes")
    }

    /// Runs fio; returns the results of its only job.
    fn fio(&self, arguments: &[&str]) -> Result<Value> {
        let runtime = format!("--runtime={}", self.time.as_secs());
        let mut fio = Command::new("fio");
        fio.args(["--name=bench", "--output-format=json", "--time_based", &runtime]);
        Ok(fio_results(&output(fio.args(arguments))?)?["jobs"][0].take())
    }
}

/// Keeps `depth` random reads in flight for a time.
fn closed_loop(
    device: &mut dyn Device,
    depth: u32,
    batch: usize,
    time: Duration,
) -> Result<Sample> {
    device.prepare(depth, BLOCK_BYTES as usize)?;
    let mut random = Random::new(SEED);
    let mut offset = || random.below(FILE_BYTES / BLOCK_BYTES) * BLOCK_BYTES;
    let mut latencies = Histogram::default();
    let mut done: Vec<Completion> = Vec::with_capacity(depth as usize);
    let (start, cpu, looking_ns) = (device.now(), device.cpu_ns(), looking_cpu_ns()?);
    let end = start + time.as_nanos() as u64;
    for slot in 0..depth {
        device.submit(Request::read(slot, offset(), BLOCK_BYTES))?;
    }
    let mut last = start;
    while last < end {
        done.clear();
        device.reap(batch, &mut done)?;
        for completion in &done {
            completion.result.as_ref().map_err(Clone::clone)?;
            latencies.record(completion.latency_ns());
            last = completion.completed_ns;
            device.submit(Request::read(completion.slot, offset(), BLOCK_BYTES))?;
        }
    }
    let cpu_ns = device.cpu_ns().zip(cpu).map_or(0, |(after, before)| after - before);
    let (reads, looking_ns) = (latencies.len() as f64, looking_cpu_ns()? - looking_ns);
    Ok(Sample {
        rate: reads * 1e9 / (last - start) as f64,
        cpu_ns: cpu_ns as f64 / reads,
        looking_ns: looking_ns as f64 / reads,
    })
}

/// Processor time so far of this process's thread that watches for host stalls, in nanoseconds. The
/// thread has its name a moment after it was started.
fn looking_cpu_ns() -> Result<u64> {
    for _ in 0..100 {
        for task in fs::read_dir("/proc/self/task")? {
            let task = task?.path();
            if fs::read_to_string(task.join("comm"))?.trim() == "host-lateness" {
                let text = fs::read_to_string(task.join("schedstat"))
                    .context("the kernel keeps no processor times of threads")?;
                return Ok(text.split(' ').next().context("schedstat is empty")?.parse()?);
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    bail!("nothing looks at the host")
}

/// Rate and processor time for each I/O from fio's JSON.
fn sample_of(job: &Value, direction: &str, rate: &str) -> Result<Sample> {
    let number = |value: &Value, key: &str| {
        value[key].as_f64().with_context(|| format!("fio's results have no {key}"))
    };
    let ios = number(&job[direction], "total_ios")?;
    ensure!(ios > 0.0, "fio did no I/O");
    let busy_ns = (number(job, "usr_cpu")? + number(job, "sys_cpu")?) / 100.0
        * number(&job[direction], "runtime")?
        * 1e6;
    Ok(Sample { rate: number(&job[direction], rate)?, cpu_ns: busy_ns / ios, looking_ns: 0.0 })
}

fn table(flags: &Flags, rows: &[Row]) -> Result<String> {
    let mut text = format!(
        "`cargo validation bench --rounds {} --seconds {}`, {}, {}; medians over the rounds.\n\n",
        flags.rounds,
        flags.seconds,
        machine::description()?,
        output(Command::new("fio").arg("--version"))?.trim(),
    );
    text.push_str("| what | flashmark | against | ratio (smallest to largest) | target | |\n|---|---:|---:|---:|---:|---|\n");
    for row in rows {
        let target = match row.target {
            Target::AtLeast(least) => format!("≥ {least}"),
            Target::AtMost(most) => format!("≤ {most}"),
        };
        let [ours, other] = row.pairs.medians().map(|median| figure(median, row.unit));
        let word = if row.holds() { "holds" } else { "**missed**" };
        let (what, ratio, range) = (row.what, row.pairs.ratio(), row.pairs.range(2));
        writeln!(text, "| {what} | {ours} | {other} | {ratio:.2} ({range}) | {target} | {word} |")?;
    }
    Ok(text)
}

/// Text of a figure to three digits with its unit: `1.57 M IOPS`, `72.0 GB/s`, `612 ns`.
fn figure(value: f64, unit: &str) -> String {
    let (scaled, prefix) = match value {
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 => (v / 1e6, "M"),
        v if v >= 1e4 => (v / 1e3, "k"),
        v => (v, ""),
    };
    let decimals = match scaled {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    // A space separates a prefix from a word, but not from a symbol.
    let apart = if unit == "IOPS" && !prefix.is_empty() { " " } else { "" };
    format!("{scaled:.decimals$} {prefix}{apart}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let shown = [
            (1_574_321.0, "IOPS"),
            (612.4, "ns"),
            (14_000.0, "IOPS"),
            (71.96e9, "B/s"),
            (0.5, "IOPS"),
        ]
        .map(|(value, unit)| figure(value, unit));
        assert_eq!(shown, ["1.57 M IOPS", "612 ns", "14.0 k IOPS", "72.0 GB/s", "0.50 IOPS"]);
    }
}
