//! The lines of a collection, computed from its runs: a line for each model and origin, fakes apart.

use std::collections::{BTreeMap, BTreeSet};

use record::Published;
use record::collection::{CollectionLine, CollectionRun, Model, Origin, RunHeadline};
use record::text::{hex, one_line};
use sha2::{Digest, Sha256};

use crate::consensus::{Consensus, Vote};
use crate::{model_of, name_of, other_names_of};

/// A run on its way into a collection. Its cells may be kept elsewhere.
pub struct SentRun {
    /// Name of the whole run ([`content_name`]).
    pub id: String,
    /// The run, reduced to what may be published.
    pub run: Published,
    /// Headline of the run, as `findings::headline` draws it.
    pub headline: RunHeadline,
    /// Origin of the run.
    pub origin: Origin,
    /// Time at which it was received: RFC 3339 in UTC.
    pub received: String,
    /// Account whose vote it is among the runs of its model; `None` if senders are not
    /// distinguished, as among runs of one's own machine.
    pub sender: Option<String>,
}

/// A line with its runs, the newest first.
pub struct LineRuns {
    /// The line.
    pub line: CollectionLine,
    /// Its runs.
    pub runs: Vec<CollectionRun>,
}

/// Key by which runs are grouped in lines.
type LineKey = (Model, Origin, bool);

/// A run with its place in the collection and its sender.
type Placed = (usize, CollectionRun, Option<String>);

/// Lines of runs in the order in which they came, by slug; of several runs with one id the first
/// counts.
pub fn lines_of(sent: impl IntoIterator<Item = SentRun>) -> Vec<LineRuns> {
    let (mut ids, mut slugs) = (BTreeSet::new(), BTreeSet::new());
    let mut groups: BTreeMap<LineKey, (String, Vec<Placed>)> = BTreeMap::new();
    for (at, sent) in sent.into_iter().enumerate() {
        let SentRun { id, run, headline, origin, received, sender } = sent;
        let model = model_of(&run);
        let entry = collected(id, run, headline, origin, received, model);
        if !ids.insert(entry.id.clone()) {
            continue;
        }
        let key = (entry.model.clone(), entry.origin, entry.headline.is_fake);
        let name = name_of(&entry.run);
        let group = groups.entry(key).or_insert_with_key(|key| {
            let slug = free_slug(key, &name, &slugs);
            slugs.insert(slug.clone());
            (slug, Vec::new())
        });
        group.1.push((at, entry, sender));
    }
    let newest = |(at, a, _): &Placed, (other, b, _): &Placed| {
        b.received.cmp(&a.received).then(other.cmp(at))
    };
    let fakes = fakes_of(&groups);
    let mut lines: Vec<LineRuns> = groups
        .into_iter()
        .map(|(key, (slug, mut runs))| {
            runs.sort_by(newest);
            let fakes = fakes.get(&(key.0.clone(), key.1)).copied().unwrap_or(0);
            line(key, slug, fakes, runs)
        })
        .collect();
    lines.sort_by(|a, b| a.line.slug.cmp(&b.line.slug));
    lines
}

/// A run as an entry of a collection.
pub fn collected(
    id: String,
    run: Published,
    headline: RunHeadline,
    origin: Origin,
    received: String,
    model: Model,
) -> CollectionRun {
    CollectionRun { id, local_name: None, received, origin, model, headline, run }
}

/// Number of fakes of each model and origin: senders that had one, plus runs without a sender.
fn fakes_of(groups: &BTreeMap<LineKey, (String, Vec<Placed>)>) -> BTreeMap<(Model, Origin), u64> {
    let fakes = groups.iter().filter(|((.., is_fake), _)| *is_fake);
    let count = |runs: &[Placed]| {
        let senders: BTreeSet<&String> = runs.iter().filter_map(|(.., it)| it.as_ref()).collect();
        senders.len() + runs.iter().filter(|(.., sender)| sender.is_none()).count()
    };
    fakes
        .map(|((model, origin, _), (_, runs))| ((model.clone(), *origin), count(runs) as u64))
        .collect()
}

/// A line of its runs, which are sorted newest first.
fn line(
    (model, origin, is_fake): LineKey,
    slug: String,
    fakes: u64,
    runs: Vec<Placed>,
) -> LineRuns {
    let votes: Vec<Vote> = runs.iter().map(|(_, entry, sender)| vote(entry, sender)).collect();
    let Consensus { figures, verdict, apart } = Consensus::of(&votes);
    let usual = |text: &dyn Fn(&Published) -> String| {
        let oldest_first = runs.iter().rev();
        usual(oldest_first.map(|(_, entry, sender)| (text(&entry.run), sender.as_deref())))
    };
    let interface = usual(&|run| interface(run).unwrap_or_default());
    let classes = usual(&|run| run.class_words().join(" "));
    let line = CollectionLine {
        slug,
        name: usual(&name_of),
        other_names: other_names_of(model.kind, &model.vendor, &model.model),
        model,
        origin,
        interface: Some(interface).filter(|text| !text.is_empty()),
        classes: classes.split_whitespace().map(str::to_uppercase).collect(),
        runs: runs.len() as u64,
        fakes,
        is_fake,
        figures,
        verdict,
        apart,
        latest: runs.first().map(|(_, entry, _)| entry.received.clone()).unwrap_or_default(),
    };
    LineRuns { line, runs: runs.into_iter().map(|(_, entry, _)| entry).collect() }
}

fn vote(entry: &CollectionRun, sender: &Option<String>) -> Vote {
    Vote {
        sender: sender.clone(),
        host: host_key(&entry.run),
        interface: interface(&entry.run),
        verdict: entry.headline.verdict.clone(),
        claims: entry.headline.claims().split_whitespace().map(str::to_owned).collect(),
        figures: entry.headline.figures.clone(),
    }
}

/// The most frequent text among senders; of equals one that is not empty, that which came first.
fn usual<'a>(texts: impl Iterator<Item = (String, Option<&'a str>)>) -> String {
    let mut found: Vec<(String, BTreeSet<&str>)> = Vec::new();
    for (text, sender) in texts {
        let sender = sender.unwrap_or_default();
        match found.iter_mut().find(|(known, _)| *known == text) {
            Some((_, senders)) => {
                senders.insert(sender);
            }
            None => found.push((text, BTreeSet::from([sender]))),
        }
    }
    found.sort_by_key(|(text, senders)| (std::cmp::Reverse(senders.len()), text.is_empty()));
    found.into_iter().next().map(|(text, _)| text).unwrap_or_default()
}

/// Interface of the medium: "usb 2.0".
fn interface(run: &Published) -> Option<String> {
    run.interface_words().map(|text| one_line(&text, 80)).filter(|text| !text.is_empty())
}

/// Key of a run's host, the same for all its runs: a hash of architecture, board and processors. Two boards of one make then count as one host, and so do two kernels on
/// one board. `None` where none of these is known.
fn host_key(run: &Published) -> Option<String> {
    let facts = (&run.arch, &run.board, &run.cpu, &run.cpus);
    if matches!(facts, (None, None, None, None)) {
        return None;
    }
    let text = format!("{facts:?}");
    Some(hex(&Sha256::digest(text.as_bytes())[..8]))
}

/// Makes a free name for an address: "sandisk-sd32g-32-gb". Other origins than measurements, and
/// fakes, get a suffix; a name that only ends so, or is taken, gets a hash of the model.
fn free_slug((model, origin, is_fake): &LineKey, name: &str, taken: &BTreeSet<String>) -> String {
    let name = slug(name);
    let suffix = if *origin == Origin::Measured { "" } else { origin.name() };
    let fake = if *is_fake { "fake" } else { "" };
    let plain = slug(&format!("{name} {suffix} {fake}"));
    let of_others = Origin::ALL.map(Origin::name).into_iter().chain(["fake"]);
    let last = name.rsplit('-').next();
    let is_called_so = last.is_some_and(|last| of_others.clone().any(|it| it == last));
    if !is_called_so && !taken.contains(&plain) {
        return plain;
    }
    let mut attempt = 1;
    loop {
        // The first hash is that of earlier versions: addresses must not change.
        let text = match attempt {
            1 => format!("{model:?}"),
            _ => format!("{attempt} {model:?} {origin:?} {is_fake}"),
        };
        let hash = hex(&Sha256::digest(text.as_bytes()));
        let slug = format!("{plain}-{}", &hash[..8]);
        if !taken.contains(&slug) {
            return slug;
        }
        // Somebody may have taken the name of any hash before.
        attempt += 1;
    }
}

/// Makes a name for an address: small letters, digits, single hyphens.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => slug.push(c),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    let slug: String = slug.chars().take(72).collect();
    let slug = slug.trim_matches('-').to_owned();
    if slug.is_empty() { "medium".to_owned() } else { slug }
}

/// Name of a run in every collection, made of its content without its findings, which follow from
/// it: the first 80 bits of its SHA-256 in Base32 (RFC 4648, in small letters), which has no digits
/// that look like letters.
pub fn content_name(run: &Published) -> String {
    let measured = Published { findings: Vec::new(), ..run.clone() };
    id_of(&Sha256::digest(measured.encode()).into())
}

fn id_of(content: &[u8; 32]) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let bits = content[..10].iter().fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    (0..16).rev().map(|at| char::from(LETTERS[(bits >> (5 * at) & 31) as usize])).collect()
}

#[cfg(test)]
mod tests;
