//! All runs of this machine that measured something, for commands that take them all.

use record::Record;
use report::words::clean;
use store::{RunSummary, Store};

use crate::commands::show::completed;
use crate::exit::{OrExit, Result};
use crate::parallel::each_of;

/// Runs that are read ahead of the one that is taken: what is in memory at once.
const AHEAD: usize = 16;

/// Makes something of each run that has results of its medium, on all processors, and hands it out in
/// order, the one written last at the end. What is left out is said on standard error, with the
/// reason. The inner error is the one of `take`, which ends it.
pub fn each_measured<T: Send + Sync, E>(
    make: impl Fn(&str, &Record) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> std::result::Result<(), E>,
) -> Result<std::result::Result<(), E>> {
    let runs = Store::open(Store::default_root()).runs().or_usage()?;
    for some in runs.chunks(AHEAD) {
        let made = each_of(some.len(), |at| {
            let run = &some[at];
            Ok(measured(run).map(|record| make(run.dir.name(), &record)))
        });
        for (run, made) in some.iter().zip(made.or_internal()?) {
            match made {
                Ok(made) => {
                    if let Err(error) = take(made?) {
                        return Ok(Err(error));
                    }
                }
                Err(why) => {
                    crate::say!("flashmark: {} is left out: {}", run.dir.name(), clean(&why));
                }
            }
        }
    }
    Ok(Ok(()))
}

/// The record of a run, or the reason why it has nothing to show.
pub fn measured(run: &RunSummary) -> std::result::Result<Record, String> {
    if let Err(why) = &run.overview {
        return Err(why.clone());
    }
    let record = run.dir.load().map_err(|error| error.to_string())?;
    let record = completed(&run.dir, record);
    if record.cells.is_empty() {
        return Err("nothing was measured yet".to_owned());
    }
    match record::strayed(&record.flags, &record.cells) {
        Some(why) => Err(format!("it {why}")),
        None => Ok(record),
    }
}
