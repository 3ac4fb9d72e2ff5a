//! The lines of a collection, computed from its runs: a line for each model and origin.

use std::collections::{BTreeMap, BTreeSet};

use record::collection::{CollectionLine, CollectionRun, Origin, RunHeadline};
use record::text::{hex, one_line};
use record::{MediumKind, Published};
use sha2::{Digest, Sha256};

use crate::consensus::{Consensus, Vote};
use crate::copies::{Again, MarkedRun, RunMarks, again};
use crate::names::{Entry, Names};

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
    /// Account whose voice it is among the runs of its model; `None` if senders are not
    /// distinguished, as among runs of one's own machine.
    pub sender: Option<String>,
    /// Marks by which it is known as the same measurement as another.
    pub marks: RunMarks,
    /// True if a reviewer says that it counts, though its measurement has another name too.
    pub is_settled: bool,
}

/// Sender of a record that came without a token: it is shown, and never a voice.
pub const GUEST: &str = "guest";

/// A line with its runs, the newest first.
pub struct LineRuns {
    /// The line.
    pub line: CollectionLine,
    /// Its runs.
    pub runs: Vec<CollectionRun>,
}

/// Key by which runs are grouped in lines: kind, vendor, model, capacity class, origin.
type LineKey = ((MediumKind, String, String, u64), Origin);

/// A run with its place in the collection, its name and its sender.
struct Placed {
    at: usize,
    entry: Entry,
    run: CollectionRun,
    sender: Option<String>,
}

impl Names {
    /// Place of a run among the lines.
    pub fn entry(&self, run: &Published, sender: Option<&str>) -> Entry {
        if sender.is_some() { self.of_sender(run) } else { self.of_publisher(run) }
    }
}

/// Lines of runs, by slug; of several runs with one id the first counts, the publisher's before an
/// account's and that before a guest's. `names` are those that a sender's medium can have.
pub fn lines_of(sent: impl IntoIterator<Item = SentRun>, names: &Names) -> Vec<LineRuns> {
    let mut sent: Vec<SentRun> = sent.into_iter().collect();
    let is_guest = |it: &SentRun| it.sender.as_deref() == Some(GUEST);
    // Nobody takes the place of the publisher, and a guest that of nobody, whenever it sent.
    let rank = |it: &SentRun| (is_guest(it), it.sender.is_some());
    sent.sort_by(|a, b| (rank(a), &a.received).cmp(&(rank(b), &b.received)));
    let mut ids = BTreeSet::new();
    sent.retain(|it| ids.insert(it.id.clone()));
    sent.sort_by(|a, b| (is_guest(a), &a.received).cmp(&(is_guest(b), &b.received)));
    let entries: Vec<Entry> =
        sent.iter().map(|it| names.entry(&it.run, it.sender.as_deref())).collect();
    let marked: Vec<MarkedRun<_>> = sent
        .iter()
        .zip(&entries)
        .filter(|(it, _)| !is_guest(it))
        .map(|(it, entry)| MarkedRun {
            marks: &it.marks,
            name: (entry.key(), it.origin, link_of(&it.run, it.sender.as_deref())),
            sender: it.sender.as_deref(),
            headline: &it.headline,
            is_settled: it.is_settled || it.sender.is_none(),
        })
        .collect();
    let again = again(&marked);
    drop(marked);
    let mut groups: BTreeMap<LineKey, Vec<Placed>> = BTreeMap::new();
    for (at, (it, entry)) in sent.into_iter().zip(entries).enumerate() {
        let (key, is_guest) = ((entry.key(), it.origin), is_guest(&it));
        let SentRun { id, run, headline, origin, received, sender, .. } = it;
        let uncounted = again.get(&at).map(|why| why_uncounted(*why).to_owned());
        let uncounted =
            uncounted.or_else(|| is_guest.then(|| "not counted: nobody answers for it".to_owned()));
        let (local_name, model) = (None, entry.model.clone());
        let run =
            CollectionRun { id, local_name, received, origin, model, uncounted, headline, run };
        groups.entry(key).or_default().push(Placed { at, entry, run, sender });
    }
    let mut slugs = BTreeSet::new();
    // In the order in which they came: the address of a line does not change with later ones.
    let mut groups: Vec<(LineKey, Vec<Placed>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, runs)| runs[0].at);
    let mut lines: Vec<LineRuns> = groups
        .into_iter()
        .map(|(key, runs)| {
            let slug = free_slug(&key, &runs[0].entry, &slugs);
            slugs.insert(slug.clone());
            line(key.1, slug, runs)
        })
        .collect();
    lines.sort_by(|a, b| a.line.slug.cmp(&b.line.slug));
    lines
}

/// Why a run has no voice, for its row.
fn why_uncounted(why: Again) -> &'static str {
    match why {
        Again::Counted(_) => "not counted: another run has the same latencies",
        Again::Otherwise(_) => {
            "not counted: a run under another name, or of another account with other figures, has \
             the same latencies, and a reviewer has not said which is right"
        }
    }
}

/// A line of its runs, which are sorted oldest first.
fn line(origin: Origin, slug: String, mut runs: Vec<Placed>) -> LineRuns {
    let counting = || runs.iter().filter(|placed| placed.run.uncounted.is_none());
    let votes: Vec<Vote> = counting().map(vote).collect();
    let Consensus { figures, links, fake, damaged, verdict, shown } = Consensus::of(&votes);
    let deciding: Vec<&Placed> = match counting().count() {
        0 => runs.iter().collect(),
        _ => counting().collect(),
    };
    let usual = |text: &dyn Fn(&Placed) -> String| {
        usual(deciding.iter().map(|placed| (text(placed), placed.sender.as_deref())))
    };
    let interface =
        usual(&|placed| link_of(&placed.run.run, placed.sender.as_deref()).unwrap_or_default());
    let classes = usual(&|placed| placed.run.run.class_words().join(" "));
    let name = usual(&|placed| placed.entry.name.clone());
    let named = runs.iter().find(|placed| placed.entry.name == name).unwrap_or(&runs[0]);
    let line = CollectionLine {
        slug,
        other_names: named.entry.other_names.clone(),
        model: named.entry.model.clone(),
        is_listed: named.entry.is_listed,
        name,
        origin,
        interface: Some(interface).filter(|text| !text.is_empty()),
        classes: classes.split_whitespace().map(str::to_uppercase).collect(),
        runs: runs.len() as u64,
        senders: counting().filter_map(|it| it.sender.as_ref()).collect::<BTreeSet<_>>().len()
            as u64,
        fakes: fake.yes,
        damaged: damaged.yes,
        is_fake: fake.holds,
        is_damaged: damaged.holds,
        figures,
        links,
        verdict,
        shown,
        latest: runs.last().map(|placed| placed.run.received.clone()).unwrap_or_default(),
    };
    runs.reverse();
    LineRuns { line, runs: runs.into_iter().map(|placed| placed.run).collect() }
}

fn vote(placed: &Placed) -> Vote {
    let CollectionRun { id, received, headline, run, .. } = &placed.run;
    Vote {
        id: id.clone(),
        sender: placed.sender.clone(),
        received: received.clone(),
        host: host_key(run),
        link: link_of(run, placed.sender.as_deref()),
        headline: headline.clone(),
    }
}

/// The first text that is not empty, until another is that of twice as many senders as all others.
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
    found.sort_by_key(|(text, _)| text.is_empty());
    let all = found.iter().flat_map(|(_, senders)| senders).collect::<BTreeSet<_>>().len();
    let outnumbers =
        |(_, senders): &&(String, BTreeSet<&str>)| senders.len() >= 2 * (all - senders.len());
    let most = found.iter().find(outnumbers).or(found.first());
    most.map(|(text, _)| text.clone()).unwrap_or_default()
}

/// Links that a sender's run can have; another word is an unknown link.
const LINKS: &str = "usb,usb 1.1,usb 2.0,usb 3.0,usb 3.1,usb 3.2,sd,sd high speed,sd uhs-i,mmc,\
                     mmc hs,mmc high speed,mmc hs200,mmc hs400,ata,ide,sata,scsi,sas,nvme,virtio";

/// Link of the medium: "usb 2.0". Of a sender's run only a known one.
pub fn link_of(run: &Published, sender: Option<&str>) -> Option<String> {
    let words = || Some(one_line(&run.interface_words()?, 80)).filter(|text| !text.is_empty());
    if sender.is_none() { words() } else { known_link(run) }
}

/// Link of a medium, if it is one of [`LINKS`].
pub(crate) fn known_link(run: &Published) -> Option<String> {
    run.interface_words().filter(|words| LINKS.split(',').any(|link| link == words))
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

/// Makes a free name for an address: "sandisk-sd32g-32-gb". Other origins than measurements get a
/// suffix; a name that only ends so, is of no product, or is taken, gets a hash of the model.
fn free_slug(key: &LineKey, entry: &Entry, taken: &BTreeSet<String>) -> String {
    let name = slug(&entry.name);
    let origin = key.1;
    let suffix = if origin == Origin::Measured { "" } else { origin.name() };
    let plain = slug(&format!("{name} {suffix}"));
    let is_called_so = Origin::ALL.map(Origin::name).iter().any(|it| name.ends_with(it));
    if entry.is_listed && !is_called_so && !taken.contains(&plain) {
        return plain;
    }
    let hash = hex(&Sha256::digest(format!("{key:?}")));
    format!("{plain}-{}", &hash[..8])
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
