//! A machine made of files: `sys`, `proc` and `dev` with just the files that the kernel would show.
//!
//! It is built and asked line by line, as `machines/README.md` describes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use blockio::FileIdentity;
use flashmark_host::{
    Access, Claim, HostPressure, InventoryEntry, Location, OpenFiles, Partition, ResolvedTarget,
    Roots, StatFile, buses, claim, contents, contents_of_file, diskstats, facts, find, fs_class,
    health, list, mount_of, mounts, nodes_like, parse_sdmon, parse_smartctl, recipe, resolve,
    throttled, uses,
};
use record::units::Bytes;
use record::{Record, Run};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;

/// Machines that others begin with.
const KNOWN: &str = include_str!("machines/known.txt");

/// A fabricated machine; removed on drop.
pub struct Machine {
    _dir: tempfile::TempDir,
    pub roots: Roots,
    mounts: String,
    /// Directories of devices, by name.
    devices: BTreeMap<String, String>,
    claim: Option<Claim>,
    noted: Option<InventoryEntry>,
    pressure: HostPressure,
}

impl Machine {
    /// A machine of these lines.
    pub fn of(lines: &str) -> Machine {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::copied(&fs::canonicalize(dir.path()).unwrap());
        let (devices, mounts) = (BTreeMap::new(), String::new());
        let mut machine = Machine {
            _dir: dir,
            roots,
            mounts,
            devices,
            claim: None,
            noted: None,
            pressure: HostPressure::default(),
        };
        for path in ["sys/block", "proc/self", "dev/disk/by-id", "dev/disk/by-path"] {
            fs::create_dir_all(machine.path(path)).unwrap();
        }
        machine.file("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
        lines.lines().for_each(|line| machine.add(line));
        machine
    }

    fn root(&self) -> &Path {
        self.roots.sys.parent().unwrap()
    }

    /// A path of the machine; one that begins with the name of a device and a `$` is below its
    /// directory.
    pub fn path(&self, path: &str) -> PathBuf {
        let Some(below) = path.strip_prefix('$') else { return self.root().join(path) };
        let (device, rest) = below.split_once('/').unwrap_or((below, ""));
        self.root().join(&self.devices[device]).join(rest)
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, from: &str, to: &str) {
        let from = self.path(from);
        fs::create_dir_all(from.parent().unwrap()).unwrap();
        symlink(self.path(to), from).unwrap();
    }

    /// A block device with its directory below `sys/devices` and its node.
    fn device(&mut self, place: &str, number: &str, attributes: &[(&str, String)]) {
        let name = place.rsplit('/').next().unwrap();
        let dir = if place.starts_with('$') {
            self.path(place).strip_prefix(self.root()).unwrap().to_str().unwrap().to_owned()
        } else {
            format!("sys/devices/{place}")
        };
        for (attribute, text) in attributes {
            self.file(&format!("{dir}/{attribute}"), &format!("{text}\n"));
        }
        self.file(&format!("{dir}/dev"), &format!("{number}\n"));
        self.file(&format!("dev/{name}"), &format!("block {number}"));
        for folder in ["holders", "slaves"] {
            fs::create_dir_all(self.path(&format!("{dir}/{folder}"))).unwrap();
        }
        self.devices.insert(name.to_owned(), dir);
    }

    fn disk(&mut self, place: &str, number: &str, bytes: u64) {
        let name = place.rsplit('/').next().unwrap();
        let fixed = ["ro", "removable", "queue/rotational"].map(|name| (name, "0".to_owned()));
        let size = [("size", (bytes / 512).to_string()), ("diskseq", "7".to_owned())];
        self.device(place, number, &[&fixed[..], &size].concat());
        self.link(&format!("sys/block/{name}"), &format!("${name}"));
    }

    fn partition(&mut self, disk: &str, name: &str, number: &str, start: u64, bytes: u64) {
        let index = name.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap().to_owned();
        let [start, size] = [start, bytes].map(|bytes| (bytes / 512).to_string());
        let attributes = [("partition", index), ("start", start), ("size", size)];
        self.device(&format!("${disk}/{name}"), number, &attributes);
    }

    fn mount(&mut self, number: &str, at: &str, kind: &str, source: &str, options: &str) {
        let id = 20 + self.mounts.lines().count();
        if Path::new(at).starts_with(self.root()) {
            fs::create_dir_all(at).unwrap();
        }
        self.mounts += &format!("{id} 1 {number} / {at} {options} - {kind} {source} {options}\n");
        self.file("proc/self/mountinfo", &self.mounts.clone());
    }

    /// A text in which `@PATH` stands for the device and inode of a file, as the table of locks has
    /// them, and `%PATH` for the same as the mappings of a process have them.
    fn with_identities(&self, text: &str) -> String {
        let word = |word: &str| {
            let Some((between, path)) = [("@", ":"), ("%", " ")]
                .iter()
                .find_map(|(mark, between)| Some((between, word.strip_prefix(mark)?)))
            else {
                return word.to_owned();
            };
            let found = fs::metadata(self.path(path)).unwrap();
            let [major, minor] = [rustix::fs::major(found.dev()), rustix::fs::minor(found.dev())];
            format!("{major:02x}:{minor:02x}{between}{}", found.ino())
        };
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }

    /// Adds to the machine, or changes it.
    pub fn add(&mut self, line: &str) {
        let line = line.replace("DIR", self.root().to_str().unwrap());
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["known", name] => {
                let lines = sections(KNOWN).find(|(title, _)| *title == name).unwrap().1;
                lines.lines().filter(|line| !line.is_empty()).for_each(|line| self.add(line));
            }
            ["disk", place, number, size] => self.disk(place, number, bytes(size)),
            ["partition", disk, name, number, start, size] => {
                self.partition(disk, name, number, bytes(start), bytes(size));
            }
            ["stack", upper, lower] => {
                self.link(&format!("${lower}/holders/{upper}"), &format!("${upper}"));
                self.link(&format!("${upper}/slaves/{lower}"), &format!("${lower}"));
            }
            ["link", from, to] => self.link(from, to),
            ["mount", number, at, kind, source, options] => {
                self.mount(number, at, kind, source, options);
            }
            ["nothing", "mounted"] => self.file("proc/self/mountinfo", ""),
            ["directory", path] => fs::create_dir_all(self.path(path)).unwrap(),
            ["sparse", path, size] => {
                fs::File::create(self.path(path)).unwrap().set_len(bytes(size)).unwrap();
            }
            ["bytes", path, offset, hex] => {
                let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
                let file = fs::OpenOptions::new().write(true).open(self.path(path)).unwrap();
                file.write_all_at(&bytes, offset.parse().unwrap()).unwrap();
            }
            ["hard", "link", from, to] => fs::hard_link(self.path(to), self.path(from)).unwrap(),
            ["fifo" | "socket", path] => {
                let kind = if words[0] == "fifo" { FileType::Fifo } else { FileType::Socket };
                mknodat(CWD, self.path(path), kind, Mode::RUSR, 0).unwrap();
            }
            ["identify", path, ref words @ ..] => self.file(path, &identify(words)),
            ["remove", path] => fs::remove_file(self.path(path)).unwrap(),
            ["release"] => self.claim.as_mut().unwrap().release(),
            ["note", "pressure"] => self.pressure = HostPressure::now(&self.roots),
            ["note", disk] => self.noted = Some(self.found(disk)),
            ["file", path, ref text @ ..] => {
                let text = self.with_identities(&text.join(" "));
                let text = text.replace("\\n", "\n").replace("\\t", "\t");
                let ended = text.strip_suffix("\\0").map(|text| format!("{text}\0"));
                self.file(path, &format!("{}\n", ended.unwrap_or(text)));
            }
            _ => panic!("{line}: no line of a machine"),
        }
    }

    /// The disk of that name.
    pub fn found(&self, name: &str) -> InventoryEntry {
        self.found_in(name).0
    }

    /// The disk or partition of that name.
    fn found_in(&self, name: &str) -> (InventoryEntry, Option<Partition>) {
        let number = self.roots.block_number(&Path::new("/dev").join(name)).unwrap();
        find(&self.roots, number).unwrap()
    }

    /// The answer to a question.
    pub fn ask(&mut self, question: &str) -> String {
        let root = self.root().to_str().unwrap().to_owned();
        let question = question.replace("DIR", &root);
        let words: Vec<&str> = question.split(' ').collect();
        let answer = match words[..] {
            ["uses", disk] => lines(uses(&self.roots, disk)),
            ["write", target] => self.resolved(target, Access::Write),
            ["read", target] => self.resolved(target, Access::Read),
            ["record", target] => {
                let found = resolve(&self.roots, target, Access::Read).unwrap();
                json(found.record(&self.roots, target), &["size_bytes", "free_bytes", "link"])
            }
            ["list"] => lines(list(&self.roots).into_iter().map(|disk| disk.name)),
            ["medium", disk] => json(self.found(disk).medium, &[]),
            ["link", disk] => json(self.found(disk).link, &[]),
            ["kind", disk] => format!("{:?}", self.found(disk).medium.kind),
            ["reader", disk] => format!("{:?}", self.found(disk).medium.behind_reader),
            ["queue", disk] => json(self.found(disk).queue(&self.roots), &[]),
            ["names", name] => {
                let (disk, partition) = self.found_in(name);
                lines(disk.ids_for(partition.as_ref()))
            }
            ["erase", name, id] => {
                let (disk, partition) = self.found_in(name);
                let is_it = disk.answers_for(partition.as_ref(), id.trim_matches('\''));
                if is_it { "yes" } else { "no" }.to_owned()
            }
            ["claim", node] => {
                let Ok(ResolvedTarget::Block(block)) = resolve(&self.roots, node, Access::Write)
                else {
                    panic!("{node} cannot be claimed")
                };
                said(claim(&self.roots, &block).map(|claim| self.claim = Some(claim)))
            }
            ["same"] => said(self.claim.as_ref().unwrap().still_same()),
            ["held"] => self.claim.as_ref().unwrap().is_held().to_string(),
            ["retake"] => said(self.claim.as_mut().unwrap().retake()),
            ["buses", disk] => {
                let found = buses(&self.roots, self.found(disk).number);
                lines(found.iter().map(|path| path.display()))
            }
            ["health"] => json(health(&self.roots, self.noted.as_ref().unwrap()), &[]),
            ["throttled"] => throttled(&self.roots).unwrap_or_default(),
            ["pressure", "since"] => {
                json(HostPressure::now(&self.roots).since(&self.pressure), &[])
            }
            ["pressure"] => format!("{:?}", HostPressure::now(&self.roots)),
            ["holds", image] => {
                let size_bytes = fs::metadata(self.path(image)).unwrap().len();
                lines(contents_of_file(&self.path(image), size_bytes).lines())
            }
            ["contents", disk] => lines(contents(&self.roots, &self.found(disk)).lines()),
            ["facts"] => json(facts(&self.roots), &[]),
            ["class", kind] => format!("{:?}", fs_class(kind)),
            ["on", ref path @ ..] => {
                let all = mounts(&self.roots);
                let mount = mount_of(&self.roots, &all, Path::new(&path.join(" "))).unwrap();
                format!("{} {} {} {}", mount.source, mount.root, mount.kind, mount.joined_options())
            }
            ["holders", path] => {
                let file = FileIdentity::of(&fs::metadata(self.path(path)).unwrap());
                lines(OpenFiles::look(&self.roots, &[file]).of_file(file))
            }
            ["like", node, bytes, ref changes @ ..] => {
                let mut record = Record::new(Run::default());
                let found = resolve(&self.roots, node, Access::Read).unwrap();
                record.target = found.record(&self.roots, node);
                record.medium = found.medium().unwrap().medium.clone();
                record.medium.capacity_bytes = bytes.parse().ok();
                for (field, value) in changes.iter().filter_map(|change| change.split_once('=')) {
                    let value = Some(value.to_owned()).filter(|value| !value.is_empty());
                    match field {
                        "device" => record.target.device = value,
                        "backing" => record.target.backing = value,
                        "serial" => record.medium.serial = value,
                        "model" => record.medium.model = value,
                        "vendor" => record.medium.vendor = value,
                        _ => record.medium.cid = value,
                    }
                }
                lines(nodes_like(&self.roots, &record).iter().map(|path| path.display()))
            }
            ["counters"] => lines(diskstats(&self.roots).iter().map(|one| format!("{one:?}"))),
            ["counters", number] => {
                let stat = StatFile::open(&self.roots, number.parse().unwrap());
                stat.and_then(|stat| stat.read())
                    .map_or_else(|error| error.to_string(), |found| format!("{found:?}"))
            }
            ["smartctl", ref words @ ..] => json(parse_smartctl(&words.join(" ")), &[]),
            ["sdmon", ref words @ ..] => json(parse_sdmon(&words.join(" ")), &[]),
            ["mkfs", name, unit] => {
                let (recipe, unit) =
                    (recipe(name).unwrap(), Some(bytes(unit)).filter(|it| *it > 0));
                let spec = recipe.spec(unit, &["noatime".to_owned()]);
                lines([spec.words(), recipe.mkfs_line(unit, "/dev/sdX")])
            }
            _ => panic!("{question}: no question to a machine"),
        };
        answer.replace(&root, "DIR")
    }

    /// What a target is, with its caveats, or its refusal.
    fn resolved(&self, target: &str, access: Access) -> String {
        let found = match resolve(&self.roots, target, access) {
            Ok(found) => found,
            Err(refusal) => return refusal.to_string(),
        };
        let what = match &found {
            ResolvedTarget::Directory(found) => format!("directory{}", located(&found.place)),
            ResolvedTarget::File(found) => {
                format!("file of {}{}", Bytes(found.size_bytes), located(&found.place))
            }
            ResolvedTarget::Block(found) => {
                format!("{} of {}", found.path.display(), Bytes(found.size_bytes()))
            }
        };
        let flags = found.flags().iter().map(|flag| format!("\n{flag:?}"));
        std::iter::once(what).chain(flags).collect()
    }
}

/// Where a directory or file is.
fn located(place: &Location) -> String {
    let name = |disk: &InventoryEntry| disk.name.clone();
    let words = [
        place.disk.as_ref().map(|disk| format!(" on {}", name(disk))),
        place
            .medium()
            .filter(|_| place.medium_below.is_some())
            .map(|it| format!(" over {}", name(it))),
        place.in_memory.then(|| " in memory".to_owned()),
        (place.disk.is_none() && !place.in_memory).then(|| " nowhere".to_owned()),
    ];
    words.into_iter().flatten().collect()
}

/// The titles of a file, each with the lines below it.
pub fn sections(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("\n## ").skip(1).map(|section| section.split_once('\n').unwrap())
}

fn said<E: std::fmt::Display>(outcome: Result<(), E>) -> String {
    outcome.map_or_else(|error| error.to_string(), |()| "yes".to_owned())
}

fn lines<T: std::fmt::Display>(all: impl IntoIterator<Item = T>) -> String {
    all.into_iter().map(|one| one.to_string()).collect::<Vec<_>>().join("\n")
}

/// JSON without what is unknown, and without these keys.
fn json(value: impl serde::Serialize, without: &[&str]) -> String {
    fn known(value: Value, without: &[&str]) -> Value {
        let fields = match value {
            Value::Object(fields) => fields,
            Value::Array(all) => return all.into_iter().map(|one| known(one, without)).collect(),
            other => return other,
        };
        let of_interest = |(key, value): &(String, Value)| {
            !value.is_null()
                && *value != Value::Array(Vec::new())
                && !without.contains(&key.as_str())
        };
        let kept = fields.into_iter().filter(of_interest);
        kept.map(|(key, value)| (key, known(value, without))).collect()
    }
    let value = known(serde_json::to_value(value).unwrap(), without);
    serde_json::to_string_pretty(&value).unwrap()
}

/// Bytes of "512", "64M", "8G".
fn bytes(text: &str) -> u64 {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: u64 = text.trim_end_matches(unit).parse().unwrap();
    number
        << match unit {
            "M" => 20,
            "G" => 30,
            _ => 0,
        }
}

/// The 256 words of a drive that libata keeps, some of them given as "83=4004", the model last.
fn identify(given: &[&str]) -> String {
    let mut all = [0u16; 256];
    for (at, word) in given.iter().filter_map(|word| word.split_once('=')) {
        all[at.parse::<usize>().unwrap()] = u16::from_str_radix(word, 16).unwrap();
    }
    let model: Vec<&str> = given.iter().filter(|word| !word.contains('=')).copied().collect();
    for (at, pair) in format!("{:<40}", model.join(" ")).as_bytes().chunks(2).enumerate() {
        all[27 + at] = u16::from_be_bytes([pair[0], pair[1]]);
    }
    all.map(|word| format!("{word:04x}")).join(" ")
}
