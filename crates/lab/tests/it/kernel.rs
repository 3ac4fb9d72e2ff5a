//! Works on file systems made for the purpose (needs root): one that is too small, and the writes
//! that reach the medium.
#![allow(clippy::print_stdout, reason = "a test that cannot be run says so")]

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use flashmark_lab::workload::{KINDS, WorkError, WorkPhase, WorkloadContext, find};
use host::loopdev::attach_with;
use host::{Loop, LoopOptions};
use tempfile::TempDir;

use crate::file_device::FileDevice;
use crate::works::{run, small};

/// Blocks of 4 KiB, as on any medium of today: with smaller ones rrdtool, which maps its files,
/// still writes whole pages.
const MKFS: [&str; 8] =
    ["-q", "-F", "-b", "4096", "-O", "^has_journal", "-E", "lazy_itable_init=0"];

/// A mounted ext4 without a journal; unmounted and detached when dropped.
struct Mounted {
    // In this order: unmounted, detached, removed.
    point: PathBuf,
    medium: Loop,
    _folder: TempDir,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Tests beside this one start programs; between fork and exec such a child holds every file
        // that is open here, and the file system is busy for that moment.
        let unmounted = || Command::new("umount").arg(&self.point).status();
        let is_unmounted = (0..100).any(|_| {
            unmounted().is_ok_and(|status| status.success()) || {
                std::thread::sleep(Duration::from_millis(100));
                false
            }
        });
        assert!(is_unmounted, "cannot unmount {}", self.point.display());
    }
}

/// `None` if file systems may not be mounted here, which is printed.
fn mounted(bytes: u64) -> Option<Mounted> {
    let folder = tempfile::tempdir().unwrap();
    let (file, point) = (folder.path().join("medium"), folder.path().join("mounted"));
    File::create(&file).unwrap().set_len(bytes).unwrap();
    std::fs::create_dir(&point).unwrap();
    let Ok(medium) = attach_with(&file, LoopOptions::default()) else {
        println!("loop devices need root: works on small file systems are not tried");
        return None;
    };
    let succeeds = |command: &mut Command| {
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    let made = succeeds(Command::new("mkfs.ext4").args(MKFS).arg(medium.path()));
    if !made
        || !succeeds(Command::new("mount").args(["-o", "noatime"]).arg(medium.path()).arg(&point))
    {
        println!("ext4 cannot be made or mounted here: works on small file systems are not tried");
        return None;
    }
    Some(Mounted { point, medium, _folder: folder })
}

#[test]
fn a_full_file_system_is_named_and_emptied_again() {
    let Some(mounted) = mounted(4 << 20) else { return };
    let names = |point: &Path| {
        std::fs::read_dir(point)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect::<Vec<_>>()
    };
    for kind in KINDS {
        let more: &[(&str, &str)] = match kind.name {
            "record-ops" => &[("size", "8MiB")],
            "threads" => &[("honest_size", "2MiB")],
            "rrd" => &[("files", "100")],
            "untar" => &[("files", "2000")],
            "sqlite" => &[("value", "500KiB")],
            "logger" => &[("line", "500KiB")],
            _ => &[("files", "2000")],
        };
        let mut settings = small(kind.name);
        settings.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let (result, _) = run(kind.name, &settings, &mounted.point, |_| false);
        let error = result.unwrap_err();
        assert!(
            error.is_no_space() && error.to_string().contains(kind.name),
            "{}: {error:?}",
            kind.name
        );
        assert_eq!(names(&mounted.point), ["lost+found"], "{} leaves nothing behind", kind.name);
    }
}

/// A file system that has been made read-only, as the kernel does after an error of the medium.
#[test]
fn a_file_system_that_refuses_writes_is_named() {
    let Some(mounted) = mounted(4 << 20) else { return };
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(&mounted.point).status();
    assert!(remounted.is_ok_and(|status| status.success()));
    for kind in KINDS {
        let (result, _) = run(kind.name, &small(kind.name), &mounted.point, |_| false);
        let error = result.unwrap_err();
        assert!(
            matches!(&error, WorkError::Failed { work, .. } if work == kind.name),
            "{}: {error:?}",
            kind.name
        );
    }
}

/// Writes and bytes that reached a block device, by its own counters.
fn written(device: &Path) -> (u64, u64) {
    let name = device.file_name().unwrap().to_str().unwrap();
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    let fields: Vec<u64> = stat.split_whitespace().map(|field| field.parse().unwrap()).collect();
    (fields[4], fields[6] * 512)
}

const FILES: usize = 300;
const POLLS: u64 = 7;

/// Writes and bytes of our polls that reach the medium, without making the files.
fn our_polls(mounted: &Mounted) -> (u64, u64) {
    let settings = [
        ("forms", "buffered".to_owned()),
        ("files", FILES.to_string()),
        ("polls", POLLS.to_string()),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value));
    let (mut before, mut after) = ((0, 0), (0, 0));
    let mut look = |moment| {
        let now = written(mounted.medium.path());
        if moment == WorkPhase::Before { before = now } else { after = now }
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut context = WorkloadContext {
        directory: &mounted.point,
        open: &mut FileDevice::open,
        seed: 5,
        stop: &stop,
        on_progress: &mut |_| {},
        look: &mut look,
    };
    find("rrd", &settings).unwrap().run(&mut context).unwrap();
    (after.0 - before.0, after.1 - before.1)
}

/// The same for polls by the real rrdtool; `None` if it is not installed.
fn rrdtools_polls(mounted: &Mounted) -> Option<(u64, u64)> {
    let folder = mounted.point.join("theirs");
    for number in 0..FILES {
        let host = folder.join(format!("host-{}", number / 64));
        std::fs::create_dir_all(&host).unwrap();
    }
    let file = |number: usize| {
        folder.join(format!("host-{}/source-{number}.rrd", number / 64)).display().to_string()
    };
    let archives: Vec<String> = ["AVERAGE", "MAX"]
        .iter()
        .flat_map(|kind| {
            [(1, 600), (6, 700), (24, 775), (288, 797)]
                .map(|(steps, rows)| format!("RRA:{kind}:0.5:{steps}:{rows}"))
        })
        .collect();
    let sources = "DS:traffic_in:GAUGE:600:0:U DS:traffic_out:GAUGE:600:0:U";
    let begun = 1_700_006_400;
    let lines = (0..FILES).map(|number| {
        format!(
            "create {} --start {begun} --step 300 {sources} {}\n",
            file(number),
            archives.join(" ")
        )
    });
    rrdtool(lines)?;
    sync(&mounted.point);
    (0..FILES).for_each(|number| forget(Path::new(&file(number))));
    let before = written(mounted.medium.path());
    for poll in 1..=POLLS {
        rrdtool((0..FILES).map(|number| {
            format!(
                "update {} {}:{}:{}\n",
                file(number),
                begun + poll * 300 + 7,
                number * 31,
                poll * 1000
            )
        }))?;
        sync(&mounted.point);
    }
    let after = written(mounted.medium.path());
    std::fs::remove_dir_all(folder).unwrap();
    Some((after.0 - before.0, after.1 - before.1))
}

/// Passes commands to one rrdtool that stays open.
fn rrdtool(lines: impl Iterator<Item = String>) -> Option<()> {
    let child =
        Command::new("rrdtool").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        println!("rrdtool is not installed: what its polls write is not compared");
        return None;
    };
    let text: String = lines.collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains("ERROR"), "{said}");
    Some(())
}

/// Drops a file from the page cache. Files that exist for long are in the page cache by single
/// pages, as they were read. New files are there in larger pieces, and a kernel since Linux 6.16
/// writes the whole piece when a mapped page of it changes.
fn forget(path: &Path) {
    rustix::fs::fadvise(File::open(path).unwrap(), 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

fn sync(point: &Path) {
    rustix::fs::syncfs(File::open(point).unwrap()).unwrap();
}

/// Our polls write as much to the medium as those of the real rrdtool, in writes and in bytes.
#[test]
fn polls_write_what_rrdtool_writes() {
    let Some(mounted) = mounted(160 << 20) else { return };
    let Some(theirs) = rrdtools_polls(&mounted) else { return };
    let ours = our_polls(&mounted);
    println!(
        "{FILES} files, {POLLS} polls: rrdtool {} writes, {} bytes; we {} writes, {} bytes",
        theirs.0, theirs.1, ours.0, ours.1
    );
    let [writes, bytes] = [ours.0 as f64 / theirs.0 as f64, ours.1 as f64 / theirs.1 as f64];
    assert!(
        (writes - 1.0).abs() <= 0.05 && (bytes - 1.0).abs() <= 0.05,
        "writes {writes:.3}, bytes {bytes:.3} of rrdtool's"
    );
    drop(mounted);
}
