//! Clean media and media with one trick: tricks that are found, false claims, and the geometry of
//! the clean ones.

use record::Finding;

use super::dice::Dice;
use super::look::{line, look, number, suite};
use super::medium::Medium;
use super::row::{Row, Target};
use super::trick::{Trick, Tricky};
use super::{Part, Wrong, each, some};

/// Number of media without a trick.
const CLEAN: u64 = 1000;
/// Number of media with each trick.
const TRICKY: u64 = 200;
/// Largest factor between a reported size and the true one.
const WITHIN: f64 = 1.5;

/// A clean medium and its findings.
struct Clean {
    medium: Medium,
    seed: u64,
    findings: Vec<Finding>,
}

/// A medium with a trick and its findings.
struct Seen {
    trick: Trick,
    tricky: Tricky,
    seed: u64,
    findings: Vec<Finding>,
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
    let cleans = each(some(CLEAN, share), |number| {
        let medium = clean(number, &mut Dice::new(seed, "clean", number));
        let seed = seed.wrapping_add(number);
        let findings = look(&medium, &suite, seed).findings;
        Clean { medium, seed, findings }
    });
    let each_trick = some(TRICKY, share);
    let seen = each(each_trick * Trick::ALL.len() as u64, |number| {
        let trick = Trick::ALL[(number / each_trick) as usize];
        let tricky = trick.draw(&mut Dice::new(seed, trick.name(), number % each_trick));
        let seed = seed.wrapping_add(number);
        let findings = look(&tricky.medium, &suite, seed).findings;
        Seen { trick, tricky, seed, findings }
    });
    let mut part = geometry(&cleans);
    for trick in Trick::ALL {
        tricks(trick, &cleans, &seen, &mut part);
    }
    confusions(&seen, &mut part);
    part
}

/// Makes the rows on allocation unit and open units of the clean media.
fn geometry(cleans: &[Clean]) -> Part {
    let mut part = Part::default();
    let au = |findings: &[Finding]| number(findings, "allocation-unit", "au_bytes");
    let mut right = Vec::new();
    for Clean { medium, seed, findings } in cleans {
        if let Some((true_bytes, true)) = medium.au_shown_by_reads() {
            let claimed = au(findings);
            right.push(claimed == Some(true_bytes));
            if claimed != Some(true_bytes) {
                part.wrong.push(Wrong::of(
                    format!("allocation unit of {true_bytes}, said {claimed:?}"),
                    medium,
                    *seed,
                    &["align-read"],
                ));
            }
        }
    }
    part.rows.push(Row::share(
        "allocation unit exact, where reads can show it",
        Target::AtLeast(95.0),
        right,
    ));
    let mut right = Vec::new();
    for Clean { medium, seed, findings } in cleans {
        if let Some((true_count, true)) = medium.open_aus_shown_by_writes() {
            let claimed = open_aus(findings);
            right.push(claimed == Some(true_count));
            if claimed != Some(true_count) {
                let line = line(findings, "open-units", "open_aus");
                part.wrong.push(Wrong::of(
                    format!("{true_count} open units, said {line:?}"),
                    medium,
                    *seed,
                    &["align-read", "open-aus"],
                ));
            }
        }
    }
    part.rows.push(Row::share(
        "count of open units exact, where writes can show it",
        Target::AtLeast(90.0),
        right,
    ));
    let mapped = || {
        cleans
            .iter()
            .filter(|clean| clean.medium.log_block().is_none() && !clean.medium.rotational())
    };
    let invisible = "not visible, on media that map pages";
    part.rows.push(Row::share(
        format!("allocation unit {invisible}"),
        Target::AtLeast(95.0),
        mapped().map(|clean| au(&clean.findings).is_none()),
    ));
    part.rows.push(Row::share(
        format!("open units {invisible}"),
        Target::AtLeast(95.0),
        mapped().map(|clean| open_aus(&clean.findings).is_none()),
    ));
    part
}

/// Number of open units in the findings; `None` if no limit was seen or found.
fn open_aus(findings: &[Finding]) -> Option<u64> {
    let open = number(findings, "open-units", "open_aus")?;
    let first =
        line(findings, "open-units", "open_aus")?.rsplit(' ').next()?.parse::<u64>().ok()?;
    (first == open + 1).then_some(open)
}

/// True if the findings claim this trick.
pub fn claims(trick: Trick, findings: &[Finding]) -> bool {
    findings.iter().any(|finding| trick.claims().contains(&finding.id.as_str()))
}

/// Makes the rows on a trick: found where it is, not found where it is not, right size.
fn tricks(trick: Trick, cleans: &[Clean], seen: &[Seen], part: &mut Part) {
    let having = || seen.iter().filter(|seen| seen.trick == trick);
    let found = |seen: &Seen| claims(trick, &seen.findings);
    for seen in having().filter(|seen| !found(seen)) {
        part.wrong.push(Wrong::of(
            format!("{} not found", trick.name()),
            &seen.tricky.medium,
            seen.seed,
            trick.tests(),
        ));
    }
    let what = format!("{}: found ({})", trick.name(), trick.means());
    part.rows.push(Row::share(what, Target::AtLeast(98.0), having().map(found)));
    for clean in cleans.iter().filter(|clean| claims(trick, &clean.findings)) {
        part.wrong.push(Wrong::of(
            format!("{} falsely claimed", trick.name()),
            &clean.medium,
            clean.seed,
            trick.tests(),
        ));
    }
    let falsely = cleans.iter().map(|clean| claims(trick, &clean.findings));
    part.rows.push(Row::share(
        format!("{}: claimed of clean media", trick.name()),
        Target::Below(1.0),
        falsely,
    ));
    let Some(key) = trick.size_key() else { return };
    let size = |seen: &Seen| trick.claims().iter().find_map(|id| number(&seen.findings, id, key));
    let fits = |seen: &Seen| {
        let factor =
            size(seen).zip(seen.tricky.bytes).map(|(claimed, is)| claimed as f64 / is as f64);
        factor.is_some_and(|factor| (1.0 / WITHIN..=WITHIN).contains(&factor))
    };
    for seen in having().filter(|seen| found(seen) && !fits(seen)) {
        let (claimed, is) = (size(seen), seen.tricky.bytes);
        part.wrong.push(Wrong::of(
            format!("{} of {is:?}, said {claimed:?}", trick.name()),
            &seen.tricky.medium,
            seen.seed,
            trick.tests(),
        ));
    }
    let sized = having().filter(|seen| found(seen)).map(fits);
    part.rows.push(Row::share(
        format!("{}: size within a factor of {WITHIN}", trick.name()),
        Target::AtLeast(95.0),
        sized,
    ));
}

/// Makes the rows on telling a cache from heat.
fn confusions(seen: &[Seen], part: &mut Part) {
    for (is, claimed) in
        [(Trick::SlcCache, Trick::Throttling), (Trick::Throttling, Trick::SlcCache)]
    {
        let having = || seen.iter().filter(|seen| seen.trick == is);
        for seen in having().filter(|seen| claims(claimed, &seen.findings)) {
            part.wrong.push(Wrong::of(
                format!("{} called {}", is.name(), claimed.name()),
                &seen.tricky.medium,
                seen.seed,
                claimed.tests(),
            ));
        }
        let taken = having().map(|seen| claims(claimed, &seen.findings));
        part.rows.push(Row::share(
            format!("{}: claimed of media with {}", claimed.name(), is.name()),
            Target::Below(2.0),
            taken,
        ));
    }
}
