//! Media of known geometry for tests of the probe: drawn at random, described as profiles of
//! simulated media, and judged.
//!
//! Nothing here knows the simulator: a [`Geometry`] writes the text of a profile, [`examine`] takes
//! any device, and [`Geometry::judge`] compares. `cargo validation truth --findings` and the tests
//! bring these together.

use std::sync::atomic::AtomicBool;

use device::Device;
use record::units::{GIB, KIB, MIB};
use record::{Cell, TargetKind, metric};

use super::Capacity;
use crate::definition::{Suite, SuiteEntry};
use crate::{
    Backup, Choice, Guarded, NoStage, Plan, RunEnd, RunListener, RunOptions, TargetInfo, Test, run,
};
pub use record::CapacityKind;
use stats::Random;

/// The true properties of a medium.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// The correct finding: good, damaged, or the kind of fake.
    pub kind: CapacityKind,
    /// Announced size in bytes.
    pub capacity_bytes: u64,
    /// Bytes of real flash.
    pub real_bytes: u64,
    /// Modulus of addresses, if they fold.
    pub wrap_bytes: Option<u64>,
    /// Bytes of the latest writes that the controller remembers, with or without flash.
    pub remembers_bytes: u64,
    /// True if it remembers only what has no flash.
    pub remembers_lost: bool,
    /// The writes that find flash: "front", or as a profile has it.
    pub keeps: &'static str,
    /// A write cache on the way, in bytes.
    pub cache_bytes: u64,
    /// Content of reads from places without flash: "zeros", "ones", "garbage".
    pub lost: &'static str,
    /// Rate of sequential writes in bytes per second.
    pub write_bps: u64,
    /// True if whole allocation units are mapped, so that each write elsewhere causes a merge.
    pub merges: bool,
    /// Further tables of the profile, which describe damage.
    pub damage: String,
}

/// The finding of the probe on a medium, and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeResult {
    /// Type of the medium; `None` if it was not found.
    pub kind: Option<CapacityKind>,
    /// Bytes of real flash that were found.
    pub real_bytes: Option<u64>,
    /// Modulus of addresses that was found; 0 without one.
    pub wrap_bytes: u64,
    /// Device time in nanoseconds.
    pub took_ns: u64,
    /// The cell of `capacity` in full, as the run left it.
    pub cell: Cell,
}

/// A medium, the finding of the probe, and the errors of the finding.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The true properties of the medium, which the probe does not know.
    pub geometry: Geometry,
    /// Finding of the probe.
    pub ruling: ProbeResult,
    /// Error of the finding, if there is one.
    pub wrong: Option<String>,
}

/// Tests the probe on a medium of this kind, drawn from the seed; `medium` makes it from the text
/// of its profile.
pub fn trial(
    kind: CapacityKind,
    seed: u64,
    medium: &dyn Fn(&str, u64) -> Box<dyn Device>,
) -> Trial {
    let geometry = Geometry::draw(kind, &mut Random::for_purpose(seed, &format!("{kind:?}")));
    Trial::of(geometry, seed, medium)
}

impl Trial {
    /// Tests the probe on this medium.
    pub fn of(
        geometry: Geometry,
        seed: u64,
        medium: &dyn Fn(&str, u64) -> Box<dyn Device>,
    ) -> Trial {
        let ruling = examine(medium(&geometry.profile(), seed), seed);
        let wrong = geometry.judge(&ruling).err();
        Trial { geometry, ruling, wrong }
    }
}

/// The allocation unit of media that merge.
const AU_BYTES: u64 = 4 * MIB;

impl Geometry {
    /// A good medium of this size that writes 10 MB/s.
    pub fn good(capacity_bytes: u64) -> Geometry {
        Geometry {
            kind: CapacityKind::Good,
            capacity_bytes,
            real_bytes: capacity_bytes,
            wrap_bytes: None,
            remembers_bytes: 0,
            remembers_lost: false,
            keeps: "front",
            cache_bytes: 0,
            lost: "zeros",
            write_bps: 10_000_000,
            merges: true,
            damage: String::new(),
        }
    }

    /// A fake that keeps no data from `real_bytes` on.
    pub fn limbo(capacity_bytes: u64, real_bytes: u64) -> Geometry {
        Geometry { kind: CapacityKind::Limbo, real_bytes, ..Geometry::good(capacity_bytes) }
    }

    /// A fake whose addresses begin at 0 again after `real_bytes`.
    pub fn wraparound(capacity_bytes: u64, real_bytes: u64) -> Geometry {
        Geometry {
            kind: CapacityKind::Wraparound,
            real_bytes,
            wrap_bytes: Some(real_bytes),
            ..Geometry::good(capacity_bytes)
        }
    }

    /// A fake whose addresses begin at 0 again after `wrap_bytes`, with only `real_bytes` of flash.
    pub fn chain(capacity_bytes: u64, real_bytes: u64, wrap_bytes: u64) -> Geometry {
        Geometry {
            kind: CapacityKind::Chain,
            real_bytes,
            wrap_bytes: Some(wrap_bytes),
            ..Geometry::good(capacity_bytes)
        }
    }

    /// A fake that keeps so many bytes of what is written, wherever they are.
    pub fn filling(capacity_bytes: u64, real_bytes: u64, keeps: &'static str) -> Geometry {
        let kind = CapacityKind::Filling;
        Geometry {
            kind,
            real_bytes: real_bytes / MIB * MIB,
            keeps,
            ..Geometry::good(capacity_bytes)
        }
    }

    /// The same with a controller that remembers so many bytes of the latest writes.
    pub fn remembering(self, remembers_bytes: u64) -> Geometry {
        Geometry { remembers_bytes, ..self }
    }

    /// A good medium with further tables in its profile, which describe its damage.
    pub fn damaged(capacity_bytes: u64, damage: impl Into<String>) -> Geometry {
        Geometry {
            kind: CapacityKind::Damaged,
            damage: damage.into(),
            merges: false,
            ..Geometry::good(capacity_bytes)
        }
    }

    /// A medium of this kind, drawn at random: 1 to 256 GiB announced, sizes of any number of
    /// sectors, caches up to 64 MiB, writing at 10 MB/s.
    pub fn draw(kind: CapacityKind, random: &mut Random) -> Geometry {
        let capacity_bytes = (log_uniform(GIB, 256 * GIB, random) / AU_BYTES) * AU_BYTES;
        // From a sixty-fourth of what it says to all but a few per cent.
        let real_bytes =
            log_uniform(capacity_bytes / 64, capacity_bytes / 100 * 97, random) / 512 * 512;
        let drawn = match kind {
            CapacityKind::Good => Geometry::good(capacity_bytes),
            CapacityKind::Damaged => {
                Geometry::damaged(capacity_bytes, damage(capacity_bytes, random))
            }
            CapacityKind::Limbo => Geometry::limbo(capacity_bytes, real_bytes),
            CapacityKind::Filling => Geometry::filling(
                capacity_bytes,
                log_uniform(8 * MIB, 256 * MIB, random),
                ["first", "first-then-errors", "latest"][random.below(3) as usize],
            ),
            CapacityKind::Wraparound => Geometry::wraparound(capacity_bytes, real_bytes),
            CapacityKind::Chain => {
                let wrap_bytes =
                    log_uniform(real_bytes / 100 * 103, capacity_bytes / 1000 * 999, random) / 512
                        * 512;
                Geometry::chain(
                    capacity_bytes,
                    real_bytes.min(wrap_bytes / 103 * 100 / 512 * 512),
                    wrap_bytes,
                )
            }
        };
        let caches = [0, 0, MIB, 4 * MIB, 10 * MIB, 16 * MIB, 64 * MIB];
        let one_of = |random: &mut Random| caches[random.below(caches.len() as u64) as usize];
        let fake = kind.is_fake();
        Geometry {
            remembers_bytes: if fake { one_of(random) } else { 0 },
            cache_bytes: one_of(random),
            lost: ["zeros", "ones", "garbage"][random.below(3) as usize],
            merges: drawn.merges && random.below(2) == 0,
            ..drawn
        }
    }

    /// The text of its profile.
    pub fn profile(&self) -> String {
        let rate = self.write_bps / 1_000_000;
        let mut text = format!(
            "about = \"{:?} of {} bytes\"\nsource = \"docs/field/counterfeits.md#f3probe\"\nguesses = \"all\"\n[medium]\ncapacity = \"{} B\"\n\
             [read]\ncommand = \"0.8 ms\"\nrate = \"20 MB/s\"\n[write]\ncommand = \"0.8 ms\"\nrate = \"{rate} MB/s\"\nunit = \"16 KiB\"\npartial = \"1.5 ms\"\n",
            self.kind, self.real_bytes, self.capacity_bytes
        );
        text += if self.merges {
            "[log_block]\nau = \"4 MiB\"\nopen_aus = 4\ncopy_rate = \"10 MB/s\"\nerase = \"4 ms\"\n"
        } else {
            "[page_mapped]\n"
        };
        if self.cache_bytes > 0 {
            text += &format!(
                "[cache]\nsize = \"{} B\"\nrate = \"40 MB/s\"\ncommand = \"0.2 ms\"\nhonest = true\n",
                self.cache_bytes
            );
        }
        if self.kind.is_fake() {
            text += &format!(
                "[fake]\nreal = \"{} B\"\nlost = \"{}\"\nremembers = \"{} B\"\nremembers_lost = {}\nkeeps = \"{}\"\n",
                self.real_bytes, self.lost, self.remembers_bytes, self.remembers_lost, self.keeps
            );
            text += &self
                .wrap_bytes
                .map(|wrap_bytes| format!("module = \"{wrap_bytes} B\"\n"))
                .unwrap_or_default();
        }
        text + "[jitter]\nsigma = 0.1\ntail_share = 0.005\ntail_factor = 8.0\n" + &self.damage
    }

    /// Compares a finding with this medium.
    ///
    /// # Errors
    /// The type is wrong; or the real size or the wrap distance is wrong, to the byte.
    pub fn judge(&self, ruling: &ProbeResult) -> Result<(), String> {
        if ruling.kind != Some(self.kind) {
            return Err(format!("is {:?}, was called {:?}", self.kind, ruling.kind));
        }
        let folds = self.wrap_bytes.unwrap_or(0);
        match self.kind {
            CapacityKind::Damaged => Ok(()),
            CapacityKind::Filling => {
                let size = ruling.cell.metrics.other.get(metric::REAL_BYTES);
                let [low, high] = size.and_then(|size| size.ci95).unwrap_or_default();
                let is_inside = (low..=high).contains(&(self.real_bytes as f64));
                let wrong = || format!("has {}, was said to have {low} to {high}", self.real_bytes);
                is_inside.then_some(()).ok_or_else(wrong)
            }
            _ if ruling.real_bytes != Some(self.real_bytes) => Err(format!(
                "has {} bytes, was said to have {:?}",
                self.real_bytes, ruling.real_bytes
            )),
            _ if ruling.wrap_bytes != folds => {
                Err(format!("folds at {folds}, was said to fold at {}", ruling.wrap_bytes))
            }
            _ => Ok(()),
        }
    }
}

/// Damage of single places that a probe of some hundred places must find.
fn damage(capacity_bytes: u64, random: &mut Random) -> String {
    let start = random.below(capacity_bytes / 3) / AU_BYTES * AU_BYTES;
    let size = capacity_bytes / 4 / AU_BYTES * AU_BYTES;
    match random.below(3) {
        0 => format!(
            "[[fault]]\nkind = \"medium-error\"\noffset = \"{start} B\"\nsize = \"{size} B\"\n"
        ),
        1 => {
            format!("[[fault]]\nkind = \"corruption\"\nshare = {:.2}\n", 0.2 + 0.8 * random.unit())
        }
        _ => format!(
            "[wear]\nblock = \"{} B\"\nbad_share = {:.2}\n",
            256 * KIB,
            0.1 + 0.4 * random.unit()
        ),
    }
}

fn log_uniform(low: u64, high: u64, random: &mut Random) -> u64 {
    (low as f64 * (high as f64 / low as f64).powf(random.unit())) as u64
}

/// Runs the probe on a device, with guard and budget as in a run.
pub fn examine(device: Box<dyn Device>, seed: u64) -> ProbeResult {
    probe(device, seed, None, &AtomicBool::new(false), &mut ()).0
}

/// The same on a medium that must be restored, with the reason in `must_restore`; returns the
/// guarded medium as the probe left it.
pub(crate) fn probe(
    device: Box<dyn Device>,
    seed: u64,
    must_restore: Option<String>,
    stop: &AtomicBool,
    listener: &mut dyn RunListener,
) -> (ProbeResult, Guarded) {
    probe_with(device, seed, must_restore, stop, listener, "")
}

/// The same with settings of the probe, such as "cache=64MiB max_time=20s".
pub(crate) fn probe_with(
    device: Box<dyn Device>,
    seed: u64,
    must_restore: Option<String>,
    stop: &AtomicBool,
    listener: &mut dyn RunListener,
    settings: &str,
) -> (ProbeResult, Guarded) {
    let (mut end, took_ns, guarded) =
        run_probe(device, seed, must_restore, stop, listener, None, settings);
    let cell = end.cells.pop().expect("the probe leaves a cell, whatever becomes of it");
    (ProbeResult::of(cell, took_ns), guarded)
}

/// The same with a log for backed-up data; returns the end of the run, its time in nanoseconds, and
/// the medium.
pub(crate) fn run_probe(
    device: Box<dyn Device>,
    seed: u64,
    must_restore: Option<String>,
    stop: &AtomicBool,
    listener: &mut dyn RunListener,
    backup: Option<&mut dyn Backup>,
    settings: &str,
) -> (RunEnd, u64, Guarded) {
    let files = Err("this is a trial of the probe alone".into());
    let target = TargetInfo {
        must_restore,
        files,
        ..TargetInfo::unrestricted(TargetKind::Block, device.facts().clone())
    };
    let entry = SuiteEntry::from(format!("{} {settings}", Capacity.name()).as_str());
    let suite = Suite { tests: vec![entry], ..Suite::default() };
    let plan = Plan::make(&suite, &Choice::default(), &target)
        .expect("a medium of this size can be probed");
    let mut guarded = plan.guard(device);
    let started_ns = guarded.now();
    let options = RunOptions {
        backup: backup.map(|backup| backup as _),
        ..RunOptions::new(seed, &target, stop)
    };
    let end = run(&mut guarded, &mut NoStage, &plan, options, listener);
    let took_ns = guarded.now() - started_ns;
    (end, took_ns, guarded)
}

impl ProbeResult {
    /// The finding in a cell of the probe.
    pub(crate) fn of(cell: Cell, took_ns: u64) -> ProbeResult {
        let figure = |name: &str| cell.metrics.value(name).map(|figure| figure as u64);
        ProbeResult {
            kind: CapacityKind::of_probe(&cell),
            real_bytes: figure(metric::REAL_BYTES),
            wrap_bytes: figure(metric::WRAP_BYTES).unwrap_or(0),
            took_ns,
            cell,
        }
    }
}
