//! Sources of published pages: a repository of records, or runs of this machine; and the reference
//! data beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use collection::site::SiteInfo;
use collection::{LineRuns, Names, SentRun, Upload, lines_of};
use record::collection::{CollectionLine, CollectionRun, NO_TIME, Origin};
use record::text::printable;
use record::{Cell, Moment};
use store::{RunDir, Store};

use super::filling::{TextDigest, Tree};
use super::intake;
use crate::commands::own_runs::each_measured;
use crate::parallel::each_of;
use crate::repository::judging::{self, JudgedRecord, MISPLACED, RunInShort, judge};
use crate::repository::{RecordFile, Repository};
use crate::shared_file;
use program::exit::{Failure, OrExit, Result, usage};
use session::kept::{find, load_from, measured};
use session::published_run;

/// Lines to publish.
pub struct PublishedLines {
    lines: Vec<Line>,
    /// Origins of runs by id, if their cells are in files of the tree.
    origins: BTreeMap<String, RunOrigin>,
}

/// A line with its runs, the newest first.
struct Line {
    line: CollectionLine,
    runs: Vec<CollectionRun>,
    /// True if the runs are without their cells, which are in files of the tree.
    is_short: bool,
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
    /// The account that sent it, and the time at which that was received.
    Account { name: String, received: String, is_settled: bool },
    /// Nobody: others have published it, and its source is shown beside it.
    Published,
}

impl PublishedLines {
    /// Key of a page of these media.
    pub fn page_key(&self, site: &SiteInfo, places: &[usize]) -> anyhow::Result<TextDigest> {
        let site = TextDigest::default().with(format!("{site:?}"));
        places.iter().try_fold(site, |key, at| Ok(key.with(self.key(*at)?.text())))
    }

    /// Runs of this machine of these names; if there are none, all that measured something.
    pub fn of_runs(
        names: &[String],
        no_reference: bool,
        tree: &Tree,
        now: &str,
    ) -> Result<PublishedLines> {
        let home = std::env::var("HOME").unwrap_or_default();
        let read = |dir: &RunDir, record| {
            let (run, _) = published_run::of(&record)?;
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
            let mut source = TextDigest::default().with("run").with(&home);
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
        if names.is_empty() {
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
            let dirs = names.iter().map(|name| find(name)).collect::<Result<Vec<_>>>()?;
            let taken = each_of(dirs.len(), |at| Ok(take(&dirs[at], &|| load_from(&dirs[at]))));
            for (dir, short) in dirs.into_iter().zip(taken.or_internal()?) {
                runs.push((Sender::Own, short?, RunOrigin::Run(dir)));
            }
        }
        PublishedLines::of(runs, tree, now, no_reference, Names::built_in())
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
            program::say!("flashmark: {path} is left out: {}", printable(why));
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
        let times = repository.received(now);
        let mut runs = Vec::new();
        for one in judged {
            let why = one.verdict().err();
            let JudgedRecord { file, found, .. } = one;
            let (Ok(short), None) = (found, &why) else {
                left_out(&file.path, &why.unwrap_or_default());
                continue;
            };
            let sender = if repository.is_reference(&file.sender) {
                Sender::Published
            } else {
                let received = times.get(repository.place_of(&file.path)).cloned();
                let (name, is_settled) = (file.sender.clone(), repository.has_accepted(&file.id));
                Sender::Account { name, received: received.unwrap_or_default(), is_settled }
            };
            runs.push((sender, short, RunOrigin::Record(file)));
        }
        let has_reference = !repository.settings.reference.is_empty();
        let no_reference = no_reference || has_reference;
        PublishedLines::of(runs, tree, now, no_reference, repository.names())
    }

    /// Lines of runs whose files are in the tree, each with its sender, and the built-in reference
    /// data beside them. Files of other runs are removed from the tree.
    fn of(
        runs: Vec<(Sender, RunInShort, RunOrigin)>,
        tree: &Tree,
        now: &str,
        no_reference: bool,
        names: &Names,
    ) -> Result<PublishedLines> {
        let (mut sent, mut origins) = (Vec::new(), BTreeMap::new());
        for (sender, short, origin) in runs {
            tree.note(|made| {
                made.runs.insert(short.source.clone(), short.clone());
            });
            sent.push(sent_run(sender, &short, now));
            origins.insert(short.id, origin);
        }
        tree.keep_runs(&|id| origins.contains_key(id)).or_internal()?;
        let theirs = lines_of(sent, names);
        let built_in = if no_reference { Vec::new() } else { report::reference::runs() };
        let built_in = built_in.into_iter().map(|run| {
            let (short, cells) = RunInShort::of(collection::judge(run).or_internal()?);
            let mut sent = sent_run(Sender::Published, &short, now);
            sent.run.cells = cells;
            Ok::<_, Failure>(sent)
        });
        let built_in = lines_of(built_in.collect::<Result<Vec<_>>>()?, names);
        let (mut taken, mut lines) = (BTreeSet::new(), Vec::new());
        // Published data keep their addresses, whatever somebody calls a medium.
        for (found, is_short) in [(built_in, false), (theirs, true)] {
            for LineRuns { line, runs } in found {
                if collection::site::is_slug(&line.slug) && taken.insert(line.slug.clone()) {
                    lines.push(Line { line, runs, is_short });
                }
            }
        }
        Ok(PublishedLines { lines, origins })
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

    /// Numbers of lines and runs that are built-in reference data.
    pub fn built_in(&self) -> (usize, usize) {
        let lines = self.lines.iter().filter(|line| !line.is_short);
        (lines.clone().count(), lines.map(|it| it.line.runs as usize).sum())
    }

    /// All lines to publish, the reference data included unless it was left out.
    pub fn lines(&self) -> impl Iterator<Item = &CollectionLine> {
        self.lines.iter().map(|it| &it.line)
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

    /// Digest of a line and its runs: the same digest gives the same page.
    pub fn key(&self, at: usize) -> anyhow::Result<TextDigest> {
        let Line { line, runs, .. } = &self.lines[at];
        let key = TextDigest::default().with(line.encode());
        Ok(runs.iter().fold(key, |key, run| key.with(run.encode())))
    }

    /// Names of the runs of a line whose files are made with its page.
    pub fn made_with_page(&self, at: usize) -> Vec<&str> {
        let Line { runs, is_short, .. } = &self.lines[at];
        runs.iter().filter(|_| !is_short).map(|run| run.id.as_str()).collect()
    }

    /// The runs of a line without their cells, where these are in files of the tree.
    pub fn in_short(&self, at: usize) -> Option<&[CollectionRun]> {
        let Line { runs, is_short, .. } = &self.lines[at];
        is_short.then_some(runs)
    }

    /// Calls `take` with each run of a line, the newest first.
    pub fn each_run(
        &self,
        tree: &Tree,
        at: usize,
        take: &mut dyn FnMut(CollectionRun) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let Line { runs, is_short, .. } = &self.lines[at];
        runs.iter()
            .try_for_each(|run| take(if *is_short { whole(tree, run)? } else { run.clone() }))
    }

    /// The cells of a run with all points of their curves, where its file in the tree has fewer.
    pub fn whole_cells(&self, id: &str) -> Option<Vec<Cell>> {
        let run = match self.origins.get(id)? {
            RunOrigin::Record(file) => judging::read(file).ok()?.run,
            RunOrigin::Run(dir) => published_run::of(&dir.load().ok()?).ok()?.0,
        };
        Some(run.cells)
    }
}

/// A run with the cells of its file in the tree.
pub fn whole(tree: &Tree, short: &CollectionRun) -> anyhow::Result<CollectionRun> {
    let mut run = short.clone();
    run.run.cells = intake::cells_of(tree, &run.id)?;
    Ok(run)
}

/// A run on its way into a collection. One without an account counts as received when it was
/// measured, as far as that is known: a run from a clock that was wrong would stay first in the list
/// for ever.
fn sent_run(sender: Sender, short: &RunInShort, now: &str) -> SentRun {
    let has_been = |time: &String| (NO_TIME..=now).contains(&time.as_str());
    let measured = short.when.as_deref().and_then(utc).filter(has_been);
    let measured = measured.unwrap_or_else(|| NO_TIME.to_owned());
    let RunInShort { id, run, headline, marks, .. } = short.clone();
    let own = Origin::of(&run);
    let (origin, sender, received, is_settled) = match sender {
        Sender::Published => (Origin::Reference, None, measured, true),
        Sender::Own => (own, None, measured, true),
        Sender::Account { name, received, is_settled } => (own, Some(name), received, is_settled),
    };
    let headline = match origin {
        Origin::Reference => collection::reference_headline(&run, headline),
        _ => headline,
    };
    SentRun { id, run, headline, origin, received, sender, marks, is_settled }
}

/// A time of a record in UTC, to the second.
fn utc(time: &str) -> Option<String> {
    Some(Moment::read(time)?.to_the_second().to_string())
}
