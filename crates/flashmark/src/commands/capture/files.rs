//! `flashmark capture --files`: what programs do with the files below a directory.

use std::path::Path;

use record::units::{Bytes, Nanos, significant};
use workloads::capture::{CaptureLimits, CapturedFiles, capture_files, prepare_files};

use super::{Screen, create, failure, refuse_unless_file, until};
use crate::cli::CaptureFlags;
use crate::exit::{Exit, Result, usage};
use crate::outputs::print;
use crate::signals;

/// Records until a limit is reached or Ctrl-C; exit code 0 for both.
pub(super) fn run(directory: &Path, flags: &CaptureFlags, limits: CaptureLimits) -> Result {
    if !directory.is_dir() {
        return usage(format_args!("{}: this is no directory", directory.display()));
    }
    refuse_unless_file(&flags.output)?;
    prepare_files().map_err(failure)?;
    let stop = signals::listen()?;
    // Every opening on the file system waits for this program.
    signals::ignore_stop_key()?;
    let out = create(&flags.output)?;
    let mut screen = Screen::new(flags.quiet);
    screen.print_line(&format!(
        "recording files below {} until {}",
        directory.display(),
        until(&limits)
    ));
    let started = Some(crate::clock::now());
    let captured = capture_files(directory, started, out, limits, &stop, &mut |captured| {
        screen.tick(|| so_far(captured));
    });
    screen.clear();
    let captured = captured.map_err(failure)?;
    print(&format!("{}\nTrace  {}\n", summary(&captured), flags.output.display()))?;
    Ok(Exit::Done)
}

fn so_far(captured: &CapturedFiles) -> String {
    let CapturedFiles { operations, unattributed, lost, .. } = captured;
    let (time, trace) = (Nanos(captured.elapsed_ns), Bytes(captured.trace_bytes));
    let percent = 100.0 * captured.cpu_ns as f64 / (captured.elapsed_ns as f64).max(1.0);
    let percent = significant(percent);
    format!(
        "{time}: {operations} operations, {unattributed} not attributed, {lost} events lost; trace {trace}, {percent} % of a processor"
    )
}

fn summary(captured: &CapturedFiles) -> String {
    let mut text = so_far(captured);
    if captured.unattributed > 0 {
        text += "\nnot attributed are operations that were seen and are not in the trace: hard links, fallocate, syncfs, copies within the kernel, renames from or to elsewhere";
    }
    if captured.full {
        text += "\nended because the trace has the size allowed";
    }
    text
}
