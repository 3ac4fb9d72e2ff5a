//! `flashmark watch`: what devices do from moment to moment, as `iostat -x` shows it.

mod live;

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use host::Roots;
use record::Activity;
use record::units::Nanos;
use workloads::watch::{self, CounterSnapshot, WatchError, Watched};

use crate::cli::WatchFlags;
use program::exit::{Exit, Failure, OrExit, Result, usage};
use program::signals;
use program::terminal::OutputStream;

/// Shortest interval: with a shorter one the kernel's resolution of a millisecond would show.
const LEAST: Duration = Duration::from_millis(10);
/// Longest time before Ctrl-C is noticed.
const GLANCE: Duration = Duration::from_millis(50);

/// Shows the I/O of devices, interval by interval; exit code 4 where one vanishes.
pub fn run(flags: &WatchFlags) -> Result {
    let interval = interval(&flags.interval)?;
    if flags.count == Some(0) {
        return usage("--count 0: nothing would be shown; leave it out to watch until Ctrl-C");
    }
    let roots = Roots::default();
    let asked = flags.devices.iter().map(|asked| watch::find(&roots, asked).or_usage());
    let asked: Vec<Watched> = asked.collect::<Result<_>>()?;
    let boot = asked.is_empty().then(|| watch::since_boot(&roots));
    let (watched, boot) = boot.map_or((asked, None), |(all, boot)| (all, Some(boot)));
    let stop = signals::listen()?;
    let form = match flags.json {
        true => Form::Json,
        false if std::io::stdout().is_terminal() => Form::Live(live::Frame::default()),
        false => Form::Lines,
    };
    let mut watch = Watch { roots, watched, interval, form };
    if let Form::Lines = watch.form {
        show(&format!("{}\n", watch::header()))?;
    }
    if let Some(boot) = boot {
        let now = watch::look(&watch.roots);
        // One that has gone meanwhile was not asked for.
        let here =
            |of: &Watched| Some((of.name.clone(), of.activity(&watch.roots, &boot, &now).ok()?));
        let rows: Vec<_> = watch.watched.iter().filter_map(here).collect();
        if !watch.show_rows(&rows)? || flags.count.is_none() {
            return Ok(Exit::Done);
        }
    }
    watch.go(flags.count, &stop)
}

fn interval(text: &str) -> Result<Duration> {
    let interval = Duration::from_nanos(session::request::read_duration("--interval", text)?);
    if interval < LEAST {
        return usage(format_args!("--interval {text}: the shortest is 10ms"));
    }
    Ok(interval)
}

/// Form of the output.
enum Form {
    /// A table that is drawn again at each interval.
    Live(live::Frame),
    /// A line for each device and interval, under the headings of iostat.
    Lines,
    /// The same as JSON objects.
    Json,
}

struct Watch {
    roots: Roots,
    watched: Vec<Watched>,
    interval: Duration,
    form: Form,
}

impl Watch {
    /// Watches until enough was seen, a signal comes, or a device vanishes; prints totals at the
    /// end.
    fn go(&mut self, count: Option<u64>, stop: &AtomicBool) -> Result {
        let first = watch::look(&self.roots);
        let begun = Instant::now();
        let mut before = first.clone();
        let mut seen = 0;
        let mut failed = None;
        while count.is_none_or(|count| seen < count) && failed.is_none() {
            // From the beginning on and not from the last look, so that lateness does not add up;
            // what was slept through is left out.
            let due = self.interval
                * (u32::try_from(begun.elapsed().as_nanos() / self.interval.as_nanos())
                    .unwrap_or(u32::MAX)
                    .saturating_add(1));
            if !wait(begun + due, stop) {
                break;
            }
            let now = watch::look(&self.roots);
            match self.rows(&before, &now) {
                Ok(rows) if !self.show_rows(&rows)? => return Ok(Exit::Done),
                Ok(_) => (before, seen) = (now, seen + 1),
                Err(gone) => failed = Some(gone),
            }
        }
        // Up to the last look at which everything was there.
        let last = if failed.is_none() { watch::look(&self.roots) } else { before };
        self.sum_up(&first, &last, seen);
        match failed {
            Some(gone) => Err(Failure { exit: Exit::Io, error: gone.into() }),
            None => Ok(Exit::Done),
        }
    }

    fn rows(
        &self,
        before: &CounterSnapshot,
        after: &CounterSnapshot,
    ) -> std::result::Result<Vec<(String, Activity)>, WatchError> {
        let row = |watched: &Watched| {
            Ok((watched.name.clone(), watched.activity(&self.roots, before, after)?))
        };
        self.watched.iter().map(row).collect()
    }

    /// Shows the rows; false if the reader has gone away.
    fn show_rows(&mut self, rows: &[(String, Activity)]) -> Result<bool> {
        let text = match &mut self.form {
            Form::Live(frame) => {
                let size = [live::height(), OutputStream::Output.own_width()];
                frame.draw(rows, size, &time_of_day())
            }
            Form::Lines => {
                rows.iter().map(|(name, activity)| watch::line(name, activity) + "\n").collect()
            }
            Form::Json => rows.iter().map(|(name, activity)| object(name, activity)).collect(),
        };
        show(&text)
    }

    /// Prints the totals in one table on standard error: a program that reads standard output
    /// counts its lines.
    fn sum_up(&self, first: &CounterSnapshot, last: &CounterSnapshot, seen: u64) {
        let Ok(rows) = self.rows(first, last) else { return };
        let Some((_, whole)) = rows.first().filter(|_| seen > 0) else { return };
        let width = OutputStream::Error.width();
        let lines: String =
            rows.iter().map(|(name, activity)| live::block(name, activity, width)).collect();
        program::say_text!("\nAll together, {}:\n{lines}", Nanos((whole.interval_s * 1e9) as u64));
    }
}

/// Sleeps until then; false if `stop` was set.
fn wait(due: Instant, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::SeqCst) {
            return false;
        }
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(GLANCE));
    }
}

/// Prints at once; false if the reader has gone away.
fn show(text: &str) -> Result<bool> {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        written => written.or_internal().map(|()| true),
    }
}

fn object(name: &str, activity: &Activity) -> String {
    let mut object = watch::object(name, activity);
    object.insert(
        "at".into(),
        jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string().into(),
    );
    format!("{}\n", serde_json::Value::Object(object))
}

fn time_of_day() -> String {
    jiff::ZonedDateTime::now().strftime("%H:%M:%S").to_string()
}
