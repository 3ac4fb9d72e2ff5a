//! `attach` and `detach`: a simulated medium as a block device, if root, FUSE and loop
//! devices are available.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Flashmark, Ran, Scratch, eventually, has_root, skipped, tool};

/// The program with a directory of its own for attached media; everything is detached when dropped.
struct Bench {
    program: Flashmark,
    scratch: Scratch,
}

impl Bench {
    /// `None` if it cannot work here; the reason is printed.
    fn new() -> Option<Bench> {
        if !has_root() {
            return None;
        }
        if let Err(error) = File::open("/dev/fuse") {
            skipped(&format!("needs /dev/fuse: {error}"));
            return None;
        }
        let scratch = Scratch::new();
        Some(Bench { program: Flashmark::new(), scratch })
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.program.command(words);
        command.env("FLASHMARK_RUN_DIR", self.scratch.path().join("run"));
        command
    }

    fn run(&self, words: &[&str]) -> Ran {
        Ran::of(&mut self.command(words))
    }

    /// Attaches in the background; returns the node.
    fn attach(&self, words: &[&str]) -> String {
        let ran = self.run(&[&["attach", "--background"], words].concat());
        assert_eq!(ran.code, Some(0), "{ran}");
        ran.out.trim().to_owned()
    }

    /// Detaches the last medium; nothing is left behind.
    fn detach(&self, node: &str) {
        let ran = self.run(&["detach", node]);
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (Some(0), &*format!("detached {node}\n")),
            "{ran}"
        );
        assert_eq!(self.left(), [""; 0]);
    }

    /// Everything of this test that is still there: mounts, loop devices, processes, files.
    fn left(&self) -> Vec<String> {
        // A server ends a moment after its device.
        eventually("the end of the servers", || self.servers().is_empty().then_some(()));
        let seen = fs::read_to_string("/proc/self/mounts").unwrap()
            + &tool("losetup", &["--list", "--noheadings", "--output", "NAME,BACK-FILE"]);
        let ours = seen.lines().filter(|line| line.contains(self.scratch.word()));
        let made = fs::read_dir(self.scratch.at("run")).into_iter().flatten();
        let made = made.map(|entry| entry.unwrap().path().display().to_string());
        ours.map(str::to_owned).chain(made).collect()
    }

    /// Processes that serve media here: their environment names the directory.
    fn servers(&self) -> Vec<u32> {
        let needle = format!("FLASHMARK_RUN_DIR={}", self.scratch.word());
        let processes = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok());
        let is_ours = |pid: &u32| {
            fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|all| String::from_utf8_lossy(&all).contains(&needle))
        };
        processes.filter(is_ours).collect()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.command(&["detach", "--all"]).output();
    }
}

fn open(node: &str) -> File {
    OpenOptions::new().read(true).write(true).open(node).unwrap()
}

fn size_of(node: &str) -> u64 {
    tool("blockdev", &["--getsize64", node]).parse().unwrap()
}

#[test]
fn what_is_written_is_read_and_nothing_is_left_behind() {
    let Some(bench) = Bench::new() else { return };
    let node = bench.attach(&["emmc", "--size", "64MiB", "--seed", "7"]);
    assert_eq!(size_of(&node), 64 << 20);
    let data: Vec<u8> = (0..3 << 20).map(|i: u32| (i ^ i >> 9) as u8).collect();
    let file = open(&node);
    file.write_all_at(&data, 5 << 20).unwrap();
    file.sync_all().unwrap();
    drop(file);
    // Nothing of it comes from the page cache.
    tool("blockdev", &["--flushbufs", &node]);
    let mut read = vec![1; data.len() + 4096];
    open(&node).read_exact_at(&mut read, 5 << 20).unwrap();
    assert!(read[..data.len()] == data, "what was read is not what was written");
    assert!(read[data.len()..] == [0; 4096], "what was never written is not blank");
    bench.detach(&node);
}

#[test]
fn the_kernel_gets_the_properties_of_the_medium() {
    let Some(bench) = Bench::new() else { return };
    let attributes = |profile: &str| {
        let node = bench.attach(&[profile, "--size", "64MiB"]);
        let queue = format!("/sys/block/{}/queue", node.trim_start_matches("/dev/"));
        let attribute = |name: &str| {
            fs::read_to_string(Path::new(&queue).join(name)).unwrap().trim().to_owned()
        };
        // The kernel says done whatever became of a discard; the data says what did.
        open(&node).write_all_at(&[0xa5; 4096], 0).unwrap();
        tool("blkdiscard", &[&node]);
        let mut read = [1; 4096];
        open(&node).read_exact_at(&mut read, 0).unwrap();
        let discards = if read == [0; 4096] { "discards" } else { "no discards" };
        let attributes = [attribute("write_cache"), attribute("rotational"), discards.to_owned()];
        assert_eq!(bench.run(&["detach", &node]).code, Some(0));
        // The next user of the loop device needs its flushes. Another test may be that already, for
        // a moment.
        eventually("a write cache that is flushed", || {
            (attribute("write_cache") == "write back").then_some(())
        });
        attributes
    };
    assert_eq!(attributes("a1"), ["write through", "0", "discards"]);
    assert_eq!(attributes("sd-class4"), ["write through", "0", "no discards"]);
    assert_eq!(attributes("flush-liar")[0], "write back");
    assert_eq!(attributes("disk-7200")[1], "1");
}

#[test]
fn what_is_in_use_is_not_taken_away() {
    let Some(bench) = Bench::new() else { return };
    let node = bench.attach(&["ssd", "--size", "64MiB"]);
    tool("mkfs.ext4", &["-q", &node]);
    let at = bench.scratch.directory("mounted");
    let mount = crate::support::Mount::new(&[&node], &at);
    fs::write(at.join("file"), "kept").unwrap();
    let ran = bench.run(&["detach", &node]);
    assert_eq!(ran.code, Some(3), "{ran}");
    let at = at.display().to_string();
    let name = node.trim_start_matches("/dev/");
    insta::assert_snapshot!(ran.transcript(&[(&node, "NODE"), (name, "NAME"), (&at, "PLACE")]), @r"
    exit 3
    flashmark: NODE is in use: NAME is mounted at PLACE; unmount or release it first
    ");
    assert_eq!(fs::read_to_string(mount.path().join("file")).unwrap(), "kept");
    drop(mount);
    assert_eq!(bench.run(&["detach", "--all"]).code, Some(0));
    assert_eq!(bench.left(), [""; 0]);
}

#[test]
fn what_a_program_has_open_is_refused_and_stays_when_it_is_closed() {
    let Some(bench) = Bench::new() else { return };
    let node = bench.attach(&["ssd", "--size", "64MiB"]);
    // Not exclusively: nothing but the files of the processes tells of it.
    let file = open(&node);
    let ran = bench.run(&["detach", &node]);
    let why = format!("(process {}) has it open", std::process::id());
    assert!(ran.code == Some(3) && ran.err.contains(&why), "{ran}");
    drop(file);
    // What was refused does not happen later: the server was not asked.
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!((size_of(&node), bench.servers().len()), (64 << 20, 1));
    bench.detach(&node);
}

#[test]
fn all_means_what_this_user_attached_in_the_background() {
    let Some(bench) = Bench::new() else { return };
    let mine = bench.attach(&["a1", "--size", "32MiB"]);
    let mut command = bench.command(&["attach", "--background", "a1", "--size", "64MiB"]);
    let ran = Ran::of(command.env("SUDO_UID", "54321"));
    assert_eq!(ran.code, Some(0), "{ran}");
    let theirs = ran.out.trim();
    let ran = bench.run(&["detach", "--all"]);
    assert!(ran.code == Some(0) && ran.out.contains(&format!("detached {mine}\n")), "{ran}");
    let alone = format!("{theirs} is left alone");
    assert!(ran.err.contains(&alone) && ran.err.contains("user 54321"), "{ran}");
    assert_eq!(size_of(theirs), 64 << 20);
    bench.detach(theirs);
}

#[test]
fn in_the_foreground_it_serves_until_it_is_asked_to_end() {
    let Some(bench) = Bench::new() else { return };
    let mut command = bench.command(&["attach", "a1", "--size", "64MiB"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(size_of(&lines.next().unwrap().unwrap()), 64 << 20);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(bench.left(), [""; 0]);
}

#[test]
fn what_a_killed_server_left_is_cleaned_up() {
    let Some(bench) = Bench::new() else { return };
    let kill = |node: &str| {
        let servers = bench.servers();
        assert_eq!(servers.len(), 1, "{servers:?}");
        let pid = rustix::process::Pid::from_raw(servers[0] as i32).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        eventually("the end of the server", || bench.servers().is_empty().then_some(()));
        assert!(bench.left().iter().any(|line| line.starts_with(node)), "{:?}", bench.left());
    };
    // By its name, by --all, and by the next medium that is attached.
    for by in ["name", "all", "next"] {
        let node = bench.attach(&["a1", "--size", "64MiB"]);
        kill(&node);
        match by {
            "name" => bench.detach(&node),
            "all" => assert_eq!(bench.run(&["detach", "--all"]).code, Some(0)),
            _ => {
                let next = bench.attach(&["a1", "--size", "32MiB"]);
                assert_eq!(size_of(&next), 32 << 20);
                bench.detach(&next);
            }
        }
        assert_eq!(bench.left(), [""; 0]);
    }
}

#[test]
fn a_loop_device_of_somebody_else_is_left_alone() {
    let Some(bench) = Bench::new() else { return };
    let image = bench.scratch.image("image", 1 << 20);
    let device = crate::support::LoopDevice::new(&image);
    let ran = bench.run(&["detach", device.word()]);
    insta::assert_snapshot!(ran.transcript(&[(device.word(), "NODE")]), @r"
    exit 2
    flashmark: NODE: this is not attached by `flashmark attach`; nothing is
    ");
    assert_eq!(size_of(device.word()), 1 << 20);
}

#[test]
fn without_root_the_way_out_is_named() {
    let program = Flashmark::new();
    let mut command = program.command(&["attach", "a1"]);
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    insta::assert_snapshot!(Ran::of(&mut command).transcript(&[]), @r"
    exit 3
    flashmark: attaching a simulated medium as a block device needs root; start it with sudo, or test it without: flashmark run sim:PROFILE
    ");
}
