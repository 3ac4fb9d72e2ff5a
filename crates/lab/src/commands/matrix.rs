//! `flashmark matrix`: tries file systems and schedulers with real work, and says which to use.

mod block_devices;
mod matrix_session;
mod outputs;
mod probe;
mod recognise;
mod request;

use record::text::{self, printable};
use record::units::{Bytes, Nanos};
use record::{Ended, Params, PlannedCell, Record, Run, Skip, Stop};
use store::{Lock, Opening, Replayed, Resumed, RunDir};

use crate::cli::MatrixFlags;
use block_devices::MatrixTestArea;
use matrix_session::MatrixSession;
use outputs::MatrixOutputs;
use program::clock;
use program::exit::{Exit, OrExit, Result, refuse};
use program::printing::print;
use request::MatrixRequest;
use session::begin::{begin, running, software};
use session::consent::{self, Question};
use session::flags::ResumeFlags;
use session::reopened::possible_locations;

/// Tries file systems and schedulers on a medium and keeps the run; needs root, except for
/// `--plan`.
pub fn run(flags: &MatrixFlags) -> Result {
    let mut request = request::read(flags)?;
    if flags.plan {
        return print(&describe(&request)).map(|()| Exit::Done);
    }
    need_root()?;
    let outputs = MatrixOutputs {
        run: flags.outputs.clone(),
        xlsx: flags.xlsx.clone(),
        csv: flags.csv.clone(),
    };
    outputs.check()?;
    let ask = |question: &Question<'_>| consent::ask(question);
    let mut field = MatrixTestArea::open(&request, &ask)?;
    request.confirmed = request.erase.is_some();
    let left_out = field.try_out(&mut request)?;
    if request.combinations.is_empty() {
        let why: Vec<String> =
            left_out.iter().map(|left| format!("{}: {}", left.what, left.why)).collect();
        field.leave()?;
        return refuse(format_args!("nothing is left to be tried: {}", why.join("; ")));
    }
    let id = format!("{}-{}-matrix", clock::for_names(), field.short_name());
    let label = flags.label.clone();
    let run = Run {
        started: field.now(),
        seed: request.seed,
        label,
        ..running(&id, findings::matrix::SUITE)
    };
    let opening = Opening {
        run,
        medium: field.medium.clone(),
        host: Some(field.host.clone()),
        target: field.target.clone(),
        plan: planned(&request),
        skipped: left_out.into_iter().map(|left| Skip::new(left.what, left.why)).collect(),
        flags: field.flags.clone(),
        command: serde_json::json!({ MARK: request }),
        fingerprint: field.fingerprint(request.seed)?,
    };
    let (dir, journal) = begin(&opening)?;
    MatrixSession { field, request, dir, journal, done: Vec::new(), used_ns: 0, outputs }.hold()
}

/// Key of the request in the journal's `command`.
pub const MARK: &str = "matrix";

/// Resumes a matrix.
pub fn resume(
    dir: &RunDir,
    lock: Lock,
    replayed: Replayed,
    target: Option<&str>,
    flags: &ResumeFlags,
) -> Result {
    let Replayed { mut record, traces, mut command, .. } = replayed;
    let request = command.get_mut(MARK).map(serde_json::Value::take).unwrap_or_default();
    let request: MatrixRequest = serde_json::from_value(request).or_usage()?;
    let outputs = MatrixOutputs { run: flags.outputs.clone(), xlsx: None, csv: None };
    if record.run.ended == Ended::Complete {
        record.findings = findings::conclude(&record);
        if !dir.has_its_record() {
            dir.write_record(&record).or_internal()?;
        }
        outputs.deliver(&record, dir)?;
        return Ok(Exit::Done);
    }
    need_root()?;
    let mut field = reopen(&request, &record, target)?;
    field.hold_medium(request.seed)?;
    field.permit(field.recognise(&traces, request.seed)?, dir, flags)?;
    let mut journal = dir.journal(lock).or_internal()?;
    let resumed =
        Resumed { started: field.now(), host: Some(field.host.clone()), software: software() };
    journal.append(&resumed.into()).or_internal()?;
    let done = record.cells.into_iter().filter(|cell| cell.stop != Stop::Interrupted).collect();
    MatrixSession {
        field,
        request,
        dir: dir.clone(),
        journal,
        done,
        used_ns: record.run.elapsed_ns,
        outputs,
    }
    .hold()
}

/// Opens the medium again: at the place that the user names, where it was, or where it is found by
/// its identity.
fn reopen(
    request: &MatrixRequest,
    record: &Record,
    by_hand: Option<&str>,
) -> Result<MatrixTestArea> {
    let mut refused = None;
    for target in possible_locations(&request.target, record, by_hand) {
        // it was given away when the matrix began; whether it is the same is seen from what lies on
        // it
        let field = MatrixTestArea::open(
            &MatrixRequest { target, reopened: true, ..request.clone() },
            &|_| Ok(()),
        );
        match field.and_then(|field| field.same_as(record, by_hand.is_some()).map(|()| field)) {
            Ok(field) => return Ok(field),
            Err(failure) => drop(refused.get_or_insert(failure)),
        }
    }
    Err(refused.expect("there is at least the place where it was"))
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
fn planned(request: &MatrixRequest) -> Vec<PlannedCell> {
    let one = |combination: &workloads::matrix::Combination, repeat: u32| PlannedCell {
        id: format!("{}#{repeat}", combination.id()),
        test: combination.work.clone(),
        params: Params::default(),
        max_ns: 0,
        max_written_bytes: 0,
    };
    let repeats = 1..=request.limits.0;
    repeats
        .flat_map(|repeat| {
            request.combinations.iter().map(move |combination| one(combination, repeat))
        })
        .collect()
}

/// Description of the plan, for `--plan`.
fn describe(request: &MatrixRequest) -> String {
    let axes = &request.axes;
    let mut text = format!("{}: every combination of\n", printable(&request.target));
    let align: Vec<&str> = axes
        .aligns
        .iter()
        .map(|align| if *align { "fitted to the AU" } else { "as mkfs does by itself" })
        .collect();
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
        if let Some(why) =
            host::recipe(name).and_then(|recipe| recipe.available(&host::Roots::default()).err())
        {
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
    let needs = request
        .works()
        .map(|works| works.iter().map(|work| work.needs_bytes()).max().unwrap_or(0))
        .unwrap_or(0);
    text += &format!(
        "Each makes a new file system on all of the target, mounts it, works on at most {} of it, and unmounts it.\n",
        Bytes(needs)
    );
    match request.time_limit_ns {
        Some(limit) => text += &format!("Time     at most {}\n", Nanos(limit)),
        None => text += "Time     unknown before the first is done; --time-limit sets an end\n",
    }
    text += &block_devices::erased(request);
    text::escaped(&(text + "Nothing was written.\n"))
}
