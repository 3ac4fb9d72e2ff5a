//! `flashmark capture`: records the block I/O of the user's own work, or its operations on files.

mod files;

use std::fs::File;
use std::io::{BufWriter, IsTerminal};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::{Duration, Instant};

use host::Roots;
use record::units::{Bytes, Nanos, significant};
use workloads::capture::{CaptureError, CaptureLimits, CaptureSource, Captured, capture, prepare};
use workloads::trace::siblings;

use crate::cli::CaptureFlags;
use crate::exit::{Exit, Failure, OrExit, Result, refuse, usage};
use crate::outputs::print;
use crate::signals;

/// Time between two lines of progress, on a terminal and elsewhere.
const TICK: (Duration, Duration) = (Duration::from_millis(500), Duration::from_millis(1900));

/// Records the block I/O of a device in a file, until a limit is reached or Ctrl-C; exit code 0 for
/// both.
pub fn run(flags: &CaptureFlags) -> Result {
    let limits = limits(flags)?;
    if let Some(directory) = &flags.files {
        return files::run(directory, flags, limits);
    }
    let roots = Roots::default();
    let source =
        CaptureSource::find(&roots, flags.device.as_deref().unwrap_or_default()).or_usage()?;
    refuse_unless_file(&flags.output)?;
    prepare().map_err(failure)?;
    let stop = signals::listen()?;
    let out = create(&flags.output)?;
    let mut screen = Screen::new(flags.quiet);
    screen.print_line(&format!(
        "recording {} ({}) until {}",
        source.name,
        Bytes(source.size_bytes),
        until(&limits)
    ));
    if is_on(&roots, &flags.output, &source) {
        screen.print_line(&format!("note: the trace is written to {} itself, so its own writes are in it; another medium is better", source.name));
    }
    let started = crate::clock::now();
    let captured =
        capture(&source, &source.header(Some(started)), out, limits, &stop, &mut |captured| {
            screen.tick(|| so_far(captured))
        });
    screen.clear();
    let captured = captured.map_err(failure)?;
    print(&summary(&captured, flags))?;
    Ok(Exit::Done)
}

/// Creates the file of a capture. Beside parts of another recording of the same name it would be
/// read together with them, so it is refused there.
fn create(path: &Path) -> Result<BufWriter<File>> {
    if let Some(other) = siblings(path).iter().find(|part| *part != path) {
        return usage(format_args!(
            "{}: {} is a part of another recording, which would be read together with this one; choose another name",
            path.display(),
            other.display()
        ));
    }
    let cannot = |error: std::io::Error| {
        anyhow::anyhow!("{}: this cannot be written: {error}", path.display())
    };
    let file = File::create(path).map_err(cannot).or_usage()?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

fn so_far(captured: &Captured) -> String {
    format!(
        "{}: {} requests, {} lost; trace {}, {} % of a processor",
        Nanos(captured.elapsed_ns),
        captured.requests(),
        captured.lost,
        Bytes(captured.trace_bytes),
        significant(captured.cpu_percent())
    )
}

fn limits(flags: &CaptureFlags) -> Result<CaptureLimits> {
    let time = flags.time.as_deref().map(|text| text.parse::<Nanos>()).transpose();
    let time = time.map_err(|error| anyhow::anyhow!("--time: {error}")).or_usage()?;
    let size = flags.size_limit.as_deref().map(|text| text.parse::<Bytes>()).transpose();
    let size = size.map_err(|error| anyhow::anyhow!("--size-limit: {error}")).or_usage()?;
    if time == Some(Nanos(0)) || size == Some(Bytes(0)) {
        return usage(
            "--time and --size-limit: nothing would be recorded in none of it; leave it out to record until Ctrl-C",
        );
    }
    Ok(CaptureLimits {
        time: time.map(|time| Duration::from_nanos(time.0)),
        size_bytes: size.map(|size| size.0),
    })
}

fn until(limits: &CaptureLimits) -> String {
    let time = limits
        .time
        .map(|time| format!("{} are over, or ", Nanos(time.as_nanos() as u64)))
        .unwrap_or_default();
    let size = limits
        .size_bytes
        .map(|bytes| format!("the trace has {}, or ", Bytes(bytes)))
        .unwrap_or_default();
    format!("{time}{size}Ctrl-C")
}

/// Refuses an output that is no regular file: a typing error must not write a trace over a medium.
fn refuse_unless_file(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            usage(format_args!("{}: this is a directory; name a file in it", path.display()))
        }
        Ok(found) if found.file_type().is_block_device() => refuse(format_args!(
            "{}: this is a block device; name a file for the trace",
            path.display()
        )),
        Ok(found) if !found.is_file() => usage(format_args!(
            "{}: this is no regular file; name one for the trace",
            path.display()
        )),
        _ => Ok(()),
    }
}

/// True if a file is on the device that is recorded.
fn is_on(roots: &Roots, path: &Path, source: &CaptureSource) -> bool {
    let place = host::device_of_directory(roots, path).ok();
    let names = place
        .map(|place| [place.partition.map(|part| part.name), place.disk.map(|disk| disk.name)]);
    names.into_iter().flatten().flatten().any(|name| name == source.name)
}

fn failure(error: CaptureError) -> Failure {
    let exit = match &error {
        CaptureError::NoRights => Exit::Refused,
        CaptureError::Device(_) | CaptureError::Directory { .. } => Exit::Usage,
        _ => Exit::Internal,
    };
    Failure { exit, error: error.into() }
}

/// Summary of what was recorded, and of what recording cost.
fn summary(captured: &Captured, flags: &CaptureFlags) -> String {
    let kinds = [
        (captured.reads, "reads"),
        (captured.writes, "writes"),
        (captured.discards, "discards"),
        (captured.flushes, "flushes"),
    ];
    let kinds = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect::<Vec<_>>()
        .join(", ");
    let mut text = format!("{} requests in {}", captured.requests(), Nanos(captured.elapsed_ns));
    if captured.requests() > 0 {
        text += &format!(
            ": {kinds}; {} read, {} written",
            Bytes(captured.read_bytes),
            Bytes(captured.written_bytes)
        );
    }
    text += &format!("\n{} of them seen done; ", captured.completed);
    text += &match captured.lost {
        0 => "no event lost".to_owned(),
        lost => format!(
            "{lost} EVENTS LOST: they came faster than they could be kept, so this is not all that was done"
        ),
    };
    if captured.full {
        text += "; ended because the trace has the size allowed";
    }
    let percent = significant(captured.cpu_percent());
    text += &format!(
        "\nrecording took {percent} % of one processor\nTrace  {}  {}\n",
        flags.output.display(),
        Bytes(captured.trace_bytes)
    );
    text
}

/// Progress on the screen while the capture runs.
struct Screen {
    quiet: bool,
    terminal: bool,
    last: Instant,
}

impl Screen {
    fn new(quiet: bool) -> Screen {
        Screen { quiet, terminal: std::io::stderr().is_terminal(), last: Instant::now() }
    }

    fn print_line(&self, line: &str) {
        if !self.quiet {
            crate::say!("{line}");
        }
    }

    fn tick(&mut self, line: impl FnOnce() -> String) {
        let due = if self.terminal { TICK.0 } else { TICK.1 };
        if self.quiet || self.last.elapsed() < due {
            return;
        }
        self.last = Instant::now();
        let line = line();
        if self.terminal { crate::say_text!("\r\x1b[K{line}") } else { crate::say!("{line}") }
    }

    fn clear(&self) {
        if self.terminal && !self.quiet {
            crate::say_text!("\r\x1b[K");
        }
    }
}
