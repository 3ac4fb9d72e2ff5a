//! `boot`: a read-mostly trace like that of a booting system, on a tree like that of a Linux root.
//!
//! The model, drawn from the seed: units start one after the other. A unit has a few files of its
//! own, mostly small ones. It reads its configuration whole, lists a directory and asks for every
//! file in it, asks for files that are not there, loads shared libraries (few files that most units
//! need, read in pieces of 16 to 128 KiB as page faults with read-ahead do), and reads its program.
//! One step in 12 writes: a line to the log, or a state file that is written anew, made durable and
//! renamed. The page cache is part of the work, as in a real boot: a file that one unit has read
//! costs the next nothing. It is empty at the start.

mod caches;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use record::{Cell, Content, Direction, Params, Path as Way, Region, Stop};
use stats::Random;
use suite::{Setting, SettingError, TestSettings};

use super::clock::now_ns;
use super::ledger::{Ledger, figure, sys};
use super::run::WorkloadRun;
use super::tree::{TreeEntry, needs_bytes, tree};
use super::unpack::Unpacker;
use super::{InspectionPoint, WorkError, Workload, WorkloadContext, WorkloadKind};

pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: "boot",
    about: "a read-mostly trace like that of a starting system, on a tree like that of a Linux root; how long it takes",
    source: "a model, described in docs/methodology.md; docs/field/ext2.md#filling-a-file-system for the tree",
    settings: &[
        Setting { name: "files", default: "3000", about: "files of the tree" },
        Setting {
            name: "steps",
            default: "6000",
            about: "what is done: reads, listings, questions for files, writes",
        },
        Setting {
            name: "caches",
            default: "all",
            about: "emptied before: all (of the machine; needs root), files (the pages of the tree's files)",
        },
        Setting { name: "max_time", default: "10m", about: "at most this long" },
    ],
    make: |settings| Ok(Box::new(Boot::new(settings)?)),
};

/// Steps of a unit, on average.
const STEPS_PER_UNIT: u64 = 30;
/// One file of so many is a shared library that any unit may need.
const LIBRARY_SHARE: u64 = 30;
/// Share of each kind of step, in percent; the rest are reads of whole small files.
const LIBRARY: u64 = 35;
const LISTING: u64 = 8;
const MISSING: u64 = 10;
const LOG_LINE: u64 = 6;
const STATE: u64 = 2;
/// Largest read, in bytes: the kernel's read-ahead.
const READ_BYTES: usize = 128 << 10;
/// Smallest piece of a library in one read, in bytes.
const PIECE_BYTES: u64 = 16 << 10;

/// One step of the trace, drawn from the seed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Reads a whole file.
    Whole(usize),
    /// Reads so many bytes of a file from an offset on, as far as it goes.
    Piece(usize, u64, u64),
    /// Lists a directory, and asks for every entry.
    List(PathBuf),
    /// Asks for a file that is not there.
    Missing(PathBuf),
    /// Appends so many bytes to the log.
    Log(usize),
    /// Replaces a state file by one of so many bytes.
    State(u64, usize),
}

struct Boot {
    files: u64,
    steps: u64,
    all_caches: bool,
    max_ns: u64,
}

/// The tree's files and directories.
struct Tree {
    files: Vec<(PathBuf, u64)>,
    directories: Vec<PathBuf>,
}

impl Boot {
    fn new(settings: &TestSettings) -> Result<Boot, SettingError> {
        Ok(Boot {
            files: settings.count("files")?,
            steps: settings.count("steps")?,
            all_caches: settings.choice("caches", &["all", "files"])? == "all",
            max_ns: settings.duration_ns("max_time")?,
        })
    }

    /// Unpacks the tree, durable and out of the caches; true if the caches are really empty.
    fn lay_down(
        &self,
        top: &Path,
        run: &mut WorkloadRun<'_, '_>,
    ) -> Result<(Tree, bool), WorkError> {
        let entries = tree(self.files, &mut run.random("tree"));
        let mut unpacker = Unpacker::new(run.context.seed, Content::Incompressible, false);
        let mut unmeasured = Ledger::default();
        run.check("making a directory", fs::create_dir(top))?;
        for (done, entry) in entries.iter().enumerate() {
            unpacker.make(top, entry, done, run, &mut unmeasured)?;
            run.checkpoint(
                "laying down the tree",
                done as f64 / entries.len() as f64,
                done as u64,
            )?;
        }
        run.sync()?;
        let mut tree = Tree { files: Vec::new(), directories: vec![top.to_owned()] };
        for entry in entries {
            match entry {
                TreeEntry::Directory(path) => tree.directories.push(top.join(path)),
                TreeEntry::File(path, bytes) => tree.files.push((top.join(path), bytes)),
                TreeEntry::Link(..) => {}
            }
        }
        let forgotten = run.check(
            "emptying the caches",
            caches::forget(tree.files.iter().map(|(path, _)| path.as_path())),
        );
        forgotten?;
        let emptied = self.all_caches && caches::drop_all_caches();
        Ok((tree, emptied))
    }

    fn params(&self) -> Params {
        Params {
            direction: Some(Direction::Read),
            region: Some(Region::File),
            path: Way::Buffered,
            form: Some("boot".into()),
            queue_depth: 1,
            threads: 1,
            other: [
                ("files".to_owned(), self.files as f64),
                ("steps".to_owned(), self.steps as f64),
            ]
            .into(),
            ..Params::default()
        }
    }
}

/// The steps, in their order.
fn trace(steps: u64, tree: &Tree, random: &mut Random) -> Vec<Step> {
    let count = tree.files.len() as u64;
    let libraries = (count / LIBRARY_SHARE).max(1);
    let mut unit = 0;
    let mut directory = tree.directories[0].clone();
    (0..steps)
        .map(|_| {
            if random.below(STEPS_PER_UNIT) == 0 {
                unit += 1;
                directory =
                    tree.directories[random.below(tree.directories.len() as u64) as usize].clone();
            }
            let dice = random.below(100);
            let bounds = [LIBRARY, LISTING, MISSING, LOG_LINE, STATE];
            let kind = bounds
                .iter()
                .scan(0, |sum, share| {
                    *sum += share;
                    Some(*sum)
                })
                .position(|bound| dice < bound);
            match kind {
                Some(0) => {
                    // Favourites: the square makes the first quarter of the libraries come half of
                    // the time.
                    let favourite = (random.unit().powi(2) * libraries as f64) as u64;
                    let file = (favourite * LIBRARY_SHARE % count) as usize;
                    let at = random.below(tree.files[file].1.max(1)) / 4096 * 4096;
                    Step::Piece(file, at, PIECE_BYTES << random.below(4))
                }
                Some(1) => Step::List(directory.clone()),
                Some(2) => {
                    Step::Missing(directory.join(format!("missing-{}.conf.d", random.below(1000))))
                }
                Some(3) => Step::Log(60 + random.below(140) as usize),
                Some(4) => Step::State(unit % 40, 100 + random.below(4000) as usize),
                _ => Step::Whole(random.below(count) as usize),
            }
        })
        .collect()
}

/// Means of the steps.
struct Doer<'a> {
    tree: &'a Tree,
    folder: &'a Path,
    log: File,
    buffer: Vec<u8>,
}

impl Doer<'_> {
    /// Does one step; returns bytes read and bytes written.
    fn step(&mut self, step: &Step) -> io::Result<(u64, u64)> {
        match step {
            Step::Whole(file) => self.read(*file, 0, u64::MAX),
            Step::Piece(file, at, bytes) => self.read(*file, *at, *bytes),
            Step::List(directory) => {
                for entry in fs::read_dir(directory)? {
                    entry?.metadata()?;
                }
                Ok((0, 0))
            }
            Step::Missing(path) => match fs::metadata(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((0, 0)),
                Err(error) => Err(error),
                Ok(_) => Err(io::Error::other(format!("{} should not be there", path.display()))),
            },
            Step::Log(bytes) => {
                self.log.write_all(&vec![b'.'; *bytes]).map(|()| (0, *bytes as u64))
            }
            Step::State(unit, bytes) => {
                let (new, path) =
                    (self.folder.join("state.new"), self.folder.join(format!("state-{unit}")));
                let mut file = File::create(&new)?;
                file.write_all(&vec![b'.'; *bytes])?;
                sys(rustix::fs::fsync(&file))?;
                fs::rename(new, path)?;
                Ok((0, *bytes as u64))
            }
        }
    }

    fn read(&mut self, file: usize, mut at: u64, bytes: u64) -> io::Result<(u64, u64)> {
        let file = File::open(&self.tree.files[file].0)?;
        let mut left = bytes;
        while left > 0 {
            let length = left.min(READ_BYTES as u64) as usize;
            let read = file.read_at(&mut self.buffer[..length], at)? as u64;
            if read == 0 {
                break;
            }
            (at, left) = (at + read, left - read);
        }
        Ok((bytes - left, 0))
    }
}

impl Workload for Boot {
    fn name(&self) -> &str {
        KIND.name
    }

    fn needs_bytes(&self) -> u64 {
        needs_bytes(self.files) + self.steps * 4096 * STATE / 100
    }

    /// One cell: `elapsed_ns` of all steps is the figure; latencies are those of single steps.
    /// `caches_emptied` is 1 where the machine's caches were empty at the start, 0 where only those
    /// of the files' pages were (directories and inodes stayed).
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<Cell>, WorkError> {
        let mut run = WorkloadRun::begin(KIND.name, context)?;
        run.part(0.0, 0.4);
        let top = run.path("tree");
        let (tree, emptied) = self.lay_down(&top, &mut run)?;
        run.show(InspectionPoint::Before);
        let steps = trace(self.steps, &tree, &mut run.random("trace"));
        let folder = run.folder().to_owned();
        let log = OpenOptions::new().append(true).create_new(true).open(folder.join("log"));
        let log = run.check("making the log", log)?;
        let mut doer = Doer { tree: &tree, folder: &folder, log, buffer: vec![0; READ_BYTES] };
        run.part(0.4, 1.0);
        let (mut ledger, mut written_bytes, mut stop) = (Ledger::default(), 0, Stop::Ops);
        let started_ns = now_ns();
        for (done, step) in steps.iter().enumerate() {
            let before_ns = now_ns();
            let (read, written) = run.check("a step of the boot", doer.step(step))?;
            let after_ns = now_ns();
            ledger.count(before_ns, after_ns, read + written);
            written_bytes += written;
            run.checkpoint("booting", done as f64 / steps.len() as f64, done as u64)?;
            if after_ns - started_ns >= self.max_ns {
                stop = Stop::Time;
                break;
            }
        }
        drop(doer);
        run.show(InspectionPoint::After);
        run.end()?;
        Ok(vec![cell(ledger, self.params(), stop, written_bytes, emptied)])
    }
}

fn cell(ledger: Ledger, params: Params, stop: Stop, written_bytes: u64, emptied: bool) -> Cell {
    let mut cell = ledger.cell(KIND.name, 1, params, stop);
    let seconds = cell.elapsed_ns.max(1) as f64 / 1e9;
    // Steps of all kinds, many of them answered by the page cache, have no common rate; how long
    // the whole took is the figure.
    (cell.metrics.iops, cell.metrics.bps) = (None, None);
    cell.flags.clear();
    cell.written_bytes = written_bytes;
    let read = (cell.bytes - written_bytes) as f64;
    let figures = [
        ("steps_per_s", cell.ops as f64 / seconds),
        ("read_bytes", read),
        ("caches_emptied", f64::from(u8::from(emptied))),
    ];
    cell.metrics
        .other
        .extend(figures.map(|(name, value)| (name.to_owned(), figure(value, cell.ops))));
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_tree() -> Tree {
        Tree {
            files: (0..300).map(|i| (PathBuf::from(format!("f{i}")), 1 + 997 * i)).collect(),
            directories: vec![PathBuf::from("d")],
        }
    }

    #[test]
    fn a_boot_reads_much_and_writes_little() {
        let steps = trace(20_000, &some_tree(), &mut Random::for_purpose(1, "trace"));
        let share = |is: fn(&Step) -> bool| {
            steps.iter().filter(|step| is(step)).count() as f64 / steps.len() as f64
        };
        assert!(
            (share(|step| matches!(step, Step::Log(_) | Step::State(..))) - 1.0 / 12.0).abs()
                < 0.01
        );
        assert!(
            (share(|step| matches!(step, Step::Whole(_) | Step::Piece(..))) - 0.74).abs() < 0.02
        );
    }

    #[test]
    fn the_same_seed_gives_the_same_boot() {
        let trace = |seed| trace(500, &some_tree(), &mut Random::for_purpose(seed, "trace"));
        assert_eq!(trace(5), trace(5));
        assert_ne!(trace(5), trace(6));
    }
}
