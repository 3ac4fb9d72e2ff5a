//! Support of the tests: the program with a store of its own, scratch directories, loop devices,
//! mounts.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

pub use crate::skipped::skipped;
use record::Record;
use rustix::fs::FlockOperation;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// One MiB, in bytes.
pub const MIB: u64 = 1 << 20;

/// The program: this package's, or that which `FLASHMARK_PROGRAM` names in another one's tests. It
/// starts the others, which lie beside it, for their commands.
pub fn program() -> PathBuf {
    let own = option_env!("CARGO_BIN_EXE_flashmark")
        .or(option_env!("CARGO_BIN_EXE_flashmark-lab"))
        .or(option_env!("CARGO_BIN_EXE_flashmark-collection"));
    let named = || std::env::var_os("FLASHMARK_PROGRAM").map(PathBuf::from);
    own.map(PathBuf::from).or_else(named).unwrap()
}

/// True if loop devices can be made and file systems mounted; prints why not.
pub fn has_root() -> bool {
    let root = rustix::process::geteuid().is_root() && Path::new("/dev/loop-control").exists();
    if !root {
        skipped("needs root and loop devices");
    }
    root
}

/// A scratch directory, an image of so many bytes in it, and a loop device over that; `None` if
/// loop devices cannot be made, which is printed. Bound in this order, they are dropped in the
/// right one.
pub fn loop_device(bytes: u64) -> Option<(Scratch, PathBuf, LoopDevice)> {
    let scratch = has_root().then(Scratch::new)?;
    let image = scratch.image("image", bytes);
    let device = LoopDevice::new(&image);
    Some((scratch, image, device))
}

/// The same with a file system on it, made by `mkfs` and mounted with `options` at `mnt` in the
/// scratch directory.
pub fn mounted(
    bytes: u64,
    mkfs: &[&str],
    options: &[&str],
) -> Option<(Scratch, PathBuf, LoopDevice, Mount)> {
    let scratch = has_root().then(Scratch::new)?;
    let image = scratch.image("image", bytes);
    tool(mkfs[0], &[&mkfs[1..], &[image.to_str().unwrap()]].concat());
    let device = LoopDevice::new(&image);
    let mount = Mount::new(&[options, &[device.word()]].concat(), &scratch.directory("mnt"));
    Some((scratch, image, device, mount))
}

/// Command that makes an ext4 for [`mounted`].
pub const EXT4: &[&str] = &["mkfs.ext4", "-q", "-F"];

/// Number of repetitions of a repeated test: `default`, or as many as `FLASHMARK_<name>` says.
pub fn times(name: &str, default: u64) -> u64 {
    std::env::var(format!("FLASHMARK_{name}"))
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Seed of a test: its own number, changed by `FLASHMARK_SEED`.
pub fn seed(own: u64) -> u64 {
    times("SEED", 0).wrapping_mul(1_000_003).wrapping_add(own)
}

/// What is typed behind the program's name: a line with blanks between the words, or the words.
pub trait Typed: std::fmt::Debug {
    fn words(&self) -> Vec<&str>;
}

impl Typed for &str {
    fn words(&self) -> Vec<&str> {
        self.split(' ').collect()
    }
}

impl Typed for &String {
    fn words(&self) -> Vec<&str> {
        self.split(' ').collect()
    }
}

impl Typed for &[&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Typed for &Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Typed for &[&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

/// The program, with runs kept in a directory of its own.
pub struct Flashmark {
    home: PathBuf,
    _own: Option<TempDir>,
}

impl Flashmark {
    pub fn new() -> Flashmark {
        // In memory, where each cell need not wait for a disk.
        let own = Scratch::in_memory().0;
        Flashmark { home: own.path().to_owned(), _own: Some(own) }
    }

    /// The program with runs kept in a directory of the test's choice, which is not removed.
    pub fn keeping_at(home: &Path) -> Flashmark {
        fs::create_dir_all(home).unwrap();
        Flashmark { home: home.to_owned(), _own: None }
    }

    /// Directory of its runs.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The program, about to be started with these words.
    pub fn command(&self, typed: impl Typed) -> Command {
        let mut command = Command::new(program());
        command
            .args(typed.words())
            .env("FLASHMARK_HOME", self.home())
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }

    /// Output and exit code of these words.
    pub fn run(&self, typed: impl Typed) -> Ran {
        Ran::of(&mut self.command(typed))
    }

    /// Starts the program and returns at once.
    pub fn start(&self, typed: impl Typed) -> Child {
        self.command(typed).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Output of these words, which must end with exit code 0.
    pub fn done(&self, typed: impl Typed) -> Ran {
        let words = typed.words();
        let ran = self.run(&words);
        assert_eq!(ran.code, Some(0), "{words:?}: {ran}");
        ran
    }

    /// Directories of all runs, by name.
    pub fn runs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.home()).unwrap().map(|entry| entry.unwrap().path());
        // A name with a dot is one that a killed process had not made a run yet.
        let is_run = |path: &PathBuf| {
            path.join("journal.jsonl").is_file()
                && !path.file_name().unwrap().as_encoded_bytes().starts_with(b".")
        };
        let mut runs: Vec<_> = entries.filter(is_run).collect();
        runs.sort();
        runs
    }

    /// The directory of the one run there is.
    pub fn run_dir(&self) -> PathBuf {
        let runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.into_iter().next().unwrap()
    }

    /// The record of the one run there is.
    pub fn record(&self) -> Record {
        read_record(&self.run_dir().join("record.json"))
    }
}

/// Reads a record file.
pub fn read_record(path: &Path) -> Record {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Record::from_json(&text).unwrap()
}

/// Outcome of a call of the program.
pub struct Ran {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// A text without its line breaks.
pub fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Ran {
    /// Starts the command and waits for it.
    pub fn of(command: &mut Command) -> Ran {
        Ran::from(command.output().unwrap())
    }

    /// Standard output without the line breaks at the width of the terminal.
    pub fn flat(&self) -> String {
        on_one_line(&self.out)
    }

    /// Exit code and messages, with names that change replaced: `(name, placeholder)`.
    pub fn transcript(&self, names: &[(&str, &str)]) -> String {
        let mut text = format!(
            "exit {}\n{}",
            self.code.map_or("by a signal".to_owned(), |code| code.to_string()),
            self.err
        );
        if !self.out.is_empty() {
            text += &format!("--- and on standard output\n{}", self.out);
        }
        names.iter().fold(text, |text, (name, stand_in)| text.replace(name, stand_in))
    }
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Ran {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.transcript(&[]))
    }
}

/// Message about a target that must be refused. Neither the media nor the store may change.
pub fn refused(target: &str, more: &[&str], media: &[&Path], names: &[(&str, &str)]) -> String {
    let flashmark = Flashmark::new();
    let before: Vec<u64> = media.iter().map(|path| sum(path)).collect();
    let ran = flashmark.run(&[&["run", target, "--suite", "quick", "--quiet"], more].concat());
    assert_ne!(ran.code, Some(0), "{ran}");
    let after: Vec<u64> = media.iter().map(|path| sum(path)).collect();
    assert_eq!(before, after, "{target} was written to");
    assert!(flashmark.runs().is_empty(), "a run was kept");
    ran.transcript(names)
}

/// Outcome of these words for a user without rights, and the number of runs kept. Needs root, to
/// become that user.
pub fn as_nobody(words: &[&str]) -> (Ran, usize) {
    const NOBODY: u32 = 65534;
    let scratch = Scratch::new();
    // Copied by another process: a file that this one has open for writing may be inherited by what
    // another test starts just then, and a program that somebody has open for writing does not
    // start ("Text file busy").
    for name in ["flashmark", "flashmark-lab", "flashmark-collection"] {
        let program = self::program().with_file_name(name);
        if program.exists() {
            tool("cp", &[program.to_str().unwrap(), scratch.word()]);
        }
    }
    let program = scratch.path().join(self::program().file_name().unwrap());
    let home = scratch.directory("home");
    chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    let mut command = Command::new(&program);
    let ran = Ran::of(
        command.args(words).env("FLASHMARK_HOME", &home).current_dir("/").uid(NOBODY).gid(NOBODY),
    );
    (ran, fs::read_dir(&home).unwrap().count())
}

/// A directory for a test, on a real disk where there is one: `/tmp` may be memory.
pub struct Scratch(TempDir);

impl Scratch {
    /// Directory that `FLASHMARK_SCRATCH` names, or one in /var/tmp. A program that kills tests
    /// names it and removes what they leave.
    pub fn new() -> Scratch {
        let place = std::env::var_os("FLASHMARK_SCRATCH").unwrap_or_else(|| "/var/tmp".into());
        let dir = tempfile::Builder::new().prefix("flashmark-it-").tempdir_in(place).unwrap();
        // A user without rights is to come as far as to what the test denies.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Scratch(dir)
    }

    /// Directory in memory if there is a place for it: for files that are written very often and
    /// need not outlive the test.
    pub fn in_memory() -> Scratch {
        let memory = Path::new("/dev/shm");
        let dir = tempfile::Builder::new().prefix("flashmark-it-").tempdir_in(memory);
        dir.map_or_else(|_| Scratch::new(), Scratch)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Path of a file in it.
    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The directory as a word on the command line.
    pub fn word(&self) -> &str {
        self.path().to_str().unwrap()
    }

    /// An empty directory in it.
    pub fn directory(&self, name: &str) -> PathBuf {
        fs::create_dir(self.at(name)).unwrap();
        self.at(name)
    }

    /// A file in it that holds this.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.at(name), content).unwrap();
        self.at(name)
    }

    /// A suite of these tests, its path as a word: "prime span=8MiB passes=1; seek time=4s".
    pub fn suite(&self, tests: &str) -> String {
        let mut text = "name = \"of a test\"\n".to_owned();
        for mut words in tests.split(';').map(str::split_whitespace) {
            text += &format!("\n[[test]]\nname = \"{}\"\n", words.next().unwrap());
            let settings = words.map(|word| word.split_once('=').unwrap());
            text.extend(settings.map(|(name, value)| format!("{name} = \"{value}\"\n")));
        }
        self.file(&format!("suite-{}.toml", self.names().len()), text).to_str().unwrap().to_owned()
    }

    /// A file in it with a pattern in every sector, so that any change shows.
    pub fn image(&self, name: &str, bytes: u64) -> PathBuf {
        self.file(name, Scratch::pattern(bytes))
    }

    /// That pattern.
    pub fn pattern(bytes: u64) -> Vec<u8> {
        let mut content = vec![0; usize::try_from(bytes).unwrap()];
        for (number, sector) in content.chunks_mut(512).enumerate() {
            sector.fill(number as u8 ^ 0x5a);
            sector[..8].copy_from_slice(&number.to_le_bytes());
        }
        content
    }

    /// Names of everything in it.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// A sum over some bytes of a file.
pub fn sum_of(path: &Path, offset: u64, bytes: u64) -> u64 {
    let mut file = File::open(path).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut part = file.take(bytes);
    loop {
        match part.read(&mut buffer).unwrap() {
            0 => return u64::from_le_bytes(*hasher.finalize().first_chunk().unwrap()),
            got => hasher.update(&buffer[..got]),
        }
    }
}

/// A sum over all of a file.
pub fn sum(path: &Path) -> u64 {
    sum_of(path, 0, u64::MAX)
}

/// Runs a tool that must succeed; returns its output.
pub fn tool(program: &str, words: &[&str]) -> String {
    let ran = Ran::of(Command::new(program).args(words));
    assert_eq!(ran.code, Some(0), "{program} {words:?}: {ran}");
    ran.out.trim().to_owned()
}

/// True if a tool is installed; prints that it is missing.
pub fn has_tool(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        skipped(&format!("needs {program}"));
    }
    there
}

/// Node of a loop device that no program gets by asking for any free one: for a device that is
/// detached in the middle of a test. It belongs to this process until the process ends, also among
/// tests of other checkouts.
pub fn node_of_its_own() -> String {
    static OURS: Mutex<Vec<File>> = Mutex::new(Vec::new());
    static NEXT: AtomicU32 = AtomicU32::new(200);
    enough_for_those_who_take_any();
    let locks = Path::new("/var/tmp/flashmark-it-loops");
    fs::create_dir_all(locks).unwrap();
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let lock = File::create(locks.join(number.to_string())).unwrap();
        let is_locked = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        // A test that was killed may have left one.
        let is_left = Path::new(&format!("/sys/block/loop{number}/loop")).exists();
        if is_locked && !is_left {
            OURS.lock().unwrap_or_else(PoisonError::into_inner).push(lock);
            return format!("/dev/loop{number}");
        }
    }
}

/// Makes so many loop devices with low numbers that a program that asks for any free one gets none
/// of the reserved numbers: the kernel gives the lowest.
fn enough_for_those_who_take_any() {
    static ONCE: Once = Once::new();
    // LOOP_CTL_ADD; those that are there already are refused.
    let script = "import fcntl\nwith open('/dev/loop-control','r+b',0) as control:\n for number in range(64):\n  \
                  try: fcntl.ioctl(control,0x4C80,number)\n  except OSError: pass";
    ONCE.call_once(|| {
        let _ = Command::new("python3").args(["-c", script]).stdin(Stdio::null()).output();
    });
}

/// A loop device of the test's own; detached when dropped unless another one has taken its place.
pub struct LoopDevice {
    path: String,
    /// Number that the kernel gives each medium of the node.
    sequence: String,
}

impl LoopDevice {
    /// Attaches `image` with direct I/O.
    pub fn new(image: &Path) -> LoopDevice {
        LoopDevice::with(image, &["--direct-io=on"])
    }

    /// Attaches `image` with options of losetup.
    pub fn with(image: &Path, options: &[&str]) -> LoopDevice {
        let words = [&["--find", "--show"], options, &[image.to_str().unwrap()]].concat();
        LoopDevice::known(&tool("losetup", &words))
    }

    /// A loop device that another program has attached.
    pub fn known(node: &str) -> LoopDevice {
        LoopDevice { path: node.to_owned(), sequence: sequence(node) }
    }

    /// Attaches `image` at exactly this node; `None` if another program has it. Waits if the node
    /// is open for a moment, as when another test has just started a program.
    pub fn at(node: &str, image: &Path) -> Option<LoopDevice> {
        let made = || {
            let mut losetup = Command::new("losetup");
            losetup.args(["--direct-io=on", node]).arg(image);
            losetup.stderr(Stdio::null()).status().unwrap().success()
        };
        within(Duration::from_secs(60), made).then(|| LoopDevice::known(node))
    }

    /// Its node as a word on the command line.
    pub fn word(&self) -> &str {
        &self.path
    }

    /// Its kernel name: "loop3".
    pub fn name(&self) -> &str {
        self.path.trim_start_matches("/dev/")
    }

    /// Its node.
    pub fn node(&self) -> &Path {
        Path::new(&self.path)
    }

    /// Adds a partition that only the kernel knows; returns its node.
    pub fn partition(&self, number: u32, start_mib: u64, mib: u64) -> String {
        let sectors = [start_mib * 2048, mib * 2048].map(|sectors| sectors.to_string());
        tool("addpart", &[self.word(), &number.to_string(), &sectors[0], &sectors[1]]);
        let node = format!("{}p{number}", self.path);
        eventually("the node of a partition", || Path::new(&node).exists().then(|| node.clone()))
    }

    /// Names of its partitions, as the kernel knows them.
    fn partitions(&self) -> Vec<String> {
        let entries = fs::read_dir(format!("/sys/block/{}", self.name())).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(self.name())).collect()
    }
}

fn sequence(node: &str) -> String {
    let name = node.trim_start_matches("/dev/");
    fs::read_to_string(format!("/sys/block/{name}/diskseq")).unwrap_or_default()
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if sequence(&self.path) != self.sequence {
            return;
        }
        // A namespace whose last process was just killed unmounts in its own time.
        within(Duration::from_secs(5), || {
            for partition in self.partitions() {
                let number = partition.rsplit('p').next().unwrap();
                let mut delpart = Command::new("delpart");
                let _ = delpart.args([&self.path, number]).stderr(Stdio::null()).status();
            }
            self.partitions().is_empty()
        });
        let _ = Command::new("losetup").args(["--detach", &self.path]).status();
    }
}

/// A mount of the test's own; unmounted when dropped. Must be dropped before the device that it
/// mounts.
pub struct Mount(PathBuf);

impl Mount {
    /// Mounts at a directory that exists.
    pub fn new(words: &[&str], at: &Path) -> Mount {
        tool("mount", &[words, &[at.to_str().unwrap()]].concat());
        Mount(at.to_owned())
    }

    /// A mount that another command has made at a directory.
    pub fn made_at(at: &Path) -> Mount {
        Mount(at.to_owned())
    }

    /// Mount point.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Mount point as a word on the command line.
    pub fn word(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // A program that a test beside this one has just started may still have what was open here.
        within(Duration::from_secs(10), || {
            let mut umount = Command::new("umount");
            umount.arg(&self.0).stderr(Stdio::null());
            let is_done = umount.status().is_ok_and(|status| status.success());
            let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
            is_done || !mounts.contains(&format!(" {} ", self.0.display()))
        });
        left_everywhere(&self.0);
    }
}

/// Waits until no process has this mount: a mount namespace that a test beside this one has just
/// made holds a copy of it.
pub fn left_everywhere(at: &Path) {
    let words = format!(" {} ", at.display());
    within(Duration::from_secs(60), || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let tables =
            processes.flat_map(|process| fs::read_to_string(process.path().join("mountinfo")));
        !tables.into_iter().any(|table| table.contains(&words))
    });
}

/// Fills all free space of a file system, with a file "filler".
pub fn fill(at: &Path) {
    let filler = fs::File::create(at.join("filler")).unwrap();
    let mut taken = 0;
    // Byte by byte at the end, as the journal's lines are short.
    for step in [64 << 10, 4 << 10, 1] {
        while rustix::fs::fallocate(&filler, rustix::fs::FallocateFlags::empty(), taken, step)
            .is_ok()
        {
            taken += step;
            if step == 1 {
                break;
            }
        }
    }
}

/// Longest wait for something that takes its own time: the machine may be busy, and no test depends
/// on how long something takes.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// Waits for something that comes in its own time.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    within(PATIENCE, || {
        found = look();
        found.is_some()
    });
    found.unwrap_or_else(|| panic!("{what} did not come about"))
}

/// True if the condition holds within that time; it is checked every 10 ms.
fn within(limit: Duration, mut come: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        if come() {
            return true;
        }
        if begun.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
