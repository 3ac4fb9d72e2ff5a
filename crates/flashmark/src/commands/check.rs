//! `flashmark check`: whether a medium is genuine, fit for its use, and healthy; and four figures.
//!
//! It runs the suite `check`, and keeps the run like any other. Its own rules: without permission
//! to erase, everything that is overwritten is restored; the limits of all tests follow the time
//! budget; and a medium with an identity of its own is not checked twice within a day.

use record::units::SECOND_NS;
use record::{Ended, Medium, Moment, Record, TargetKind, Use};
use store::{RunDir, Store};
use suite::definition::Suite;
use suite::{Choice, SettingValue};

use crate::commands::run;
use crate::several::{self, SeveralFlags};
use program::clock;
use program::exit::{Exit, OrExit, Result, usage};
use program::printing::{print, print_document};
use session::claims;
use session::flags::CheckFlags;
use session::medium_identity::has_own_identity;
use session::outputs::{self, EndScreen, Outputs};
use session::progress_events;
use session::request::{self, RunRequest, Wanted};
use session::target::Target;

/// Age up to which a check of the same medium is shown in place of a new one.
const STANDS_NS: i128 = 24 * 3600 * SECOND_NS as i128;
/// Longest time of the capacity probe in a budget of up to two minutes; of a longer budget it gets
/// one part in [`SHARE`].
const PROBE_NS: u64 = 20 * SECOND_NS;
const SHARE: u64 = 6;
/// Budget below which there is time for the four figures only.
const SHORT_NS: u64 = 30 * SECOND_NS;
/// Smallest budget: with less, no test gives a figure.
const MIN_BUDGET_NS: u64 = 5 * SECOND_NS;

/// Answers the three questions; a check of the same medium within a day is shown again.
pub fn run(mut flags: CheckFlags) -> Result {
    if let Some(targets) = several::targets(&mut flags.target, &mut flags.more)? {
        let CheckFlags { plan, json, quiet, progress, access, .. } = flags;
        let quiet = progress.is_silent(quiet);
        let flags = SeveralFlags { erase: &access.erase, plan_only: plan, json, quiet };
        return several::run(&targets, &flags);
    }
    check_one(&flags)
}

fn check_one(flags: &CheckFlags) -> Result {
    let (mut request, wanted) = read(flags)?;
    let (opened, looked) = run::open(&mut request, wanted.outputs.is_silent())?;
    let earlier = if flags.again || flags.plan { None } else { earlier(&request, &opened)? };
    match earlier {
        Some((record, dir)) => show_again(&record, &dir, &request, flags.json),
        None => run::measure(request, wanted, opened, looked),
    }
}

fn read(flags: &CheckFlags) -> Result<(RunRequest, Wanted)> {
    let budget_ns = request::read_duration("--budget", &flags.budget)?;
    if budget_ns < MIN_BUDGET_NS {
        return usage("--budget: at least 5s; in less no test comes to a figure");
    }
    let uses = request::read_uses(&flags.uses)?;
    let suite = Suite::built_in(suite::CHECK).expect("it is built in").within(budget_ns);
    let mut choice = Choice { skip: unneeded_tests(&uses), ..Choice::default() };
    choice.set.push(probe_time(budget_ns));
    if budget_ns < SHORT_NS {
        choice.set.extend(fewer_cells(budget_ns));
        choice.skip.push(record::test::FLUSH_COST.to_owned());
    }
    let request = RunRequest {
        // The probe of the capacity restores what it overwrites; nothing else writes a medium that
        // was not given away.
        restoring: true,
        claims: flags.claim.as_deref().map(claims::read).transpose()?,
        uses,
        strict: flags.strict,
        time_limit_ns: Some(budget_ns),
        file_bytes: request::file_bytes(&suite, &choice)?,
        ..RunRequest::of(&flags.target, &flags.access, flags.seed)?
    };
    let end_screen = if flags.json { EndScreen::CheckLine } else { EndScreen::Check };
    let outputs =
        Outputs { quiet: flags.quiet, progress: flags.progress, end_screen, ..Outputs::default() };
    let (label, plan_only) = (flags.label.clone(), flags.plan);
    Ok((request, Wanted { suite, choice, time_ns: None, label, outputs, plan_only }))
}

/// Time limit of the capacity probe: half of a short budget, as genuine cards of a few gigabytes
/// need up to 14 s for it; of a long one, the probe's share in the suite.
fn probe_time(budget_ns: u64) -> (String, String, SettingValue) {
    let limit_ns = (budget_ns / 2).min(PROBE_NS).max(budget_ns / SHARE);
    (record::test::CAPACITY.to_owned(), "max_time".to_owned(), SettingValue::Ns(limit_ns))
}

/// Random writes of 4 KiB alone: the span must be primed for them, and the caches full.
fn fewer_cells(budget_ns: u64) -> [(String, String, SettingValue); 4] {
    let share = SettingValue::Ns(budget_ns / 4);
    [
        (record::test::PRIME, "max_time", share.clone()),
        (record::test::RANDOM_WRITE, "block", "4KiB".into()),
        (record::test::RANDOM_WRITE, "overwhelm_time", SettingValue::Share(0.5)),
        (record::test::RANDOM_WRITE, "max_time", share),
    ]
    .map(|(test, name, value)| (test.to_owned(), name.to_owned(), value))
}

/// Tests that none of these uses needs.
fn unneeded_tests(uses: &[Use]) -> Vec<String> {
    let needed = [
        (record::test::LOG_APPEND, uses.contains(&Use::Logger)),
        (record::test::COMMIT, uses.contains(&Use::Database)),
    ];
    needed.iter().filter(|(_, asked)| !asked).map(|(test, _)| (*test).to_owned()).collect()
}

/// Latest complete check of this medium, if it was run within a day with the same request.
fn earlier(request: &RunRequest, opened: &Target) -> Result<Option<(Record, RunDir)>> {
    // A file of the same name may be another, and whoever gives a medium away wants it measured.
    let is_file = opened.target.kind == TargetKind::File;
    if is_file || request.erase.is_some() || !has_own_identity(&opened.medium) {
        return Ok(None);
    }
    let store = Store::open(Store::default_root());
    let runs = store.runs().or_usage()?.into_iter().rev();
    let candidates = runs.filter(|run| {
        run.has_its_record
            && run
                .overview
                .as_ref()
                .is_ok_and(|it| it.suite == suite::CHECK && it.ended == Ended::Complete)
    });
    for run in candidates {
        let Ok(record) = run.dir.load() else { continue };
        let is_asked_again =
            asked(&run.dir).is_some_and(|before| is_same_question(&before, request));
        if is_asked_again
            && record.target.kind == opened.target.kind
            && stands(&record, &opened.medium, clock::moment())
        {
            return Ok(Some((record, run.dir)));
        }
    }
    Ok(None)
}

/// True if an earlier check is still valid: of this medium, by this program, within a day.
fn stands(before: &Record, medium: &Medium, now: Moment) -> bool {
    is_same_medium(&before.medium, medium)
        && before.run.software == session::begin::software()
        && is_recent(before, now)
}

fn is_same_medium(before: &Medium, now: &Medium) -> bool {
    let identity = |medium: &Medium| {
        let Medium { cid, serial, model, firmware, capacity_bytes, .. } = medium.clone();
        (cid, serial, model, firmware, capacity_bytes)
    };
    identity(before) == identity(now)
}

fn is_recent(record: &Record, now: Moment) -> bool {
    let finished = record.run.finished.as_deref().and_then(Moment::read);
    // A clock that was set back tells nothing.
    finished.is_some_and(|finished| (0..STANDS_NS).contains(&(now.0 - finished.0)))
}

fn asked(dir: &RunDir) -> Option<RunRequest> {
    serde_json::from_value(dir.replay().ok()?.command).ok()
}

fn is_same_question(before: &RunRequest, now: &RunRequest) -> bool {
    let question = |request: &RunRequest| {
        // A medium that was write-protected then may not be now.
        let RunRequest { restoring, target, erase, span, uses, claims, time_limit_ns, .. } =
            request.clone();
        (restoring, target, erase, span, uses, claims, time_limit_ns)
    };
    question(before) == question(now)
}

fn show_again(record: &Record, dir: &RunDir, request: &RunRequest, json: bool) -> Result<Exit> {
    let exit = request.exit(record, None);
    request.print_outcome(record, exit, true);
    progress_events::concluded(record, dir);
    let when = record.run.finished.as_deref().unwrap_or_default();
    if json {
        print_document(&outputs::check_line(record, dir, exit, Some(when)))?;
    } else {
        print(&outputs::check_screen(record, dir))?;
        print(&format!("Measured {when} by its identity; --again measures it now.\n"))?;
    }
    Ok(exit)
}

#[cfg(test)]
mod tests {
    use record::Run;

    use super::*;

    fn card(serial: &str) -> Medium {
        Medium { serial: Some(serial.into()), capacity_bytes: Some(32 << 30), ..Medium::default() }
    }

    #[test]
    fn a_check_stands_for_the_same_medium_within_a_day_and_for_no_other() {
        let now = Moment::read("2026-11-25T12:00:00Z").unwrap();
        let measured = |finished: &str, medium: Medium| {
            let run = Run {
                finished: Some(finished.into()),
                software: session::begin::software(),
                ..Run::default()
            };
            Record { medium, ..Record::new(run) }
        };
        let stands = |finished: &str, now_there: Medium| {
            super::stands(&measured(finished, card("4C530001")), &now_there, now)
        };
        let recent = "2026-11-25T11:00:00Z";
        assert!(stands(recent, card("4C530001")));
        assert!(stands("2026-11-24T12:00:01Z", card("4C530001")));
        assert!(!stands("2026-11-24T11:59:59Z", card("4C530001")), "a day ago");
        assert!(!stands("2026-11-25T12:00:01Z", card("4C530001")), "the clock was set back");
        assert!(!stands("yesterday", card("4C530001")));
        assert!(!stands(recent, card("4C530002")), "another card");
        let larger = Medium { capacity_bytes: Some(64 << 30), ..card("4C530001") };
        assert!(!stands(recent, larger), "a card that copies the number");
        let mut older = measured(recent, card("4C530001"));
        older.run.software.version = "0.0.1".into();
        assert!(!super::stands(&older, &card("4C530001"), now), "another version of the program");
    }

    #[test]
    fn another_question_is_another_check() {
        let flags = |words: &[&str]| {
            use clap::Parser;
            let cli = crate::cli::Cli::parse_from([&["flashmark", "check", "."], words].concat());
            match cli.command {
                crate::cli::Command::Check(flags) => read(&flags).map(|(request, _)| request),
                other => panic!("{other:?}"),
            }
        };
        let plain = flags(&[]).unwrap();
        assert!(is_same_question(&plain, &flags(&["--seed", "7", "--label", "x"]).unwrap()));
        for words in [
            ["--for", "camera"],
            ["--budget", "1m"],
            ["--claim", "class=10"],
            ["--erase", "ID"],
            ["--span", "0+1MiB"],
        ] {
            assert!(!is_same_question(&plain, &flags(&words).unwrap()), "{words:?}");
        }
    }
}
