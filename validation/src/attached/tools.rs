//! Tools: the call of each, its output, and the response of the model to the same requests.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use device::Op;
use record::{Cell, Metrics};

use super::medium::{Medium, Program, run, tool, with_priority};
use super::model::{Ask, Model};
use super::{Row, SEED};
use crate::programs::{fio_results, output_if, with_unit};

/// A job of fio in the second half of the medium.
pub struct Job {
    /// fio's word for it: "write", "randread".
    rw: &'static str,
    block_bytes: u64,
    ios: u64,
    depth: usize,
}

impl Job {
    /// Makes a job of this kind, of so many I/Os of so many bytes, with so many in flight.
    pub const fn new(rw: &'static str, block_bytes: u64, ios: u64, depth: usize) -> Job {
        Job { rw, block_bytes, ios, depth }
    }
}

/// Runs fio, which logs every request: the model gets the same ones.
pub fn fio(program: &Program, profile: &'static str, job: &Job) -> Result<Row> {
    let medium = Medium::attach(program, profile)?;
    let dir = tempfile::tempdir()?;
    let log = dir.path().join("fio");
    let engine = if job.depth == 1 { "psync" } else { "io_uring" };
    let printed = tool(&[
        "fio",
        "--name=attached",
        "--output-format=json",
        "--direct=1",
        "--offset=50%",
        "--size=512m",
        "--log_offset=1",
        &format!("--filename={}", medium.node),
        &format!("--ioengine={engine}"),
        &format!("--iodepth={}", job.depth),
        &format!("--rw={}", job.rw),
        &format!("--bs={}", job.block_bytes),
        &format!("--number_ios={}", job.ios),
        &format!("--write_lat_log={}", log.display()),
    ])?;
    let results = fio_results(&printed)?;
    let direction = job.rw.trim_start_matches("rand");
    let measured =
        results["jobs"][0][direction]["iops"].as_f64().context("fio's results have no iops")?;
    let asks = requests(&fs::read_to_string(format!("{}_lat.1.log", log.display()))?)?;
    ensure!(asks.len() as u64 == job.ios, "fio logged {} of {} requests", asks.len(), job.ios);
    let (latencies, all_ns) = Model::new(profile)?.replay(&asks, job.depth)?;
    let model = latencies.len() as f64 * 1e9 / all_ns as f64;
    let what = format!("{} {} KiB, depth {}", job.rw, job.block_bytes >> 10, job.depth);
    let is_random = direction != job.rw;
    let (unit, scale) =
        if is_random { ("IOPS", 1.0) } else { ("MB/s", job.block_bytes as f64 / 1e6) };
    Ok(Row { profile, tool: "fio", what, unit, model: model * scale, measured: measured * scale })
}

/// Parses a log of latencies into requests: "time, value, direction, bytes, offset, priority".
fn requests(log: &str) -> Result<Vec<Ask>> {
    let request = |line: &str| {
        let fields: Vec<u64> =
            line.split(',').map_while(|field| field.trim().parse().ok()).collect();
        let &[_, _, direction, bytes, offset_bytes, ..] = fields.as_slice() else {
            bail!("fio's log has the line {line}")
        };
        Ok(Ask { op: if direction == 1 { Op::Write } else { Op::Read }, offset_bytes, bytes })
    };
    log.lines().map(request).collect()
}

/// Runs flashbench -a: reads of 16 KiB beside and across boundaries of allocation units.
pub fn flashbench_boundaries(program: &Program, profile: &'static str) -> Result<Vec<Row>> {
    const BLOCK_BYTES: u64 = 16 << 10;
    const LEAST: u64 = 4 << 20;
    let medium = Medium::attach(program, profile)?;
    let printed = tool(&["flashbench", "-a", &format!("--blocksize={BLOCK_BYTES}"), &medium.node])?;
    let lines: Vec<(u64, [f64; 3])> = printed.lines().map(boundary).collect::<Result<_>>()?;
    let wide: Vec<[f64; 3]> =
        lines.iter().filter(|(align, _)| *align >= LEAST).map(|(_, times)| *times).collect();
    ensure!(!wide.is_empty(), "flashbench printed no alignment of {LEAST} or more: {printed}");
    let model = Model::new(profile)?.boundaries(BLOCK_BYTES, LEAST)?;
    let row = |what: &str, i: usize| {
        let measured = wide.iter().map(|times| times[i]).sum::<f64>() / wide.len() as f64;
        Row {
            profile,
            tool: "flashbench -a",
            what: format!("read 16 KiB {what}"),
            unit: "ms",
            model: model[i] / 1e6,
            measured: measured / 1e6,
        }
    };
    Ok(vec![row("before a boundary", 0), row("across it", 1), row("after it", 2)])
}

/// Parses "align 4194304  pre 2.04ms  on 2.15ms  post 1.93ms  diff 168µs"; times in nanoseconds.
fn boundary(line: &str) -> Result<(u64, [f64; 3])> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let &["align", align, "pre", pre, "on", on, "post", post, ..] = words.as_slice() else {
        bail!("flashbench printed {line}")
    };
    Ok((align.parse()?, [nanoseconds(pre)?, nanoseconds(on)?, nanoseconds(post)?]))
}

/// Nanoseconds of "2.04ms", "379µs", "1.2s", "800ns".
fn nanoseconds(text: &str) -> Result<f64> {
    with_unit(text, &[("ns", 1.0), ("µs", 1e3), ("us", 1e3), ("ms", 1e6), ("s", 1e9)])
}

/// Allocation unit that flashbench assumes, in bytes.
const FLASHBENCH_AU_BYTES: u64 = 4 << 20;

/// Repetitions of flashbench's writes in turn, each on a fresh medium: it averages as few as eight
/// writes, so that a single delayed one would decide. The median counts.
const TURNS: usize = 3;

/// Runs flashbench --open-au: writes in turn over `aus` allocation units. It prints averages of few
/// writes, of which a single outlier would decide, so the medium is attached without outliers.
pub fn flashbench_open_aus(
    program: &Program,
    profile: &'static str,
    aus: u64,
    least_bytes: u64,
) -> Result<Vec<Row>> {
    let variant = Variant::new(profile, without_outliers)?;
    let turns = (0..TURNS)
        .map(|_| in_turn(program, &variant, aus, least_bytes))
        .collect::<Result<Vec<_>>>()?;
    let mut model = Model::of(&variant.profile);
    let lengths = std::iter::successors(Some(FLASHBENCH_AU_BYTES), |length| Some(length / 2))
        .take_while(|length| *length >= least_bytes);
    let row = |(index, length): (usize, u64)| {
        let mut rates = turns
            .iter()
            .map(|turn| turn.get(index).copied().context("flashbench printed too few lines"))
            .collect::<Result<Vec<f64>>>()?;
        rates.sort_by(f64::total_cmp);
        let (measured, modelled) =
            (rates[TURNS / 2] / 1e6, model.open_aus(aus, FLASHBENCH_AU_BYTES, length)? / 1e6);
        let what = format!("write {} KiB in turn over {aus} units", length >> 10);
        Ok(Row {
            profile,
            tool: "flashbench --open-au",
            what,
            unit: "MB/s",
            model: modelled,
            measured,
        })
    };
    lengths.enumerate().map(row).collect()
}

/// Rates of one such run, in bytes a second, longest writes first.
fn in_turn(program: &Program, variant: &Variant, aus: u64, least_bytes: u64) -> Result<Vec<f64>> {
    let medium = Medium::attach(program, &variant.file)?;
    let printed = tool(&[
        "flashbench",
        "--open-au",
        &format!("--open-au-nr={aus}"),
        &format!("--erasesize={FLASHBENCH_AU_BYTES}"),
        &format!("--blocksize={least_bytes}"),
        &medium.node,
    ])?;
    printed.lines().map(rate).collect()
}

/// A changed built-in profile, as a file.
struct Variant {
    file: String,
    profile: sim::Profile,
    _dir: tempfile::TempDir,
}

impl Variant {
    fn new(profile: &str, change: fn(&str) -> String) -> Result<Variant> {
        let text = change(sim::Profile::text(profile).context("a built-in profile")?);
        let dir = tempfile::tempdir()?;
        let file = dir.path().join(format!("{profile}.toml"));
        fs::write(&file, &text)?;
        Ok(Variant {
            file: file.to_string_lossy().into_owned(),
            profile: sim::Profile::parse(profile, &text)?,
            _dir: dir,
        })
    }
}

/// Removes the outliers of a profile.
fn without_outliers(text: &str) -> String {
    with(text, &["tail_share"], "0.0")
}

/// Makes all times per byte of a profile nearly 0.
fn with_fast_flash(text: &str) -> String {
    with(text, &["rate", "copy_rate"], "\"4 GB/s\"")
}

/// Replaces the values of these keys in a profile's text.
fn with(text: &str, keys: &[&str], value: &str) -> String {
    let changed = |line: &str| match line.split_once(" = ") {
        Some((key, _)) if keys.contains(&key) => format!("{key} = {value}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(changed).collect()
}

/// Bytes a second of "512KiB  3.73M/s".
fn rate(line: &str) -> Result<f64> {
    let rate = line.split_whitespace().last().and_then(|word| word.strip_suffix("/s"));
    let rate = rate.with_context(|| format!("flashbench printed {line}"))?;
    with_unit(rate, &[("", 1.0), ("B", 1.0), ("K", 1e3), ("M", 1e6), ("G", 1e9)])
}

/// Runs f3probe: real size and announced size. It writes a gigabyte to find caches, and a thousand
/// random blocks, which takes a class 4 card a quarter of an hour: as the verdict is about sizes,
/// the medium is attached with its own sizes and fast flash.
pub fn f3probe(program: &Program, profile: &'static str) -> Result<Vec<Row>> {
    let variant = Variant::new(profile, with_fast_flash)?;
    let medium = Medium::attach(program, &variant.file)?;
    let printed =
        tool(&["f3probe", "--destructive", "--reset-type=2", "--time-ops", &medium.node])?;
    let spec = variant.profile.spec();
    let real_bytes = spec.fake.as_ref().context("f3probe is for fakes")?.real.0;
    let sizes = sizes(&printed);
    let row = |what: &'static str, key: &str, bytes: u64| -> Result<Row> {
        const GIB: f64 = 1_073_741_824.0;
        let blocks =
            sizes.get(key).with_context(|| format!("f3probe printed no {key}: {printed}"))?;
        Ok(Row {
            profile,
            tool: "f3probe",
            what: what.to_owned(),
            unit: "GiB",
            model: bytes as f64 / GIB,
            measured: blocks * 512.0 / GIB,
        })
    };
    Ok(vec![
        row("size that is there", "*Usable* size", real_bytes)?,
        row("announced size", "Announced size", spec.medium.capacity.0)?,
    ])
}

/// Parses lines such as "*Usable* size: 32.00 MB (65536 blocks)", by name in blocks.
fn sizes(printed: &str) -> BTreeMap<String, f64> {
    let size = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let blocks = value.split_once('(')?.1.split_once(" blocks")?.0;
        Some((name.trim().to_owned(), blocks.parse().ok()?))
    };
    printed.lines().filter_map(size).collect()
}

/// Runs flashmark itself, on the attached medium and on the simulated one; without outliers, as
/// either side may stop after one more.
pub fn flashmark(program: &Program, profile: &'static str, words: &[&str]) -> Result<Vec<Row>> {
    let home = tempfile::tempdir()?;
    let variant = Variant::new(profile, without_outliers)?;
    let medium = Medium::attach(program, &variant.file)?;
    let run = |target: &[&str]| {
        let program = with_priority(program.word())?;
        run(program, home.path(), &[target, &["--suite=quick"], words].concat(), SEED)
    };
    let attached = run(&medium.target())?;
    drop(medium);
    let simulated = run(&[&format!("sim:{}", variant.file)])?;
    let pairs = attached.cells.iter().zip(&simulated.cells);
    let rows: Vec<Row> =
        pairs.filter_map(|(ours, model)| same_cell(profile, ours, model)).collect();
    ensure!(!rows.is_empty(), "flashmark measured nothing on {profile}");
    Ok(rows)
}

/// Row of a cell that both measured: writes by their rate, random reads by the median, because a
/// busy machine changes their mean.
fn same_cell(profile: &'static str, attached: &Cell, simulated: &Cell) -> Option<Row> {
    let test = attached.test.as_str();
    let block_bytes = attached.params.block_bytes?;
    let (unit, figure): (_, fn(&Metrics) -> Option<f64>) = match test {
        "random-write" => ("IOPS", |metrics| Some(metrics.iops?.value)),
        "random-read" => {
            ("median ms", |metrics| Some(metrics.latency_ns.as_ref()?.p50? as f64 / 1e6))
        }
        _ => ("MB/s", |metrics| Some(metrics.bps?.value / 1e6)),
    };
    let what = format!("{test} {} KiB", block_bytes >> 10);
    let (model, measured) = (figure(&simulated.metrics)?, figure(&attached.metrics)?);
    Some(Row { profile, tool: "flashmark", what, unit, model, measured })
}

/// Versions of the tools, for the table's heading.
pub fn versions() -> Result<String> {
    let first_line = |words: &[&str]| -> Result<String> {
        let text = output_if(Command::new(words[0]).args(&words[1..]), |_| true)?;
        Ok(text.lines().next().unwrap_or_default().trim().to_owned())
    };
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    Ok(format!(
        "Linux {}, {}, {}",
        kernel.trim(),
        first_line(&["fio", "--version"])?,
        first_line(&["f3probe", "--version"])?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fio_did_is_read_from_its_log() {
        let log = "4, 4543951, 1, 4096, 1106120704, 0\n7, 3211341, 0, 512, 1024, 0\n";
        let expected = [
            Ask { op: Op::Write, offset_bytes: 1_106_120_704, bytes: 4096 },
            Ask { op: Op::Read, offset_bytes: 1024, bytes: 512 },
        ];
        assert_eq!(requests(log).unwrap(), expected);
        assert!(requests("something else").is_err());
    }

    #[test]
    fn flashbench_is_understood() {
        let (align, times) =
            boundary("align 4194304\tpre 2.04ms\ton 215µs\tpost 1.5s\tdiff 168µs").unwrap();
        assert_eq!((align, times), (4_194_304, [2.04e6, 215e3, 1.5e9]));
        assert_eq!(rate("512KiB  3.73M/s ").unwrap(), 3.73e6);
        assert_eq!(rate("4MiB    908K/s ").unwrap(), 908e3);
        assert!(boundary("sched_setscheduler failed").is_err());
        assert!(rate("").is_err());
    }

    #[test]
    fn a_variant_differs_in_what_was_asked_for_only() {
        let text = "[write]\nrate = \"9 MB/s\"\nunit = \"4 KiB\"\n[jitter]\ntail_share = 0.005\n";
        assert_eq!(without_outliers(text), text.replace("0.005", "0.0"));
        assert_eq!(with_fast_flash(text), text.replace("9 MB/s", "4 GB/s"));
    }

    #[test]
    fn f3probe_is_understood() {
        let sizes = sizes(
            "\t         *Usable* size: 32.00 MB (65536 blocks)\n\t        Announced size: 256.00 MB (524288 blocks)\nProbe time: 10.30s\n",
        );
        assert_eq!(sizes["*Usable* size"], 65536.0);
        assert_eq!(sizes["Announced size"], 524_288.0);
        assert_eq!(sizes.len(), 2);
    }
}
