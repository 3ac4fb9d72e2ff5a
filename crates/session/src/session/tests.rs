//! A session with bodies that must not have their way.

use std::io::BufRead as _;
use std::process::{Command, Stdio};

use device::{Extent, Request};
use record::{Cell, Params};
use store::Store;

use super::*;

#[path = "../../../../tests/skipped.rs"]
mod skipped;

/// A body that would write.
#[derive(Default)]
struct Writer {
    has_worked: bool,
}

impl Body for Writer {
    fn writes(&self, _: &Plan, _: bool) -> Option<(Extents, u64)> {
        Some((Extents::default(), 4096))
    }

    fn announcement(&self, _: &Target, _: &Plan, _: u64) -> String {
        String::new()
    }

    fn work(&mut self, _: Workplace<'_>) -> Result<RunEnd> {
        self.has_worked = true;
        Err(anyhow::anyhow!("it was let through")).or_internal()
    }
}

/// A body that announces two blocks and one block of bytes, and writes three.
struct Careless;

impl Body for Careless {
    fn writes(&self, _: &Plan, _: bool) -> Option<(Extents, u64)> {
        Some((Extents::of([Extent::new(0, 8192)]), 4096))
    }

    fn announcement(&self, _: &Target, _: &Plan, _: u64) -> String {
        String::new()
    }

    fn work(&mut self, at: Workplace<'_>) -> Result<RunEnd> {
        let medium = at.medium.unwrap();
        medium.prepare(1, 4096).unwrap();
        let refused = [8192, 0, 4096].map(|offset_bytes| {
            let refused = medium.submit(Request::write(0, offset_bytes, 4096)).err();
            medium.reap(1, &mut Vec::new()).unwrap();
            refused.map(|error| error.kind)
        });
        let no = Some(IoErrorKind::Refused);
        assert_eq!(refused, [no, None, no], "beyond the extents, within, beyond the bytes");
        Err(anyhow::anyhow!("enough")).or_internal()
    }
}

#[test]
fn a_body_writes_no_more_than_it_announced() {
    let scratch = tempfile::tempdir().unwrap();
    let target = "sim:class10".to_owned();
    let session = session(RunRequest { target, ..RunRequest::default() }, scratch.path());
    let ended = session.hold(&mut Careless);
    assert_eq!(ended.unwrap_err().to_string(), "enough");
}

/// A session on the target of a request, whose run is in this folder.
pub(crate) fn session(request: RunRequest, folder: &std::path::Path) -> Session {
    let (target, plan) = (Target::open(&request).unwrap(), Plan::default());
    let opening = crate::begin::opening("run", &request, None, &target, &plan).unwrap();
    let dir = Store::open(folder.join("home")).create("run", &opening).unwrap();
    let journal = dir.journal(crate::run_lock::take(&dir).unwrap()).unwrap();
    let outputs = Outputs { quiet: true, ..Outputs::default() };
    let (done, used_ns, taken_anew) = (Vec::new(), 0, false);
    Session { target, plan, request, dir, journal, done, used_ns, taken_anew, outputs }
}

/// A medium that somebody began to write after it was claimed.
#[test]
fn what_came_into_use_since_the_claim_is_not_written() {
    let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
    let image = scratch.path().join("image");
    std::fs::File::create(&image).unwrap().set_len(1 << 20).unwrap();
    let made = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
    let Some(made) = made.ok().filter(|made| made.status.success()) else {
        return skipped::skipped("loop devices need root");
    };
    let node = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    let erase = Some(node.clone());
    let request = RunRequest { target: node.clone(), erase, ..RunRequest::default() };
    let session = session(request, scratch.path());
    let hold = format!("exec 3<>{node}; echo ready; read line");
    let mut holder = Command::new("sh")
        .args(["-c", &hold])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    std::io::BufReader::new(holder.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let mut body = Writer::default();
    let ended = session.hold(&mut body);
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let _ = Command::new("losetup").args(["--detach", &node]).status();
    let refusal = ended.unwrap_err();
    assert_eq!(refusal.exit, Exit::Refused);
    assert!(refusal.to_string().contains("is held open for writing by"), "{refusal}");
    assert!(!body.has_worked);
}

/// Ctrl-C after errors of the medium: "go on with: flashmark resume".
#[test]
fn a_failing_medium_is_copied_and_not_measured_on() {
    let mut record = Record::new(record::Run::default());
    assert_eq!(next_step(&record, "a", "go on".to_owned()), "go on");
    let mut cell = Cell::begun("a", "random-read", Params::default());
    cell.stop = Stop::Error;
    cell.error = Some(record::CellError::of(IoErrorKind::Medium));
    record.cells.push(cell);
    let step = next_step(&record, "a", "go on".to_owned());
    assert!(step.contains("Copy what is on it first") && !step.contains("go on"), "{step}");
}
