//! Media whose rate falls while `standard` fills them, or at some places: what it says of video.

use record::units::MIB;
use record::{Finding, Fitness, Outcome, Record, Series, SeriesAxis, Use, test};
use suite::definition::Suite;

use super::dice::Dice;
use super::look::{Drawn, number};
use super::medium::{Medium, mbps, size, us};
use super::row::Target;
use super::trick::{SLC_CACHE, THROTTLING};
use super::trouble::Trouble;
use super::{Part, each, some};

/// Media with a cache of 0.5 to 8 GB or heat after 20 to 120 s, whether `standard` fills so much,
/// their number, and what is right.
const FALLING: [(bool, u64, &str); 2] = [
    (true, 6, "cache or heat within the fill of standard: the lower level is told and decides"),
    (false, 4, "cache beyond it: nothing good for video without what was written"),
];
/// Media with a slow area, and without any of it.
const SLOW: u64 = 10;
const CLEAN: u64 = 20;
/// Tolerance of a rate that is quoted.
const ALIKE: f64 = 1.2;

/// Makes the rows, with this share of the media.
pub fn hold(seed: u64, share: f64) -> Part {
    let suite = Suite::built_in("standard").expect("it comes with the program");
    let run = |medium: &Medium, number: u64| {
        let seed = seed.wrapping_add(number);
        let drawn = Drawn { profile: medium.profile(), trouble: Trouble::default(), seed };
        let record = drawn.run(&suite, true);
        (drawn, record)
    };
    let mut part = Part::default();
    for (is_within, many, what) in FALLING {
        let wrong = each(some(many, share), |number| {
            let mut dice = Dice::new(seed, if is_within { "falling" } else { "larger" }, number);
            let (medium, low_bps) = falling(is_within, number, &mut dice);
            let (drawn, record) = run(&medium, number);
            let praised = praised_bps(&record, is_within).filter(|bps| *bps > low_bps * ALIKE);
            let is_told = !is_within || quotes(&record.findings, low_bps);
            let what = format!("{:.1} MB/s: praised {praised:?}, told {is_told}", low_bps / 1e6);
            (praised.is_some() || !is_told).then(|| drawn.wrong(what, &[]))
        });
        part.row(what, Target::AtLeast(100.0), wrong);
    }
    let wrong = each(some(SLOW, share), |number| {
        let (medium, area, slow_bps) = slow(&mut Dice::new(seed, "slow area", number));
        let (drawn, record) = run(&medium, number);
        let wanted = was_written(&record, area);
        let found = place(&record.findings);
        let named = found.is_some_and(|[from, to]| from < area[1] && area[0] < to);
        let tricks = [&SLC_CACHE, &THROTTLING].map(|trick| trick.is_claimed(&record.findings));
        let praised = praised_bps(&record, wanted).filter(|bps| *bps > slow_bps * ALIKE);
        let what = format!("slow {area:?}, claimed {found:?}, {tricks:?}, praised {praised:?}");
        let is_wrong =
            (wanted || found.is_some()) && !named || tricks.contains(&true) || praised.is_some();
        is_wrong.then(|| drawn.wrong(what, &[]))
    });
    part.row("a slow area of 1/64 that was written: named", Target::AtLeast(100.0), wrong);
    let wrong = each(some(CLEAN, share), |number| {
        let medium = Medium::of_any_unit(number * 3, &mut Dice::new(seed, "level", number));
        let (drawn, record) = run(&medium, number);
        let tricks = [&SLC_CACHE, &THROTTLING].map(|trick| trick.is_claimed(&record.findings));
        let place = place(&record.findings);
        let hangs = record.findings.iter().any(|finding| finding.id == "io-error");
        let what = format!("cache, heat {tricks:?}, slow {place:?}, hangs {hangs}");
        (tricks.contains(&true) || place.is_some() || hangs).then(|| drawn.wrong(what, &[]))
    });
    part.row(
        "clean media in standard: no cache, heat, slow area or hang",
        Target::AtLeast(95.0),
        wrong,
    );
    part
}

/// Draws a medium that is fast at first, and its lower rate of 1 MiB in bytes a second.
fn falling(is_within: bool, number: u64, dice: &mut Dice) -> (Medium, f64) {
    loop {
        let is_cache = !is_within || number.is_multiple_of(2);
        let (mut medium, _) = if is_cache { &SLC_CACHE } else { &THROTTLING }.draw(dice);
        // What a link adds to each of its commands is not the matter here.
        if medium.spec().medium.max_transfer.is_some() {
            continue;
        }
        let spec = medium.spec();
        let low_bps = MIB as f64 * 1e6 / medium.row_us(MIB);
        if let Some(heat) = &spec.heat {
            let excess = heat.cooling.0 / 60e9 * heat.per_minute
                + heat.cooling.0 / 1e9 * heat.per_gib * medium.write_bps() / (1u64 << 30) as f64;
            let hot_s = -heat.cooling.0 / 1e9 * (1.0 - (heat.limit - heat.ambient) / excess).ln();
            if (20.0..=120.0).contains(&hot_s) {
                return (medium, low_bps / heat.slowdown);
            }
            continue;
        }
        let bytes: u64 =
            spec.page_mapped.iter().flat_map(|it| &it.stages).map(|it| it.size.0).sum();
        if !(500_000_000..=8_000_000_000).contains(&bytes) {
            continue;
        }
        if is_within {
            return (medium, low_bps);
        }
        // The fill takes 600 s.
        let fast = bytes as f64 / 600e6 * dice.between(0.5, 0.9);
        let low = fast / dice.between(1.5, 4.0);
        let stage = format!("[{{ size = {}, rate = {} }}]", size(bytes), mbps(fast));
        medium.set("write", [("rate", mbps(low))]);
        medium.set("page_mapped", [("stages", stage)]);
        return (medium.clone(), MIB as f64 * 1e6 / medium.row_us(MIB));
    }
}

/// Draws a medium on which 1/64 is written at a twentieth to a third of the rate; that part, and its
/// rate in bytes a second.
fn slow(dice: &mut Dice) -> (Medium, [u64; 2], f64) {
    let mut medium = if dice.happens(0.5) { Medium::hybrid(dice) } else { Medium::mapped(dice) };
    let capacity_bytes = medium.spec().medium.capacity.0;
    let bytes = capacity_bytes / 64;
    let from = (dice.bits() % (capacity_bytes - bytes)) / MIB * MIB;
    let own_us = medium.row_us(MIB);
    let longer_us = own_us * dice.spread(2.0, 19.0);
    let fault = [
        ("kind", "\"slow\"".to_owned()),
        ("direction", "\"write\"".to_owned()),
        ("lasts", us(longer_us)),
        ("offset", size(from)),
        ("size", size(bytes)),
    ];
    medium.set("[fault]", fault);
    (medium, [from, from + bytes], MIB as f64 * 1e6 / (own_us + longer_us))
}

/// The highest rate in bytes a second that video or a camera for which it is praised needs; with
/// `in_parts` also for what is praised in a part of the medium.
fn praised_bps(record: &Record, in_parts: bool) -> Option<f64> {
    let praised = record.findings.iter().filter_map(|finding| match &finding.outcome {
        Some(Outcome::Use(found))
            if found.level >= Fitness::Usable && (in_parts || found.within_bytes.is_none()) =>
        {
            match found.wanted {
                Use::Video { mbit } => Some(f64::from(mbit) * 125e3),
                // docs/field/classes.md#minimum-rates: C10 and C4.
                Use::Camera => Some(if found.level == Fitness::Good { 10e6 } else { 4e6 }),
                _ => None,
            }
        }
        _ => None,
    });
    praised.reduce(f64::max)
}

/// True if a statement quotes about this rate.
fn quotes(findings: &[Finding], bps: f64) -> bool {
    let of = ["verdict", "verdict-video", "slc-cache", "throttling"];
    let told = findings.iter().filter(|finding| of.contains(&finding.id.as_str()));
    let words: Vec<&str> = told.flat_map(|finding| finding.statement.split(' ')).collect();
    words.windows(2).any(|pair| {
        let units = [("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)];
        let unit = units.iter().find(|(unit, _)| pair[1].starts_with(unit));
        let quoted = unit.and_then(|(_, bps)| Some(pair[0].parse::<f64>().ok()? * bps));
        quoted.is_some_and(|quoted| quoted <= bps * ALIKE && quoted * ALIKE >= bps)
    })
}

/// Place of the slow part that the findings name.
fn place(findings: &[Finding]) -> Option<[u64; 2]> {
    let end = |key| number(findings, "along-the-medium", key);
    end("slow_from_bytes").zip(end("slow_to_bytes")).map(|(from, to)| [from, to])
}

/// True if the fill wrote a whole window within this part.
fn was_written(record: &Record, [from, to]: [u64; 2]) -> bool {
    let is_of_places = |series: &&Series| series.x == SeriesAxis::OffsetBytes;
    let fill = record.cells_of(test::SUSTAINED).flat_map(|cell| &cell.series);
    let places = fill.filter(is_of_places).flat_map(|series| &series.points);
    // A window is a part in 256 of the medium, and no longer than a piece.
    let window = (record.medium.capacity_bytes.unwrap_or(0) / 256 + MIB).min(256 * MIB) as f64;
    places.into_iter().any(|point| point[0] >= from as f64 && point[0] + window <= to as f64)
}
