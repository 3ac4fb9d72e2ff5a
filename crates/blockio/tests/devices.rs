//! Tests of the real device on real files and loop devices.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::Duration;

use common::{LoopDevice, TinyFilesystem, is_root, patiently, skip};
use device::conformance::device_conformance;
use device::{DataGenerator, Device, IoErrorKind, Op, Request, SectorVerdict};
use flashmark_blockio::{
    EngineChoice, ExpectedFile, FileIdentity, OpenError, OpenOptions, OpenSettings, RealDevice,
};
use record::{Content, Path};

const MIB: u64 = 1 << 20;
const BLOCK: u64 = 4096;

/// Engines that this system allows.
fn engines() -> Vec<EngineChoice> {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let uring = RealDevice::create_in(dir, MIB, &settings(EngineChoice::Uring))
        .map(|_| EngineChoice::Uring);
    if let Err(error) = &uring {
        skip(&format!("io_uring is left out: {error}"));
    }
    [EngineChoice::Auto, EngineChoice::Psync].into_iter().chain(uring).collect()
}

fn settings(engine: EngineChoice) -> OpenSettings {
    OpenSettings { engine, ..OpenSettings::default() }
}

/// A nameless file on the disk that the tests run from.
fn file_device(engine: EngineChoice) -> RealDevice {
    RealDevice::create_in(
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")),
        16 * MIB,
        &settings(engine),
    )
    .unwrap()
}

fn open_block(path: &std::path::Path, engine: EngineChoice) -> RealDevice {
    let options = OpenOptions {
        path: path.into(),
        writable: true,
        expect: block(path),
        settings: settings(engine),
    };
    opened_patiently(|| RealDevice::open(&options))
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

/// Opens what is at a path, with the usual settings.
fn open(
    path: impl Into<std::path::PathBuf>,
    writable: bool,
    expect: ExpectedFile,
) -> Result<RealDevice, OpenError> {
    let settings = OpenSettings::default();
    RealDevice::open(&OpenOptions { path: path.into(), writable, expect, settings })
}

/// One I/O from submission to completion.
fn run(device: &mut dyn Device, request: Request) -> Result<(), IoErrorKind> {
    device.submit(request).map_err(|error| error.kind)?;
    let mut done = Vec::new();
    device.reap(1, &mut done).unwrap();
    assert_eq!(done.len(), 1);
    done.remove(0).result.map_err(|error| error.kind)
}

#[test]
fn every_engine_keeps_the_contract_on_a_file() {
    for engine in engines() {
        device_conformance(&mut file_device(engine));
    }
}

#[test]
fn every_engine_keeps_the_contract_on_a_block_device() {
    let Some(medium) = LoopDevice::new(16 * MIB) else { return skip("loop devices need root") };
    for engine in engines() {
        let mut device = open_block(medium.path(), engine);
        assert_eq!(device.facts().capacity_bytes, 16 * MIB);
        assert_eq!(device.facts().logical_block_bytes, 512);
        device_conformance(&mut device);
    }
}

/// Flushes that the kernel has counted on a device (the kernel's Documentation/block/stat.rst).
fn flushes(path: &std::path::Path) -> u64 {
    let name = path.file_name().unwrap().to_str().unwrap();
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    stat.split_whitespace().nth(15).unwrap().parse().unwrap()
}

#[test]
fn a_flush_reaches_the_block_device() {
    let Some(medium) = LoopDevice::new(16 * MIB) else { return skip("loop devices need root") };
    for engine in engines() {
        let mut device = open_block(medium.path(), engine);
        device.prepare(1, BLOCK as usize).unwrap();
        run(&mut device, Request::write(0, 0, BLOCK)).unwrap();
        let before = flushes(medium.path());
        run(&mut device, Request::flush(0)).unwrap();
        assert!(flushes(medium.path()) > before, "{engine:?}");
    }
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
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path().join("medium");
    std::fs::File::create(&path).unwrap();
    let generator = DataGenerator::new(1);
    for (pass, writer) in (0..).zip(engines()) {
        let open = |engine, writable| {
            let expect = ExpectedFile::File {
                capacity_bytes: 4 * MIB,
                identity: FileIdentity::of(&std::fs::metadata(&path).unwrap()),
            };
            let options =
                OpenOptions { path: path.clone(), writable, expect, settings: settings(engine) };
            opened_patiently(|| RealDevice::open(&options))
        };
        let mut device = open(writer, true);
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
        assert!(
            generator
                .verify(&std::fs::read(&path).unwrap(), pass, 0)
                .all(|(_, verdict)| verdict == SectorVerdict::Good)
        );
        // who writes has the file alone
        drop(device);
        for reader in engines() {
            let mut device = open(reader, false);
            device.prepare(1, MIB as usize).unwrap();
            run(&mut device, Request::read(0, 0, MIB)).unwrap();
            assert!(
                generator
                    .verify(device.buffer(0), pass, 0)
                    .all(|(_, verdict)| verdict == SectorVerdict::Good)
            );
            assert_eq!(run(&mut device, Request::write(0, 0, MIB)), Err(IoErrorKind::ReadOnly));
        }
    }
}

#[test]
fn a_file_that_is_made_has_no_name_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut device = RealDevice::create_in(dir.path(), MIB, &OpenSettings::default()).unwrap();
    device.prepare(1, BLOCK as usize).unwrap();
    run(&mut device, Request::write(0, 0, BLOCK)).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn reading_past_what_was_written_fails_with_its_reason() {
    for engine in engines() {
        let mut device = file_device(engine);
        device.prepare(2, BLOCK as usize).unwrap();
        run(&mut device, Request::write(0, 0, BLOCK)).unwrap();
        device.submit(Request::read(1, MIB, BLOCK)).unwrap();
        let mut done = Vec::new();
        device.reap(1, &mut done).unwrap();
        let error = done[0].result.clone().unwrap_err();
        assert_eq!(
            (error.kind, error.detail.as_str()),
            (IoErrorKind::Other, "nothing has been written there yet")
        );
    }
}

/// Expects a block device that exists, with its own number.
fn block(path: impl AsRef<std::path::Path>) -> ExpectedFile {
    ExpectedFile::Block {
        number: std::os::unix::fs::MetadataExt::rdev(&std::fs::metadata(path).unwrap()),
    }
}

/// Expects a block device whose number does not exist.
const NO_BLOCK: ExpectedFile = ExpectedFile::Block { number: 0 };

#[test]
fn a_file_that_is_exchanged_after_it_was_looked_at_is_not_opened() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let real = std::fs::canonicalize(dir.path()).unwrap();
    let (path, victim) = (real.join("medium"), real.join("victim"));
    std::fs::write(&path, vec![1; MIB as usize]).unwrap();
    std::fs::write(&victim, "somebody's data").unwrap();
    let identity = FileIdentity::of(&std::fs::metadata(&path).unwrap());
    let expected = || ExpectedFile::File { capacity_bytes: MIB, identity };
    let open = || open(&path, true, expected()).err();
    assert!(open().is_none());
    let exchanges: [(&str, &dyn Fn()); 3] = [
        ("by a link", &|| std::os::unix::fs::symlink(&victim, &path).unwrap()),
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
    std::os::unix::fs::symlink(real.with_extension("moved"), &real).unwrap();
    std::fs::rename(real.join("kept"), &path).unwrap();
    assert!(matches!(open(), Some(OpenError::Replaced { .. })), "a link on the way");
    std::fs::remove_file(&real).unwrap();
    std::fs::rename(real.with_extension("moved"), &real).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "somebody's data");
}

#[test]
fn a_node_with_another_number_is_not_opened() {
    let Some(medium) = LoopDevice::new(MIB) else { return skip("loop devices need root") };
    let opened = open(medium.path(), true, ExpectedFile::Block { number: 1 });
    assert!(matches!(opened, Err(OpenError::Replaced { .. })));
}

#[test]
fn an_open_file_is_locked() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = std::fs::canonicalize(dir.path()).unwrap().join("medium");
    std::fs::write(&path, vec![1; MIB as usize]).unwrap();
    let open = |writable| {
        let expect = ExpectedFile::File {
            capacity_bytes: MIB,
            identity: FileIdentity::of(&std::fs::metadata(&path).unwrap()),
        };
        open(&path, writable, expect)
    };
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
    let open = |path: &str, expect| open(path, false, expect);
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
    let open = |writable| open(filesystem.device(), writable, block(filesystem.device()));
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
    let Some(medium) = LoopDevice::new(16 * MIB) else { return skip("loop devices need root") };
    for engine in engines() {
        medium.backing().set_len(16 * MIB).unwrap();
        let mut device = open_block(medium.path(), engine);
        device.prepare(2, BLOCK as usize).unwrap();
        run(&mut device, Request::read(0, 12 * MIB, BLOCK)).unwrap();
        medium.backing().set_len(MIB).unwrap();
        assert_eq!(run(&mut device, Request::read(0, 12 * MIB, BLOCK)), Err(IoErrorKind::Medium));
        run(&mut device, Request::read(0, 0, BLOCK)).unwrap();
    }
}

#[test]
fn a_device_without_a_medium_is_gone() {
    if !is_root() {
        return skip("loop devices need root");
    }
    let Some(medium) = LoopDevice::new(MIB) else { return skip("no loop device is free") };
    let path = medium.path().to_owned();
    medium.detach();
    let expect = block(&path);
    match open(path, false, expect) {
        Err(OpenError::Empty { .. }) => {}
        Err(other) => panic!("{other}"),
        Ok(_) => skip("someone else took the loop device meanwhile"),
    }
}

#[test]
fn detaching_a_device_in_use_does_no_harm() {
    let Some(medium) = LoopDevice::new(16 * MIB) else { return skip("loop devices need root") };
    let mut device = open_block(medium.path(), EngineChoice::Auto);
    device.prepare(2, BLOCK as usize).unwrap();
    medium.detach();
    run(&mut device, Request::write(0, 0, BLOCK)).unwrap();
    run(&mut device, Request::read(1, 0, BLOCK)).unwrap();
}

#[test]
fn discarded_ranges_of_a_file_are_holes() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(dir.path().join("medium"))
        .unwrap();
    file.write_all_at(&vec![1; MIB as usize], 0).unwrap();
    let medium = file.try_clone().unwrap();
    let mut device = RealDevice::from_file(medium, MIB, true, &OpenSettings::default()).unwrap();
    device.prepare(2, BLOCK as usize).unwrap();
    run(&mut device, Request { op: Op::Discard, ..Request::read(0, 0, MIB / 2) }).unwrap();
    assert_eq!(file.metadata().unwrap().blocks() * 512, MIB / 2);
}

#[test]
fn many_slots_complete_in_any_batching() {
    for engine in engines() {
        let mut device = file_device(engine);
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
                assert!(
                    device
                        .buffer(completion.slot)
                        .iter()
                        .all(|&byte| byte == completion.slot as u8)
                );
                free.push(completion.slot);
            }
            completed += done.len();
        }
        assert_eq!((submitted, completed), (2000, 2000));
    }
}

#[test]
fn what_completes_while_idling_is_stamped_then() {
    let mut device = file_device(EngineChoice::Auto);
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
    let mut device =
        RealDevice::create_in(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")), MIB, &settings)
            .unwrap();
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
    for engine in engines() {
        let mut device = file_device(engine);
        device.prepare(32, 64 << 10).unwrap();
        for slot in 0..32 {
            device
                .submit(Request {
                    path: Path::Buffered,
                    ..Request::write(slot, u64::from(slot) * (64 << 10), 64 << 10)
                })
                .unwrap();
        }
        drop(device);
    }
}

/// A frozen file system blocks a write until it is thawed, as a medium that hangs does.
#[test]
fn the_watch_sees_an_io_that_does_not_come_back() {
    let Some(filesystem) = TinyFilesystem::new(16 * MIB) else {
        return skip("mounting needs root");
    };
    for (engine, slots) in
        [(EngineChoice::Psync, 1), (EngineChoice::Psync, 2), (EngineChoice::Auto, 2)]
    {
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
    let Some(medium) = LoopDevice::new(16 * MIB) else { return skip("loop devices need root") };
    for engine in engines() {
        medium.resize(16 * MIB);
        let mut device = open_block(medium.path(), engine);
        device.prepare(2, BLOCK as usize).unwrap();
        run(&mut device, Request::write(0, MIB, BLOCK)).unwrap();
        medium.resize(0);
        assert_eq!(run(&mut device, Request::read(0, MIB, BLOCK)), Err(IoErrorKind::Gone));
        assert_eq!(run(&mut device, Request::write(0, MIB, BLOCK)), Err(IoErrorKind::Gone));
        drop(device);
        let options = OpenOptions {
            path: medium.path().into(),
            writable: false,
            expect: block(medium.path()),
            settings: OpenSettings::default(),
        };
        assert!(matches!(RealDevice::open(&options), Err(OpenError::Empty { .. })));
    }
}

/// The kernel refuses a ring on another thread than the one that made it.
#[test]
fn completions_before_the_ring_was_lost_are_reported_and_the_device_works_on() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let made = RealDevice::create_in(dir, 16 * MIB, &settings(EngineChoice::Uring));
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
fn a_device_may_go_to_another_thread_before_it_is_prepared() {
    let mut device = file_device(EngineChoice::Auto);
    std::thread::spawn(move || {
        device.prepare(2, BLOCK as usize).unwrap();
        run(&mut device, Request::write(0, 0, BLOCK)).unwrap();
    })
    .join()
    .unwrap();
}

#[test]
fn the_watch_sees_nothing_when_nothing_is_in_flight() {
    let mut device = file_device(EngineChoice::Auto);
    let watch = device.watch();
    device.prepare(4, BLOCK as usize).unwrap();
    assert_eq!(watch.oldest(), None);
    run(&mut device, Request::write(0, 0, BLOCK)).unwrap();
    assert_eq!(watch.oldest(), None);
}

/// Bytes of a file that are in the page cache, as `fincore` counts them.
fn resident_bytes(path: &std::path::Path) -> u64 {
    let output = std::process::Command::new("fincore")
        .args(["--bytes", "--noheadings", "--output", "RES"])
        .arg(path)
        .output()
        .expect("fincore is part of util-linux");
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}

#[test]
fn dropped_caches_leave_nothing_of_the_medium_in_memory() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = std::fs::canonicalize(dir.path()).unwrap().join("medium");
    std::fs::write(&path, vec![7; 4 * MIB as usize]).unwrap();
    let identity = FileIdentity::of(&std::fs::metadata(&path).unwrap());
    for engine in engines() {
        let expect = ExpectedFile::File { capacity_bytes: 4 * MIB, identity };
        let options =
            OpenOptions { path: path.clone(), writable: true, expect, settings: settings(engine) };
        let mut device = opened_patiently(|| RealDevice::open(&options));
        assert_eq!(std::fs::read(&path).unwrap().len() as u64, 4 * MIB);
        assert_eq!(resident_bytes(&path), 4 * MIB, "it was just read");
        device.drop_caches().unwrap();
        assert_eq!(resident_bytes(&path), 0, "{engine:?}");
    }
}
