//! What is concluded of the simulated media that come with the program, to the letter: a threshold
//! that moves, moves something here.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::thread;

use device::{Device, ExtentGuard};
use record::{Record, TargetKind};
use sim::{Profile, SimDevice, SimOptions};
use suite::definition::Suite;
use suite::{Choice, NoStage, Plan, RunOptions, TargetInfo};

use crate::conclude;
use crate::testing::empty;

/// The record of a suite on a medium, without the probe of its capacity, which needs memory for all
/// that is written.
fn measured(profile: &Profile, suite: &str) -> Record {
    let options = SimOptions { seed: 1, capacity: None, keep_data: false };
    let medium = SimDevice::new(profile, options);
    let target = TargetInfo {
        au_bytes: profile.au_bytes(),
        commands_at_once: Some(profile.spec().queue.depth),
        files: Err("no file system is simulated here".into()),
        ..TargetInfo::unrestricted(TargetKind::Simulated, medium.facts().clone())
    };
    let suite = Suite::built_in(suite).expect("it comes with the program");
    let plan = Plan::make(&suite, &Choice::default(), &target).expect("it can be planned");
    let mut record = empty();
    record.medium.capacity_bytes = Some(medium.facts().capacity_bytes);
    let mut guarded = ExtentGuard::new(Box::new(medium) as Box<dyn Device>, plan.writes());
    let stop = AtomicBool::new(false);
    let options = RunOptions::new(1, &target, &stop);
    record.cells = suite::run(&mut guarded, &mut NoStage, &plan, options, &mut ()).cells;
    record
}

/// Every statement about a medium with its evidence, as text.
fn concluded(profile: &Profile) -> String {
    let mut text = format!("# {}\n", profile.name());
    for finding in conclude(&measured(profile, "standard")) {
        let sure = finding.confidence.map_or(String::new(), |sure| format!(" {sure:.3}"));
        let _ =
            writeln!(text, "{} {:?}{sure}: {}", finding.id, finding.severity, finding.statement);
        finding.evidence.iter().for_each(|line| text += &format!("    {line}\n"));
    }
    text
}

#[test]
fn what_is_concluded_of_the_media_that_come_with_the_program() {
    let (front, back) = Profile::all().split_at(Profile::all().len() / 2);
    let of = |media: &'static [Profile]| media.iter().map(concluded).collect::<String>();
    let text = thread::scope(|scope| {
        let front = scope.spawn(|| of(front));
        let back = of(back);
        front.join().expect("no statement panics") + &back
    });
    insta::assert_snapshot!(text);
}
