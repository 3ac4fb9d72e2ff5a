//! `flashmark host-effects`: effects of this host's settings on reads of a medium.

use std::path::PathBuf;

use host::{Access, Changes, HostSetting, InventoryEntry, ResolvedTarget, Roots};
use record::units::Nanos;
use record::{Ended, Flag, Host, Params, PlannedCell, Run, Skip, test};
use store::{Ending, Journal, Opening, RunDir};
use suite::RunEvent;
use workloads::host_effects::{
    EffectsEnd, EffectsEvent, HostUnderTest, ReadFigures, ReadKind, SettingChange, TimedReader,
    try_changes,
};

use crate::cli::HostEffectsFlags;
use crate::clock;
use crate::commands::run::{begin, running};
use crate::exit::{Exit, OrExit, Result, refuse, usage};
use crate::open_target::{clean_up_after_killed_runs, state_dir, target_failure};
use crate::outputs;
use crate::progress_display::Screen;
use crate::run_end::{self, Continuation};
use crate::{messages, progress_events, signals};

/// Tries the settings around one medium and keeps the run; every setting is restored, after a kill
/// by the next start.
pub fn run(flags: &HostEffectsFlags) -> Result {
    flags.outputs.check()?;
    let window: Nanos =
        flags.time.parse().map_err(|error| anyhow::anyhow!("--time: {error}")).or_usage()?;
    clean_up_after_killed_runs();
    let roots = Roots::default();
    let found = host::resolve(&roots, &flags.target, Access::Read).map_err(target_failure)?;
    let Some(disk) = found.medium().cloned() else {
        return usage(format_args!("{}: no medium is known under it", flags.target));
    };
    let (path, bytes) = read_target(&found, &disk);
    let settings = host::host_settings(&roots, &disk);
    let (changes, skipped) = changes_to_try(&settings, is_root());
    let mut reader = TimedReader::new(path.clone(), bytes, window.0.max(1), blockio::now_ns, SEED);
    if let Err(error) = reader.read(ReadKind::Sequential) {
        let sudo = if is_root() { "" } else { "run it with sudo, or " };
        return refuse(format_args!(
            "{}: it cannot be read: {error}; {sudo}name a file on the medium",
            path.display()
        ));
    }
    let id = format!("{}-{}-{}", clock::for_names(), disk.name, test::HOST_EFFECTS);
    let run = Run {
        started: Some(clock::now()),
        seed: SEED,
        label: flags.label.clone(),
        ..running(&id, test::HOST_EFFECTS)
    };
    let opening = Opening {
        run,
        medium: disk.medium.clone(),
        host: Some(Host { memory_bps: None, ..host::facts(&roots) }),
        target: found.record(&roots, &flags.target),
        plan: planned(&changes, flags.rounds),
        skipped,
        flags: found.flags().to_vec(),
        command: serde_json::json!({ test::HOST_EFFECTS: flags.target }),
        fingerprint: None,
    };
    let (dir, journal) = begin(&opening)?;
    progress_events::planned(&dir, &opening.plan, &opening.skipped, &[]);
    let noted = Changes::begin(&state_dir()).or_internal()?;
    let machine = Machine { disk, reader, noted };
    Session { flags, changes, plan: opening.plan, machine, dir, journal }.hold()
}

/// Seed of the places that are read: the same places in every run.
const SEED: u64 = 1;

/// Path to read, of the file or of the whole device that was named, and its size in bytes.
fn read_target(found: &ResolvedTarget, disk: &InventoryEntry) -> (PathBuf, u64) {
    match found {
        ResolvedTarget::File(file) => (file.place.path.clone(), file.size_bytes),
        ResolvedTarget::Block(block) => (block.path.clone(), block.size_bytes()),
        ResolvedTarget::Directory(_) => (disk.path.clone(), disk.size_bytes),
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Reason why a setting is left as it is; root may lack the right as well, where /sys is mounted
/// read-only.
fn not_allowed(is_root: bool) -> &'static str {
    if is_root {
        "the system lets nobody change it here, as in a container; run it on the host itself"
    } else {
        "changing it needs root"
    }
}

/// Changes to try, and settings that are skipped with the reason.
fn changes_to_try(settings: &[HostSetting], is_root: bool) -> (Vec<SettingChange>, Vec<Skip>) {
    let (mut changes, mut skipped) = (Vec::new(), Vec::new());
    let everywhere = ["read_ahead_kb", "scheduler", "max_sectors_kb", host::GOVERNOR];
    let limits =
        settings.iter().map(|setting| setting.name).filter(|name| !everywhere.contains(name));
    for name in everywhere.into_iter().chain(limits) {
        let mut skip = |reason: &str| {
            skipped.push(Skip::new(name, reason));
        };
        match settings.iter().find(|setting| setting.name == name) {
            None => skip("this kernel has no such setting here"),
            Some(setting) if !setting.may_change => skip(not_allowed(is_root)),
            Some(setting) if setting.others.is_empty() => skip("there is no other value to try"),
            Some(setting) => changes.extend(setting.others.iter().map(|value| SettingChange {
                setting: name.to_owned(),
                before: setting.now.clone(),
                value: value.clone(),
            })),
        }
    }
    (changes, skipped)
}

fn planned(changes: &[SettingChange], rounds: u32) -> Vec<PlannedCell> {
    let turns = 1..=rounds * 4;
    let one = |change: &SettingChange, form: &str, turn: u32| PlannedCell {
        id: format!("{}/{}/{}/{form}#{turn}", test::HOST_EFFECTS, change.setting, change.value),
        test: test::HOST_EFFECTS.to_owned(),
        params: Params::default(),
        max_ns: 0,
        max_written_bytes: 0,
    };
    let of_change = |change: &SettingChange| -> Vec<PlannedCell> {
        turns
            .clone()
            .flat_map(|turn| ["sequential", "random"].map(|form| one(change, form, turn)))
            .collect()
    };
    changes.iter().flat_map(of_change).collect()
}

/// The medium and the settings around it; what is changed is noted first.
struct Machine {
    disk: InventoryEntry,
    reader: TimedReader,
    noted: Changes,
}

impl HostUnderTest for Machine {
    fn set(&mut self, setting: &str, value: &str) -> std::result::Result<(), String> {
        let set = match setting {
            host::GOVERNOR => self.noted.set_governor(value),
            host::READ_BPS_LIMIT | host::READ_IOPS_LIMIT => {
                self.noted.set_io_limit(&self.disk, setting, value)
            }
            _ => self.noted.set_queue(&self.disk, setting, value),
        };
        set.map_err(|error| error.to_string())
    }

    fn read(&mut self, kind: ReadKind) -> std::result::Result<Option<ReadFigures>, String> {
        self.reader.read(kind).map_err(|error| error.to_string())
    }
}

/// Session that tries changes, keeps results and restores settings.
struct Session<'a> {
    flags: &'a HostEffectsFlags,
    changes: Vec<SettingChange>,
    plan: Vec<PlannedCell>,
    machine: Machine,
    dir: RunDir,
    journal: Journal,
}

impl Session<'_> {
    fn hold(self) -> Result {
        let Session { flags, changes, plan, mut machine, dir, mut journal } = self;
        let stop = signals::listen()?;
        let began = blockio::now_ns();
        let is_silent = flags.outputs.is_silent();
        let events =
            messages::are_json().then(|| Screen::open(plan.len(), is_silent, Box::new(|| 0)));
        let mut shown = None;
        let end = try_changes(&changes, flags.rounds, &mut machine, &stop, &mut |event| {
            let kept = match event {
                EffectsEvent::Measured(cell) => {
                    let now = format!("trying {} {}", cell.label("setting"), cell.label("value"));
                    if !is_silent && events.is_none() && shown.as_ref() != Some(&now) {
                        crate::say!("{now}");
                        shown = Some(now);
                    }
                    let kept = journal.append(&(*cell).clone().into());
                    let index = plan.iter().position(|planned| planned.id == cell.id);
                    if let (Some(events), Some(index)) = (&events, index) {
                        events.show(&RunEvent::CellFinished { index, cell: &cell });
                    }
                    kept
                }
                EffectsEvent::Refused(change, why) => {
                    let text = format!("{} {} was not tried: {why}", change.setting, change.value);
                    let note = Flag::Note { text };
                    if let Some(events) = &events {
                        events.show(&RunEvent::Flagged(&note));
                    }
                    journal.append(&note.into())
                }
            };
            kept.map_err(|error| error.to_string())
        });
        let restored = machine.noted.undo().or_internal();
        let elapsed_ns = blockio::now_ns().saturating_sub(began);
        drop(events);
        let record = run_end::finish(
            &dir,
            &mut journal,
            ending(&end, elapsed_ns),
            Continuation::StartAgain,
            |record| record.findings = findings::conclude(record),
        )?;
        restored?;
        outputs::deliver(&record, &dir, Exit::of(&record, None), &flags.outputs)?;
        match end {
            EffectsEnd::Complete => Ok(Exit::Done),
            EffectsEnd::Interrupted => {
                crate::say!("flashmark: interrupted; every setting is restored");
                Ok(Exit::Interrupted)
            }
            EffectsEnd::Failed(why) => {
                crate::say!("flashmark: {why}; every setting is restored");
                Ok(Exit::Io)
            }
        }
    }
}

fn ending(end: &EffectsEnd, elapsed_ns: u64) -> Ending {
    let ended = match end {
        EffectsEnd::Complete => Ended::Complete,
        EffectsEnd::Interrupted => Ended::Interrupted,
        EffectsEnd::Failed(_) => Ended::Error,
    };
    Ending { ended, finished: Some(clock::now()), elapsed_ns, ..Ending::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A container told root that "changing it needs root".
    #[test]
    fn root_is_not_advised_to_become_root() {
        let setting = HostSetting {
            name: "scheduler",
            now: "none".into(),
            others: vec!["bfq".into()],
            may_change: false,
        };
        let reason = |is_root| {
            let (changes, skipped) = changes_to_try(std::slice::from_ref(&setting), is_root);
            assert!(changes.is_empty());
            let of_it = skipped.into_iter().find(|skip| skip.test == "scheduler");
            of_it.map(|skip| skip.reason).unwrap_or_default()
        };
        assert_eq!(reason(false), "changing it needs root");
        assert!(reason(true).contains("run it on the host itself"));
    }
}
