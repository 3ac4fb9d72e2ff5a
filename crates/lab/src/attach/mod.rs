//! `attach`: a simulated medium as a real block device, in wall-clock time.
//!
//! A file of FUSE ([`server`]) under a loop device. Virtual time becomes wall time in three steps:
//! each request enters the model when it arrives ([`timeline`]), its answer leaves when the model
//! says that it is done, and the time that the harness adds ([`cost`]) is subtracted. With the
//! place in the file system and its lock ([`attach_dir`]) every other process can find, end and
//! clean up what is attached.

mod attach_dir;
mod cost;
mod queue;
mod server;
mod timeline;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use device::Device;
use host::{DeviceNumber, Loop, LoopOptions, OpenFiles, Process, Roots, loopdev};
use record::text::printable;
use sim::profile::spec::Blank;
use sim::{Profile, SimDevice, SimOptions};

pub use attach_dir::AttachedMedium;
use attach_dir::{AttachDir, FILE};
use cost::HarnessCost;
use queue::LoopQueueLimits;
use server::MediumServer;
use timeline::Timeline;

use crate::cli::AttachFlags;
use program::exit::{OrExit, Result, refuse, usage};

/// Longest time for which programs that look at every new device (udev, desktops) may keep one
/// open.
const PATIENCE: Duration = Duration::from_secs(5);

/// Longest time in which a server ends that was asked to, on a busy machine.
const ENDING: Duration = Duration::from_secs(60);

/// Simulated medium that is attached; detached when dropped, unless it is in use.
pub struct Attached {
    // In the order in which they must go.
    _queue: LoopQueueLimits,
    node: Loop,
    server: MediumServer,
    directory: AttachDir,
    /// Remarks on what could be better, for people.
    pub remarks: Vec<String>,
    /// Size that the medium announces, in bytes.
    pub capacity_bytes: u64,
    /// Time that the harness adds to a small read, in nanoseconds; subtracted from every answer.
    pub way_ns: u64,
}

impl Attached {
    /// Attaches a fresh medium.
    pub fn new(profile: &Profile, options: SimOptions, flags: &AttachFlags) -> Result<Attached> {
        check_machine()?;
        let leftovers = AttachedMedium::clean_up().or_internal()?;
        let mut remarks: Vec<String> =
            leftovers.iter().map(|left| format!("left of a killed one: {left:#}")).collect();
        let device = SimDevice::new(profile, options);
        let facts = device.facts().clone();
        // A loop device passes zeroing on as a discard; a medium that does not read zeros after one
        // must not get it.
        let discards = facts.discards && profile.spec().medium.unwritten == Blank::Zeros;
        let timeline = Timeline::new(device).or_internal()?;
        let directory = AttachDir::make(profile.name(), flags.served).or_internal()?;
        let server = MediumServer::mount(
            directory.mount_point(),
            FILE,
            facts.capacity_bytes,
            discards,
            timeline,
        );
        let server = server
            .with_context(|| {
                format!("FUSE does not mount at {}", directory.mount_point().display())
            })
            .or_internal()?;
        let block_bytes =
            if facts.logical_block_bytes == 512 { 0 } else { facts.logical_block_bytes };
        let options = LoopOptions {
            direct_io: true,
            partitions: true,
            block_bytes,
            ..LoopOptions::default()
        };
        let node = loopdev::attach_with(&directory.file(), options).or_internal()?;
        if !node.direct_io() {
            return Err(anyhow!(
                "{} does not do direct I/O on FUSE, so there would be a cache before the medium; Linux 4.10 and newer do",
                node.path().display()
            ))
            .or_internal();
        }
        let queue = LoopQueueLimits::describe(node.path(), profile).or_internal()?;
        remarks.extend(
            use_realtime_priority().err().map(|why| {
                format!("times below a millisecond may be wrong on a busy machine: {why}")
            }),
        );
        let cost =
            settled(|| HarnessCost::known(flags.way.as_deref(), node.path())).or_internal()?;
        server.start(cost);
        Ok(Attached {
            _queue: queue,
            node,
            server,
            directory,
            remarks,
            capacity_bytes: facts.capacity_bytes,
            way_ns: cost.small_read_ns(),
        })
    }

    /// Its device node, for example "/dev/loop3".
    pub fn path(&self) -> &Path {
        self.node.path()
    }

    /// True if it is still attached: somebody else may have detached the loop device or unmounted
    /// the file system.
    pub fn is_there(&self) -> bool {
        self.server.is_mounted() && !loopdev::over(&self.directory.file()).is_empty()
    }

    /// Use of the device in words; `None` if it is not in use.
    pub fn in_use(&self) -> Option<String> {
        in_use(self.node.path())
    }

    /// Detaches it and waits until it is gone.
    pub fn detach(self) -> Result<()> {
        let Attached { _queue: queue, node, server, directory, .. } = self;
        drop(queue);
        let path = node.path().to_owned();
        node.detach().or_internal()?;
        if !within(PATIENCE, || loopdev::over(&directory.file()).is_empty()) {
            return Err(anyhow!(
                "{} is still open; it goes away with its last user and then reads no more",
                path.display()
            ))
            .or_internal();
        }
        server.unmount().context("FUSE does not unmount").or_internal()?;
        drop(directory);
        Ok(())
    }
}

/// Use of a block device in words; `None` if it is not in use.
fn in_use(node: &Path) -> Option<String> {
    let roots = Roots::default();
    let uses = host::uses(&roots, node.file_name()?.to_str()?);
    let open =
        || opener(&roots, node).map(|who| format!("{} has it open", printable(&who.to_string())));
    let held = || {
        host::exclusively_open(&roots, node).then(|| "a program holds it exclusively".to_owned())
    };
    if uses.is_empty() { open().or_else(held) } else { Some(host::summary(&uses)) }
}

/// First process, other than this one, that has the device or a partition of it open. The kernel
/// refuses no detach because of it, but the process could read nothing afterwards. Processes that
/// this one may not see are missed.
fn opener(roots: &Roots, node: &Path) -> Option<Process> {
    let name = node.file_name().unwrap_or_default();
    let parts = fs::read_dir(roots.sys.join("block").join(name)).into_iter().flatten().flatten();
    let parts = parts.filter(|part| part.path().join("partition").exists());
    let nodes = parts.map(|part| roots.dev.join(part.file_name())).chain([node.to_owned()]);
    let numbers = nodes.filter_map(|node| Some(fs::metadata(node).ok()?.rdev()));
    let open_files = OpenFiles::look(roots, &[]);
    numbers.map(DeviceNumber::from_raw).find_map(|number| open_files.openers(number).pop())
}

/// Detaches the medium at a place, or cleans up if its server was killed. Returns its device nodes.
///
/// The server is asked only when nobody uses the device: it cannot be told to go on once it was
/// asked, so a refusal comes before.
pub fn end(place: &AttachedMedium) -> Result<Vec<PathBuf>> {
    let nodes = place.nodes();
    let mut used = None;
    // Who looks at every new device for a moment is waited for.
    within(PATIENCE, || {
        used = nodes.iter().find_map(|node| Some((node, in_use(node)?)));
        used.is_none()
    });
    if let Some((node, why)) = used {
        return refuse(format_args!(
            "{} is in use: {why}; unmount or release it first",
            node.display()
        ));
    }
    if place.is_served() {
        place.ask_to_end().or_internal()?;
        if !within(ENDING, || !place.is_served()) {
            let reason = anyhow!(
                "{} is still there after {} s: a program came to use it (`fuser -v` says which), or its server is slow; it goes away when that ends",
                words(&nodes),
                ENDING.as_secs()
            );
            return Err(reason).or_internal();
        }
    }
    let left = AttachedMedium::clean_up().or_internal()?;
    match left.into_iter().next() {
        Some(error) => Err(error).or_internal(),
        None => Ok(nodes),
    }
}

/// Device nodes as a list for people.
pub fn words(nodes: &[PathBuf]) -> String {
    nodes.iter().map(|node| node.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Checks that this machine can attach media; each error says what is missing and how to get it.
pub fn check_machine() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return refuse(
            "attaching a simulated medium as a block device needs root; start it with sudo, or test it without: flashmark run sim:PROFILE",
        );
    }
    for (node, what, module, devices) in [
        ("/dev/fuse", "FUSE", "fuse", "device"),
        ("/dev/loop-control", "loop devices", "loop", "devices"),
    ] {
        if let Err(error) = fs::File::open(node) {
            return usage(format_args!(
                "{node} cannot be opened ({error}); load {what} with `modprobe {module}`, and give a container the {devices}"
            ));
        }
    }
    Ok(())
}

/// Gives the threads of this process real-time priority: an answer that waits for a processor is
/// late.
fn use_realtime_priority() -> std::result::Result<(), String> {
    let process = std::process::id().to_string();
    let ran = Command::new("chrt")
        .args(["--fifo", "--reset-on-fork", "--all-tasks", "--pid", "5", &process])
        .stdin(Stdio::null())
        .output();
    match ran {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err("chrt is not installed (package util-linux)".to_owned())
        }
        Err(error) => Err(format!("chrt does not start: {error}")),
    }
}

/// Repeats an attempt while other programs look at a new device.
fn settled<T>(mut attempt: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Err(_) if begun.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            settled => return settled,
        }
    }
}

/// Waits for a condition; true if it held in time.
fn within(limit: Duration, mut come: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !come() {
        if begun.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}
