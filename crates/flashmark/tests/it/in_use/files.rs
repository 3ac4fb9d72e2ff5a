//! Regular files.

use std::fs;
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::super::support::{Flashmark, LoopDevice, Scratch, eventually};
use super::holding::{Holder, Undo, attached, mounted, python, tried};
use super::{Arranged, Case, Compared, Program, Stage};

pub const CASES: &[Case] = &[
    ("loop by path", || by_loop(LoopCase::Path, false)),
    ("loop by path, mounted", || by_loop(LoopCase::Path, true)),
    ("loop, renamed", || by_loop(LoopCase::Renamed, false)),
    ("loop, renamed, mounted", || by_loop(LoopCase::Renamed, true)),
    ("loop by another hard link", || by_loop(LoopCase::HardLink, false)),
    ("loop by another hard link, mounted", || by_loop(LoopCase::HardLink, true)),
    ("loop by a name that is deleted", || by_loop(LoopCase::Deleted, false)),
    ("loop by a name that is deleted, mounted", || by_loop(LoopCase::Deleted, true)),
    ("loop through a bind mount", || by_loop(LoopCase::BindMount, false)),
    ("loop through a bind mount, mounted", || by_loop(LoopCase::BindMount, true)),
    ("loop from another mount namespace", || by_loop(LoopCase::Elsewhere, false)),
    ("loop from another mount namespace, mounted", || by_loop(LoopCase::Elsewhere, true)),
    ("loop, seen through a symbolic link", || by_loop(LoopCase::SymbolicLink, false)),
    ("swap file", swap_file),
    ("open for writing by a hard link", by_hard_link),
    ("write lease", write_lease),
    ("a virtual machine", || virtual_machine(Stage::file(), "")),
    ("a virtual machine that only reads", || virtual_machine(Stage::file(), ",readonly=on")),
    ("a process in a container", || container(Stage::file())),
    ("a process of another user", another_user),
    ("a descriptor on its way from process to process", in_flight),
    ("another run that writes", || another_run(Stage::file(), true)),
    ("another run that reads", || another_run(Stage::file(), false)),
];

/// Lines of Python that take a lease; the signal that a broken lease sends must not end the holder.
const WRITE_LEASE: &str = "import signal;signal.signal(signal.SIGIO,signal.SIG_IGN);f=open(path,'r+b');fcntl.fcntl(f,fcntl.F_SETLEASE,fcntl.F_WRLCK)";

/// Lines of Python that map a page for writing; Python's own mmap keeps a descriptor, this one does
/// not.
pub const MAPPED: &str =
    "c=ctypes.CDLL(None);c.mmap.restype=ctypes.c_void_p;f=os.open(path,os.O_RDWR)
assert c.mmap(None,ctypes.c_size_t(4096),3,1,f,ctypes.c_long(0))
os.close(f)";

/// Lines of Python that open the file and end the first thread of the process.
pub const FIRST_THREAD_ENDED: &str = "f=open(path,'r+b')
def stay():
    main=threading.main_thread().native_id
    while open(f'/proc/self/task/{main}/stat').read().rsplit(')',1)[1].split()[0]!='Z': time.sleep(0.01)
    print('ready',flush=True)
    while True: time.sleep(1)
threading.Thread(target=stay).start()
ctypes.CDLL(None).pthread_exit(None)";

fn write_lease() -> Arranged {
    let program =
        Program { on_medium: false, code: WRITE_LEASE, words: "held open for writing by" };
    Ok(program.holding()?.comparing(Compared::Times))
}

enum LoopCase {
    Path,
    Renamed,
    HardLink,
    Deleted,
    BindMount,
    Elsewhere,
    SymbolicLink,
}

/// A loop device over the file, found by device and inode and not by name.
fn by_loop(loop_case: LoopCase, with_mount: bool) -> Arranged {
    let scratch = Scratch::new();
    let inner = scratch.directory("inner");
    let image = inner.join("image");
    fs::rename(scratch.image("image", 24 << 20), &image).unwrap();
    tried("mkfs.ext4", &["-q", "-F", image.to_str().unwrap()])?;
    let mut keep: Vec<Box<dyn std::any::Any>> = Vec::new();
    let mut target = inner.join("image");
    let device = match loop_case {
        LoopCase::Path => attached(&image, &[])?,
        LoopCase::Renamed => {
            let device = attached(&image, &[])?;
            target = inner.join("other name");
            fs::rename(&image, &target).unwrap();
            device
        }
        LoopCase::HardLink => {
            target = scratch.at("link");
            fs::hard_link(&image, &target).unwrap();
            attached(&image, &[])?
        }
        LoopCase::Deleted => {
            target = scratch.at("link");
            fs::hard_link(&image, &target).unwrap();
            let device = attached(&image, &[])?;
            fs::remove_file(&image).unwrap();
            device
        }
        LoopCase::BindMount => {
            let outer = scratch.directory("outer");
            keep.push(Box::new(mounted(&["--bind", inner.to_str().unwrap()], &outer)?));
            target = outer.join("image");
            attached(&image, &[])?
        }
        LoopCase::SymbolicLink => {
            target = scratch.at("link");
            std::os::unix::fs::symlink(&image, &target).unwrap();
            attached(&image, &[])?
        }
        LoopCase::Elsewhere => {
            let (outer, note) = (scratch.directory("outer"), scratch.at("node"));
            let [outer, inner, note_at] =
                [&outer, &inner, &note].map(|path| path.to_str().unwrap());
            let script = format!(
                "mount --bind {inner} {outer}; losetup --find --show {outer}/image > {note_at}"
            );
            keep.push(Box::new(Holder::elsewhere(&script)?));
            let node = fs::read_to_string(&note).unwrap();
            LoopDevice::known(node.trim())
        }
    };
    let (node, name) = (device.word().to_owned(), device.name().to_owned());
    let mut stage = Stage::new(scratch, &target)
        .unchanged(&target)
        .refused_with(format!("the content of {name}"))
        .keeps(keep)
        .keeps(device);
    if with_mount {
        let at = stage.scratch.directory("mnt");
        // read-only, so that the file system itself does not change what is compared
        stage = stage.keeps(mounted(&["-o", "ro,noload", &node], &at)?);
    }
    Ok(stage)
}

fn swap_file() -> Arranged {
    let stage = Stage::file();
    tried("chmod", &["600", &stage.target])?;
    tried("mkswap", stage.target.as_str())?;
    tried("swapon", &["--priority", "0", &stage.target])?;
    let undo = Undo::by(&["swapoff", &stage.target]);
    // Renamed: /proc/swaps follows the name, the identity stays.
    Ok(stage.comparing(Compared::FirstPage).refused_with("swap space").keeps(undo))
}

fn by_hard_link() -> Arranged {
    let stage = Stage::file();
    let link = stage.scratch.at("link");
    fs::hard_link(&stage.target, &link).unwrap();
    let holder = Holder::python(&link, "f=open(path,'r+b')")?;
    let name = holder.name();
    Ok(stage.refused_with("held open for writing by").refused_with(name).keeps(holder))
}

/// A virtual machine with this drive; it does not boot. It has the drive, and its lock, as soon as
/// it accepts commands.
fn start_machine(drive: &str) -> Result<Holder, String> {
    let script = "echo ready; exec qemu-system-x86_64 -S -display none -accel tcg -m 16 -serial none -monitor none \
                  -qmp unix:\"$2\",server=on,wait=off -drive \"$1\" >/dev/null";
    tried("qemu-system-x86_64", &["--version"])?;
    let scratch = Scratch::new();
    let socket = scratch.at("qmp");
    let words = ["-c", script, "sh", drive, socket.to_str().unwrap()];
    let holder = Holder::start(Command::new("sh").args(words))?;
    let mut machine = eventually("QEMU's socket", || UnixStream::connect(&socket).ok());
    // It greets when all its drives are open.
    machine.read_exact(&mut [0]).unwrap();
    Ok(holder)
}

/// A virtual machine that has the target as its drive, with these options of the drive.
pub fn virtual_machine(stage: Stage, options: &str) -> Arranged {
    let holder = start_machine(&format!("file={},format=raw,if=virtio{options}", stage.target))?;
    let name = format!("qemu-system-x86_64 {}", holder.name());
    let reason =
        if options.is_empty() { "held open for writing by" } else { "locked (OFD lock) by" };
    Ok(stage.refused_with(reason).refused_with(name).keeps(holder))
}

pub fn container(stage: Stage) -> Arranged {
    let inner = python("f=open(path,'r+b')");
    let mut command = Command::new("unshare");
    command
        .args(["--fork", "--pid", "--mount-proc", "--kill-child"])
        .arg(inner.get_program())
        .args(inner.get_args())
        .arg(&stage.target);
    let holder = Holder::start(&mut command)?;
    Ok(stage
        .refused_with("held open for writing by python3")
        .refused_with("(process ")
        .keeps(holder))
}

fn another_user() -> Arranged {
    let stage = Stage::file();
    tried("chmod", &["666", &stage.target])?;
    // where the interpreter is out of that user's reach, a shell's redirection does as well
    let script = "exec 3<>\"$1\"; echo ready; read line";
    let holder = Holder::start(
        Command::new("sh").args(["-c", script, "sh", &stage.target]).uid(65534).gid(65534),
    )?;
    let name = holder.name();
    Ok(stage.refused_with("held open for writing by").refused_with(name).keeps(holder))
}

/// A file sent through a socket and closed by its sender: no process has the descriptor, and the
/// kernel keeps the file open.
fn in_flight() -> Arranged {
    let stage = Stage::file();
    let code = "a,b=socket.socketpair();f=os.open(path,os.O_RDWR);socket.send_fds(a,[b'x'],[f]);os.close(f)";
    let holder = Holder::python(Path::new(&stage.target), code)?;
    Ok(stage.refused_with("held open for writing by a program that cannot be seen").keeps(holder))
}

/// A child process that is killed when dropped.
pub struct Run(std::process::Child, Flashmark);

impl Run {
    /// What it said, if it has ended.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.0.try_wait().unwrap()?;
        let mut said = String::new();
        self.0.stderr.take()?.read_to_string(&mut said).unwrap();
        Some(format!("{status}: {said}"))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Another run on the same target, in the middle of its work.
fn running(target: &str, more: &[&str]) -> Run {
    let flashmark = Flashmark::new();
    let suite = Scratch::new();
    let test = "sequential-read block=64KiB span=8MiB total=100TiB min_time=15m max_time=15m";
    let words = ["run", target, "--suite", &suite.suite(test), "--quiet"];
    let mut run = Run(flashmark.start(&[&words[..], more].concat()), flashmark);
    eventually("the other run", || {
        assert_eq!(run.ended(), None, "the other run");
        (!run.1.runs().is_empty()).then_some(())
    });
    run
}

pub fn another_run(stage: Stage, writes: bool) -> Arranged {
    let erase = ["--erase", &stage.target];
    let run = running(&stage.target, if writes { &erase } else { &[] });
    let name = format!("flashmark (process {})", run.0.id());
    Ok(stage
        .refused_with(if writes { "held open for writing by" } else { "locked (flock) by" })
        .refused_with(name)
        .keeps(run))
}
