use record::units::MIB;
use record::{Disturbance, Host, Link, Path, Queue, Sample, SpeedClasses};

use super::*;
use crate::testing::{cell, empty, exact, iops, known, record_of};

fn limits(record: &Record) -> String {
    host(record).map_or_else(String::new, |found| found.statement)
}

#[test]
fn reads_reach_the_link_from_85_hundredths_on() {
    let said = |bps: f64, max_bps: f64| {
        let mut read = cell(test::SEQUENTIAL_READ, 1, MIB);
        read.metrics.bps = Some(known(bps, 0.01, 400));
        let mut record = record_of(vec![read]);
        record.target.link = Some(Link { max_bps: Some(max_bps), ..Link::default() });
        limits(&record)
    };
    assert_eq!(said(84.9e6, 100e6), "");
    assert_eq!(
        said(85e6, 100e6),
        "The host may have limited the result: reads reach the limit of the link (100 MB/s), so the medium may be faster."
    );
    assert_eq!(said(85e6, 0.0), "");
    assert_eq!(said(85e6, f64::INFINITY), "");
}

#[test]
fn links_that_are_too_slow_for_a_card_are_told() {
    let uhs = SpeedClasses { uhs_grade: Some(1), ..SpeedClasses::default() };
    let video = |video_class| SpeedClasses { video_class: Some(video_class), ..Default::default() };
    let app = |app_class| SpeedClasses { app_class: Some(app_class), ..Default::default() };
    let none = SpeedClasses::default();
    for (classes, mode, queue, says) in [
        (uhs.clone(), "sd high-speed, 4 bit", None, "a UHS card runs in a mode for older cards"),
        (uhs.clone(), "sd legacy", None, "a UHS card runs in a mode for older cards"),
        (uhs, "sd uhs SDR104", None, ""),
        (SpeedClasses { uhs_grade: Some(0), ..none.clone() }, "sd legacy", None, ""),
        (video(10), "sd legacy", None, ""),
        (video(11), "sd legacy", None, "a UHS card runs in a mode for older cards"),
        (none.clone(), "480 Mbit/s", None, "the medium is attached by USB 2 or slower"),
        (none.clone(), "12 Mbit/s", None, "the medium is attached by USB 2 or slower"),
        (none.clone(), "5000 Mbit/s", None, ""),
        (app(2), "", None, "an A2 card runs without its command queue"),
        (app(2), "", Some(false), "an A2 card runs without its command queue"),
        (app(2), "", Some(true), ""),
        (app(1), "", None, ""),
    ] {
        let mut record = empty();
        record.medium.classes = Some(classes);
        record.target.link =
            Some(Link { mode: Some(mode.into()), command_queue: queue, ..Link::default() });
        let said = limits(&record).replace("The host may have limited the result: ", "");
        assert!(said.starts_with(says) && said.is_empty() == says.is_empty(), "{mode}: {said}");
    }
}

#[test]
fn settings_of_the_host_are_told_where_they_matter() {
    let with = |host: Host| Record { host: Some(host), ..empty() };
    let governor = |governor: &str, arch: &str| {
        let (governor, arch) = (Some(governor.into()), Some(arch.into()));
        limits(&with(Host { governor, arch, ..Host::default() }))
    };
    assert!(governor("powersave", "aarch64").contains("governor powersave"));
    assert_eq!(governor("powersave", "x86_64"), "", "there it means something else");
    assert_eq!(governor("ondemand", "aarch64"), "");
    let throttled =
        |flags: &str| limits(&with(Host { throttled: Some(flags.into()), ..Host::default() }));
    assert!(throttled("0x50000").contains("throttled itself"));
    assert_eq!(["", "0", "0x0"].map(throttled), ["", "", ""]);
    let mut record = empty();
    record.medium.behind_reader = Some(true);
    assert!(limits(&record).contains("behind a reader"));
    record.medium.behind_reader = Some(false);
    assert_eq!(limits(&record), "");
}

#[test]
fn writeback_throttling_matters_to_buffered_writes() {
    let said = |usec: i64, path: Path, test: &str| {
        let mut buffered = iops(test, 1, 4096, 100.0, 1_000_000);
        buffered.params.path = path;
        let mut record = record_of(vec![buffered]);
        record.target.queue = Some(Queue { wbt_lat_usec: Some(usec), ..Queue::default() });
        limits(&record)
    };
    assert!(said(1, Path::Buffered, test::RANDOM_WRITE).contains("writeback throttling"));
    assert_eq!(said(0, Path::Buffered, test::RANDOM_WRITE), "");
    assert_eq!(said(1, Path::Direct, test::RANDOM_WRITE), "");
    assert_eq!(said(1, Path::Buffered, test::RANDOM_READ), "");
}

#[test]
fn tasks_that_wait_for_half_of_the_longest_cell_are_told() {
    let pressed = |share_us: u64, elapsed_ns: u64, looked_ns: Option<[u64; 2]>| {
        let mut long = cell(test::RANDOM_WRITE, 1, 4096);
        long.elapsed_ns = elapsed_ns;
        long.disturbance =
            Some(Disturbance { cpu_pressure_us: Some(share_us), ..Disturbance::default() });
        long.activity =
            looked_ns.unwrap_or([0, 0]).map(|at_ns| Sample { at_ns, ..Sample::default() }).into();
        let mut short = long.clone();
        short.elapsed_ns = 1;
        most_pressed(&record_of(vec![short, long])).map(|(_, share)| share)
    };
    assert_eq!(pressed(500, 1_000_000, None), None);
    assert_eq!(pressed(510, 1_000_000, None), Some(0.51));
    assert_eq!(pressed(510, 1_000_000, Some([5, 2_000_005])), None);
    assert_eq!(pressed(1_500, 1_000_000, Some([5, 2_000_005])), Some(0.75));
}

#[test]
fn a_host_that_stood_still_is_told_with_its_share() {
    let mut record = record_of(vec![cell(test::RANDOM_WRITE, 1, 4096), cell(test::SEEK, 1, 512)]);
    record.cells[0].elapsed_ns = 1_000;
    record.cells[0].disturbance =
        Some(Disturbance { stood_still_ns: 200, ..Disturbance::default() });
    let found = host(&record).expect("it stood still");
    assert!(found.statement.contains("during 1 of 2 cells"), "{}", found.statement);
    assert!(found.evidence[0].ends_with("the host stood still for 20.0 % of it"), "{found:?}");
    record.cells[0].disturbance = None;
    record.cells[1].disturbance =
        Some(Disturbance { other_time_stood_still_ns: Some(2_000_000), ..Disturbance::default() });
    let found = host(&record).expect("it was measured twice");
    assert!(found.statement.contains("1 of 2 cells were measured twice"), "{}", found.statement);
    assert!(found.evidence[0].ends_with("the host stood still for 2.00 ms"), "{found:?}");
}

/// Rates of blocks of 64, 120 and 128 KiB.
fn split(at_64: f64, at_120: Option<f64>, at_128: f64, limit_kib: Option<u32>) -> Option<Finding> {
    let of = |number: u32, kib: u64, bps: f64| {
        let mut write = cell(test::SEQUENTIAL_WRITE, number, kib * KIB);
        write.metrics.bps = Some(known(bps, 0.0, 400));
        exact(write)
    };
    let mut cells = vec![of(1, 64, at_64), of(2, 128, at_128)];
    cells.extend(at_120.map(|bps| of(3, 120, bps)));
    let mut record = record_of(cells);
    record.target.queue =
        Some(Queue { max_sectors_kb: limit_kib.map(Into::into), ..Queue::default() });
    usb_split(&record)
}

#[test]
fn a_dip_of_a_quarter_is_the_drivers_where_its_largest_command_is_fast() {
    for (at_120, at_128, limit_kib, id) in [
        (Some(10e6), 7.6e6, None, None),
        (Some(10e6), 7.4e6, None, Some("usb-split")),
        (Some(9.0e6), 7.4e6, None, Some("usb-split")),
        (Some(8.9e6), 7.4e6, None, Some("medium-dip")),
        (Some(8.9e6), 7.4e6, Some(120), Some("medium-dip")),
        (None, 7.4e6, None, Some("medium-dip")),
        (None, 7.4e6, Some(120), Some("usb-split")),
        (None, 7.4e6, Some(64), Some("medium-dip")),
        (None, 7.4e6, Some(128), Some("medium-dip")),
        (None, 7.4e6, Some(240), Some("medium-dip")),
    ] {
        let found = split(10e6, at_120, at_128, limit_kib);
        let name = found.as_ref().map(|found| found.id.as_str());
        assert_eq!(name, id, "{at_120:?} {at_128} {limit_kib:?}");
    }
}

#[test]
fn a_split_says_what_is_lost_and_which_blocks_avoid_it() {
    let said = |limit_kib| split(10e6, Some(10e6), 7e6, limit_kib).expect("a split").statement;
    assert!(said(None).starts_with("Writes of 128 KiB are 30.0 % slower than of 64 KiB"));
    assert!(said(None).contains("splits them into 120 KiB and a rest"));
    assert!(said(Some(96)).contains("splits them into 96 KiB and a rest"));
    assert!(said(Some(128)).contains("splits them into 120 KiB and a rest"));
}
