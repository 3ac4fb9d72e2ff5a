//! Request of a matrix, made of its flags: everything that can be checked without touching the
//! target.

use record::Combination;
use record::units::MIB;
use serde::{Deserialize, Serialize};
use session::request::RunRequest;
use workloads::matrix::{Axes, LeftOut};
use workloads::workload::NamedWork;

use crate::cli::MatrixFlags;
use crate::commands::size;
use program::exit::{OrExit, Result, usage};

/// Smallest file made in a directory, in bytes: on a smaller one xfs cannot be made.
const MIN_FILE_BYTES: u64 = 512 * MIB;

/// Request of a matrix. Kept in the journal, so that the matrix can be resumed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatrixRequest {
    /// What every request has: target, permission, seed, longest time of all sessions together, and
    /// the size of the file that is made in a directory.
    #[serde(flatten)]
    pub run: RunRequest,
    /// Axes of the combinations; "all" stands for everything that is available, until that is found
    /// out.
    pub axes: Axes,
    /// Combinations that can be tried: found once, and then kept.
    pub combinations: Vec<Combination>,
    /// Settings of works: work, name, value.
    pub settings: Vec<(String, String, String)>,
    /// Least and most repeats of a combination.
    pub limits: (u32, u32),
    /// Allocation unit to which file systems are fitted, in bytes.
    pub au_bytes: Option<u64>,
}

/// Word for everything that is available.
pub const ALL: &str = "all";

/// Makes a request of the flags of `matrix`; exit code 2 where they cannot be understood.
pub fn read(flags: &MatrixFlags) -> Result<MatrixRequest> {
    if flags.target.starts_with("sim:") {
        return usage(format_args!(
            "{}: a file system needs a block device; make it one with `flashmark attach {}`",
            flags.target,
            flags.target.trim_start_matches("sim:")
        ));
    }
    let filesystems = filesystems(&flags.fs)?;
    let settings = flags.set.iter().map(|text| setting(text)).collect::<Result<Vec<_>>>()?;
    let time_limit_ns =
        flags.time_limit.as_deref().map(session::request::read_time_limit).transpose()?;
    let axes = Axes {
        filesystems,
        aligns: once(flags.align.iter().map(|word| word == "yes")),
        mount_options: once(flags.mount_options.iter().map(|set| set.trim().to_owned())),
        schedulers: once(flags.scheduler.iter().cloned()),
        works: once(flags.work.iter().cloned()),
    };
    let mut request = MatrixRequest {
        run: RunRequest {
            target: flags.target.clone(),
            erase: flags.erase.clone(),
            yes: flags.yes,
            time_limit_ns,
            seed: flags.seed.unwrap_or_else(session::request::fresh_seed),
            ..RunRequest::default()
        },
        axes,
        combinations: Vec::new(),
        settings,
        limits: (flags.repeats, flags.most_repeats.max(flags.repeats)),
        au_bytes: size("--au", flags.au.as_deref())?,
    };
    let works = request.works()?;
    if let Some((work, ..)) =
        request.settings.iter().find(|(work, ..)| !request.axes.works.contains(work))
    {
        return usage(format_args!(
            "--set {work}: this work is not among those asked for: {}",
            request.axes.works.join(", ")
        ));
    }
    works.iter().filter_map(|(_, work)| work.note()).for_each(|note| program::say!("note: {note}"));
    let needs = works.iter().map(|(_, work)| work.needs_bytes()).max().unwrap_or(0);
    let enough = (needs + needs / 4).div_ceil(MIB) * MIB;
    request.run.file_bytes =
        size("--size", flags.size.as_deref())?.unwrap_or(enough.max(MIN_FILE_BYTES)) / 4096 * 4096;
    Ok(request)
}

/// Each value once, in the order of first occurrence.
fn once<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}

fn filesystems(names: &[String]) -> Result<Vec<String>> {
    let known = || host::RECIPES.iter().map(|recipe| recipe.name.to_owned());
    if names.iter().any(|name| name == ALL) {
        return Ok(known().collect());
    }
    match names.iter().find(|name| host::recipe(name).is_none()) {
        Some(unknown) => usage(format_args!(
            "--fs {unknown}: {}; there are {}, all",
            host::why_not_tried(unknown).unwrap_or("there is no such file system"),
            known().collect::<Vec<_>>().join(", ")
        )),
        None => Ok(once(names.iter().cloned())),
    }
}

fn setting(text: &str) -> Result<(String, String, String)> {
    let parts =
        text.split_once('=').and_then(|(name, value)| Some((name.rsplit_once('.')?, value)));
    match parts {
        Some(((work, name), value)) => Ok((work.to_owned(), name.to_owned(), value.to_owned())),
        None => usage(format_args!(
            "--set {text}: write WORK.SETTING=VALUE, for example untar.files=200"
        )),
    }
}

impl MatrixRequest {
    /// The works with their settings.
    pub fn works(&self) -> Result<Vec<NamedWork>> {
        let of = |name: &String| -> Result<NamedWork> {
            let settings = self.settings.iter().filter(|(work, ..)| work == name);
            let settings: Vec<(&str, &str)> =
                settings.map(|(_, name, value)| (name.as_str(), value.as_str())).collect();
            Ok((name.clone(), workloads::workload::find(name, &settings).or_usage()?))
        };
        self.axes.works.iter().map(of).collect()
    }

    /// All combinations of the axes, and those that cannot be tried.
    pub fn combine(&self) -> (Vec<Combination>, Vec<LeftOut>) {
        let au_bytes = self.au_bytes.unwrap_or(DEFAULT_AU_BYTES);
        self.axes.combinations(|name| {
            host::recipe(name).is_some_and(|recipe| recipe.fitting(au_bytes).is_some())
        })
    }
}

/// Usual allocation unit of media, if nothing is known (docs/field/classic-tools.md#thrash).
pub const DEFAULT_AU_BYTES: u64 = 4 * MIB;
