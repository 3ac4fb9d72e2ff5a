//! Progress of a run for people: a progress bar with its ETA on a terminal, plain lines elsewhere;
//! a line each 10 s.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use record::text;
use record::units::{Bytes, BytesPerSecond, Iops, Nanos};
use record::{Cell, Flag, Params, PlannedCell, SLOW_NS, Stop};
use serde_json::json;
use suite::{CellProgress, RunEvent};

use crate::progress_events;
use crate::words;
use program::messages;
use program::terminal::{self, OutputStream};
use report::{CellNames, display};

/// Time between two updates of the screen.
const TICK: Duration = Duration::from_millis(200);
/// Longest time between two plain lines.
const PLAIN: Duration = Duration::from_secs(10);
/// Duration above which a call is announced while it lasts.
const LONG_CALL_NS: u64 = SLOW_NS;
/// Fewest columns for a bar; on a narrower terminal a cell and its figure take a line each.
const WIDE: usize = 64;

/// The screen. Dropping it wipes the bar.
pub struct Screen {
    state: Arc<Mutex<State>>,
    bar: Option<ProgressBar>,
    plain: bool,
    ticker: Option<JoinHandle<()>>,
    names: CellNames,
}

#[derive(Default)]
struct State {
    progress: Line,
    share: f64,
    over: bool,
    last_plain: Option<Instant>,
    /// Time of the latest event of progress about the present cell.
    last_event: Option<Instant>,
}

/// Parts of the line of progress.
#[derive(Clone, Debug, Default)]
struct Line {
    cells: usize,
    done: usize,
    cell: String,
    /// Estimated time left for the run, in nanoseconds; 0 if unknown.
    left_ns: u64,
    /// Rate, phase, time and bytes, the most important first.
    more: Vec<String>,
}

impl Line {
    fn left(&self) -> String {
        match self.left_ns {
            0 => "time left unknown".to_owned(),
            left_ns => format!("about {} left", roughly(left_ns)),
        }
    }

    /// The line in at most so many columns; parts that do not fit are left out, the least important
    /// first.
    fn text(&self, width: usize) -> String {
        if self.cell.is_empty() {
            return String::new();
        }
        let head = format!("{}/{} done", self.done.min(self.cells), self.cells);
        let (cell, left) = (self.cell.clone(), self.left());
        let mut parts: Vec<String> =
            [head, cell, left].into_iter().chain(self.more.clone()).collect();
        if width < WIDE {
            let left = match self.left_ns {
                0 => "time unknown".to_owned(),
                left_ns => format!("~{}", roughly(left_ns)),
            };
            parts = vec![format!("{}/{} {}", self.done, self.cells, self.cell), left];
        }
        while parts.len() > 1 && joined_width(&parts) > width {
            parts.pop();
        }
        report::words::clipped(&parts.join(", "), width)
    }
}

fn joined_width(parts: &[String]) -> usize {
    parts.iter().map(|part| display::width(part)).sum::<usize>() + 2 * (parts.len() - 1)
}

/// A length of time in one number, rounded up.
fn roughly(ns: u64) -> String {
    let seconds = ns.div_ceil(1_000_000_000);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

/// Returns how long the oldest I/O in flight has lasted, in nanoseconds; 0 if there is none.
pub type IoWait = Box<dyn Fn() -> u64 + Send>;

impl Screen {
    /// Opens the screen for a run of `cells` cells. `waiting` is polled for I/Os that do not
    /// return.
    pub fn open(cells: usize, quiet: bool, waiting: IoWait) -> Screen {
        let terminal = OutputStream::Error.is_terminal();
        let bar = (!quiet && terminal && !messages::are_json()).then(|| {
            let bar =
                ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(10));
            bar.set_style(style(OutputStream::Error.own_width()));
            bar
        });
        let progress = Line { cells, ..Line::default() };
        let state = Arc::new(Mutex::new(State { progress, ..State::default() }));
        let plain = !quiet && bar.is_none();
        let ticker = (!quiet).then(|| {
            let (state, bar) = (Arc::clone(&state), bar.clone());
            std::thread::spawn(move || tick(&state, bar.as_ref(), plain, &waiting))
        });
        Screen { state, bar, plain, ticker, names: CellNames::default() }
    }

    /// The same screen with the names of these cells.
    pub fn naming(mut self, plan: &[PlannedCell]) -> Screen {
        self.names = words::names(plan);
        self
    }

    /// Name of a cell on the screen; a cell that was not planned from the start is named without
    /// regard to others.
    fn name(&self, id: &str, test: &str, params: &Params) -> String {
        self.names.get(id).map_or_else(|| words::cell(test, params), str::to_owned)
    }

    /// Sets the number of planned cells.
    pub fn expect(&self, cells: usize) {
        lock(&self.state).progress.cells = cells;
    }

    /// Shows an event: as a line if something ended, else in the bar.
    pub fn show(&self, event: &RunEvent<'_>) {
        if messages::are_json() {
            let cells = lock(&self.state).take_event(event);
            cells.into_iter().for_each(|cells| progress_events::write(event, cells));
            return;
        }
        match event {
            RunEvent::CellStarted { index, cell, .. } => {
                let mut state = lock(&self.state);
                state.begin(*index);
                state.progress.cell = self.name(&cell.id, &cell.test, &cell.params);
            }
            RunEvent::Progress(progress) => self.progress(progress),
            RunEvent::CellFinished { index, cell } => {
                lock(&self.state).begin(index + 1);
                let name = self.name(&cell.id, &cell.test, &cell.params);
                self.print(&finished(&name, cell));
            }
            RunEvent::Skipped(skip) => {
                self.print(&name_and_text(&skip.test, &format!("left out: {}", skip.reason)))
            }
            RunEvent::Flagged(flag) => self.print(&format!("  note: {flag}")),
            RunEvent::RoundStarted { cell, number } => {
                let name = self.name(&cell.id, &cell.test, &cell.params);
                let mut state = lock(&self.state);
                state.progress.more.clear();
                state.progress.cell = format!("{name}, round {number}");
            }
            RunEvent::RoundsDone { cells } => {
                self.print("  measured again, in rounds:");
                for cell in cells.iter().filter(|cell| !cell.rounds.is_empty()) {
                    let name = self.name(&cell.id, &cell.test, &cell.params);
                    self.print(&finished(&name, cell));
                }
            }
            RunEvent::CellRevised { .. }
            | RunEvent::RoundFinished { .. }
            | RunEvent::RestorePending(_)
            | RunEvent::Marked(_) => {}
        }
    }

    /// Prints a line above the bar.
    pub fn print(&self, line: &str) {
        // names of media and paths, and what other programs complained of, stand in what is printed
        let line = &text::escaped(line);
        match &self.bar {
            Some(bar) => bar.println(OutputStream::Error.fitted(line)),
            None if self.plain => {
                program::say!("{}", OutputStream::Error.fitted(line));
                lock(&self.state).last_plain = Some(Instant::now());
            }
            None => {}
        }
    }

    fn progress(&self, progress: &CellProgress<'_>) {
        let mut state = lock(&self.state);
        state.share = progress_events::run_share(progress, state.progress.cells);
        let line = &mut state.progress;
        line.left_ns = progress.remaining_ns;
        line.more = vec![
            rate(progress),
            progress.phase.to_owned(),
            Nanos(progress.elapsed_ns).to_string(),
            format!("{} written", Bytes(progress.written_bytes)),
        ];
    }
}

impl State {
    /// The number of cells if an event is due: of progress only the first of a cell, and then one
    /// each [`TICK`].
    fn take_event(&mut self, event: &RunEvent<'_>) -> Option<usize> {
        if let RunEvent::Progress(_) = event {
            let is_due = self.last_event.is_none_or(|last| last.elapsed() >= TICK);
            self.last_event = is_due.then(Instant::now).or(self.last_event);
            return is_due.then_some(self.progress.cells);
        }
        self.last_event = None;
        Some(self.progress.cells)
    }

    /// Begins the screen with so many cells done.
    fn begin(&mut self, done: usize) {
        self.progress.done = done;
        self.progress.more.clear();
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

/// Columns of the bar and the blank after it.
const BAR: usize = 16;

fn style(width: usize) -> ProgressStyle {
    let template = match (width < WIDE, OutputStream::Error.has_colour()) {
        (true, _) => "{wide_msg}",
        (false, true) => "{bar:15.cyan/dim} {wide_msg}",
        (false, false) => "{bar:15} {wide_msg}",
    };
    let chars = if terminal::has_utf8() { "━━╌" } else { "##-" };
    ProgressStyle::with_template(template).expect("a fixed template").progress_chars(chars)
}

fn tick(state: &Mutex<State>, bar: Option<&ProgressBar>, plain: bool, waiting: &IoWait) {
    let mut width = OutputStream::Error.own_width();
    let (mut drawn, mut was_waiting) = (0, false);
    loop {
        let (progress, share, over, due) = {
            let mut state = lock(state);
            let due = plain && state.last_plain.is_none_or(|last| last.elapsed() >= PLAIN);
            if due {
                state.last_plain = Some(Instant::now());
            }
            (state.progress.clone(), state.share, state.over, due)
        };
        if over {
            return;
        }
        let now = OutputStream::Error.own_width();
        if let Some(bar) = bar.filter(|_| now != width) {
            resize(bar, drawn, now);
            width = now;
        }
        // A column stays free: a full line makes some terminals begin the next.
        let room = width.saturating_sub(if bar.is_some() && width >= WIDE { BAR + 1 } else { 1 });
        let waited_ns = waiting();
        let is_waiting = waited_ns >= LONG_CALL_NS;
        // A wait is told at once: it may be over before the next line is due.
        let due = due || plain && is_waiting && !was_waiting;
        was_waiting = is_waiting;
        let line = if is_waiting {
            unanswered(waited_ns, room)
        } else {
            terminal::letters(&progress.text(room))
        };
        match bar {
            Some(bar) => {
                drawn = display::width(&line) + if width >= WIDE { BAR } else { 0 };
                bar.set_position((share * 1000.0) as u64);
                bar.set_message(line);
            }
            None if due && messages::are_json() && is_waiting => {
                messages::event("waiting", json!({ "waited_ns": waited_ns }));
            }
            None if due && !line.is_empty() => program::say!("{line}"),
            None => {}
        }
        std::thread::park_timeout(TICK);
    }
}

/// Clears the bar before its width changes. A line drawn on a wider terminal takes several rows on
/// a narrower one; the bar would clear only the last.
fn resize(bar: &ProgressBar, drawn: usize, width: usize) {
    bar.suspend(|| {
        let above = drawn.div_ceil(width.max(1)).saturating_sub(1);
        if above > 0 {
            program::say_text!("\u{1b}[{above}A\r\u{1b}[J");
        }
    });
    bar.set_style(style(width));
}

fn unanswered(waited_ns: u64, room: usize) -> String {
    let what = format!("the medium has not answered for {}", Nanos(waited_ns));
    let way_out = "still waiting (Ctrl-C ends the run and keeps the record)";
    let whole = format!("{what}; {way_out}");
    if display::width(&whole) <= room { whole } else { report::words::clipped(&what, room) }
}

fn rate(progress: &CellProgress<'_>) -> String {
    let per_io = progress.bytes / progress.ops.max(1);
    if per_io >= 128 << 10 {
        BytesPerSecond(progress.bps).to_string()
    } else {
        Iops(progress.iops).to_string()
    }
}

/// A name and its text: side by side, or below each other if they do not fit.
fn name_and_text(name: &str, text: &str) -> String {
    if OutputStream::Error.width() < WIDE {
        format!("  {name}\n    {text}")
    } else {
        format!("  {}  {text}", display::padded(name, 34))
    }
}

/// One line about a finished cell.
fn finished(name: &str, cell: &Cell) -> String {
    let figure = match cell.stop {
        Stop::Error => {
            format!("failed: {}", cell.reason.as_deref().unwrap_or("the medium reports an error"))
        }
        _ => words::figure(cell),
    };
    let caveat =
        if cell.flags.iter().any(Flag::is_impossible) { "  IMPOSSIBLE, see below" } else { "" };
    name_and_text(name, &format!("{figure}{caveat}"))
}

/// One line about what will be measured, for `--plan`.
pub fn planned(name: &str, cell: &PlannedCell) -> String {
    let written = if cell.max_written_bytes == 0 {
        "reads only".to_owned()
    } else {
        format!("writes at most {}", Bytes(cell.max_written_bytes))
    };
    let time = if cell.has_time_limit() {
        format!("at most {}", Nanos(cell.max_ns))
    } else {
        "no time limit".to_owned()
    };
    format!("  {}  {time:<20} {written}", display::padded(name, 34))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        Line {
            cells: 77,
            done: 12,
            cell: "random-write 4 KiB".to_owned(),
            left_ns: 154_000_000_000,
            more: vec!["49.2 IOPS".to_owned(), "measuring".to_owned()],
        }
    }

    #[test]
    fn a_line_of_progress_has_room_on_every_terminal() {
        for width in 10..200 {
            assert!(display::width(&line().text(width)) <= width, "{width}");
        }
        insta::assert_snapshot!(line().text(100), @"12/77 done, random-write 4 KiB, about 3 min left, 49.2 IOPS, measuring");
        insta::assert_snapshot!(line().text(39), @"12/77 random-write 4 KiB, ~3 min");
    }
}
