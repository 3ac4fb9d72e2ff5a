//! Beginnings of journeys: commands that make a run.

/// A command that leaves a run, and the exit code it ends with.
pub struct Start {
    /// Name of the test that runs it.
    pub group: &'static str,
    /// The command; `DIR` stands for an empty directory, `FIXTURES` for the samples of other tools.
    pub words: &'static [&'static str],
    /// The exit code that is documented for it.
    pub exit: i32,
}

impl Start {
    /// The command as it is typed.
    pub fn name(&self) -> String {
        self.words.join(" ")
    }
}

const fn start(group: &'static str, words: &'static [&'static str], exit: i32) -> Start {
    Start { group, words, exit }
}

/// Honest, fake and cheating media, media with a false flush, and media that fail; a directory; and
/// output of other tools.
pub const STARTS: &[Start] = &[
    start("check", &["check", "sim:a1", "--seed", "1"], 0),
    start("check", &["check", "sim:class10", "--seed", "1", "--for", "logger"], 0),
    start("check", &["check", "sim:fake-wrap", "--seed", "1"], 1),
    start("check", &["check", "sim:flush-liar", "--seed", "1", "--for", "database"], 1),
    start("check", &["check", "sim:span-cheat-64", "--seed", "1"], 0),
    start("check", &["check", "sim:worn", "--seed", "1"], 4),
    start("check", &["check", "DIR", "--seed", "1", "--budget", "5s"], 0),
    start("quick", &["run", "sim:a2-cq", "--suite", "quick", "--seed", "1"], 0),
    start("quick", &["run", "sim:disk-5400", "--suite", "quick", "--seed", "1"], 0),
    start("quick", &["run", "sim:fake-limbo", "--suite", "quick", "--seed", "1"], 1),
    start(
        "quick",
        &["run", "sim:class10", "--suite", "quick", "--claim", "class=10,app=A1", "--seed", "1"],
        1,
    ),
    start(
        "quick",
        &["run", "DIR", "--suite", "quick", "--only", "sequential-read,random-read", "--seed", "1"],
        0,
    ),
    start("standard", &["run", "sim:a1", "--suite", "standard", "--seed", "1"], 0),
    start("standard", &["run", "sim:class10", "--suite", "standard", "--seed", "1"], 0),
    start("standard", &["run", "sim:flush-liar", "--suite", "standard", "--seed", "1"], 0),
    start("standard", &["run", "sim:span-cheat-64", "--suite", "standard", "--seed", "1"], 0),
    start("full", &["run", "sim:class10", "--suite", "full", "--seed", "1"], 0),
    start("seeds", &["run", "sim:class6", "--suite", "seeds", "--seed", "1"], 0),
    start(
        "work",
        &[
            "matrix",
            "DIR",
            "--size",
            "64MiB",
            "--fs",
            "ext4",
            "--scheduler",
            "none",
            "--work",
            "logger",
            "--set",
            "logger.lines=40",
            "--repeats",
            "1",
            "--most-repeats",
            "1",
            "--seed",
            "5",
        ],
        0,
    ),
    start("work", &["replay", "TRACE", "sim:a1", "--speed", "max"], 0),
    start("import", &["import", "FIXTURES/fio_randwrite-4k-qd1.json"], 0),
    start("import", &["import", "FIXTURES/iozone_O.txt"], 0),
    start("import", &["import", "FIXTURES/dd_sweep_transcript.txt"], 0),
    start("import", &["import", "FIXTURES/hdparm_tT.txt"], 0),
    start("import", &["import", "FIXTURES/bonnie_2.00.txt"], 0),
];

/// Commands that leave no run and take none, and the tests that walk them.
pub const ELSEWHERE: &[(&str, &str)] = &[
    ("list", "devices"),
    ("resume", "crash"),
    ("restore", "restored"),
    ("tests", "terminals"),
    ("init", "repository"),
    ("serve", "serve"),
    ("incoming", "serve"),
    ("accept", "serve"),
    ("reject", "serve"),
    ("sim", "cases"),
    ("watch", "watch"),
    ("explain", "findings"),
    ("attach", "attach"),
    ("detach", "attach"),
];
