//! A private instance of the kernel's tracing: buffers and events of our own, which nobody else's
//! tracing sees or disturbs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use rustix::time::ClockId;

use super::CaptureError;
use super::format::TracepointFormat;
use super::page::PageLayout;

/// What our instances are named, before the number of the process.
const PREFIX: &str = "flashmark-";
/// Buffers of all processors together, in KiB, and of one at least and at most: a second of a
/// million I/Os, or a minute of ten thousand.
const BUFFERS_KIB: u64 = 64 << 10;
const BUFFER_KIB: (u64, u64) = (1 << 10, 16 << 10);

/// No description of an event is longer.
const LONGEST_TEXT: usize = 64 << 10;

/// Tracefs, wherever it is mounted; mounted for this process alone where it is nowhere.
#[derive(Debug)]
pub struct Tracefs {
    root: PathBuf,
    /// A mount without a place in the tree: it is gone with the last descriptor, however the
    /// process ends.
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    /// Finds or mounts it.
    pub fn open() -> Result<Tracefs, CaptureError> {
        let usual = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].map(PathBuf::from);
        if let Some(root) = usual.into_iter().find(|root| root.join("instances").is_dir()) {
            return Ok(Tracefs { root, _mount: None });
        }
        let mounted = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).and_then(|context| {
            fsconfig_create(&context)?;
            fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
        });
        let mount = mounted.map_err(|errno| CaptureError::NoTracefs { why: why_not(errno) })?;
        let root = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(Tracefs { root, _mount: Some(mount) })
    }

    /// A small file of it.
    pub fn text(&self, name: &str) -> Result<String, CaptureError> {
        // In one go: events/header_page gives nothing to whoever reads on.
        let mut text = vec![0; LONGEST_TEXT];
        let read = File::open(self.root.join(name)).and_then(|mut file| file.read(&mut text));
        text.truncate(read.map_err(|source| refused(name, source))?);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Where the parts of a page lie.
    pub fn layout(&self) -> Result<PageLayout, CaptureError> {
        let text = self.text("events/header_page")?;
        PageLayout::parse(&text)
            .ok_or_else(|| CaptureError::Unknown { what: "the pages of its trace buffer".into() })
    }

    /// What an event of the block layer holds.
    pub fn format(&self, event: &str) -> Result<TracepointFormat, CaptureError> {
        let text = self.text(&format!("events/block/{event}/format"))?;
        TracepointFormat::parse(&text)
            .map_err(|why| CaptureError::Unknown { what: format!("its event {event}: {why}") })
    }

    fn instances(&self) -> PathBuf {
        self.root.join("instances")
    }

    /// Removes the instances of captures that were killed. Those of living ones are left: the
    /// kernel keeps what is open, and its owner lives.
    pub fn remove_stale(&self) {
        for entry in fs::read_dir(self.instances()).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let owner = name.strip_prefix(PREFIX).and_then(|pid| pid.parse::<u32>().ok());
            if owner.is_some_and(|pid| !is_flashmark(pid)) {
                // One that cannot be removed is somebody's after all, or will be tried again next
                // time.
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

/// True if a process of that number runs this program.
fn is_flashmark(pid: u32) -> bool {
    let command = |pid: &str| fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    command(&pid.to_string()).is_some_and(|comm| Some(comm) == command("self"))
}

/// The reason why the kernel refuses to mount it, in words.
fn why_not(errno: Errno) -> String {
    match errno {
        Errno::PERM | Errno::ACCESS => "the kernel refuses it to this user".into(),
        Errno::NODEV => "the kernel is built without it".into(),
        other => io::Error::from(other).to_string(),
    }
}

fn refused(what: &str, source: io::Error) -> CaptureError {
    CaptureError::Refused { what: what.to_owned(), source }
}

/// An instance of our own. Dropping it removes it; whatever is open of it must be closed first.
#[derive(Debug)]
pub struct Instance {
    directory: PathBuf,
    _tracefs: Tracefs,
}

impl Instance {
    /// Makes one with buffers of its own; nothing is recorded yet.
    pub fn make(tracefs: Tracefs) -> Result<Instance, CaptureError> {
        let directory = tracefs.instances().join(format!("{PREFIX}{}", std::process::id()));
        match fs::create_dir(&directory) {
            // A process of this number made one and was killed; no other process has this number
            // now.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(|source| refused("instances", source))?,
        }
        let instance = Instance { directory, _tracefs: tracefs };
        instance.set("tracing_on", "0")?;
        instance.set("buffer_size_kb", &buffer_kib().to_string())?;
        Ok(instance)
    }

    /// Writes to one of its files.
    pub fn set(&self, name: &str, value: &str) -> Result<(), CaptureError> {
        // Opened without making it: a file that is not there must not be tried to be made.
        let written = OpenOptions::new()
            .write(true)
            .open(self.directory.join(name))
            .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()));
        written.map_err(|source| refused(name, source))
    }

    /// Sets the best clock there is: the raw monotonic one, or on kernels before 4.17 the
    /// monotonic.
    pub fn set_clock(&self) -> Result<ClockId, CaptureError> {
        match self.set("trace_clock", "mono_raw") {
            Ok(()) => Ok(ClockId::MonotonicRaw),
            Err(_) => self.set("trace_clock", "mono").map(|()| ClockId::Monotonic),
        }
    }

    /// The buffers of all processors.
    pub fn buffers(&self) -> Result<Vec<Buffer>, CaptureError> {
        let per_cpu = self.directory.join("per_cpu");
        let entries = fs::read_dir(&per_cpu).map_err(|source| refused("per_cpu", source))?;
        let mut buffers = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(cpu) = name.strip_prefix("cpu").and_then(|number| number.parse().ok()) else {
                continue;
            };
            buffers.push(Buffer::open(cpu, &entry.path())?);
        }
        buffers.sort_by_key(|buffer| buffer.cpu);
        Ok(buffers)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next capture; the events are off by then in
        // any case.
        let _ = self.set("tracing_on", "0");
        for _ in 0..50 {
            match fs::remove_dir(&self.directory) {
                Err(error) if error.raw_os_error() == Some(Errno::BUSY.raw_os_error()) => {
                    std::thread::sleep(Duration::from_millis(10))
                }
                _ => return,
            }
        }
    }
}

/// Size of each processor's buffer.
fn buffer_kib() -> u64 {
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64);
    (BUFFERS_KIB / cpus).clamp(BUFFER_KIB.0, BUFFER_KIB.1)
}

/// The trace buffer of one processor.
#[derive(Debug)]
pub struct Buffer {
    /// Number of the processor: N in `per_cpu/cpuN`.
    pub cpu: u32,
    pipe: File,
    stats: File,
    lost: u64,
}

impl Buffer {
    fn open(cpu: u32, directory: &Path) -> Result<Buffer, CaptureError> {
        let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
        let pipe = OpenOptions::new()
            .read(true)
            .custom_flags(nonblocking)
            .open(directory.join("trace_pipe_raw"));
        let pipe = pipe.map_err(|source| refused("trace_pipe_raw", source))?;
        let stats =
            File::open(directory.join("stats")).map_err(|source| refused("stats", source))?;
        Ok(Buffer { cpu, pipe, stats, lost: 0 })
    }

    /// Takes the next page out of it, full or not; 0 bytes when it is empty.
    pub fn read(&mut self, page: &mut [u8]) -> Result<usize, CaptureError> {
        match self.pipe.read(page) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(0)
            }
            read => read.map_err(|source| refused("trace_pipe_raw", source)),
        }
    }

    /// Events that were lost since this was last asked: overwritten before they were read, or not
    /// taken at all.
    pub fn newly_lost(&mut self) -> Result<u64, CaptureError> {
        let mut text = [0; 1024];
        let length = self.stats.read_at(&mut text, 0).map_err(|source| refused("stats", source))?;
        let lost = lost(&String::from_utf8_lossy(&text[..length]));
        Ok(lost.saturating_sub(std::mem::replace(&mut self.lost, lost)))
    }
}

/// From the text of `per_cpu/cpuN/stats`.
fn lost(stats: &str) -> u64 {
    let counts = stats.lines().filter_map(|line| line.split_once(':'));
    let lost =
        counts.filter(|(name, _)| matches!(*name, "overrun" | "commit overrun" | "dropped events"));
    lost.filter_map(|(_, count)| count.trim().parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_events_are_the_sum_of_the_overrun_counters() {
        let stats = "entries: 12\noverrun: 30\ncommit overrun: 2\nbytes: 840\noldest event ts:  5251.1\nnow ts: 5260.2\ndropped events: 1\nread events: 9\n";
        assert_eq!((lost(stats), lost("")), (33, 0));
    }
}
