use std::path::Path;
use std::sync::atomic::AtomicBool;

use record::Cell;
use tempfile::TempDir;

use super::*;
use crate::trace::files::tests::{some_actions, write};
use crate::trace::files::{FileOperation, FileTraceHeader, FileTraceWriter};
use crate::workload::{WorkloadContext, find};

fn replay(trace: &Path, directory: &Path, pace: &str) -> Result<Vec<Cell>, WorkError> {
    let settings = [("pace".to_owned(), pace.to_owned())];
    let work = find(&format!("{PREFIX}{}", trace.display()), &settings)?;
    let mut context = WorkloadContext {
        directory,
        open: &mut |_, _| panic!("it opens its files itself"),
        seed: 3,
        stop: &AtomicBool::new(false),
        on_progress: &mut |_| {},
        look: &mut |_| {},
    };
    work.run(&mut context)
}

fn counts(cells: &[Cell]) -> Vec<(String, u64)> {
    cells.iter().map(|cell| (cell.params.form.clone().unwrap_or_default(), cell.ops)).collect()
}

#[test]
fn every_operation_is_done_once_and_nothing_is_left() {
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace");
    write(&trace, &some_actions());
    let on = TempDir::new().unwrap();
    let cells = replay(&trace, on.path(), "max").unwrap();
    let counted: Vec<String> =
        counts(&cells).into_iter().map(|(form, ops)| format!("{ops} {form}")).collect();
    assert_eq!(
        counted.join(", "),
        "22 all, 3 close, 1 fdatasync, 1 fsync, 1 mkdir, 4 open, 1 read, 1 rename, 1 rmdir, 1 symlink, 1 truncate, 3 unlink, 4 write"
    );
    assert!(cells[0].elapsed_ns > 0 && cells[0].metrics.iops.is_none());
    assert_eq!((cells[0].written_bytes, cells[0].bytes), (7688, 7688 + 4096));
    assert!(std::fs::read_dir(on.path()).unwrap().next().is_none());
}

/// Two threads that overlap throughout: each opens what the other has made before.
fn woven(path: &Path, steps: u64) {
    let file = std::fs::File::create(path).unwrap();
    let mut writer = FileTraceWriter::new(file, &FileTraceHeader::default()).unwrap();
    for step in 0..steps {
        let made = |step: u64| format!("f{step}");
        let mut operation = |at_ns, action| {
            let thread = (step % 2) as u32;
            writer.operation(&FileOperation { at_ns, took_ns: 15, thread, action }).unwrap();
        };
        let flags = "write+create".to_owned();
        let (new, bytes) = (true, 0);
        operation(step * 10, FileAction::Open { path: made(step), file: step, flags, new, bytes });
        if let Some(old) = step.checked_sub(3) {
            let from = made(old);
            operation(step * 10, FileAction::Unlink { path: from });
        }
    }
    writer.finish(0, 0).unwrap();
}

#[test]
fn threads_keep_the_order_that_the_recording_shows() {
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace");
    woven(&trace, 500);
    let cells = replay(&trace, folder.path(), "max").unwrap();
    assert_eq!(counts(&cells)[1..], [("open".to_owned(), 500), ("unlink".to_owned(), 497)]);
}

#[test]
fn operations_of_one_instant_do_not_wait_for_each_other() {
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace");
    let file = std::fs::File::create(&trace).unwrap();
    let mut writer = FileTraceWriter::new(file, &FileTraceHeader::default()).unwrap();
    for (at_ns, took_ns, thread) in [(0, 90, 1), (50, 0, 2), (50, 0, 3), (50, 0, 2)] {
        let path = format!("d{}", writer.operations());
        let action = FileAction::Mkdir { path };
        writer.operation(&FileOperation { at_ns, took_ns, thread, action }).unwrap();
    }
    writer.finish(0, 0).unwrap();
    assert_eq!(replay(&trace, folder.path(), "max").unwrap()[0].ops, 4);
}

#[test]
fn the_recorded_pace_is_no_faster_than_the_recording() {
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace");
    let file = std::fs::File::create(&trace).unwrap();
    let mut writer = FileTraceWriter::new(file, &FileTraceHeader::default()).unwrap();
    for (at_ns, path) in [(0, "a"), (80_000_000, "b")] {
        let action = FileAction::Mkdir { path: path.into() };
        writer.operation(&FileOperation { at_ns, took_ns: 1, thread: 1, action }).unwrap();
    }
    writer.finish(0, 0).unwrap();
    let cells = replay(&trace, folder.path(), "recorded").unwrap();
    assert!(cells[0].elapsed_ns >= 80_000_000, "{}", cells[0].elapsed_ns);
}

#[test]
fn what_the_file_system_refuses_is_named() {
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace");
    let mkdir = || FileAction::Mkdir { path: "a".into() };
    write(&trace, &[mkdir(), mkdir()]);
    let error = replay(&trace, folder.path(), "max").unwrap_err();
    assert_eq!(error.to_string(), "files: mkdir of 'a' failed: File exists (os error 17)");
    let gone = Path::new("/proc/no-such-directory");
    let error = replay(&trace, gone, "max").unwrap_err().to_string();
    assert!(error.contains("no-such-directory"), "{error}");
}
