//! The contract of a device as a test that every device passes: the real ones, the simulated ones,
//! and wrappers around them.

use record::{Content, Path, Sync};

use crate::{Completion, DataGenerator, Device, IoErrorKind, Op, Request, SectorVerdict};

/// Size of the I/Os in bytes: a multiple of every common logical block.
const BLOCK: u64 = 4096;

/// Tests a writable device of at least 1 MiB against the contract; overwrites its first MiB.
///
/// # Panics
/// If the device breaks its contract, with the reason.
pub fn device_conformance(device: &mut dyn Device) {
    assert!(device.facts().capacity_bytes >= 1 << 20, "the suite needs a medium of 1 MiB");
    assert!(!device.facts().read_only, "the suite needs a writable medium");
    the_clock_never_goes_back(device);
    buffers_are_as_asked_for(device);
    the_first_mib_can_be_written(device);
    every_request_completes_once_and_in_order(device);
    reaping_waits_for_what_is_there_and_no_longer(device);
    what_is_written_is_read(device);
    every_kind_of_write_is_taken(device);
    what_cannot_be_done_is_an_error_and_harms_nothing(device);
    discards_are_taken_where_promised(device);
}

fn the_clock_never_goes_back(device: &mut dyn Device) {
    let before = device.now();
    device.idle(1_000_000);
    let after = device.now();
    assert!(
        after >= before + 1_000_000,
        "idling for 1 ms moved the clock by {} ns",
        after - before
    );
    let cpu = device.cpu_ns();
    assert!(device.cpu_ns() >= cpu, "processor time went back");
}

fn buffers_are_as_asked_for(device: &mut dyn Device) {
    for (slots, bytes) in [(1, 512), (3, 4096), (2, 128 << 10)] {
        device.prepare(slots, bytes).expect("buffers are made");
        for slot in 0..slots {
            assert_eq!(device.buffer(slot).len(), bytes);
            device.buffer(slot).fill(slot as u8);
        }
        (0..slots).for_each(|slot| {
            assert!(device.buffer(slot).iter().all(|&byte| byte == slot as u8), "buffers overlap")
        });
    }
}

/// Writes the data for later reads too: a file may only be read where it has been written.
fn the_first_mib_can_be_written(device: &mut dyn Device) {
    device.prepare(1, 64 << 10).expect("buffers are made");
    for offset in (0..1 << 20).step_by(64 << 10) {
        run(device, Request::write(0, offset, 64 << 10)).expect("a write succeeds");
    }
}

fn every_request_completes_once_and_in_order(device: &mut dyn Device) {
    let slots = device.facts().max_in_flight.min(32);
    device.prepare(slots, BLOCK as usize).expect("buffers are made");
    let before = device.now();
    for slot in 0..slots {
        device
            .submit(Request::read(slot, u64::from(slot) * BLOCK, BLOCK))
            .expect("a read is taken");
    }
    let mut done = Vec::new();
    while done.len() < slots as usize {
        let had = done.len();
        device.reap(1, &mut done).expect("reaping works");
        assert!(
            done.len() > had,
            "reap(1) brought nothing with {} in flight",
            slots as usize - had
        );
        assert!(
            done[had..].is_sorted_by_key(|completion| completion.completed_ns),
            "completions are not in order: {done:?}"
        );
    }
    done.iter().for_each(check_success);
    assert!(
        done.iter().all(|completion| completion.submitted_ns >= before
            && completion.completed_ns <= device.now())
    );
    let mut seen: Vec<u32> = done.iter().map(|completion| completion.slot).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..slots).collect::<Vec<_>>(), "each slot completes once");
}

fn check_success(completion: &Completion) {
    assert!(completion.result.is_ok(), "{:?}", completion.result);
    assert!(
        completion.completed_ns >= completion.submitted_ns,
        "done before it began: {completion:?}"
    );
}

fn reaping_waits_for_what_is_there_and_no_longer(device: &mut dyn Device) {
    let slots = device.facts().max_in_flight.min(2);
    device.prepare(slots, BLOCK as usize).expect("buffers are made");
    let mut done = Vec::new();
    device.reap(1, &mut done).expect("reaping nothing works");
    assert_eq!(done, [], "nothing was in flight");
    for slot in 0..slots {
        device.submit(Request::read(slot, 0, BLOCK)).expect("a read is taken");
    }
    device.reap(slots as usize + 5, &mut done).expect("asking for more than is in flight works");
    assert_eq!(done.len(), slots as usize);
    run(device, Request::read(0, 0, BLOCK)).expect("a slot is free again after its completion");
}

/// Does one I/O from submission to completion and returns its result.
fn run(device: &mut dyn Device, request: Request) -> Result<(), crate::IoError> {
    device.submit(request)?;
    let mut done = Vec::new();
    device.reap(1, &mut done)?;
    assert_eq!(done.iter().map(|completion| completion.slot).collect::<Vec<_>>(), [request.slot]);
    assert!(done[0].completed_ns >= done[0].submitted_ns);
    done.remove(0).result
}

fn what_is_written_is_read(device: &mut dyn Device) {
    device.prepare(2, 64 << 10).expect("buffers are made");
    let generator = DataGenerator::new(1);
    for pass in 0..2 {
        for (offset, bytes) in
            [(0, 64 << 10), (64 << 10, BLOCK), (512 << 10, 20 << 10), ((1 << 20) - BLOCK, BLOCK)]
        {
            generator.fill(
                &mut device.buffer(0)[..bytes as usize],
                Content::Incompressible,
                pass,
                offset,
            );
            run(device, Request::write(0, offset, bytes)).expect("a write succeeds");
            if pass == 1 {
                run(device, Request::flush(1)).expect("a flush succeeds");
                device.drop_caches().expect("caches are dropped");
            }
            run(device, Request::read(1, offset, bytes)).expect("a read succeeds");
            expect_data(device, 1, bytes, pass, offset);
        }
    }
}

/// Asserts that the slot holds the data that `DataGenerator::new(1)` makes for this offset and
/// pass.
fn expect_data(device: &mut dyn Device, slot: u32, bytes: u64, pass: u32, offset_bytes: u64) {
    if !device.facts().keeps_data {
        return;
    }
    let generator = DataGenerator::new(1);
    for (offset, verdict) in
        generator.verify(&device.buffer(slot)[..bytes as usize], pass, offset_bytes)
    {
        assert_eq!(
            verdict,
            SectorVerdict::Good,
            "what was written at byte {offset} did not come back"
        );
    }
}

fn every_kind_of_write_is_taken(device: &mut dyn Device) {
    device.prepare(1, BLOCK as usize).expect("buffers are made");
    let mut pass = 10;
    for path in [Path::Direct, Path::Buffered] {
        for sync in [Sync::None, Sync::Data, Sync::File] {
            let offset = u64::from(pass) * BLOCK;
            DataGenerator::new(1).fill(device.buffer(0), Content::Incompressible, pass, offset);
            let write = Request { sync, path, ..Request::write(0, offset, BLOCK) };
            run(device, write)
                .unwrap_or_else(|error| panic!("{path:?} write with {sync:?}: {error}"));
            run(device, Request::flush(0)).expect("a flush succeeds");
            for path in [Path::Direct, Path::Buffered] {
                device.buffer(0).fill(0);
                run(device, Request { path, ..Request::read(0, offset, BLOCK) })
                    .expect("a read succeeds");
                expect_data(device, 0, BLOCK, pass, offset);
            }
            pass += 1;
        }
    }
}

fn what_cannot_be_done_is_an_error_and_harms_nothing(device: &mut dyn Device) {
    device.prepare(1, BLOCK as usize).expect("buffers are made");
    DataGenerator::new(1).fill(device.buffer(0), Content::Incompressible, 0, 0);
    run(device, Request::write(0, 0, BLOCK)).expect("a write succeeds");
    let end = device.facts().capacity_bytes;
    let block = device.facts().logical_block_bytes;
    for (request, why) in [
        (Request::read(0, end, BLOCK), "a read past the end"),
        (Request::write(0, end, BLOCK), "a write past the end"),
        (Request::read(0, u64::MAX - BLOCK + 1, BLOCK), "a read at the end of the address space"),
        (Request::read(0, 0, 2 * BLOCK), "a read longer than its buffer"),
        (Request::write(0, block / 2, block), "a direct write at half a block"),
        (Request::read(0, 0, block / 2), "a direct read of half a block"),
    ] {
        let error = run(device, request).expect_err(why);
        assert_ne!(error.kind, IoErrorKind::Medium, "{why} is not the medium's fault: {error}");
        assert_ne!(
            error.kind,
            IoErrorKind::Gone,
            "{why} does not mean that the medium is gone: {error}"
        );
    }
    device.submit(Request::read(0, 0, BLOCK)).expect("a read is taken");
    device
        .submit(Request::read(0, 0, BLOCK))
        .expect_err("a slot in flight takes no second request");
    let mut done = Vec::new();
    device.reap(1, &mut done).expect("reaping works");
    assert_eq!(done.len(), 1, "the refused request was not issued");
    check_success(&done[0]);
    expect_data(device, 0, BLOCK, 0, 0);
}

fn discards_are_taken_where_promised(device: &mut dyn Device) {
    device.prepare(1, BLOCK as usize).expect("buffers are made");
    let discard = Request { op: Op::Discard, ..Request::read(0, 0, 1 << 20) };
    match (run(device, discard), device.facts().discards) {
        (Ok(()), true) => {}
        (Err(error), false) => assert_eq!(error.kind, IoErrorKind::Unsupported, "{error}"),
        (result, promised) => {
            panic!("discards are promised: {promised}, and what came of one is {result:?}")
        }
    }
    run(device, Request::read(0, 0, BLOCK)).expect("what was discarded can be read");
}
