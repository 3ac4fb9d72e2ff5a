//! Bytes around the span are never written: neither by one test after the other, nor by suites put
//! together at random.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use stats::Random;

use crate::support::{Flashmark, LoopDevice, MIB, Scratch, has_root, seed, times};
use crate::tally::Tally;

/// Size of the medium, and of the parts that are compared and restored, in bytes.
const MEDIUM: u64 = 24 * MIB;
const PART: usize = 64 << 10;

/// Tests that write within a span, a line each: settings with possible values, of which one or none
/// is taken.
const WRITING: &str = "\
prime block=BLOCKS span=SPANS passes=1|2
random-write block=BLOCKS span=SPANS region=REGIONS content=CONTENTS overwhelm=4KiB|3MiB|65MiB
sequential-write block=BLOCKS span=SPANS region=middle|front content=CONTENTS begin=front|after total=SPANS
zero-fill block=BLOCKS span=SPANS region=REGIONS
random-fill block=BLOCKS span=SPANS region=REGIONS
sector-write block=512B|4KiB span=SPANS region=whole|middle
open-aus block=64KiB,4KiB|16KiB form=linear|random most=2|32 au=512KiB|4MiB
write-unit block=512|1KiB,128KiB|256KiB span=SPANS
misalign block=4KiB|64KiB shift=0,512|4KiB form=in-a-row|random au=512KiB|4MiB
span-sweep block=4KiB|512 span=1GiB,8MiB|16MiB,8MiB whole=yes|no au=512KiB|4MiB
content-sweep block=BLOCKS span=SPANS form=zeros,rewrite-equal|incompressible,rewrite-new
sustained form=first block=BLOCKS
flush-cost block=BLOCKS form=plain|flushed|durable span=SPANS rest=1ms
capacity cache=1MiB|1GiB restore=yes|no|auto keep=1MiB|8MiB
verify region=REGIONS span=SPANS block=64KiB|1MiB parts=1|16";

/// Values of a setting in [`WRITING`].
fn values(written: &str) -> Vec<&str> {
    let values = match written {
        "BLOCKS" => "512|4KiB|16KiB|64KiB|1MiB",
        "SPANS" => "1MiB|5MiB|16MiB|512MiB",
        "REGIONS" => "middle|front|whole",
        "CONTENTS" => "zeros|repeated|incompressible",
        values => values,
    };
    values.split('|').collect()
}

/// Names of the tests that write, as the program lists them.
fn writing_tests() -> Vec<String> {
    let writing = suite::catalogue::CATALOGUE.iter().filter(|test| test.needs().writing);
    writing.map(|test| test.name().to_owned()).collect()
}

/// Two to four tests that write, with random settings.
fn random_tests(chance: &mut Random) -> String {
    let (tests, count) = (WRITING.lines().collect::<Vec<_>>(), 2 + chance.below(3));
    let one = |_| {
        let test = tests[chance.below(tests.len() as u64) as usize];
        let (test, choices) = test.split_once(' ').unwrap();
        let mut words = test.to_owned();
        for (name, written) in choices.split(' ').filter_map(|choice| choice.split_once('=')) {
            // Waiting is never left to the test's own taste.
            if name == "rest" || name == "form" || chance.below(2) == 0 {
                let values = values(written);
                let value = values[chance.below(values.len() as u64) as usize];
                words += &format!(" {name}={value}");
            }
        }
        words
    };
    (0..count).map(one).collect::<Vec<_>>().join("; ")
}

/// A span of the medium: offset and length in bytes. Most begin and end at a multiple of 4 KiB,
/// some at any sector.
fn random_span(chance: &mut Random) -> (u64, u64) {
    let block = if chance.below(4) == 0 { 512 } else { 4096 };
    let bytes = (1 + chance.below(MEDIUM / 2 / block)) * block;
    (chance.below((MEDIUM - bytes) / block + 1) * block, bytes)
}

/// A medium with a pattern on it, in memory if there is a file system in memory. It is made once,
/// and restored after each try.
struct Patterned {
    image: PathBuf,
    pattern: Arc<Vec<u8>>,
    now: Vec<u8>,
    device: LoopDevice,
    place: PathBuf,
    scratch: Scratch,
}

/// Changes of the medium.
#[derive(Debug, PartialEq)]
struct Changes {
    inside: bool,
    /// Offset of the first changed byte around the span.
    around: Option<u64>,
}

impl Patterned {
    fn new(pattern: &Arc<Vec<u8>>) -> Patterned {
        let scratch = Scratch::in_memory();
        let image = scratch.file("image", &**pattern);
        let device = LoopDevice::with(&image, &[]);
        Patterned {
            image,
            pattern: Arc::clone(pattern),
            now: vec![0; PART],
            device,
            place: scratch.at("tries"),
            scratch,
        }
    }

    /// Opens the image for writing, which keeps the program from using it.
    fn open(&self) -> File {
        File::options().read(true).write(true).open(&self.image).unwrap()
    }

    /// Changes within and around a span; the pattern is restored.
    fn changes(&mut self, offset: u64, bytes: u64) -> Changes {
        let mut changes = Changes { inside: false, around: None };
        let image = self.open();
        for (number, before) in self.pattern.chunks(PART).enumerate() {
            let at = (number * PART) as u64;
            image.read_exact_at(&mut self.now, at).unwrap();
            if self.now == before {
                continue;
            }
            for (byte, _) in
                self.now.iter().zip(before).enumerate().filter(|(_, (now, before))| now != before)
            {
                let place = at + byte as u64;
                match (offset..offset + bytes).contains(&place) {
                    true => changes.inside = true,
                    false => changes.around = changes.around.or(Some(place)),
                }
            }
            image.write_all_at(before, at).unwrap();
        }
        changes
    }

    /// Runs these words in a random span, no longer than the limit, and checks that everything
    /// around the span is as it was. True if the span was written.
    fn stays_in_its_span(&mut self, what: &[&str], limit: &str, chance: &mut Random) -> bool {
        let _ = fs::remove_dir_all(&self.place);
        let (offset, bytes) = random_span(chance);
        let flashmark = Flashmark::keeping_at(&self.place);
        let (span, seed) = (format!("{offset}+{bytes}"), chance.below(1000).to_string());
        let node = self.device.word();
        let words = ["run", node, "--erase", node, "--span", &span, "--seed", &seed];
        let ran = flashmark.run(&[&words[..], what, &["--time-limit", limit, "--quiet"]].concat());
        let changes = self.changes(offset, bytes);
        assert_eq!(
            changes.around, None,
            "{what:?}, --span {span} --seed {seed} wrote outside of its span: {ran}"
        );
        let did = changes.inside || !flashmark.runs().is_empty();
        assert_eq!(
            ran.code,
            Some(if did { 0 } else { 2 }),
            "{what:?}, --span {span} --seed {seed}: {ran}"
        );
        changes.inside
    }

    /// One of many tries: a test or a suite, in turn.
    fn attempt(&mut self, turn: u64, tests: &[String], tallies: &mut Tallies) {
        let mut chance = Random::new(seed(3).wrapping_mul(1_000_000_007).wrapping_add(turn));
        if turn.is_multiple_of(2) {
            let test = tests[turn as usize / 2 % tests.len()].as_str();
            let came = tallies.one.attempt(1, &format!("turn {turn}, {test}"), |_| {
                self.stays_in_its_span(&["--suite", "quick", "--only", test], BRIEFLY, &mut chance)
            });
            tallies.one.count("wrote", u64::from(came == Some(true)));
            *tallies.wrote.entry(test.to_owned()).or_default() += u64::from(came == Some(true));
        } else {
            let tests = random_tests(&mut chance);
            let suite = self.scratch.suite(&tests);
            let came = tallies.many.attempt(1, &format!("turn {turn}, {tests}"), |_| {
                self.stays_in_its_span(&["--suite", &suite], BRIEFLY, &mut chance)
            });
            tallies.many.count("wrote", u64::from(came == Some(true)));
        }
    }
}

/// Results of the tries of one thread.
struct Tallies {
    one: Tally,
    many: Tally,
    wrote: BTreeMap<String, u64>,
}

impl Tallies {
    fn new() -> Tallies {
        let of = |what: &str| {
            Tally::of(
                "spans",
                format!("{what} in a random span of a loop device, bytes around it compared"),
            )
        };
        Tallies {
            one: of("one test"),
            many: of("a random suite of 2 to 4 tests"),
            wrote: BTreeMap::new(),
        }
    }

    fn and(mut self, other: Tallies) -> Tallies {
        for (test, count) in other.wrote {
            *self.wrote.entry(test).or_default() += count;
        }
        Tallies { one: self.one.and(other.one), many: self.many.and(other.many), wrote: self.wrote }
    }
}

/// Time limit of each of many tries.
const BRIEFLY: &str = "250ms";

/// Tries that run at a time: each waits for its medium as often as it computes.
fn at_a_time() -> u64 {
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    times("THREADS", processors)
}

#[test]
fn nothing_around_the_span_is_written() {
    if !has_root() {
        return;
    }
    let tests = writing_tests();
    assert!(tests.len() >= 4, "{tests:?}");
    let turns = times("SPANS", 60).max(2 * tests.len() as u64);
    let pattern = Arc::new(Scratch::pattern(MEDIUM));
    let next = AtomicU64::new(0);
    let tallies = std::thread::scope(|scope| {
        let work = || {
            let (mut medium, mut tallies) = (Patterned::new(&pattern), Tallies::new());
            loop {
                match next.fetch_add(1, Ordering::Relaxed) {
                    turn if turn < turns => medium.attempt(turn, &tests, &mut tallies),
                    _ => return tallies,
                }
            }
        };
        let threads: Vec<_> = (0..at_a_time()).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).reduce(Tallies::and).unwrap()
    });
    let lost: Vec<String> =
        [tallies.one, tallies.many].into_iter().filter_map(Tally::report).collect();
    assert!(lost.is_empty(), "{}", lost.join("\n"));
    let (mut medium, mut chance) = (Patterned::new(&pattern), Random::new(seed(4)));
    for test in ["prime", "random-write", "sequential-write", "random-fill"] {
        let what = ["--suite", "quick", "--only", test];
        // A busy machine may come to no write in so short a time.
        let wrote = tallies.wrote[test] > 0
            || (0..10).any(|_| medium.stays_in_its_span(&what, "10s", &mut chance));
        assert!(wrote, "{test} never wrote anything: {:?}", tallies.wrote);
    }
}

#[test]
fn what_is_written_around_a_span_is_seen() {
    if !has_root() {
        return;
    }
    let pattern = Arc::new(Scratch::pattern(MEDIUM));
    let mut medium = Patterned::new(&pattern);
    let far = MEDIUM - 1;
    for (place, around) in
        [(4096, None), (8191, None), (4095, Some(4095)), (8192, Some(8192)), (far, Some(far))]
    {
        medium.open().write_all_at(&[!pattern[place as usize]], place).unwrap();
        assert_eq!(medium.changes(4096, 4096), Changes { inside: around.is_none(), around });
        assert_eq!(medium.changes(4096, 4096), Changes { inside: false, around: None });
    }
}
