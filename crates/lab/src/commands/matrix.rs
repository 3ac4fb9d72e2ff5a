//! `flashmark matrix`: tries file systems and schedulers with real work, and says which to use.

mod area;
mod matrix_body;
mod outputs;
mod probe;
mod recognise;
mod request;

use record::text::{self, printable};
use record::units::{Bytes, Nanos};
use record::{Combination, Ended, Params, PlannedCell, Skip, Stop};
use store::{Lock, Replayed, Resumed, RunDir};
use suite::Plan;

use crate::cli::MatrixFlags;
use area::MatrixArea;
use matrix_body::MatrixBody;
use outputs::MatrixFiles;
use program::exit::{Exit, OrExit, Result, refuse};
use program::printing::print;
use request::MatrixRequest;
use session::begin::{begin, opening, run_id, software};
use session::flags::ResumeFlags;
use session::outputs::{self as results, Outputs};
use session::reopened::EarlierSession;
use session::session::Session;
use session::target::Target;

/// Tries file systems and schedulers on a medium and keeps the run; needs root, except for
/// `--plan`.
pub fn run(flags: &MatrixFlags) -> Result {
    let mut request = request::read(flags)?;
    if flags.plan {
        return print(&describe(&request)).map(|()| Exit::Done);
    }
    need_root()?;
    let files = MatrixFiles { xlsx: flags.xlsx.clone(), csv: flags.csv.clone() };
    flags.outputs.check()?;
    results::check([&files.xlsx, &files.csv].into_iter().flatten())?;
    let mut target = Target::open_for_filesystems(&request.run)?;
    request.run.confirmed = target.confirm(&request.run)?;
    let mut area = MatrixArea::of(&mut target, &request);
    let left_out = area.try_out(&mut request);
    if request.combinations.is_empty() {
        let why: Vec<String> =
            left_out.iter().map(|left| format!("{}: {}", left.what, left.why)).collect();
        area.leave()?;
        return refuse(format_args!("nothing is left to be tried: {}", why.join("; ")));
    }
    let skipped = left_out.into_iter().map(|left| Skip::new(left.what, left.why)).collect();
    let plan = Plan { skipped, ..planned(&request) };
    let id = run_id(&request.run, &plan.suite, &target);
    let mut opening = opening(&id, &request.run, flags.label.clone(), &target, &plan)?;
    opening.command = serde_json::json!({ MARK: request });
    opening.fingerprint = area.fingerprint(target.target.diskseq)?;
    let (dir, journal) = begin(&opening)?;
    let (run, outputs) = (request.run.clone(), flags.outputs.clone());
    let (done, used_ns, taken_anew) = (Vec::new(), 0, false);
    Session { target, plan, request: run, dir, journal, done, used_ns, taken_anew, outputs }
        .hold(&mut MatrixBody { area, request, files })
}

/// Key of the request in the journal's `command`.
pub const MARK: &str = "matrix";

/// Resumes a matrix.
pub fn resume(
    dir: &RunDir,
    lock: Lock,
    mut replayed: Replayed,
    by_hand: Option<&str>,
    flags: &ResumeFlags,
) -> Result {
    let request = replayed.command.get_mut(MARK).map(serde_json::Value::take).unwrap_or_default();
    let request: MatrixRequest = serde_json::from_value(request).or_usage()?;
    if replayed.record.run.ended == Ended::Complete {
        return deliver_again(dir, replayed, &flags.outputs);
    }
    need_root()?;
    let (plan, run) = (planned(&request), dir.name());
    let earlier = EarlierSession { request: &request.run, replayed: &replayed, plan: &plan, run };
    let seed = request.run.seed;
    let recognise = |target: &mut Target| area::recognise(target, &replayed.traces, seed);
    let (mut target, recognised) =
        earlier.open_with(by_hand, &Target::open_for_filesystems, &recognise)?;
    let taken_anew = target.permit(recognised, dir, flags)?;
    let area = MatrixArea::of(&mut target, &request);
    let mut journal = dir.journal(lock).or_internal()?;
    let resumed =
        Resumed { started: target.now(), host: target.host.clone(), software: software() };
    journal.append(&resumed.into()).or_internal()?;
    let used_ns = replayed.record.run.elapsed_ns;
    let is_whole = |cell: &record::Cell| cell.stop != Stop::Interrupted;
    let done = replayed.record.cells.into_iter().filter(is_whole).collect();
    let (run, outputs, dir) = (request.run.clone(), flags.outputs.clone(), dir.clone());
    Session { target, plan, request: run, dir, journal, done, used_ns, taken_anew, outputs }
        .hold(&mut MatrixBody { area, request, files: MatrixFiles::default() })
}

/// Delivers a matrix that was complete before.
fn deliver_again(dir: &RunDir, replayed: Replayed, outputs: &Outputs) -> Result {
    let mut record = replayed.record;
    record.findings = findings::conclude(&record);
    if !dir.has_its_record() {
        dir.write_record(&record).or_internal()?;
    }
    let exit = Exit::of(&record, None);
    results::deliver(&record, dir, exit, outputs, MatrixFiles::default().of(&record)?)?;
    Ok(Exit::Done)
}

fn need_root() -> Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    refuse(
        "file systems are made and mounted, which only root may; run it with sudo, or see what would be done with --plan",
    )
}

/// All combinations, each with its least number of repeats.
fn planned(request: &MatrixRequest) -> Plan {
    let one = |combination: &Combination, repeat: u32| PlannedCell {
        id: format!("{}#{repeat}", combination.id()),
        test: combination.work.clone(),
        params: Params::default(),
        max_ns: 0,
        max_written_bytes: 0,
    };
    let repeat = |repeat| request.combinations.iter().map(move |it| one(it, repeat));
    let cells = (1..=request.limits.0).flat_map(repeat).collect();
    Plan { suite: findings::matrix::SUITE.to_owned(), cells, ..Plan::default() }
}

/// Description of the plan, for `--plan`.
fn describe(request: &MatrixRequest) -> String {
    let axes = &request.axes;
    let mut text = format!("{}: every combination of\n", printable(&request.run.target));
    let align = |align: &bool| if *align { "fitted to the AU" } else { "as mkfs does by itself" };
    let align: Vec<&str> = axes.aligns.iter().map(align).collect();
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
    let mut possible = request.clone();
    possible.axes.filesystems.retain(|name| {
        let found = host::recipe(name).map(|recipe| recipe.available(&host::Roots::default()));
        let why = found.and_then(std::result::Result::err);
        text.extend(why.iter().map(|why| format!("  left out: {name}: {why}\n")));
        why.is_none()
    });
    let (combinations, left_out) = possible.combine();
    for left in left_out {
        text += &format!("  left out: {}: {}\n", left.what, left.why);
    }
    let (least, most) = request.limits;
    let is_all = axes.schedulers.iter().any(|name| name == request::ALL);
    text += &format!(
        "{} combinations{}, each {least} times, those that may be best up to {most} times, in random order (seed {}).\n",
        combinations.len(),
        if is_all { " for each scheduler that the medium has" } else { "" },
        request.run.seed
    );
    let works = request.works().unwrap_or_default();
    let needs = works.iter().map(|(_, work)| work.needs_bytes()).max().unwrap_or(0);
    let is_directory = std::path::Path::new(&request.run.target).is_dir();
    let on = if is_directory { "an image file in the directory" } else { "all of the target" };
    text += &format!(
        "Each makes a new file system on {on}, mounts it, works on at most {} of it, and unmounts it.\n",
        Bytes(needs)
    );
    if is_directory {
        text += "The image is attached as a loop device, which gets the schedulers, and is removed at the end. Nothing else is changed: no other file, and no scheduler of the disk.\n";
    }
    match request.run.time_limit_ns {
        Some(limit) => text += &format!("Time     at most {}\n", Nanos(limit)),
        None => text += "Time     unknown before the first is done; --time-limit sets an end\n",
    }
    text += &area::erased(request);
    text::escaped(&(text + "Nothing was written.\n"))
}
