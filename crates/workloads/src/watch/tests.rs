use record::Counters;
use serde_json::Value;

use super::table::COLUMNS;
use super::*;

/// A tree with one disk of two partitions, a card reader without a card, and links.
struct Tree {
    dir: tempfile::TempDir,
    roots: Roots,
}

impl Tree {
    fn new() -> Tree {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::copied(dir.path());
        fs::create_dir_all(roots.proc.join("self")).unwrap();
        fs::create_dir_all(roots.dev.join("disk/by-id")).unwrap();
        let tree = Tree { dir, roots };
        for (number, name, size) in
            [("8:0", "sda", "2000"), ("8:1", "sda1", "1000"), ("8:16", "sdb", "0")]
        {
            fs::create_dir_all(tree.sys(number)).unwrap();
            fs::write(tree.sys(number).join("size"), format!("{size}\n")).unwrap();
            fs::write(tree.sys(number).join("diskseq"), "7\n").unwrap();
            fs::write(tree.roots.dev.join(name), format!("block {number}")).unwrap();
        }
        std::os::unix::fs::symlink(
            "../../sda1",
            tree.roots.dev.join("disk/by-id/usb-Cheap_Stick-part1"),
        )
        .unwrap();
        tree.count(&[("8 0 sda", 0), ("8 1 sda1", 0), ("8 16 sdb", 0)]);
        tree
    }

    fn sys(&self, number: &str) -> PathBuf {
        self.roots.sys.join("dev/block").join(number)
    }

    /// Sets all counters of these devices to this number.
    fn count(&self, disks: &[(&str, u64)]) {
        let line =
            |(disk, count): &(&str, u64)| format!("{disk}{}\n", format!(" {count}").repeat(17));
        fs::write(self.roots.proc.join("diskstats"), disks.iter().map(line).collect::<String>())
            .unwrap();
    }

    fn find(&self, asked: &str) -> Result<Watched, String> {
        find(&self.roots, asked).map_err(|error| error.to_string())
    }

    fn look(&self) -> CounterSnapshot {
        look(&self.roots)
    }
}

#[test]
fn a_device_has_many_names() {
    let tree = Tree::new();
    for asked in
        ["sda1", "/dev/sda1", "/dev/disk/by-id/usb-Cheap_Stick-part1", "usb-Cheap_Stick-part1"]
    {
        let found = tree.find(asked).unwrap();
        assert_eq!(
            (found.name.as_str(), found.number.to_string().as_str()),
            ("sda1", "8:1"),
            "{asked}"
        );
    }
}

#[test]
fn a_missing_device_is_refused_with_those_present() {
    let tree = Tree::new();
    let message = |asked: &str| tree.find(asked).unwrap_err();
    insta::assert_snapshot!(message("sda2"), @"there is no device 'sda2'; did you mean sda or sda1 or sdb?");
    insta::assert_snapshot!(message("/dev/disk/by-id/usb-Cheap"), @"there is no device '/dev/disk/by-id/usb-Cheap'; did you mean usb-Cheap_Stick-part1?");
    insta::assert_snapshot!(message("nvme0n1"), @"there is no device 'nvme0n1'; `flashmark list` shows what is plugged in");
    insta::assert_snapshot!(message("sdb"), @"sdb holds no medium (size 0); put one in, or see `flashmark list`");
    let here = tree.dir.path().display().to_string();
    assert_eq!(message(&here), format!("'{here}' is a directory, not a block device"));
}

#[test]
fn a_device_that_vanishes_is_missed_and_another_is_not_taken_for_it() {
    let tree = Tree::new();
    let watched = tree.find("sda").unwrap();
    let before = tree.look();
    tree.count(&[("8 0 sda", 5), ("8 1 sda1", 5)]);
    let activity = |after: &CounterSnapshot| {
        watched.activity(&tree.roots, &before, after).map_err(|error| error.to_string())
    };
    assert!(activity(&tree.look()).unwrap().read.ios_per_s > 0.0);

    tree.count(&[("8 1 sda1", 5)]);
    insta::assert_snapshot!(activity(&tree.look()).unwrap_err(), @"sda is gone: the kernel does not know it any more");
    tree.count(&[("8 0 sdc", 5)]);
    insta::assert_snapshot!(activity(&tree.look()).unwrap_err(), @"sda is gone: the kernel does not know it any more");
    tree.count(&[("8 0 sda", 6)]);
    fs::write(tree.sys("8:0").join("size"), "0\n").unwrap();
    insta::assert_snapshot!(activity(&tree.look()).unwrap_err(), @"sda is gone: there is no medium in it any more");
    fs::write(tree.sys("8:0").join("size"), "2000\n").unwrap();
    fs::write(tree.sys("8:0").join("diskseq"), "8\n").unwrap();
    insta::assert_snapshot!(activity(&tree.look()).unwrap_err(), @"sda is gone: another medium has taken its place");
    fs::remove_file(tree.sys("8:0").join("diskseq")).unwrap();
}

/// Both are computed from the same counters and the same time, so nothing is allowed but iostat's
/// rounding to two digits.
#[test]
fn recorded_counters_give_what_iostat_printed_of_them() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/iostat/looks.json");
    let fixture: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    // Its first report is of all that was counted since the system started.
    let mut before = (0, Counters::from_fields(&[0; 17]).unwrap());
    let mut compared = 0;
    for look in fixture["looks"].as_array().unwrap() {
        let [uptime_s, stat] = ["uptime_s", "stat"].map(|name| look[name].as_str().unwrap());
        let centiseconds: u64 = uptime_s.replace('.', "").parse().unwrap();
        let fields = stat.split_whitespace().map(|word| word.parse().unwrap());
        let now = (centiseconds, Counters::from_fields(&fields.collect::<Vec<u64>>()).unwrap());
        let activity =
            Activity::between(&before.1, &now.1, (now.0 - before.0) * 10_000_000).unwrap();
        let ours = object("disk", &activity);
        let printed = look["iostat"].as_object().unwrap();
        for (name, theirs) in printed.iter().filter(|(name, _)| *name != "disk_device") {
            let (ours, theirs) = (ours[name].as_f64().unwrap(), theirs.as_f64().unwrap());
            let rounding = 0.005 + 1e-9 * theirs.abs();
            assert!(
                (ours - theirs).abs() <= rounding,
                "{name}: {ours}, iostat says {theirs} of {stat} at {uptime_s}"
            );
            compared += 1;
        }
        before = now;
    }
    // Nine looks of 22 columns each.
    assert_eq!(compared, 198);
}

#[test]
fn a_line_holds_every_column_under_its_head() {
    let after = Counters::from_fields(&[0, 0, 0, 0, 204, 0, 2208, 135_464, 0, 936, 89_200]);
    let activity = Activity::between(&Counters::default(), &after.unwrap(), 10_000_000_000);
    let (header, line) = (header(), line("sda", &activity.unwrap()));
    let shown: Vec<(&str, &str)> = header.split_whitespace().zip(line.split_whitespace()).collect();
    assert_eq!((header.len(), shown.len()), (line.len(), COLUMNS.len() + 1));
    for pair in
        [("w/s", "20.40"), ("aqu-sz", "8.92"), ("svctm", "4.59"), ("d/s", "-"), ("f/s", "-")]
    {
        assert!(shown.contains(&pair), "{pair:?} {shown:?}");
    }
}
