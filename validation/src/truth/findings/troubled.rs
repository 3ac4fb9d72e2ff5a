//! Media behind volatile caches, with pauses, slow flushes and odd allocation units, on hosts that
//! stall: fakes and tricks must be found, nothing false may be said of the others, and the host
//! must not change a verdict.

use ::findings::phrases::{DO_NOT_USE, FEW_SAMPLES, FLUSH_EMPTIES, FLUSH_LIES, IS_FAKE};
use record::units::SECOND_NS;
use record::{Condition, Fitness, Use};
use record::{Finding, Record, Severity};
use stats::Random;
use suite::catalogue::capacity::trial::{CapacityKind, Geometry};
use suite::definition::Suite;

use super::cache::Cache;
use super::dice::Dice;
use super::look::{cell_text, look_through, suite};
use super::medium::Medium;
use super::row::Target;
use super::trick::{TRICKS, is_claim};
use super::trouble::Trouble;
use super::{Part, Wrong, each, some};

/// Number of media of each row.
const OF_EACH: u64 = 300;

/// A medium and its disturbances.
struct Drawn {
    profile: String,
    trouble: Trouble,
    seed: u64,
}

impl Drawn {
    fn new(medium: &Medium, cache: Cache, seed: u64, dice: &mut Dice) -> Drawn {
        Drawn {
            profile: medium.profile(),
            trouble: Trouble::draw(cache, medium.write_mbps(), dice),
            seed,
        }
    }

    fn look(&self, suite: &Suite) -> Record {
        look_through(&self.profile, &self.trouble, suite, self.seed, false)
    }

    /// Makes a wrong statement about it.
    fn wrong(&self, what: impl std::fmt::Display, detail: &str) -> Wrong {
        let Trouble { pausing, host } = &self.trouble;
        let host_s = host.iter().map(|stall| stall.to_ns - stall.from_ns).max().unwrap_or(0) as f64
            / SECOND_NS as f64;
        Wrong::without_medium(format!(
            "{what}: seed {}, {pausing:?}, the host up to {host_s:.2} s, {} times\n{}finding: {detail}\n",
            self.seed,
            host.len(),
            self.profile
        ))
    }

    /// Makes a wrong statement with the cells of these tests, and their findings.
    fn misled(
        &self,
        what: impl std::fmt::Display,
        record: &Record,
        tests: &[&str],
        detail: &str,
    ) -> Wrong {
        let cells: String = record
            .cells
            .iter()
            .filter(|cell| tests.contains(&cell.test.as_str()))
            .map(cell_text)
            .collect();
        let own = |finding: &&Finding| {
            tests.iter().any(|test| finding.evidence.iter().any(|line| line.contains(test)))
        };
        let found = record
            .findings
            .iter()
            .filter(own)
            .map(|it| format!("{}: {} [{}]", it.id, it.statement, it.evidence.join("; ")));
        self.wrong(
            what,
            &format!("{detail}\nfindings: {}\n{cells}", found.collect::<Vec<_>>().join("\n")),
        )
    }
}

/// Draws a clean medium, half of them behind a cache that a flush empties.
fn clean(seed: u64, number: u64) -> Drawn {
    let mut dice = Dice::new(seed, "troubled", number);
    let cache = if dice.happens(0.5) { Cache::Queue { honest: true } } else { Cache::None };
    let medium = Medium::of_any_unit(number, &mut dice).behind(cache, &mut dice);
    Drawn::new(&medium, cache, seed.wrapping_add(number), &mut dice)
}

/// Makes the rows, with this share of the media.
pub fn hold(seed: u64, share: f64) -> Part {
    let many = some(OF_EACH, share);
    let mut part = Part::default();
    fakes(seed, many, &mut part);
    tricks(seed, many, &mut part);
    lying_flushes(seed, many, &mut part);
    adverse_findings(seed, many, &mut part);
    verdicts(seed, many, &mut part);
    part
}

/// Statement of the verdict.
fn first(record: &Record) -> &str {
    record
        .findings
        .iter()
        .find(|finding| finding.id == "verdict")
        .map_or("nothing", |finding| finding.statement.as_str())
}

/// Draws a fake, each kind in turn. In every other case less than half is real: its middle is
/// missing.
fn fake(seed: u64, number: u64) -> Drawn {
    let kind =
        [CapacityKind::Limbo, CapacityKind::Wraparound, CapacityKind::Chain][(number % 3) as usize];
    let mut random = Random::for_purpose(seed.wrapping_add(number), "fake");
    let mut dice = Dice::new(seed, "fake", number);
    let is_wanted = |geometry: &Geometry| {
        number.is_multiple_of(2)
            || geometry.wrap_bytes.unwrap_or(geometry.real_bytes) < geometry.capacity_bytes / 2
    };
    let geometry = std::iter::repeat_with(|| Geometry::draw(kind, &mut random))
        .find(is_wanted)
        .expect("there is no end to them");
    let geometry = Geometry { write_bps: dice.spread(3.0, 40.0) as u64 * 1_000_000, ..geometry };
    let trouble =
        Trouble::draw(Cache::Queue { honest: true }, geometry.write_bps as f64 / 1e6, &mut dice);
    Drawn { profile: geometry.profile(), trouble, seed: seed.wrapping_add(number) }
}

/// Makes the rows on fakes: every suite recognises a fake, and calls nothing else one.
fn fakes(seed: u64, many: u64, part: &mut Part) {
    for name in Suite::names() {
        let suite = Suite::built_in(name).expect("it comes with the program");
        let missed = each(many, |number| {
            let drawn = fake(seed, number);
            let record = look_through(&drawn.profile, &drawn.trouble, &suite, drawn.seed, true);
            let is_found = first(&record).starts_with(&format!("{DO_NOT_USE} {IS_FAKE}"));
            (!is_found).then(|| {
                drawn.misled(
                    format!("fake not found by {name}"),
                    &record,
                    &["capacity"],
                    first(&record),
                )
            })
        });
        part.row(format!("fakes: found by {name}"), Target::AtLeast(100.0), missed);
        let mut probe = suite;
        probe.tests.truncate(1);
        let falsely = each(many, |number| {
            let drawn = clean(seed, number);
            let record = look_through(&drawn.profile, &drawn.trouble, &probe, drawn.seed, true);
            let failed =
                record.findings.iter().find(|finding| finding.severity == Severity::Failure);
            failed.map(|finding| {
                drawn.wrong(format!("genuine, and condemned by {name}"), &finding.statement)
            })
        });
        part.row(format!("genuine: condemned by the probe of {name}"), Target::Below(1.0), falsely);
    }
}

/// Makes the rows on media with a trick, half of them behind a cache, honest or not.
fn tricks(seed: u64, many: u64, part: &mut Part) {
    let suite = suite();
    for trick in TRICKS {
        let missed = each(many, |number| {
            let mut dice = Dice::new(seed, &format!("troubled {}", trick.name), number);
            let cache = dice.one_of(&[
                Cache::None,
                Cache::None,
                Cache::Queue { honest: true },
                Cache::Queue { honest: false },
            ]);
            let medium = trick.draw(&mut dice).medium.behind(cache, &mut dice);
            let drawn = Drawn::new(&medium, cache, seed.wrapping_add(number), &mut dice);
            let record = drawn.look(&suite);
            (!trick.is_claimed(&record.findings)).then(|| {
                drawn.misled(
                    format!("{} not found", trick.name),
                    &record,
                    trick.tests,
                    first(&record),
                )
            })
        });
        part.row(format!("{}: found", trick.name), Target::AtLeast(98.0), missed);
    }
}

/// Finding on the flush, if it is of this kind.
fn of_flush<'a>(record: &'a Record, words: &str) -> Option<&'a Finding> {
    record
        .findings
        .iter()
        .find(|finding| finding.id == "flush" && finding.statement.contains(words))
}

/// Makes the rows on lying caches: they are never called honest, and no verdict on a database
/// depends on them.
fn lying_flushes(seed: u64, many: u64, part: &mut Part) {
    let standard = Suite::built_in("standard").expect("it comes with the program");
    let praised = each(many, |number| {
        let mut dice = Dice::new(seed, "lying flush", number);
        // Disks have no cache here, and one in twenty media is a disk.
        let medium = Medium::of_any_unit(number % 19 + 1, &mut dice)
            .behind(Cache::Queue { honest: false }, &mut dice);
        let drawn = Drawn::new(
            &medium,
            Cache::Queue { honest: false },
            seed.wrapping_add(number),
            &mut dice,
        );
        let record = drawn.look(&standard);
        let promised =
            record.findings.iter().find(|finding| finding.id == "verdict-database").filter(
                |finding| {
                    let is_praise = match finding.level() {
                        // Without a level nobody can prove that it is not praise.
                        None => true,
                        Some(level) => level >= Fitness::Usable,
                    };
                    is_praise && !finding.statement.contains(Condition::FlushHonest.short())
                },
            );
        promised
            .or_else(|| of_flush(&record, FLUSH_EMPTIES))
            .map(|finding| drawn.wrong("lying flush praised", &finding.statement))
    });
    part.row("lying flush: told, or said that it cannot be told", Target::AtLeast(98.0), praised);
}

/// Makes the row on findings against clean media, by the tests that search for tricks.
fn adverse_findings(seed: u64, many: u64, part: &mut Part) {
    let suite = suite();
    let seen = each(many, |number| {
        let drawn = clean(seed, number);
        let record = drawn.look(&suite);
        (drawn, record)
    });
    let mut row = |what: String, ids: &[&str], tests: &[&str]| {
        let falsely = seen.iter().map(|(drawn, record)| {
            let finding = record.findings.iter().find(|finding| ids.contains(&finding.id.as_str()));
            finding.map(|finding| {
                drawn.misled(
                    &what,
                    record,
                    tests,
                    &format!("{} [{}]", finding.statement, finding.evidence.join("; ")),
                )
            })
        });
        let falsely = falsely.collect();
        part.row(format!("{what}: claimed of clean media"), Target::Below(1.0), falsely);
    };
    TRICKS.iter().for_each(|trick| row(trick.name.to_owned(), trick.claims, trick.tests));
    row(
        "a standstill, an error, an impossible number".into(),
        &["standstill", "io-error", "impossible", "counterfeit-hints"],
        &[],
    );
}

/// Uses for which every medium is judged.
const USES: [Use; 5] =
    [Use::RootDisk, Use::Camera, Use::Video { mbit: 50 }, Use::Logger, Use::Database];

/// Verdict of a run.
#[derive(PartialEq)]
struct Verdict {
    /// Level of each use; `None` if it is missing or conditional.
    levels: [Option<Fitness>; 5],
    /// Statement on each use.
    use_levels: [String; 5],
    /// Ids of the findings against the medium.
    blame: Vec<String>,
    /// Text of a verdict on a use that has no level.
    without_level: Option<String>,
}

impl Verdict {
    fn of(record: &Record) -> Verdict {
        let judged = ::findings::conclude_for(record, &USES);
        let verdicts: Vec<&Finding> =
            judged.iter().filter(|finding| finding.id.starts_with("verdict-")).collect();
        let of = |wanted: Use| verdicts.iter().find(|finding| finding.id == wanted.verdict_id());
        let level = |wanted: Use| {
            let finding = of(wanted)?;
            let is_flat = !finding.statement.contains(FEW_SAMPLES);
            finding.level().filter(|level| is_flat && *level >= Fitness::NotSuitable)
        };
        let is_blame = |finding: &&Finding| is_claim(&finding.id);
        let use_levels = USES.map(|wanted| {
            of(wanted).map_or(String::new(), |it| {
                format!("{} [{}]", it.statement, it.evidence.join("; "))
            })
        });
        let is_without = |finding: &&&Finding| finding.level().is_none();
        let without_level = verdicts.iter().find(is_without);
        Verdict {
            without_level: without_level
                .map(|finding| format!("a verdict without a level: {}", finding.statement)),
            levels: USES.map(level),
            use_levels,
            blame: judged.iter().filter(is_blame).map(|finding| finding.id.clone()).collect(),
        }
    }

    /// Differences from `other`: changed levels, and findings against the medium that `other`
    /// lacks.
    fn otherwise(&self, other: &Verdict) -> Option<String> {
        let uses = (0..USES.len()).filter_map(|at| {
            let differs = self.levels[at]? != other.levels[at]?;
            differs.then(|| format!("{} AND NOT {}", self.use_levels[at], other.use_levels[at]))
        });
        let blame = self.blame.iter().filter(|id| !other.blame.contains(id)).cloned();
        let differences: Vec<String> = uses.chain(blame).collect();
        (!differences.is_empty()).then(|| differences.join("; "))
    }

    /// True if a level of `other` is missing.
    fn withholds(&self, other: &Verdict) -> bool {
        self.levels
            .iter()
            .zip(&other.levels)
            .any(|(level, other)| level.is_none() && other.is_some())
    }
}

/// Makes the rows on the verdicts of `standard`, with and without the disturbances of the host; and
/// with another seed, which shows the effect of chance alone.
fn verdicts(seed: u64, many: u64, part: &mut Part) {
    let standard = Suite::built_in("standard").expect("it comes with the program");
    let (mut lies, mut by_host, mut by_chance, mut withheld) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (drawn, [record, quiet, again]) in each(many, |number| {
        let drawn = clean(seed, number);
        let on_quiet_host = |seed| {
            look_through(&drawn.profile, &drawn.trouble.on_a_quiet_host(), &standard, seed, false)
        };
        let records =
            [drawn.look(&standard), on_quiet_host(drawn.seed), on_quiet_host(drawn.seed ^ 0x5eed)];
        (drawn, records)
    }) {
        lies.push(
            of_flush(&record, FLUSH_LIES)
                .map(|finding| drawn.wrong("an honest flush called a lie", &finding.statement)),
        );
        let [verdict, quiet, again] = [&record, &quiet, &again].map(Verdict::of);
        by_host.push(
            verdict
                .without_level
                .clone()
                .or_else(|| verdict.otherwise(&quiet))
                .map(|difference| drawn.wrong("the host changed the verdict", &difference)),
        );
        by_chance.push(
            again
                .otherwise(&quiet)
                .map(|difference| drawn.wrong("chance changed the verdict", &difference)),
        );
        withheld.push(
            verdict.withholds(&quiet).then(|| drawn.wrong("the host left a verdict open", "")),
        );
    }
    part.row("an honest flush, or none that is needed: called a lie", Target::Below(1.0), lies);
    part.row("verdicts that the host changed", Target::Below(1.0), by_host);
    part.row(
        "verdicts that another seed changed on a quiet host, for comparison",
        Target::None,
        by_chance,
    );
    part.row("verdicts that the host left open, for comparison", Target::None, withheld);
}
