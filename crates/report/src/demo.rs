//! Deterministic records for tests and for viewing pages: a good card, a horrible one, one that
//! failed.

use std::collections::BTreeMap;

use record::units::{GIB, KIB, MIB, SECOND_NS};
use record::{
    Cell, Content, Direction, Ended, Estimate, Filesystem, Flag, Histogram, Host, Latency, Link,
    Medium, MediumKind, Metrics, Params, PlannedCell, Queue, Record, Region, Run, SCHEMA, Series,
    SeriesAxis, Skip, Software, SpeedClasses, Stop, Target, TargetKind, Temperature, metric, test,
};

/// A small random generator: histograms look like measurements and are the same every time.
struct DemoRandom(u64);

impl DemoRandom {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64 + 0.5) / (1u64 << 31) as f64
    }

    /// A lognormal factor around 1 with this standard deviation of its logarithm.
    fn spread(&mut self, sigma: f64) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        (sigma * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()).exp()
    }
}

/// An estimate with an interval of this relative width.
pub fn estimate(value: f64, relative: f64, n: u64) -> Estimate {
    Estimate { value, ci95: Some([value * (1.0 - relative), value * (1.0 + relative)]), n }
}

/// An empty cell of this test.
pub fn cell(test: &str, id: &str) -> Cell {
    let params = Params { queue_depth: 1, threads: 1, ..Params::default() };
    Cell { stop: Stop::Converged, ..Cell::begun(id, test, params) }
}

/// Latencies of `n` I/Os: most take `fast_ns`, a share takes `slow_ns`.
fn latencies(n: u64, fast_ns: f64, slow_ns: f64, share: f64, seed: u64) -> (Histogram, Latency) {
    let mut dice = DemoRandom(seed);
    let mut histogram = Histogram::default();
    for _ in 0..n {
        let base = if dice.uniform() < share { slow_ns } else { fast_ns };
        histogram.record((base * dice.spread(0.15)) as u64);
    }
    let percentile = |q: f64, least: u64| (n >= least).then(|| histogram.quantile(q));
    let latency = Latency {
        n,
        min: histogram.min(),
        mean: histogram.mean(),
        p50: percentile(0.5, 6),
        p90: percentile(0.9, 36),
        p95: percentile(0.95, 72),
        p99: percentile(0.99, 368),
        p99_9: percentile(0.999, 3688),
        max: histogram.max(),
        ci95: intervals(&histogram),
    };
    (histogram, latency)
}

/// Intervals of the percentiles that have one, about as order statistics give them.
fn intervals(histogram: &Histogram) -> BTreeMap<String, [u64; 2]> {
    let n = histogram.len() as f64;
    let percentiles = [("p50", 0.5, 6.0), ("p99", 0.99, 368.0)];
    let around = |q: f64| {
        let half = 1.96 * (q * (1.0 - q) / n).sqrt();
        [histogram.quantile((q - half).max(0.0)), histogram.quantile((q + half).min(1.0))]
    };
    percentiles
        .into_iter()
        .filter(|(_, _, least)| n >= *least)
        .map(|(name, q, _)| (name.to_owned(), around(q)))
        .collect()
}

/// A random I/O cell: one I/O takes `fast_ns`, or `slow_ns` in a share of cases.
fn random(
    test: &str,
    number: usize,
    block: u64,
    region: Region,
    threads: u32,
    [fast_ns, slow_ns, share]: [f64; 3],
    n: u64,
) -> Cell {
    let (histogram, latency) = latencies(n, fast_ns, slow_ns, share, block + number as u64);
    let iops = 1e9 / histogram.mean() * f64::from(threads);
    let relative = 1.96 * (0.2 + 2.0 * share) / (n as f64).sqrt();
    let mut cell = cell(test, &format!("{test}/{number}"));
    let reads = test == test::RANDOM_READ;
    cell.params = Params {
        direction: Some(if reads { Direction::Read } else { Direction::Write }),
        block_bytes: Some(block),
        region: Some(region),
        threads,
        queue_depth: 1,
        content: (!reads).then_some(Content::Incompressible),
        ..Params::default()
    };
    cell.metrics.iops = Some(estimate(iops, relative, n));
    cell.metrics.bps = Some(estimate(iops * block as f64, relative, n));
    cell.metrics.latency_ns = Some(latency);
    if reads {
        cell.metrics
            .other
            .insert(metric::ACCESS_TIME_NS.to_owned(), estimate(1e9 / iops, relative, n));
        cell.metrics
            .other
            .insert(metric::CPU_NS_PER_IO.to_owned(), Estimate { value: 9_400.0, ci95: None, n });
    }
    (cell.ops, cell.bytes) = (n, n * block);
    cell.written_bytes = if reads { 0 } else { n * block };
    cell.elapsed_ns = (n as f64 / iops * 1e9) as u64;
    cell.histogram = Some(histogram);
    cell
}

fn sequential(
    test: &str,
    number: usize,
    block: u64,
    content: Content,
    overhead_ns: f64,
    bps: f64,
) -> Cell {
    let time_ns = overhead_ns + block as f64 / bps * 1e9;
    let rate = block as f64 / time_ns * 1e9;
    let n = 64 * MIB / block;
    let mut cell = cell(test, &format!("{test}/{number}"));
    let reads = test == test::SEQUENTIAL_READ;
    cell.params = Params {
        direction: Some(if reads { Direction::Read } else { Direction::Write }),
        block_bytes: Some(block),
        region: Some(Region::Middle),
        queue_depth: 1,
        threads: 1,
        content: (!reads).then_some(content),
        ..Params::default()
    };
    cell.metrics.bps = Some(estimate(rate, 0.012, n));
    cell.metrics.iops = Some(estimate(rate / block as f64, 0.012, n));
    let (histogram, latency) = latencies(n, time_ns, time_ns * 6.0, 0.004, block);
    (cell.histogram, cell.metrics.latency_ns) = (Some(histogram), Some(latency));
    (cell.ops, cell.bytes, cell.stop) = (n, 64 * MIB, Stop::Bytes);
    cell.written_bytes = if reads { 0 } else { 64 * MIB };
    if block == 120 * KIB {
        cell.flags.push(Flag::SplitCommand { block_bytes: block, max_transfer_bytes: 64 * KIB });
    }
    cell
}

fn fill(test: &str, bps: f64, dips: f64) -> Cell {
    let mut dice = DemoRandom(test.len() as u64);
    let mut cell = cell(test, test);
    let points = (0..120).map(|at| {
        let dip = if at % 23 > 20 { dips } else { 1.0 };
        [15.9e9 + f64::from(at) * 8.0 * MIB as f64, bps * dip * dice.spread(0.03)]
    });
    let points: Vec<[f64; 2]> = points.collect();
    if test == test::PRIME {
        let second = points.iter().map(|[at, rate]| [*at, rate * 0.8]).collect();
        cell.series.push(Series {
            name: "rate along the span, pass 1".to_owned(),
            x: SeriesAxis::OffsetBytes,
            y: SeriesAxis::Bps,
            points: points.clone(),
        });
        cell.series.push(Series {
            name: "rate along the span, pass 2".to_owned(),
            x: SeriesAxis::OffsetBytes,
            y: SeriesAxis::Bps,
            points: second,
        });
    } else {
        cell.series.push(Series {
            name: "rate".to_owned(),
            x: SeriesAxis::OffsetBytes,
            y: SeriesAxis::Bps,
            points,
        });
    }
    cell.params.content =
        Some(if test == test::ZERO_FILL { Content::Zeros } else { Content::Incompressible });
    cell.params.block_bytes = Some(MIB);
    cell.metrics.bps = Some(estimate(bps * 0.97, 0.02, 960));
    (cell.ops, cell.bytes, cell.written_bytes, cell.stop) =
        (960, 960 * MIB, 960 * MIB, Stop::Bytes);
    cell
}

const SIZES: [u64; 13] = [
    512,
    KIB,
    2 * KIB,
    4 * KIB,
    8 * KIB,
    16 * KIB,
    32 * KIB,
    64 * KIB,
    128 * KIB,
    256 * KIB,
    512 * KIB,
    MIB,
    2 * MIB,
];

/// Properties of a demonstration medium: overheads and rates.
struct Traits {
    read_ns: f64,
    read_bps: f64,
    write_ns: f64,
    write_bps: f64,
    /// Fast and slow times of random writes, and share of slow ones, for each of the four sizes.
    random_writes: [[f64; 3]; 4],
    ops: u64,
    dips: f64,
}

fn cells(traits: &Traits) -> Vec<Cell> {
    let mut cells = vec![
        fill(test::PRIME, traits.write_bps, traits.dips),
        fill(test::ZERO_FILL, traits.write_bps * 1.3, 1.0),
        fill(test::RANDOM_FILL, traits.write_bps, traits.dips),
    ];
    for (at, &block) in [512, 4 * KIB, 16 * KIB, 64 * KIB].iter().enumerate() {
        let mut cell = random(
            test::RANDOM_WRITE,
            at,
            block,
            Region::Middle,
            1,
            traits.random_writes[at],
            traits.ops,
        );
        cell.params.span_bytes = Some(512 * MIB);
        let iops = cell.metrics.iops.map(|e| e.value).unwrap_or_default();
        cell.metrics.other.insert(metric::BURST_IOPS.to_owned(), estimate(iops * 3.0, 0.08, 64));
        cell.metrics
            .other
            .insert(metric::FULL_PASS_S.to_owned(), estimate(131_072.0 / iops, 0.05, traits.ops));
        let mut dice = DemoRandom(block);
        let points = (1..40).map(|window| {
            [f64::from(window * 100) * block as f64, iops * block as f64 * dice.spread(0.08)]
        });
        cell.series.push(Series {
            name: "rate".to_owned(),
            x: SeriesAxis::Bytes,
            y: SeriesAxis::Bps,
            points: points.collect(),
        });
        let worst =
            cell.metrics.latency_ns.as_ref().map(|latency| latency.max as f64).unwrap_or_default();
        let points =
            (1..40).map(|stretch| [f64::from(stretch) * 100.0, worst * dice.uniform().powi(2)]);
        cell.series.push(Series {
            name: "slowest I/O".to_owned(),
            x: SeriesAxis::Ops,
            y: SeriesAxis::LatencyNs,
            points: points.collect(),
        });
        cells.push(cell);
    }
    for (at, span) in [8u64, 16, 32, 64, 128, 1024].into_iter().enumerate() {
        let mut traits_here = traits.random_writes[1];
        if span <= 32 {
            traits_here[2] = 0.0;
        }
        let mut cell =
            random(test::RANDOM_WRITE, 4 + at, 4 * KIB, Region::Middle, 1, traits_here, traits.ops);
        cell.params.span_bytes = Some(span * MIB);
        cells.push(cell);
    }
    for (number, (region, threads)) in
        [(Region::Middle, 1), (Region::Middle, 8), (Region::Whole, 1), (Region::Front, 1)]
            .into_iter()
            .enumerate()
    {
        for (at, &block) in SIZES.iter().enumerate() {
            let front = if region == Region::Front { 0.8 } else { 1.0 };
            let time = (traits.read_ns * front + block as f64 / traits.read_bps * 1e9)
                * f64::from(threads).powf(0.85);
            cells.push(random(
                test::RANDOM_READ,
                number * SIZES.len() + at,
                block,
                region,
                threads,
                [time, time * 8.0, 0.002],
                1500,
            ));
        }
    }
    let sweep = || SIZES[3..12].iter().copied().chain([120 * KIB]).enumerate();
    cells.extend(sweep().map(|(at, block)| {
        sequential(
            test::SEQUENTIAL_READ,
            at,
            block,
            Content::Incompressible,
            traits.read_ns * 0.6,
            traits.read_bps,
        )
    }));
    cells.extend(sweep().map(|(at, block)| {
        sequential(
            test::SEQUENTIAL_WRITE,
            at,
            block,
            Content::Incompressible,
            traits.write_ns,
            traits.write_bps,
        )
    }));
    let mut seek = random(
        test::SEEK,
        0,
        512,
        Region::Whole,
        1,
        [traits.read_ns, traits.read_ns * 5.0, 0.001],
        1500,
    );
    let estimates: BTreeMap<String, Estimate> =
        [(metric::SEEKS_PER_S, 1e9 / traits.read_ns), (metric::ACCESS_TIME_NS, traits.read_ns)]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), estimate(value, 0.01, 30_000)))
            .collect();
    seek.metrics =
        Metrics { other: estimates, latency_ns: seek.metrics.latency_ns, ..Metrics::default() };
    cells.push(seek);
    for (at, form) in ["device", "cache"].into_iter().enumerate() {
        let mut read = cell(test::BUFFERED_READ, &format!("buffered-read/{}", at + 1));
        read.params.form = Some(form.to_owned());
        read.params.path = record::Path::Buffered;
        read.metrics.bps = Some(estimate(if at == 0 { traits.read_bps } else { 1.9e9 }, 0.02, 5));
        read.flags.extend((at == 1).then_some(Flag::Cached));
        cells.push(read);
    }
    let mut format = cell(test::EXT2_FORMAT, test::EXT2_FORMAT);
    format.params.form = Some("simple".to_owned());
    format.metrics.other.insert(metric::GROUPS_PER_S.to_owned(), estimate(8.38, 0.04, 473));
    cells.push(format);
    cells
}

fn record(name: [&str; 2], cells: Vec<Cell>) -> Record {
    let plan = cells.iter().map(|cell| PlannedCell {
        id: cell.id.clone(),
        test: cell.test.clone(),
        params: cell.params.clone(),
        max_ns: 60 * SECOND_NS,
        max_written_bytes: cell.written_bytes,
    });
    Record {
        schema: SCHEMA.to_owned(),
        run: Run {
            id: "20261120-101500-5f3a".to_owned(),
            started: Some("2026-11-20T10:15:00Z".to_owned()),
            finished: Some("2026-11-20T10:26:41Z".to_owned()),
            elapsed_ns: 701 * SECOND_NS,
            seed: 42,
            suite: "standard".to_owned(),
            label: Some("from the camera drawer".to_owned()),
            command: [
                "flashmark",
                "run",
                "/dev/sdb",
                "--suite",
                "standard",
                "--erase",
                "0x1234abcd",
            ]
            .map(str::to_owned)
            .to_vec(),
            software: Software {
                name: "flashmark".to_owned(),
                version: "0.1.0".to_owned(),
                commit: Some("9cbbe3b".to_owned()),
            },
            ended: Ended::Complete,
            resumed: 0,
            repeat: None,
        },
        medium: Medium {
            kind: MediumKind::Sd,
            vendor: Some(name[0].to_owned()),
            model: Some(name[1].to_owned()),
            serial: Some("0x1234abcd".to_owned()),
            capacity_bytes: Some(31_914_983_424),
            interface: Some("mmc".to_owned()),
            manufacturer: Some("0x03 SanDisk".to_owned()),
            made: Some("2019-07".to_owned()),
            au_bytes: Some(4 * MIB),
            classes: Some(SpeedClasses {
                speed_class: Some(10),
                app_class: Some(1),
                ..SpeedClasses::default()
            }),
            removable: Some(true),
            ..Medium::default()
        },
        host: Some(Host {
            kernel: Some("6.12.9".to_owned()),
            arch: Some("aarch64".to_owned()),
            board: Some("Raspberry Pi 4 Model B Rev 1.4".to_owned()),
            cpus: Some(4),
            governor: Some("ondemand".to_owned()),
            memory_bytes: Some(4 * GIB),
            memory_bps: Some(2.6e9),
            temperatures: vec![Temperature {
                sensor: "cpu".to_owned(),
                start_celsius: Some(41.5),
                end_celsius: Some(48.0),
            }],
            ..Host::default()
        }),
        target: Target {
            kind: TargetKind::Block,
            path: "/dev/sdb".to_owned(),
            device: Some("mmcblk0".to_owned()),
            link: Some(Link {
                driver: Some("sdhci-iproc".to_owned()),
                mode: Some("DDR50, 4 bit, 50 MHz".to_owned()),
                max_bps: Some(50e6),
                ..Link::default()
            }),
            queue: Some(Queue {
                scheduler: Some("mq-deadline".to_owned()),
                max_sectors_kb: Some(512),
                ..Queue::default()
            }),
            engine: Some("io_uring".to_owned()),
            ..Target::default()
        },
        plan: plan.collect(),
        cells,
        skipped: Vec::new(),
        flags: Vec::new(),
        findings: Vec::new(),
        summary: None,
    }
}

/// A card suitable for a system (about docs/field/ftl.md#profile-6).
pub fn good() -> Record {
    let cells = cells(&Traits {
        read_ns: 250e3,
        read_bps: 67e6,
        write_ns: 220e3,
        write_bps: 60e6,
        random_writes: [
            [600e3, 4e6, 0.01],
            [640e3, 5e6, 0.01],
            [1.2e6, 12e6, 0.01],
            [2.1e6, 30e6, 0.012],
        ],
        ops: 4000,
        dips: 0.7,
    });
    let mut record = record(["SanDisk", "Extreme A1"], cells);
    record.skipped = vec![
        Skip::new(test::RECORD_OPS, "not in this suite"),
        Skip::new(test::EXT2_FILL, "not in this suite"),
    ];
    record
}

/// A class 10 card with about one random write per second; a bypass hides it for small ones (about
/// docs/field/ftl.md#profile-5b).
pub fn slow_card() -> Record {
    let merge = [460e6, 2.4e9, 0.06];
    let mut cells = cells(&Traits {
        read_ns: 750e3,
        read_bps: 24.8e6,
        write_ns: 1e6,
        write_bps: 10.3e6,
        random_writes: [[19e6, 480e6, 0.02], [20e6, 490e6, 0.02], merge, merge],
        ops: 120,
        dips: 0.25,
    });
    for cell in cells.iter_mut().filter(|cell| cell.test == test::RANDOM_WRITE) {
        cell.stop = Stop::Time;
        cell.flags.push(Flag::NotConverged { relative_half_width: 0.118 });
        if cell.params.block_bytes == Some(4 * KIB) {
            cell.flags.push(Flag::SmallWriteBypass { ratio: 19.4 });
        }
    }
    cells[1]
        .metrics
        .other
        .insert(metric::ZERO_TO_RANDOM_RATIO.to_owned(), estimate(1.31, 0.03, 960));
    record(["Transcend", "SDHC 32G"], cells)
}

/// A stick that vanished half way, after a cache had answered some of the reads; with hostile text
/// in every text field.
pub fn broken() -> Record {
    let nasty = "</script><img src=x onerror=alert(1)>\u{1b}[2J & \"quotes\"";
    let mut writes =
        random(test::RANDOM_WRITE, 1, 4 * KIB, Region::File, 1, [20e6, 490e6, 0.02], 40);
    (writes.stop, writes.reason) =
        (Stop::Error, Some(format!("the device went away (ENODEV) {nasty}")));
    writes.on = Some("ext4, noatime".to_owned());
    let mut few = random(test::RANDOM_WRITE, 0, 512, Region::File, 1, [20e6, 490e6, 0.02], 3);
    few.metrics.iops = few.metrics.iops.map(|e| Estimate { ci95: None, ..e });
    few.flags.push(Flag::TooFewSamples { n: 3 });
    let mut reads = random(test::RANDOM_READ, 3, 4 * KIB, Region::File, 1, [2e3, 3e3, 0.01], 4000);
    reads.flags.push(Flag::FasterThanLink { bps: 2.05e9, link_bps: 60e6 });
    let mut cached = sequential(test::SEQUENTIAL_READ, 0, MIB, Content::Incompressible, 1e3, 5e9);
    cached.flags.push(Flag::Cached);
    let mut unknown = cell("quantum-write", "quantum-write");
    unknown.params.form = Some(nasty.to_owned());
    unknown.metrics.other.insert("spin_per_s".to_owned(), estimate(7.5, 0.1, 12));
    unknown.metrics.other.insert(
        "broken_iops".to_owned(),
        Estimate { value: f64::NAN, ci95: Some([f64::NAN, f64::INFINITY]), n: 9 },
    );
    unknown.series.push(Series {
        name: nasty.to_owned(),
        x: SeriesAxis::Ops,
        y: SeriesAxis::Celsius,
        points: vec![[0.0, 41.0], [f64::NAN, f64::NAN], [9.0, 44.0]],
    });
    let mut record = record(["Generic", nasty], vec![few, writes, reads, cached, unknown]);
    record.plan.push(PlannedCell {
        id: "seek".to_owned(),
        test: test::SEEK.to_owned(),
        params: Params::default(),
        max_ns: 30 * SECOND_NS,
        max_written_bytes: 0,
    });
    record.medium.kind = MediumKind::Usb;
    record.medium.behind_reader = Some(true);
    record.target = Target {
        kind: TargetKind::Directory,
        path: format!("/mnt/{nasty}"),
        filesystem: Some(Filesystem { kind: Some("ext4".to_owned()), ..Filesystem::default() }),
        ..Target::default()
    };
    record.run.ended = Ended::Error;
    record.run.label = Some(nasty.to_owned());
    record.skipped = [test::SECTOR_WRITE, test::EXT2_FORMAT, test::EXT2_FILL]
        .map(|test| Skip::new(test, "needs a raw medium; name a block device"))
        .to_vec();
    record.flags.push(Flag::Note { text: nasty.to_owned() });
    record
}

/// A run that has just begun.
pub fn begun() -> Record {
    let mut record = good();
    record.cells.clear();
    record.run.ended = Ended::Running;
    record.run.elapsed_ns = 0;
    record
}

/// A record in which all optional fields are missing.
pub fn empty() -> Record {
    Record::new(Run::default())
}

/// All demonstration records.
pub fn all() -> [Record; 5] {
    [good(), slow_card(), broken(), begun(), empty()]
}
