//! Backup of overwritten data, and its restoration after damage.

use crate::skipped::skipped;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use flashmark_store::{BACKUP_FILE, BackupLog, MAX_PIECE_BYTES, RunDir, Store, Unrestored};
use proptest::prelude::*;

use crate::common::{Sandbox, limited, opening};
use crate::tmpfs::Tmpfs;

const MEDIUM: &str = "Generic SD 32 GB";

/// Offset on the medium in bytes, and data.
type Piece = (u64, Vec<u8>);

/// Pieces of these lengths in bytes, a MiB apart.
fn pieces(lengths: &[usize]) -> Vec<Piece> {
    let data = |number: usize, at: usize| (at * 31 + number * 7) as u8;
    let piece = |(number, bytes): (usize, &usize)| {
        ((number as u64) << 20, (0..*bytes).map(|at| data(number, at)).collect())
    };
    lengths.iter().enumerate().map(piece).collect()
}

/// Makes a log with these pieces; returns the bytes of its file.
fn kept(run: &RunDir, pieces: &[Piece]) -> Vec<u8> {
    let mut log = run.create_backup(MEDIUM, 1 << 20).unwrap();
    pieces.iter().for_each(|(at, data)| log.keep(*at, data).unwrap());
    log.seal().unwrap();
    fs::read(run.path().join(BACKUP_FILE)).unwrap()
}

/// The log of a run after its file got these bytes.
fn changed(run: &RunDir, bytes: &[u8]) -> BackupLog {
    fs::write(run.path().join(BACKUP_FILE), bytes).unwrap();
    run.open_backup().unwrap().unwrap()
}

/// Pieces that can be restored, and the number of those that cannot.
fn sound(mut log: BackupLog) -> (Vec<Piece>, usize) {
    let (places, mut found): (Vec<_>, _) = (log.places().collect(), Vec::new());
    for (number, place) in places.iter().enumerate() {
        let mut data = Vec::new();
        if log.read(number, &mut data).is_ok() {
            let (at, bytes) = place.unwrap();
            assert_eq!(bytes, data.len() as u64);
            found.push((at, data));
        }
    }
    let damaged = places.len() - found.len();
    (found, damaged)
}

#[test]
fn what_is_kept_is_read_back_by_another_process_until_it_is_cleared() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[]);
    assert!(run.open_backup().unwrap().is_none() && run.unrestored().is_none());
    // One that was begun and not used has nothing to restore.
    kept(&run, &[]);
    assert_eq!(run.unrestored(), None);
    fs::write(run.path().join(BACKUP_FILE), "").unwrap();

    let pieces = pieces(&[1 << 20, 512, 4096]);
    kept(&run, &pieces);
    let path = run.path().join(BACKUP_FILE);
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it is somebody's data");
    let unrestored = Unrestored {
        medium: MEDIUM.to_owned(),
        pieces: 3,
        bytes: (1 << 20) + 512 + 4096,
        first_offset_bytes: Some(0),
    };
    assert_eq!(run.unrestored(), Some(unrestored));
    insta::assert_snapshot!(sandbox.neutral(run.create_backup(MEDIUM, 1).unwrap_err()), @"'DIR/runs/one/undo.log' holds what this run has not restored yet; restore it first: flashmark restore");
    assert_eq!(sound(run.open_backup().unwrap().unwrap()), (pieces, 0));
    let mut left = run.open_backup().unwrap().unwrap();
    assert!(left.keep(0, b"more").is_err() && left.seal().is_err());
    left.clear().unwrap();
    assert!(!path.exists() && run.unrestored().is_none());
}

#[test]
fn after_a_failed_write_nothing_more_is_kept() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[]);
    let mut log = run.create_backup(MEDIUM, 1 << 20).unwrap();
    log.keep(0, b"before").unwrap();
    log.keep(1 << 20, &vec![0; MAX_PIECE_BYTES as usize + 1]).unwrap_err();
    insta::assert_snapshot!(sandbox.neutral(log.seal().unwrap_err()), @"the undo log 'DIR/runs/one/undo.log' is closed after a failed write; what was kept before can be restored: flashmark restore");
    log.keep(0, b"after").unwrap_err();
    assert_eq!(sound(run.open_backup().unwrap().unwrap()).0, [(0, b"before".to_vec())]);
}

/// Every whole piece is there. What was torn is none: nothing was overwritten at its place. A
/// changed byte costs its own piece, and is never silent; that of the medium's name costs none.
#[test]
fn cut_off_or_changed_at_any_byte_it_loses_only_what_was_there() {
    let pieces = pieces(&[70, 1, 300, 200]);
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[]);
    let whole = kept(&run, &pieces);
    let first = 40 + MEDIUM.len();
    let mut ends = vec![first];
    pieces.iter().for_each(|(_, data)| ends.push(ends[ends.len() - 1] + 40 + data.len()));
    assert_eq!(ends.last(), Some(&whole.len()));
    for at in 0..whole.len() {
        let before = ends[1..].iter().filter(|end| **end <= at).count();
        assert_eq!(sound(changed(&run, &whole[..at])), (pieces[..before].to_vec(), 0), "cut {at}");
        let zeros = [&whole[..ends[before]], &vec![0; at]].concat();
        assert_eq!(sound(changed(&run, &zeros)), (pieces[..before].to_vec(), 0), "zeros {at}");
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        let mut expected = pieces.clone();
        if at >= first {
            expected.remove(before);
        }
        let (found, damaged) = sound(changed(&run, &bytes));
        assert_eq!(found, expected, "changed {at}");
        assert_eq!(damaged, usize::from(at >= first), "changed {at}");
        bytes.remove(at);
        let (found, damaged) = sound(changed(&run, &bytes));
        // The end of the last piece seems to be torn.
        assert_eq!(found, expected, "removed {at}");
        assert_eq!(damaged, usize::from((first..ends[3] + 40).contains(&at)), "removed {at}");
    }
}

#[test]
fn a_piece_that_holds_an_undo_log_is_not_taken_for_pieces_of_ours() {
    let sandbox = Sandbox::new();
    let (inner, outer) = (sandbox.run("inner", &[]), sandbox.run("outer", &[]));
    let backed_up = kept(&inner, &pieces(&[100, 200]));
    let pieces = [(77 << 20, backed_up), (78 << 20, b"behind it".to_vec())];
    let mut bytes = kept(&outer, &pieces);
    assert_eq!(sound(outer.open_backup().unwrap().unwrap()), (pieces.to_vec(), 0));
    // The header of the piece that holds it is damaged: the search for the next header goes through
    // the data.
    bytes[40 + MEDIUM.len() + 20] ^= 1;
    assert_eq!(sound(changed(&outer, &bytes)), (pieces[1..].to_vec(), 1));
}

proptest! {
    /// Bits flipped anywhere: every other piece is restored, and each damaged one is counted.
    #[test]
    fn a_damaged_piece_costs_only_itself(
        lengths in proptest::collection::vec(1usize..3000, 1..12),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..9),
    ) {
        let sandbox = Sandbox::new();
        let run = sandbox.run("one", &[]);
        let pieces = pieces(&lengths);
        let whole = kept(&run, &pieces);
        let mut bytes = whole.clone();
        for (place, bit) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= 1 << bit;
        }
        let mut end = 40 + MEDIUM.len();
        let mut expected = pieces.clone();
        expected.retain(|(_, data)| {
            let start = end;
            end += 40 + data.len();
            bytes[start..end] == whole[start..end]
        });
        let (found, damaged) = sound(changed(&run, &bytes));
        prop_assert_eq!(damaged > 0, expected.len() < pieces.len());
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn arbitrary_bytes_are_no_pieces(bytes: Vec<u8>) {
        let sandbox = Sandbox::new();
        let run = sandbox.run("one", &[]);
        prop_assert!(sound(changed(&run, &bytes)).0.is_empty());
    }
}

#[test]
fn what_is_no_file_of_ours_is_not_followed() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[]);
    let elsewhere = sandbox.path().join("elsewhere");
    fs::write(&elsewhere, "precious").unwrap();
    symlink(&elsewhere, run.path().join(BACKUP_FILE)).unwrap();
    assert!(run.open_backup().is_err() && run.unrestored().is_none());
    run.create_backup(MEDIUM, 1).unwrap_err();
    assert_eq!(fs::read(&elsewhere).unwrap(), b"precious");
}

/// Message of a refusal to make room; the refusal leaves nothing behind.
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
    assert!(refused(&sandbox.store, 1 << 60).contains("set FLASHMARK_HOME"));
    let at = sandbox.path().join("disk");
    fs::create_dir(&at).unwrap();
    let Some(_disk) = Tmpfs::mounted("flashmark-test", &at, "size=4m") else {
        skipped("needs root, to mount a small file system");
        return;
    };
    let store = Store::open(at);
    let run = store.create("one", &opening("one")).unwrap();
    let message = refused(&store, 9 << 20);
    let needed = "what is overwritten is kept in 'HOME/one' first: 9424 KiB are needed there, ";
    assert!(message.starts_with(needed) && message.contains(" are there; set "), "{message}");
    let mut log = run.create_backup(MEDIUM, 2 << 20).unwrap();
    // The reserved space stays, whoever fills the rest meanwhile.
    fs::write(store.root().join("filler"), vec![1; 4 << 20]).unwrap_err();
    (0..2).for_each(|piece| log.keep(piece << 20, &vec![1; 1 << 20]).unwrap());
    log.seal().unwrap();
}

#[test]
fn a_limit_on_the_size_of_files_is_refused_before_anything_is_kept() {
    let sandbox = Sandbox::new();
    sandbox.run("one", &[]);
    limited("ulimit -f 4096", "backup::limited_keeper", &sandbox);
}

#[test]
#[ignore = "runs as a process of its own, with a limit on the size of files"]
fn limited_keeper() {
    let store = Store::open(std::env::var_os("FLASHMARK_TEST_ROOT").unwrap().into());
    let message = refused(&store, 9 << 20);
    assert!(message.contains("the limit of file size in this session (ulimit -f)"), "{message}");
}
