//! What the person in front of it sees while a run goes on: a progress bar with its ETA on a terminal, plain lines
//! elsewhere; never silent for more than 2 s.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::units::{Bytes, BytesPerSecond, Iops, Nanos};
use record::{Cell, Flag, PlannedCell, Stop};
use suite::{CellProgress, RunEvent};

use crate::words;

/// Time between two updates of the screen.
const TICK: Duration = Duration::from_millis(200);
/// A plain line at least this often.
const PLAIN: Duration = Duration::from_millis(1900);
/// A call longer than this is announced while it lasts.
const LONG_CALL_NS: u64 = 5_000_000_000;

/// The screen. Dropping it wipes the bar.
pub struct Screen {
    state: Arc<Mutex<State>>,
    bar: Option<ProgressBar>,
    plain: bool,
    ticker: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    line: String,
    share: f64,
    over: bool,
    last_plain: Option<Instant>,
    cells: usize,
    index: usize,
    cell: String,
}

/// Tells how long the I/O under way has lasted, in nanoseconds; 0 when there is none.
pub type IoWait = Box<dyn Fn() -> u64 + Send>;

impl Screen {
    /// Opens the screen for a run of `cells` cells. `waiting` is asked about calls that do not
    /// return.
    pub fn open(cells: usize, quiet: bool, waiting: IoWait) -> Screen {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && terminal).then(|| {
            let bar =
                ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(10));
            let style =
                ProgressStyle::with_template("{bar:20.cyan/dim} {msg}").expect("a fixed template");
            bar.set_style(style.progress_chars("━━╌"));
            bar
        });
        let state = Arc::new(Mutex::new(State { cells, ..State::default() }));
        let plain = !quiet && !terminal;
        let ticker = (!quiet).then(|| {
            let (state, bar) = (Arc::clone(&state), bar.clone());
            std::thread::spawn(move || tick(&state, bar.as_ref(), plain, &waiting))
        });
        Screen { state, bar, plain, ticker }
    }

    /// Shows an event: as a line where something ended, else in the bar.
    pub fn show(&self, event: &RunEvent<'_>) {
        match event {
            RunEvent::CellStarted { index, cell, .. } => {
                let mut state = lock(&self.state);
                state.index = *index;
                state.cell = words::cell(&cell.test, &cell.params);
                state.line = format!("{}/{} {}", index + 1, state.cells, state.cell);
                state.share = 0.0;
            }
            RunEvent::Progress(progress) => self.progress(progress),
            RunEvent::CellFinished { cell, .. } => self.print(&finished(cell)),
            RunEvent::Skipped(skip) => {
                self.print(&format!("  {:<34} left out: {}", skip.test, skip.reason))
            }
            RunEvent::Flagged(flag) => self.print(&format!("  note: {flag}")),
            RunEvent::CellRevised { .. } | RunEvent::Owing(_) | RunEvent::Marked(_) => {}
        }
    }

    /// Prints a line above the bar.
    pub fn print(&self, line: &str) {
        // names of media and paths, and what other programs complained of, stand in what is printed
        let line = &words::visible(line);
        match &self.bar {
            Some(bar) => bar.println(line),
            None if self.plain => {
                crate::say!("{line}");
                lock(&self.state).last_plain = Some(Instant::now());
            }
            None => {}
        }
    }

    fn progress(&self, progress: &CellProgress<'_>) {
        let mut state = lock(&self.state);
        let done = (state.index as f64 + progress.share) / state.cells.max(1) as f64;
        state.share = done;
        state.line = format!(
            "{}/{} {} {}: {}, {}; {} written, about {} left",
            progress.index + 1,
            state.cells,
            state.cell,
            progress.phase,
            rate(progress),
            Nanos(progress.elapsed_ns),
            Bytes(progress.written_bytes),
            Nanos(progress.remaining_ns),
        );
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        lock(&self.state).over = true;
        if let Some(ticker) = self.ticker.take() {
            ticker.thread().unpark();
            let _ = ticker.join();
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // A panic elsewhere must not silence the screen: the state is plain text and always whole.
    state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn tick(state: &Mutex<State>, bar: Option<&ProgressBar>, plain: bool, waiting: &IoWait) {
    loop {
        let (line, share, over, due) = {
            let mut state = lock(state);
            let due = plain && state.last_plain.is_none_or(|last| last.elapsed() >= PLAIN);
            if due {
                state.last_plain = Some(Instant::now());
            }
            (state.line.clone(), state.share, state.over, due)
        };
        if over {
            return;
        }
        let waited_ns = waiting();
        let line = if waited_ns >= LONG_CALL_NS {
            format!(
                "{line}\n  the medium has not answered for {}; still waiting (Ctrl-C ends the run and keeps the record)",
                Nanos(waited_ns)
            )
        } else {
            line
        };
        match bar {
            Some(bar) => {
                bar.set_position((share * 1000.0) as u64);
                bar.set_message(line);
            }
            None if due && !line.is_empty() => crate::say!("{line}"),
            None => {}
        }
        std::thread::park_timeout(TICK);
    }
}

fn rate(progress: &CellProgress<'_>) -> String {
    let per_io = progress.bytes / progress.ops.max(1);
    if per_io >= 128 << 10 {
        BytesPerSecond(progress.bps).to_string()
    } else {
        Iops(progress.iops).to_string()
    }
}

/// One line about a finished cell.
fn finished(cell: &Cell) -> String {
    let name = words::cell(&cell.test, &cell.params);
    let figure = match cell.stop {
        Stop::Error => {
            format!("failed: {}", cell.reason.as_deref().unwrap_or("the medium reports an error"))
        }
        _ => words::figure(cell),
    };
    let doubt =
        if cell.flags.iter().any(Flag::is_impossible) { "  IMPOSSIBLE, see below" } else { "" };
    format!("  {name:<34} {figure}{doubt}")
}

/// One line about what will be measured, for `--plan`.
pub fn planned(cell: &PlannedCell) -> String {
    let written = if cell.max_written_bytes == 0 {
        "reads only".to_owned()
    } else {
        format!("writes at most {}", Bytes(cell.max_written_bytes))
    };
    format!(
        "  {:<34} at most {:<12} {written}",
        words::cell(&cell.test, &cell.params),
        Nanos(cell.max_ns).to_string()
    )
}
