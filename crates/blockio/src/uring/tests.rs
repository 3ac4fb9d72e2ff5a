use device::{DataGenerator, SectorVerdict};
use record::Content;

use super::*;
use crate::target::FileKind;

fn target() -> Arc<Target> {
    let file = tempfile::tempfile().unwrap();
    file.set_len(1 << 20).unwrap();
    Arc::new(Target::of(FileKind::File, file.into(), None))
}

/// A ring for this target; `None` where the kernel gives none.
fn ring(target: &Arc<Target>) -> Option<Uring> {
    let made = || Uring::new(target.clone(), InFlightTable::new(), buffers()).unwrap();
    is_available().then(made)
}

/// Does eight writes, and eight reads of the same data.
fn check(mut ring: Uring) {
    let generator = DataGenerator::new(1);
    let all: Vec<(Slot, u64)> = (0..8).map(|slot| (slot, u64::from(slot) * 4096)).collect();
    for op in [Op::Write, Op::Read] {
        for &(slot, offset) in &all {
            // SAFETY: the slot is not in flight.
            let buffer = unsafe { ring.inner.1.slot_mut(slot) };
            if op == Op::Write {
                generator.fill(buffer, Content::Incompressible, 0, offset)
            } else {
                buffer.fill(0)
            }
            ring.submit(&Request { op, ..Request::read(slot, offset, 4096) });
        }
        let mut done = Vec::new();
        ring.reap(8, &mut done).unwrap();
        assert!(
            done.len() == 8 && done.iter().all(|completion| completion.result.is_ok()),
            "{done:?}"
        );
    }
    for &(slot, offset) in &all {
        // SAFETY: all I/O is done.
        let buffer = unsafe { ring.inner.1.slot_mut(slot) };
        assert!(
            generator.verify(buffer, 0, offset).all(|(_, verdict)| verdict == SectorVerdict::Good)
        );
    }
}

fn buffers() -> Arc<Buffers> {
    Arc::new(Buffers::new(8, 4096).unwrap())
}

#[test]
fn every_set_up_that_this_kernel_takes_moves_data() {
    let rings: Vec<IoUring> = setups().iter().filter_map(|setup| setup.build(8).ok()).collect();
    assert!(!rings.is_empty() || !is_available());
    for ring in rings {
        check(Uring::with(ring, target(), InFlightTable::new(), buffers()).unwrap());
    }
}

#[test]
fn data_moves_where_buffers_cannot_be_registered() {
    let Some(mut ring) = ring(&target()) else { return };
    ring.fixed = false;
    check(ring);
}

#[test]
fn a_transfer_that_stops_short_goes_on_where_it_stopped_and_one_that_moves_nothing_fails() {
    let target = target();
    let mut pending = Pending { request: Request::read(0, 4096, 4096), moved_bytes: 0 };
    assert_eq!(pending.settle(&target, 512), None);
    assert_eq!(pending.settle(&target, -Errno::INTR.raw_os_error()), None);
    assert_eq!(pending.moved_bytes, 512);
    assert_eq!(pending.settle(&target, 3584), Some(Ok(())));
    let error = pending.settle(&target, 0).unwrap().unwrap_err();
    insta::assert_snapshot!(error, @"the system reports an error while reading 4 KiB at byte 4096: read returned 0 bytes inside the medium, after 512 of 4096");
}

/// The rest of a short transfer is really read: the ring is made to believe that half of the I/O is
/// done.
#[test]
fn the_rest_of_a_transfer_lands_behind_what_came_first() {
    let target = target();
    let Some(mut ring) = ring(&target) else { return };
    let generator = DataGenerator::new(1);
    let mut data = [0; 4096];
    generator.fill(&mut data, Content::Incompressible, 0, 0);
    rustix::io::pwrite(&target.buffered, &data, 0).unwrap();
    ring.pending[0] = Pending { request: Request::read(0, 0, 4096), moved_bytes: 1024 };
    ring.queued.push(0);
    let mut done = Vec::new();
    ring.reap(1, &mut done).unwrap();
    assert_eq!(done[0].result, Ok(()));
    // SAFETY: all I/O is done.
    let buffer = unsafe { ring.inner.1.slot_mut(0) };
    assert!(buffer[..1024] == [0; 1024] && buffer[1024..] == data[1024..]);
}

/// Requests that are only queued are not submitted when the ring is dropped: a run that was
/// interrupted writes nothing more.
#[test]
fn requests_only_queued_are_never_written() {
    let target = target();
    let Some(mut ring) = ring(&target) else { return };
    // SAFETY: the slots are not in flight.
    unsafe { ring.inner.1.slot_mut(0) }.fill(1);
    // SAFETY: as above.
    unsafe { ring.inner.1.slot_mut(1) }.fill(2);
    let mut done = Vec::new();
    ring.submit(&Request::write(0, 0, 4096));
    ring.reap(1, &mut done).unwrap();
    ring.submit(&Request::write(1, 0, 4096));
    drop(ring);
    let mut now = [0; 4096];
    rustix::io::pread(&target.buffered, &mut now, 0).unwrap();
    assert!(now.iter().all(|byte| *byte == 1), "{}", now[0]);
}

/// Kernels before 5.11 cannot wait for completions with a timeout.
#[test]
fn completions_are_noted_where_waits_have_no_timeout() {
    let Some(mut ring) = ring(&target()) else { return };
    ring.waits_timed = false;
    ring.submit(&Request::read(0, 0, 4096));
    // A minute at most: how long the read takes is the disk's matter.
    for _ in 0..3_000 {
        ring.idle(20_000_000).unwrap();
        if ring.ready.len() == 1 {
            break;
        }
    }
    assert_eq!((ring.in_flight, ring.ready.len()), (0, 1));
}
