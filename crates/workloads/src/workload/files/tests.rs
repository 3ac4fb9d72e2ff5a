use std::path::Path;
use std::sync::atomic::AtomicBool;

use record::Cell;
use tempfile::TempDir;

use super::*;
use crate::trace::files::tests::{some_calls, traced};
use crate::workload::{WorkloadContext, find};

/// Replays a trace in a directory, or in one of its own.
fn replay(text: &str, on: Option<&Path>, pace: &str) -> Result<Vec<Cell>, WorkError> {
    let folder = TempDir::new().unwrap();
    let trace = folder.path().join("trace");
    std::fs::write(&trace, text).unwrap();
    let settings = [("pace", pace), ("below", "/srv")];
    let work = find(&format!("{PREFIX}{}", trace.display()), &settings)?;
    let mut context = WorkloadContext {
        directory: on.unwrap_or(folder.path()),
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
    let on = TempDir::new().unwrap();
    let cells = replay(&traced(&some_calls()), Some(on.path()), "max").unwrap();
    let counted: Vec<String> =
        counts(&cells).into_iter().map(|(form, ops)| format!("{ops} {form}")).collect();
    assert_eq!(
        counted.join(", "),
        "28 all, 5 close, 1 fdatasync, 1 fsync, 1 mkdir, 5 open, 3 read, 1 rename, 1 rmdir, 1 symlink, 1 truncate, 3 unlink, 5 write"
    );
    assert!(cells[0].elapsed_ns > 0 && cells[0].metrics.iops.is_none());
    assert_eq!((cells[0].written_bytes, cells[0].bytes), (7688, 7688 + 4096 + 6));
    assert!(std::fs::read_dir(on.path()).unwrap().next().is_none());
}

/// Two threads that overlap throughout: each opens what the other has made before.
fn woven(steps: u64) -> String {
    let mut text = String::new();
    let mut line = |thread: u64, at: u64, what: &str| {
        text += &format!("{} {}.{:06} {what}\n", 1 + thread, 1 + at / 1_000_000, at % 1_000_000);
    };
    for step in 0..steps {
        let (at, thread) = (step * 100, step % 2);
        if let Some(old) = step.checked_sub(2) {
            line(thread, at, &format!("<... openat resumed>) = {old}</srv/f{old}>"));
        }
        if let Some(old) = step.checked_sub(4) {
            line(thread, at + 20, &format!("unlink(\"/srv/f{old}\") = 0"));
        }
        let open =
            format!("openat(AT_FDCWD, \"/srv/f{step}\", O_WRONLY|O_CREAT, 0666 <unfinished ...>");
        line(thread, at + 40, &open);
    }
    text
}

#[test]
fn threads_keep_the_order_that_the_recording_shows() {
    let cells = replay(&woven(500), None, "max").unwrap();
    assert_eq!(counts(&cells)[1..], [("open".to_owned(), 498), ("unlink".to_owned(), 496)]);
}

#[test]
fn operations_of_one_instant_do_not_wait_for_each_other() {
    let text = r#"1 1.000000 mkdir("/srv/a", 0777 <unfinished ...>
2 1.000005 mkdir("/srv/b", 0777) = 0
3 1.000005 mkdir("/srv/c", 0777) = 0
2 1.000005 mkdir("/srv/d", 0777) = 0
1 1.000009 <... mkdir resumed>) = 0
"#;
    assert_eq!(replay(text, None, "max").unwrap()[0].ops, 4);
}

#[test]
fn the_recorded_pace_is_no_faster_than_the_recording() {
    let text = "1 1.000000 mkdir(\"/srv/a\", 0777) = 0\n1 1.080000 mkdir(\"/srv/b\", 0777) = 0\n";
    let cells = replay(text, None, "recorded").unwrap();
    assert!(cells[0].elapsed_ns >= 80_000_000, "{}", cells[0].elapsed_ns);
}

#[test]
fn what_the_file_system_refuses_is_named() {
    let text = traced(&"mkdir(\"/srv/a\", 0777) = 0\n".repeat(2));
    let error = replay(&text, None, "max").unwrap_err();
    assert_eq!(error.to_string(), "files: mkdir of 'a' failed: File exists (os error 17)");
    let gone = Path::new("/proc/no-such-directory");
    let error = replay(&text, Some(gone), "max").unwrap_err().to_string();
    assert!(error.contains("no-such-directory"), "{error}");
}

/// The calls name paths as the program did; in a replay a recorded link would lead to this machine.
#[test]
fn nothing_goes_through_a_link_out_of_the_directory() {
    let outside = TempDir::new().unwrap();
    let photo = outside.path().join("photo");
    for call in [
        "openat(AT_FDCWD</srv>, \"l/photo\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</srv/l/photo>",
        "mkdir(\"/srv/l/new\", 0777) = 0",
        "openat(AT_FDCWD</srv>, \"l\", O_WRONLY|O_TRUNC) = 3</srv/l>",
    ] {
        std::fs::write(&photo, "photo").unwrap();
        let on = TempDir::new().unwrap();
        let link = outside.path().display();
        let text = traced(&format!("symlink(\"{link}\", \"/srv/l\") = 0\n{call}"));
        let error = replay(&text, Some(on.path()), "max").unwrap_err().to_string();
        assert!(error.contains("failed: No such file or directory"), "{error}");
        assert_eq!(std::fs::read(&photo).unwrap(), b"photo");
        assert!(!outside.path().join("new").exists());
    }
}
