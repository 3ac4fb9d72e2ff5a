//! Sources of published pages: a collection, or runs that make one for the occasion; and the
//! reference data beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use collection::Upload;
use record::Cell;
use record::collection::{CollectionLine, CollectionRun, Media, NO_TIME, Origin};
use record::text::printable;
use report::collection::SiteInfo;
use store::collection::{Address, Collection, Submission};
use store::{RunDir, Store};

use super::filling::{TextDigest, Tree};
use super::intake;
use crate::commands::own_runs::{each_measured, measured};
use crate::commands::show::{find, load_from};
use crate::exit::{Failure, OrExit, Result, usage};
use crate::keys::KeyFile;
use crate::parallel::each_of;
use crate::published_run;
use crate::repository::judging::{self, JudgedRecord, MISPLACED, RunInShort, judge};
use crate::repository::{RecordFile, Repository};
use crate::shared_file;

/// Lines to publish, and the collections that hold their runs.
pub struct PublishedLines {
    lines: Vec<Line>,
    sources: Vec<LineSource>,
}

/// A line, and the index of the collection that holds its runs.
struct Line {
    line: CollectionLine,
    source: usize,
    /// Its runs without their cells, the newest first; `None` if the collection has the runs with
    /// their cells, and no files of the tree do.
    short: Option<Vec<CollectionRun>>,
}

/// A collection.
struct LineSource {
    collection: Collection,
    /// Origins of its runs by id, if their cells are in files of the tree and not in the
    /// collection.
    origins: Option<BTreeMap<String, RunOrigin>>,
    /// True if it is small enough to be read once more to find out what has changed.
    is_small: bool,
}

/// Place that a run came from.
enum RunOrigin {
    Record(RecordFile),
    Run(RunDir),
}

/// Sender of a run, for the counting of senders.
enum Sender {
    /// The user of this machine, where no senders are told apart.
    Own,
    /// The account that sent it.
    Account(String),
    /// Nobody: others have published it, and its source is shown beside it.
    Published,
}

/// Runs of this machine.
pub struct OwnRuns<'a> {
    /// Names of the runs; if it is empty, all runs that measured something.
    pub names: &'a [String],
    /// A file with a key, to tell media and hosts apart.
    pub keys: Option<&'a Path>,
}

impl PublishedLines {
    /// Key of a page of these media; `None` if one of them has no key.
    pub fn page_key(
        &self,
        site: &SiteInfo,
        places: &[usize],
    ) -> anyhow::Result<Option<TextDigest>> {
        places.iter().try_fold(Some(TextDigest::default().with(format!("{site:?}"))), |key, at| {
            let (Some(key), Some(medium)) = (key, self.key(*at)?) else { return Ok(None) };
            Ok(Some(key.with(medium.text())))
        })
    }

    /// The collection at an address. Nothing is written to it.
    pub fn of_database(address: &str, no_reference: bool) -> Result<PublishedLines> {
        let address = Address::parse(address).or_usage()?;
        if let Address::Sqlite(path) = &address
            && !path.is_file()
        {
            // Opening would make an empty one.
            return usage(format_args!("there is no collection at '{}'", path.display()));
        }
        let theirs = Collection::open(&address).or_usage()?;
        let has_reference =
            theirs.all_lines().or_internal()?.iter().any(|line| line.origin == Origin::Reference);
        let theirs = LineSource { collection: theirs, origins: None, is_small: false };
        PublishedLines::of(theirs, no_reference || has_reference)
    }

    /// Runs of this machine.
    pub fn of_runs(
        own: &OwnRuns,
        no_reference: bool,
        tree: &Tree,
        now: &str,
    ) -> Result<PublishedLines> {
        let keys = KeyFile::given(own.keys)?;
        let secret = own.keys.map(std::fs::read).transpose().or_usage()?.unwrap_or_default();
        let home = std::env::var("HOME").unwrap_or_default();
        let read = |dir: &RunDir, record| {
            let (run, _) = published_run::of(&record, keys.as_ref())?;
            match collection::check(&run) {
                Ok(()) => {
                    let headline = findings::headline(&record);
                    Ok((Upload { run, headline, caveats: Vec::new() }, record.run))
                }
                Err(why) => usage(format_args!(
                    "{} cannot be published: {}",
                    printable(dir.name()),
                    printable(&why.to_string())
                )),
            }
        };
        let take = |dir: &RunDir, record: &dyn Fn() -> Result<record::Record>| {
            let mut source = TextDigest::default().with("run").with(&secret).with(&home);
            // What is not there is no part of the run.
            for path in [dir.record_path(), &dir.journal_path()] {
                source = source.with(shared_file::read(path).unwrap_or_default());
            }
            let mut when = None;
            let taken = intake::take(tree, source, || {
                let (upload, run) = read(dir, record()?)?;
                when = run.finished.or(run.started);
                Ok::<_, Failure>(upload)
            });
            let mut short = taken.or_internal()??;
            short.when = when.or(short.when);
            Ok::<_, Failure>(short)
        };
        let mut runs = Vec::new();
        if own.names.is_empty() {
            let store = Store::open(Store::default_root());
            each_measured(
                &store,
                |dir| take(dir, &|| measured(dir)),
                |dir, short| {
                    runs.push((Sender::Own, short, RunOrigin::Run(dir.clone())));
                    Ok::<_, Failure>(())
                },
            )?;
        } else {
            let dirs = own.names.iter().map(|name| find(name)).collect::<Result<Vec<_>>>()?;
            let taken = each_of(dirs.len(), |at| Ok(take(&dirs[at], &|| load_from(&dirs[at]))));
            for (dir, short) in dirs.into_iter().zip(taken.or_internal()?) {
                runs.push((Sender::Own, short?, RunOrigin::Run(dir)));
            }
        }
        PublishedLines::of(LineSource::of(runs, tree, now)?, no_reference)
    }

    /// The records of a repository that count; the others are named on standard error.
    pub fn of_repository(
        repository: &Repository,
        no_reference: bool,
        tree: &Tree,
        now: &str,
    ) -> Result<PublishedLines> {
        let left_out = |path: &Path, why: &str| {
            let path = printable(&path.display().to_string());
            crate::say!("flashmark: {path} is left out: {}", printable(why));
        };
        for place in repository.misplaced() {
            left_out(&repository.dir().join(place), MISPLACED);
        }
        let look = |file: &RecordFile| {
            let bytes = match judging::bytes_of(file) {
                Ok(bytes) => bytes,
                Err(why) => return Ok(Err(why)),
            };
            let source = TextDigest::default().with("record").with(&bytes);
            intake::take(tree, source, || judging::run_in(&bytes))
        };
        let judged = judge(repository, repository.records(), |_| false, look).or_internal()?;
        let mut runs = Vec::new();
        for JudgedRecord { file, verdict } in judged {
            match verdict {
                Ok(short) => {
                    let sender = if repository.is_reference(&file.sender) {
                        Sender::Published
                    } else {
                        Sender::Account(file.sender.clone())
                    };
                    runs.push((sender, short, RunOrigin::Record(file)));
                }
                Err(why) => left_out(&file.path, &why),
            }
        }
        let has_reference = !repository.settings.reference.is_empty();
        PublishedLines::of(LineSource::of(runs, tree, now)?, no_reference || has_reference)
    }

    fn of(theirs: LineSource, no_reference: bool) -> Result<PublishedLines> {
        let mut sources = vec![theirs];
        if !no_reference {
            let collection = Collection::open(&Address::Memory).or_internal()?;
            collection.keep_reference(&import::reference::entries(), NO_TIME).or_internal()?;
            sources.push(LineSource { collection, origins: None, is_small: true });
        }
        let mut taken = BTreeSet::new();
        let mut lines = Vec::new();
        // Published data keep their addresses, whatever somebody calls a medium.
        for (source, LineSource { collection, origins, .. }) in sources.iter().enumerate().rev() {
            let found = collection.all_lines().or_internal()?.into_iter();
            for line in found.filter(|line| report::collection::is_slug(&line.slug)) {
                if taken.insert(line.slug.clone()) {
                    let short = origins.as_ref().map(|_| collection.runs_of(&line.slug));
                    lines.push(Line { short: short.transpose().or_internal()?, line, source });
                }
            }
        }
        Ok(PublishedLines { lines, sources })
    }

    /// True if there are no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Number of lines.
    pub fn media(&self) -> usize {
        self.lines.len()
    }

    /// Number of runs behind all lines.
    pub fn runs(&self) -> usize {
        self.lines().map(|line| line.runs as usize).sum()
    }

    /// All lines to publish, the reference data included unless it was left out.
    pub fn lines(&self) -> impl Iterator<Item = &CollectionLine> {
        self.lines.iter().map(|it| &it.line)
    }

    fn source(&self, at: usize) -> (&Line, &LineSource) {
        (&self.lines[at], &self.sources[self.lines[at].source])
    }

    /// A line by its place among [`PublishedLines::lines`], with its runs, the newest first.
    pub fn medium(
        &self,
        tree: &Tree,
        at: usize,
    ) -> anyhow::Result<(CollectionLine, Vec<CollectionRun>)> {
        let mut runs = Vec::new();
        self.each_run(tree, at, &mut |run| {
            runs.push(run);
            Ok(())
        })?;
        Ok((self.lines[at].line.clone(), runs))
    }

    /// Media that the runs of a line measured, if the runs say so.
    pub fn media_of_line(&self, at: usize) -> anyhow::Result<Media> {
        let (Line { line, .. }, source) = self.source(at);
        Ok(findings::media(&source.collection.medium_runs(&line.slug)?))
    }

    /// Digest of a line and its runs: the same digest gives the same page. `None` if reading all of
    /// them takes as long as making the page.
    pub fn key(&self, at: usize) -> anyhow::Result<Option<TextDigest>> {
        let (Line { line, short, .. }, source) = self.source(at);
        let mut key = TextDigest::default().with(serde_json::to_string(line)?);
        match short {
            Some(runs) => key = key.with(serde_json::to_string(runs)?),
            None if source.is_small => {
                key = key.with(serde_json::to_string(&source.collection.runs_of(&line.slug)?)?);
            }
            None => return Ok(None),
        }
        Ok(Some(key))
    }

    /// Names of the runs of a line whose files are made with its page.
    pub fn made_with_page(&self, at: usize) -> anyhow::Result<Vec<String>> {
        match self.source(at) {
            (Line { short: None, line, .. }, source) if source.is_small => {
                let runs = source.collection.runs_of(&line.slug)?;
                Ok(runs.into_iter().map(|run| run.id).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The runs of a line without their cells, where these are in files of the tree.
    pub fn in_short(&self, at: usize) -> Option<&[CollectionRun]> {
        self.lines[at].short.as_deref()
    }

    /// Calls `take` with each run of a line, the newest first.
    pub fn each_run(
        &self,
        tree: &Tree,
        at: usize,
        take: &mut dyn FnMut(CollectionRun) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (Line { line, short, .. }, source) = self.source(at);
        let Some(short) = short else {
            let each = &mut |run| take(run).map_err(std::io::Error::other);
            return Ok(source.collection.each_run_of(&line.slug, each)?);
        };
        short.iter().try_for_each(|run| take(whole(tree, run)?))
    }

    /// The cells of a run with all points of their curves, where its file in the tree has fewer.
    pub fn whole_cells(&self, at: usize, id: &str) -> Option<Vec<Cell>> {
        let (_, source) = self.source(at);
        let run = match source.origins.as_ref()?.get(id)? {
            RunOrigin::Record(file) => judging::read(file).ok()?.run,
            RunOrigin::Run(dir) => published_run::of(&dir.load().ok()?, None).ok()?.0,
        };
        Some(run.cells)
    }

    /// The `n` runs received last, the newest first. Some are without their cells.
    pub fn latest(&self, n: usize) -> anyhow::Result<Vec<CollectionRun>> {
        let mut latest = Vec::new();
        for source in &self.sources {
            latest.extend(source.collection.latest(n)?);
        }
        latest.sort_by(|a, b| b.received.cmp(&a.received));
        latest.truncate(n);
        Ok(latest)
    }
}

impl LineSource {
    /// Collection of runs whose files are in the tree, each with its sender. Files of other runs
    /// are removed from the tree.
    fn of(
        runs: Vec<(Sender, RunInShort, RunOrigin)>,
        tree: &Tree,
        now: &str,
    ) -> Result<LineSource> {
        let collection = Collection::open(&Address::Memory).or_internal()?;
        let (mut submissions, mut origins) = (Vec::new(), BTreeMap::new());
        for (sender, short, origin) in runs {
            tree.note(|made| {
                made.runs.insert(short.source.clone(), short.clone());
            });
            submissions.push(submission(sender, &short, now));
            origins.insert(short.id, origin);
        }
        collection.submit_all(submissions).or_internal()?;
        tree.keep_runs(&|id| origins.contains_key(id)).or_internal()?;
        Ok(LineSource { collection, origins: Some(origins), is_small: true })
    }
}

/// A run with the cells of its file in the tree.
pub fn whole(tree: &Tree, short: &CollectionRun) -> anyhow::Result<CollectionRun> {
    let mut run = short.clone();
    run.run.cells = intake::cells_of(tree, &run.id)?;
    Ok(run)
}

/// Submission of a run. It counts as received when it was measured, as far as that is known: a
/// checkout keeps no times, and a run from a clock that was wrong would stay first in the list for
/// ever.
fn submission(sender: Sender, short: &RunInShort, now: &str) -> Submission {
    let has_been = |time: &String| (NO_TIME..=now).contains(&time.as_str());
    let received = short.when.as_deref().and_then(utc).filter(has_been);
    let received = received.unwrap_or_else(|| NO_TIME.to_owned());
    let RunInShort { run, headline, .. } = short.clone();
    let (origin, headline) = match sender {
        Sender::Published => (Origin::Reference, collection::reference_headline(&run, headline)),
        Sender::Own | Sender::Account(_) => (Origin::of(&run), headline),
    };
    let account = match sender {
        Sender::Account(account) => Some(account),
        Sender::Own | Sender::Published => None,
    };
    Submission {
        who: account.clone().unwrap_or_else(|| "anonymous".to_owned()),
        sender: account,
        id: Some(short.id.clone()),
        ..Submission::new(run, headline, origin, received)
    }
}

/// A time of a record in UTC, to the second.
fn utc(time: &str) -> Option<String> {
    time.parse().ok().map(crate::clock::to_the_second)
}
