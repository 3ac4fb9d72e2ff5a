//! One figure of many senders: each has one voice, however many runs, hosts or copies it sends, and
//! voices that lie far from where most are do not move it.
//!
//! The voices for a figure are put in order; the [`WINDOW`] in which most of them lie holds those
//! that agree, and the figure is their median. A slow interface holds a medium back and never makes
//! it faster, so fewer voices count before more where their interface is the faster one. As long as
//! less than three voices in ten are lies, the window is that of the honest ones
//! (`cargo validation liars`).

use std::collections::{BTreeMap, BTreeSet};

use record::collection::{Apart, CONFIRMING_SENDERS, FigureUnit, HeadlineFigure, HostSpread};

use crate::judging::interface_bps;

/// Figures of one medium that agree lie within this factor: a reader, a host and a card of the same
/// production differ by less (docs/field/classes.md).
pub const WINDOW: f64 = 2.25;
/// A window with fewer voices than another counts before that only with so many,
const ENOUGH: usize = CONFIRMING_SENDERS as usize;
/// with this share of all, and on a faster interface.
const SHARE: f64 = 0.3;
/// Share of what an interface carries that comes through it at least where it is what holds a medium
/// back: packets and turns of the bus take the rest.
const NEARLY_CARRIED: f64 = 0.5;

/// What one run says of its model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vote {
    /// Who sent it: a forge account or a token. `None` where nobody is told apart, as for runs of
    /// one's own machine.
    pub sender: Option<String>,
    /// The host, as far as it is published; `None` where nothing is known of it.
    pub host: Option<String>,
    /// How the medium was attached: "usb 2.0".
    pub interface: Option<String>,
    /// The verdict in a sentence.
    pub verdict: Option<String>,
    /// Faults of the medium and levels of its uses ([`record::collection::RunHeadline::claims`]).
    pub claims: BTreeSet<String>,
    /// Its headline figures.
    pub figures: BTreeMap<HeadlineFigure, f64>,
}

/// What all runs of a model say together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consensus {
    /// Each figure over those that agree on it.
    pub figures: BTreeMap<HeadlineFigure, HostSpread>,
    /// The verdict of the run that lies nearest to these figures, of those that claim nothing but what
    /// most senders claim. `None` where there is no such run.
    pub verdict: Option<String>,
    /// Senders that agree with each other and with nobody else.
    pub apart: Option<Apart>,
}

impl Consensus {
    /// What these runs say, whatever their order.
    pub fn of(votes: &[Vote]) -> Consensus {
        let windows: BTreeMap<HeadlineFigure, Window> = HeadlineFigure::ALL
            .into_iter()
            .filter_map(|figure| Some((figure, Window::of(votes, figure)?)))
            .collect();
        let figures: BTreeMap<_, _> =
            windows.iter().map(|(figure, window)| (*figure, window.spread)).collect();
        Consensus { verdict: nearest(votes, &figures), apart: apart(votes, &windows), figures }
    }
}

/// The voices that agree on a figure.
struct Window {
    low: f64,
    high: f64,
    spread: HostSpread,
}

impl Window {
    fn of(votes: &[Vote], figure: HeadlineFigure) -> Option<Window> {
        let voices = voices(votes, figure);
        let (from, to) = place(&voices, figure)?;
        let agreeing = &voices[from..to];
        let inside =
            |vote: &&Vote| agreeing.iter().any(|voice| voice.sender == vote.sender.as_deref());
        let runs = votes
            .iter()
            .filter(inside)
            .filter_map(|vote| Some((vote.host.as_deref(), *vote.figures.get(&figure)?)));
        let of_hosts = spread(runs)?;
        let (low, high) = (agreeing.first()?.value, agreeing.last()?.value);
        let spread = if voices.iter().any(|voice| voice.sender.is_some()) {
            let median = middle(agreeing, |voice| voice.value);
            HostSpread { median, low, high, senders: (to - from) as u64, ..of_hosts }
        } else {
            // One's own runs are one voice.
            of_hosts
        };
        Some(Window { low, high, spread })
    }

    fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// What one sender says of a figure.
struct Voice<'a> {
    sender: Option<&'a str>,
    /// The median of its hosts' medians.
    value: f64,
    /// What its fastest interface carries, in bytes a second; `None` where none is known.
    interface_bps: Option<f64>,
}

/// The runs of each sender; those without one are of one.
fn by_sender<'a>(
    votes: impl IntoIterator<Item = &'a Vote>,
) -> BTreeMap<Option<&'a str>, Vec<&'a Vote>> {
    let mut by_sender: BTreeMap<_, Vec<&Vote>> = BTreeMap::new();
    for vote in votes {
        by_sender.entry(vote.sender.as_deref()).or_default().push(vote);
    }
    by_sender
}

/// The voices for a figure, rising.
fn voices(votes: &[Vote], figure: HeadlineFigure) -> Vec<Voice<'_>> {
    let has_it = |vote: &&Vote| vote.figures.get(&figure).is_some_and(|value| value.is_finite());
    let voice = |(sender, votes): (_, Vec<&Vote>)| {
        let runs = votes.iter().map(|vote| (vote.host.as_deref(), vote.figures[&figure]));
        let interfaces = votes.iter().filter_map(|vote| interface_bps(vote.interface.as_deref()?));
        Some(Voice {
            sender,
            value: spread(runs)?.median,
            interface_bps: interfaces.max_by(f64::total_cmp),
        })
    };
    let mut voices: Vec<Voice> =
        by_sender(votes.iter().filter(has_it)).into_iter().filter_map(voice).collect();
    voices.sort_by(|a, b| a.value.total_cmp(&b.value));
    voices
}

/// The window of those that agree, as places from and up to which in rising voices. `None` where
/// there is no voice.
fn place(voices: &[Voice], figure: HeadlineFigure) -> Option<(usize, usize)> {
    let end = |from: usize| {
        let most = voices[from].value.max(0.0) * WINDOW;
        from + voices[from..].partition_point(|voice| voice.value <= most)
    };
    let windows: Vec<(usize, usize)> =
        (0..voices.len()).map(|from| (from, end(from).max(from + 1))).collect();
    let count = |(from, to): &(usize, usize)| to - from;
    // Neighbouring windows share their voices: of each crowd the one that holds most stands for it.
    let is_crowd = |window: &&(usize, usize)| {
        let rivals = windows.iter().filter(|other| other.0 < window.1 && window.0 < other.1);
        rivals.map(count).max() == Some(count(window))
    };
    let mut crowds: Vec<(usize, usize)> = windows.iter().filter(is_crowd).copied().collect();
    if !figure.smaller_is_better() {
        crowds.reverse();
    }
    // Of equally large ones the worse: who lies has more from being better.
    let largest = *crowds.iter().max_by_key(|window| count(window))?;
    let enough = ENOUGH.max((voices.len() as f64 * SHARE).ceil() as usize);
    let counts_first = |faster: &&(usize, usize)| {
        count(faster) >= enough
            && figure.unit() == FigureUnit::Bps
            && is_held_back(&voices[largest.0..largest.1], &voices[faster.0..faster.1])
    };
    let faster = crowds.iter().take_while(|window| **window != largest).find(counts_first);
    Some(*faster.unwrap_or(&largest))
}

/// Tells whether the first of two crowds was held back by its interface: half of those whose interface
/// is known had none that carries more, most of that was reached, and each of the faster ones had a
/// faster interface and gained no more than that explains.
fn is_held_back(slower: &[Voice], faster: &[Voice]) -> bool {
    let mut known: Vec<f64> = slower.iter().filter_map(|voice| voice.interface_bps).collect();
    known.sort_by(f64::total_cmp);
    let carried = known.get(known.len() / 2).copied();
    let theirs: Option<Vec<f64>> = faster.iter().map(|voice| voice.interface_bps).collect();
    let least = theirs.and_then(|theirs| theirs.into_iter().min_by(f64::total_cmp));
    let Some((carried, least)) = carried.zip(least) else { return false };
    let (slow, fast) = (middle(slower, |it| it.value), middle(faster, |it| it.value));
    least > carried
        && slow >= carried * NEARLY_CARRIED
        && fast / slow <= least / carried / NEARLY_CARRIED
}

/// What more than half of the senders claim of the medium, and at least [`ENOUGH`] of them where there
/// are as many; of the level of a use, of the senders that judged it, and where as many claim anything.
/// A sender claims what at least half of its runs do.
fn shared_claims(votes: &[Vote]) -> BTreeSet<&str> {
    let by_sender = by_sender(votes);
    let all: BTreeSet<&str> =
        votes.iter().flat_map(|vote| &vote.claims).map(String::as_str).collect();
    let has_claims = |runs: &&Vec<&Vote>| runs.iter().any(|vote| !vote.claims.is_empty());
    let claiming = by_sender.values().filter(has_claims).count();
    let is_shared = |claim: &&str| {
        let (mut asked, mut agreeing) = (0, 0);
        for runs in by_sender.values() {
            let judged = runs.iter().filter(|vote| has_judged(vote, claim)).count();
            let said = runs.iter().filter(|vote| vote.claims.contains(*claim)).count();
            asked += usize::from(judged > 0);
            agreeing += usize::from(judged > 0 && said * 2 >= judged);
        }
        // One who judges alone is believed alone only.
        let judging = claiming.max(2).min(by_sender.len());
        let others = if claim.contains('=') { judging } else { by_sender.len() };
        agreeing * 2 > asked && agreeing >= ENOUGH.min(others)
    };
    all.into_iter().filter(is_shared).collect()
}

/// Tells whether a run could have made a claim: one on a use only if it judged that.
fn has_judged(vote: &Vote, claim: &str) -> bool {
    let Some((wanted, _)) = claim.split_once('=') else { return true };
    let is_of_it = |other: &String| other.split_once('=').is_some_and(|(use_, _)| use_ == wanted);
    vote.claims.iter().any(is_of_it)
}

/// The verdict of the run whose figures lie nearest to these, by the mean of their logarithms, of those
/// that claim nothing but what senders share; one's own runs share all. A run that lacks a shared claim
/// or some of the figures comes after those that have more: what it says may rest on little.
fn nearest(votes: &[Vote], figures: &BTreeMap<HeadlineFigure, HostSpread>) -> Option<String> {
    let has_senders = votes.iter().any(|vote| vote.sender.is_some());
    let shared = shared_claims(votes);
    let rank = |vote: &Vote| {
        let logs: Vec<f64> = vote
            .figures
            .iter()
            .filter_map(|(figure, value)| Some((value / figures.get(figure)?.median).ln().abs()))
            .filter(|log| log.is_finite())
            .collect();
        let claimed = vote.claims.iter().filter(|claim| shared.contains(claim.as_str())).count();
        let lacks = (shared.len() - claimed, figures.len() - logs.len());
        (lacks, logs.iter().sum::<f64>() / logs.len().max(1) as f64)
    };
    let is_shared =
        |vote: &&Vote| !has_senders || vote.claims.iter().all(|it| shared.contains(it.as_str()));
    votes
        .iter()
        .filter(is_shared)
        .filter_map(|vote| Some((rank(vote), vote.verdict.as_ref()?)))
        .min_by(|((a, x), one), ((b, y), other)| {
            a.cmp(b).then(x.total_cmp(y)).then_with(|| one.cmp(other))
        })
        .map(|(_, verdict)| verdict.clone())
}

/// Senders most of whose figures lie outside the windows, where at least [`ENOUGH`] of them agree
/// with each other.
fn apart(votes: &[Vote], windows: &BTreeMap<HeadlineFigure, Window>) -> Option<Apart> {
    let is_outside = |vote: &Vote| {
        let held: Vec<bool> = vote
            .figures
            .iter()
            .filter_map(|(figure, value)| Some(windows.get(figure)?.holds(*value)))
            .collect();
        vote.sender.is_some() && held.iter().filter(|held| !**held).count() * 2 > held.len()
    };
    let (outside, agreeing): (Vec<Vote>, Vec<Vote>) = votes.iter().cloned().partition(is_outside);
    let theirs: BTreeMap<HeadlineFigure, Window> = HeadlineFigure::ALL
        .into_iter()
        .filter_map(|figure| Some((figure, Window::of(&outside, figure)?)))
        .filter(|(_, window)| window.spread.senders >= ENOUGH as u64)
        .collect();
    let first = theirs.values().next()?;
    let (senders, runs) = (first.spread.senders, first.spread.runs);
    let interfaces = |votes: &[Vote]| -> BTreeSet<String> {
        votes.iter().filter_map(|vote| vote.interface.clone()).collect()
    };
    let (ours, others) = (interfaces(&agreeing), interfaces(&outside));
    let interface = (!others.is_empty() && ours.is_disjoint(&others))
        .then(|| others.into_iter().collect::<Vec<_>>().join(", "));
    Some(Apart {
        senders,
        runs,
        interface,
        figures: theirs.into_iter().map(|(figure, window)| (figure, window.spread)).collect(),
    })
}

/// The median of the hosts' medians, with the lowest and highest of all runs. Values of runs whose
/// host is not known (`None`) are taken as of a host each: nothing says that two of them are of the
/// same. `None` where there is no value.
pub fn spread<H: Ord>(values: impl IntoIterator<Item = (Option<H>, f64)>) -> Option<HostSpread> {
    let mut values: Vec<(Option<H>, f64)> = values.into_iter().collect();
    values.sort_unstable_by(|(a, x), (b, y)| a.cmp(b).then(x.total_cmp(y)));
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut medians = Vec::new();
    for of_host in values.chunk_by(|(a, _), (b, _)| a.is_some() && a == b) {
        (low, high) = (low.min(of_host[0].1), high.max(of_host[of_host.len() - 1].1));
        medians.push(middle(of_host, |(_, value)| *value));
    }
    medians.sort_unstable_by(f64::total_cmp);
    let (runs, hosts) = (values.len() as u64, medians.len() as u64);
    (hosts > 0).then(|| HostSpread {
        median: middle(&medians, |median| *median),
        low,
        high,
        runs,
        hosts,
        senders: 0,
    })
}

/// The middle of values in order, or the mean of the two in the middle.
fn middle<T>(sorted: &[T], value: impl Fn(&T) -> f64) -> f64 {
    let (lower, upper) = (value(&sorted[(sorted.len() - 1) / 2]), value(&sorted[sorted.len() / 2]));
    // Halved first: the sum of two large numbers may be none.
    if lower == upper { upper } else { lower / 2.0 + upper / 2.0 }
}

#[cfg(test)]
mod tests;
