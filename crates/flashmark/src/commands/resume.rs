//! `flashmark resume`: goes on with an interrupted run; no finished cell is repeated.

use record::Ended;
use store::{Resumed, Store};
use suite::Plan;

use crate::cli::ResumeFlags;
use crate::commands::matrix;
use crate::commands::run::software;
use crate::exit::{Exit, OrExit, Result, usage};
use crate::opened::Opened;
use crate::outputs::print;
use crate::request::Request;
use crate::session::{Sitting, conclude_late};

/// Runs the command.
pub fn run(flags: &ResumeFlags) -> Result {
    let store = Store::open(Store::default_root());
    let dir = match &flags.run {
        Some(name) => store.find(name).or_usage()?,
        None => match store.last_unfinished().or_usage()? {
            Some(dir) => dir,
            None => return usage("no run is unfinished; `flashmark runs` lists them all"),
        },
    };
    let replayed = dir.replay().or_usage()?;
    if let Some(ended) = matrix::resume(&dir, &replayed.command, flags) {
        return ended;
    }
    let lock = dir.lock().or_refuse()?;
    let replayed = dir.replay().or_usage()?;
    if replayed.record.run.suite == lab::replay::TEST {
        return usage(format_args!(
            "{} is a replay of a trace, which has no cells to go on with; start it again with `flashmark replay`",
            dir.name()
        ));
    }
    let request: Request = serde_json::from_value(replayed.command.clone()).or_usage()?;
    let done: Vec<_> = replayed.finished_cells().cloned().collect();
    let record = replayed.record;
    let skipped = |id: &str| record.skipped.iter().any(|skip| skip.test == id);
    if record.plan.iter().all(|planned| done.iter().any(|cell| cell.id == planned.id) || skipped(&planned.id)) {
        let said_so = record.run.ended == Ended::Complete && dir.record_path().exists();
        if said_so && flags.outputs.json.is_none() && flags.outputs.html.is_none() {
            print(&format!("{} is finished; show it with: flashmark show {}\n", dir.name(), dir.name()))?;
            return Ok(Exit::Done);
        }
        return conclude_late(&dir, lock, &request, &flags.outputs);
    }
    let opened = Opened::open(&request)?;
    opened.same_as(&record).or_refuse()?;
    let cells = record.plan.iter().filter(|planned| !skipped(&planned.id)).cloned().collect();
    let plan = Plan { suite: record.run.suite.clone(), cells, skipped: record.skipped.clone(), time_limit_ns: request.time_limit_ns };
    let mut journal = dir.journal(lock).or_internal()?;
    let resumed = Resumed { started: opened.now(), host: opened.host.clone(), software: software() };
    journal.append(&resumed.into()).or_internal()?;
    Sitting { opened, plan, request, dir, journal, done, used_ns: record.run.elapsed_ns, outputs: flags.outputs.clone() }.hold()
}
