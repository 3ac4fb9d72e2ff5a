//! Clean media and media with one trick: tricks that are found, false claims, and the geometry of
//! the clean ones.

use record::Finding;

use super::dice::Dice;
use super::look::{line, look, number, suite};
use super::medium::Medium;
use super::row::{Row, Target};
use super::trick::{SLC_CACHE, THROTTLING, TRICKS, Trick};
use super::{Part, Wrong, each, some};

/// Number of media without a trick.
const CLEAN: u64 = 1000;
/// Number of media with each trick.
const TRICKY: u64 = 200;
/// Largest factor between a reported size and the true one.
const WITHIN: f64 = 1.5;

/// A medium, its trick if it has one, and its findings.
struct Seen {
    medium: Medium,
    trick: Option<&'static Trick>,
    /// Size of cache or front in bytes, if there is one.
    bytes: Option<u64>,
    seed: u64,
    findings: Vec<Finding>,
}

impl Seen {
    fn claims(&self, trick: &Trick) -> bool {
        trick.is_claimed(&self.findings)
    }

    fn has(&self, trick: &Trick) -> bool {
        self.trick.is_some_and(|own| own.name == trick.name)
    }

    /// Makes a wrong statement about it, from these tests.
    fn wrong(&self, what: String, tests: &'static [&'static str]) -> Wrong {
        Wrong::of(what, &self.medium, self.seed, tests)
    }
}

/// Draws a medium without any trick: half hybrid, the others mapped by pages, some with an honest
/// write cache, some disks.
fn clean(number: u64, dice: &mut Dice) -> Medium {
    match number % 20 {
        0 => Medium::disk(dice),
        kind if kind % 2 == 1 => Medium::hybrid(dice),
        _ => Medium::mapped(dice).cached(dice),
    }
}

/// Makes the rows, with this share of the media.
pub fn hold(seed: u64, share: f64) -> Part {
    let suite = suite();
    let seen = |medium: Medium, trick, bytes, number| {
        let seed = seed.wrapping_add(number);
        let findings = look(&medium, &suite, seed).findings;
        Seen { medium, trick, bytes, seed, findings }
    };
    let cleans = each(some(CLEAN, share), |number| {
        seen(clean(number, &mut Dice::new(seed, "clean", number)), None, None, number)
    });
    let each_trick = some(TRICKY, share);
    let tricky = each(each_trick * TRICKS.len() as u64, |number| {
        let trick = TRICKS[(number / each_trick) as usize];
        let drawn = trick.draw(&mut Dice::new(seed, trick.name, number % each_trick));
        seen(drawn.medium, Some(trick), drawn.bytes, number)
    });
    let mut part = Part::default();
    geometry(&cleans, &mut part);
    for trick in TRICKS {
        tricks(trick, &cleans, &tricky, &mut part);
    }
    confusions(&tricky, &mut part);
    part
}

fn allocation_unit(findings: &[Finding]) -> Option<u64> {
    number(findings, "allocation-unit", "au_bytes")
}

/// Makes the rows on allocation unit and open units of the clean media.
fn geometry(cleans: &[Seen], part: &mut Part) {
    type Shown = fn(&Medium) -> Option<(u64, bool)>;
    type Claimed = fn(&[Finding]) -> Option<u64>;
    let mut exact =
        |what: &str, percent, shown: Shown, claimed: Claimed, tests: &'static [&'static str]| {
            let wrong = cleans.iter().filter_map(|seen| {
                let (is, true) = shown(&seen.medium)? else { return None };
                let claimed = claimed(&seen.findings);
                let what = || format!("{what}: {is}, claimed {claimed:?}");
                Some((claimed != Some(is)).then(|| seen.wrong(what(), tests)))
            });
            part.row(what, Target::AtLeast(percent), wrong.collect());
        };
    exact(
        "allocation unit exact, where reads can show it",
        95.0,
        Medium::au_shown_by_reads,
        allocation_unit,
        &["align-read"],
    );
    exact(
        "count of open units exact, where writes can show it",
        90.0,
        Medium::open_aus_shown_by_writes,
        open_aus,
        &["align-read", "open-aus"],
    );
    let maps_pages = |seen: &&Seen| seen.medium.log_block().is_none() && !seen.medium.rotational();
    for (what, claimed) in
        [("allocation unit", allocation_unit as Claimed), ("open units", open_aus)]
    {
        let mapped = cleans.iter().filter(maps_pages);
        part.rows.push(Row::share(
            format!("{what} not visible, on media that map pages"),
            Target::AtLeast(95.0),
            mapped.map(|seen| claimed(&seen.findings).is_none()),
        ));
    }
}

/// Number of open units in the findings; `None` if no limit was seen or found.
fn open_aus(findings: &[Finding]) -> Option<u64> {
    let open = number(findings, "open-units", "open_aus")?;
    let first =
        line(findings, "open-units", "open_aus")?.rsplit(' ').next()?.parse::<u64>().ok()?;
    (first == open + 1).then_some(open)
}

/// Makes the rows on a trick: found where it is, not found where it is not, right size.
fn tricks(trick: &Trick, cleans: &[Seen], tricky: &[Seen], part: &mut Part) {
    let having = || tricky.iter().filter(|seen| seen.has(trick));
    let name = trick.name;
    let missed = having().map(|seen| {
        (!seen.claims(trick)).then(|| seen.wrong(format!("{name} not found"), trick.tests))
    });
    part.row(format!("{name}: found ({})", trick.means), Target::AtLeast(98.0), missed.collect());
    let falsely = cleans.iter().map(|seen| {
        seen.claims(trick).then(|| seen.wrong(format!("{name} falsely claimed"), trick.tests))
    });
    part.row(format!("{name}: claimed of clean media"), Target::Below(1.0), falsely.collect());
    let Some(key) = trick.size_key else { return };
    let wrong_size = |seen: &Seen| {
        let claimed = trick.claims.iter().find_map(|id| number(&seen.findings, id, key));
        let factor = claimed.zip(seen.bytes).map(|(claimed, is)| claimed as f64 / is as f64);
        let fits = factor.is_some_and(|factor| (1.0 / WITHIN..=WITHIN).contains(&factor));
        let what = || format!("{name} of {:?}, claimed {claimed:?}", seen.bytes);
        (!fits).then(|| seen.wrong(what(), trick.tests))
    };
    part.row(
        format!("{name}: size within a factor of {WITHIN}"),
        Target::AtLeast(95.0),
        having().filter(|seen| seen.claims(trick)).map(wrong_size).collect(),
    );
}

/// Makes the rows on telling a cache from heat.
fn confusions(tricky: &[Seen], part: &mut Part) {
    for (is, claimed) in [(&SLC_CACHE, &THROTTLING), (&THROTTLING, &SLC_CACHE)] {
        let confused = tricky.iter().filter(|seen| seen.has(is)).map(|seen| {
            let what = || format!("{} called {}", is.name, claimed.name);
            seen.claims(claimed).then(|| seen.wrong(what(), claimed.tests))
        });
        part.row(
            format!("{}: claimed of media with {}", claimed.name, is.name),
            Target::Below(2.0),
            confused.collect(),
        );
    }
}
