//! `sim:PROFILE`: a simulated medium in virtual time.

use device::{Device, Facts};
use host::Roots;
use record::units::KIB;
use record::{Medium, MediumKind, Queue, TargetKind};
use sim::{Profile, SimDevice, SimOptions};
use suite::{Plan, TargetInfo};

use super::{Target, UnclaimedDevice, check_span, stages};
use crate::request::RunRequest;
use program::exit::{OrExit, Result, usage};

/// A medium that is simulated as soon as its plan is known.
pub struct Simulation {
    profile: Profile,
    seed: u64,
}

impl Simulation {
    /// The new medium. It keeps in memory what is written to it, if the plan has a test that reads
    /// it.
    pub fn begin(&self, plan: &Plan) -> Box<dyn Device> {
        Box::new(self.medium(plan.needs_data()))
    }

    fn medium(&self, keep_data: bool) -> SimDevice {
        SimDevice::new(&self.profile, SimOptions { seed: self.seed, capacity: None, keep_data })
    }
}

/// Opens a built-in profile by name, or one of the user's own by its file.
pub fn open(name: &str, request: &RunRequest) -> Result<Target> {
    let simulation = Simulation { profile: find(name)?, seed: request.seed };
    let profile = simulation.profile.clone();
    // What it can do; whether it does is known with the plan.
    let facts = Facts { keeps_data: true, ..simulation.medium(false).facts().clone() };
    check_span(request, facts.capacity_bytes)?;
    let medium = Medium {
        kind: MediumKind::Simulated,
        model: Some(profile.name().to_owned()),
        capacity_bytes: Some(facts.capacity_bytes),
        interface: Some("sim".into()),
        au_bytes: profile.au_bytes(),
        rotational: Some(profile.spec().disk.is_some()),
        profile: Some(profile.name().to_owned()),
        ..Medium::default()
    };
    let target = record::Target {
        kind: TargetKind::Simulated,
        path: request.target.clone(),
        queue: facts.max_transfer_bytes.map(queue_of),
        engine: Some(facts.engine.clone()),
        ..record::Target::default()
    };
    let commands_at_once = Some(profile.spec().queue.depth);
    let info = TargetInfo {
        au_bytes: profile.au_bytes(),
        only: request.only(),
        commands_at_once,
        ..TargetInfo::unrestricted(TargetKind::Simulated, facts)
    };
    let stage = stages::SimulatedFiles::new(profile, request.seed);
    Ok(Target {
        info,
        medium,
        target,
        host: None,
        flags: Vec::new(),
        contents: None,
        stage: Box::new(stage),
        filesystems: None,
        device: Some(UnclaimedDevice::Simulated(Box::new(simulation))),
        watch: None,
        claim: None,
        disk: None,
        roots: Roots::default(),
    })
}

/// Queue of a medium with this largest command, in bytes.
fn queue_of(max_transfer_bytes: u64) -> Queue {
    Queue { max_sectors_kb: Some(max_transfer_bytes / KIB), ..Queue::default() }
}

/// A built-in profile by name, or one of the user's own by its file.
pub fn find(name: &str) -> Result<Profile> {
    match Profile::builtin(name) {
        Some(profile) => Ok(profile.clone()),
        None => Profile::parse(name, &text_of(name)?).or_usage(),
    }
}

/// Text of a profile, as TOML.
pub fn text_of(name: &str) -> Result<String> {
    if let Some(text) = Profile::text(name) {
        return Ok(text.to_owned());
    }
    if !name.ends_with(".toml") {
        return usage(unknown_profile(name));
    }
    std::fs::read_to_string(name)
        .map_err(|error| {
            anyhow::anyhow!(
                "sim:{name}: {error}; name a file with a profile, or one of `flashmark sim list`"
            )
        })
        .or_usage()
}

/// Message that there is no such profile, with the most similar names.
pub fn unknown_profile(name: &str) -> String {
    match Profile::closest(name).as_slice() {
        [] => format!("there is no profile '{name}'; `flashmark sim list` names them all"),
        near => format!("there is no profile '{name}'; did you mean {}?", near.join(" or ")),
    }
}
