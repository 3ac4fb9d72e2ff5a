//! Generated collections: the same for the same numbers.

use anyhow::Result;
use record::collection::{HeadlineFigure, Origin, Query, RunHeadline, SortBy};
use record::{Cell, Claims, Link, MediumKind, Published, Record};
use stats::Random;
use store::collection::{Collection, Submission};

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
/// Record of a run: generated runs have its cells and its headline, with other figures.
const MEASURED: &str = include_str!("../../../fixtures/records/standard-class10.json");
/// Number of hosts of the runs.
const HOSTS: u64 = 200;

/// Generated runs for a large collection; a number always gives the same run.
pub struct Made {
    runs: u64,
    /// Number of the first run of each model, and at the end the number of all runs.
    from: Vec<u64>,
    /// The run with whose cells the others are made.
    measured: Published,
    headline: RunHeadline,
}

impl Made {
    /// Makes `runs` runs of `models` models, of `cells` cells without histograms and curves; the
    /// number of runs of a model falls with the root of its rank.
    pub fn new(runs: u64, models: u64, cells: u64) -> Result<Made> {
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
        let (mut measured, headline) = published(MEASURED)?;
        let short = |(at, cell): (usize, &Cell)| Cell {
            id: format!("{}/{}", cell.test, at + 1),
            histogram: None,
            series: Vec::new(),
            ..cell.clone()
        };
        let cells = measured.cells.iter().cycle().take(cells as usize).enumerate().map(short);
        measured.cells = cells.collect();
        Ok(Made { runs, from, measured, headline })
    }

    /// The same media with all cells of this record, with their histograms and curves.
    pub fn measured_as(self, record: &str) -> Result<Made> {
        let (measured, headline) = published(record)?;
        Ok(Made { measured, headline, ..self })
    }

    /// The run with whose cells the others are made.
    pub fn measured(&self) -> &Published {
        &self.measured
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
        let speed = of_model.log_uniform(0.1, 100.0);
        let app_class = of_model.below(3) as u32;
        let host = random.below(HOSTS);
        let vendor = *of_model.pick(&VENDORS);
        let mut drawn = || speed * random.log_uniform(0.7, 1.4);
        let cells = self.measured.cells.iter().map(|cell| scaled(cell, drawn())).collect();
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
            profile: None,
            ..self.measured.clone()
        };
        let month = 1 + number % 12;
        let received = format!(
            "2026-{month:02}-{:02}T{:02}:{:02}:00Z",
            1 + random.below(28),
            random.below(24),
            random.below(60)
        );
        Submission::new(run, self.headline(speed, &mut random), Origin::Measured, received)
    }

    /// Headline with nine of ten figures; one of a hundred is of a fake.
    fn headline(&self, speed: f64, random: &mut Random) -> RunHeadline {
        let mut headline = self.headline.clone();
        headline.figures.retain(|_, _| random.below(10) > 0);
        for (figure, value) in &mut headline.figures {
            let drawn = speed * random.log_uniform(0.5, 2.0);
            *value *= if figure.smaller_is_better() { 1.0 / drawn } else { drawn };
        }
        RunHeadline { is_fake: random.below(100) == 0, ..headline }
    }
}

/// Adds submissions to a collection, `batch` of them together.
pub fn submit(
    collection: &Collection,
    submissions: impl Iterator<Item = Submission>,
    batch: usize,
) -> Result<()> {
    let mut submissions = submissions.peekable();
    while submissions.peek().is_some() {
        collection.submit_all(submissions.by_ref().take(batch).collect())?;
    }
    Ok(())
}

/// Published part of a record, and its headline.
fn published(record: &str) -> Result<(Published, RunHeadline)> {
    let run = Published::from(&Record::from_json(record)?);
    let headline = findings::headline(&run.to_record("bench"));
    Ok((run, headline))
}

/// The same cell, this many times as fast.
fn scaled(cell: &Cell, factor: f64) -> Cell {
    let mut cell = cell.clone();
    let metrics = &mut cell.metrics;
    for estimate in [&mut metrics.iops, &mut metrics.bps].into_iter().flatten() {
        estimate.value *= factor;
        estimate.ci95 = estimate.ci95.map(|ends| ends.map(|end| end * factor));
    }
    if let Some(latency) = &mut metrics.latency_ns {
        latency.mean /= factor;
        latency.p50 = latency.p50.map(|ns| (ns as f64 / factor) as u64);
        latency.p99 = latency.p99.map(|ns| (ns as f64 / factor) as u64);
    }
    cell
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
