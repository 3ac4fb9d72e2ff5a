//! `flashmark matrix`: tries file systems and schedulers with real work, and says which to use.

mod field;
mod outputs;
mod request;
mod sitting;

use record::units::{Bytes, Nanos};
use record::{Ended, Params, PlannedCell, Run, Skip, Stop};
use store::{Opening, Resumed, RunDir};

use crate::cli::{MatrixFlags, ResumeFlags};
use crate::clock;
use crate::commands::run::{begin, running, software};
use crate::exit::{Exit, OrExit, Result, refuse};
use crate::outputs::print;
use field::Field;
use outputs::Outputs;
use request::Request;
use sitting::Sitting;

/// Runs the command.
pub fn run(flags: &MatrixFlags) -> Result {
    let mut request = request::read(flags)?;
    if flags.plan {
        return print(&describe(&request)).map(|()| Exit::Done);
    }
    need_root()?;
    let outputs = Outputs {
        json: flags.json.clone(),
        html: flags.html.clone(),
        xlsx: flags.xlsx.clone(),
        csv: flags.csv.clone(),
        quiet: flags.quiet,
    };
    outputs.check()?;
    let mut field = Field::open(&request)?;
    let left_out = field.try_out(&mut request)?;
    if request.combinations.is_empty() {
        let why: Vec<String> = left_out.iter().map(|left| format!("{}: {}", left.what, left.why)).collect();
        field.leave()?;
        return refuse(format_args!("nothing is left to be tried: {}", why.join("; ")));
    }
    let id = format!("{}-{}-matrix", clock::for_names(), field.short_name());
    let label = flags.label.clone();
    let run = Run { started: field.now(), seed: request.seed, label, ..running(&id, findings::matrix::SUITE) };
    let opening = Opening {
        run,
        medium: field.medium.clone(),
        host: Some(field.host.clone()),
        target: field.target.clone(),
        plan: planned(&request),
        skipped: left_out.into_iter().map(|left| Skip { test: left.what, reason: left.why }).collect(),
        flags: field.flags.clone(),
        command: serde_json::json!({ MARK: request }),
        fingerprint: None,
    };
    let (dir, journal) = begin(&opening)?;
    Sitting { field, request, dir, journal, done: Vec::new(), used_ns: 0, outputs }.hold()
}

/// What tells the journal of a matrix from that of a suite.
const MARK: &str = "matrix";

/// Goes on with a matrix; `None` where the run is none.
pub fn resume(dir: &RunDir, command: &serde_json::Value, flags: &ResumeFlags) -> Option<Result> {
    let request = command.get(MARK)?.clone();
    Some(go_on(dir, request, flags))
}

fn go_on(dir: &RunDir, request: serde_json::Value, flags: &ResumeFlags) -> Result {
    let request: Request = serde_json::from_value(request).or_usage()?;
    let lock = dir.lock().or_refuse()?;
    let record = dir.replay().or_usage()?.record;
    let crate::outputs::Outputs { json, html, quiet } = flags.outputs.clone();
    let outputs = Outputs { json, html, quiet, ..Outputs::default() };
    if record.run.ended == Ended::Complete && dir.record_path().exists() {
        outputs.deliver(&record, dir)?;
        return Ok(Exit::Done);
    }
    need_root()?;
    let mut field = Field::open(&request)?;
    field.same_as(&record)?;
    field.hold_medium()?;
    let mut journal = dir.journal(lock).or_internal()?;
    let resumed = Resumed { started: field.now(), host: Some(field.host.clone()), software: software() };
    journal.append(&resumed.into()).or_internal()?;
    let done = record.cells.into_iter().filter(|cell| cell.stop != Stop::Interrupted).collect();
    Sitting { field, request, dir: dir.clone(), journal, done, used_ns: record.run.elapsed_ns, outputs }.hold()
}

fn need_root() -> Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    refuse("file systems are made and mounted, which only root may; run it with sudo, or see what would be done with --plan")
}

/// Every combination, as often as it is tried at least.
fn planned(request: &Request) -> Vec<PlannedCell> {
    let one = |combination: &lab::matrix::Combination, repeat: u32| PlannedCell {
        id: format!("{}#{repeat}", combination.id()),
        test: combination.work.clone(),
        params: Params::default(),
        max_ns: 0,
        max_written_bytes: 0,
    };
    let repeats = 1..=request.limits.0;
    repeats.flat_map(|repeat| request.combinations.iter().map(move |combination| one(combination, repeat))).collect()
}

/// What would be done, for `--plan`.
fn describe(request: &Request) -> String {
    let axes = &request.axes;
    let mut text = format!("{}: every combination of\n", request.target);
    let align: Vec<&str> = axes.aligns.iter().map(|align| if *align { "fitted to the AU" } else { "as mkfs does by itself" }).collect();
    let lists = [
        ("file systems", axes.filesystems.join(", ")),
        ("mkfs", align.join(", ")),
        ("mount options", axes.mount_options.join(" | ")),
        ("schedulers", axes.schedulers.join(", ")),
        ("work", axes.works.join(", ")),
    ];
    for (name, list) in lists {
        text += &format!("  {name:<14} {list}\n");
    }
    for name in &axes.filesystems {
        if let Some(why) = host::recipe(name).and_then(|recipe| recipe.available(&host::Roots::default()).err()) {
            text += &format!("  left out: {name}: {why}\n");
        }
    }
    let (combinations, left_out) = request.combine();
    for left in left_out {
        text += &format!("  left out: {}: {}\n", left.what, left.why);
    }
    let (least, most) = request.limits;
    text += &format!(
        "{} combinations, each {least} times, those that may be best up to {most} times, in random order (seed {}).\n",
        combinations.len(),
        request.seed
    );
    let needs = request.works().map(|works| works.iter().map(|work| work.needs_bytes()).max().unwrap_or(0)).unwrap_or(0);
    text += &format!(
        "Each makes a new file system on all of the target, mounts it, works on at most {} of it, and unmounts it.\n",
        Bytes(needs)
    );
    match request.time_limit_ns {
        Some(limit) => text += &format!("Time     at most {}\n", Nanos(limit)),
        None => text += "Time     unknown before the first is done; --time-limit sets an end\n",
    }
    text + "Nothing was written.\n"
}
