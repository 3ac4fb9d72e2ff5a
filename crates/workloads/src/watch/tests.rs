use record::Counters;
use serde_json::Value;

use super::table::COLUMNS;
use super::*;
use crate::cases::{self, Case};

/// The kernel's files, of which a line writes one; "N counts" in a line of `diskstats` is N as the
/// value of each counter.
struct Tree {
    dir: tempfile::TempDir,
    roots: Roots,
    /// A device that is watched, with the counters at its beginning.
    begun: Option<(Watched, CounterSnapshot)>,
}

impl Tree {
    fn new() -> Tree {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::copied(dir.path());
        Tree { dir, roots, begun: None }
    }
}

impl Case for Tree {
    fn build(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let at = |path: &str| {
            let path = self.dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        };
        match words[..] {
            ["link", from, to] => std::os::unix::fs::symlink(to, at(from)).unwrap(),
            ["counts", ref devices @ ..] => {
                let line = |device: &[&str]| {
                    let [number, name, count] = device else { panic!("{line}") };
                    let number = number.replace(':', " ");
                    format!("{number} {name}{}\n", format!(" {count}").repeat(17))
                };
                let lines: String = devices.chunks(3).map(line).collect();
                fs::write(at("proc/diskstats"), lines).unwrap();
            }
            ["remove", path] => fs::remove_file(at(path)).unwrap(),
            [path, ref text @ ..] => fs::write(at(path), text.join(" ") + "\n").unwrap(),
            [] => {}
        }
    }

    fn answer(&mut self, question: &str) -> String {
        let dir = self.dir.path().display().to_string();
        let found = match question.split_once(' ') {
            Some((what, name)) => find(&self.roots, &name.replace("DIR", &dir)).map(|watched| {
                let found = format!("{} {}", watched.name, watched.number);
                self.begun = Some((watched, look(&self.roots))).filter(|_| what == "watch");
                found
            }),
            None => {
                let (watched, before) = self.begun.as_ref().unwrap();
                let activity = watched.activity(&self.roots, before, &look(&self.roots));
                activity.map(|activity| format!("reads: {}", activity.read.ios_per_s > 0.0))
            }
        };
        found.unwrap_or_else(|error| error.to_string()).replace(&dir, "DIR")
    }
}

#[test]
fn every_device_is_found_and_missed_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    cases::check(&folder.join("src/watch/cases.txt"), Tree::new);
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
