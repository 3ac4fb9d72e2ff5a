//! A virtual machine whose files are this machine's: boots, runs scripts, and loses its power.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::initramfs::Kernel;
use crate::support::{Ran, Scratch, eventually, has_tool, skipped};
use crate::vm::qmp::Qmp;

/// Agent in the guest: each line that it gets is a script to start, and it returns the exit code.
/// Without `set -m`, programs in the background would ignore Ctrl-C. The kernel looks for swapped
/// media by itself, as systemd makes it do elsewhere.
const AGENT: &str = r#"
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/tmp FLASHMARK_HOME=/tmp/home
cd /run/share
for module in xhci_pci usb_storage sd_mod virtio_blk; do modprobe $module; done
until port=$(ls /dev/vport*p1); do sleep 0.1; done
exec 3<>$port
echo 500 >/sys/module/block/parameters/events_dfl_poll_msecs
set -m
echo ready >&3
while read -r number <&3; do
    { bash ./$number.sh >./$number.out 2>./$number.err </dev/null 3>&-; echo "$number $?" >&3; } &
done
"#;

/// Lock for one machine at a time: they are slow enough.
static ONE: Mutex<()> = Mutex::new(());

/// A disk that is there from the beginning, as /dev/vda and so on.
#[derive(Clone)]
pub struct Disk(pub PathBuf);

/// A running machine. Its power is cut when it is dropped.
pub struct Machine {
    pub(super) qmp: Qmp,
    /// Readers that are plugged in.
    pub(super) plugged: BTreeSet<String>,
    /// Readers with a card, and whether its rate is limited.
    pub(super) limited: BTreeMap<String, bool>,
    qemu: Child,
    console: BufReader<UnixStream>,
    share: PathBuf,
    started: u32,
    ended: BTreeMap<u32, i32>,
    scratch: Scratch,
    _turn: MutexGuard<'static, ()>,
}

/// A script that was started in the guest.
pub struct Task(u32);

/// Requirement of a machine that is missing; `None` if all are there.
fn missing() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("a virtual machine needs root");
    }
    if !["qemu-system-x86_64", "setpriv", "busybox", "modprobe", "bash"]
        .iter()
        .all(|program| has_tool(program))
    {
        return Some("a virtual machine needs the programs named before");
    }
    let is_static = tool_output("file", "/bin/busybox").is_none_or(|kind| kind.contains("static"));
    match Kernel::installed() {
        None => {
            Some("a virtual machine needs a kernel in /boot with its modules (linux-image-amd64)")
        }
        Some(_) if !is_static => Some("a virtual machine needs a static busybox (busybox-static)"),
        Some(_) => None,
    }
}

fn tool_output(program: &str, word: &str) -> Option<String> {
    let output = Command::new(program).args(["--brief", "--dereference", word]).output().ok()?;
    String::from_utf8(output.stdout).ok()
}

impl Machine {
    /// Boots a machine with these disks; `None` if it cannot, and the reason is printed.
    pub fn boot(disks: &[Disk]) -> Option<Machine> {
        Machine::with(disks, &[])
    }

    /// The same with more hardware, as options of QEMU.
    pub fn with(disks: &[Disk], hardware: &[&str]) -> Option<Machine> {
        if let Some(what) = missing() {
            skipped(what);
            return None;
        }
        let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = Scratch::new();
        let share = scratch.directory("share");
        fs::write(share.join("agent"), AGENT).unwrap();
        let mut qemu = qemu(&scratch, &share, disks).args(hardware).spawn().unwrap();
        let console = eventually("the console", || {
            if let Some(status) = qemu.try_wait().unwrap() {
                let log = fs::read_to_string(scratch.at("qemu.log")).unwrap_or_default();
                panic!("QEMU has ended ({status}): {log}");
            }
            UnixStream::connect(scratch.at("console")).ok()
        });
        console.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let qmp = Qmp::connect(&scratch.at("qmp"));
        let mut machine = Machine {
            qmp,
            plugged: BTreeSet::new(),
            limited: BTreeMap::new(),
            qemu,
            console: BufReader::new(console),
            share,
            started: 0,
            ended: BTreeMap::new(),
            scratch,
            _turn: turn,
        };
        let ready = machine.next_line(900);
        assert_eq!(ready, "ready");
        Some(machine)
    }

    /// Next line from the guest, after at most so many seconds.
    fn next_line(&mut self, seconds: u32) -> String {
        let mut line = String::new();
        for _ in 0..seconds {
            match self.console.read_line(&mut line) {
                Ok(0) => break,
                Ok(_) => return line.trim().to_owned(),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => panic!("the console: {error}"),
            }
        }
        let log = fs::read(self.scratch.at("kernel.log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let last: Vec<&str> = log.lines().rev().take(30).collect();
        panic!(
            "the machine said nothing for {seconds} s; its kernel's last lines, backwards:\n{}",
            last.join("\n")
        )
    }

    /// Starts a script (bash) in the guest.
    pub fn start(&mut self, script: &str) -> Task {
        self.started += 1;
        fs::write(self.share.join(format!("{}.sh", self.started)), script).unwrap();
        self.console.get_mut().write_all(format!("{}\n", self.started).as_bytes()).unwrap();
        Task(self.started)
    }

    /// Waits for its end.
    pub fn wait(&mut self, task: &Task) -> Ran {
        while !self.ended.contains_key(&task.0) {
            let line = self.next_line(1800);
            let (number, code) = line.split_once(' ').unwrap();
            self.ended.insert(number.parse().unwrap(), code.parse().unwrap());
        }
        Ran {
            code: self.ended.get(&task.0).copied(),
            out: self.output(task, "out"),
            err: self.output(task, "err"),
        }
    }

    /// Output of a task so far; `stream` is "out" or "err".
    pub fn output(&self, task: &Task, stream: &str) -> String {
        let bytes = fs::read(self.share.join(format!("{}.{stream}", task.0))).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Path on the host of a path below the directory in which scripts start.
    pub fn shared(&self, path: &str) -> PathBuf {
        self.share.join(path)
    }

    /// Runs a script in the guest and waits for it, whatever its exit code.
    pub fn run(&mut self, script: &str) -> Ran {
        let task = self.start(script);
        self.wait(&task)
    }

    /// Runs a script that must succeed; returns its output.
    pub fn done(&mut self, script: &str) -> String {
        let ran = self.run(script);
        assert_eq!(ran.code, Some(0), "{script}: {ran}");
        ran.out.trim().to_owned()
    }

    /// Waits until a condition holds in the guest.
    pub fn until(&mut self, condition: &str) {
        self.done(&format!(
            "for i in $(seq 6000); do if {condition}; then exit 0; fi; sleep 0.1; done; echo '{condition}' never came; exit 1"
        ));
    }

    /// Cuts the power: what the guest had not yet given to a disk is lost.
    pub fn cut_power(mut self) {
        self.stop();
    }

    /// The same without waiting until QEMU has ended: a disk that does not answer may keep it
    /// running.
    pub fn kill(&mut self) {
        let _ = self.qemu.kill();
    }

    fn stop(&mut self) {
        self.kill();
        let _ = self.qemu.wait();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Command for QEMU. It uses software emulation, which is the same everywhere.
fn qemu(scratch: &Scratch, share: &Path, disks: &[Disk]) -> Command {
    let kernel = Kernel::installed().expect("it was looked for");
    let initramfs = scratch.at("initramfs");
    kernel.initramfs(&initramfs);
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let socket = |name: &str| path(&scratch.at(name));
    let mut words: Vec<String> =
        "-machine q35,hpet=off,vmport=off -accel tcg,thread=multi -cpu max -smp 1 -m 640 -nodefaults -no-user-config \
        -display none -no-reboot"
            .split_whitespace()
            .map(str::to_owned)
            .collect();
    words.extend([
        "-kernel".to_owned(),
        path(&kernel.image),
        "-initrd".to_owned(),
        path(&initramfs),
        "-append".to_owned(),
    ]);
    words.push("console=ttyS0 panic=-1 quiet nokaslr mitigations=off random.trust_cpu=on no_timer_check tsc=reliable".to_owned());
    let pairs = [
        ("-serial", format!("file:{}", socket("kernel.log"))),
        ("-qmp", format!("unix:{},server=on,wait=off", socket("qmp"))),
        (
            "-fsdev",
            "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap".to_owned(),
        ),
        ("-device", "virtio-9p-pci,fsdev=host,mount_tag=host".to_owned()),
        ("-fsdev", format!("local,id=share,path={},security_model=none", path(share))),
        ("-device", "virtio-9p-pci,fsdev=share,mount_tag=share".to_owned()),
        ("-device", "virtio-serial-pci,max_ports=2".to_owned()),
        ("-chardev", format!("socket,id=console,path={},server=on,wait=off", socket("console"))),
        ("-device", "virtserialport,nr=1,chardev=console,name=console".to_owned()),
        ("-device", "virtio-rng-pci".to_owned()),
        ("-device", "qemu-xhci,id=usb".to_owned()),
    ];
    words.extend(pairs.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value]));
    for (number, Disk(image)) in disks.iter().enumerate() {
        words.extend([
            "-drive".to_owned(),
            format!("if=none,id=disk{number},file={},format=raw,cache=writeback", path(image)),
        ]);
        words.extend([
            "-device".to_owned(),
            format!("virtio-blk-pci,drive=disk{number},serial=DISK{number}"),
        ]);
    }
    let log = File::create(scratch.at("qemu.log")).unwrap();
    // No machine outlives the test that booted it, however that ends.
    let mut qemu = Command::new("setpriv");
    qemu.args(["--pdeathsig", "KILL", "qemu-system-x86_64"]);
    qemu.args(words).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    qemu
}
