//! Small runs to write and read back.

use std::path::{Path, PathBuf};

use flashmark_store::{Journal, JournalEntry, Opening, RunDir, Store};
use record::{Cell, Host, Latency, Medium, Params, PlannedCell, Run, Software, Stop, Target};

pub fn cell(id: &str) -> Cell {
    let params =
        Params { block_bytes: Some(4096), queue_depth: 1, threads: 1, ..Params::default() };
    let mut cell = Cell::begun(id, id.split('/').next().unwrap(), params);
    let latency = Latency { n: 1, min: 7, mean: 1.0 / 3.0, max: 7, ..Latency::default() };
    cell.metrics.latency_ns = Some(latency);
    (cell.ops, cell.bytes, cell.written_bytes) = (1, 4096, 4096);
    (cell.elapsed_ns, cell.stop) = (1_000, Stop::Ops);
    cell
}

pub fn software(version: &str) -> Software {
    Software { name: "flashmark".to_owned(), version: version.to_owned(), commit: None }
}

pub fn host(kernel: &str) -> Host {
    Host { kernel: Some(kernel.to_owned()), ..Host::default() }
}

/// The opening of a run that plans three cells.
pub fn opening(id: &str) -> Opening {
    let planned = |id: &str| PlannedCell {
        id: id.to_owned(),
        test: id.to_owned(),
        params: Params::default(),
        max_ns: 1,
        max_written_bytes: 1,
    };
    Opening {
        run: Run {
            id: id.to_owned(),
            suite: "quick".to_owned(),
            seed: u64::MAX,
            software: software("0.1.0"),
            ..Run::default()
        },
        medium: Medium { profile: Some("card".to_owned()), ..Medium::default() },
        host: Some(host("6.12")),
        target: Target { path: "sim:card".to_owned(), ..Target::default() },
        plan: ["a", "b", "c"].map(planned).into(),
        skipped: Vec::new(),
        flags: Vec::new(),
        command: serde_json::json!({ "target": "sim:card", "set": ["a.x=1"] }),
        fingerprint: None,
    }
}

/// A store in a temporary directory, which is removed with it.
pub struct Sandbox {
    dir: tempfile::TempDir,
    pub store: Store,
}

impl Sandbox {
    pub fn new() -> Sandbox {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().join("runs"));
        Sandbox { dir, store }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A run with these events in its journal.
    pub fn run(&self, id: &str, entries: &[JournalEntry]) -> RunDir {
        let run = self.store.create(id, &opening(id)).unwrap();
        let mut journal = writer(&run);
        entries.iter().for_each(|entry| journal.append(entry).unwrap());
        run
    }

    /// A message in which the directory is called DIR.
    pub fn neutral(&self, message: impl ToString) -> String {
        message.to_string().replace(&self.path().display().to_string(), "DIR")
    }

    /// Every path below the directory.
    pub fn tree(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.path().to_owned()];
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                found.push(path.strip_prefix(self.path()).unwrap().to_owned());
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

pub fn writer(run: &RunDir) -> Journal {
    run.journal(run.lock().unwrap()).unwrap()
}

/// Runs an ignored test as a process of its own, after these words of a shell: a limit on the size
/// of files applies to a whole process.
pub fn limited(words: &str, test: &str, sandbox: &Sandbox) {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("{words}; exec \"$0\" \"$@\"")]);
    shell.arg(std::env::current_exe().unwrap()).args(["--ignored", "--exact", test]);
    let output = shell.env("FLASHMARK_TEST_ROOT", sandbox.store.root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
