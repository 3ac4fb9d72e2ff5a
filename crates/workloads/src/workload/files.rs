//! `files:TRACE`: the file operations of a program, as strace recorded them, repeated with the same
//! system calls. Files that existed before are made beforehand, as long as they were read, with
//! random contents. Operations follow each other as they were recorded; those that overlapped run in
//! parallel, in a thread for each recorded one. The time counts until all is durable.

mod player;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use blockio::now_ns;
use record::units::{KIB, MIB};
use record::{Cell, Direction, Params, Stop, Sync};
use rustix::fs::Advice;
use stats::Random;
use suite::TestSettings;
use suite::typed_settings::{TypedSettings as _, settings};

use self::player::{FilePlayer, OperationTimes};
use super::ledger::{Ledger, buffered};
use super::run::WorkloadRun;
use super::{InspectionPoint, WorkError, Workload, WorkloadContext, choose};
use crate::trace::TraceError;
use crate::trace::files::{FileAction, FileTrace, FileTraceEnd, FileTraceSurvey};

/// Prefix of such a work on the command line.
pub const PREFIX: &str = "files:";
const NAME: &str = "files";

settings! {
    FilesSettings {
        pace: Word(["max", "recorded"]) = "max",
            "max: without the pauses of the recording; recorded: no operation earlier than then";
        below: Text = "/", "directory of the recorded program whose files count";
    }
}

/// Operations that are read from the trace at once; reading them is not timed.
const BATCH: usize = 4096;
/// Bytes for the blocks, inode and directory entry of a small file.
const ROOM_PER_NAME: u64 = 8 * KIB;
/// Bytes for logs of a file system that are not reused at once.
const ROOM: u64 = 16 * MIB;

/// A recording that has been read.
pub(super) struct FilesWork {
    name: String,
    trace: FileTrace,
    survey: FileTraceSurvey,
    recorded_pace: bool,
}

impl FilesWork {
    /// Reads the recording that `name` ("files:TRACE") names.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn open(name: &str, settings: &[(&str, &str)]) -> Result<FilesWork, WorkError> {
        let settings = choose(TestSettings::of(NAME, FilesSettings::LIST), settings)?;
        let settings = FilesSettings::read(&settings)?;
        let path = Path::new(name.strip_prefix(PREFIX).unwrap_or(name));
        let read = FileTrace::open(path, &settings.below)
            .and_then(|trace| FileTraceSurvey::of(&trace).map(|survey| (trace, survey)));
        let (trace, survey) = read.map_err(broken)?;
        if survey.operations() == 0 {
            return Err(WorkError::impossible(NAME, "the recording has no operations there"));
        }
        let recorded_pace = settings.pace == "recorded";
        Ok(FilesWork { name: name.to_owned(), trace, survey, recorded_pace })
    }

    /// Makes the files that existed before, durable and out of the page cache.
    fn prepare(&self, run: &mut WorkloadRun<'_, '_>) -> Result<(), WorkError> {
        let before = &self.survey.before;
        let piece = random_piece(&mut run.random("content"));
        for (made, (path, bytes)) in before.iter().enumerate() {
            let place = run.path(path);
            match bytes {
                None => run.check("making a directory", fs::create_dir_all(&place))?,
                Some(bytes) => run.check("making a file", make(&place, *bytes, &piece))?,
            }
            run.checkpoint("laying down files", made as f64 / before.len() as f64, made as u64)?;
        }
        run.sync().map(drop)
    }

    fn play(&self, run: &mut WorkloadRun<'_, '_>) -> Result<Vec<Cell>, WorkError> {
        let mut operations = self.trace.operations().map_err(broken)?;
        let begun_ns = self.recorded_pace.then(now_ns);
        let longest_bytes = self.survey.longest_bytes;
        let player = FilePlayer::new(run.folder(), run.context.stop, begun_ns, longest_bytes);
        let (all, mut account) = (self.survey.operations(), Account::default());
        loop {
            let mut batch = Vec::with_capacity(BATCH);
            while batch.len() < BATCH
                && let Some(operation) = operations.next_operation().map_err(broken)?
            {
                batch.push(operation);
            }
            if batch.is_empty() {
                break;
            }
            let before_ns = now_ns();
            let done = player.play(&batch)?;
            account.busy_ns += now_ns() - before_ns;
            batch
                .iter()
                .zip(done)
                .for_each(|(operation, done)| account.count(&operation.action, done));
            let share = account.all.ops() as f64 / all as f64;
            run.checkpoint("replaying", share, account.all.ops())?;
        }
        let sync_ns = run.sync()?;
        drop(player);
        Ok(self.cells(account, sync_ns))
    }

    /// Cells of all operations together, and of those of each name.
    fn cells(&self, account: Account, sync_ns: u64) -> Vec<Cell> {
        let mut cell = account.all.cell(NAME, 1, params("all"), Stop::Ops);
        cell.elapsed_ns = account.busy_ns + sync_ns;
        // Operations of all kinds have no common rate; how long the whole took is the figure.
        (cell.metrics.iops, cell.metrics.bps) = (None, None);
        cell.flags.clear();
        cell.written_bytes = self.survey.written_bytes;
        for (name, value) in [
            ("final_sync_ns", sync_ns),
            ("recorded_ns", self.survey.recorded_ns),
            ("unattributed", self.survey.end.unattributed),
            ("mappings", self.survey.end.mappings),
            ("cut", u64::from(self.survey.end.cut)),
        ] {
            cell.metrics.put(name, value as f64, 1);
        }
        let of_kinds = account.kinds.into_iter().zip(2..);
        std::iter::once(cell)
            .chain(
                of_kinds.map(|((kind, ledger), number)| {
                    ledger.cell(NAME, number, params(kind), Stop::Ops)
                }),
            )
            .collect()
    }
}

/// Makes a file of so many bytes, durable and out of the page cache.
fn make(path: &Path, bytes: u64, piece: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut file = File::create_new(path)?;
    let mut left = bytes;
    while left > 0 {
        let length = left.min(piece.len() as u64) as usize;
        file.write_all(&piece[..length])?;
        left -= length as u64;
    }
    rustix::fs::fsync(&file)?;
    Ok(rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)?)
}

fn random_piece(random: &mut Random) -> Vec<u8> {
    (0..MIB / 8).flat_map(|_| random.bits().to_ne_bytes()).collect()
}

/// Latencies of all operations, and of those of each name.
#[derive(Default)]
struct Account {
    all: Ledger,
    kinds: BTreeMap<&'static str, Ledger>,
    busy_ns: u64,
}

impl Account {
    fn count(&mut self, action: &FileAction, [begun_ns, ended_ns]: OperationTimes) {
        let bytes = action.moved_bytes();
        self.all.count(begun_ns, ended_ns, bytes);
        self.kinds.entry(action.name()).or_default().count(begun_ns, ended_ns, bytes);
    }
}

fn params(form: &str) -> Params {
    let params = buffered(form);
    match form {
        "read" => Params { direction: Some(Direction::Read), ..params },
        "write" => Params { direction: Some(Direction::Write), ..params },
        "fsync" => Params { sync: Sync::File, ..params },
        "fdatasync" => Params { sync: Sync::Data, ..params },
        _ => params,
    }
}

fn broken(error: TraceError) -> WorkError {
    WorkError::impossible(NAME, error)
}

impl Workload for FilesWork {
    fn needs_bytes(&self) -> u64 {
        let bytes = self.survey.most_bytes;
        bytes + bytes / 10 + self.survey.most_names * ROOM_PER_NAME + ROOM
    }

    fn note(&self) -> Option<String> {
        let FileTraceEnd { unattributed, mappings, cut } = self.survey.end;
        let are = |count: u64, one: &str, many: &str| {
            (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
        };
        let said = [
            cut.then(|| "its last line is not whole".to_owned()),
            are(mappings, "mapping was not recorded", "mappings were not recorded")
                .map(|said| said + ": strace does not show what is written through them"),
            are(unattributed, "call cannot be repeated", "calls cannot be repeated"),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        (!said.is_empty()).then(|| format!("{}: {}", self.name, said.join("; ")))
    }

    /// Cells: `all` (its `elapsed_ns`, until all is durable, is the figure), then one for the
    /// operations of each name.
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<Cell>, WorkError> {
        let mut run = WorkloadRun::begin(NAME, context)?;
        run.part(0.0, 0.3);
        self.prepare(&mut run)?;
        if !self.survey.before.is_empty() {
            run.show(InspectionPoint::Before);
        }
        run.part(0.3, 1.0);
        let cells = self.play(&mut run)?;
        run.show(InspectionPoint::After);
        run.end()?;
        Ok(cells)
    }
}
