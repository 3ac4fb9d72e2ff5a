//! Request of a run, made of its flags: everything that can be checked without touching the target.

use std::fs;

use device::{Extent, IoError};
use record::alike::closest;
use record::units::{Bytes, Nanos};
use record::{Claims, Finding, Record, Severity, Use};
use serde::{Deserialize, Serialize};
use suite::catalogue::test_name;
use suite::definition::Suite;
use suite::{Choice, SettingValue};

use crate::claims;
use crate::effort;
use crate::flags::{AccessFlags, RunFlags};
use crate::outputs::Outputs;
use program::exit::{Exit, OrExit, Result, usage};

/// Request of a run. Kept in the journal, so that the run can be resumed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunRequest {
    /// The target as named.
    pub target: String,
    /// The confirmation that it may be overwritten.
    pub erase: Option<String>,
    /// `--yes` was given with it.
    #[serde(skip)]
    pub yes: bool,
    /// True if the user has seen the contents, or there were none, and they may be overwritten; on
    /// the same medium the program does not ask again.
    #[serde(default)]
    pub confirmed: bool,
    /// True to measure a medium even if it is a fake.
    #[serde(default)]
    pub anyway: bool,
    /// True if a test that restores what it overwrites was named by the user, or by `check`.
    #[serde(default)]
    pub restoring: bool,
    /// The only range to touch: offset and size in bytes.
    pub span: Option<(u64, u64)>,
    /// I/O engine: "uring", "psync" or "auto".
    pub engine: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// Claims of the packaging.
    pub claims: Option<Claims>,
    /// Uses that the medium is wanted for. If it is empty, all uses are judged, and no use makes
    /// the run fail.
    #[serde(default)]
    pub uses: Vec<Use>,
    /// True if a use or a claim that was not decided counts as failed.
    #[serde(default)]
    pub strict: bool,
    /// Longest time of the run, in nanoseconds.
    pub time_limit_ns: Option<u64>,
    /// Largest span that any cell touches, in bytes; a test file is made this large.
    pub file_bytes: u64,
    /// True if the user allowed overwriting under another name or node; the contents tell whether
    /// it is the same medium.
    #[serde(skip)]
    pub reopened: bool,
}

/// Size of a test file if no test of the suite has a span of its own, in bytes.
const PUBLISHED_SPAN_BYTES: u64 = 512 << 20;

/// Tests to run of a suite, and places that get the results.
pub struct Wanted {
    /// The suite to run: a built-in one, or one from a file.
    pub suite: Suite,
    /// Tests and settings that the user chose, and a time limit.
    pub choice: Choice,
    /// Approximate time of the run in nanoseconds, if the user gave one.
    pub time_ns: Option<u64>,
    /// The user's words for the run (`--label`).
    pub label: Option<String>,
    /// Places that get the results beside the store.
    pub outputs: Outputs,
    /// True to print only what would be done.
    pub plan_only: bool,
}

/// Reads the flags of `run`.
pub fn read(flags: &RunFlags) -> Result<(RunRequest, Wanted)> {
    let mut suite = read_suite(&flags.suite)?;
    let time_limit_ns = flags.time_limit.as_deref().map(read_time_limit).transpose()?;
    let set = flags.set.iter().map(|text| read_setting(text)).collect::<Result<_>>()?;
    let named = |names: &[String]| names.iter().map(|name| test_name(name).to_owned()).collect();
    let mut choice = Choice {
        only: named(&flags.only),
        skip: named(&flags.skip),
        set,
        time_limit_ns,
        repeat: flags.repeat,
    };
    flags.outputs.check()?;
    let is_of_suite = |only: &String| suite.tests.iter().any(|entry| entry.test == *only);
    if !choice.only.iter().all(is_of_suite) {
        suite.time_limit_ns = None; // Such a test, as `verify`, has a limit of its own.
    }
    if let Some(precision) = &flags.precision {
        effort::be_precise(&mut suite, &mut choice, effort::read_precision(precision)?);
    }
    let time_ns = flags.time.as_deref().map(|text| read_duration("--time", text)).transpose()?;
    let restores =
        |name: &String| suite::catalogue::find(name).is_ok_and(|test| test.needs().restores);
    let request = RunRequest {
        anyway: flags.anyway,
        restoring: choice.only.iter().any(restores),
        claims: flags.claim.as_deref().map(claims::read).transpose()?,
        uses: read_uses(&flags.uses)?,
        strict: flags.strict,
        time_limit_ns: time_ns.or(choice.time_limit_ns).or(suite.time_limit_ns),
        file_bytes: file_bytes(&suite, &choice)?,
        ..RunRequest::of(&flags.target, &flags.access, flags.seed)?
    };
    let wanted = Wanted {
        suite,
        choice,
        time_ns,
        label: flags.label.clone(),
        outputs: flags.outputs.clone(),
        plan_only: flags.plan,
    };
    Ok((request, wanted))
}

fn read_suite(name: &str) -> Result<Suite> {
    if let Some(suite) = Suite::built_in(name) {
        return Ok(suite);
    }
    match fs::read_to_string(name) {
        Ok(text) => Suite::parse(name, &text).or_usage(),
        Err(error) => {
            let known = Suite::names().collect::<Vec<_>>().join(", ");
            let hint = match closest(name, Suite::names()).as_slice() {
                [] => String::new(),
                near => format!("; did you mean {}?", near.join(" or ")),
            };
            usage(format_args!(
                "--suite {name}: neither a suite ({known}) nor a file that can be read ({error}){hint}"
            ))
        }
    }
}

/// Reads what the medium is wanted for.
pub fn read_uses(names: &[String]) -> Result<Vec<Use>> {
    names
        .iter()
        .map(|name| name.parse::<Use>())
        .collect::<std::result::Result<_, _>>()
        .map_err(|error| anyhow::anyhow!("--for: {error}"))
        .or_usage()
}

/// Reads `--time-limit`, in nanoseconds.
pub fn read_time_limit(text: &str) -> Result<u64> {
    read_duration("--time-limit", text)
}

/// Reads the duration that a flag was given, in nanoseconds.
pub fn read_duration(flag: &str, text: &str) -> Result<u64> {
    text.parse::<Nanos>()
        .map(|ns| ns.0)
        .map_err(|error| anyhow::anyhow!("{flag}: {error}"))
        .or_usage()
}

/// Splits `test.setting=value`; a test may be called by its other name (`precondition`).
fn read_setting(text: &str) -> Result<(String, String, SettingValue)> {
    let parts = text.split_once('=').and_then(|(name, value)| Some((name.split_once('.')?, value)));
    match parts {
        Some(((test, setting), value)) => {
            Ok((test_name(test).to_owned(), setting.to_owned(), value.into()))
        }
        None => usage(format_args!(
            "--set {text}: write TEST.SETTING=VALUE, for example random-write.block=4KiB"
        )),
    }
}

/// Reads `OFFSET+SIZE` as bytes, for example `1GiB+64MiB`; both are multiples of 4 KiB.
pub fn read_span(text: &str) -> Result<(u64, u64)> {
    let read = |part: &str| {
        part.parse::<Bytes>()
            .map(|bytes| bytes.0)
            .map_err(|e| anyhow::anyhow!("--span: {e}"))
            .or_usage()
    };
    match text.split_once('+') {
        Some((offset, size)) => match (read(offset)?, read(size)?) {
            (_, 0) => usage("--span: the size must be more than 0"),
            (offset, size) if offset % 4096 != 0 || size % 4096 != 0 => {
                usage("--span: offset and size must be multiples of 4 KiB")
            }
            (offset, size) => Ok((offset, size)),
        },
        None => usage(format_args!("--span {text}: write OFFSET+SIZE, for example 1GiB+64MiB")),
    }
}

/// Size of a test file for these tests: the largest span that any asks for, in bytes.
pub fn file_bytes(suite: &Suite, choice: &Choice) -> Result<u64> {
    let from_suite = suite.tests.iter().flat_map(|entry| {
        entry.settings.iter().map(move |(name, value)| (&entry.test, name, value))
    });
    let from_choice = choice.set.iter().map(|(test, name, value)| (test, name, value));
    let mut largest = None;
    for (test, name, value) in from_suite.chain(from_choice) {
        if name != "span" || choice.skip.contains(test) {
            continue;
        }
        for size in value.as_typed().unwrap_or_default().split(',') {
            let read = size.trim().parse::<Bytes>();
            let bytes = read.map_err(|error| anyhow::anyhow!("{test}.span: {error}")).or_usage()?;
            largest = largest.max(Some(bytes.0));
        }
    }
    Ok(largest.unwrap_or(PUBLISHED_SPAN_BYTES))
}

/// A seed that nobody chose, mixed from the time and the process.
pub fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as u64);
    stats::Random::for_purpose(now ^ (u64::from(std::process::id()) << 32), "seed").bits() >> 11
}

impl RunRequest {
    /// Request for this target, with what these flags allow. Without a seed, a new one is drawn; for a
    /// simulated medium it is 1.
    pub fn of(target: &str, access: &AccessFlags, seed: Option<u64>) -> Result<RunRequest> {
        let is_simulated = target.starts_with("sim:");
        Ok(RunRequest {
            target: target.to_owned(),
            erase: access.erase()?,
            yes: access.yes,
            span: access.span.as_deref().map(read_span).transpose()?,
            engine: access.engine.clone(),
            seed: seed.unwrap_or_else(|| if is_simulated { 1 } else { fresh_seed() }),
            ..RunRequest::default()
        })
    }

    /// True if only tests may write that restore what they overwrite: such a test was named by the
    /// user or by `check`, and the raw medium may not be overwritten.
    pub fn must_restore(&self) -> bool {
        self.restoring && self.erase.is_none()
    }

    /// Exit code of a run: with `--strict`, a use or a claim that was not decided counts as failed.
    pub fn exit(&self, record: &Record, error: Option<&IoError>) -> Exit {
        let exit = Exit::of(record, error);
        let is_open = || !findings::undecided(record, &self.uses).is_empty();
        if exit == Exit::Done && self.strict && is_open() { Exit::MediumFailed } else { exit }
    }

    /// Prints what decides how a script goes on: what failed, if no screen shows it; and uses and
    /// claims that were not decided, which is neither a yes nor a no.
    pub fn print_outcome(&self, record: &Record, exit: Exit, is_shown: bool) {
        if !matches!(exit, Exit::Done | Exit::MediumFailed) {
            return;
        }
        let is_failure = |finding: &&Finding| finding.severity == Severity::Failure;
        // The verdict on a medium that fails repeats what it failed by.
        let failed = record.findings.iter().filter(is_failure).filter(|_| !is_shown);
        let mut printed: Vec<&Finding> = Vec::new();
        for finding in failed {
            if !printed.iter().any(|before| {
                before.statement == finding.statement || findings::repeats(before, finding)
            }) {
                program::say!("flashmark: failed: {}", finding.statement);
                printed.push(finding);
            }
        }
        let means = if self.strict { "exit code 1" } else { "no failure without --strict" };
        for what in findings::undecided(record, &self.uses) {
            program::say!("flashmark: cannot be told ({means}): {}", what.trim_end_matches('.'));
        }
    }

    /// The only range to touch, if one was named.
    pub fn only(&self) -> Option<Extent> {
        self.span.map(|(offset, size)| Extent::new(offset, size))
    }
}
