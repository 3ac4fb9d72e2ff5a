//! Test of random runs: parts of the suites on media of any kind, with limits, faults, host stalls,
//! interruptions, finished cells, a listener that fails, backups.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use device::fault::{FaultDuration, FaultInjection, FaultWindow, InjectedFault};
use device::{Device, Extent};
use record::units::{MIB, SECOND_NS};
use record::{Cell, Ended, HostStall, PlannedCell, Stop, TargetKind, test};
use sim::{Profile, SimDevice, SimOptions};
use stats::Random;

use super::one_in;
use crate::backup::failing::{BackupCall, FailingBackup};
use crate::catalogue::CATALOGUE;
use crate::catalogue::testing::KnownFiles;
use crate::definition::Suite;
use crate::{Backup, Choice, Plan, RunEnd, RunEvent, RunListener, RunOptions, TargetInfo, run};

/// Number of random runs.
const DRAWN: u64 = 400;
/// Media of each kind of controller, cheating and fake ones included.
const MEDIA: [&str; 10] = [
    "class10",
    "a1",
    "a2-cq",
    "fake-wrap",
    "fake-limbo",
    "ssd-pslc",
    "zero-cheat",
    "usb2-cruzer",
    "disk-5400",
    "throttler",
];
const KINDS: [TargetKind; 4] =
    [TargetKind::Simulated, TargetKind::Block, TargetKind::File, TargetKind::Directory];

/// Records all events, and may fail.
struct Listener<'a> {
    text: String,
    events: u64,
    /// Number of events after which it fails.
    fails_after: Option<u64>,
    /// Number of events after which the user ends the run.
    stops_after: Option<u64>,
    stop: &'a AtomicBool,
}

impl RunListener for Listener<'_> {
    fn on_event(&mut self, event: &RunEvent<'_>) -> Result<(), String> {
        self.events += 1;
        if self.stops_after.is_some_and(|after| self.events > after) {
            self.stop.store(true, Ordering::Relaxed);
        }
        let _ = writeln!(self.text, "{event:?}");
        if self.fails_after.is_some_and(|after| self.events > after) {
            return Err("the disk is full".to_owned());
        }
        Ok(())
    }
}

/// A log that fails after so many calls that write to it.
fn failing_backup(fails_after: Option<u64>) -> FailingBackup {
    let mut calls = 0;
    FailingBackup::new(move |call| {
        calls += u64::from(!matches!(call, BackupCall::Read(_)));
        let fails =
            !matches!(call, BackupCall::Read(_)) && fails_after.is_some_and(|after| calls > after);
        fails.then_some("no space for the backup")
    })
}

fn in_text(of: &impl serde::Serialize) -> String {
    serde_json::to_string(of).expect("what a record holds can be written")
}

fn fault(random: &mut Random, capacity_bytes: u64) -> InjectedFault {
    let somewhere = Extent::new(random.below(capacity_bytes), random.below(256 * MIB));
    let op = random.below(3_000);
    let window = FaultWindow::Ops(op, op + random.below(400));
    let lasts = *random.pick(&[FaultDuration::Once, FaultDuration::Forever]);
    match random.below(11) {
        0 => InjectedFault::EioAt(somewhere, lasts),
        1 => InjectedFault::EioAt(Extent::new(0, u64::MAX), FaultDuration::Once),
        2 => InjectedFault::EioNowAndThen { per_million: 800, seed: 1 },
        3 => InjectedFault::ShortRead(somewhere, lasts),
        4 => InjectedFault::HangFor { ns: 7 * SECOND_NS, after_ops: op },
        5 => InjectedFault::Vanish { after_ops: op },
        6 => InjectedFault::ReadOnlyAfter { ops: op },
        7 => InjectedFault::FailsWritesDuring(window),
        8 => InjectedFault::GoneDuring(window),
        9 => InjectedFault::SilentCorruption(somewhere),
        _ => InjectedFault::LostWrites(somewhere),
    }
}

/// Random stretches in which the host stands still.
fn stalls(random: &mut Random) -> Vec<HostStall> {
    let mut at_ns = 0;
    let mut stalls = Vec::new();
    for _ in 0..random.below(6) {
        let from_ns = at_ns + random.below(3 * SECOND_NS);
        at_ns = from_ns + (random.log_uniform(0.02, 3.0) * SECOND_NS as f64) as u64;
        stalls.push(HostStall { from_ns, to_ns: at_ns });
    }
    stalls
}

fn target(random: &mut Random, medium: &SimDevice, profile: &Profile) -> TargetInfo {
    let kind = *random.pick(&KINDS);
    let facts = medium.facts().clone();
    let somewhere = Extent::new(random.below(64) * MIB, (1 + random.below(200)) * MIB);
    TargetInfo {
        au_bytes: profile.au_bytes().filter(|_| one_in(random, 2)),
        files: if one_in(random, 2) { Ok(()) } else { Err("there is no file system".into()) },
        writable: if one_in(random, 8) { Err("it was not given away".into()) } else { Ok(()) },
        must_restore: one_in(random, 4).then(|| "it must be restored".to_owned()),
        only: one_in(random, 8).then_some(somewhere),
        commands_at_once: *random.pick(&[None, Some(1), Some(32)]),
        ..TargetInfo::unrestricted(kind, facts)
    }
}

/// Random choices of a user for a suite: none, most of the time.
fn choice(random: &mut Random) -> Choice {
    let mut some = |one_in_many| {
        let many = if one_in(random, one_in_many) { 1 + random.below(3) } else { 0 };
        let names = (0..many).map(|_| match random.below(4) {
            0 => test::CAPACITY.to_owned(),
            _ => random.pick(CATALOGUE).name().to_owned(),
        });
        names.collect()
    };
    Choice { only: some(3), skip: some(6), ..Choice::default() }
}

/// Some cells of a suite, some of them with lower limits.
fn plan(random: &mut Random, target: &TargetInfo) -> Option<Plan> {
    let suite = *random.pick(&["quick", "quick", "standard", "full"]);
    let suite = Suite::built_in(suite).expect("it comes with the program");
    let mut plan = Plan::make(&suite, &choice(random), target).ok()?;
    let many = plan.cells.len() as u64;
    let kept = 2 + random.below(6);
    plan.cells.retain(|cell| {
        let is_short = cell.max_written_bytes <= 300 * MIB;
        is_short && random.below(many) < kept || cell.test == test::CAPACITY && one_in(random, 2)
    });
    let is_probed_long = one_in(random, 2);
    for cell in plan.cells.iter_mut().filter(|cell| !is_probed_long || cell.test != test::CAPACITY)
    {
        let most_ns = (random.log_uniform(0.05, 5.0) * SECOND_NS as f64) as u64;
        let most_ns = *random.pick(&[most_ns, most_ns, SECOND_NS, 10 * SECOND_NS]);
        cell.max_ns = cell.max_ns.min(most_ns);
    }
    plan.time_limit_ns =
        (!one_in(random, 3)).then(|| (random.log_uniform(0.2, 20.0) * SECOND_NS as f64) as u64);
    (!plan.cells.is_empty()).then_some(plan)
}

/// Events during a run.
struct Scene {
    faults: Vec<InjectedFault>,
    stalls: Vec<HostStall>,
    stops_after: Option<u64>,
    fails_after: Option<u64>,
    backup: Option<FailingBackup>,
    anyway: bool,
}

impl Scene {
    fn interrupted_after(events: u64) -> Scene {
        Scene {
            faults: Vec::new(),
            stalls: Vec::new(),
            stops_after: Some(events),
            fails_after: None,
            backup: None,
            anyway: false,
        }
    }

    fn drawn(random: &mut Random, capacity_bytes: u64) -> Scene {
        let few = |random: &mut Random, many| one_in(random, many).then(|| random.below(40));
        let is_busy = one_in(random, 3);
        let faults = if one_in(random, 2) { random.below(3) } else { 0 };
        Scene {
            faults: (0..faults).map(|_| fault(random, capacity_bytes)).collect(),
            stalls: if is_busy { stalls(random) } else { Vec::new() },
            stops_after: few(random, 8),
            fails_after: few(random, if is_busy { 3 } else { 8 }),
            backup: one_in(random, 2).then(|| failing_backup(few(random, 4))),
            anyway: one_in(random, 3),
        }
    }
}

/// Cells and time before an interruption.
#[derive(Default)]
struct Before {
    done: Vec<Cell>,
    used_ns: u64,
    lost: bool,
}

/// Runs the plan; returns its end, and all events.
fn played(
    medium: SimDevice,
    plan: &Plan,
    target: &TargetInfo,
    mut scene: Scene,
    before: Before,
    seed: u64,
) -> (RunEnd, String) {
    let stalls = scene.stalls.into_iter().map(InjectedFault::HostStalls);
    let faulty = FaultInjection::new(medium, scene.faults.into_iter().chain(stalls));
    let mut guarded = plan.guard(faulty);
    let stop = AtomicBool::new(false);
    let mut listener = Listener {
        text: String::new(),
        events: 0,
        fails_after: scene.fails_after,
        stops_after: scene.stops_after,
        stop: &stop,
    };
    let Before { done, used_ns, lost } = before;
    let options = RunOptions {
        used_ns,
        done,
        lost,
        anyway: scene.anyway,
        backup: scene.backup.as_mut().map(|backup| backup as &mut dyn Backup),
        ..RunOptions::new(seed, target, &stop)
    };
    // It does not let two files be there at once.
    let mut stage =
        KnownFiles::new(|request, now_ns| 40_000 + request.length_bytes + now_ns % 7_000);
    let end = run(&mut guarded, &mut stage, plan, options, &mut listener);
    let text = format!(
        "{}{:?} {:?} {:?} {} left: {}\n{}\n{}",
        listener.text,
        end.ended,
        end.error,
        end.failed,
        end.elapsed_ns,
        scene.backup.map_or(0, |backup| backup.places().len()),
        in_text(&end.skipped),
        in_text(&end.cells),
    );
    (end, text)
}

/// A random run: its plan, its end, and all events.
fn drawn(number: u64) -> Option<(Plan, RunEnd, String)> {
    let mut random = Random::after(2026, number << 32);
    let name = *random.pick(&MEDIA);
    let profile = Profile::builtin(name).expect("it comes with the program");
    let seed = random.below(100);
    let medium = || SimDevice::new(profile, SimOptions { seed, capacity: None, keep_data: true });
    let target = target(&mut random, &medium(), profile);
    let plan = plan(&mut random, &target)?;
    let mut before = Before::default();
    if one_in(&mut random, 4) {
        let scene = Scene::interrupted_after(random.below(40));
        let (mut end, _) = played(medium(), &plan, &target, scene, before, seed);
        end.cells.retain(|cell| cell.stop != Stop::Interrupted);
        let used_ns = end.elapsed_ns * random.pick(&[1, 1, 20]);
        before = Before { done: end.cells, used_ns, lost: one_in(&mut random, 2) };
    } else if one_in(&mut random, 8) {
        before.used_ns = plan.time_limit_ns.unwrap_or(0);
    }
    let scene = Scene::drawn(&mut random, target.facts.capacity_bytes);
    let (end, text) = played(medium(), &plan, &target, scene, before, seed);
    Some((plan, end, text))
}

fn assert_sound(number: u64, plan: &Plan, end: &RunEnd) {
    let message = |what: &str| format!("run {number}: {what}");
    let ids: Vec<&str> = end.cells.iter().map(|cell| cell.id.as_str()).collect();
    let in_plan: Vec<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
    for (at, id) in ids.iter().enumerate() {
        assert!(in_plan.contains(id), "{}", message(&format!("{id} was not planned")));
        assert!(!ids[..at].contains(id), "{}", message(&format!("{id} is there twice")));
    }
    if end.ended == Ended::Complete {
        let is_left_out = |cell: &PlannedCell| {
            end.skipped.iter().any(|skip| skip.test == cell.id || skip.test == cell.test)
        };
        let missing =
            plan.cells.iter().find(|cell| !ids.contains(&cell.id.as_str()) && !is_left_out(cell));
        assert_eq!(missing, None, "{}", message("neither measured nor left out"));
    }
    for cell in &end.cells {
        assert_cell(cell, &message(&cell.id));
    }
}

fn assert_cell(cell: &Cell, context: &str) {
    assert!(cell.error.is_none() || cell.reason.is_some(), "{context}: no words");
    assert_eq!(
        cell.stop == Stop::Error,
        cell.reason.is_some(),
        "{context}: an error without reason"
    );
    let figures = [&cell.metrics.iops, &cell.metrics.bps].into_iter().flatten();
    for figure in figures.chain(cell.metrics.other.values()) {
        assert!(figure.value.is_finite() && figure.value >= 0.0, "{context}: {figure:?}");
        if let Some([low, high]) = figure.ci95 {
            assert!(low <= figure.value && figure.value <= high, "{context}: {figure:?}");
        }
    }
}

#[test]
fn drawn_runs_keep_to_their_plan_and_list_what_is_missing() {
    let mut measured = 0;
    for number in 0..DRAWN {
        if let Some((plan, end, _)) = drawn(number) {
            assert_sound(number, &plan, &end);
            measured += end.cells.len();
        }
    }
    assert!(measured > DRAWN as usize, "{measured} cells were measured");
}

#[test]
fn a_drawn_run_repeats_to_the_byte() {
    for number in (0..DRAWN).step_by(10) {
        let [once, again] = [drawn(number), drawn(number)].map(|run| run.map(|(_, _, text)| text));
        assert_eq!(once, again, "run {number}");
    }
}
