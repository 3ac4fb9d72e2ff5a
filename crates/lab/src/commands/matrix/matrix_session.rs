//! One session of a matrix: tries the combinations that are left, keeps every result, and ends in
//! order.

use std::path::Path;
use std::time::Instant;

use blockio::{ExpectedFile, FileIdentity, OpenOptions, RealDevice};
use device::IoErrorKind;
use record::units::Nanos;
use record::{Cell, Ended, Flag, Params, PlannedCell, Stop};
use store::{Ending, Journal, JournalEntry, RunDir};
use workloads::matrix::{
    Combination, End, MatrixEvent, MatrixLimits, MatrixTrial, MediumFailure, Results,
};
use workloads::workload::{WorkError, WorkFile};

use super::block_devices::MatrixTestArea;
use super::outputs::MatrixOutputs;
use super::request::MatrixRequest;
use crate::run_end::{self, Continuation};
use program::exit::{Exit, OrExit, Result};
use program::messages;
use program::signals;
use session::progress_display::Screen;
use session::progress_events;
use session::run_session::COPY_FIRST;
use session::words;

/// Session of a matrix, with all that it needs.
pub struct MatrixSession {
    /// The medium on which combinations are tried.
    pub field: MatrixTestArea,
    /// Request of the user, as the journal has it.
    pub request: MatrixRequest,
    /// The run on disk.
    pub dir: RunDir,
    /// Its journal, open at its end; holds the run's lock.
    pub journal: Journal,
    /// Cells of earlier sessions.
    pub done: Vec<Cell>,
    /// Time that earlier sessions took, in nanoseconds.
    pub used_ns: u64,
    /// Places that get the results beside the store.
    pub outputs: MatrixOutputs,
}

impl MatrixSession {
    /// Tries, keeps, restores, reports; returns how the program ends.
    pub fn hold(self) -> Result {
        let MatrixSession { mut field, request, dir, mut journal, done, used_ns, outputs } = self;
        let stop = signals::listen()?;
        let works = request.works()?;
        let combinations = &request.combinations;
        let mut results = Results::of(combinations, &done);
        let screen = Screen::open(
            combinations.len() * request.limits.0 as usize,
            outputs.run.is_silent(),
            Box::new(|| 0),
        );
        screen.print(&format!(
            "{}\n{} combinations, each at least {} times",
            field.describe(),
            combinations.len(),
            request.limits.0
        ));
        progress_events::planned(&dir, &super::planned(&request), &[], &done);
        let began = Instant::now();
        let trial = MatrixTrial {
            combinations,
            works: &works,
            open: &open_file,
            count_extents: &|path| blockio::file_extents(path),
            clock: &blockio::now_ns,
            seed: request.seed,
            limits: MatrixLimits {
                least_repeats: request.limits.0,
                most_repeats: request.limits.1,
                time_limit_ns: request.time_limit_ns,
            },
            used_ns,
            stop: &stop,
        };
        let (written, marks) = (field.count_written(), field.marks(request.seed));
        let mut display = EventDisplay {
            written: &written,
            screen: &screen,
            at: 0,
            of: 1,
            left_ns: None,
            cell: planned(&combinations[0]),
            since: Instant::now(),
        };
        let end = workloads::matrix::run(
            &trial,
            field.hold_medium(request.seed)?,
            &mut results,
            &mut |event| {
                // On disk first: what the screen has shown is never lost.
                if let MatrixEvent::Finished(cells) = event {
                    for cell in *cells {
                        journal.append(&cell.clone().into()).map_err(|error| error.to_string())?;
                    }
                    // Of a medium that cannot be read now the next try tells.
                    if let Ok(marks) = marks()
                        && !marks.is_empty()
                    {
                        journal
                            .append(&JournalEntry::Marked(marks))
                            .map_err(|error| error.to_string())?;
                    }
                }
                display.show(event);
                Ok(())
            },
        );
        drop(screen);
        let restored = field.leave();
        let elapsed_ns =
            used_ns.saturating_add(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
        conclude(&end, elapsed_ns, &dir, &mut journal, &outputs)?;
        restored?;
        leave(end, &dir)
    }
}

/// A file of the mounted file system as a device.
fn open_file(path: &Path, capacity_bytes: u64) -> std::result::Result<WorkFile, WorkError> {
    let failed = |source: std::io::Error| {
        WorkError::io("opening a file", path.display().to_string(), source)
    };
    if !path.exists() {
        std::fs::File::create_new(path).map_err(failed)?;
    }
    // the directory is private, and nobody else can put another file there
    let path = std::fs::canonicalize(path).map_err(failed)?;
    let identity = FileIdentity::of(&std::fs::symlink_metadata(&path).map_err(failed)?);
    let expect = ExpectedFile::File { capacity_bytes, identity };
    let options = OpenOptions {
        path: path.clone(),
        writable: true,
        expect,
        settings: blockio::OpenSettings::default(),
    };
    let device = RealDevice::open(&options)
        .map_err(|error| failed(std::io::Error::other(error.to_string())))?;
    Ok(Box::new(device))
}

/// Planned cell of a combination, for the screen.
fn planned(combination: &Combination) -> PlannedCell {
    PlannedCell {
        id: combination.id(),
        test: combination.words(),
        params: Params::default(),
        max_ns: 0,
        max_written_bytes: 0,
    }
}

/// Shows the progress of the matrix on the screen.
struct EventDisplay<'a> {
    screen: &'a Screen,
    at: usize,
    of: usize,
    left_ns: Option<u64>,
    cell: PlannedCell,
    since: Instant,
    /// Bytes written so far, counted by the kernel.
    written: &'a dyn Fn() -> u64,
}

impl EventDisplay<'_> {
    fn show(&mut self, event: &MatrixEvent<'_>) {
        match event {
            MatrixEvent::Begun { combination, repeat, done, of, left_ns } => {
                (self.at, self.of, self.left_ns, self.since) =
                    (*done, (*of).max(1), *left_ns, Instant::now());
                self.screen.expect(self.of);
                self.cell = planned(combination);
                self.cell.test += &format!(", repeat {repeat}");
                self.screen.show(&suite::RunEvent::CellStarted {
                    index: self.at,
                    cell: &self.cell,
                    allotted_ns: 0,
                });
            }
            MatrixEvent::Progress(progress) => {
                self.screen.show(&suite::RunEvent::Progress(suite::CellProgress {
                    index: self.at,
                    phase: progress.what,
                    share: progress.share,
                    ops: 0,
                    bytes: 0,
                    elapsed_ns: u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX),
                    iops: progress.rate_iops,
                    bps: 0.0,
                    written_bytes: (self.written)(),
                    remaining_ns: self.left_ns.unwrap_or(0),
                }))
            }
            MatrixEvent::Finished(cells) => self.finished(&cells[0]),
            MatrixEvent::Note(text) => {
                self.screen.show(&suite::RunEvent::Flagged(&Flag::Note { text: text.clone() }))
            }
        }
    }

    fn finished(&self, cell: &Cell) {
        if messages::are_json() {
            return self.screen.show(&suite::RunEvent::CellFinished { index: self.at, cell });
        }
        let figure = match (cell.stop, cell.work_result()) {
            (Stop::Error, _) => {
                format!("failed: {}", cell.reason.as_deref().unwrap_or("without a reason"))
            }
            (_, Some((_, true))) => words::figure(cell),
            (_, Some((seconds, false))) => Nanos((seconds * 1e9) as u64).to_string(),
            (_, None) => "nothing measured".to_owned(),
        };
        let left =
            self.left_ns.map(|ns| format!("  (about {} left)", Nanos(ns))).unwrap_or_default();
        self.screen.print(&format!(
            "  {}/{} {}: {figure}{left}",
            self.at + 1,
            self.of,
            self.cell.test
        ));
    }
}

/// Ends the session: writes how it ended, completes the record and delivers it.
fn conclude(
    end: &End,
    elapsed_ns: u64,
    dir: &RunDir,
    journal: &mut Journal,
    outputs: &MatrixOutputs,
) -> Result<()> {
    let ended = match end {
        End::Complete | End::TimeIsUp => Ended::Complete,
        End::Interrupted => Ended::Interrupted,
        End::Failed(_) => Ended::Error,
    };
    if *end == End::TimeIsUp {
        let text = "the time was up before the best two of every work were told apart".to_owned();
        journal.append(&Flag::Note { text }.into()).or_internal()?;
    }
    let finished = Some(program::clock::now());
    let ending = Ending { ended, finished, elapsed_ns, ..Ending::default() };
    let record = run_end::finish(dir, journal, ending, Continuation::Resume, |record| {
        record.findings = findings::conclude(record);
    })?;
    outputs.deliver(&record, dir)
}

fn leave(end: End, dir: &RunDir) -> Result {
    match end {
        End::Complete | End::TimeIsUp => Ok(Exit::Done),
        End::Interrupted => {
            program::say!(
                "flashmark: interrupted; everything is unmounted and restored; go on with: flashmark resume {}",
                dir.name()
            );
            Ok(Exit::Interrupted)
        }
        End::Failed(MediumFailure {
            reason,
            error: Some(IoErrorKind::Medium | IoErrorKind::ReadOnly),
        }) => {
            program::say!(
                "flashmark: {reason}; what was measured before is kept in {}. The medium fails. {COPY_FIRST}.",
                dir.name()
            );
            Ok(Exit::Io)
        }
        End::Failed(MediumFailure { reason, .. }) => {
            program::say!(
                "flashmark: {reason}; what was measured before is kept, go on with: flashmark resume {}",
                dir.name()
            );
            Ok(Exit::Io)
        }
    }
}
