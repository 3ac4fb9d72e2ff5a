//! `flashmark run`: from a target to a record and a report.

use record::text;
use record::units::{Bytes, MIB, significant};
use record::{Pattern, PlannedCell, TargetKind};
use suite::Plan;

use crate::several::{self, SeveralFlags};
use program::exit::{Exit, OrExit, Result, usage};
use program::printing::print;
use session::begin::{begin, opening, run_id};
use session::effort;
use session::flags::RunFlags;
use session::not_restored;
use session::progress_display;
use session::reopened;
use session::request::{self, RunRequest, Wanted};
use session::session::Session;
use session::slow_answer::{Looked, SlowAnswer};
use session::suite_body::SuiteBody;
use session::target::Target;
use session::words;

/// Measures a target and keeps the run; with `--plan` only prints what would be done.
pub fn run(mut flags: RunFlags) -> Result {
    if let Some(targets) = several::targets(&mut flags.target, &mut flags.more)? {
        return run_several(&targets, &flags);
    }
    let (mut request, wanted) = request::read(&flags)?;
    let (opened, looked) = open(&mut request, wanted.outputs.is_silent())?;
    measure(request, wanted, opened, looked)
}

/// Measures several media; each run is kept like the run of a single medium.
fn run_several(targets: &[String], flags: &RunFlags) -> Result {
    if flags.outputs.json.is_some() || flags.outputs.html.is_some() {
        return usage(
            "--json and --html are for one medium; the record and page of each are kept with its run: flashmark runs",
        );
    }
    let flags = SeveralFlags {
        erase: &flags.access.erase,
        plan_only: flags.plan,
        json: false,
        quiet: flags.outputs.is_silent(),
    };
    several::run(targets, &flags)
}

/// Opens the target of a new run; tells the user while it does not answer.
pub fn open(request: &mut RunRequest, quiet: bool) -> Result<(Target, Looked)> {
    let slow = SlowAnswer::watch(&request.target, quiet);
    let opened = Target::open_new(request)?;
    let took_ns = slow.end();
    let ns = if opened.is_simulated() { 0 } else { took_ns };
    Ok((opened, Looked::at_contents(ns)))
}

/// Measures a target that is open.
pub fn measure(
    mut request: RunRequest,
    mut wanted: Wanted,
    mut opened: Target,
    mut looked: Looked,
) -> Result {
    let is_check = wanted.suite.name == suite::CHECK;
    opened.note_way_to_raw(if is_check { "check" } else { "run" });
    let mut plan = Plan::make(&wanted.suite, &wanted.choice, &opened.info).or_usage()?;
    if let Some(time_ns) = wanted.time_ns {
        effort::fit_to_time(&mut wanted.suite, &mut wanted.choice, &plan, time_ns);
        plan = Plan::make(&wanted.suite, &wanted.choice, &opened.info).or_usage()?;
    }
    let writes = plan.cells.iter().any(|cell| cell.max_written_bytes > 0);
    if writes && opened.target.kind == TargetKind::Block {
        not_restored::refuse_to_write(&opened)?;
    }
    if wanted.plan_only {
        print(&describe(&plan, &opened, &request))?;
        return Ok(Exit::Done);
    }
    request.confirmed = opened.confirm(&request)?;
    let id = run_id(&request, &plan.suite, &opened);
    let mut opening = opening(&id, &request, wanted.label.clone(), &opened, &plan)?;
    let slow = SlowAnswer::watch(&request.target, wanted.outputs.is_silent());
    opening.fingerprint =
        reopened::fingerprint(&mut opened, &plan, request.seed, &mut looked.waits)?;
    let took_ns = slow.end();
    looked.ns += if opened.is_simulated() { 0 } else { took_ns };
    let (dir, journal) = begin(&opening)?;
    let outputs = wanted.outputs;
    let (target, used_ns) = (opened, looked.ns);
    let (done, taken_anew) = (Vec::new(), false);
    Session { target, plan, request, dir, journal, done, used_ns, taken_anew, outputs }
        .hold(&mut SuiteBody { waits: looked.waits })
}

/// Most bytes that a medium programs for this plan if it merges for each small random write: each
/// costs an allocation unit (docs/field/cautions.md#cautions), but no such medium programs more
/// than 10 MB/s of it, so time bounds it too.
fn worst_wear_bytes(plan: &Plan, au_bytes: Option<u64>) -> u64 {
    let au_bytes = au_bytes.unwrap_or(4 * MIB);
    let of_cell = |cell: &PlannedCell| {
        if cell.params.pattern == Some(Pattern::Sequential) || cell.max_written_bytes == 0 {
            return cell.max_written_bytes;
        }
        let merges = (cell.max_written_bytes / cell.block_bytes()).saturating_mul(au_bytes);
        merges.min(cell.max_ns / 100).max(cell.max_written_bytes)
    };
    plan.sum_of(of_cell)
}

/// Description of what would be done, for `--plan`.
fn describe(plan: &Plan, opened: &Target, request: &RunRequest) -> String {
    let mut text = format!(
        "{}\n{}Suite {} would run {} cells:\n",
        opened.describe(),
        opened.erased(request),
        plan.suite,
        plan.cells.len()
    );
    let names = words::names(&plan.cells);
    for cell in &plan.cells {
        let name = names.get(&cell.id).unwrap_or_default();
        text += &progress_display::planned(name, cell);
        text.push('\n');
    }
    for skip in &plan.skipped {
        text += &format!("  {:<34} left out: {}\n", skip.test, skip.reason);
    }
    if opened.info.must_restore.is_some() {
        text += "\nWhat is overwritten is kept in memory and restored at the end.\n";
    }
    let written = plan.max_written_bytes();
    text += &format!("\nTime     {}\nWritten  at most {}", words::longest(plan, 0), Bytes(written));
    if opened.target.kind == TargetKind::Directory {
        let bytes = opened.info.facts.capacity_bytes + plan.staged_bytes();
        text += &format!("\nFiles    at most {} at a time, gone at the end", Bytes(bytes));
    }
    // A file is written in one place of its medium, whose share of the wear nobody knows.
    let is_file = opened.target.kind == TargetKind::File;
    if let Some(capacity) =
        opened.medium.capacity_bytes.filter(|capacity| *capacity > 0 && written > 0 && !is_file)
    {
        let programmed = worst_wear_bytes(plan, opened.info.au_bytes);
        let overwrites = significant(programmed as f64 / capacity as f64);
        text += &if programmed > written {
            format!(
                "\nWear     at most {} programmed, on a card that rewrites a whole allocation unit for each small write:\n         {overwrites} full overwrites of the medium",
                Bytes(programmed)
            )
        } else {
            format!("\nWear     at most {overwrites} full overwrites of the medium")
        };
    }
    text::escaped(&(text + "\nNothing was written.\n"))
}
