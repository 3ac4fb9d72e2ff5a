//! Random media with one trick each, which is strong enough to matter.

use record::Finding;
use record::units::{GIB, KIB, MIB};

use super::dice::Dice;
use super::medium::{Mapping, Medium};

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
    /// Draws a medium, with the trick if it is strong enough to matter.
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
pub static TRICKS: [&Trick; 7] = [
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
    &Trick {
        name: "front area",
        claims: &["front-area"],
        tests: &["front-area"],
        size_key: Some("front_bytes"),
        means: "1 to 4 allocation units that take 64 KiB 1.6 times faster or slower, or more",
        try_to_draw: front,
    },
    &Trick {
        name: "pattern cheat",
        claims: &["pattern-cheat"],
        tests: &["pattern"],
        size_key: None,
        means: "aligned 4 KiB in 1 GiB at four times the medium's own rate or more, for 16 to 256 MiB",
        try_to_draw: pattern,
    },
];

/// True if a finding of this id claims any trick.
pub fn is_claim(id: &str) -> bool {
    TRICKS.iter().any(|trick| trick.claims.contains(&id))
}

/// A medium with a trick.
#[derive(Clone, Debug)]
pub struct Tricky {
    /// The medium with the trick in its profile.
    pub medium: Medium,
    /// Size of cache or front in bytes, if there is one.
    pub bytes: Option<u64>,
}

impl Trick {
    /// Draws a medium with the trick.
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
    let mapping = medium.log_block_mut()?;
    mapping.open_aus = (wanted_bytes / mapping.au_bytes as f64).round() as u64;
    mapping.log_merges = dice.between(0.0, 0.2);
    let (bytes, is_few) =
        (mapping.open_aus * mapping.au_bytes, (4..=64).contains(&mapping.open_aus));
    let contrast = medium.random_us(4 * KIB) / medium.row_us(4 * KIB);
    (is_few && bytes >= 8 * MIB && contrast >= 4.0).then_some(Tricky { medium, bytes: Some(bytes) })
}

fn compression(dice: &mut Dice) -> Option<Tricky> {
    let mut medium = if dice.happens(0.6) { Medium::hybrid(dice) } else { Medium::mapped(dice) };
    let paths = medium.paths.clone()?;
    let zeros_mbps = paths.write_mbps * dice.spread(1.3, 5.0);
    let zeros_us = paths.write_us + (64 * KIB) as f64 / zeros_mbps;
    medium.tables += &format!(
        "[compression]\nzeros_rate = \"{zeros_mbps:.3} MB/s\"\nrepeats = {}\n",
        dice.happens(0.5)
    );
    if dice.happens(0.3) {
        medium.tables +=
            &format!("zeros_write = \"{:.3} us\"\n", paths.write_us * dice.between(0.5, 1.0));
    }
    (zeros_us <= 0.8 * medium.row_us(64 * KIB)).then_some(Tricky { medium, bytes: None })
}

fn bypass(dice: &mut Dice) -> Option<Tricky> {
    let mut medium = Medium::hybrid(dice);
    let up_to = dice.one_of(&[4, 4, 8, 16]) * KIB;
    let time_us = dice.spread(1000.0, 30_000.0);
    let slow_us = medium.random_us(4 * up_to);
    let small_us = medium.paths.as_ref()?.write_us + time_us;
    medium.log_block_mut()?.keys +=
        &format!("bypass = {{ up_to = \"{up_to} B\", time = \"{time_us:.3} us\" }}\n");
    (small_us <= slow_us / 8.0).then_some(Tricky { medium, bytes: None })
}

fn slc_cache(dice: &mut Dice) -> Option<Tricky> {
    let mut medium = Medium::mapped(dice);
    let own_mbps = medium.paths.as_ref()?.write_mbps;
    let ratio = dice.spread(1.5, 8.0);
    let between = if dice.happens(0.3) { Some(ratio.sqrt()) } else { None };
    let first_bytes = dice.spread(0.3e9, 48e9);
    let mut stages =
        format!("{{ size = \"{first_bytes:.0} B\", rate = \"{:.3} MB/s\" }}", own_mbps * ratio);
    let mut filling_s = first_bytes / (own_mbps * ratio * 1e6);
    let mut all_bytes = first_bytes;
    if let Some(second) = between {
        let bytes = first_bytes * dice.between(1.0, 3.0);
        stages +=
            &format!(", {{ size = \"{bytes:.0} B\", rate = \"{:.3} MB/s\" }}", own_mbps * second);
        filling_s += bytes / (own_mbps * second * 1e6);
        all_bytes += bytes;
    }
    let mut keys = format!("stages = [{stages}]\n");
    if dice.happens(0.6) {
        let recovery_mbps = own_mbps * dice.between(0.3, 1.0);
        keys += &format!(
            "recovery_rate = \"{recovery_mbps:.3} MB/s\"\nrecovery_after = \"{:.1} s\"\n",
            dice.between(0.0, 10.0)
        );
    }
    // The medium writes the table of its mapping; its caches are further keys of the same table.
    medium.stages_in(keys);
    let is_fast = between.is_none_or(|second| second >= 1.5) && own_mbps * ratio <= 3000.0;
    let fits = filling_s <= 480.0 && all_bytes <= medium.capacity_bytes as f64 / 2.0;
    (is_fast && fits).then_some(Tricky { medium, bytes: Some(first_bytes as u64) })
}

fn throttling(dice: &mut Dice) -> Option<Tricky> {
    let mut medium = Medium::mapped(dice);
    let paths = medium.paths.as_ref()?;
    let gib_a_second = paths.write_mbps * 1e6 / GIB as f64;
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
    medium.tables += &format!(
        "[heat]\nambient = {ambient:.2}\nlimit = {limit:.2}\nresume = {resume:.2}\nper_gib = {per_gib:.5}\nper_minute = {per_minute:.5}\ncooling = \"{cooling_s:.1} s\"\nslowdown = {slowdown:.3}\n"
    );
    let before_full =
        hot_after_s * medium.paths.as_ref()?.write_mbps * 1e6 <= 0.7 * medium.capacity_bytes as f64;
    ((15.0..=300.0).contains(&hot_after_s) && before_full).then_some(Tricky { medium, bytes: None })
}

fn front(dice: &mut Dice) -> Option<Tricky> {
    let mut medium = Medium::hybrid(dice);
    let factor = if dice.happens(0.5) { dice.between(0.25, 0.62) } else { dice.spread(1.6, 4.0) };
    let units = dice.bits() % 4 + 1;
    let paths = medium.paths.as_ref()?;
    let usual_us = medium.row_us(64 * KIB);
    let there_us = paths.write_us + (usual_us - paths.write_us) / factor;
    let mapping = medium.log_block_mut()?;
    let bytes = units * mapping.au_bytes;
    mapping.keys += &format!("front = {{ size = \"{bytes} B\", rate_factor = {factor:.4} }}\n");
    ((there_us / usual_us).max(usual_us / there_us) >= 1.6)
        .then_some(Tricky { medium, bytes: Some(bytes) })
}

fn pattern(dice: &mut Dice) -> Option<Tricky> {
    let mut medium = if dice.happens(0.6) { Medium::hybrid(dice) } else { Medium::mapped(dice) };
    let write_us = dice.spread(100.0, 3000.0);
    let own_us = medium.random_us(4 * KIB);
    let capacity = dice.spread(16.0, 256.0) * MIB as f64;
    medium.tables += &format!(
        "[pattern_cheat]\nblock = \"4 KiB\"\nspan = \"1 GiB\"\nafter = {}\nwrite = \"{write_us:.3} us\"\ncapacity = \"{capacity:.0} B\"\nrecovery_rate = \"{:.2} MB/s\"\n",
        dice.bits() % 57 + 8,
        dice.spread(4.0, 20.0)
    );
    (write_us <= own_us / 4.0).then_some(Tricky { medium, bytes: None })
}

impl Medium {
    /// Adds caches before the flash of a medium that maps pages.
    fn stages_in(&mut self, keys: String) {
        if let Mapping::Pages { caches, .. } = &mut self.mapping {
            *caches = keys;
        }
    }
}
