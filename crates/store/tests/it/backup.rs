//! Backup of overwritten data, and its restoration after damage.

use crate::skipped::skipped;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use flashmark_store::{
    BACKUP_FILE, BackupDamage, BackupError, BackupLog, MAX_PIECE_BYTES, RunDir, Store, Unrestored,
};
use proptest::prelude::*;

use crate::common::Sandbox;

const MEDIUM: &str = "Generic SD 32 GB";

fn data(number: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 31 + number * 7) as u8).collect()
}

/// Makes a log with pieces of these lengths in bytes, a MiB apart.
fn filled(run: &RunDir, lengths: &[usize]) -> BackupLog {
    let mut log = run.create_backup(MEDIUM, 1 << 20).unwrap();
    for (number, bytes) in lengths.iter().enumerate() {
        log.keep((number as u64) << 20, &data(number, *bytes)).unwrap();
    }
    log.seal().unwrap();
    log
}

/// Pieces that can be restored: offset on the medium in bytes, and data.
fn sound(log: &mut BackupLog) -> Vec<(u64, Vec<u8>)> {
    let mut found = Vec::new();
    for number in 0..log.pieces().len() {
        let (piece, mut data) = (log.pieces()[number], Vec::new());
        let read = log.read(number, &mut data);
        assert_eq!(read.is_ok(), piece.sound);
        if let Ok(offset_bytes) = read {
            assert_eq!((offset_bytes, data.len() as u64), (piece.offset_bytes, piece.bytes));
            found.push((offset_bytes, data));
        }
    }
    found
}

fn expected(lengths: &[usize]) -> Vec<(u64, Vec<u8>)> {
    lengths
        .iter()
        .enumerate()
        .map(|(number, bytes)| ((number as u64) << 20, data(number, *bytes)))
        .collect()
}

#[test]
fn what_is_kept_is_read_back_by_another_process_until_it_is_cleared() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[]);
    assert!(run.open_backup().unwrap().is_none() && run.unrestored().is_none());
    drop(filled(&run, &[1 << 20, 512, 4096]));
    let path = run.path().join(BACKUP_FILE);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600,
        "it is somebody's data"
    );
    assert_eq!(
        run.unrestored(),
        Some(Unrestored {
            medium: MEDIUM.to_owned(),
            pieces: 3,
            bytes: (1 << 20) + 512 + 4096,
            first_offset_bytes: Some(0)
        })
    );
    insta::assert_snapshot!(sandbox.neutral(run.create_backup(MEDIUM, 1).unwrap_err()), @"'DIR/runs/one/undo.log' holds what this run has not restored yet; restore it first: flashmark restore");

    let mut log = run.open_backup().unwrap().unwrap();
    assert_eq!((log.medium(), log.damage()), (MEDIUM, &[][..]));
    log.keep(3 << 20, &data(3, 100)).unwrap();
    log.seal().unwrap();
    let mut log = run.open_backup().unwrap().unwrap();
    assert_eq!(sound(&mut log), expected(&[1 << 20, 512, 4096, 100]));
    assert!(matches!(log.read(4, &mut Vec::new()), Err(BackupError::NoPiece { there: 4, .. })));
    assert!(matches!(
        log.keep(0, &vec![0; MAX_PIECE_BYTES as usize + 1]),
        Err(BackupError::TooLong(_))
    ));
    log.clear().unwrap();
    assert!(!path.exists() && run.unrestored().is_none());
}

#[test]
fn a_log_that_was_begun_and_not_used_has_nothing_to_restore() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[]);
    drop(run.create_backup(MEDIUM, 1 << 20).unwrap());
    assert_eq!(run.unrestored(), None);
    fs::write(run.path().join(BACKUP_FILE), "").unwrap();
    drop(run.create_backup(MEDIUM, 1 << 20).unwrap());
}

#[test]
fn cut_off_anywhere_every_whole_piece_is_there() {
    let lengths = [700, 1, 300, 2000];
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[]);
    drop(filled(&run, &lengths));
    let path = run.path().join(BACKUP_FILE);
    let whole = fs::read(&path).unwrap();
    let ends: Vec<usize> = lengths
        .iter()
        .scan(40 + MEDIUM.len(), |end, bytes| {
            *end += 40 + bytes;
            Some(*end)
        })
        .collect();
    assert_eq!(ends.last(), Some(&whole.len()));
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let mut log = run.open_backup().unwrap().unwrap();
        let there = ends.iter().filter(|end| **end <= length).count();
        assert_eq!(sound(&mut log), expected(&lengths[..there]), "cut at {length}");
        // The next piece overwrites a torn one.
        if length % 97 == 0 {
            log.keep(9 << 20, b"more").unwrap();
            log.seal().unwrap();
            let mut again = run.open_backup().unwrap().unwrap();
            assert_eq!(
                sound(&mut again).last(),
                Some(&(9 << 20, b"more".to_vec())),
                "cut at {length}"
            );
            assert!(again.pieces().len() == there + 1, "cut at {length}");
        }
    }
}

#[test]
fn a_piece_that_holds_an_undo_log_is_not_taken_for_pieces_of_ours() {
    let sandbox = Sandbox::new();
    let (inner, outer) = (sandbox.run("inner", &[]), sandbox.run("outer", &[]));
    drop(filled(&inner, &[100, 200]));
    let backed_up = fs::read(inner.path().join(BACKUP_FILE)).unwrap();
    let mut log = outer.create_backup(MEDIUM, 1 << 20).unwrap();
    log.keep(77 << 20, &backed_up).unwrap();
    log.keep(78 << 20, b"behind it").unwrap();
    log.seal().unwrap();
    let path = outer.path().join(BACKUP_FILE);
    let mut bytes = fs::read(&path).unwrap();
    let mut data = Vec::new();
    assert_eq!((log.read(0, &mut data).unwrap(), &data), (77 << 20, &backed_up));
    // The header of the piece that holds it is damaged: the search for the next header goes through
    // the data.
    bytes[40 + MEDIUM.len() + 20] ^= 1;
    fs::write(&path, bytes).unwrap();
    let mut log = outer.open_backup().unwrap().unwrap();
    assert_eq!(sound(&mut log), [(78 << 20, b"behind it".to_vec())]);
    assert_eq!(log.damage(), [BackupDamage::Lost { first: 1, last: 1 }]);
}

#[test]
fn damage_is_described_in_words() {
    let text = |damage: BackupDamage| damage.to_string();
    insta::assert_snapshot!(text(BackupDamage::Data { offset_bytes: 1 << 20, bytes: 4096 }), @"4 KiB at 1 MiB cannot be restored: the copy is damaged");
    insta::assert_snapshot!(text(BackupDamage::Lost { first: 2, last: 2 }), @"piece 2 of the undo log is lost: its place is not known, at most 1 MiB is missing");
    insta::assert_snapshot!(text(BackupDamage::Lost { first: 2, last: 5 }), @"pieces 2 to 5 of the undo log are lost: their places are not known, at most 4 MiB are missing");
    insta::assert_snapshot!(text(BackupDamage::Tail { bytes: 512 }), @"the last 512 B of the undo log cannot be read: whether something is missing is not known");
    insta::assert_snapshot!(text(BackupDamage::Torn { offset_bytes: 1 << 20, bytes: 512 }), @"512 B at 1 MiB were being kept when the program was ended: nothing was overwritten there");
}

proptest! {
    /// Bits flipped anywhere: every other piece is restored, and each damaged one is named.
    #[test]
    fn a_damaged_piece_costs_only_itself(
        lengths in proptest::collection::vec(1usize..3000, 1..12),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..4),
    ) {
        let sandbox = Sandbox::new();
        let run = sandbox.run("one", &[]);
        drop(filled(&run, &lengths));
        let path = run.path().join(BACKUP_FILE);
        let mut bytes = fs::read(&path).unwrap();
        let mut starts = vec![0, 40 + MEDIUM.len()];
        lengths.iter().for_each(|length| starts.push(starts[starts.len() - 1] + 40 + length));
        let whole = bytes.clone();
        for (place, bit) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= 1 << bit;
        }
        fs::write(&path, &bytes).unwrap();
        let is_whole = |number: &usize| bytes[starts[number + 1]..starts[number + 2]] == whole[starts[number + 1]..starts[number + 2]];
        let untouched: Vec<usize> = (0..lengths.len()).filter(is_whole).collect();
        let expected: Vec<_> = expected(&lengths).into_iter().enumerate().filter(|(number, _)| untouched.contains(number)).map(|(_, it)| it).collect();
        let mut log = run.open_backup().unwrap().unwrap();
        prop_assert_eq!(sound(&mut log), expected);
        prop_assert_eq!(log.damage().iter().any(BackupDamage::is_loss), untouched.len() < lengths.len());
        prop_assert!(run.unrestored().is_some());
    }

    #[test]
    fn arbitrary_bytes_are_no_pieces(bytes: Vec<u8>) {
        let sandbox = Sandbox::new();
        let run = sandbox.run("one", &[]);
        fs::write(run.path().join(BACKUP_FILE), &bytes).unwrap();
        let log = run.open_backup().unwrap().unwrap();
        prop_assert!(log.pieces().is_empty());
    }
}

#[test]
fn what_is_no_file_of_ours_is_not_followed() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[]);
    let elsewhere = sandbox.path().join("elsewhere");
    fs::write(&elsewhere, "precious").unwrap();
    std::os::unix::fs::symlink(&elsewhere, run.path().join(BACKUP_FILE)).unwrap();
    assert!(
        run.open_backup().is_err()
            && run.create_backup(MEDIUM, 1).is_err()
            && run.unrestored().is_none()
    );
    assert_eq!(fs::read(&elsewhere).unwrap(), b"precious");
}

/// Message of a refusal for lack of free space; the refusal leaves nothing behind.
fn refused(store: &Store, room_bytes: u64) -> String {
    let run = store.find("one").unwrap();
    let message = run.create_backup(MEDIUM, room_bytes).unwrap_err().to_string();
    assert!(!run.path().join(BACKUP_FILE).exists());
    message.replace(&store.root().display().to_string(), "HOME")
}

#[test]
fn too_little_room_is_refused_before_anything_is_kept() {
    let sandbox = Sandbox::new();
    sandbox.run("one", &[]);
    let message = refused(&sandbox.store, 1 << 60);
    assert!(
        message.contains("are needed there")
            && message.ends_with("set FLASHMARK_HOME to a directory with more room"),
        "{message}"
    );
}

/// Mount of a small file system in memory; unmounted when dropped.
struct SmallDisk(std::path::PathBuf);

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_small_results_disk_is_refused_before_anything_is_kept() {
    let sandbox = Sandbox::new();
    let at = sandbox.path().join("disk");
    fs::create_dir(&at).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=4m", "flashmark-test"])
        .arg(&at)
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        skipped("needs root, to mount a small file system");
        return;
    }
    let _disk = SmallDisk(at.clone());
    let store = Store::open(at);
    store.create("one", &crate::common::opening("one")).unwrap();
    let message = refused(&store, 9 << 20);
    assert!(
        message.starts_with(
            "what is overwritten is kept in 'HOME/one' first: 9424 KiB are needed there, "
        ) && message.contains(" are there; set FLASHMARK_HOME"),
        "{message}"
    );
    let mut log = store.find("one").unwrap().create_backup(MEDIUM, 2 << 20).unwrap();
    // The reserved space stays, whoever fills the rest meanwhile.
    fs::write(store.root().join("filler"), vec![1; 4 << 20]).unwrap_err();
    (0..2).for_each(|piece| log.keep(piece << 20, &data(0, 1 << 20)).unwrap());
    log.seal().unwrap();
}

#[test]
fn a_limit_on_the_size_of_files_is_refused_before_anything_is_kept() {
    let sandbox = Sandbox::new();
    sandbox.run("one", &[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 4096; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    shell
        .args(["--ignored", "--exact", "backup::limited_keeper"])
        .env("FLASHMARK_TEST_ROOT", sandbox.store.root());
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "runs as a process of its own, with a limit on the size of files"]
fn limited_keeper() {
    let store = Store::open(std::env::var_os("FLASHMARK_TEST_ROOT").unwrap().into());
    let message = refused(&store, 9 << 20);
    assert!(
        message
            .ends_with("raise the limit (ulimit -f), or set FLASHMARK_HOME to another file system"),
        "{message}"
    );
}
