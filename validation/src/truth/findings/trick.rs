//! Random media with one trick each, which is strong enough to matter.

use record::Finding;
use record::units::{GIB, KIB, MIB};

use super::dice::Dice;
use super::medium::{Medium, mbps, size, us};

/// A way in which a medium looks better than it is, or a property that it hides.
#[derive(Debug)]
pub struct Trick {
    /// Name in the table.
    pub name: &'static str,
    /// Ids of the findings that claim it.
    pub claims: &'static [&'static str],
    /// Tests behind these findings.
    pub tests: &'static [&'static str],
    /// Key of the size in the evidence of the finding.
    pub size_key: Option<&'static str>,
    /// Property of a medium with the trick, in words.
    pub means: &'static str,
    /// Draws a medium with the trick, if that is strong enough to matter.
    try_to_draw: fn(&mut Dice) -> Option<Tricky>,
}

/// Fast until a flash cache is full.
pub static SLC_CACHE: Trick = Trick {
    name: "SLC cliff",
    claims: &["slc-cache"],
    tests: &["sustained", "prime"],
    size_key: Some("cache_bytes"),
    means: "one or two stages of 0.3 to 64 GB that are full within 8 minutes, 1.5 times or more the rate of the next",
    try_to_draw: slc_cache,
};
/// Slow when it is hot.
pub static THROTTLING: Trick = Trick {
    name: "throttling",
    claims: &["throttling"],
    tests: &["sustained", "prime"],
    size_key: None,
    means: "hot after 15 s to 5 min of writing and before it is full, then 1.5 to 5 times slower",
    try_to_draw: throttling,
};
/// All tricks, in the order of the table.
pub static TRICKS: [&Trick; 5] = [
    &Trick {
        name: "span cache",
        claims: &["span-cache"],
        tests: &["open-aus", "span-sweep"],
        size_key: Some("cache_bytes"),
        means: "4 to 64 open units of 8 to 256 MiB in all that take writes in any order for a fifth of a merge or less, at least 4 times as fast as elsewhere",
        try_to_draw: span_cache,
    },
    &Trick {
        name: "compression",
        claims: &["compression", "repeats-recognised", "equal-rewrites-skipped"],
        tests: &["content-sweep"],
        size_key: None,
        means: "64 KiB of zeros in at most four fifths of the time of data",
        try_to_draw: compression,
    },
    &Trick {
        name: "small-write bypass",
        claims: &["small-write-bypass"],
        tests: &["random-write"],
        size_key: None,
        means: "writes of up to 4, 8 or 16 KiB in at most an eighth of the time that larger ones take",
        try_to_draw: bypass,
    },
    &SLC_CACHE,
    &THROTTLING,
];

/// True if a finding of this id claims any trick.
pub fn is_claim(id: &str) -> bool {
    TRICKS.iter().any(|trick| trick.claims.contains(&id))
}

/// A medium with a trick, and the size of its cache or front in bytes, if it has one.
type Tricky = (Medium, Option<u64>);

impl Trick {
    /// Draws a medium with the trick, and the size of its cache or front in bytes, if it has one.
    pub fn draw(&self, dice: &mut Dice) -> Tricky {
        loop {
            if let Some(tricky) = (self.try_to_draw)(dice) {
                return tricky;
            }
        }
    }

    /// True if one of the findings claims it.
    pub fn is_claimed(&self, findings: &[Finding]) -> bool {
        findings.iter().any(|finding| self.claims.contains(&finding.id.as_str()))
    }
}

fn span_cache(dice: &mut Dice) -> Option<Tricky> {
    let mut medium = Medium::hybrid(dice);
    let wanted_bytes = dice.spread(8.0, 256.0) * MIB as f64;
    let au_bytes = medium.log_block()?.au.0;
    let open_aus = (wanted_bytes / au_bytes as f64).round() as u64;
    let log_merges = format!("{:.3}", dice.between(0.0, 0.2));
    let bytes = open_aus * au_bytes;
    if !(4..=64).contains(&open_aus) || bytes < 8 * MIB {
        return None;
    }
    medium.set("log_block", [("open_aus", open_aus.to_string()), ("log_merges", log_merges)]);
    let contrast = medium.random_us(4 * KIB) / medium.row_us(4 * KIB);
    (contrast >= 4.0).then_some((medium, Some(bytes)))
}

/// A medium of either kind, and the time of its write command in microseconds.
fn of_either_kind(dice: &mut Dice) -> (Medium, f64) {
    let medium = if dice.happens(0.6) { Medium::hybrid(dice) } else { Medium::mapped(dice) };
    let command_us = medium.spec().write.map_or(0.0, |write| write.command.0 / 1e3);
    (medium, command_us)
}

fn compression(dice: &mut Dice) -> Option<Tricky> {
    let (mut medium, command_us) = of_either_kind(dice);
    let zeros_mbps = medium.write_bps() / 1e6 * dice.spread(1.3, 5.0);
    let zeros_us = command_us + (64 * KIB) as f64 / zeros_mbps;
    let is_fast = zeros_us <= 0.8 * medium.row_us(64 * KIB);
    let repeats = dice.happens(0.5).to_string();
    medium.set("compression", [("zeros_rate", mbps(zeros_mbps)), ("repeats", repeats)]);
    if dice.happens(0.3) {
        medium.set("compression", [("zeros_write", us(command_us * dice.between(0.5, 1.0)))]);
    }
    is_fast.then_some((medium, None))
}

fn bypass(dice: &mut Dice) -> Option<Tricky> {
    let mut medium = Medium::hybrid(dice);
    let up_to = dice.one_of(&[4, 4, 8, 16]) * KIB;
    let time_us = dice.spread(1000.0, 30_000.0);
    let small_us = medium.spec().write?.command.0 / 1e3 + time_us;
    let is_fast = small_us <= medium.random_us(4 * up_to) / 8.0;
    let way = format!("{{ up_to = {}, time = {} }}", size(up_to), us(time_us));
    medium.set("log_block", [("bypass", way)]);
    is_fast.then_some((medium, None))
}

fn slc_cache(dice: &mut Dice) -> Option<Tricky> {
    let mut medium = Medium::mapped(dice);
    let own_mbps = medium.write_bps() / 1e6;
    let capacity_bytes = medium.spec().medium.capacity.0 as f64;
    let ratio = dice.spread(1.5, 8.0);
    let between = if dice.happens(0.3) { Some(ratio.sqrt()) } else { None };
    let first_bytes = dice.spread(0.3e9, 48e9);
    let mut stages = vec![(first_bytes, own_mbps * ratio)];
    if let Some(second) = between {
        stages.push((first_bytes * dice.between(1.0, 3.0), own_mbps * second));
    }
    if dice.happens(0.6) {
        let recovery = [
            ("recovery_rate", mbps(own_mbps * dice.between(0.3, 1.0))),
            ("recovery_after", format!("\"{:.1} s\"", dice.between(0.0, 10.0))),
        ];
        medium.set("page_mapped", recovery);
    }
    let stage = |(bytes, rate): &(f64, f64)| {
        format!("{{ size = {}, rate = {} }}", size(*bytes as u64), mbps(*rate))
    };
    let texts: Vec<String> = stages.iter().map(stage).collect();
    medium.set("page_mapped", [("stages", format!("[{}]", texts.join(", ")))]);
    let is_fast = between.is_none_or(|second| second >= 1.5) && own_mbps * ratio <= 3000.0;
    let filling_s: f64 = stages.iter().map(|(bytes, rate)| bytes / (rate * 1e6)).sum();
    let all_bytes: f64 = stages.iter().map(|(bytes, _)| bytes).sum();
    let fits = filling_s <= 480.0 && all_bytes <= capacity_bytes / 2.0;
    (is_fast && fits).then_some((medium, Some(first_bytes as u64)))
}

fn throttling(dice: &mut Dice) -> Option<Tricky> {
    let mut medium = Medium::mapped(dice);
    let gib_a_second = medium.write_bps() / GIB as f64;
    let ambient = dice.between(25.0, 40.0);
    let limit = ambient + dice.between(20.0, 50.0);
    let resume = limit - dice.between(3.0, 12.0);
    let cooling_s = dice.spread(60.0, 600.0);
    // Temperature at which the warming would end if nothing slowed down.
    let excess = (limit - ambient) * dice.between(1.2, 4.0);
    let by_bytes = dice.between(0.5, 1.0);
    let per_gib = by_bytes * excess / cooling_s / gib_a_second;
    let per_minute = (1.0 - by_bytes) * excess / cooling_s * 60.0;
    let slowdown = dice.spread(1.5, 5.0);
    let hot_after_s = -cooling_s * (1.0 - (limit - ambient) / excess).ln();
    let before_full_bytes = 0.7 * medium.spec().medium.capacity.0 as f64;
    let is_hot = (15.0..=300.0).contains(&hot_after_s)
        && hot_after_s * medium.write_bps() <= before_full_bytes;
    let number = |value: f64| format!("{value:.5}");
    let heat = [
        ("ambient", number(ambient)),
        ("limit", number(limit)),
        ("resume", number(resume)),
        ("per_gib", number(per_gib)),
        ("per_minute", number(per_minute)),
        ("cooling", format!("\"{cooling_s:.1} s\"")),
        ("slowdown", number(slowdown)),
    ];
    medium.set("heat", heat);
    is_hot.then_some((medium, None))
}
