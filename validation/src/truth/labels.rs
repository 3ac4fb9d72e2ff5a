//! `cargo validation truth --labels`: compares the first lines and the exit code of every suite on
//! every built-in medium with what the medium is.

mod label;
mod run_output;
#[cfg(test)]
mod tests;

use anyhow::{Result, ensure};
use label::Label;
use sim::Profile;
use suite::definition::Suite;

use super::findings::each;

/// One run to be compared with its label.
#[derive(Clone, Copy)]
struct Case {
    profile: &'static Profile,
    suite: &'static str,
    seed: u64,
    time_limit: Option<&'static str>,
}

impl Case {
    /// Faults of the run, in words; empty if there are none.
    fn faults(&self) -> Vec<String> {
        let name = self.profile.name();
        let Some(label) = Label::of(name) else { return vec![format!("{name} has no label")] };
        let output = match run_output::of(name, self.suite, self.seed, self.time_limit) {
            Ok(output) => output,
            Err(error) => return vec![format!("{name}, {}: {error}", self.suite)],
        };
        let place = format!("{name} ({label:?}), {}, seed {}", self.suite, self.seed);
        label
            .faults(self.profile, &output)
            .into_iter()
            .map(|fault| format!("{place}: {fault}\n    {}", output.first))
            .collect()
    }
}

/// Cases of every suite on every one of these media, with `seeds` seeds from `first` on.
fn cases(
    profiles: &[&'static Profile],
    suites: &[&'static str],
    first: u64,
    seeds: u64,
) -> Vec<Case> {
    let of = |profile: &&'static Profile| {
        let profile = *profile;
        suites.iter().flat_map(move |suite| {
            (first..first + seeds).map(move |seed| Case { profile, suite, seed, time_limit: None })
        })
    };
    profiles.iter().flat_map(of).collect()
}

/// Faults of these runs.
fn faults(cases: &[Case]) -> Vec<String> {
    each(cases.len() as u64, |number| cases[number as usize].faults()).concat()
}

/// Runs all cases with seeds from `first` on.
///
/// # Errors
/// Lists the faults, if there are any.
pub fn run(profiles: &[&'static Profile], first: u64, seeds: u64) -> Result<()> {
    let suites: Vec<&'static str> = Suite::names().collect();
    let cases = cases(profiles, &suites, first, seeds);
    let faults = faults(&cases);
    faults.iter().for_each(|fault| println!("{fault}"));
    println!(
        "{} runs: {} media, {} suites, {seeds} seeds; {} faults",
        cases.len(),
        profiles.len(),
        suites.len(),
        faults.len()
    );
    ensure!(faults.is_empty(), "{} of what is said does not hold", faults.len());
    Ok(())
}
