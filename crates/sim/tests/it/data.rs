//! Test that reads return what was written, on an honest medium: compared with the simplest model,
//! an array.

use device::{Device, Op, Request};
use flashmark_sim::{Profile, SimDevice, SimOptions};
use proptest::prelude::*;

use crate::common::*;

const ANNOUNCED: u64 = 8 * MIB;

fn medium(fake: &str) -> SimDevice {
    let text = format!(
        r#"
about = "small"
source = "test"
guesses = "test"
medium = {{ capacity = "8 MiB", discards = true }}
read = {{ command = "1 ms", rate = "20 MB/s" }}
write = {{ command = "1 ms", rate = "10 MB/s", unit = "4 KiB" }}
page_mapped = {{}}
{fake}
"#
    );
    of_text(&text, SimOptions::default().seed)
}

/// A write, read or discard of sectors.
#[derive(Clone, Debug)]
struct Step {
    op: Op,
    sector: u64,
    sectors: u64,
    value: u8,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let op = prop_oneof![3 => Just(Op::Write), 3 => Just(Op::Read), 1 => Just(Op::Discard)];
    let step = (op, 0..ANNOUNCED / 512 - 128, 1u64..=128, 1u8..=255)
        .prop_map(|(op, sector, sectors, value)| Step { op, sector, sectors, value });
    proptest::collection::vec(step, 1..60)
}

/// Runs the steps on the device and on an array; `map` gives the real place of a byte.
fn agree(device: &mut SimDevice, steps: Vec<Step>, map: impl Fn(u64) -> Option<u64>) {
    let mut array = vec![0u8; ANNOUNCED as usize];
    for step in steps {
        let (start, end) = (step.sector * 512, (step.sector + step.sectors) * 512);
        let request = Request { op: step.op, ..Request::read(0, start, end - start) };
        let value = if step.op == Op::Write { step.value } else { 0 };
        device.buffer(0)[..(end - start) as usize].fill(value);
        assert!(run(device, request).result.is_ok());
        if step.op == Op::Read {
            let behind = |byte| map(byte).map_or(0, |byte| array[byte as usize]);
            let expected: Vec<u8> = (start..end).map(behind).collect();
            assert!(device.buffer(0)[..expected.len()] == expected, "{step:?}");
        } else {
            (start..end).filter_map(&map).for_each(|byte| array[byte as usize] = value);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_honest_medium_is_an_array_and_a_fake_a_shorter_one(steps in steps()) {
        for (fake, real, module) in [
            ("", ANNOUNCED, ANNOUNCED),
            ("[fake]\nreal = \"1 MiB\"\nmodule = \"1 MiB\"", MIB, MIB),
            ("[fake]\nreal = \"1 MiB\"", MIB, ANNOUNCED),
            ("[fake]\nreal = \"1 MiB\"\nmodule = \"1536 KiB\"", MIB, MIB + MIB / 2),
        ] {
            agree(&mut medium(fake), steps.clone(), |byte| Some(byte % module).filter(|byte| *byte < real));
        }
    }
}

#[test]
fn unwritten_flash_reads_as_set_in_the_profile() {
    let text =
        Profile::text("class10").unwrap().replace("[medium]", "[medium]\nunwritten = \"ones\"");
    let mut device = of_text(&text, 1);
    run(&mut device, Request::read(0, GIB, 4096));
    assert!(device.buffer(0)[..4096].iter().all(|byte| *byte == 0xff));
}

#[test]
fn what_a_fake_drops_takes_no_memory() {
    let mut device = of_text(Profile::text("fake-limbo").unwrap(), 1);
    device.buffer(0).fill(1);
    for place in [0, 32 * GIB] {
        run(&mut device, Request::write(0, place, 64 << 10));
        assert_eq!(device.kept_bytes(), 64 * KIB);
    }
}

/// Single pages at places far apart, the same pages again, parts of them, and their end.
#[test]
fn every_page_is_counted_once_and_given_back() {
    let mut device = SimDevice::new(Profile::builtin("a1").unwrap(), SimOptions::default());
    device.prepare(1, 64 << 10).unwrap();
    let mut pages = std::collections::BTreeSet::new();
    let mut dice = stats::Random::new(5);
    for value in 1..=200u8 {
        // 1 to 128 sectors anywhere: the first and last page may be touched in part only.
        let (sector, sectors) = (dice.below(32 * GIB / 512 - 128), 1 + dice.below(128));
        device.buffer(0).fill(value);
        for _ in 0..2 {
            run(&mut device, Request::write(0, sector * 512, sectors * 512));
        }
        pages.extend(sector / 8..=(sector + sectors - 1) / 8);
        assert_eq!(device.kept_bytes(), pages.len() as u64 * 4096);
    }
    device.buffer(0).fill(0);
    run(&mut device, Request::write(0, 31 * GIB, 64 << 10));
    let kept = pages.len() as u64 * 4096;
    assert_eq!(device.kept_bytes(), kept, "zeros on fresh flash need no memory");
    for page in pages {
        run(&mut device, Request { op: Op::Discard, ..Request::read(0, page * 4096, 4096) });
    }
    assert_eq!(device.kept_bytes(), 0);
}

/// The worn places of a unit do not depend on the seed; another unit has others.
#[test]
fn a_unit_is_worn_where_it_is_worn() {
    let bad = |unit: u64, seed: u64| {
        let options = SimOptions { seed, keep_data: false, capacity: None };
        let mut device = SimDevice::of_unit(Profile::builtin("worn").unwrap(), unit, options);
        device.prepare(1, 64 << 10).unwrap();
        let failed = |block: &u64| {
            run(&mut device, Request::read(0, block * 64 * KIB, 64 * KIB)).result.is_err()
        };
        (0..8 * GIB / (64 * KIB)).filter(failed).collect::<Vec<_>>()
    };
    assert!((10..60).contains(&bad(1, 1).len()));
    assert_eq!(bad(1, 1), bad(1, 2));
    assert_ne!(bad(1, 1), bad(2, 1));
}

#[test]
fn without_data_nothing_is_kept_and_buffers_are_left_alone() {
    let mut device = fast("a1", 1);
    assert!(!device.facts().keeps_data);
    device.buffer(0).fill(5);
    run(&mut device, Request::read(0, 0, 4096));
    assert!(device.buffer(0).iter().all(|byte| *byte == 5));
    let mut dice = stats::Random::new(6);
    (0..100_000).for_each(|_| {
        drop(run(&mut device, Request::write(0, dice.below(32 * GIB / 4096) * 4096, 4096)))
    });
    assert_eq!(device.kept_bytes(), 0);
}

#[test]
fn a_smaller_fake_is_still_a_fake() {
    let mut device = SimDevice::new(
        Profile::builtin("fake-wrap").unwrap(),
        SimOptions { capacity: Some(64 * MIB), ..SimOptions::default() },
    );
    device.prepare(1, 4096).unwrap();
    device.buffer(0).fill(9);
    run(&mut device, Request::write(0, 8 * MIB, 4096));
    device.buffer(0).fill(0);
    run(&mut device, Request::read(0, 0, 4096));
    assert!(device.buffer(0).iter().all(|byte| *byte == 9), "byte 8 MiB of 64 is byte 0 of 8");
}
