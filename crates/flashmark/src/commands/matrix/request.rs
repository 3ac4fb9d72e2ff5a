//! From flags to what is meant: everything that can be checked without touching the target.

use lab::matrix::{Axes, Combination, LeftOut, TRACE_PREFIX, TraceWork};
use lab::workload::Workload;
use record::units::{Bytes, MIB};
use serde::{Deserialize, Serialize};

use crate::cli::MatrixFlags;
use crate::exit::{OrExit, Result, usage};

/// A file in a directory is at least this large: below it xfs cannot be made.
const LEAST_FILE_BYTES: u64 = 512 * MIB;

/// What the user wants tried. Kept in the journal, so that it can be gone on with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatrixRequest {
    /// The target as named.
    pub target: String,
    /// The confirmation that it may be overwritten.
    pub erase: Option<String>,
    /// `--yes` was given with it.
    #[serde(skip)]
    pub yes: bool,
    /// What lay on it was shown, or was nothing, and may be overwritten.
    #[serde(default)]
    pub confirmed: bool,
    /// It was given away under another name or node; what lies on it tells whether it is the one.
    #[serde(skip)]
    pub reopened: bool,
    /// What is tried with what; "all" stands for what there is, until that is found out.
    pub axes: Axes,
    /// What is left of the axes: found once, and then kept.
    pub combinations: Vec<Combination>,
    /// Settings of works: work, name, value.
    pub settings: Vec<(String, String, String)>,
    /// Least and most repeats.
    pub limits: (u32, u32),
    /// All sittings together take no longer, in nanoseconds.
    pub time_limit_ns: Option<u64>,
    /// What file systems are fitted to.
    pub au_bytes: Option<u64>,
    /// How large a file in a directory is made.
    pub file_bytes: u64,
    /// Every random choice comes from this.
    pub seed: u64,
}

/// Stands for everything that there is.
pub const ALL: &str = "all";

/// Makes a request of the flags of `matrix`; exit code 2 where they cannot be understood.
pub fn read(flags: &MatrixFlags) -> Result<MatrixRequest> {
    if flags.target.starts_with("sim:") {
        return usage(format_args!(
            "{}: a file system needs a block device; make it one with `flashmark sim attach {}`",
            flags.target,
            flags.target.trim_start_matches("sim:")
        ));
    }
    let filesystems = filesystems(&flags.fs)?;
    let settings = flags.set.iter().map(|text| setting(text)).collect::<Result<Vec<_>>>()?;
    let time_limit_ns =
        flags.time_limit.as_deref().map(crate::request::read_time_limit).transpose()?;
    let axes = Axes {
        filesystems,
        aligns: once(flags.align.iter().map(|word| word == "yes")),
        mount_options: once(flags.mount_options.iter().map(|set| set.trim().to_owned())),
        schedulers: once(flags.scheduler.iter().cloned()),
        works: once(flags.work.iter().cloned()),
    };
    let mut request = MatrixRequest {
        target: flags.target.clone(),
        erase: flags.erase.clone(),
        yes: flags.yes,
        confirmed: false,
        reopened: false,
        axes,
        combinations: Vec::new(),
        settings,
        limits: (flags.repeats, flags.most_repeats.max(flags.repeats)),
        time_limit_ns,
        au_bytes: size("--au", flags.au.as_deref())?,
        file_bytes: 0,
        seed: flags.seed.unwrap_or_else(crate::request::fresh_seed),
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
    works.iter().filter_map(|work| work.note()).for_each(|note| crate::say!("note: {note}"));
    let needs = works.iter().map(|work| work.needs_bytes()).max().unwrap_or(0);
    let enough = (needs + needs / 4).div_ceil(MIB) * MIB;
    request.file_bytes =
        size("--size", flags.size.as_deref())?.unwrap_or(enough.max(LEAST_FILE_BYTES)) / 4096
            * 4096;
    Ok(request)
}

/// Each once, in the order in which they came.
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

fn size(flag: &str, text: Option<&str>) -> Result<Option<u64>> {
    let size = text.map(|text| text.parse::<Bytes>().map(|bytes| bytes.0)).transpose();
    size.map_err(|error| anyhow::anyhow!("{flag}: {error}")).or_usage()
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
    /// The works, as they are set.
    pub fn works(&self) -> Result<Vec<Box<dyn Workload>>> {
        let of = |name: &String| -> Result<Box<dyn Workload>> {
            if name.starts_with(TRACE_PREFIX) {
                return Ok(Box::new(TraceWork::open(name).or_usage()?));
            }
            let settings: Vec<(String, String)> = self
                .settings
                .iter()
                .filter(|(work, ..)| work == name)
                .map(|(_, name, value)| (name.clone(), value.clone()))
                .collect();
            lab::workload::find(name, &settings).or_usage()
        };
        self.axes.works.iter().map(of).collect()
    }

    /// Every combination of the axes, and what cannot be.
    pub fn combine(&self) -> (Vec<Combination>, Vec<LeftOut>) {
        let au_bytes = self.au_bytes.unwrap_or(DEFAULT_AU_BYTES);
        self.axes.combinations(|name| {
            host::recipe(name).is_some_and(|recipe| recipe.fitting(au_bytes).is_some())
        })
    }
}

/// What most media have, where nothing is known (docs/field/classic-tools.md#thrash).
pub const DEFAULT_AU_BYTES: u64 = 4 * MIB;
