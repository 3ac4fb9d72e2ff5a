//! Clean media and media with one trick: tricks that are found, false claims, and the geometry of
//! the clean ones.

use record::Finding;

use super::dice::Dice;
use super::look::{Drawn, number, suite};
use super::medium::Medium;
use super::row::Target;
use super::trick::{SLC_CACHE, THROTTLING, TRICKS, Trick};
use super::trouble::Trouble;
use super::{Part, each, some};

/// Number of media without a trick.
const CLEAN: u64 = 1000;
/// Number of media with each trick.
const TRICKY: u64 = 200;
/// Largest factor between a reported size and the true one.
const WITHIN: f64 = 1.5;

/// A medium, its findings, and the size of its cache or front in bytes, if it has one.
pub struct Seen {
    medium: Medium,
    bytes: Option<u64>,
    /// The medium and its disturbances, to run it again.
    pub drawn: Drawn,
    /// Findings of the tests that search for tricks.
    pub findings: Vec<Finding>,
}

impl Seen {
    /// Runs the tests behind the findings on a medium.
    pub fn new((medium, bytes): (Medium, Option<u64>), trouble: Trouble, seed: u64) -> Seen {
        let drawn = Drawn { profile: medium.profile(), trouble, seed };
        let findings = drawn.run(&suite(), false).findings;
        Seen { medium, bytes, drawn, findings }
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
    let seen = |drawn: (Medium, Option<u64>), number: u64| {
        Seen::new(drawn, Trouble::default(), seed.wrapping_add(number))
    };
    let cleans = each(some(CLEAN, share), |number| {
        seen((clean(number, &mut Dice::new(seed, "clean", number)), None), number)
    });
    let mut part = Part::default();
    geometry(&cleans, &mut part);
    for trick in TRICKS {
        let having = each(some(TRICKY, share), |number| {
            seen(trick.draw(&mut Dice::new(seed, trick.name, number)), number)
        });
        part.trick(trick, &cleans, &having);
        sizes(trick, &having, &mut part);
        for (is, claimed) in [(&SLC_CACHE, &THROTTLING), (&THROTTLING, &SLC_CACHE)] {
            if is.name == trick.name {
                let what = format!("{}: claimed of media with {}", claimed.name, is.name);
                part.claimed(claimed, what, Target::Below(2.0), &having);
            }
        }
    }
    part
}

impl Part {
    /// Makes the rows on a trick: found where it is, not found where it is not.
    pub fn trick(&mut self, trick: &Trick, cleans: &[Seen], having: &[Seen]) {
        let what = format!("{}: found ({})", trick.name, trick.means);
        let missed = having.iter().map(|seen| {
            let is_missed = !trick.is_claimed(&seen.findings);
            is_missed.then(|| seen.drawn.wrong(format!("{} not found", trick.name), trick.tests))
        });
        self.row(what, Target::AtLeast(98.0), missed.collect());
        let what = format!("{}: claimed of clean media", trick.name);
        self.claimed(trick, what, Target::Below(1.0), cleans);
    }

    /// Makes the row on a trick that is claimed of media without it.
    fn claimed(&mut self, trick: &Trick, what: String, target: Target, without: &[Seen]) {
        let falsely = without.iter().map(|seen| {
            trick.is_claimed(&seen.findings).then(|| seen.drawn.wrong(what.clone(), trick.tests))
        });
        let falsely = falsely.collect();
        self.row(what, target, falsely);
    }
}

/// Makes the row on the size of a trick, among those that were found.
fn sizes(trick: &Trick, having: &[Seen], part: &mut Part) {
    let Some(key) = trick.size_key else { return };
    let wrong = having.iter().filter(|seen| trick.is_claimed(&seen.findings)).map(|seen| {
        let claimed = trick.claims.iter().find_map(|id| number(&seen.findings, id, key));
        let factor = claimed.zip(seen.bytes).map(|(claimed, is)| claimed as f64 / is as f64);
        let fits = factor.is_some_and(|factor| (1.0 / WITHIN..=WITHIN).contains(&factor));
        let what = || format!("{} of {:?}, claimed {claimed:?}", trick.name, seen.bytes);
        (!fits).then(|| seen.drawn.wrong(what(), trick.tests))
    });
    let what = format!("{}: size within a factor of {WITHIN}", trick.name);
    part.row(what, Target::AtLeast(95.0), wrong.collect());
}

/// Makes the rows on allocation unit and open units of the clean media.
fn geometry(cleans: &[Seen], part: &mut Part) {
    /// A property: its name, its row, the percent that must be exact, its value where it shows, the
    /// value that is claimed, and the tests behind it.
    type Property = (
        &'static str,
        &'static str,
        f64,
        fn(&Medium) -> Option<u64>,
        fn(&[Finding]) -> Option<u64>,
        &'static [&'static str],
    );
    let properties: [Property; 2] = [
        (
            "allocation unit",
            "allocation unit exact, where reads can show it",
            95.0,
            Medium::au_shown_by_reads,
            |findings| number(findings, "allocation-unit", "au_bytes"),
            &["align-read"],
        ),
        (
            "open units",
            "count of open units exact, where writes can show it",
            90.0,
            Medium::open_aus_shown_by_writes,
            open_aus,
            &["align-read", "open-aus"],
        ),
    ];
    for (name, what, percent, shown, claimed, tests) in properties {
        let wrong = |seen: &Seen, is: Option<u64>| {
            let claimed = claimed(&seen.findings);
            let what = || format!("{name}: {is:?}, claimed {claimed:?}");
            (claimed != is).then(|| seen.drawn.wrong(what(), tests))
        };
        let exact = cleans.iter().filter_map(|seen| Some(wrong(seen, Some(shown(&seen.medium)?))));
        part.row(what, Target::AtLeast(percent), exact.collect());
        let mapped = cleans.iter().filter(|seen| seen.medium.maps_pages());
        let what = format!("{name} not visible, on media that map pages");
        part.row(what, Target::AtLeast(95.0), mapped.map(|seen| wrong(seen, None)).collect());
    }
}

/// Number of open units in the findings; `None` if no limit was seen or found.
fn open_aus(findings: &[Finding]) -> Option<u64> {
    let [open, first] = ["open_aus", "too_many_aus"].map(|of| number(findings, "open-units", of));
    open.filter(|open| first == Some(open + 1))
}
