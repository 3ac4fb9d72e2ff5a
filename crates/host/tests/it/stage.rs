//! Tests on real loop devices: claims, staging, leftovers. Need root; print a note without it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use flashmark_host::loopdev::attach_with;
use flashmark_host::{
    Access, BlockTarget, ChangeError, Claim, Loop, LoopOptions, MkfsSpec, ResolvedTarget, Roots,
    Staged, claim, clean_changes, mounts, prove_on_device, resolve, stage_filesystem,
};
use record::units::MIB;

use crate::rights::refusal_to_another_user;
use crate::skipped::skipped;

const DEVICE_BYTES: u64 = 64 * MIB;
const OFFSET_BYTES: u64 = 24 * MIB;
const BYTES: u64 = 16 * MIB;

/// Contents of the medium before the test.
#[derive(Clone, Copy, PartialEq)]
enum Medium {
    /// Nothing: the kernel takes a partition for the region.
    Empty,
    /// A partition from end to end: the kernel accepts no other, and the region must be a loop
    /// device.
    Partitioned,
}

const BOTH: [Medium; 2] = [Medium::Empty, Medium::Partitioned];

/// A loop device over a file of 0xa5, as a medium.
struct Bench {
    device: Loop,
    medium: Medium,
    dir: tempfile::TempDir,
}

impl Drop for Bench {
    fn drop(&mut self) {
        if self.medium == Medium::Partitioned {
            let _ = Command::new("delpart").arg(self.device.path()).arg("1").status();
        }
    }
}

impl Bench {
    /// `None` without the rights.
    fn new(medium: Medium) -> Option<Bench> {
        if !rustix::process::geteuid().is_root() || !Path::new("/dev/loop-control").exists() {
            skipped("loop devices need root and /dev/loop-control");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("medium");
        fs::write(&file, vec![0xa5; DEVICE_BYTES as usize]).unwrap();
        let device =
            match attach_with(&file, LoopOptions { partitions: true, ..LoopOptions::default() }) {
                Ok(device) => device,
                Err(error) => {
                    skipped(&format!("no loop device can be attached here: {error}"));
                    return None;
                }
            };
        if medium == Medium::Partitioned {
            let sectors = (DEVICE_BYTES / 512).to_string();
            let mut addpart = Command::new("addpart");
            addpart.arg(device.path()).args(["1", "0", &sectors]);
            assert!(addpart.status().unwrap().success());
        }
        Some(Bench { device, medium, dir })
    }

    fn partitions(&self) -> usize {
        usize::from(self.medium == Medium::Partitioned)
    }

    fn state_dir(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn word(&self) -> &str {
        self.device.path().to_str().unwrap()
    }

    fn target(&self) -> BlockTarget {
        block(self.device.path())
    }

    /// Why the medium is refused, if it is.
    fn refusal(&self) -> Option<String> {
        let refused = resolve(&Roots::default(), self.word(), Access::Write).err()?;
        Some(refused.to_string())
    }

    /// The target, once nobody has it open: `mount` of any process opens every loop device for a
    /// moment, and the kernel releases a detached one when the last process closes it.
    fn target_given_back(&self) -> BlockTarget {
        for _ in 0..100 {
            if self.refusal().is_none() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        self.target()
    }

    fn stage(&self) -> (Claim, Staged) {
        let (claim, staged) = self.stage_on(&self.target(), (OFFSET_BYTES, BYTES), &[]);
        (claim, staged.unwrap())
    }

    /// A stage on a region of the target, with these options of mkfs if there are any.
    fn stage_on(
        &self,
        target: &BlockTarget,
        (offset_bytes, bytes): (u64, u64),
        options: &[&str],
    ) -> (Claim, Result<Staged, ChangeError>) {
        let mut claim = claim(&Roots::default(), target).unwrap();
        let mut spec = MkfsSpec::record_ops();
        if !options.is_empty() {
            spec.options = options.iter().map(|word| (*word).to_owned()).collect();
        }
        let state_dir = self.state_dir();
        let staged = stage_filesystem(&mut claim, target, offset_bytes, bytes, &spec, &state_dir);
        (claim, staged)
    }

    fn notes(&self) -> usize {
        fs::read_dir(self.state_dir()).map_or(0, Iterator::count)
    }

    /// Asserts that nothing of a stage is left: no partition, no loop device over this one, no
    /// mount, no note.
    fn assert_clean(&self, mount_point: &Path) {
        let target = self.target_given_back();
        assert_eq!((target.disk.partitions.len(), target.disk.uses), (self.partitions(), vec![]));
        assert!(!mount_point.parent().unwrap().exists());
        assert_eq!(self.notes(), 0);
    }

    /// Asserts that the bytes outside the region have not changed.
    fn assert_untouched_outside(&self) {
        let content = fs::read(self.dir.path().join("medium")).unwrap();
        let (start, end) = (OFFSET_BYTES as usize, (OFFSET_BYTES + BYTES) as usize);
        assert!(content[..start].iter().chain(&content[end..]).all(|byte| *byte == 0xa5));
        assert!(
            content[start..end].iter().any(|byte| *byte != 0xa5),
            "the file system is in the region"
        );
    }
}

pub fn block(path: &Path) -> BlockTarget {
    match resolve(&Roots::default(), path.to_str().unwrap(), Access::Write).unwrap() {
        ResolvedTarget::Block(block) => *block,
        other => panic!("{other:?}"),
    }
}

/// On an empty medium as a partition without a table; where the kernel takes none, as a loop device.
#[test]
fn a_region_carries_the_file_system_and_is_given_back() {
    BOTH.into_iter().for_each(stages_and_undoes);
}

fn stages_and_undoes(medium: Medium) {
    let Some(bench) = Bench::new(medium) else { return };
    let (mut claim, staged) = bench.stage();
    assert_eq!(
        claim.is_held(),
        medium == Medium::Partitioned,
        "a partition of a claimed device cannot be mounted, a loop device over it can"
    );
    assert_eq!(
        staged.description(),
        "ext4 -b 4096 -E stride=1,stripe-width=16 -O ^has_journal, noatime, noinit_itable, on a 16 MiB region at 24 MiB"
    );
    let roots = Roots::default();
    let mount = mounts(&roots).into_iter().find(|mount| mount.at == staged.mount_point()).unwrap();
    assert_eq!((mount.kind.as_str(), mount.number), ("ext4", staged.number()));
    assert!(mount.has_option("noatime"));

    // the directory is proved to be on the region, and on nothing else
    fs::write(staged.mount_point().join("file"), "content").unwrap();
    prove_on_device(&roots, staged.mount_point(), staged.number()).unwrap();
    let elsewhere =
        prove_on_device(&roots, bench.dir.path(), staged.number()).unwrap_err().to_string();
    assert!(
        elsewhere.contains("the mount it should be on is not there; nothing was written"),
        "{elsewhere}"
    );

    // while it is staged the medium is in use, and a run that is alive is not cleaned up
    assert!(bench.refusal().unwrap().contains(" is in use: "));
    assert!(claim.retake().is_err());
    assert!(clean_changes(&bench.state_dir()).unwrap().is_empty());

    let mount_point = staged.mount_point().to_owned();
    staged.undo().unwrap();
    claim.retake().unwrap();
    claim.release();
    bench.assert_clean(&mount_point);
    bench.assert_untouched_outside();
}

#[test]
fn a_partition_is_a_medium_too() {
    let Some(bench) = Bench::new(Medium::Partitioned) else { return };
    let target = block(&bench.target().disk.partitions[0].path);
    let (claim, staged) = bench.stage_on(&target, (OFFSET_BYTES, BYTES), &[]);
    let staged = staged.unwrap();
    assert!(claim.is_held());
    let mount_point = staged.mount_point().to_owned();
    staged.undo().unwrap();
    drop(claim);
    bench.assert_clean(&mount_point);
    bench.assert_untouched_outside();
}

#[test]
fn a_dropped_stage_is_undone() {
    let Some(bench) = Bench::new(Medium::Empty) else { return };
    let (_claim, staged) = bench.stage();
    let mount_point = staged.mount_point().to_owned();
    drop(staged);
    drop(_claim);
    bench.assert_clean(&mount_point);
}

#[test]
fn a_failed_mkfs_leaves_nothing() {
    let Some(bench) = Bench::new(Medium::Empty) else { return };
    let region = (OFFSET_BYTES, BYTES);
    let (mut claim, failed) = bench.stage_on(&bench.target(), region, &["-b", "77"]);
    let error = failed.unwrap_err().to_string();
    assert!(error.contains("mkfs.ext4 -q -F -b 77"), "{error}");
    claim.retake().unwrap();
    claim.release();
    assert_eq!((bench.target().disk.partitions.len(), bench.notes()), (0, 0));
}

#[test]
fn a_region_outside_the_medium_is_refused() {
    let Some(bench) = Bench::new(Medium::Empty) else { return };
    for region in [(DEVICE_BYTES, 4096), (512, 4096), (0, 0), (u64::MAX - 4095, 8192)] {
        let (claim, refused) = bench.stage_on(&bench.target(), region, &[]);
        assert!(refused.unwrap_err().to_string().contains("it must lie inside"));
        assert!(claim.is_held() && !bench.state_dir().exists(), "nothing was begun");
    }
}

#[test]
fn a_claimed_device_cannot_be_mounted_or_claimed_twice() {
    let Some(bench) = Bench::new(Medium::Empty) else { return };
    let target = bench.target();
    let first = claim(&Roots::default(), &target).unwrap();
    let second = claim(&Roots::default(), &target).unwrap_err().to_string();
    assert!(second.contains("is held by another program or mounted"), "{second}");
    assert!(bench.refusal().unwrap().contains("is held open by another program"));
    drop(first);
    assert_eq!(bench.refusal(), None);
}

#[test]
fn a_device_without_rights_names_root_and_the_directory() {
    let Some(bench) = Bench::new(Medium::Empty) else { return };
    let device = bench.word();
    let Some(message) = refusal_to_another_user(device) else { return };
    let way_out = "run it as root, or name a directory on the medium instead";
    assert_eq!(message, format!("no right to open '{device}'; {way_out}"));
}

const CHILD: &str = "FLASHMARK_TEST_STAGES_ON";

/// Not a test of its own: `a_killed_run_is_cleaned_up` starts and kills it.
#[test]
#[ignore = "is run, and killed, by another test"]
fn stage_and_wait_to_be_killed() {
    let Ok(paths) = std::env::var(CHILD) else { return };
    let (device, state_dir) = paths.split_once(':').unwrap();
    let target = block(Path::new(device));
    let mut claim = claim(&Roots::default(), &target).unwrap();
    let (spec, state_dir) = (MkfsSpec::record_ops(), Path::new(state_dir));
    let staged =
        stage_filesystem(&mut claim, &target, OFFSET_BYTES, BYTES, &spec, state_dir).unwrap();
    println!("staged at {}", staged.mount_point().display());
    std::thread::sleep(Duration::from_secs(600));
}

/// Starts this test program again to stage on the bench's medium.
fn start_staging(bench: &Bench) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stage::stage_and_wait_to_be_killed", "--ignored", "--nocapture"])
        .env(CHILD, format!("{}:{}", bench.device.path().display(), bench.state_dir().display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A kill between any two steps, or in the middle of one, leaves nothing that cannot be cleaned up.
#[test]
fn killed_at_any_moment_a_run_is_cleaned_up() {
    for (round, medium) in BOTH.into_iter().cycle().take(24).enumerate() {
        let Some(bench) = Bench::new(medium) else { return };
        let mut child = start_staging(&bench);
        std::thread::sleep(Duration::from_millis(5 * round as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        // what the killed run had started (mkfs) may still be at it
        for _ in 0..200 {
            for left in clean_changes(&bench.state_dir()).unwrap() {
                left.undone.unwrap();
            }
            if bench.notes() == 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(bench.notes(), 0, "round {round}");
        assert_eq!(
            (bench.target().disk.partitions.len(), bench.target().disk.uses),
            (bench.partitions(), vec![])
        );
    }
}

fn killed_run_is_cleaned_up(medium: Medium) {
    use std::io::BufRead;
    let Some(bench) = Bench::new(medium) else { return };
    let mut child = start_staging(&bench);
    let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let staged = lines
        .map_while(Result::ok)
        .find_map(|line| line.split_once("staged at ").map(|(_, path)| PathBuf::from(path)));
    child.kill().unwrap();
    child.wait().unwrap();
    let mount_point = staged.expect("the child staged");

    // the mount outlived its maker, and a bystander on the same machine must not be touched
    assert!(mounts(&Roots::default()).iter().any(|mount| mount.at == mount_point));
    let bystander = Bench::new(medium).unwrap();
    let (_claim, untouched) = bystander.stage();
    let cleaned = clean_changes(&bench.state_dir()).unwrap();
    assert_eq!(cleaned.len(), 1);
    assert!(cleaned[0].undone.is_ok(), "{:?}", cleaned[0].undone);
    bench.assert_clean(&mount_point);
    bench.assert_untouched_outside();
    prove_on_device(&Roots::default(), untouched.mount_point(), untouched.number()).unwrap();
    assert!(clean_changes(&bench.state_dir()).unwrap().is_empty());
}

#[test]
fn a_killed_run_is_cleaned_up() {
    BOTH.into_iter().for_each(killed_run_is_cleaned_up);
}

#[test]
fn a_note_of_a_device_that_is_another_undoes_nothing() {
    BOTH.into_iter().for_each(forged_note_undoes_nothing);
}

fn forged_note_undoes_nothing(medium: Medium) {
    let Some(bench) = Bench::new(medium) else { return };
    let (mut claim, staged) = bench.stage();
    let note = fs::read_dir(bench.state_dir()).unwrap().next().unwrap().unwrap().path();
    // as a dead run would have left it: the same device at another offset, mounted elsewhere
    let forged = fs::read_to_string(&note)
        .unwrap()
        .replace(&OFFSET_BYTES.to_string(), &(OFFSET_BYTES + 4096).to_string());
    let elsewhere = bench.dir.path().join("forged");
    fs::create_dir(&elsewhere).unwrap();
    let own = staged.mount_point().parent().unwrap().to_str().unwrap().to_owned();
    fs::write(elsewhere.join("x.changes"), forged.replace(&own, "/tmp/flashmark-stage-forged"))
        .unwrap();
    let _ = clean_changes(&elsewhere).unwrap();
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "it found nothing of its own left");
    // a loop device in use is detached by its last user: then it says so
    let number = staged.number();
    let autoclear = fs::read_to_string(format!("/sys/dev/block/{number}/loop/autoclear"));
    assert_eq!(autoclear.unwrap_or("0".to_owned()).trim(), "0", "the loop device was told to go");
    prove_on_device(&Roots::default(), staged.mount_point(), staged.number()).unwrap();
    staged.undo().unwrap();
    claim.retake().unwrap();
}
