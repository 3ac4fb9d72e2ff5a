//! `flashmark export`: runs for other tools.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::export::{CsvSink, JsonSink, ParquetSink, Sink};
use collection::content_name;
use record::collection::{CollectionRun, Origin};
use record::{Moment, Record};
use store::{RunDir, Store, atomic_write_with};

use crate::cli::{ExportFlags, ExportFormat};
use crate::commands::own_runs::each_measured;
use program::clock;
use program::exit::{Exit, Failure, OrExit, Result, usage};
use program::printing::print_document;
use session::kept::{find, load_from, measured};
use session::published_run;

/// Runs the command. Only the published subset of a run is exported.
pub fn run(flags: &ExportFlags) -> Result {
    let source = Source::of(flags)?;
    match (flags.format, target(flags)) {
        (ExportFormat::Parquet, Some(dir)) => parquet(&source, dir)?,
        (ExportFormat::Parquet, None) => {
            return usage("Parquet is two files; name a directory for them with -o");
        }
        (format, Some(file)) => {
            whole_file(file, |to| source.write(text_sink(format, BufWriter::new(to))))?;
        }
        (format, None) => {
            return to_stdout(source.write(text_sink(format, BufWriter::new(io::stdout().lock()))));
        }
    }
    if let Some(path) = target(flags) {
        print_document(&format!("{}\n", path.display()))?;
    }
    Ok(Exit::Done)
}

/// File or directory to write to; `None` for standard output.
fn target(flags: &ExportFlags) -> Option<&Path> {
    flags.output.as_deref().filter(|path| path.as_os_str() != "-")
}

fn text_sink<'a>(format: ExportFormat, to: impl Write + 'a) -> Box<dyn Sink + 'a> {
    match format {
        ExportFormat::Json => Box::new(JsonSink::new(to)),
        _ => Box::new(CsvSink::new(to)),
    }
}

/// Result of writing to standard output; a reader that has gone away is no error.
fn to_stdout(written: Result<()>) -> Result {
    let is_enough = |failure: &Failure| {
        let error = failure.error.downcast_ref::<io::Error>();
        error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    match written {
        Err(failure) if is_enough(&failure) => Ok(Exit::Done),
        other => other.map(|()| Exit::Done),
    }
}

/// Writes a file completely or not at all. If nothing can be written, the error is returned and no
/// file is left.
fn whole_file(path: impl AsRef<Path>, fill: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let mut of_source = None;
    let written = atomic_write_with(path, |to| {
        fill(to).map_err(|failure| match failure.exit {
            Exit::Internal => io::Error::other(failure.error),
            _ => {
                of_source = Some(failure);
                io::ErrorKind::InvalidData.into()
            }
        })
    });
    of_source.map_or_else(|| written.or_internal(), Err)
}

/// Writes both Parquet files or none.
fn parquet(source: &Source, dir: &Path) -> Result<()> {
    make_dir(dir)?;
    whole_file(dir.join("runs.parquet"), |runs| {
        whole_file(dir.join("cells.parquet"), |cells| {
            let sink = ParquetSink::new(BufWriter::new(runs), BufWriter::new(cells));
            source.write(Box::new(sink.or_internal()?))
        })
    })
}

fn make_dir(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir)
        .map_err(|error| anyhow::anyhow!("cannot make the directory '{}': {error}", dir.display()))
        .or_usage()
}

/// Source of the runs.
enum Source {
    /// Runs that were named.
    Named(Vec<CollectionRun>),
    /// All runs of this machine that measured something, since then.
    Machine { store: Store, since: Option<Moment> },
}

impl Source {
    fn of(flags: &ExportFlags) -> Result<Source> {
        let since = flags.since.as_deref().map(read_since).transpose()?;
        if flags.all { Source::machine(since) } else { named(flags, since) }
    }

    fn machine(since: Option<Moment>) -> Result<Source> {
        let store = Store::open(Store::default_root());
        if store.directories().or_usage()?.is_empty() {
            return nothing_kept();
        }
        Ok(Source::Machine { store, since })
    }

    /// Hands out the runs one by one.
    fn each(&self, take: &mut dyn FnMut(&CollectionRun) -> Result<()>) -> Result<()> {
        match self {
            Source::Named(entries) => entries.iter().try_for_each(take),
            Source::Machine { store, since } => {
                let mut seen = BTreeSet::new();
                let entry = |dir: &RunDir| own(dir, &measured(dir)?);
                let taken = each_measured(store, entry, |_, entry| {
                    let is_wanted = is_since(&entry, *since) && seen.insert(entry.id.clone());
                    if is_wanted { take(&entry) } else { Ok(()) }
                })?;
                if taken == 0 { nothing_kept() } else { Ok(()) }
            }
        }
    }

    fn write(&self, mut sink: Box<dyn Sink + '_>) -> Result<()> {
        self.each(&mut |entry| sink.add(entry).map_err(io::Error::from).or_internal())?;
        sink.finish().map_err(io::Error::from).or_internal()
    }
}

/// Reads a date (its first moment in UTC), a time, or an age.
fn read_since(text: &str) -> Result<Moment> {
    let days = |text: &str| text.strip_suffix('d')?.parse::<u32>().ok();
    let ago = |days: u32| Moment(clock::moment().0 - i128::from(days) * 86_400_000_000_000);
    let found = Moment::read(text).or_else(|| Moment::read_date(text));
    match found.or_else(|| days(text).map(ago)) {
        Some(time) => Ok(time),
        None => usage(format_args!(
            "--since {text}: type a date (2026-11-01), a time (2026-11-01T12:00:00Z) or days (30d)"
        )),
    }
}

fn is_since(entry: &CollectionRun, since: Option<Moment>) -> bool {
    let ended = || Moment::read(&entry.received);
    since.is_none_or(|since| ended().is_some_and(|ended| ended >= since))
}

/// Runs of this machine that were named, each once.
fn named(flags: &ExportFlags, since: Option<Moment>) -> Result<Source> {
    if flags.runs.is_empty() {
        return nothing_kept();
    }
    let mut seen = BTreeSet::new();
    let mut entries = Vec::new();
    for name in &flags.runs {
        let dir = find(name)?;
        let entry = own(&dir, &load_from(&dir)?)?;
        if is_since(&entry, since) && seen.insert(entry.id.clone()) {
            entries.push(entry);
        }
    }
    Ok(Source::Named(entries))
}

fn nothing_kept<T>() -> Result<T> {
    usage("no run is kept here; `flashmark run . --suite quick` makes one")
}

/// A run of this machine, as an entry of a collection would be made of it.
fn own(dir: &RunDir, record: &Record) -> Result<CollectionRun> {
    let (run, _) = published_run::of(record)?;
    Ok(CollectionRun {
        id: content_name(&run),
        local_name: Some(local_name(dir, record)),
        received: record.run.finished.clone().or(record.run.started.clone()).unwrap_or_default(),
        origin: Origin::of(&run),
        model: collection::Names::built_in().of_publisher(&run).model,
        uncounted: None,
        headline: findings::headline(record),
        run,
    })
}

/// The name of the directory that keeps the run, or of the record where it is a file.
fn local_name(dir: &RunDir, record: &Record) -> String {
    if dir.journal_path().exists() { dir.name().to_owned() } else { record.run.id.clone() }
}
