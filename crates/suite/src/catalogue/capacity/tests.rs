use std::sync::atomic::AtomicBool;

use device::Device;
use record::units::{GIB, KIB, MIB, SECOND_NS};
use record::{Cell, Flag, Stop};

use super::trial::{CapacityKind, Geometry, Trial, examine, probe_with, trial};

mod unrestored;

fn medium(profile: &str, seed: u64) -> sim::SimDevice {
    let profile =
        sim::Profile::parse("trial", profile).unwrap_or_else(|error| panic!("{error}\n{profile}"));
    sim::SimDevice::new(&profile, sim::SimOptions { seed, capacity: None, keep_data: true })
}

fn boxed(profile: &str, seed: u64) -> Box<dyn Device> {
    Box::new(medium(profile, seed))
}

/// Asserts that the probe is right and in time: 2 minutes for a fake at 10 MB/s, otherwise 4, and
/// one more for damage, of which a second probe makes sure.
fn check(tried: Trial) -> Cell {
    let Trial { geometry, ruling, wrong } = tried;
    assert_eq!(wrong, None, "{geometry:#?}\n{:#?}", ruling.cell.metrics.other);
    let is_quick = geometry.kind.is_fake() && geometry.kind != CapacityKind::Filling;
    let limit_s = match geometry.kind {
        _ if is_quick => 120,
        CapacityKind::Damaged => 300,
        _ => 240,
    };
    let took_s = ruling.took_ns / SECOND_NS;
    assert!(took_s < limit_s, "{took_s} s: {geometry:#?}");
    ruling.cell
}

fn notes(cell: &Cell) -> String {
    let text = |flag: &Flag| if let Flag::Note { text } = flag { Some(text.clone()) } else { None };
    cell.flags.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

fn figure(cell: &Cell, name: &str) -> f64 {
    let other = &cell.metrics.other;
    other.get(name).unwrap_or_else(|| panic!("no {name}: {other:?}")).value
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
        // No room beyond the wrap distance to fill a memory in.
        Geometry::chain(1_270_874_112, 126_451_200, 1_269_197_824),
    ];
    for (seed, geometry) in table.into_iter().enumerate() {
        for remembers_bytes in [0, 64 * MIB] {
            check(Trial::of(geometry.clone().remembering(remembers_bytes), seed as u64, &boxed));
        }
    }
}

#[test]
fn the_size_of_a_cache_is_found_where_marks_vanish() {
    for (remembers, low, high) in
        [(0, 0, 0), (3 * MIB, 0, 10 * MIB), (10 * MIB, 0, 10 * MIB), (64 * MIB, 17 * MIB, 66 * MIB)]
    {
        let cell =
            check(Trial::of(Geometry::limbo(16 * GIB, 2 * GIB).remembering(remembers), 3, &boxed));
        let cache = cell.metrics.other["cache_bytes"];
        let found = (cache.ci95.map_or(cache.value, |[low, _]| low), cache.value);
        assert_eq!(found, (low as f64, high as f64));
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
        let overwhelmed = 2 * ((geometry.capacity_bytes - MIB) / 4 / MIB * MIB).min(GIB);
        let cell = check(Trial::of(geometry, seed as u64, &boxed));
        assert_eq!(cell.stop, Stop::Converged);
        assert_eq!(figure(&cell, "overwhelmed_bytes"), overwhelmed as f64);
        // Nothing vanished, so nothing is known of a cache.
        assert!(!cell.metrics.other.contains_key("cache_bytes"));
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
    // All places that failed by chance lie behind the others.
    check(trial(CapacityKind::Damaged, 55, &boxed));
}

#[test]
fn some_of_each_kind() {
    for (kind, many) in [
        (CapacityKind::Limbo, 4),
        (CapacityKind::Wraparound, 4),
        (CapacityKind::Chain, 4),
        (CapacityKind::Filling, 3),
        (CapacityKind::Damaged, 3),
        (CapacityKind::Good, 1),
    ] {
        (0..many).for_each(|seed| drop(check(trial(kind, seed, &boxed))));
    }
}

#[test]
fn a_medium_that_goes_away_or_has_no_time_leaves_no_verdict() {
    let vanishes = "[[fault]]\nkind = \"vanish\"\nafter = \"10 s\"\n";
    let gone = examine(boxed(&Geometry::damaged(4 * GIB, vanishes).profile(), 1), 1);
    assert_eq!((gone.kind, gone.cell.stop), (None, Stop::Error));
    let slow = Geometry { write_bps: 1_000_000, ..Geometry::good(64 * GIB) };
    let slow = examine(boxed(&slow.profile(), 1), 1);
    assert!(slow.kind.is_none_or(|kind| kind == CapacityKind::Good), "{:?}", slow.kind);
    assert!(slow.took_ns <= 310 * SECOND_NS);
}

/// A memory that takes only what has no flash is emptied by writing there.
#[test]
fn a_memory_beyond_the_end_hides_nothing_that_is_erased() {
    for remembers_bytes in [128 * KIB, 8 * MIB, 64 * MIB] {
        for real_bytes in [6 * GIB, 15 * GIB] {
            let fake = Geometry::limbo(16 * GIB, real_bytes).remembering(remembers_bytes);
            let tried = Trial::of(Geometry { remembers_lost: true, ..fake }, 5, &boxed);
            assert_eq!(tried.wrong, None, "{:#?}", tried.geometry);
        }
    }
}

#[test]
fn a_size_that_is_not_known_to_the_block_is_a_range() {
    let hashed = Geometry { keeps: "hashed", ..Geometry::limbo(16 * GIB, 6 * GIB) };
    let errors = "[[fault]]\nkind = \"medium-error\"\noffset = \"6 GiB\"\nsize = \"8 GiB\"\n";
    let errors =
        Geometry { damage: errors.into(), merges: false, ..Geometry::limbo(16 * GIB, 6 * GIB) };
    for (geometry, kind) in [(hashed, CapacityKind::Wraparound), (errors, CapacityKind::Limbo)] {
        for seed in 0..4 {
            let found = examine(boxed(&geometry.profile(), seed), seed);
            let size = found.cell.metrics.other.get("real_bytes").map(|size| size.ci95);
            assert_eq!((found.kind, found.wrap_bytes), (Some(kind), 0), "{geometry:#?}");
            let holds = |[low, high]: [f64; 2]| (low..=high).contains(&(6.0 * GIB as f64));
            assert!(size.is_none_or(|range| range.is_some_and(holds)), "{size:?} {geometry:#?}");
        }
    }
}

/// Places that answer with errors take no data that would empty a memory, and a memory may have most
/// of what was written: the size is a range then.
#[test]
fn errors_and_large_memories_hide_no_fake_and_give_no_wrong_size() {
    let fault = |from: u64, bytes: u64| {
        format!("[[fault]]\nkind = \"medium-error\"\noffset = \"{from} B\"\nsize = \"{bytes} B\"\n")
    };
    let fake = |capacity, real, remembers_bytes, damage| Geometry {
        remembers_bytes,
        damage,
        merges: false,
        ..Geometry::limbo(capacity, real)
    };
    let fakes = [
        fake(9_881_780_224, 364_795_904, 10 * MIB, fault(1_553_989_632, 3_171_942_400)),
        fake(4_689_231_872, 96_381_952, 64 * MIB, fault(670_040_064, 1_530_920_960)),
    ];
    for (geometry, settings) in
        fakes.iter().flat_map(|of| [(of, ""), (of, "cache=64MiB max_time=20s")])
    {
        let (device, stop) = (boxed(&geometry.profile(), 22), AtomicBool::new(false));
        let (found, _) = probe_with(device, 22, None, &stop, &mut (), settings);
        assert_eq!(found.kind, Some(CapacityKind::Limbo), "{geometry:#?}");
        let size = found.cell.metrics.other["real_bytes"];
        let [low, high] = size.ci95.unwrap_or([size.value; 2]);
        let real = geometry.real_bytes as f64;
        assert!(low <= real && real <= high, "{low} to {high}: {geometry:#?}");
    }
}

mod backed_up {
    use std::sync::atomic::{AtomicBool, Ordering};

    use device::{Request, do_io};
    use sim::SimDevice;

    use super::*;
    use crate::catalogue::capacity::trial::{ProbeResult, probe};
    use crate::{RunEvent, RunListener};
    use stats::Random;

    /// The finding of the probe on a medium that must be restored.
    fn lent(device: SimDevice, seed: u64) -> ProbeResult {
        let (why, stop) = (Some("it must be restored".into()), AtomicBool::new(false));
        probe(Box::new(device), seed, why, &stop, &mut ()).0
    }

    /// Every MiB of the medium, read.
    pub fn image(device: &mut dyn Device) -> Vec<u8> {
        let capacity = device.facts().capacity_bytes;
        let mut image = Vec::new();
        device.prepare(1, MIB as usize).unwrap();
        for at in (0..capacity).step_by(MIB as usize) {
            match do_io(device, Request::read(0, at, MIB)) {
                Ok(_) => image.extend_from_slice(device.buffer(0)),
                Err(_) => image.extend_from_slice(&[0; MIB as usize]),
            }
        }
        image
    }

    /// A medium with random data wherever it has flash.
    pub fn used(geometry: &Geometry, seed: u64) -> SimDevice {
        let mut device = medium(&geometry.profile(), seed);
        let mut random = Random::for_purpose(seed, "what lies there");
        device.prepare(1, MIB as usize).unwrap();
        for at in (0..geometry.capacity_bytes).step_by(MIB as usize) {
            device
                .buffer(0)
                .chunks_mut(64)
                .for_each(|chunk| chunk[..8].copy_from_slice(&random.bits().to_le_bytes()));
            do_io(&mut device, Request::write(0, at, MIB)).unwrap();
        }
        device
    }

    /// Interrupts at the progress report of this number, and checks that nobody may end the process
    /// while data is to be restored.
    struct Impatient<'a> {
        stop: &'a AtomicBool,
        after: u32,
        pending: bool,
        phases: Vec<String>,
    }

    impl RunListener for Impatient<'_> {
        fn on_event(&mut self, event: &RunEvent<'_>) -> Result<(), String> {
            match event {
                RunEvent::RestorePending(pending) => self.pending = *pending,
                RunEvent::Progress(progress) => {
                    assert!(self.pending, "{} while nothing is to be restored", progress.phase);
                    self.phases.push(progress.phase.to_owned());
                    self.stop.store(self.phases.len() as u32 >= self.after, Ordering::Relaxed);
                }
                RunEvent::CellFinished { .. } => {
                    assert!(!self.pending, "a cell has ended that has not restored")
                }
                _ => {}
            }
            Ok(())
        }
    }

    /// Probes a medium that must be restored, interrupted after so many progress reports; returns
    /// the finding, and the first byte that is not restored.
    fn backed_up(geometry: &Geometry, after: u32) -> (ProbeResult, Option<usize>) {
        let mut device = used(geometry, 7);
        let before = image(&mut device);
        let stop = AtomicBool::new(false);
        let mut listener = Impatient { stop: &stop, after, pending: false, phases: Vec::new() };
        let (ruling, mut guarded) =
            probe(Box::new(device), 7, Some("it must be restored".into()), &stop, &mut listener);
        assert!(!listener.pending);
        let after = image(&mut guarded);
        let there = geometry.wrap_bytes.unwrap_or(u64::MAX).min(geometry.capacity_bytes);
        // What has no flash holds nothing that could be kept.
        let holds = |at: &usize| (*at as u64 % there) < geometry.real_bytes;
        let wrong = (0..before.len())
            .step_by(512)
            .filter(holds)
            .find(|at| before[*at..at + 512] != after[*at..at + 512]);
        (ruling, wrong)
    }

    pub fn media() -> Vec<Geometry> {
        vec![
            Geometry { cache_bytes: 10 * MIB, ..Geometry::good(96 * MIB) },
            Geometry::limbo(128 * MIB, 48 * MIB),
            Geometry { lost: "garbage", ..Geometry::limbo(128 * MIB, 60 * MIB + 512) },
            Geometry { lost: "ones", ..Geometry::limbo(96 * MIB, 30 * MIB) }.remembering(10 * MIB),
            Geometry::wraparound(128 * MIB, 64 * MIB),
            Geometry::wraparound(96 * MIB, 26 * MIB + 512),
            Geometry::wraparound(64 * MIB, 50 * MIB + 1024),
            Geometry::wraparound(64 * MIB, MIB / 2),
            Geometry::chain(128 * MIB, 40 * MIB, 64 * MIB),
            Geometry { lost: "garbage", ..Geometry::chain(128 * MIB, 24 * MIB, 72 * MIB + 512) },
        ]
    }

    #[test]
    fn everything_lies_there_afterwards_as_it_lay_before_on_good_media_and_fakes() {
        for geometry in media() {
            let (ruling, wrong) = backed_up(&geometry, u32::MAX);
            assert_eq!(wrong, None, "{geometry:#?}\n{:#?}", ruling.cell.metrics.other);
            if geometry.real_bytes > MIB {
                assert_eq!(geometry.judge(&ruling), Ok(()), "{:#?}", ruling.cell.metrics.other);
            }
            assert_eq!(figure(&ruling.cell, "unrestored_bytes"), 0.0, "{geometry:#?}");
            assert!(figure(&ruling.cell, "restored_bytes") > 0.0);
        }
    }

    /// What a fake loses that gives its flash to what is written last cannot be restored: it is
    /// told. A good medium has no such loss, nor one without data.
    #[test]
    fn data_elsewhere_that_changed_is_told() {
        let filling =
            |keeps| Geometry { merges: false, ..Geometry::filling(256 * MIB, 64 * MIB, keeps) };
        let garbage = Geometry { lost: "garbage", ..Geometry::limbo(128 * MIB, 48 * MIB) };
        for (geometry, changes) in
            [(filling("latest"), true), (Geometry::good(256 * MIB), false), (garbage, false)]
        {
            let (ruling, _) = backed_up(&geometry, u32::MAX);
            let changed = figure(&ruling.cell, "elsewhere_changed");
            // Full of files to the last block: the oldest are lost first.
            if changes {
                assert!(changed >= 16.0, "{changed} {geometry:#?}");
            }
            assert!(figure(&ruling.cell, "elsewhere_places") > 0.0);
            assert_eq!(changed > 0.0, changes, "{changed} {geometry:#?}");
        }
    }

    #[test]
    fn also_after_an_interruption_at_any_moment() {
        let moments = [[1, 30], [2, 60], [3, 17], [5, 90], [7, 40], [11, 120]];
        for (geometry, afters) in media().into_iter().zip(moments.into_iter().cycle()) {
            for after in afters {
                let (ruling, wrong) = backed_up(&geometry, after);
                assert_eq!(wrong, None, "after {after}: {geometry:#?}");
                let stop = ruling.cell.stop;
                assert!(matches!(stop, Stop::Interrupted | Stop::Converged), "{stop:?}");
            }
        }
    }

    #[test]
    fn unreadable_data_is_not_overwritten_and_unrestored_data_is_reported() {
        let unreadable = "[[fault]]\nkind = \"medium-error\"\ndirection = \"read\"\noffset = \"0 B\"\nsize = \"40 MiB\"\n";
        let (ruling, _) = backed_up(&Geometry::damaged(192 * MIB, unreadable), u32::MAX);
        assert_eq!(ruling.kind, Some(CapacityKind::Damaged), "{:#?}", ruling.cell.metrics.other);
        let corrupted = "[[fault]]\nkind = \"corruption\"\nshare = 0.5\n";
        let ruling = lent(used(&Geometry::damaged(192 * MIB, corrupted), 3), 3);
        assert!(figure(&ruling.cell, "unrestored_bytes") > 0.0);
        assert!(notes(&ruling.cell).contains("could not be restored"));
    }

    #[test]
    fn a_good_medium_of_10_mb_a_second_is_cleared_and_restored_in_four_minutes() {
        let ruling = lent(medium(&Geometry::good(8 * GIB).profile(), 1), 1);
        let overwhelmed = figure(&ruling.cell, "overwhelmed_bytes");
        assert_eq!((ruling.kind, overwhelmed), (Some(CapacityKind::Good), 256.0 * MIB as f64));
        assert!(ruling.took_ns < 240 * SECOND_NS, "{} s", ruling.took_ns / SECOND_NS);
    }
}
