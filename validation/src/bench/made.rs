//! Generated collections: the same for the same numbers.

use std::collections::BTreeMap;

use record::collection::{HeadlineFigure, Origin, Query, RunHeadline, SortBy};
use record::{
    Cell, Claims, Content, Direction, Estimate, Latency, Link, MediumKind, Params, Pattern,
    Published, Record, Region, Run, SCHEMA, Stop,
};
use stats::Random;
use store::collection::Submission;

/// Random numbers of a seed, independent also for consecutive seeds.
pub fn random(seed: u64) -> Random {
    Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
}

const VENDORS: [&str; 12] = [
    "SanDisk",
    "Kingston",
    "Samsung",
    "Transcend",
    "Lexar",
    "Toshiba",
    "PNY",
    "Verbatim",
    "Intenso",
    "Integral",
    "Sony",
    "Corsair",
];
const KINDS: [MediumKind; 6] = [
    MediumKind::Sd,
    MediumKind::Sd,
    MediumKind::Usb,
    MediumKind::CompactFlash,
    MediumKind::Emmc,
    MediumKind::Ssd,
];
const CAPACITIES_GB: [u64; 8] = [4, 8, 16, 32, 64, 128, 256, 512];
const INTERFACES: [(&str, &str); 4] = [
    ("mmc", "sd uhs SDR104, 4 bit, 200 MHz"),
    ("usb", "480 Mbit/s"),
    ("usb", "5000 Mbit/s"),
    ("ata", "SATA 6.0 Gbps"),
];
const TESTS: [(&str, Direction, Pattern); 4] = [
    ("random-write", Direction::Write, Pattern::Permutation),
    ("random-read", Direction::Read, Pattern::Permutation),
    ("sequential-write", Direction::Write, Pattern::Sequential),
    ("sequential-read", Direction::Read, Pattern::Sequential),
];
/// Number of hosts of the runs.
const HOSTS: u64 = 200;

/// Generated runs for a large collection; a number always gives the same run.
pub struct Made {
    runs: u64,
    cells: u64,
    /// Number of the first run of each model, and at the end the number of all runs.
    from: Vec<u64>,
}

impl Made {
    /// Makes `runs` runs of `models` models; the number of runs of a model falls with the root of
    /// its rank.
    pub fn new(runs: u64, models: u64, cells: u64) -> Made {
        let weight = |model: u64| 1.0 / ((model + 1) as f64).sqrt();
        let all: f64 = (0..models).map(weight).sum();
        let spare = (runs - models) as f64;
        let mut sum = 0.0;
        let mut from = vec![0];
        for model in 0..models {
            sum += weight(model);
            from.push(model + 1 + (spare * sum / all) as u64);
        }
        from[models as usize] = runs;
        Made { runs, cells, from }
    }

    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Largest number of runs of any model.
    pub fn most_runs(&self) -> u64 {
        self.from[1]
    }

    /// Submission by its number; the runs of a model are consecutive.
    pub fn submission(&self, number: u64) -> Submission {
        let model = self.from.partition_point(|from| *from <= number) as u64 - 1;
        self.submission_of(model, number)
    }

    /// Submission of a model; `number` distinguishes it from all others.
    pub fn submission_of(&self, model: u64, number: u64) -> Submission {
        let mut of_model = random(model << 32 | 7);
        let mut random = self::random(number << 8 | 5);
        let kind = *of_model.pick(&KINDS);
        let capacity_bytes = *of_model.pick(&CAPACITIES_GB) * 1_000_000_000;
        let (interface, mode) = *of_model.pick(&INTERFACES);
        let speed = of_model.log_uniform(0.5, 5000.0);
        let rate = of_model.log_uniform(2e6, 500e6);
        let app_class = of_model.below(3) as u32;
        let host = random.below(HOSTS);
        let vendor = *of_model.pick(&VENDORS);
        let cells: Vec<Cell> =
            (0..self.cells).map(|at| cell(at, speed, rate, &mut random)).collect();
        let run = Published {
            seed: number,
            kind,
            vendor: Some(vendor.to_owned()),
            model: Some(format!("{}{}", vendor.chars().next().unwrap_or('X'), 1000 + model)),
            capacity_bytes: Some(capacity_bytes - capacity_bytes / 400),
            interface: Some(interface.to_owned()),
            link: Some(Link {
                mode: Some(mode.to_owned()),
                driver: Some("made-up".to_owned()),
                ..Link::default()
            }),
            claims: Some(Claims {
                speed_class: Some(10),
                app_class: Some(app_class),
                ..Claims::default()
            }),
            kernel: Some(format!("6.{}.3", host % 12)),
            arch: Some(["aarch64", "x86_64", "armv7l"][host as usize % 3].to_owned()),
            board: Some(format!("board {host}")),
            cells,
            ..blank()
        };
        let month = 1 + number % 12;
        let received = format!(
            "2026-{month:02}-{:02}T{:02}:{:02}:00Z",
            1 + random.below(28),
            random.below(24),
            random.below(60)
        );
        Submission::new(run, headline(speed, rate, &mut random), Origin::Measured, received)
    }
}

/// A published run without any facts.
fn blank() -> Published {
    let record = Record {
        schema: SCHEMA.to_owned(),
        run: Run { suite: "standard".to_owned(), elapsed_ns: 600_000_000_000, ..Run::default() },
        medium: record::Medium::default(),
        host: None,
        target: record::Target::default(),
        plan: Vec::new(),
        cells: Vec::new(),
        skipped: Vec::new(),
        flags: Vec::new(),
        findings: Vec::new(),
        summary: None,
    };
    let software = record::Software {
        name: "flashmark".to_owned(),
        version: "0.1.0".to_owned(),
        commit: None,
    };
    Published { software, ..Published::from(&record) }
}

fn estimate(value: f64, n: u64) -> Option<Estimate> {
    Some(Estimate { value, ci95: Some([value * 0.97, value * 1.03]), n })
}

fn cell(at: u64, speed: f64, rate: f64, random: &mut Random) -> Cell {
    let (test, direction, pattern) = TESTS[at as usize % TESTS.len()];
    let block_bytes = 512 << (at / 4 % 8);
    let (iops, bps) = match pattern {
        Pattern::Sequential => (rate / block_bytes as f64, rate * random.log_uniform(0.8, 1.25)),
        _ => (speed * random.log_uniform(0.7, 1.4), speed * block_bytes as f64),
    };
    let mean = 1e9 / iops;
    let n = 100 + random.below(10_000);
    let ns = |factor: f64| Some((mean * factor) as u64);
    let params = Params {
        direction: Some(direction),
        pattern: Some(pattern),
        block_bytes: Some(block_bytes),
        region: Some(Region::Middle),
        span_offset_bytes: Some(2_000_000_000),
        span_bytes: Some(512 << 20),
        queue_depth: 1,
        threads: 1,
        content: (direction == Direction::Write).then_some(Content::Incompressible),
        ..Params::default()
    };
    let mut cell = Cell::begun(format!("{test}/{}", at + 1), test, params);
    cell.metrics.iops = estimate(iops, n);
    cell.metrics.bps = estimate(bps, n);
    cell.metrics.latency_ns = Some(Latency {
        n,
        min: (mean * 0.3) as u64,
        mean,
        p50: ns(random.log_uniform(0.6, 0.9)),
        p90: ns(random.log_uniform(1.5, 2.0)),
        p95: ns(random.log_uniform(2.0, 3.0)),
        p99: ns(random.log_uniform(4.0, 6.0)),
        p99_9: None,
        max: (mean * random.log_uniform(10.0, 200.0)) as u64,
        ci95: BTreeMap::new(),
    });
    (cell.ops, cell.bytes, cell.written_bytes) =
        (n, n * block_bytes, if direction == Direction::Write { n * block_bytes } else { 0 });
    (cell.elapsed_ns, cell.stop) = ((n as f64 * mean) as u64, Stop::Converged);
    cell
}

/// Headline with nine of ten figures; one of a hundred is of a fake.
fn headline(speed: f64, rate: f64, random: &mut Random) -> RunHeadline {
    let mut figures = BTreeMap::new();
    for figure in HeadlineFigure::ALL {
        let base = match figure.unit() {
            record::collection::FigureUnit::Iops => speed,
            record::collection::FigureUnit::Bps => rate,
            record::collection::FigureUnit::Ns => 1e10 / speed,
        };
        if random.below(10) > 0 {
            figures.insert(figure, base * random.log_uniform(0.5, 2.0));
        }
    }
    let verdict = Some(
        "Good for a camera. Not suitable for a root disk because of its random writes.".to_owned(),
    );
    RunHeadline { figures, verdict, is_fake: random.below(100) == 0, ..RunHeadline::default() }
}

/// A random query of the table.
pub fn query(random: &mut Random) -> Query {
    let figure = *random.pick(&HeadlineFigure::ALL);
    let sort = match random.below(8) {
        0 => SortBy::Name,
        1 => SortBy::Capacity,
        2 => SortBy::Runs,
        3 => SortBy::Latest,
        _ => SortBy::Figure(figure),
    };
    let mut query = Query { sort: Some(sort), reversed: random.below(3) == 0, ..Query::default() };
    if random.below(4) == 0 {
        query.page = random.below(40) as u32;
    }
    if random.below(4) == 0 {
        query.words = (*random.pick(&[
            "sandisk",
            "kingston",
            "s1",
            "8 gb",
            "nothing like it",
            "transcend t12",
        ]))
        .to_owned();
    }
    if random.below(3) == 0 {
        query.kinds = vec![*random.pick(&KINDS)];
    }
    if random.below(4) == 0 {
        query.capacity_from_gb = Some(*random.pick(&CAPACITIES_GB));
    }
    if random.below(6) == 0 {
        query.class = Some("A1".to_owned());
    }
    if random.below(6) == 0 {
        query.interface = Some("usb".to_owned());
    }
    if random.below(4) == 0 {
        let figure = *random.pick(&HeadlineFigure::ALL);
        let limit = if figure.smaller_is_better() {
            random.log_uniform(1e6, 1e10)
        } else {
            random.log_uniform(1.0, 1e8)
        };
        query.at_least = vec![(figure, limit)];
    }
    if random.below(4) == 0 {
        query.fakes = Some(random.below(4) == 0);
    }
    query
}
