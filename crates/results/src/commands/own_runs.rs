//! All runs of this machine that measured something, for commands that use them all.

use record::text::printable;
use store::{RunDir, Store};

use crate::parallel::each_of;
use program::exit::{Failure, OrExit, Result};

/// Runs that are read ahead of the one that is used, and so the number of runs in memory.
const AHEAD: usize = 16;

/// Makes something of each run of a store, on all processors, and passes it on in order, the latest
/// run last. A run of which nothing can be made, such as one without results ([`session::kept::measured`]), is
/// left out and named on standard error with the reason. Returns how many were passed on.
///
/// # Errors
/// The store cannot be read, or `take` fails, which ends the loop.
pub fn each_measured<T: Send + Sync, E: From<Failure>>(
    store: &Store,
    make: impl Fn(&RunDir) -> Result<T> + Sync,
    mut take: impl FnMut(&RunDir, T) -> std::result::Result<(), E>,
) -> std::result::Result<usize, E> {
    let mut taken = 0;
    for some in store.directories().or_usage()?.chunks(AHEAD) {
        let made = each_of(some.len(), |at| Ok(make(&some[at]))).or_internal()?;
        for (dir, made) in some.iter().zip(made) {
            match made {
                Ok(made) => {
                    take(dir, made)?;
                    taken += 1;
                }
                Err(why) => {
                    let why = printable(&why.to_string());
                    program::say!("flashmark: {} is left out: {why}", printable(dir.name()));
                }
            }
        }
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use program::exit::usage;
    use session::kept::measured;

    use super::*;

    const RUN: &str = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");

    #[test]
    fn a_run_of_which_nothing_can_be_made_does_not_end_the_others() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("a", RUN), ("b", "{"), ("c", RUN)] {
            let run = dir.path().join(name);
            std::fs::create_dir(&run).unwrap();
            std::fs::write(run.join("record.json"), text).unwrap();
        }
        let not_c = |dir: &RunDir| match dir.name() {
            "c" => usage("it cannot be sent"),
            _ => measured(dir),
        };
        let mut taken = Vec::new();
        let ended = each_measured(&Store::open(dir.path().to_owned()), not_c, |dir, _| {
            taken.push(dir.name().to_owned());
            Ok::<_, Failure>(())
        });
        assert_eq!((ended.unwrap(), taken), (1, vec!["a".to_owned()]));
    }
}
