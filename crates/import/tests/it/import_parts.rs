//! Where one output ends and the next begins, and what a line is taken for.

use std::path::PathBuf;

use import::{Hints, Import, understand};
use record::{Cell, Direction};

fn fixture(name: &str) -> String {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import/", name].concat().into();
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn import(text: &str) -> Import {
    let found = understand("x", text.as_bytes(), &Hints::default());
    found.unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn cells(text: &str) -> Vec<Cell> {
    import(text).records.into_iter().flat_map(|record| record.cells).collect()
}

/// Since July 2026 YABS prints true MB; the IOPS tell which a cell has.
#[test]
fn the_unit_of_yabs_follows_from_its_iops() {
    let head = "fio Disk Speed Tests (Mixed R/W 50/50) (Partition /dev/sda1):\n\
        Block Size | 4k            (IOPS) | 64k           (IOPS)\n";
    for (rate, expected, note) in [
        ("12.80 MB/s    (3.2k)", 13_107_200.0, "1000 KiB/s; corrected"),
        ("13.11 MB/s    (3.2k)", 13_110_000.0, ""),
        ("4.10 MB/s     (1.0k)", 4_100_000.0, "not corrected"),
    ] {
        let cell = cells(&format!("{head}Read       | {rate} | {rate}\n")).remove(0);
        assert_eq!(cell.metrics.bps.unwrap().value.round(), expected, "{rate}");
        let flags: String = cell.flags.iter().map(ToString::to_string).collect();
        assert!(
            flags.contains(note) && (!note.is_empty() || !flags.contains("correct")),
            "{flags}"
        );
    }
}

#[test]
fn each_output_of_yabs_is_on_its_partition() {
    let text = fixture("yabs.txt");
    let both = [text.clone(), text.replace("/dev/sda1", "/dev/sdb1")].concat();
    assert_eq!(import(&both).records.len(), 2);
}

#[test]
fn a_sweep_of_dd_ends_where_a_direction_repeats() {
    let sweep = "Block: 4K 8K\nWrite: 1.0 MB/s 2.0 MB/s\nBlock: 4K 8K\nRead: 3.0 MB/s 4.0 MB/s\n";
    assert_eq!((import(sweep).records.len(), cells(sweep).len()), (1, 4));
    assert_eq!(import(&sweep.repeat(2)).records.len(), 2);
    assert_eq!(import(&sweep.repeat(1005)).records.len(), 1000);
}

#[test]
fn the_name_of_pibenchmarks_alone_moves_no_result() {
    let dd = |path: &str| {
        format!(
            "$ dd if=/dev/zero of={path} bs=1M oflag=direct\n300+0 records in\n300+0 records out\n\
             314572800 bytes (315 MB, 300 MiB) copied, 15.7286 s, 20.0 MB/s\n"
        )
    };
    let runs = [dd("/mnt/a/x"), dd("/mnt/b/x")].concat();
    let of = |head: &str| import(&[head, &runs].concat()).records.len();
    assert_eq!((of(""), of("see PiBenchmarks\n")), (2, 2));
}

#[test]
fn a_mixed_line_of_a_job_that_reads_is_of_reads() {
    let text = fixture("fio_mixed.txt").replace("rw=randrw", "rw=randread");
    assert_eq!(cells(&text)[0].params.direction, Some(Direction::Read));
}

#[test]
fn h2testw_ends_with_its_version() {
    let text = "The media is likely to be defective.\n3.8 GByte OK (8099392 sectors)\n\
        1.0 KByte DATA LOST (2 sectors)\nWriting speed: 10.0 MByte/s\nReading speed: 20.0 MByte/s\nH2testw v1.4\n";
    let verified = |text: &str| cells(text).iter().filter(|cell| cell.test == "verify").count();
    assert_eq!(verified(text), 1);
    assert_eq!(verified(&text.repeat(2)), 2);
    assert_eq!(verified(&[text, "\n", text].concat()), 2);
    let german = fixture("h2testw_de.txt");
    let other = german.replace("Warnung: Nur", "Achtung: Nur");
    assert_eq!(verified(&other.repeat(2)), verified(&german.repeat(2)));
}

#[test]
fn bytes_from_a_medium_are_not_of_a_network() {
    let hdparm = fixture("hdparm_hg.txt");
    for (line, count) in [
        ("64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=0.52 ms", 0),
        ("read 4096 bytes from the card in 3.5 ms", 1),
    ] {
        assert_eq!(import(&[&hdparm, "\n", line, "\n"].concat()).left_count, count, "{line}");
    }
}

#[test]
fn a_rate_of_0_of_crystaldiskmark_is_noted() {
    let text = fixture("crystaldiskmark_8.txt");
    let line = text
        .lines()
        .find(|line| line.contains(" MB/s [") && line.contains("RND"))
        .or_else(|| text.lines().find(|line| line.contains(" MB/s [") && !line.contains("* MB")));
    let line = line.unwrap();
    let rate = line.split_once(" MB/s").unwrap().0.rsplit(':').next().unwrap().trim();
    let zero = text.replacen(line, &line.replacen(rate, "0.000", 1), 1);
    let record = import(&zero).records.remove(0);
    assert!(format!("{record:?}").contains("a rate of 0: the test failed or was not run"));
}
