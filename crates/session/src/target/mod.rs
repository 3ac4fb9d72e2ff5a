//! The opened target: the device, and everything known about it and the machine.

mod block;
mod file;
mod filesystems;
mod simulated;
mod stages;
mod way_to_raw;

pub use filesystems::{FilesystemDevice, as_block, device_of};
pub use simulated::unknown_profile;
use std::cell::RefCell;
use std::rc::Rc;

use blockio::{EngineChoice, InFlightWatch};
use device::Device;
use host::{
    Access, Claim, ClaimError, Contents, InventoryEntry, ResolvedTarget, Roots, TargetError,
};
use record::text::printable;
use record::units::Bytes;
use record::{Flag, Health, Host, Link, Medium, MediumKind, Record, TargetKind, Temperature};
use store::RunDir;
use suite::fingerprint::Recognition;
use suite::{FileStage, Plan, TargetInfo};

use crate::consent::{self, Question};
use crate::flags::ResumeFlags;
use crate::request::RunRequest;
use program::exit::{Exit, Failure, OrExit, Result, refuse};

pub use simulated::{find as find_profile, text_of as profile_text};
pub use stages::{clean_up_after_killed_runs, state_dir};

/// Load average per core above which other programs compete with the measurement.
const BUSY_LOAD: f64 = 0.5;

/// A device that no session has taken yet.
enum UnclaimedDevice {
    /// A real medium: its device is open already.
    Open(Box<dyn Device>),
    /// A simulated medium, which is made for the plan.
    Simulated(Box<simulated::Simulation>),
}

/// A target that is ready to be measured.
pub struct Target {
    /// Facts about the target, for planning.
    pub info: TargetInfo,
    /// The thing under test.
    pub medium: Medium,
    /// The way to it.
    pub target: record::Target,
    /// The machine; `None` for a simulated medium.
    pub host: Option<Host>,
    /// Caveats about everything measured here.
    pub flags: Vec<Flag>,
    /// Contents of a raw medium or a file: exactly of what was named, so only of the partition if
    /// one was named.
    pub contents: Option<Contents>,
    /// Provider of the files to measure on.
    pub stage: Box<dyn FileStage>,
    device: Option<UnclaimedDevice>,
    /// The device on which file systems are made, if it was opened for that and nobody has taken it.
    pub filesystems: Option<FilesystemDevice>,
    watch: Option<InFlightWatch>,
    claim: Option<Rc<RefCell<Claim>>>,
    disk: Option<InventoryEntry>,
    roots: Roots,
}

impl Target {
    /// Opens what the request names; an error says why it cannot, and what to type instead.
    pub fn open(request: &RunRequest) -> Result<Target> {
        if let Some(profile) = request.target.strip_prefix("sim:") {
            return simulated::open(profile, request);
        }
        let access = if request.erase.is_some() || request.must_restore() {
            Access::Write
        } else {
            Access::Read
        };
        let roots = Roots::default();
        match find(&roots, request, access)? {
            ResolvedTarget::Directory(found) => file::open_directory(roots, *found, request),
            ResolvedTarget::File(found) => file::open_file(roots, *found, request),
            ResolvedTarget::Block(found) => block::open(roots, *found, request),
        }
    }

    /// Opens what the request names as a device on which file systems are made: a medium, or a loop
    /// device over a file. Nothing is written to a medium yet.
    pub fn open_for_filesystems(request: &RunRequest) -> Result<Target> {
        let roots = Roots::default();
        let found = find(&roots, request, Access::Write)?;
        filesystems::open(roots, found, request)
    }

    /// Opens the target of a new run. On a write-protected medium that the user did not allow to be
    /// overwritten, only the tests that read remain.
    pub fn open_new(request: &mut RunRequest) -> Result<Target> {
        match Target::open(request) {
            Err(failure) if request.must_restore() && is_write_protected(&failure) => {
                request.restoring = false;
                Target::open(request)
            }
            opened => opened,
        }
    }

    /// Device for this plan; it can be taken once.
    pub fn take_device(&mut self, plan: &Plan) -> Box<dyn Device> {
        match self.device.take().expect("a session takes the device once") {
            UnclaimedDevice::Open(device) => device,
            UnclaimedDevice::Simulated(simulation) => simulation.begin(plan),
        }
    }

    /// The device on which file systems are made, with the claim that holds it; it can be taken
    /// once, of a target that was opened for that.
    pub fn take_filesystems(&mut self) -> (FilesystemDevice, Rc<RefCell<Claim>>) {
        let taken = self.filesystems.take().zip(self.claim.clone());
        taken.expect("a matrix takes its device once")
    }

    /// The open device, before a session takes it.
    ///
    /// # Panics
    /// If a session has it, or if the medium is simulated.
    pub fn device(&mut self) -> &mut dyn Device {
        match &mut self.device {
            Some(UnclaimedDevice::Open(device)) => &mut **device,
            _ => panic!("only a real medium that no session has taken yet is looked at"),
        }
    }

    /// Closes the medium, so that it can be opened again.
    pub fn close(&mut self) {
        self.device = None;
        self.stage = Box::new(suite::NoStage);
        self.claim = None;
    }

    /// Offsets of the partitions, in bytes; empty if a partition was named.
    pub fn partition_starts(&self) -> Vec<u64> {
        let partitions = self.disk.iter().flat_map(|disk| &disk.partitions);
        let is_whole = self
            .disk
            .as_ref()
            .is_some_and(|disk| Some(disk.size_bytes) == self.medium.capacity_bytes);
        partitions.filter(|_| is_whole).map(|partition| partition.offset_bytes).collect()
    }

    /// Keeps the advice how to measure the raw medium below a directory or file with `command` of
    /// this program.
    pub fn note_way_to_raw(&mut self, command: &str) {
        let is_root = rustix::process::geteuid().is_root();
        let is_file = matches!(self.target.kind, TargetKind::Directory | TargetKind::File);
        let disk = self.disk.as_ref().filter(|_| is_file);
        self.info.way_to_raw = disk.map(|disk| way_to_raw::way_to_raw(disk, command, is_root));
    }

    /// Checks right before the first write that this is still the medium that was examined, and
    /// that nothing uses it now.
    pub fn recheck(&self) -> std::result::Result<(), ClaimError> {
        self.claim.as_ref().map_or(Ok(()), |claim| claim.borrow().still_same())
    }

    /// Function that returns whether the medium is still the one that was claimed.
    pub fn is_in_place(&self) -> Box<dyn Fn() -> bool> {
        let claim = self.claim.clone();
        Box::new(move || claim.as_ref().is_none_or(|claim| claim.borrow().is_same_medium()))
    }

    /// Asks for consent to overwrite the contents, or refuses, if `--erase` named the medium. True
    /// if the user agreed.
    pub fn confirm(&self, request: &RunRequest) -> Result<bool> {
        let (Some(id), Some(contents)) = (&request.erase, &self.contents) else { return Ok(false) };
        consent::ask(&Question { what: &self.target.path, id, contents, yes: request.yes })?;
        // whoever was asked took his time
        self.recheck().or_refuse()?;
        Ok(true)
    }

    /// Contents that would be erased, for `--plan`.
    pub fn erased(&self, request: &RunRequest) -> String {
        self.contents
            .as_ref()
            .map(|contents| consent::plan(contents, request.erase.as_deref()))
            .unwrap_or_default()
    }

    /// True if what was written is gone after the process, as a test file is.
    pub fn loses_its_data(&self) -> bool {
        matches!(self.target.kind, TargetKind::Directory | TargetKind::Simulated)
    }

    /// True if there is no real medium.
    pub fn is_simulated(&self) -> bool {
        self.target.kind == TargetKind::Simulated
    }

    /// Function that returns how long the oldest I/O in flight has lasted, in nanoseconds.
    pub fn waiting(&self) -> crate::progress_display::IoWait {
        let watch = self.watch.clone();
        Box::new(move || {
            let oldest = watch.as_ref().and_then(InFlightWatch::oldest);
            oldest.map_or(0, |flight| blockio::now_ns().saturating_sub(flight.submitted_ns))
        })
    }

    /// Time of day; `None` if time is simulated.
    pub fn now(&self) -> Option<String> {
        (!self.is_simulated()).then(program::clock::now)
    }

    /// Present temperatures of the machine's sensors.
    pub fn temperatures(&self) -> Vec<Temperature> {
        if self.is_simulated() {
            return Vec::new();
        }
        let now = host::temperatures_now(&self.roots).into_iter();
        now.map(|(sensor, celsius)| Temperature {
            sensor,
            start_celsius: None,
            end_celsius: Some(celsius),
        })
        .collect()
    }

    /// Health of the medium by its own report; asks `smartctl` if it is installed, so it may take a
    /// moment.
    pub fn health(&self) -> Option<Health> {
        host::health(&self.roots, self.disk.as_ref()?)
    }

    /// A short name for the run's directory.
    pub fn short_name(&self) -> String {
        let device = || self.target.device.clone();
        self.medium.model.clone().or_else(device).unwrap_or_else(|| "storage".into())
    }

    /// One line about target and medium.
    pub fn describe(&self) -> String {
        let name = [self.medium.vendor.clone(), self.medium.model.clone()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ");
        let is_file = self.target.kind == TargetKind::File;
        let own_bytes = is_file.then_some(self.info.facts.capacity_bytes);
        let size = own_bytes
            .or(self.medium.capacity_bytes)
            .map(|bytes| format!(", {}", Bytes(bytes)))
            .unwrap_or_default();
        let on =
            self.target.device.as_deref().map(|device| format!(" on {device}")).unwrap_or_default();
        let name = if is_file {
            "a file".to_owned()
        } else if name.is_empty() {
            "medium without a name".to_owned()
        } else {
            printable(&name)
        };
        let holds = self.contents.as_ref().filter(|contents| contents.is_empty() == Some(false));
        let holds =
            holds.map(|contents| format!("; holds {}", contents.summary())).unwrap_or_default();
        format!("{}: {name}{size}{on}{holds}", printable(&self.target.path))
    }

    /// Name by which `--erase` allows overwriting it.
    fn id(&self) -> String {
        let path = || self.target.path.clone();
        match (&self.target.kind, &self.disk) {
            (TargetKind::Block, Some(disk)) => {
                disk.ids_for(self.partition(disk)).into_iter().next().unwrap_or_else(path)
            }
            _ => path(),
        }
    }

    /// True if `--erase ID` names exactly this.
    fn answers_to(&self, id: &str) -> bool {
        match (&self.target.kind, &self.disk) {
            (TargetKind::Block, Some(disk)) => disk.answers_for(self.partition(disk), id),
            _ => std::fs::canonicalize(id).is_ok_and(|named| {
                std::fs::canonicalize(&self.target.path).is_ok_and(|path| path == named)
            }),
        }
    }

    /// The partition that was named, where one was.
    fn partition<'a>(&self, disk: &'a InventoryEntry) -> Option<&'a host::Partition> {
        disk.partitions
            .iter()
            .find(|partition| Some(&partition.name) == self.target.device.as_ref())
    }

    /// Permits or refuses to go on with a run, of any kind, on this medium, which may not be the
    /// run's own. `true` says that the medium has changed since the run left it, and that the user
    /// allowed overwriting it all the same.
    ///
    /// # Errors
    /// A refusal that names the reason, the contents of the medium and the next step.
    pub fn permit(
        &self,
        recognised: Recognition,
        dir: &RunDir,
        flags: &ResumeFlags,
    ) -> Result<bool> {
        let why = match recognised {
            Recognition::Ours => return Ok(false),
            Recognition::Strange { why, .. } | Recognition::CannotTell { why } => why,
        };
        let (name, path, id) = (dir.name(), &self.target.path, self.id());
        let held = consent::holds(self.contents.as_ref());
        let Some(erase) = &flags.erase else {
            return refuse(format_args!(
                "this is not the medium as {name} left it: {why}{held}; nothing was written. Put the right one in, or allow this one to be overwritten: flashmark resume {name} --erase {id}"
            ));
        };
        if dir.unrestored().is_some() {
            return refuse(format_args!(
                "{name} still has data of another medium to restore: {why}{held}; connect that medium, or give up the backup: flashmark restore {name} --forget"
            ));
        }
        if !self.answers_to(erase) {
            return refuse(format_args!(
                "--erase {erase} does not name {path}: its own name is {id}; nothing was written"
            ));
        }
        if let Some(contents) = &self.contents {
            consent::ask(&Question { what: path, id: &id, contents, yes: flags.yes })?;
        }
        // Whoever was asked took his time.
        self.recheck().or_refuse()?;
        Ok(true)
    }

    /// Checks that its size is that of the record's medium.
    pub fn as_large_as(&self, record: &Record) -> std::result::Result<(), anyhow::Error> {
        let size = |medium: &Medium| {
            medium.capacity_bytes.map_or("unknown".to_owned(), |bytes| Bytes(bytes).to_string())
        };
        if self.medium.capacity_bytes == record.medium.capacity_bytes {
            return Ok(());
        }
        anyhow::bail!(
            "the medium that the run began on has {}, {} has {}",
            size(&record.medium),
            self.target.path,
            size(&self.medium)
        )
    }

    /// Checks that this is the medium of the record. A run goes on only with the same one.
    pub fn same_as(&self, record: &Record) -> std::result::Result<(), anyhow::Error> {
        let (now, then) = (&self.medium, &record.medium);
        let size = |medium: &Medium| medium.capacity_bytes.map(|bytes| format!("{bytes} bytes"));
        let name = |medium: &Medium| {
            let parts = [medium.vendor.clone(), medium.model.clone()];
            Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
                .filter(|name| !name.is_empty())
        };
        let marks = [
            ("CID", then.cid.clone(), now.cid.clone()),
            ("serial number", then.serial.clone(), now.serial.clone()),
            ("model", name(then), name(now)),
            ("size", size(then), size(now)),
            ("profile", then.profile.clone(), now.profile.clone()),
            ("backing file", record.target.backing.clone(), self.target.backing.clone()),
        ];
        let Some((what, then, now)) = marks.into_iter().find(|(_, then, now)| then != now) else {
            return Ok(());
        };
        let [then, now] = [then, now].map(|mark| mark.unwrap_or_else(|| "unknown".into()));
        anyhow::bail!(
            "this is not the medium the run began on: its {what} was {then}, is {now}; put the first one back, or start a new run"
        )
    }
}

/// Resolves the target of a request, and refuses one that is in use. What killed runs have left is
/// undone first.
fn find(roots: &Roots, request: &RunRequest, access: Access) -> Result<ResolvedTarget> {
    // To look at who uses the target takes a moment, in which a signal is already to be heard.
    program::signals::listen()?;
    stages::clean_up_after_killed_runs();
    host::resolve(roots, &request.target, access).map_err(|error| failure_of(request, error))
}

/// Refuses a name behind `--erase` that is none of the medium's.
fn check_name(
    request: &RunRequest,
    path: &std::path::Path,
    ids: &[String],
    is_named: impl Fn(&str) -> bool,
) -> Result<()> {
    match &request.erase {
        Some(erase) if !request.reopened && !is_named(erase) => refuse(format_args!(
            "--erase {erase} does not name {}: its own {} {}; nothing was written",
            path.display(),
            if ids.len() == 1 { "name is" } else { "names are" },
            ids.join(" or ")
        )),
        _ => Ok(()),
    }
}

/// Failure for an error of resolving: with the exit code of a user's mistake, a refusal or a fault
/// of the medium.
pub fn target_failure(error: TargetError) -> Failure {
    let exit = match &error {
        TargetError::InUse { .. }
        | TargetError::SiblingInUse { .. }
        | TargetError::FileInUse { .. }
        | TargetError::Remote { .. }
        | TargetError::NoRights { .. }
        | TargetError::ReadOnlyFilesystem { .. }
        | TargetError::ReadOnlyMedium { .. }
        | TargetError::Full { .. }
        | TargetError::Blind => Exit::Refused,
        TargetError::Io { .. } => Exit::Io,
        _ => Exit::Usage,
    };
    Failure { exit, error: error.into() }
}

/// The same failure, with the way out that this request leaves.
fn failure_of(request: &RunRequest, error: TargetError) -> Failure {
    let failure = target_failure(error);
    if request.erase.is_none() || !is_write_protected(&failure) {
        return failure;
    }
    let message = failure.to_string();
    let error = anyhow::anyhow!("{message}, or leave out --erase for the tests that only read");
    Failure { error, ..failure }
}

fn is_write_protected(failure: &Failure) -> bool {
    let error = failure.error.downcast_ref::<TargetError>();
    matches!(error, Some(TargetError::ReadOnlyMedium { .. }))
}

/// I/O engine that the request names.
fn engine(request: &RunRequest) -> EngineChoice {
    match request.engine.as_str() {
        "uring" => EngineChoice::Uring,
        "psync" => EngineChoice::Psync,
        _ => EngineChoice::Auto,
    }
}

/// Facts about the machine, with the copy rate of its memory.
fn machine(roots: &Roots) -> Host {
    Host { memory_bps: Some(blockio::memory_copy_bps()), ..host::facts(roots) }
}

/// Caveats that the machine itself raises.
fn host_caveats(host: &Host, roots: &Roots) -> Vec<Flag> {
    let mut flags = Vec::new();
    if !host::HostPressure::now(roots).has_pressure() {
        let text = "this kernel does not report how long tasks wait for processors and memory (no /proc/pressure); only timers show what the host did";
        flags.push(Flag::Note { text: text.into() });
    }
    let load_per_core = host.load.zip(host.cpus).map(|(load, cpus)| load / f64::from(cpus.max(1)));
    if let Some(load_per_core) = load_per_core.filter(|load| *load > BUSY_LOAD) {
        flags.push(Flag::BusyHost { load_per_core });
    }
    if host.throttled.as_deref().is_some_and(|state| state != "no") {
        flags.push(Flag::Throttled);
    }
    flags
}

/// Checks `--span` against the size of the target.
fn check_span(request: &RunRequest, capacity_bytes: u64) -> Result<()> {
    match request.only() {
        Some(only) if only.end() > capacity_bytes => refuse(format_args!(
            "--span ends at byte {}, beyond the {} of {}; name a range that ends before",
            only.end(),
            Bytes(capacity_bytes),
            request.target
        )),
        _ => Ok(()),
    }
}

/// Most commands that medium and link take at once, if that is known: a card without a command
/// queue takes one, and so does a reader with bulk-only transport.
fn commands_at_once(link: Option<&Link>, medium: &Medium) -> Option<u32> {
    let link = link?;
    match medium.kind {
        MediumKind::Sd | MediumKind::Emmc if link.command_queue != Some(true) => Some(1),
        _ => link.queue_depth,
    }
}

/// Failure of opening the device: a refusal if another device is there now or somebody else has it,
/// the machine's fault if it refuses io_uring, else the medium's.
fn opening<T>(result: std::result::Result<T, blockio::OpenError>) -> Result<T> {
    use blockio::OpenError;
    match result {
        Err(
            OpenError::Replaced { .. } | OpenError::Locked { .. } | OpenError::WrongType { .. },
        ) => result.or_refuse(),
        Err(OpenError::Refused { ref source, .. })
            if source.kind() == std::io::ErrorKind::Unsupported =>
        {
            result.or_internal()
        }
        result => result.or_io(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::exit::Exit;

    /// `--engine uring` on a machine that refuses io_uring ended with the code of a failed medium.
    #[test]
    fn a_machine_that_refuses_io_uring_is_no_medium_that_fails() {
        let refused = |kind: std::io::ErrorKind| {
            let source = std::io::Error::new(kind, "io_uring is refused here");
            let path = "/dev/sdx".into();
            opening::<()>(Err(blockio::OpenError::Refused { path, source })).unwrap_err().exit
        };
        assert_eq!(refused(std::io::ErrorKind::Unsupported), Exit::Internal);
        assert_eq!(refused(std::io::ErrorKind::Other), Exit::Io);
    }
}
