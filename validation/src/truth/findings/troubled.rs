//! Media behind volatile caches, with pauses, slow flushes and odd allocation units, on hosts that
//! stall: fakes and tricks must be found, nothing false may be said of the others, and the host
//! must not change a verdict.

use ::findings::phrases::{DO_NOT_USE, FEW_SAMPLES, FLUSH_EMPTIES, FLUSH_LIES, IS_FAKE};
use record::{Condition, Finding, Fitness, Record, Severity, Use};
use stats::Random;
use suite::catalogue::capacity::trial::{CapacityKind, Geometry};
use suite::definition::Suite;

use super::cache::Cache;
use super::cheats::Seen;
use super::dice::Dice;
use super::look::Drawn;
use super::medium::Medium;
use super::row::Target;
use super::trick::TRICKS;
use super::trouble::Trouble;
use super::{Part, each, some};

/// Number of media of each row.
const OF_EACH: u64 = 300;

/// Draws a clean medium, half of them behind a cache that a flush empties.
fn clean(seed: u64, number: u64) -> (Medium, Trouble) {
    let mut dice = Dice::new(seed, "troubled", number);
    let cache = if dice.happens(0.5) { Cache::Queue { honest: true } } else { Cache::None };
    let medium = Medium::of_any_unit(number, &mut dice).behind(cache, &mut dice);
    let trouble = Trouble::draw(cache, medium.write_bps(), &mut dice);
    (medium, trouble)
}

/// The same, ready to run.
pub fn drawn_clean(seed: u64, number: u64) -> Drawn {
    let (medium, trouble) = clean(seed, number);
    Drawn { profile: medium.profile(), trouble, seed: seed.wrapping_add(number) }
}

/// Makes the rows, with this share of the media.
pub fn hold(seed: u64, share: f64) -> Part {
    let many = some(OF_EACH, share);
    let mut part = Part::default();
    fakes(seed, many, &mut part);
    tricks(seed, many, &mut part);
    lying_flushes(seed, many, &mut part);
    verdicts(seed, many, &mut part);
    part
}

/// Finding of this kind whose statement has these words.
fn saying<'a>(record: &'a Record, id: &str, words: &str) -> Option<&'a Finding> {
    let mut findings = record.findings.iter();
    findings.find(|finding| finding.id == id && finding.statement.contains(words))
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
        Trouble::draw(Cache::Queue { honest: true }, geometry.write_bps as f64, &mut dice);
    Drawn { profile: geometry.profile(), trouble, seed: seed.wrapping_add(number) }
}

/// Makes the rows on fakes: every suite recognises a fake, and calls nothing else one.
fn fakes(seed: u64, many: u64, part: &mut Part) {
    let is_fake = format!("{DO_NOT_USE} {IS_FAKE}");
    for name in Suite::names() {
        let suite = Suite::built_in(name).expect("it comes with the program");
        let missed = each(many, |number| {
            let drawn = fake(seed, number);
            let record = drawn.run(&suite, true);
            let found = saying(&record, "verdict", &is_fake);
            found.is_none().then(|| drawn.wrong(format!("fake not found by {name}"), &[]))
        });
        part.row(format!("fakes: found by {name}"), Target::AtLeast(100.0), missed);
        let mut probe = suite;
        probe.tests.truncate(1);
        let falsely = each(many, |number| {
            let drawn = drawn_clean(seed, number);
            let record = drawn.run(&probe, true);
            let mut findings = record.findings.iter();
            let failed = findings.find(|finding| finding.severity == Severity::Failure)?;
            Some(drawn.wrong(format!("condemned by {name}: {}", failed.statement), &[]))
        });
        part.row(format!("genuine: condemned by the probe of {name}"), Target::Below(1.0), falsely);
    }
}

/// Makes the rows on media with a trick, half of them behind a cache, honest or not; and on what is
/// said against clean media.
fn tricks(seed: u64, many: u64, part: &mut Part) {
    let caches =
        [Cache::None, Cache::None, Cache::Queue { honest: true }, Cache::Queue { honest: false }];
    let cleans = each(many, |number| {
        let (medium, trouble) = clean(seed, number);
        Seen::new((medium, None), trouble, seed.wrapping_add(number))
    });
    for trick in TRICKS {
        let having = each(many, |number| {
            let mut dice = Dice::new(seed, &format!("troubled {}", trick.name), number);
            let cache = dice.one_of(&caches);
            let (medium, bytes) = trick.draw(&mut dice);
            let medium = medium.behind(cache, &mut dice);
            let trouble = Trouble::draw(cache, medium.write_bps(), &mut dice);
            Seen::new((medium, bytes), trouble, seed.wrapping_add(number))
        });
        part.trick(trick, &cleans, &having);
    }
    const OTHERS: [&str; 4] = ["standstill", "io-error", "impossible", "counterfeit-hints"];
    let falsely = cleans.iter().map(|seen| {
        let finding = seen.findings.iter().find(|it| OTHERS.contains(&it.id.as_str()))?;
        Some(seen.drawn.wrong(finding.statement.clone(), &[]))
    });
    let what = "a standstill, an error, an impossible number: claimed of clean media";
    part.row(what, Target::Below(1.0), falsely.collect());
}

/// Makes the row on lying caches: they are never called honest, and no verdict on a database
/// depends on them.
fn lying_flushes(seed: u64, many: u64, part: &mut Part) {
    let standard = Suite::built_in("standard").expect("it comes with the program");
    let cache = Cache::Queue { honest: false };
    let praised = each(many, |number| {
        let mut dice = Dice::new(seed, "lying flush", number);
        // Disks have no cache here, and one in twenty media is a disk.
        let medium = Medium::of_any_unit(number % 19 + 1, &mut dice).behind(cache, &mut dice);
        let trouble = Trouble::draw(cache, medium.write_bps(), &mut dice);
        let drawn = Drawn { profile: medium.profile(), trouble, seed: seed.wrapping_add(number) };
        let record = drawn.run(&standard, false);
        let promised = saying(&record, "verdict-database", "").filter(|finding| {
            // Without a level nobody can prove that it is not praise.
            finding.level().is_none_or(|level| level >= Fitness::Usable)
                && !finding.statement.contains(Condition::FlushHonest.short())
        });
        let praise = promised.or_else(|| saying(&record, "flush", FLUSH_EMPTIES))?;
        Some(drawn.wrong(format!("lying flush praised: {}", praise.statement), &[]))
    });
    part.row("lying flush: told, or said that it cannot be told", Target::AtLeast(98.0), praised);
}

/// Uses for which every medium is judged.
const USES: [Use; 5] =
    [Use::RootDisk, Use::Camera, Use::Video { mbit: 50 }, Use::Logger, Use::Database];

/// Uses of which two records say different levels, both without a caveat; or one of them no level
/// at all.
fn changed(record: &Record, other: &Record) -> Option<String> {
    let [here, there] = [record, other].map(|record| ::findings::conclude_for(record, &USES));
    let flat = |judged: &[Finding], wanted: Use| {
        let verdict = judged.iter().find(|finding| finding.id == wanted.verdict_id())?;
        let is_flat = !verdict.statement.contains(FEW_SAMPLES)
            && verdict.level().is_none_or(|level| level >= Fitness::NotSuitable);
        is_flat.then(|| (verdict.level(), verdict.statement.clone()))
    };
    let differs = |wanted: Use| {
        let (here, there) = (flat(&here, wanted)?, flat(&there, wanted)?);
        (here.0.is_none() || here.0 != there.0).then(|| format!("{} AND NOT {}", here.1, there.1))
    };
    let differences: Vec<String> = USES.into_iter().filter_map(differs).collect();
    (!differences.is_empty()).then(|| differences.join("; "))
}

/// Makes the rows on what `standard` says of the flush of clean media, and on their verdicts with
/// and without a host that stalls.
fn verdicts(seed: u64, many: u64, part: &mut Part) {
    let standard = Suite::built_in("standard").expect("it comes with the program");
    let wrong = each(many, |number| {
        let drawn = drawn_clean(seed, number);
        let record = drawn.run(&standard, false);
        let mut on_a_quiet_host = drawn.clone();
        on_a_quiet_host.trouble.host.clear();
        let quiet = on_a_quiet_host.run(&standard, false);
        let lie = saying(&record, "flush", FLUSH_LIES)
            .map(|it| drawn.wrong(format!("an honest flush: {}", it.statement), &[]));
        let by_host = changed(&record, &quiet)
            .map(|what| drawn.wrong(format!("the host changed the verdict: {what}"), &[]));
        (lie, by_host)
    });
    let (lies, by_host) = wrong.into_iter().unzip();
    part.row("an honest flush, or none that is needed: called a lie", Target::Below(1.0), lies);
    part.row("verdicts that the host changed", Target::Below(1.0), by_host);
}
