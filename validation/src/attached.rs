//! `cargo validation attached`: compares measurements of other tools on attached media with the
//! models of these media.
//!
//! Every measurement gets a fresh medium with the same seed. The model gets the same requests as
//! the tool made, in virtual time (or, if a tool does not report them, those that its algorithm
//! makes). So chance is the same on both sides, and only the way through the kernel and the wall
//! clock differ. The tools wait in real time: 440 ms for each random write on a class 4 card.

mod conclusions;
pub mod medium;
mod model;
mod tools;
pub mod works;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::section::Section;
use medium::Program;
use tools::Job;

/// Largest difference between a measured figure and the modelled one, as a share.
const TOLERANCE: f64 = 0.10;

/// Seed of every random choice on both sides.
const SEED: u64 = 1;

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Profiles to measure (with --works, file systems), separated by commas. Without it, all.
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// Write the table to docs/simulated-media.md.
    #[arg(long)]
    pub write: bool,
    /// Check instead the conclusions about four media, simulated and attached, and about a loop
    /// device.
    #[arg(long)]
    pub conclusions: bool,
    /// Compare instead the verdicts on databases and loggers with SQLite and a logger on the same
    /// medium.
    #[arg(long, conflicts_with = "conclusions")]
    pub works: bool,
}

/// One figure: modelled and measured by a tool.
struct Row {
    profile: &'static str,
    tool: &'static str,
    what: String,
    unit: &'static str,
    model: f64,
    measured: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.measured / self.model
    }

    fn holds(&self) -> bool {
        (self.ratio() - 1.0).abs() <= TOLERANCE
    }
}

/// Measurements of one profile.
struct ProfileMeasurements {
    profile: &'static str,
    jobs: &'static [Job],
    /// flashbench: allocation units written in turn, and the shortest write. Beyond the open units
    /// every write takes long.
    open_aus: &'static [(u64, u64)],
    /// True if flashbench searches for boundaries by reading.
    boundaries: bool,
    /// True if f3probe searches for missing flash.
    is_fake: bool,
    /// Arguments that keep flashmark's run short.
    flashmark: &'static [&'static str],
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// flashmark's own tests of a card, in less than a minute. Sequential writes begin by closing the
/// units that random writes left open. So they need more than the five seconds of the suite: in a
/// short test a single write more or less would matter.
const OWN_TESTS: &[&str] = &[
    "--only=random-write,sequential-write,random-read,sequential-read",
    "--set=random-write.block=4KiB,16KiB",
    "--set=random-write.max_time=15s",
    "--set=sequential-write.max_time=15s",
    "--set=sequential-write.certainty=1%",
];

/// The write tests of [`OWN_TESTS`], for fakes.
const OWN_WRITES: &[&str] = &[
    "--only=random-write,sequential-write",
    "--set=random-write.block=4KiB",
    "--set=random-write.max_time=15s",
    "--set=sequential-write.max_time=15s",
    "--set=sequential-write.certainty=1%",
];

const SLOW_CARD: ProfileMeasurements = ProfileMeasurements {
    profile: "sd-class4",
    jobs: &[
        Job::new("write", MIB, 40, 1),
        Job::new("read", MIB, 100, 1),
        Job::new("randwrite", 4 * KIB, 30, 1),
        Job::new("randwrite", 16 * KIB, 30, 1),
    ],
    open_aus: &[(2, 512 * KIB), (5, MIB)],
    boundaries: true,
    is_fake: false,
    flashmark: OWN_TESTS,
};

const FAKE: ProfileMeasurements = ProfileMeasurements {
    profile: "fake-wrap",
    jobs: &[Job::new("write", MIB, 20, 1), Job::new("randwrite", 4 * KIB, 15, 1)],
    open_aus: &[],
    boundaries: false,
    is_fake: true,
    flashmark: OWN_WRITES,
};

const MEASUREMENTS: &[ProfileMeasurements] = &[
    SLOW_CARD,
    ProfileMeasurements {
        profile: "class10-bypass",
        jobs: &[
            Job::new("write", MIB, 60, 1),
            Job::new("read", MIB, 100, 1),
            Job::new("randwrite", 4 * KIB, 200, 1),
            Job::new("randwrite", 16 * KIB, 30, 1),
        ],
        ..SLOW_CARD
    },
    ProfileMeasurements {
        profile: "a1",
        jobs: &[
            Job::new("write", MIB, 200, 1),
            Job::new("read", MIB, 200, 1),
            Job::new("randwrite", 4 * KIB, 4000, 1),
            Job::new("randwrite", 16 * KIB, 3000, 1),
            Job::new("randread", 4 * KIB, 5000, 1),
            Job::new("randread", 4 * KIB, 5000, 8),
        ],
        open_aus: &[],
        ..SLOW_CARD
    },
    FAKE,
    ProfileMeasurements { profile: "fake-limbo", ..FAKE },
    // Beside the four main ones: the effect of a command queue must survive the way through the
    // kernel.
    ProfileMeasurements {
        profile: "a2-cq",
        jobs: &[Job::new("randread", 4 * KIB, 20_000, 8), Job::new("randwrite", 4 * KIB, 8_000, 8)],
        is_fake: false,
        flashmark: &[],
        ..FAKE
    },
];

/// Measures, prints the table, and fails if a figure is too far off.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let program = Program::build(root)?;
    let (heading, name, (table, missed)) = if flags.conclusions {
        ("The same conclusions", "conclusions", conclusions::compare(&program, &flags.only)?)
    } else if flags.works {
        ("Verdicts against works", "works", works::compare(&program, root, &flags.only)?)
    } else {
        ("Attached, and measured by others", "attached", by_others(&program, &flags.only)?)
    };
    let section = Section { page: "docs/simulated-media.md", heading, name };
    section.publish(root, &table, flags.write)?;
    ensure!(missed.is_empty(), "missed: {}", missed.join("; "));
    Ok(())
}

/// Makes the table; returns it with the figures that are too far off.
fn by_others(program: &Program, only: &[String]) -> Result<(String, Vec<String>)> {
    let mut rows = Vec::new();
    for measurements in MEASUREMENTS.iter().filter(|of| is_wanted(only, of.profile)) {
        let begun = rows.len();
        measure(program, measurements, &mut rows)?;
        rows[begun..].iter().for_each(|row| eprintln!("{}", line(row)));
    }
    let known = MEASUREMENTS.iter().map(|of| of.profile).collect::<Vec<_>>().join(", ");
    ensure!(!rows.is_empty(), "no such profile here; there are {known}");
    let off = rows.iter().filter(|row| !row.holds());
    let off = off.map(|row| format!("{} {}: {}", row.profile, row.tool, row.what)).collect();
    Ok((table(&rows)?, off))
}

/// True if this profile or file system was requested; all are if none is named.
fn is_wanted(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|wanted| wanted == name)
}

fn measure(
    program: &Program,
    measurements: &ProfileMeasurements,
    rows: &mut Vec<Row>,
) -> Result<()> {
    let profile = measurements.profile;
    for job in measurements.jobs {
        rows.push(tools::fio(program, profile, job)?);
    }
    if measurements.boundaries {
        rows.extend(tools::flashbench_boundaries(program, profile)?);
    }
    for &(aus, least_bytes) in measurements.open_aus {
        rows.extend(tools::flashbench_open_aus(program, profile, aus, least_bytes)?);
    }
    if measurements.is_fake {
        rows.extend(tools::f3probe(program, profile)?);
    }
    if !measurements.flashmark.is_empty() {
        rows.extend(tools::flashmark(program, profile, measurements.flashmark)?);
    }
    Ok(())
}

fn line(row: &Row) -> String {
    let mark = if row.holds() { "" } else { " **off**" };
    let figure = record::units::significant;
    format!(
        "| {} | {} | {}, {} | {} | {} | {:.3}{mark} |",
        row.profile,
        row.tool,
        row.what,
        row.unit,
        figure(row.model),
        figure(row.measured),
        row.ratio()
    )
}

fn table(rows: &[Row]) -> Result<String> {
    let mut text = format!(
        "`cargo validation attached`; {}; target: within 10 %. Each figure is from a fresh medium. fio's requests are put to the model one by one, chance\n\
         included; flashbench --open-au and flashmark, which average few writes, get the profile without outliers (`tail_share = 0`), flashbench the median of\n\
         three runs, and f3probe, which writes a\n\
         gigabyte and judges sizes only, gets it with fast flash.\n\n",
        tools::versions()?
    );
    text +=
        "| profile | tool | quantity | model | measured | ratio |\n|---|---|---|---:|---:|---:|\n";
    rows.iter().try_for_each(|row| writeln!(text, "{}", line(row)))?;
    Ok(text)
}
