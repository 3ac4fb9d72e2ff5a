use device::Device;
use record::units::{GIB, KIB, MIB, SECOND_NS};
use record::{Cell, Stop};

use super::trial::{Geometry, Kind, Trial, examine, trial};
use super::{MARK_BYTES, SPARED_BYTES};
use crate::catalogue::testing::Bed;

fn medium(profile: &str, seed: u64) -> sim::SimDevice {
    let profile = sim::Profile::parse("trial", profile).unwrap_or_else(|error| panic!("{error}\n{profile}"));
    sim::SimDevice::new(&profile, sim::Options { seed, capacity: None, keep_data: true })
}

fn boxed(profile: &str, seed: u64) -> Box<dyn Device> {
    Box::new(medium(profile, seed))
}

/// The probe was right, in time: a fake within 2 minutes at 10 MB/s, anything else within 4.
fn check(tried: Trial) -> Cell {
    let Trial { geometry, ruling, wrong } = tried;
    assert_eq!(wrong, None, "{geometry:#?}\n{:#?}", ruling.cell.metrics.other);
    let limit_s = if matches!(geometry.kind, Kind::Good | Kind::Damaged) { 240 } else { 120 };
    assert!(ruling.took_ns < limit_s * SECOND_NS, "{} s: {geometry:#?}", ruling.took_ns / SECOND_NS);
    ruling.cell
}

fn figure(cell: &Cell, name: &str) -> f64 {
    cell.metrics.other.get(name).unwrap_or_else(|| panic!("no {name}: {:?}", cell.metrics.other)).value
}

#[test]
fn fakes_are_known_for_what_they_are_with_and_without_a_cache() {
    let table = [
        Geometry::limbo(64 * GIB, 8 * GIB),
        Geometry::limbo(16 * GIB, 7_948_206_080),
        Geometry::limbo(256 * GIB, 4 * GIB + 512),
        Geometry::limbo(8 * GIB, 20 * MIB + 1536),
        Geometry::limbo(32 * GIB, 31 * GIB),
        Geometry::limbo(512 * GIB, 14 * GIB),
        Geometry::limbo(256 * MIB, 32 * MIB),
        Geometry::wraparound(64 * GIB, 8 * GIB),
        Geometry::wraparound(32 * GIB, 7_948_206_080),
        Geometry::wraparound(8 * GIB, 12 * MIB),
        Geometry::wraparound(16 * GIB, 15 * GIB + 512 * KIB),
        Geometry::wraparound(128 * GIB, 3 * GIB + 512),
        Geometry::wraparound(2 * GIB, 26 * MIB + 512),
        Geometry::chain(64 * GIB, 12 * GIB, 16 * GIB),
        Geometry::chain(64 * GIB, 7_948_206_080, 8 * GIB),
        Geometry::chain(32 * GIB, 24 * MIB, 256 * MIB),
        Geometry::chain(128 * GIB, 9 * GIB + 1024, 48 * GIB + 512),
    ];
    for (seed, geometry) in table.into_iter().enumerate() {
        for remembers_bytes in [0, 64 * MIB] {
            check(Trial::of(geometry.clone().remembering(remembers_bytes), seed as u64, &boxed));
        }
    }
}

#[test]
fn the_size_of_a_cache_is_found_where_marks_vanish() {
    for (remembers, low, high) in [(0, 0, 0), (3 * MIB, 0, 4 * MIB), (10 * MIB, 8 * MIB, 16 * MIB), (40 * MIB, 32 * MIB, 64 * MIB)] {
        let cell = check(Trial::of(Geometry::limbo(16 * GIB, 2 * GIB).remembering(remembers), 3, &boxed));
        let cache = cell.metrics.other["cache_bytes"];
        assert_eq!((cache.ci95.map_or(cache.value, |[low, _]| low), cache.value), (low as f64, high as f64));
    }
}

#[test]
fn good_media_are_cleared() {
    let table = [
        Geometry::good(4 * GIB),
        Geometry { cache_bytes: 64 * MIB, ..Geometry::good(GIB) },
        Geometry { merges: false, write_bps: 90_000_000, ..Geometry::good(250 * GIB) },
        Geometry { merges: false, ..Geometry::good(16 * MIB) },
    ];
    for (seed, geometry) in table.into_iter().enumerate() {
        let capacity = geometry.capacity_bytes;
        let cell = check(Trial::of(geometry, seed as u64, &boxed));
        assert_eq!(cell.stop, Stop::Converged);
        assert_eq!(figure(&cell, "overwhelmed_bytes"), ((capacity - MIB) / 2 / MIB * MIB).min(GIB) as f64);
        assert!(!cell.metrics.other.contains_key("cache_bytes"), "nothing vanished, so nothing is known of a cache");
        let diagonal = &cell.series[0];
        assert_eq!(diagonal.name, "marks: good");
        assert!(diagonal.points.iter().all(|[place, by]| place == by));
    }
}

#[test]
fn damage_is_no_fake() {
    for damage in [
        "[[fault]]\nkind = \"corruption\"\nshare = 0.3\n",
        "[[fault]]\nkind = \"medium-error\"\noffset = \"2 GiB\"\nsize = \"3 GiB\"\n",
        "[[fault]]\nkind = \"medium-error\"\ndirection = \"read\"\noffset = \"8388604 KiB\"\nsize = \"4 KiB\"\n",
        "[wear]\nblock = \"256 KiB\"\nbad_share = 0.4\n",
        // Less is there than what is spared: nothing that is tried is kept.
        "[fake]\nreal = \"512 KiB\"\n",
    ] {
        check(Trial::of(Geometry::damaged(8 * GIB, damage), 1, &boxed));
    }
}

#[test]
fn some_of_each_kind() {
    for (kind, many) in [(Kind::Limbo, 4), (Kind::Wraparound, 4), (Kind::Chain, 4), (Kind::Damaged, 3), (Kind::Good, 1)] {
        (0..many).for_each(|seed| drop(check(trial(kind, seed, &boxed))));
    }
}

/// `cargo test -p flashmark-suite --lib hundred -- --ignored --nocapture`: some minutes.
#[test]
#[ignore = "takes minutes"]
#[expect(clippy::disallowed_macros, reason = "whoever runs it by hand wants to see how long media took")]
fn a_hundred_of_each_kind() {
    for kind in [Kind::Limbo, Kind::Wraparound, Kind::Chain, Kind::Damaged, Kind::Good] {
        let mut longest_ns = 0;
        for seed in 100..200 {
            let tried = trial(kind, seed, &boxed);
            longest_ns = longest_ns.max(tried.ruling.took_ns);
            check(tried);
        }
        println!("{kind:?}: at most {} s", longest_ns / SECOND_NS);
    }
}

#[test]
fn the_first_mebibyte_is_no_part_of_the_span() {
    let ruling = examine(boxed(&Geometry::good(64 * MIB).profile(), 5), 5);
    let span = ruling.cell.params.span_offset_bytes.zip(ruling.cell.params.span_bytes);
    assert_eq!(span, Some((SPARED_BYTES, 63 * MIB)));
    assert_eq!(ruling.cell.params.block_bytes, Some(MARK_BYTES));
}

#[test]
fn a_medium_that_goes_away_or_has_no_time_leaves_no_verdict() {
    let gone = examine(boxed(&Geometry::damaged(4 * GIB, "[[fault]]\nkind = \"vanish\"\nafter = \"10 s\"\n").profile(), 1), 1);
    assert_eq!((gone.kind, gone.cell.stop), (None, Stop::Error));
    let slow = Geometry { write_bps: 1_000_000, ..Geometry::good(64 * GIB) };
    let slow = examine(boxed(&slow.profile(), 1), 1);
    assert!(slow.kind.is_none_or(|kind| kind == Kind::Good), "{:?}", slow.kind);
    assert!(slow.took_ns <= 310 * SECOND_NS);
}

#[test]
fn is_left_out_where_it_makes_no_sense() {
    let mut bed = Bed::raw(4 * GIB, |_, _| 1);
    assert_eq!(bed.left_out(&["capacity"]), "nothing to do: capacity: this simulated medium keeps no data; there is nothing to read back");
    bed.site.facts.keeps_data = true;
    assert_eq!(bed.planned(&["capacity"]).len(), 1);
    bed.site.only = Some(device::Extent::new(0, GIB));
    assert!(bed.left_out(&["capacity"]).contains("only the range given with --span"));
    bed.site.only = None;
    bed.site.writable = Err("is only read".into());
    assert!(bed.left_out(&["capacity"]).contains("is only read"));
    let mut small = Bed::raw(8 * MIB, |_, _| 1);
    small.site.facts.keeps_data = true;
    assert!(small.left_out(&["capacity"]).contains("too small"));
    let mut file = Bed::file(GIB, |_, _| 1);
    file.site.facts.keeps_data = true;
    assert!(file.left_out(&["capacity"]).contains("raw medium"));
}
