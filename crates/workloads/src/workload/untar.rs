//! `untar`: unpacking a root-like tree, as installing a system does. Files, directories and links
//! are made one after the other through the page cache; `end` then makes everything durable at
//! once, as `tar -x && sync` does; `each` makes every file durable before the next, as package
//! managers do. The time counts until all is durable.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path as FilePath;

use blockio::now_ns;
use device::content::DataGenerator;
use record::{Cell, Content, Direction, Estimate, Flag, Params, Stop, Sync};
use rustix::io::Errno;
use suite::TestSettings;
use suite::typed_settings::{TypedSettings as _, settings};

use super::ledger::{Ledger, buffered};
use super::run::{self, WorkloadRun};
use super::tree::{TreeEntry, needs_bytes, tree};
use super::{InspectionPoint, WorkError, Workload, WorkloadContext, WorkloadKind};

pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: "untar",
    defaults: || TestSettings::of("untar", Untar::LIST),
    make: |settings| Ok(Box::new(Untar::read(settings)?)),
};

settings! {
    Untar {
        files: Count = "3000", "how many files; a Debian root has 142022";
        sync: Words(["end", "each"]) = "end,each",
            "when files are made durable: all at the end, each before the next";
        content: Data = "incompressible", "what the files hold";
        max_time: Time = "10m", "time limit per form";
    }
}

/// Largest write in bytes, so that an interruption is noticed; tar's own are 10 KiB, cp's 128 KiB.
const PIECE_BYTES: usize = 128 << 10;

impl Untar {
    fn form(
        &self,
        number: usize,
        sync: &str,
        run: &mut WorkloadRun<'_, '_>,
    ) -> Result<Cell, WorkError> {
        let entries = tree(self.files, &mut run.random("tree"));
        let top = run.path(sync);
        run.check("making a directory", std::fs::create_dir(&top))?;
        run.sync()?;
        let mut unpacker = Unpacker {
            generator: DataGenerator::new(run.context.seed),
            content: self.content,
            piece: vec![0; PIECE_BYTES],
            sync_each: sync == "each",
            links_left_out: 0,
        };
        let mut ledger = Ledger::default();
        let stop = run.steps("unpacking", entries.len() as u64, self.max_time, |run, number| {
            let number = number as usize;
            unpacker.make(&top, &entries[number], number, run, &mut ledger)
        })?;
        let sync_ns = run.sync()?;
        let mut cell = self.cell(number, sync, ledger, sync_ns, stop);
        cell.metrics.put("entries", entries.len() as f64, 1);
        if unpacker.links_left_out > 0 {
            let text = format!(
                "the file system has no symbolic links: {} of them were left out",
                unpacker.links_left_out
            );
            cell.flags.push(Flag::Note { text });
        }
        run.show(InspectionPoint::After);
        run.remove(&top)?;
        Ok(cell)
    }

    fn cell(&self, number: usize, sync: &str, ledger: Ledger, sync_ns: u64, stop: Stop) -> Cell {
        let params = Params {
            direction: Some(Direction::Write),
            sync: if sync == "each" { Sync::File } else { Sync::None },
            content: Some(self.content),
            other: [("files".to_owned(), self.files as f64)].into(),
            ..buffered(sync)
        };
        let (made, bytes) = (ledger.ops(), ledger.tally.bytes);
        let mut cell = ledger.cell(KIND.name, number, params, stop);
        cell.elapsed_ns += sync_ns;
        let seconds = cell.elapsed_ns as f64 / 1e9;
        // Directories, links and files of all sizes have no common rate; how long the whole took is
        // the figure.
        cell.metrics.iops = None;
        cell.metrics.bps = Some(Estimate::of(bytes as f64 / seconds, made));
        cell.metrics.put("entries_per_s", made as f64 / seconds, made);
        cell.metrics.put("final_sync_ns", sync_ns as f64, 1);
        cell
    }
}

impl Workload for Untar {
    fn needs_bytes(&self) -> u64 {
        needs_bytes(self.files)
    }

    /// Returns a cell for each form; its figure is `elapsed_ns` until everything is durable.
    /// Latencies are those of single entries.
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<Cell>, WorkError> {
        run::each(KIND.name, context, &self.sync, |number, sync, run| self.form(number, sync, run))
    }
}

/// Makes the entries of a tree.
struct Unpacker {
    generator: DataGenerator,
    content: Content,
    piece: Vec<u8>,
    /// True to make every file durable before the next one, as package managers do.
    sync_each: bool,
    /// Number of symbolic links that the file system does not support (vfat, exfat) and that are
    /// left out, as tar does.
    links_left_out: u64,
}

impl Unpacker {
    /// Makes one entry below `top` and counts it as one step. Making the data does not count.
    fn make(
        &mut self,
        top: &FilePath,
        entry: &TreeEntry,
        number: usize,
        run: &WorkloadRun<'_, '_>,
        ledger: &mut Ledger,
    ) -> Result<(), WorkError> {
        match entry {
            TreeEntry::Directory(path) => {
                run.check("making a directory", ledger.time(0, || fs::create_dir(top.join(path))))
            }
            TreeEntry::Link(path, target) => {
                match ledger.time(0, || rustix::fs::symlink(target, top.join(path))) {
                    Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => {
                        self.links_left_out += 1;
                        Ok(())
                    }
                    made => run.check("making a link", made),
                }
            }
            TreeEntry::File(path, bytes) => self.file(&top.join(path), *bytes, number, run, ledger),
        }
    }

    fn file(
        &mut self,
        path: &FilePath,
        bytes: u64,
        number: usize,
        run: &WorkloadRun<'_, '_>,
        ledger: &mut Ledger,
    ) -> Result<(), WorkError> {
        let begun_ns = now_ns();
        let mut away_ns = 0;
        let mut file = run.check("making a file", File::create_new(path))?;
        let mut at = 0;
        while at < bytes {
            run.go_on()?;
            let length = (bytes - at).min(PIECE_BYTES as u64);
            let before_ns = now_ns();
            let piece = &mut self.piece[..(length as usize).next_multiple_of(512)];
            // The file's number as pass: no two files hold the same.
            self.generator.fill(piece, self.content, number as u32, at);
            away_ns += now_ns() - before_ns;
            run.check("writing a file", file.write_all(&piece[..length as usize]))?;
            at += length;
        }
        if self.sync_each {
            run.check("making a file durable", rustix::fs::fsync(&file))?;
        }
        drop(file);
        ledger.count(begun_ns + away_ns, now_ns(), bytes);
        Ok(())
    }
}
