//! `matrix`: refusals; trials on a loop device, to the end and killed in the middle; and nothing is
//! left behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use record::{Ended, Record, Stop};
use rustix::io::Errno;

use crate::failing::{Answer, FailingMedium};
use crate::support::{
    Flashmark, LoopDevice, MIB, Ran, Scratch, as_nobody, eventually, has_root, read_record, skipped,
};

/// The schedulers of the device, that in use in brackets.
fn schedulers(device: &LoopDevice) -> String {
    fs::read_to_string(format!("/sys/block/{}/queue/scheduler", device.name())).unwrap()
}

/// Loop devices over files of this home or this folder, and what was made there.
fn left(home: &Path, folder: &Path) -> Vec<String> {
    let loops = fs::read_dir("/sys/block").unwrap().map(|entry| entry.unwrap().path());
    let files = loops.flat_map(|device| fs::read_to_string(device.join("loop/backing_file")));
    let is_ours = |file: &String| {
        file.contains("flashmark-lab-")
            && [home, folder].iter().any(|place| file.starts_with(place.to_str().unwrap()))
    };
    let made = [home.join(".staged"), folder.to_owned()].into_iter().flat_map(fs::read_dir);
    let names = made.flatten().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    files.filter(is_ours).chain(names.filter(|name| name.starts_with("flashmark-"))).collect()
}

/// True if a file system on that device is mounted anywhere.
fn is_mounted(device: &LoopDevice) -> bool {
    fs::read_to_string("/proc/self/mounts")
        .unwrap()
        .lines()
        .any(|line| line.starts_with(&format!("{} ", device.word())))
}

fn headlines(record: &Record) -> Vec<&record::Cell> {
    record.cells.iter().filter(|cell| cell.label("part").is_empty()).collect()
}

/// The program, a folder, and a loop device over a file in it that is large enough for xfs; none
/// without rights.
fn bench() -> Option<(Flashmark, Scratch, LoopDevice)> {
    let (flashmark, scratch) = has_root().then(|| (Flashmark::new(), Scratch::new()))?;
    let file = scratch.file("image", "");
    fs::File::options().write(true).open(&file).unwrap().set_len(320 * MIB).unwrap();
    let device = LoopDevice::new(&file);
    Some((flashmark, scratch, device))
}

#[test]
fn without_root_the_refusal_names_what_needs_root() {
    if !has_root() {
        return;
    }
    let (ran, runs) = as_nobody(&["matrix", "/var/tmp", "--fs", "ext4"]);
    assert!(ran.code == Some(3) && ran.err.contains("which only root may"), "{ran}");
    assert_eq!(runs, 0);
}

#[test]
fn a_device_is_only_overwritten_by_its_name_and_never_while_it_is_used() {
    let Some((flashmark, scratch, device)) = bench() else { return };
    let refused = |erase: &str, why: &str| {
        let ran = flashmark.run(&format!("matrix {} --fs ext4{erase}", device.word()));
        assert!(ran.code == Some(3) && ran.err.contains(why), "{ran}");
    };
    let erase = format!(" --erase {}", device.word());
    refused("", &format!("say{erase}"));
    refused(" --erase another", "does not name");
    crate::support::tool("mkfs.ext4", &["-q", device.word()]);
    let mount = crate::support::Mount::new(&[device.word()], &scratch.directory("mounted"));
    refused(&erase, "is mounted at");
    drop(mount);
    assert!(flashmark.runs().is_empty() && left(flashmark.home(), scratch.path()).is_empty());
}

#[test]
fn a_directory_is_tried_on_a_file_that_is_gone_afterwards() {
    if !has_root() {
        return;
    }
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let ran = flashmark.done(&format!(
        "matrix {} --size 64MiB --seed 5 --details --fs ext2,ext4,jfs --scheduler none,nonesuch \
         --align no,yes --repeats 2 --most-repeats 2 --work logger --set logger.lines=40",
        scratch.word()
    ));
    let record = flashmark.record();
    assert_eq!(record.run.ended, Ended::Complete);
    // two file systems (jfs needs its tools and its driver), with and without fitting, twice
    let jfs = usize::from(!record.skipped.iter().any(|skip| skip.test == "jfs"));
    assert_eq!(headlines(&record).len(), 8 + 2 * jfs, "{ran}");
    assert!(record.cells.iter().all(|cell| cell.stop != Stop::Error), "{ran}");
    let skipped = record.skipped.iter().find(|skip| skip.test == "scheduler nonesuch").unwrap();
    assert!(skipped.reason.contains("this kernel has no scheduler 'nonesuch'"), "{skipped:?}");
    let of_ext4 = |cell: &&record::Cell| cell.label("filesystem") == "ext4";
    let fitted = record.cells.iter().filter(of_ext4).find(|cell| cell.label("align") == "yes");
    let mkfs = "mkfs.ext4 -b 4096 -E stride=1,stripe-width=1024 DEVICE";
    assert_eq!(fitted.map(|cell| cell.label("mkfs")), Some(mkfs));
    let metrics = &headlines(&record)[0].metrics;
    assert!(metrics.other.contains_key("extents_per_file_after"), "{metrics:?}");
    assert!(record.findings.iter().any(|finding| finding.id == "matrix"));
    assert!(
        ran.out.contains("logger: ") && ran.out.contains("ATTR{queue/scheduler}=\"none\""),
        "{ran}"
    );
    let run = flashmark.run_dir();
    let page = fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("<table class=\"heat\">") && page.contains("100 %"));
    let csv = fs::read_to_string(run.join("matrix.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + headlines(&record).len());
    assert!(fs::read(run.join("matrix.xlsx")).unwrap().starts_with(b"PK"));
    assert_eq!((scratch.names().len(), left(flashmark.home(), scratch.path())), (0, Vec::new()));
}

#[test]
fn killed_in_the_middle_it_is_undone_on_the_next_start_and_goes_on() {
    let Some((flashmark, scratch, device)) = bench() else { return };
    let before = schedulers(&device);
    if !before.contains("mq-deadline") {
        return skipped("this kernel has no mq-deadline");
    }
    let mut child = flashmark.start(&format!(
        "matrix {} --erase {0} --fs ext2,ext4 --scheduler none,mq-deadline --repeats 2 \
         --most-repeats 2 --seed 9 --quiet --work logger --set logger.lines=400",
        device.word()
    ));
    let finished = || {
        let runs = flashmark.runs();
        let journal = fs::read_to_string(runs.first()?.join("journal.jsonl")).ok()?;
        (journal.lines().filter(|line| line.contains("\"cell\"")).count() >= 3
            && is_mounted(&device))
        .then_some(())
    };
    eventually("a mounted file system after three cells", finished);
    child.kill().unwrap();
    child.wait().unwrap();

    let listed = flashmark.done(&["runs"]).out;
    assert!(!listed.contains(".staged"), "what is to be undone is no run: {listed}");
    let resumed = flashmark.done(&["resume", "--quiet"]);
    let record = read_record(&flashmark.run_dir().join("record.json"));
    assert_eq!((record.run.ended, record.run.resumed), (Ended::Complete, 1), "{resumed}");
    assert_eq!(headlines(&record).len(), 8, "{resumed}");
    let listed = flashmark.done(&["runs"]).out;
    assert!(listed.contains("8/8 "), "the parts of a work are no cells of the plan: {listed}");
    let ids: BTreeSet<&str> = record.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(ids.len(), record.cells.len(), "nothing is there twice");
    assert_eq!((schedulers(&device), is_mounted(&device)), (before, false));
    assert_eq!(left(flashmark.home(), scratch.path()), [""; 0]);
}

/// The message "go on with: flashmark resume" was printed about a medium that gave I/O errors.
#[test]
fn a_medium_with_errors_is_copied_before_the_matrix_goes_on() {
    let scratch = Scratch::new();
    let folder = scratch.directory("mnt");
    let medium = FailingMedium::mounted(&folder, "fuse.flashmark-it", 24 << 20);
    let Some(medium) = medium else { return };
    let device = LoopDevice::new(&medium.file());
    let flashmark = Flashmark::new();
    let child = flashmark.start(&format!(
        "matrix {} --erase {0} --fs ext2 --scheduler none --repeats 9 --seed 9 --quiet \
         --work logger --set logger.lines=200",
        device.word()
    ));
    eventually("a try under way", || {
        let journal = fs::read_to_string(flashmark.runs().first()?.join("journal.jsonl")).ok()?;
        (journal.contains("\"cell\"") && is_mounted(&device)).then_some(())
    });
    medium.answers(Answer::Error(Errno::IO));
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert!(ran.code == Some(4) && ran.err.contains("Copy what is on it first"), "{ran}");
    assert!(!ran.err.contains("flashmark resume"), "{ran}");
}

#[test]
fn interrupted_it_restores_everything_before_it_ends() {
    let Some((flashmark, scratch, device)) = bench() else { return };
    let before = schedulers(&device);
    let words = "--fs ext4 --quiet --work logger";
    let child = flashmark.start(&format!("matrix {} --erase {0} {words}", device.word()));
    eventually("a mounted file system", || {
        (!flashmark.runs().is_empty() && is_mounted(&device)).then_some(())
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{ran}");
    assert_eq!((schedulers(&device), is_mounted(&device)), (before, false));
    assert_eq!(left(flashmark.home(), scratch.path()), [""; 0]);
}

/// Six phases were measured and one was shown.
#[test]
fn every_phase_of_threads_is_on_the_screen_the_page_and_in_the_workbook() {
    let Some((flashmark, _scratch, device)) = bench() else { return };
    let ran = flashmark.done(&format!(
        "matrix {} --erase {0} --details --fs ext2 --scheduler none --repeats 3 --most-repeats 3 \
         --work threads --set threads.forms=published --set threads.pause=0s",
        device.word()
    ));
    let dir = &flashmark.runs()[0];
    let page = fs::read_to_string(dir.join("report.html")).unwrap();
    assert!(ran.out.contains("Threads, MB/s") && page.contains("Slowest thread"), "{ran}");
    // Regression: cells of files on ext2 were called results of the page cache.
    let cells = flashmark.record().cells;
    for cell in &cells {
        let is_cached = cell.flags.contains(&record::Flag::Cached);
        assert!(!is_cached && cell.params.path == record::Path::Direct, "{}", cell.id);
    }
    let phases = ["write", "rewrite", "read", "reread", "random-read", "random-write"];
    let csv = fs::read_to_string(dir.join("matrix.csv")).unwrap();
    for phase in phases.map(|phase| format!("published-{phase}")) {
        let of_it = cells.iter().filter(|cell| cell.params.form.as_deref() == Some(&phase));
        let children: Vec<f64> = of_it.filter_map(|cell| record::thread_views(cell)?[0]).collect();
        let mean = record::units::significant(children.iter().sum::<f64>() / 3.0);
        let row = format!("none, {phase}, children {mean},");
        assert!(children.len() == 3 && ran.out.contains(&row), "{row} {ran}");
        assert!(page.contains(&phase), "{phase}");
        assert_eq!(csv.matches(&format!(",{phase},")).count(), 3, "{csv}");
    }
    let workbook = dir.join("matrix.xlsx");
    let list = "import sys, zipfile; print(zipfile.ZipFile(sys.argv[1]).read('xl/workbook.xml'))";
    let sheets = std::process::Command::new("python3").args(["-c", list]).arg(workbook).output();
    assert!(String::from_utf8_lossy(&sheets.unwrap().stdout).contains("\"Threads\""));
}
