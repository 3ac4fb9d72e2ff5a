//! A matrix as the body of a session: tries the combinations that are left, and keeps every result.

use std::time::Instant;

use device::{Extents, IoError, IoErrorKind};
use record::units::Nanos;
use record::{Cell, Combination, Ended, Flag, Params, PlannedCell, Record, Stop};
use store::{Journal, JournalEntry};
use suite::{Plan, RunEnd};
use workloads::matrix::{End, MatrixEvent, MatrixLimits, MatrixTrial};

use super::area::MatrixArea;
use super::outputs::MatrixFiles;
use super::request::MatrixRequest;
use program::exit::{OrExit, Result};
use program::messages;
use session::outputs::ResultFile;
use session::progress_display::Screen;
use session::session::{Body, Workplace};
use session::target::Target;
use session::words;

/// The combinations of a request, on a device.
pub struct MatrixBody {
    /// The device.
    pub area: MatrixArea,
    /// Request of the user, as the journal has it.
    pub request: MatrixRequest,
    /// Places of copies of its files.
    pub files: MatrixFiles,
}

impl Body for MatrixBody {
    fn writes(&self, _: &Plan, _: bool) -> Option<(Extents, u64)> {
        None
    }

    fn announcement(&self, _: &Target, _: &Plan, _: u64) -> String {
        let combinations = self.request.combinations.len();
        format!("{combinations} combinations, each at least {} times", self.request.limits.0)
    }

    fn work(&mut self, at: Workplace<'_>) -> Result<RunEnd> {
        let Workplace { journal, screen, done, used_ns, stop, .. } = at;
        let works = self.request.works()?;
        let combinations = &self.request.combinations;
        let (least_repeats, most_repeats) = self.request.limits;
        let began = Instant::now();
        let trial = MatrixTrial {
            combinations,
            works: &works,
            clock: &blockio::now_ns,
            seed: self.request.run.seed,
            limits: MatrixLimits {
                least_repeats,
                most_repeats,
                time_limit_ns: self.request.run.time_limit_ns,
            },
            done: &done,
            used_ns,
            stop,
        };
        let (written, marks) = (self.area.count_written(), self.area.marks());
        let mut display = EventDisplay {
            written: &written,
            screen,
            at: 0,
            of: 1,
            left_ns: None,
            cell: planned(&combinations[0]),
            since: Instant::now(),
        };
        let backend = &mut self.area.backend;
        let end = workloads::matrix::run(&trial, backend, &mut |event| {
            // On disk first: what the screen has shown is never lost.
            if let MatrixEvent::Finished(cells) = event {
                keep(journal, cells, &marks).map_err(|error| error.to_string())?;
            }
            display.show(event);
            Ok(())
        });
        if end == End::TimeIsUp {
            let text = "the time was up before the best two of every work were told apart";
            journal.append(&Flag::Note { text: text.to_owned() }.into()).or_internal()?;
        }
        let took_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Ok(run_end(end, used_ns.saturating_add(took_ns)))
    }

    fn leave(&mut self) -> Result<()> {
        self.area.leave()
    }

    fn files(&self, record: &Record) -> Result<Vec<ResultFile>> {
        self.files.of(record)
    }

    fn way_on(&self, run: &str) -> String {
        format!("everything is unmounted and restored; go on with: flashmark resume {run}")
    }
}

/// Keeps the cells of a try, and what is read on the medium after it.
fn keep(
    journal: &mut Journal,
    cells: &[Cell],
    marks: &dyn Fn() -> Result<Vec<record::FingerprintMark>>,
) -> std::result::Result<(), anyhow::Error> {
    for cell in cells {
        journal.append_cell(cell)?;
    }
    // Of a medium that cannot be read now the next try tells.
    match marks() {
        Ok(marks) if !marks.is_empty() => Ok(journal.append(&JournalEntry::Marked(marks))?),
        _ => Ok(()),
    }
}

fn run_end(end: End, elapsed_ns: u64) -> RunEnd {
    let (ended, error) = match end {
        End::Complete | End::TimeIsUp => (Ended::Complete, None),
        End::Interrupted => (Ended::Interrupted, None),
        End::Failed(failure) => {
            let kind = failure.error.unwrap_or(IoErrorKind::Other);
            (Ended::Error, Some(IoError::general(kind, failure.reason)))
        }
    };
    RunEnd { ended, error, elapsed_ns, ..RunEnd::default() }
}

/// Planned cell of a combination, for the screen: "record-ops on ext4 (fitted to the AU, noatime),
/// bfq".
fn planned(combination: &Combination) -> PlannedCell {
    let Combination { filesystem, align, mount_options, scheduler, work } = combination;
    let align = if *align { "fitted to the AU, " } else { "" };
    PlannedCell {
        id: combination.id(),
        test: format!("{work} on {filesystem} ({align}{mount_options}), {scheduler}"),
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
                if self.of > 1 && *of > self.of {
                    self.screen.print("  Tries are added until the ranking is certain:");
                }
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
                    elapsed_ns: u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX),
                    iops: progress.rate_iops,
                    written_bytes: (self.written)(),
                    remaining_ns: self.left_ns.unwrap_or(0),
                    ..suite::CellProgress::default()
                }))
            }
            MatrixEvent::Finished(cells) => self.finished(&cells[0]),
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
