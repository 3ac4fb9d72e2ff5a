//! Tests of the real device on real files and loop devices.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::time::Duration;

use common::{LoopDevice, TinyFilesystem, patiently, skip};
use device::conformance::device_conformance;
use device::{DataGenerator, Device, IoErrorKind, Op, Request, SectorVerdict};
use flashmark_blockio::{
    EngineChoice, ExpectedFile, FileIdentity, OpenError, OpenOptions, OpenSettings, RealDevice,
};
use record::Content;

const MIB: u64 = 1 << 20;
const BLOCK: u64 = 4096;

/// Where the tests make their files.
const DIR: &str = env!("CARGO_TARGET_TMPDIR");

/// Engines that this system allows.
fn engines() -> Vec<EngineChoice> {
    let uring = RealDevice::create_in(Path::new(DIR), MIB, &settings(EngineChoice::Uring));
    if let Err(error) = &uring {
        skip(&format!("io_uring is left out: {error}"));
    }
    let uring = uring.map(|_| EngineChoice::Uring);
    [AUTO, EngineChoice::Psync].into_iter().chain(uring).collect()
}

fn settings(engine: EngineChoice) -> OpenSettings {
    OpenSettings { engine, ..OpenSettings::default() }
}

/// A nameless file on the disk that the tests run from.
fn file_device(engine: EngineChoice) -> RealDevice {
    RealDevice::create_in(Path::new(DIR), 16 * MIB, &settings(engine)).unwrap()
}

/// Does this with a nameless file that each engine has made, with two slots of a block.
fn on_a_file(check: impl Fn(RealDevice)) {
    for engine in engines() {
        let mut device = file_device(engine);
        device.prepare(2, BLOCK as usize).unwrap();
        check(device);
    }
}

/// Does this with a loop device that each engine has opened, with two slots of a block.
fn on_a_medium(check: impl Fn(&LoopDevice, RealDevice)) {
    let Some(medium) = LoopDevice::new(16 * MIB) else { return skip("loop devices need root") };
    for engine in engines() {
        medium.resize(16 * MIB);
        let mut device =
            opened_patiently(|| open(medium.path(), true, block(medium.path()), engine));
        device.prepare(2, BLOCK as usize).unwrap();
        check(&medium, device);
    }
}

/// A file in a new folder, by its path without links.
fn new_file(bytes: u64) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir_in(DIR).unwrap();
    let path = std::fs::canonicalize(dir.path()).unwrap().join("medium");
    std::fs::write(&path, vec![7; bytes as usize]).unwrap();
    (dir, path)
}

/// Expects the file that is at the path now.
fn file(path: &Path, capacity_bytes: u64) -> ExpectedFile {
    let identity = FileIdentity::of(&std::fs::metadata(path).unwrap());
    ExpectedFile::File { capacity_bytes, identity }
}

/// Expects a block device that exists, with its own number.
fn block(path: impl AsRef<Path>) -> ExpectedFile {
    ExpectedFile::Block { number: std::fs::metadata(path).unwrap().rdev() }
}

/// Opens a device, and waits if another program has it for a moment.
fn opened_patiently(open: impl Fn() -> Result<RealDevice, OpenError>) -> RealDevice {
    let opened = patiently(60, || match open() {
        Err(OpenError::Refused { source, .. }) if source.kind() == ErrorKind::ResourceBusy => None,
        Err(OpenError::Locked { .. }) => None,
        opened => Some(opened),
    });
    opened.expect("somebody keeps it").unwrap()
}

/// Opens what is at a path.
fn open(
    path: impl AsRef<Path>,
    writable: bool,
    expect: ExpectedFile,
    engine: EngineChoice,
) -> Result<RealDevice, OpenError> {
    let path = path.as_ref().to_owned();
    RealDevice::open(&OpenOptions { path, writable, expect, settings: settings(engine) })
}

/// The engine that is taken where none is asked for.
const AUTO: EngineChoice = EngineChoice::Auto;

/// One I/O from submission to completion.
fn run(device: &mut dyn Device, request: Request) -> Result<(), IoErrorKind> {
    device.submit(request).map_err(|error| error.kind)?;
    let mut done = Vec::new();
    device.reap(1, &mut done).unwrap();
    assert_eq!(done.len(), 1);
    done.remove(0).result.map_err(|error| error.kind)
}

#[test]
fn every_engine_keeps_the_contract_on_a_file_and_on_a_block_device() {
    on_a_file(|mut device| device_conformance(&mut device));
    on_a_medium(|_, mut device| {
        assert_eq!(device.facts().capacity_bytes, 16 * MIB);
        assert_eq!(device.facts().logical_block_bytes, 512);
        device_conformance(&mut device);
    });
}

/// Flushes that the kernel has counted on a device (the kernel's Documentation/block/stat.rst).
fn flushes(path: &Path) -> u64 {
    let name = path.file_name().unwrap().to_str().unwrap();
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    stat.split_whitespace().nth(15).unwrap().parse().unwrap()
}

#[test]
fn a_flush_reaches_the_block_device() {
    on_a_medium(|medium, mut device| {
        run(&mut device, Request::write(0, 0, BLOCK)).unwrap();
        let before = flushes(medium.path());
        run(&mut device, Request::flush(0)).unwrap();
        assert!(flushes(medium.path()) > before, "{}", device.facts().engine);
    });
}

#[test]
fn without_direct_io_the_contract_holds_and_the_facts_report_it() {
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else {
        return skip("there is no tmpfs at /dev/shm");
    };
    let mut device = RealDevice::create_in(dir.path(), 16 * MIB, &OpenSettings::default()).unwrap();
    assert!(device.facts().direct_refused);
    assert!(device.facts().engine.contains("direct I/O refused"), "{}", device.facts().engine);
    device_conformance(&mut device);
}

#[test]
fn what_one_engine_writes_the_others_and_the_standard_library_read() {
    let (_dir, path) = new_file(0);
    let generator = DataGenerator::new(1);
    let is_good = |data: &[u8], pass| {
        generator.verify(data, pass, 0).all(|(_, verdict)| verdict == SectorVerdict::Good)
    };
    let opened =
        |engine, writable| opened_patiently(|| open(&path, writable, file(&path, 4 * MIB), engine));
    for (pass, writer) in (0..).zip(engines()) {
        let mut device = opened(writer, true);
        device.prepare(8, 128 << 10).unwrap();
        for slot in 0..8 {
            let offset = u64::from(slot) * (128 << 10);
            generator.fill(device.buffer(slot), Content::Incompressible, pass, offset);
            device.submit(Request::write(slot, offset, 128 << 10)).unwrap();
        }
        let mut done = Vec::new();
        device.reap(8, &mut done).unwrap();
        assert!(
            done.len() == 8 && done.iter().all(|completion| completion.result.is_ok()),
            "{done:?}"
        );
        assert!(is_good(&std::fs::read(&path).unwrap(), pass));
        // who writes has the file alone
        drop(device);
        for reader in engines() {
            let mut device = opened(reader, false);
            device.prepare(1, MIB as usize).unwrap();
            run(&mut device, Request::read(0, 0, MIB)).unwrap();
            assert!(is_good(device.buffer(0), pass));
            assert_eq!(run(&mut device, Request::write(0, 0, MIB)), Err(IoErrorKind::ReadOnly));
        }
    }
}

#[test]
fn a_file_that_is_made_has_no_name_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir_in(DIR).unwrap();
    let mut device = RealDevice::create_in(dir.path(), MIB, &OpenSettings::default()).unwrap();
    device.prepare(1, BLOCK as usize).unwrap();
    run(&mut device, Request::write(0, 0, BLOCK)).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn reading_past_what_was_written_fails_with_its_reason() {
    on_a_file(|mut device| {
        run(&mut device, Request::write(0, 0, BLOCK)).unwrap();
        device.submit(Request::read(1, MIB, BLOCK)).unwrap();
        let mut done = Vec::new();
        device.reap(1, &mut done).unwrap();
        let error = done[0].result.clone().unwrap_err();
        let nothing = "nothing has been written there yet";
        assert_eq!((error.kind, error.detail.as_str()), (IoErrorKind::Other, nothing));
    });
}

/// Expects a block device whose number does not exist.
const NO_BLOCK: ExpectedFile = ExpectedFile::Block { number: 0 };

#[test]
fn a_file_that_is_exchanged_after_it_was_looked_at_is_not_opened() {
    let (_dir, path) = new_file(MIB);
    let real = path.parent().unwrap().to_owned();
    let victim = real.join("victim");
    std::fs::write(&victim, "somebody's data").unwrap();
    let expected = file(&path, MIB);
    let open = || open(&path, true, expected, AUTO).err();
    assert!(open().is_none());
    let exchanges: [(&str, &dyn Fn()); 3] = [
        ("by a link", &|| symlink(&victim, &path).unwrap()),
        ("by another file", &|| std::fs::write(&path, vec![1; MIB as usize]).unwrap()),
        ("by a hard link", &|| std::fs::hard_link(&victim, &path).unwrap()),
    ];
    // kept under another name, so that no new file gets its number
    std::fs::rename(&path, real.join("kept")).unwrap();
    for (how, exchange) in exchanges {
        exchange();
        assert!(matches!(open(), Some(OpenError::Replaced { .. })), "{how}");
        std::fs::remove_file(&path).unwrap();
    }
    std::fs::rename(&real, real.with_extension("moved")).unwrap();
    symlink(real.with_extension("moved"), &real).unwrap();
    std::fs::rename(real.join("kept"), &path).unwrap();
    assert!(matches!(open(), Some(OpenError::Replaced { .. })), "a link on the way");
    std::fs::remove_file(&real).unwrap();
    std::fs::rename(real.with_extension("moved"), &real).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "somebody's data");
}

#[test]
fn a_node_with_another_number_is_not_opened() {
    let Some(medium) = LoopDevice::new(MIB) else { return skip("loop devices need root") };
    let opened = open(medium.path(), true, ExpectedFile::Block { number: 1 }, AUTO);
    assert!(matches!(opened, Err(OpenError::Replaced { .. })));
}

#[test]
fn an_open_file_is_locked() {
    let (_dir, path) = new_file(MIB);
    let open = |writable| open(&path, writable, file(&path, MIB), AUTO);
    let reading = open(false).unwrap();
    let another = open(false).unwrap();
    assert!(matches!(open(true), Err(OpenError::Locked { .. })), "others read it");
    drop((reading, another));
    let writing = opened_patiently(|| open(true));
    assert!(matches!(open(false), Err(OpenError::Locked { .. })), "another one writes it");
    drop(writing);
    opened_patiently(|| open(true));
}

#[test]
fn what_is_not_as_expected_is_not_opened() {
    let open = |path: &str, expect| open(path, false, expect, AUTO);
    let message = |path: &str, expect| open(path, expect).err().unwrap().to_string();
    insta::assert_snapshot!(message("/dev/null", NO_BLOCK), @"/dev/null is a character device, not a block device");
    insta::assert_snapshot!(message("/", ExpectedFile::File { capacity_bytes: MIB, identity: FileIdentity { device: 0, inode: 0 } }), @"/ is a directory, not a regular file");
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = open(pipe.to_str().unwrap(), NO_BLOCK).err();
    assert!(matches!(refused, Some(OpenError::WrongType { found: "a pipe", .. })), "{refused:?}");
    assert!(
        matches!(open("/does/not/exist", NO_BLOCK), Err(OpenError::Refused { source, .. }) if source.kind() == std::io::ErrorKind::NotFound)
    );
}

#[test]
fn a_block_device_in_use_is_not_opened_for_writing() {
    let Some(filesystem) = TinyFilesystem::new(16 * MIB) else {
        return skip("mounting needs root");
    };
    let expect = block(filesystem.device());
    let open = |writable| open(filesystem.device(), writable, expect, AUTO);
    assert!(
        matches!(open(true), Err(OpenError::Refused { source, .. }) if source.kind() == std::io::ErrorKind::ResourceBusy)
    );
    open(false).unwrap();
}

#[test]
fn a_full_file_system_is_out_of_space_and_not_gone() {
    let Some(filesystem) = TinyFilesystem::new(16 * MIB) else {
        return skip("mounting needs root");
    };
    for engine in engines() {
        let mut device =
            RealDevice::create_in(filesystem.dir(), 64 * MIB, &settings(engine)).unwrap();
        device.prepare(2, MIB as usize).unwrap();
        let ended =
            (0..64).find_map(|mib| run(&mut device, Request::write(0, mib * MIB, MIB)).err());
        assert_eq!(ended, Some(IoErrorKind::NoSpace));
        run(&mut device, Request::read(1, 0, MIB)).unwrap();
    }
}

#[test]
fn a_backing_file_that_shrinks_gives_errors_and_never_silent_success() {
    on_a_medium(|medium, mut device| {
        run(&mut device, Request::read(0, 12 * MIB, BLOCK)).unwrap();
        medium.backing().set_len(MIB).unwrap();
        assert_eq!(run(&mut device, Request::read(0, 12 * MIB, BLOCK)), Err(IoErrorKind::Medium));
        run(&mut device, Request::read(0, 0, BLOCK)).unwrap();
    });
}

#[test]
fn a_device_without_a_medium_is_gone() {
    let Some(medium) = LoopDevice::new(MIB) else { return skip("no loop device is free") };
    let path = medium.path().to_owned();
    medium.detach();
    match open(&path, false, block(&path), AUTO) {
        Err(OpenError::Empty { .. }) => {}
        Err(other) => panic!("{other}"),
        Ok(_) => skip("someone else took the loop device meanwhile"),
    }
}

#[test]
fn detaching_a_device_in_use_does_no_harm() {
    let Some(medium) = LoopDevice::new(16 * MIB) else { return skip("loop devices need root") };
    let mut device = opened_patiently(|| open(medium.path(), true, block(medium.path()), AUTO));
    device.prepare(2, BLOCK as usize).unwrap();
    medium.detach();
    run(&mut device, Request::write(0, 0, BLOCK)).unwrap();
    run(&mut device, Request::read(1, 0, BLOCK)).unwrap();
}

#[test]
fn discarded_ranges_of_a_file_are_holes() {
    let (_dir, path) = new_file(MIB);
    let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
    let medium = file.try_clone().unwrap();
    let mut device = RealDevice::from_file(medium, MIB, true, &OpenSettings::default()).unwrap();
    device.prepare(2, BLOCK as usize).unwrap();
    run(&mut device, Request { op: Op::Discard, ..Request::read(0, 0, MIB / 2) }).unwrap();
    assert_eq!(file.metadata().unwrap().blocks() * 512, MIB / 2);
}

#[test]
fn many_slots_complete_in_any_batching() {
    on_a_file(|mut device| {
        let slots = device.facts().max_in_flight;
        device.prepare(slots, BLOCK as usize).unwrap();
        for slot in 0..slots {
            device.buffer(slot).fill(slot as u8);
            device.submit(Request::write(slot, u64::from(slot) * BLOCK, BLOCK)).unwrap();
        }
        let mut done = Vec::new();
        device.reap(slots as usize, &mut done).unwrap();
        assert_eq!(done.len(), slots as usize);
        // Each completion at once gives the next request: 2000 reads at full depth.
        let (mut submitted, mut completed) = (0, 0);
        let mut free: Vec<u32> = (0..slots).collect();
        while completed < 2000 {
            while let Some(slot) = free.pop_if(|_| submitted < 2000) {
                device.submit(Request::read(slot, u64::from(slot) * BLOCK, BLOCK)).unwrap();
                submitted += 1;
            }
            done.clear();
            device.reap(1 + completed % 7, &mut done).unwrap();
            for completion in &done {
                completion.result.as_ref().unwrap();
                let data = device.buffer(completion.slot);
                assert!(data.iter().all(|&byte| byte == completion.slot as u8));
                free.push(completion.slot);
            }
            completed += done.len();
        }
        assert_eq!((submitted, completed), (2000, 2000));
    });
}

#[test]
fn what_completes_while_idling_is_stamped_then() {
    let mut device = file_device(AUTO);
    device.prepare(4, BLOCK as usize).unwrap();
    for slot in 0..4 {
        device.submit(Request::write(slot, u64::from(slot) * BLOCK, BLOCK)).unwrap();
    }
    device.idle(5_000_000_000);
    let idled = device.now();
    let mut done = Vec::new();
    device.reap(4, &mut done).unwrap();
    assert_eq!(done.len(), 4);
    assert!(
        done.iter().all(|completion| completion.completed_ns <= idled),
        "{done:?}, and idling ended at {idled}"
    );
}

#[test]
fn idling_ends_at_a_stop_request() {
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let settings = OpenSettings { stop: Some(stop.clone()), ..OpenSettings::default() };
    let mut device = RealDevice::create_in(Path::new(DIR), MIB, &settings).unwrap();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    // Would outlast any test run if nobody stopped it.
    device.idle(u64::MAX / 4);
    stopper.join().unwrap();
}

#[test]
fn a_device_dropped_in_full_flight_leaves_memory_alone() {
    on_a_file(|mut device| {
        device.prepare(32, 64 << 10).unwrap();
        for slot in 0..32 {
            let write = Request::write(slot, u64::from(slot) * (64 << 10), 64 << 10);
            device.submit(Request { path: record::Path::Buffered, ..write }).unwrap();
        }
    });
}

/// A frozen file system blocks a write until it is thawed, as a medium that hangs does.
#[test]
fn the_watch_sees_an_io_that_does_not_come_back() {
    let Some(filesystem) = TinyFilesystem::new(16 * MIB) else {
        return skip("mounting needs root");
    };
    for (engine, slots) in [(EngineChoice::Psync, 1), (EngineChoice::Psync, 2), (AUTO, 2)] {
        let mut device = RealDevice::create_in(filesystem.dir(), MIB, &settings(engine)).unwrap();
        let watch = device.watch();
        let Some(frozen) = filesystem.freeze() else {
            return skip("the file system cannot be frozen");
        };
        let before = flashmark_blockio::now_ns();
        let writer = std::thread::spawn(move || {
            device.prepare(slots, BLOCK as usize).unwrap();
            run(&mut device, Request::write(0, 16 * BLOCK, BLOCK))
        });
        let seen = loop {
            match watch.oldest() {
                Some(seen) => break seen,
                None => std::thread::yield_now(),
            }
        };
        assert_eq!((seen.op, seen.offset_bytes), (Op::Write, 16 * BLOCK));
        assert!((before..=flashmark_blockio::now_ns()).contains(&seen.submitted_ns));
        drop(frozen);
        assert_eq!(writer.join().unwrap(), Ok(()));
        assert_eq!(watch.oldest(), None);
    }
}

/// Effects of a card pulled out of a reader: a device of size 0, reads of 0 bytes and ENOSPC.
#[test]
fn a_medium_that_is_pulled_out_is_gone() {
    on_a_medium(|medium, mut device| {
        run(&mut device, Request::write(0, MIB, BLOCK)).unwrap();
        medium.resize(0);
        assert_eq!(run(&mut device, Request::read(0, MIB, BLOCK)), Err(IoErrorKind::Gone));
        assert_eq!(run(&mut device, Request::write(0, MIB, BLOCK)), Err(IoErrorKind::Gone));
        drop(device);
        let opened = open(medium.path(), false, block(medium.path()), AUTO);
        assert!(matches!(opened, Err(OpenError::Empty { .. })));
    });
}

/// The kernel refuses a ring on another thread than the one that made it.
#[test]
fn completions_before_the_ring_was_lost_are_reported_and_the_device_works_on() {
    let made = RealDevice::create_in(Path::new(DIR), 16 * MIB, &settings(EngineChoice::Uring));
    let Some(mut device) = made.ok().filter(|device| device.facts().discards) else {
        return skip("needs io_uring and holes");
    };
    device.prepare(2, BLOCK as usize).unwrap();
    let elsewhere = std::thread::spawn(move || {
        device.submit(Request { op: Op::Discard, ..Request::read(0, 0, BLOCK) }).unwrap();
        device.submit(Request::write(1, 0, BLOCK)).unwrap();
        let mut done = Vec::new();
        let lost = device.reap(2, &mut done);
        (device, done, lost)
    });
    let (mut device, done, lost) = elsewhere.join().unwrap();
    if lost.is_ok() {
        return skip("this kernel takes a ring from every thread");
    }
    assert_eq!(done.iter().map(|completion| completion.slot).collect::<Vec<_>>(), [0]);
    device.buffer(0).fill(1);
    device.prepare(2, BLOCK as usize).unwrap();
    assert_eq!(run(&mut device, Request::write(1, 0, BLOCK)), Ok(()));
}

#[test]
fn a_device_may_go_to_another_thread_before_it_is_prepared_and_an_idle_one_has_nothing_in_flight() {
    let mut device = file_device(AUTO);
    let watch = device.watch();
    assert_eq!(watch.oldest(), None);
    std::thread::spawn(move || {
        device.prepare(2, BLOCK as usize).unwrap();
        run(&mut device, Request::write(0, 0, BLOCK)).unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(watch.oldest(), None);
}

/// Bytes of a file that are in the page cache, as `fincore` counts them.
fn resident_bytes(path: &Path) -> u64 {
    let output = std::process::Command::new("fincore")
        .args(["--bytes", "--noheadings", "--output", "RES"])
        .arg(path)
        .output()
        .expect("fincore is part of util-linux");
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}

#[test]
fn dropped_caches_leave_nothing_of_the_medium_in_memory() {
    let (_dir, path) = new_file(4 * MIB);
    for engine in engines() {
        let mut device = opened_patiently(|| open(&path, true, file(&path, 4 * MIB), engine));
        assert_eq!(std::fs::read(&path).unwrap().len() as u64, 4 * MIB);
        assert_eq!(resident_bytes(&path), 4 * MIB, "it was just read");
        device.drop_caches().unwrap();
        assert_eq!(resident_bytes(&path), 0, "{engine:?}");
    }
}
