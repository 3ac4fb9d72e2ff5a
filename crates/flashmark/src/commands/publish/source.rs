//! What is published: a collection, or runs put into one for the occasion; and the reference data
//! beside it.

use std::collections::BTreeSet;
use std::path::Path;

use collection::Upload;
use record::collection::{CollectionLine, CollectionRun, Media, Origin};
use record::{MediumKind, Published, Record, TargetKind};
use report::words::clean;
use store::collection::{Address, Collection, Submission};

use crate::commands::own_runs::measured_runs;
use crate::commands::show::load;
use crate::exit::{OrExit, Result};
use crate::keys::KeyFile;
use crate::published_run;
use crate::repository::Repository;
use crate::repository::judging::{JudgedRecord, judge};

/// The lines to publish, each with the collection that has its runs.
pub struct PublishedLines {
    lines: Vec<(CollectionLine, Collection)>,
    collections: Vec<Collection>,
}

impl PublishedLines {
    /// The collection at an address. Nothing is written to it.
    pub fn of_database(address: &str, no_reference: bool, now: &str) -> Result<PublishedLines> {
        let address = Address::parse(address).or_usage()?;
        if let Address::Sqlite(path) = &address
            && !path.is_file()
        {
            // Opening would make an empty one.
            return crate::exit::usage(format_args!(
                "there is no collection at '{}'",
                path.display()
            ));
        }
        let theirs = Collection::open(&address).or_usage()?;
        let has_reference =
            theirs.all_lines().or_internal()?.iter().any(|line| line.origin == Origin::Reference);
        let mut collections = vec![theirs];
        if !no_reference && !has_reference {
            collections.push(reference(now)?);
        }
        PublishedLines::of(collections)
    }

    /// Runs of this machine: those named, or all that measured something.
    pub fn of_runs(
        names: &[String],
        no_reference: bool,
        keys: Option<&KeyFile>,
        now: &str,
    ) -> Result<PublishedLines> {
        let own = Collection::open(&Address::Memory).or_internal()?;
        for name in names {
            let record = load(name)?;
            let (run, _) = published_run::of(&record, keys)?;
            if let Err(rejection) = collection::check(&run) {
                return crate::exit::usage(format_args!(
                    "{} cannot be published: {}",
                    clean(name),
                    clean(&rejection.to_string())
                ));
            }
            submit(&own, run, &record, now)?;
        }
        if names.is_empty() {
            for (name, record) in measured_runs()? {
                let (run, _) = published_run::of(&record, keys)?;
                match collection::check(&run) {
                    Ok(()) => submit(&own, run, &record, now)?,
                    Err(why) => {
                        crate::say!("flashmark: {name} is left out: {}", clean(&why.to_string()))
                    }
                }
            }
        }
        let mut collections = vec![own];
        if !no_reference {
            collections.push(reference(now)?);
        }
        PublishedLines::of(collections)
    }

    /// The records of a repository that count; the others are named on standard error.
    pub fn of_repository(dir: &Path, no_reference: bool, now: &str) -> Result<PublishedLines> {
        let repository = Repository::open(dir).or_usage()?;
        let files = repository.records().or_internal()?;
        let theirs = Collection::open(&Address::Memory).or_internal()?;
        for some in files.chunks(TOGETHER) {
            let mut submissions = Vec::new();
            for JudgedRecord { file, verdict } in judge(&repository, some.to_vec()).or_internal()? {
                match verdict {
                    Ok(upload) => submissions.push(submission(&file.sender, upload, now)),
                    Err(why) => crate::say!(
                        "flashmark: {} is left out: {}",
                        clean(&file.path.display().to_string()),
                        clean(&why)
                    ),
                }
            }
            theirs.submit_all(submissions).or_internal()?;
        }
        let mut collections = vec![theirs];
        if !no_reference {
            collections.push(reference(now)?);
        }
        PublishedLines::of(collections)
    }

    fn of(collections: Vec<Collection>) -> Result<PublishedLines> {
        let mut taken = BTreeSet::new();
        let mut lines = Vec::new();
        for collection in &collections {
            let found = collection.all_lines().or_internal()?;
            let named = found.into_iter().filter(|line| {
                report::collection::is_slug(&line.slug) && taken.insert(line.slug.clone())
            });
            lines.extend(named.map(|line| (line, collection.clone())));
        }
        Ok(PublishedLines { lines, collections })
    }

    /// Whether there is nothing of one's own.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// How many lines there are.
    pub fn media(&self) -> usize {
        self.lines.len()
    }

    /// How many runs are behind them.
    pub fn runs(&self) -> usize {
        self.lines.iter().map(|(line, _)| line.runs as usize).sum()
    }

    /// All lines to publish, the reference data included unless it was left out.
    pub fn lines(&self) -> impl Iterator<Item = &CollectionLine> {
        self.lines.iter().map(|(line, _)| line)
    }

    /// A line by its place among [`PublishedLines::lines`], with its runs, the newest first.
    pub fn medium(&self, at: usize) -> anyhow::Result<(&CollectionLine, Vec<CollectionRun>)> {
        let (line, collection) = &self.lines[at];
        Ok((line, collection.runs_of(&line.slug)?))
    }

    /// The media that the runs of a line are of, where they say it.
    pub fn told_apart(&self, at: usize) -> anyhow::Result<Media> {
        let (line, collection) = &self.lines[at];
        Ok(findings::media(&collection.medium_runs(&line.slug)?))
    }

    /// Hands out the runs of a line, the newest first, one by one.
    pub fn each_run(
        &self,
        at: usize,
        take: &mut dyn FnMut(CollectionRun) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        let (line, collection) = &self.lines[at];
        Ok(collection.each_run_of(&line.slug, take)?)
    }

    /// The runs that came in last, the newest first.
    pub fn latest(&self, n: usize) -> anyhow::Result<Vec<CollectionRun>> {
        let mut latest = Vec::new();
        for collection in &self.collections {
            latest.extend(collection.latest(n)?);
        }
        latest.sort_by(|a, b| b.received.cmp(&a.received));
        latest.truncate(n);
        Ok(latest)
    }
}

/// Records of a repository that are in memory at a time.
const TOGETHER: usize = 200;

/// A record of a repository with the voice of who sent it. It came in when it was measured, as far as
/// that is known: a checkout keeps no times.
fn submission(sender: &str, upload: Upload, now: &str) -> Submission {
    let origin = Origin::of(&upload.run);
    let received = upload.run.started.as_deref().and_then(utc).unwrap_or_else(|| now.to_owned());
    Submission {
        who: sender.to_owned(),
        sender: Some(sender.to_owned()),
        ..Submission::new(upload.run, upload.headline, origin, received)
    }
}

/// The built-in reference data.
fn reference(now: &str) -> Result<Collection> {
    let collection = Collection::open(&Address::Memory).or_internal()?;
    collection.keep_reference(&import::reference::entries(), now).or_internal()?;
    Ok(collection)
}

/// Takes the published subset of a run in; it came in when it ended.
fn submit(own: &Collection, run: Published, record: &Record, now: &str) -> Result<()> {
    let received = record.run.finished.as_ref().or(record.run.started.as_ref());
    let received =
        received.map_or_else(|| now.to_owned(), |time| utc(time).unwrap_or_else(|| now.to_owned()));
    let submission = Submission::new(run, findings::headline(record), origin(record), received);
    own.submit(submission).or_internal()?;
    Ok(())
}

/// A time of a record in UTC, to the second.
fn utc(time: &str) -> Option<String> {
    time.parse().ok().map(crate::clock::to_the_second)
}

/// Where a run of this machine comes from.
fn origin(record: &Record) -> Origin {
    let is_simulated = record.medium.kind == MediumKind::Simulated
        || record.target.kind == TargetKind::Simulated
        || record.medium.profile.is_some();
    match record.run.software.name.as_str() {
        _ if is_simulated => Origin::Simulated,
        "flashmark" | "" => Origin::Measured,
        _ => Origin::Imported,
    }
}
