//! `flashmark attach` and `flashmark detach`: a simulated medium as a block device of this
//! machine.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow};
use record::text::printable;
use record::units::Bytes;
use sim::{Profile, SimOptions};

use crate::attach::{self, Attached, AttachedMedium, words};
use crate::cli::{AttachFlags, DetachFlags};
use program::exit::{Exit, Failure, OrExit, Result, usage};
use program::printing::{print, print_document};
use program::signals;
use session::target::find_profile;

/// Time between two looks for a signal.
const GLANCE: Duration = Duration::from_millis(50);

/// Smallest medium that can be attached, in bytes.
const MIN_BYTES: u64 = 1 << 20;

/// `flashmark attach PROFILE`.
pub fn attach(flags: &AttachFlags) -> Result {
    let profile = find_profile(&flags.profile)?;
    let capacity = super::size("--size", flags.size.as_deref())?;
    if let Some(text) = flags.size.as_ref().filter(|_| capacity < Some(MIN_BYTES)) {
        return usage(format_args!("--size {text}: the smallest medium has 1 MiB"));
    }
    attach::check_machine()?;
    if flags.background {
        return in_background(flags);
    }
    let stop = signals::listen()?;
    let attached =
        Attached::new(&profile, SimOptions { seed: flags.seed, capacity, keep_data: true }, flags)?;
    // The path alone on standard output, for scripts; everything else beside it.
    program::say_text!("{}", introduction(&profile, &attached, flags.served));
    print_document(&format!("{}\n", attached.path().display()))?;
    if flags.served {
        let_go_of_terminal().or_internal()?;
    }
    serve(&attached, &stop);
    attached.detach()?;
    Ok(Exit::Done)
}

/// `flashmark detach DEVICE` and `--all`.
pub fn detach(flags: &DetachFlags) -> Result {
    attach::check_machine()?;
    let places = AttachedMedium::all().or_internal()?;
    let Some(device) = &flags.device else { return end_all(&places) };
    let found = places.iter().find(|place| place.nodes().iter().any(|node| is_same(node, device)));
    let Some(place) = found else {
        let attached: Vec<_> = places.iter().flat_map(AttachedMedium::nodes).collect();
        let what = match attached.as_slice() {
            [] => "nothing is".to_owned(),
            nodes => format!("attached are {}", words(nodes)),
        };
        return usage(format_args!(
            "{}: this is not attached by `flashmark attach`; {what}",
            device.display()
        ));
    };
    let nodes = attach::end(place)?;
    print(&format!("detached {}\n", words(&nodes)))?;
    Ok(Exit::Done)
}

/// Detaches every medium of this user; one that cannot be detached does not stop the others.
fn end_all(places: &[AttachedMedium]) -> Result {
    let mut first = None;
    let (ours, others): (Vec<&AttachedMedium>, Vec<&AttachedMedium>) =
        places.iter().partition(|place| place.is_ours());
    for place in &others {
        let whose = place.owner().map(|owner| owner.words()).unwrap_or_default();
        program::say!(
            "{} is left alone: {whose}; to end it, name it: flashmark detach {0}",
            words(&place.nodes())
        );
    }
    for place in ours {
        match attach::end(place) {
            Ok(nodes) if nodes.is_empty() => {
                print(&format!("cleaned up {}\n", place.directory().display()))?
            }
            Ok(nodes) => print(&format!("detached {}\n", words(&nodes)))?,
            Err(failure) => {
                program::say!("flashmark: {}", printable(&failure.to_string()));
                first = first.or(Some(failure.exit));
            }
        }
    }
    if places.is_empty() {
        print("nothing is attached\n")?;
    }
    Ok(first.unwrap_or(Exit::Done))
}

/// Serves until asked to stop or until the device is gone; a device in use is not detached.
fn serve(attached: &Attached, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) && attached.is_there() {
        std::thread::sleep(GLANCE);
    }
    let mut reported = None;
    while attached.is_there()
        && let Some(why) = attached.in_use()
    {
        if reported.as_ref() != Some(&why) {
            program::say!(
                "in use: {why}\nwaiting until it is let go; Ctrl-C again ends at once, and whoever uses it gets errors"
            );
            reported = Some(why);
        }
        std::thread::sleep(GLANCE);
    }
}

fn introduction(profile: &Profile, attached: &Attached, served: bool) -> String {
    let way_us = attached.way_ns as f64 / 1e3;
    let end = if served { "" } else { "Ctrl-C, or " };
    let mut text =
        format!("{}, {}: {}\n", profile.name(), Bytes(attached.capacity_bytes), profile.about());
    text += &format!(
        "as slow as the model, minus the {way_us:.0} µs that the kernel takes. Written data is kept in memory.\n"
    );
    text += &format!("Detach: {end}flashmark detach {}\n", attached.path().display());
    attached.remarks.iter().for_each(|remark| text += &format!("note: {remark}\n"));
    text
}

/// Starts this program once more to serve, and returns as soon as the device is there.
fn in_background(flags: &AttachFlags) -> Result {
    let mut command = Command::new(
        std::env::current_exe().context("our own program is not found").or_internal()?,
    );
    command.args(["attach", "--served", "--seed", &flags.seed.to_string(), &flags.profile]);
    flags.size.iter().for_each(|size| _ = command.args(["--size", size]));
    flags.way.iter().for_each(|way| _ = command.arg("--way").arg(way));
    // A group of its own: the terminal's Ctrl-C is not for it.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("the server does not start").or_internal()?;
    let mut node = String::new();
    let piped = child.stdout.take().context("the server's output was piped").or_internal()?;
    BufReader::new(piped).read_line(&mut node).or_internal()?;
    if node.is_empty() {
        return Err(failed(child));
    }
    // It lets go of its end as it begins to serve, so this ends.
    let piped = child.stderr.take().context("the server's messages were piped").or_internal()?;
    program::say_text!("{}", std::io::read_to_string(piped).or_internal()?);
    print_document(&node)?;
    Ok(Exit::Done)
}

/// Failure of a server that ended before its device was there: its message and its exit code.
fn failed(child: Child) -> Failure {
    let output = match child.wait_with_output() {
        Ok(output) => output,
        Err(error) => return Failure { exit: Exit::Internal, error: error.into() },
    };
    let exit = match output.status.code() {
        Some(2) => Exit::Usage,
        Some(3) => Exit::Refused,
        Some(130) => Exit::Interrupted,
        _ => Exit::Internal,
    };
    let message = String::from_utf8_lossy(&output.stderr);
    let message = match message.trim().trim_start_matches("flashmark: ") {
        "" => "the server ended without a word",
        message => message,
    };
    Failure { exit, error: anyhow!("{message}") }
}

/// From here on nobody reads what we print, and no terminal or directory is held.
fn let_go_of_terminal() -> anyhow::Result<()> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    std::io::stdout().flush()?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(std::env::set_current_dir("/")?)
}

/// True if two names are of one device node.
fn is_same(node: &Path, named: &Path) -> bool {
    node == named || fs::canonicalize(named).is_ok_and(|named| named == node)
}
