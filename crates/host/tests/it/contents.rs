//! Test of the contents of media as common tools leave them, by libblkid's rules.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use flashmark_host::{Contents, Roots, contents_of_file, list};

const MIB: u64 = 1 << 20;

/// An image of so many bytes, with data but without a signature.
fn image(dir: &tempfile::TempDir, bytes: u64) -> PathBuf {
    let path = dir.path().join("image");
    let content: Vec<u8> = (0..bytes).map(|at| (at / 512 % 251) as u8 ^ 0x5a).collect();
    fs::write(&path, content).unwrap();
    path
}

fn write(path: &Path, offset: u64, bytes: &[u8]) {
    fs::OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, offset).unwrap();
}

/// True if a tool could be run; prints a note if it is missing.
fn tool(program: &str, words: &[&str]) -> bool {
    match Command::new(program).args(words).env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin").output() {
        Ok(output) => {
            assert!(
                output.status.success(),
                "{program} {words:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            true
        }
        Err(error) => {
            crate::skipped::skipped(&format!("needs {program}: {error}"));
            false
        }
    }
}

fn look(path: &Path) -> Contents {
    contents_of_file(path, fs::metadata(path).unwrap().len())
}

/// An entry of a partition table of MS-DOS: kind, first sector, sectors.
fn dos_table(path: &Path, entries: &[(u8, u32, u32)]) {
    for (number, (kind, start, sectors)) in entries.iter().enumerate() {
        let entry =
            [&[0, 0, 0, 0, *kind, 0, 0, 0][..], &start.to_le_bytes(), &sectors.to_le_bytes()]
                .concat();
        write(path, 446 + 16 * number as u64, &entry);
    }
    for number in entries.len()..4 {
        write(path, 446 + 16 * number as u64, &[0; 16]);
    }
    write(path, 510, &[0x55, 0xaa]);
}

#[test]
fn every_file_system_with_its_label() {
    let makers = [
        ("mkfs.ext4", "-q -F -L", "MYPHOTOS", 32, "ext4 'MYPHOTOS', 32 MiB, never mounted"),
        ("mkfs.ext2", "-q -F -L", "old ones", 8, "ext2 'old ones', 8 MiB, never mounted"),
        ("mkfs.vfat", "-n", "MY CARD", 32, "vfat 'MY CARD', 32 MiB"),
        ("mkfs.xfs", "-q -f -L", "scratch", 512, "xfs 'scratch', 512 MiB"),
        ("mkfs.btrfs", "-q -f -L", "pool", 256, "btrfs 'pool', 256 MiB"),
        ("mkswap", "-L", "exchange", 16, "swap 'exchange', 16 MiB"),
    ];
    for (maker, options, label, mib, expected) in makers {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = dir.path().join("image");
        fs::File::create(&path).unwrap().set_len(mib * MIB).unwrap();
        let words = options.split(' ').chain([label, path.to_str().unwrap()]);
        if tool(maker, &words.collect::<Vec<_>>()) {
            let found = look(&path);
            assert_eq!((found.lines(), found.is_empty()), (vec![expected.to_owned()], Some(false)));
        }
    }
}

#[test]
fn what_is_encrypted_is_called_so() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let path = image(&dir, 32 * MIB);
    let format = "luksFormat --batch-mode --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
                  --key-file /proc/version";
    let words = format.split_whitespace().chain([path.to_str().unwrap()]);
    if tool("cryptsetup", &words.collect::<Vec<_>>()) {
        assert_eq!(look(&path).lines(), ["crypto_LUKS (encrypted), 32 MiB"]);
    }
}

#[test]
fn every_partition_of_a_table_that_no_kernel_has_read() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let path = image(&dir, 64 * MIB);
    // 2: extended, with a logical partition of 16 MiB in it
    dos_table(&path, &[(0x83, 2048, 40960), (0x0f, 43008, 65536), (0x83, 108_544, 20480)]);
    let inner = [
        &[0; 446][..],
        &[0, 0, 0, 0, 0x83, 0, 0, 0],
        &2048u32.to_le_bytes(),
        &32768u32.to_le_bytes(),
        &[0; 48],
        &[0x55, 0xaa],
    ]
    .concat();
    write(&path, 43008 * 512, &inner);
    let photos = dir.path().join("photos");
    fs::File::create(&photos).unwrap().set_len(20 * MIB).unwrap();
    if !tool("mkfs.ext4", &["-q", "-F", "-L", "MYPHOTOS", photos.to_str().unwrap()]) {
        return;
    }
    write(&path, MIB, &fs::read(&photos).unwrap());
    insta::assert_snapshot!(look(&path).lines().join("\n"), @r"
    partition table dos, 3 partitions
    partition 1: ext4 'MYPHOTOS', 20 MiB, never mounted
    partition 5: nothing that is known, 16 MiB
    partition 3: nothing that is known, 10 MiB
    ");
    assert_eq!(look(&path).summary(), "dos with ext4 'MYPHOTOS'");
    let before = look(&path).identity_lines();
    write(&path, MIB + 1024 + 0x2c, &1_795_197_840u32.to_le_bytes());
    assert!(look(&path).lines()[1].ends_with("20 MiB, last mounted 2026-11-20 18:04 UTC"));
    assert_eq!(look(&path).identity_lines(), before, "a mount makes no other medium of it");
    write(&path, MIB + 1024 + 0x78, b"HOLIDAY\0");
    assert_ne!(look(&path).identity_lines(), before, "another label is another medium");
}

#[test]
fn signatures_that_contradict_one_another_are_not_nothing() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let path = image(&dir, 40 * MIB);
    let fat = dir.path().join("fat");
    fs::File::create(&fat).unwrap().set_len(40 * MIB).unwrap();
    if !tool("mkfs.ext4", &["-q", "-F", path.to_str().unwrap()])
        || !tool("mkfs.vfat", &[fat.to_str().unwrap()])
    {
        return;
    }
    write(&path, 0, &fs::read(&fat).unwrap()[..512]);
    assert_eq!(
        (look(&path).is_empty(), look(&path).lines()[0].as_str()),
        (Some(false), "several signatures that contradict one another, 40 MiB")
    );
}

/// A medium without a signature counts as empty only if its edges can be read completely.
#[test]
fn data_without_a_signature_is_nothing_and_what_was_not_read_is_not_called_nothing() {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let described = |bytes, announced_bytes| {
        let contents = contents_of_file(&image(&dir, bytes), announced_bytes);
        (contents.is_empty(), contents.unknown.unwrap_or_default())
    };
    let empty = (Some(true), String::new());
    // the last sector need not be whole
    for bytes in [8 * MIB, MIB, 5000, 2000] {
        assert_eq!(described(bytes, bytes), empty, "{bytes}");
    }
    let short = |read, at| (None, format!("only {read} of {MIB} bytes could be read at byte {at}"));
    assert_eq!(described(MIB / 2, MIB), short(MIB / 2, 0));
    assert_eq!(described(2 * MIB, 4 * MIB), short(0, 3 * MIB));
    assert_eq!(contents_of_file(&dir.path().join("gone"), MIB).is_empty(), None);
}

#[test]
fn every_medium_of_this_machine_can_be_looked_at() {
    let roots = Roots::default();
    for disk in list(&roots) {
        let contents = flashmark_host::contents(&roots, &disk);
        assert!(
            !contents.lines().is_empty()
                && contents.lines().iter().all(|line| !line.contains('\n')),
            "{}: {contents:?}",
            disk.name
        );
    }
}
