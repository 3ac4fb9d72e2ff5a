//! Test of media that fail as their profile says.

use device::{Completion, Device, IoErrorKind, Request};
use flashmark_sim::{Profile, SimDevice};

use crate::common::*;

/// The A1 card with these faults and this seed.
fn failing(faults: &str, seed: u64) -> SimDevice {
    of_text(&format!("{}\n{faults}", Profile::text("a1").unwrap()), seed)
}

fn kind(device: &mut SimDevice, request: Request) -> Option<IoErrorKind> {
    run(device, request).result.err().map(|error| error.kind)
}

fn is_gone(completion: &Completion) -> bool {
    completion.result.as_ref().is_err_and(|error| error.is_gone())
}

#[test]
fn an_error_at_a_range_hits_what_touches_it() {
    let mut device = failing(
        "[[fault]]\nkind = \"medium-error\"\noffset = \"1 MiB\"\nsize = \"4 KiB\"\ndirection = \"read\"",
        1,
    );
    let reads = [MIB - 4096, MIB - 512, MIB, MIB + 4096]
        .map(|at| kind(&mut device, Request::read(0, at, 4096)));
    assert_eq!(reads, [None, Some(IoErrorKind::Medium), Some(IoErrorKind::Medium), None]);
    assert_eq!(kind(&mut device, Request::write(0, MIB, 4096)), None);
}

#[test]
fn an_error_may_go_away() {
    let mut device = failing("[[fault]]\nkind = \"medium-error\"\ntimes = 2\nafter_ops = 1", 1);
    let kinds = [(); 4].map(|()| kind(&mut device, Request::read(0, 0, 4096)));
    assert_eq!(kinds, [None, Some(IoErrorKind::Medium), Some(IoErrorKind::Medium), None]);
}

#[test]
fn a_hang_is_one_very_long_io() {
    let mut device =
        failing("[[fault]]\nkind = \"hang\"\nlasts = \"12 s\"\nafter_written = \"8 KiB\"", 1);
    let times = [(); 4].map(|()| ms(&mut device, Request::write(0, 0, 4096)) as u64 / 1000);
    assert_eq!(times, [0, 0, 12, 0]);
}

#[test]
fn a_medium_may_vanish_and_come_back() {
    let mut device = failing("[[fault]]\nkind = \"vanish\"\nafter = \"2 s\"\nlasts = \"3 s\"", 1);
    device.buffer(0).fill(7);
    let mut seen = vec![kind(&mut device, Request::write(0, 0, 4096))];
    for _ in 0..3 {
        device.idle(2_000_000_000);
        seen.push(kind(&mut device, Request::read(0, 0, 4096)));
    }
    assert_eq!(seen, [None, Some(IoErrorKind::Gone), Some(IoErrorKind::Gone), None]);
    assert!(device.buffer(0)[..4096].iter().all(|byte| *byte == 7), "the data is still there");
}

#[test]
fn what_is_in_flight_when_the_medium_vanishes_fails() {
    let mut device = failing("[[fault]]\nkind = \"vanish\"\nafter_ops = 3", 1);
    for slot in 0..4 {
        device.submit(Request::read(slot, u64::from(slot) * MIB, 4096)).unwrap();
    }
    let mut done = Vec::new();
    device.reap(4, &mut done).unwrap();
    assert!(done.iter().all(is_gone), "{done:?}");
}

#[test]
fn corruption_is_silent_seeded_and_as_frequent_as_asked_for() {
    let flipped = |seed| {
        let mut device = failing("[[fault]]\nkind = \"corruption\"\nshare = 0.1", seed);
        let pages: Vec<u64> = (0..1000)
            .filter(|page| {
                device.buffer(0).fill(0xaa);
                assert!(run(&mut device, Request::write(0, page * 4096, 4096)).result.is_ok());
                assert!(run(&mut device, Request::read(0, page * 4096, 4096)).result.is_ok());
                let wrong: u32 =
                    device.buffer(0)[..4096].iter().map(|byte| (byte ^ 0xaa).count_ones()).sum();
                assert!(wrong <= 1, "one bit at most");
                wrong == 1
            })
            .collect();
        pages
    };
    assert!((70..130).contains(&flipped(1).len()));
    assert_eq!(flipped(1), flipped(1));
    assert_ne!(flipped(1), flipped(2));
}

#[test]
fn a_worn_out_medium_turns_read_only() {
    let mut device = failing("[[fault]]\nkind = \"read-only\"\nafter_written = \"1 MiB\"", 1);
    assert_eq!(kind(&mut device, Request::write(0, 0, MIB)), None);
    assert_eq!(kind(&mut device, Request::write(0, 0, 4096)), Some(IoErrorKind::ReadOnly));
    assert_eq!(kind(&mut device, Request::read(0, 0, 4096)), None);
}

#[test]
fn a_medium_vanishes_at_its_moment_and_not_at_the_next_request() {
    let mut device =
        failing("[[fault]]\nkind = \"vanish\"\nafter = \"0.1 ms\"\nlasts = \"1 s\"", 1);
    let completion = run(&mut device, Request::write(0, 0, 64 * KIB));
    assert!(is_gone(&completion));
    assert_eq!(completion.completed_ns, 100_000);
    device.idle(2_000_000_000);
    assert!(ms(&mut device, Request::read(0, 0, 4096)) < 10.0, "it starts afresh");
}

/// Number of sectors with the new data in a write of 64 KiB that was in flight at a power cut, and
/// true if they come first.
fn torn(seed: u64) -> (usize, bool) {
    // A write of 64 KiB takes about 1.3 ms.
    let mut device =
        failing("[[fault]]\nkind = \"power-cut\"\nafter = \"1000.6 ms\"\nlasts = \"1 s\"", seed);
    device.buffer(0).fill(1);
    run(&mut device, Request::write(0, 0, 64 * KIB));
    let passed = device.now();
    device.idle(1_000_000_000 - passed);
    device.buffer(0).fill(2);
    device.submit(Request::write(0, 0, 64 * KIB)).unwrap();
    device.idle(1_000_000);
    // The power is gone by now, which the next request finds out.
    device.submit(Request::read(1, 0, 4096)).unwrap();
    let mut done = Vec::new();
    device.reap(2, &mut done).unwrap();
    assert!(done.iter().all(is_gone), "{done:?}");
    device.idle(2_000_000_000);
    assert!(run(&mut device, Request::read(0, 0, 64 * KIB)).result.is_ok());
    let sectors: Vec<u8> =
        device.buffer(0)[..64 << 10].chunks(512).map(|sector| sector[0]).collect();
    (sectors.iter().filter(|value| **value == 2).count(), sectors.is_sorted_by(|a, b| a >= b))
}

#[test]
fn a_power_cut_tears_the_write_under_way_at_a_sector() {
    let results: Vec<(usize, bool)> = (0..8).map(torn).collect();
    assert!(results.iter().all(|(_, first)| *first), "{results:?}");
    assert!(results.iter().any(|(new, _)| (1..128).contains(new)), "{results:?}");
}

/// True if a write that was flushed survives a power cut.
fn survives(honest: bool) -> bool {
    let text = Profile::text("flush-liar")
        .unwrap()
        .replace("honest = false", &format!("honest = {honest}"));
    let text = format!("{text}\n[[fault]]\nkind = \"power-cut\"\nafter_ops = 202\nlasts = \"1 s\"");
    let mut device = of_text(&text, 1);
    device.buffer(0).fill(3);
    for i in 0..200 {
        run(&mut device, Request::write(0, i * MIB, 4096));
    }
    assert!(run(&mut device, Request::write(0, 500 * MIB, 4096)).result.is_ok());
    assert!(run(&mut device, Request::flush(0)).result.is_ok());
    assert_eq!(kind(&mut device, Request::read(0, 0, 4096)), Some(IoErrorKind::Gone));
    device.idle(2_000_000_000);
    assert!(run(&mut device, Request::read(0, 500 * MIB, 4096)).result.is_ok());
    device.buffer(0)[..4096].iter().all(|byte| *byte == 3)
}

#[test]
fn a_flush_that_lies_loses_data_when_the_power_goes() {
    assert_eq!((survives(true), survives(false)), (true, false));
}
