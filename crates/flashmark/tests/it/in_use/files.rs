//! Regular files.

use std::fs;
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::super::support::{Flashmark, Scratch, eventually};
use super::holding::{Attached, Holder, Undo, mounted, python, tried};
use super::{Arranged, Case, Compared, Stage};

pub const CASES: &[Case] = &[
    Case { name: "loop by path", arrange: || by_loop(LoopCase::Path, false) },
    Case { name: "loop by path, mounted", arrange: || by_loop(LoopCase::Path, true) },
    Case { name: "loop, renamed", arrange: || by_loop(LoopCase::Renamed, false) },
    Case { name: "loop, renamed, mounted", arrange: || by_loop(LoopCase::Renamed, true) },
    Case { name: "loop by another hard link", arrange: || by_loop(LoopCase::HardLink, false) },
    Case {
        name: "loop by another hard link, mounted",
        arrange: || by_loop(LoopCase::HardLink, true),
    },
    Case { name: "loop by a name that is deleted", arrange: || by_loop(LoopCase::Deleted, false) },
    Case {
        name: "loop by a name that is deleted, mounted",
        arrange: || by_loop(LoopCase::Deleted, true),
    },
    Case { name: "loop through a bind mount", arrange: || by_loop(LoopCase::BindMount, false) },
    Case {
        name: "loop through a bind mount, mounted",
        arrange: || by_loop(LoopCase::BindMount, true),
    },
    Case {
        name: "loop from another mount namespace",
        arrange: || by_loop(LoopCase::Elsewhere, false),
    },
    Case {
        name: "loop from another mount namespace, mounted",
        arrange: || by_loop(LoopCase::Elsewhere, true),
    },
    Case {
        name: "loop, seen through a symbolic link",
        arrange: || by_loop(LoopCase::SymbolicLink, false),
    },
    Case { name: "swap file", arrange: swap_file },
    Case {
        name: "open for reading and writing",
        arrange: || held("f=open(path,'r+b')", "held open for writing by"),
    },
    Case {
        name: "open for appending",
        arrange: || held("f=open(path,'ab')", "held open for writing by"),
    },
    Case { name: "open for writing by a hard link", arrange: by_hard_link },
    Case {
        name: "shared writable mapping, descriptor closed",
        arrange: || held(MAPPED, "mapped for writing by"),
    },
    Case {
        name: "flock, exclusive",
        arrange: || held("f=open(path,'rb');fcntl.flock(f,fcntl.LOCK_EX)", "locked (flock) by"),
    },
    Case {
        name: "flock, shared",
        arrange: || held("f=open(path,'rb');fcntl.flock(f,fcntl.LOCK_SH)", "locked (flock) by"),
    },
    Case {
        name: "POSIX write lock",
        arrange: || held("f=open(path,'r+b');fcntl.lockf(f,fcntl.LOCK_EX)", "by"),
    },
    Case {
        name: "POSIX read lock",
        arrange: || {
            held("f=open(path,'rb');fcntl.lockf(f,fcntl.LOCK_SH)", "locked (POSIX lock) by")
        },
    },
    Case { name: "OFD read lock", arrange: || held(OFD_READ, "locked (OFD lock) by") },
    Case {
        name: "read lease",
        arrange: || {
            held(
                "f=open(path,'rb');fcntl.fcntl(f,fcntl.F_SETLEASE,fcntl.F_RDLCK)",
                "locked (lease) by",
            )
        },
    },
    Case { name: "write lease", arrange: write_lease },
    Case { name: "a virtual machine", arrange: || virtual_machine(Stage::file(), "") },
    Case {
        name: "a virtual machine that only reads",
        arrange: || virtual_machine(Stage::file(), ",readonly=on"),
    },
    Case { name: "a process in a container", arrange: || container(Stage::file()) },
    Case { name: "a process of another user", arrange: another_user },
    Case {
        name: "a process whose first thread has ended",
        arrange: || held(FIRST_THREAD_ENDED, "held open for writing by"),
    },
    Case { name: "a descriptor on its way from process to process", arrange: in_flight },
    Case { name: "another run that writes", arrange: || another_run(Stage::file(), true) },
    Case { name: "another run that reads", arrange: || another_run(Stage::file(), false) },
];

/// Lines of Python that take an open file description lock; F_OFD_SETLK is 37.
const OFD_READ: &str =
    "f=open(path,'rb');fcntl.fcntl(f,37,struct.pack('hhqqi4x',fcntl.F_RDLCK,0,0,0,0))";

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
    Ok(held(WRITE_LEASE, "held open for writing by")?.comparing(Compared::Times))
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
    let attached = match loop_case {
        LoopCase::Path => Attached::over(&image)?,
        LoopCase::Renamed => {
            let attached = Attached::over(&image)?;
            target = inner.join("other name");
            fs::rename(&image, &target).unwrap();
            attached
        }
        LoopCase::HardLink => {
            target = scratch.at("link");
            fs::hard_link(&image, &target).unwrap();
            Attached::over(&image)?
        }
        LoopCase::Deleted => {
            target = scratch.at("link");
            fs::hard_link(&image, &target).unwrap();
            let attached = Attached::over(&image)?;
            fs::remove_file(&image).unwrap();
            attached
        }
        LoopCase::BindMount => {
            let outer = scratch.directory("outer");
            keep.push(Box::new(mounted(&["--bind", inner.to_str().unwrap()], &outer)?));
            target = outer.join("image");
            Attached::over(&image)?
        }
        LoopCase::SymbolicLink => {
            target = scratch.at("link");
            std::os::unix::fs::symlink(&image, &target).unwrap();
            Attached::over(&image)?
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
            Attached::known(Path::new(node.trim()))
        }
    };
    let (node, name) = (attached.word().to_owned(), attached.name().to_owned());
    let mut stage = Stage::new(scratch, &target)
        .unchanged(&target)
        .refused_with(format!("the content of {name}"))
        .keeps(keep)
        .keeps(attached);
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
    tried("mkswap", &[&stage.target])?;
    tried("swapon", &["--priority", "0", &stage.target])?;
    let undo = Undo::by(&["swapoff", &stage.target]);
    // Renamed: /proc/swaps follows the name, the identity stays.
    Ok(stage.comparing(Compared::FirstPage).refused_with("swap space").keeps(undo))
}

/// A process that holds the file by these lines of Python.
fn held(code: &str, reason: &str) -> Arranged {
    let stage = Stage::file();
    let holder = Holder::python(Path::new(&stage.target), code)?;
    let name = holder.name();
    Ok(stage.refused_with(reason).refused_with("python3").refused_with(name).keeps(holder))
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
    let suite = flashmark.home().join("suite.toml");
    let test = "[[test]]\nname = \"sequential-read\"\nblock = \"64KiB\"\nspan = \"8MiB\"\ntotal = \"100TiB\"\nmin_time = \"15m\"\nmax_time = \"15m\"\n";
    fs::write(&suite, format!("name = \"long\"\n\n{test}")).unwrap();
    let words = ["run", target, "--suite", suite.to_str().unwrap(), "--quiet"];
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
