//! Beginning of a run on disk: its name, its directory, the first line of its journal.

use std::path::Path;

use program::clock;
use program::exit::{OrExit, Result};
use record::units::{Bytes, MIB};
use record::{Ended, Run, Software};
use store::{Journal, Opening, RunDir, Store};
use suite::Plan;

use crate::request::RunRequest;
use crate::run_lock;
use crate::target::Target;

/// First line of the journal: everything known before the first cell.
pub fn opening(
    id: &str,
    request: &RunRequest,
    label: Option<String>,
    opened: &Target,
    plan: &Plan,
) -> Result<Opening> {
    let (started, seed, repeat) = (opened.now(), request.seed, plan.repeat);
    let run = Run { started, seed, label, repeat, ..running(id, &plan.suite) };
    let mut medium = opened.medium.clone();
    medium.claims = request.claims.clone();
    medium.health = opened.health();
    Ok(Opening {
        run,
        medium,
        host: opened.host.clone(),
        target: opened.target.clone(),
        plan: plan.cells.clone(),
        skipped: plan.skipped.clone(),
        flags: opened.flags.clone(),
        command: serde_json::to_value(request).or_internal()?,
        fingerprint: None,
    })
}

/// A run of this suite by this program, as it was called.
pub fn running(id: &str, suite: &str) -> Run {
    Run {
        id: id.to_owned(),
        suite: suite.to_owned(),
        command: std::env::args().collect(),
        software: software(),
        ended: Ended::Running,
        ..Run::default()
    }
}

/// Makes the run on disk, and opens its journal.
pub fn begin(opening: &Opening) -> Result<(RunDir, Journal)> {
    let store = Store::open(Store::default_root());
    has_room(store.root(), opening.plan.len())?;
    let dir = store.create(&opening.run.id, opening).or_internal()?;
    let journal = dir.journal(run_lock::take(&dir).or_internal()?).or_internal()?;
    Ok((dir, journal))
}

/// Bytes of a cell in journal, record and page together; most take a tenth of it.
const CELL_BYTES: u64 = 64 << 10;

/// Checks that the results will fit, before anything is written to the medium.
fn has_room(folder: &Path, cells: usize) -> Result<()> {
    // It need not exist yet; then it will lie where the nearest folder does.
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    let space = host::free_space(there).or_internal()?;
    let free_bytes = space.free_bytes;
    let needed_bytes = MIB + CELL_BYTES * cells as u64;
    // Some file systems do not say how large they are.
    if free_bytes >= needed_bytes || space.size_bytes == 0 {
        return Ok(());
    }
    let (folder, free, needed) = (folder.display(), Bytes(free_bytes), Bytes(needed_bytes));
    Err(anyhow::anyhow!(
        "'{folder}', where results are kept, has {free} free, and this run may need {needed}; free some space there, or set FLASHMARK_HOME to another directory. Nothing was written to the medium"
    ))
    .or_internal()
}

/// Name, version and commit of this program, for records; no commit where the build did not know
/// it.
pub fn software() -> Software {
    Software {
        name: "flashmark".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: option_env!("FLASHMARK_COMMIT")
            .filter(|commit| !commit.is_empty())
            .map(str::to_owned),
    }
}

/// Name of the run. A simulated run is named by its settings, so that its record is the same each
/// time; a real one by its time.
pub fn run_id(request: &RunRequest, suite: &str, opened: &Target) -> String {
    let what = if opened.is_simulated() {
        request.target.trim_start_matches("sim:").to_owned()
    } else {
        opened.short_name()
    };
    let name = plain(&what);
    let suite: String = suite.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    if opened.is_simulated() {
        format!("sim-{name}-{suite}-{}", request.seed)
    } else {
        format!("{}-{name}-{suite}", clock::for_names())
    }
}

/// A name in small letters, digits and hyphens.
pub fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    name.chars().map(plain).collect::<String>().trim_matches('-').to_owned()
}
