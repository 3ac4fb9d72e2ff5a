//! Records for tests, made of stored ones: a good card, a slow one, one that failed.

use record::units::{GIB, MIB, SECOND_NS};
use record::{
    Cell, Ended, Estimate, Flag, Host, Link, MediumKind, Params, PlannedCell, Queue, Record, Run,
    Series, SeriesAxis, Skip, SpeedClasses, Stop, Target, TargetKind, test,
};

/// An estimate with an interval of this relative width.
pub fn estimate(value: f64, relative: f64, n: u64) -> Estimate {
    Estimate { value, ci95: Some([value * (1.0 - relative), value * (1.0 + relative)]), n }
}

/// An empty cell of this test.
pub fn cell(test: &str, id: &str) -> Cell {
    let params = Params { queue_depth: 1, threads: 1, ..Params::default() };
    Cell { stop: Stop::Converged, ..Cell::begun(id, test, params) }
}

/// A stored record without its probe of the capacity, as if a card had been measured on a board.
fn measured(text: &str, [vendor, model]: [&str; 2]) -> Record {
    let some = |text: &str| Some(text.to_owned());
    let mut record = Record::from_json(text).expect("a stored record is whole");
    record.cells.retain(|cell| cell.test != test::CAPACITY);
    let plan = record.cells.iter().map(|cell| PlannedCell {
        id: cell.id.clone(),
        test: cell.test.clone(),
        params: cell.params.clone(),
        max_ns: 60 * SECOND_NS,
        max_written_bytes: cell.written_bytes,
    });
    record.plan = plan.collect();
    record.skipped.clear();
    record.run.id = "20261120-101500-5f3a".to_owned();
    record.run.started = some("2026-11-20T10:15:00Z");
    record.run.finished = some("2026-11-20T10:26:41Z");
    record.run.elapsed_ns = 701 * SECOND_NS;
    record.run.label = some("from the camera drawer");
    let medium = &mut record.medium;
    (medium.kind, medium.profile) = (MediumKind::Sd, None);
    (medium.vendor, medium.model, medium.serial) = (some(vendor), some(model), some("0x1234abcd"));
    medium.capacity_bytes = Some(31_914_983_424);
    medium.au_bytes = Some(4 * MIB);
    medium.classes =
        Some(SpeedClasses { speed_class: Some(10), app_class: Some(1), ..SpeedClasses::default() });
    record.host = Some(Host {
        kernel: some("6.12.9"),
        board: some("Raspberry Pi 4 Model B Rev 1.4"),
        governor: some("ondemand"),
        memory_bytes: Some(4 * GIB),
        ..Host::default()
    });
    record.target = Target {
        kind: TargetKind::Block,
        path: "/dev/sdb".to_owned(),
        device: some("mmcblk0"),
        link: Some(Link {
            driver: some("sdhci-iproc"),
            mode: some("DDR50, 4 bit, 50 MHz"),
            max_bps: Some(200e6),
            ..Link::default()
        }),
        queue: Some(Queue { scheduler: some("mq-deadline"), ..Queue::default() }),
        engine: some("io_uring"),
        ..Target::default()
    };
    record
}

/// A card suitable for a system.
pub fn good() -> Record {
    let text = include_str!("../../../fixtures/records/standard-a1.json");
    let mut record = measured(text, ["SanDisk", "Extreme A1"]);
    record.skipped =
        [test::RECORD_OPS, test::EXT2_FILL].map(|test| Skip::new(test, "not in this suite")).into();
    record
}

/// A class 10 card with a few random writes per second.
pub fn slow_card() -> Record {
    let text = include_str!("../../../fixtures/records/standard-class10.json");
    measured(text, ["Transcend", "SDHC 32G"])
}

/// A stick that vanished half way, after a cache had answered some of the reads; with hostile text
/// in every text field.
pub fn broken() -> Record {
    let nasty = "</script><img src=x onerror=alert(1)>\u{1b}[2J & \"quotes\"";
    let mut record = good();
    let mut taken = |test: &str, block: u64| {
        let is_it = |cell: &Cell| cell.test == test && cell.params.block_bytes == Some(block);
        let at = record.cells.iter().position(is_it).expect("it was measured");
        record.cells.remove(at)
    };
    let mut writes = taken(test::RANDOM_WRITE, 4096);
    (writes.stop, writes.reason) =
        (Stop::Error, Some(format!("the device went away (ENODEV) {nasty}")));
    writes.on = Some("ext4, noatime".to_owned());
    let mut few = taken(test::RANDOM_WRITE, 512);
    few.metrics.iops = few.metrics.iops.map(|e| Estimate { ci95: None, n: 3, ..e });
    few.flags.push(Flag::TooFewSamples { n: 3 });
    let mut reads = taken(test::RANDOM_READ, 4096);
    reads.flags.push(Flag::FasterThanLink { bps: 2.05e9, link_bps: 60e6 });
    let mut cached = taken(test::SEQUENTIAL_READ, MIB);
    cached.flags.push(Flag::Cached);
    let mut unknown = cell("quantum-write", "quantum-write");
    unknown.params.form = Some(nasty.to_owned());
    let nan = Estimate { value: f64::NAN, ci95: Some([f64::NAN, f64::INFINITY]), n: 9 };
    unknown.metrics.other.insert("broken_iops".to_owned(), nan);
    unknown.metrics.other.insert("spin_per_s".to_owned(), estimate(7.5, 0.1, 12));
    unknown.series.push(Series {
        name: nasty.to_owned(),
        x: SeriesAxis::Ops,
        y: SeriesAxis::Celsius,
        points: vec![[0.0, 41.0], [f64::NAN, f64::NAN], [9.0, 44.0]],
    });
    record.cells = vec![few, writes, reads, cached, unknown];
    record.run.ended = Ended::Error;
    record.run.label = Some(nasty.to_owned());
    (record.medium.kind, record.medium.behind_reader) = (MediumKind::Usb, Some(true));
    record.medium.model = Some(nasty.to_owned());
    record.target =
        Target { kind: TargetKind::Directory, path: format!("/mnt/{nasty}"), ..Target::default() };
    record.skipped = vec![Skip::new(test::SECTOR_WRITE, "needs a raw medium; name a block device")];
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

/// All of these records.
pub fn all() -> [Record; 5] {
    [good(), slow_card(), broken(), begun(), empty()]
}
