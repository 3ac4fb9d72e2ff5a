//! Media and places that are measured with a caveat, or measured without writing.

use std::fs;

use record::{Ended, Flag, Stop};

use crate::support::{
    Flashmark, MIB, Mount, Scratch, as_nobody, has_root, has_tool, loop_device, refused, sum, tool,
};

#[test]
fn without_erase_a_medium_is_only_read() {
    let Some((scratch, image, device)) = loop_device(16 * MIB) else { return };
    let before = sum(&image);
    let names = [(device.name(), "loopX"), (scratch.word(), "SCRATCH")];
    let flashmark = Flashmark::new();
    flashmark.done(&format!("run {} --suite quick --only prime,sequential-write,sequential-read --quiet --time-limit 2s", device.word()));
    let record = flashmark.record();
    let left_out: Vec<_> =
        record.skipped.iter().map(|skip| format!("{}: {}", skip.test, skip.reason)).collect();
    insta::assert_snapshot!(left_out.join("\n").replace(device.name(), "loopX"), @"
    prime: what lies on /dev/loopX is kept; --erase /dev/loopX allows it to be overwritten
    sequential-write: what lies on /dev/loopX is kept; --erase /dev/loopX allows it to be overwritten
    ");
    assert!(
        !record.cells.is_empty()
            && record
                .cells
                .iter()
                .all(|cell| cell.test == "sequential-read" && cell.stop != Stop::Error)
    );
    assert_eq!(sum(&image), before);
    insta::assert_snapshot!(refused(device.word(), &["--only", "prime"], &[&image], &names), @"
    exit 2
    flashmark: nothing to do: prime: what lies on /dev/loopX is kept; --erase /dev/loopX allows it to be overwritten
    ");
}

#[test]
fn a_file_with_content_is_only_read() {
    let scratch = Scratch::new();
    let file = scratch.image("photos.tar", 4 * MIB);
    let before = sum(&file);
    let flashmark = Flashmark::new();
    flashmark.done(&format!(
        "run {} --only prime,sequential-read --quiet --time-limit 1s",
        file.to_str().unwrap()
    ));
    assert_eq!(sum(&file), before);
    let record = flashmark.record();
    insta::assert_snapshot!(record.skipped[0].reason.replace(scratch.word(), "SCRATCH"), @"what is in 'SCRATCH/photos.tar' is kept; --erase SCRATCH/photos.tar allows it to be overwritten");
}

#[test]
fn memory_is_praised_for_nothing_and_goes_nowhere() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=128m", "tmpfs"], &scratch.directory("mnt"));
    let flashmark = Flashmark::new();
    let only = "prime,random-write,sequential-read";
    let words = format!(
        "run {} --only {only} --details --time-limit 3s --for root-disk --claim class=10",
        mount.word()
    );
    let ran = flashmark.done(&words);
    assert!(ran.out.contains("This is memory, not a medium: no storage was measured."), "{ran}");
    let next = "Name a directory on a medium, or its device; `flashmark list` shows them.";
    assert!(ran.flat().contains(next), "{ran}");
    let checked = Flashmark::new().run(&["check", mount.word()]);
    assert_eq!(checked.flat().matches(next).count(), 1, "once, not beside each answer: {checked}");
    assert!(
        ran.out.contains("Cannot be told here for") && !ran.out.to_lowercase().contains("good for"),
        "{ran}"
    );
    let record = flashmark.record();
    assert_eq!(fs::read_dir(mount.path()).unwrap().count(), 0, "the test file is gone");
    let unflagged = record.cells.iter().find(|cell| !cell.flags.contains(&Flag::MemoryFilesystem));
    assert!(unflagged.is_none(), "{unflagged:?}");
    let sent = flashmark.run(&["submit", "latest", "--to", "cards.git", "--yes"]);
    assert!(
        sent.code == Some(2)
            && sent.err.contains("measured memory, not a medium")
            && sent.err.lines().count() == 1,
        "{sent}"
    );
    let site = scratch.at("site");
    let published = flashmark.run(&["publish", site.to_str().unwrap()]);
    assert!(published.err.contains("is left out: it measured memory, not a medium"), "{published}");
}

#[test]
fn what_reaches_a_device_is_counted_and_has_no_caveat() {
    let Some((_scratch, _image, device)) = loop_device(64 * MIB) else { return };
    let flashmark = Flashmark::new();
    flashmark.done(&format!(
        "run {} --erase {} --suite quick --time-limit 20s --quiet",
        device.word(),
        device.word()
    ));
    let record = flashmark.record();
    let counted = record
        .cells
        .iter()
        .filter_map(|cell| cell.reach)
        .filter(|reach| reach.counted_read_bytes + reach.counted_written_bytes > 0);
    assert!(counted.count() > 0, "the kernel's counts are in the record");
    let caveat = record
        .cells
        .iter()
        .find(|cell| cell.flags.iter().any(|flag| matches!(flag, Flag::NotThisMedium { .. })));
    assert!(caveat.is_none(), "{caveat:?}");
}

#[test]
fn a_medium_smaller_than_what_the_suite_asks_for_is_measured_whole() {
    let Some((_scratch, _image, device)) = loop_device(MIB) else { return };
    let flashmark = Flashmark::new();
    let node = device.word();
    let words = format!("run {node} --erase {node} --suite quick --time-limit 3s --quiet");
    flashmark.done(&words);
    let record = flashmark.record();
    assert_eq!(record.run.ended, Ended::Complete);
    for cell in &record.cells {
        let (offset, bytes) =
            (cell.params.span_offset_bytes.unwrap_or(0), cell.params.span_bytes.unwrap_or(0));
        assert!(bytes > 0 && offset + bytes <= MIB, "{}: {bytes} at {offset}", cell.id);
    }
}

#[test]
fn a_directory_of_ones_own_needs_no_rights() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let own = scratch.directory("own");
    std::os::unix::fs::chown(&own, Some(65534), Some(65534)).unwrap();
    let at = own.to_str().unwrap();
    let words = ["run", at, "--only", "sequential-read", "--quiet", "--time-limit", "2s"];
    let (ran, kept) = as_nobody(&words);
    assert_eq!((ran.code, kept), (Some(0), 1), "{ran}");
    assert_eq!(fs::read_dir(&own).unwrap().count(), 0, "the test file is gone");
}

/// Its random writes were credited with data that earlier cells had left in the page cache.
#[test]
fn a_file_system_in_user_space_is_praised_for_nothing() {
    if !has_tool("fuse2fs") {
        return;
    }
    let Some((scratch, _image, device)) = loop_device(256 * MIB) else { return };
    tool("mkfs.ext4", &["-q", device.word()]);
    let at = scratch.directory("mnt");
    tool("fuse2fs", &[device.word(), at.to_str().unwrap()]);
    let mount = Mount::made_at(&at);
    let flashmark = Flashmark::new();
    let only = "prime,sequential-write,random-write";
    let words =
        format!("run {} --only {only} --for root-disk,camera --time-limit 3s", mount.word());
    let screen = flashmark.done(&words).out;
    assert!(screen.contains("it was not measured."), "{screen}");
    assert!(!screen.contains("GOOD") && !screen.contains("USABLE"), "{screen}");
    let record = flashmark.record();
    let gathered = |flag: &Flag| matches!(flag, Flag::Gathered { .. } | Flag::NotThisMedium { .. });
    assert!(record.cells.iter().any(|cell| cell.flags.iter().any(gathered)), "{:?}", record.flags);
}
