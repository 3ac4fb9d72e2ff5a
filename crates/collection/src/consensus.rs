//! Agreement of many senders on one figure. Each sender has one vote, however many runs, hosts or
//! copies it sends. Votes far from the majority do not move the figure.
//!
//! The votes for a figure are sorted. The [`WINDOW`] that holds most of them is the agreeing group,
//! and the figure is its median. A slow interface makes a medium slower and never faster, so a
//! smaller group is preferred if its interface is the faster one. While less than 30 % of the votes
//! are false, the window is that of the honest senders.

use std::collections::{BTreeMap, BTreeSet};

use record::collection::{Apart, CONFIRMING_SENDERS, FigureUnit, HeadlineFigure, HostSpread};

use crate::judging::interface_bps;

/// Largest ratio between agreeing figures of one medium: readers, hosts and cards of one production
/// differ by less (docs/field/classes.md).
pub const WINDOW: f64 = 2.25;
/// Least number of votes with which a smaller window is preferred to a larger one,
const ENOUGH: usize = CONFIRMING_SENDERS as usize;
/// with at least this share of all votes, and on a faster interface.
const SHARE: f64 = 0.3;
/// Least share of an interface's rate that a medium reaches if the interface is its bottleneck:
/// packets and bus turnarounds take the rest.
const NEARLY_CARRIED: f64 = 0.5;

/// Contribution of one run to its model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vote {
    /// Sender: a forge account or a token. `None` where senders are not distinguished, as for runs
    /// of one's own machine.
    pub sender: Option<String>,
    /// The host, as far as it is published; `None` if nothing is known of it.
    pub host: Option<String>,
    /// Interface of the medium: "usb 2.0".
    pub interface: Option<String>,
    /// The verdict in a sentence.
    pub verdict: Option<String>,
    /// Faults of the medium and levels of its uses ([`record::collection::RunHeadline::claims`]).
    pub claims: BTreeSet<String>,
    /// Its headline figures.
    pub figures: BTreeMap<HeadlineFigure, f64>,
}

/// Common result of all runs of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consensus {
    /// Spread of each figure over the senders that agree on it.
    pub figures: BTreeMap<HeadlineFigure, HostSpread>,
    /// The verdict of the run closest to these figures, among the runs that claim only what most
    /// senders claim. `None` if there is no such run.
    pub verdict: Option<String>,
    /// Senders that agree with each other but not with the others.
    pub apart: Option<Apart>,
}

impl Consensus {
    /// Computes the consensus of these votes; their order does not matter.
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

/// The votes that agree on a figure.
struct Window {
    low: f64,
    high: f64,
    spread: HostSpread,
}

impl Window {
    fn of(votes: &[Vote], figure: HeadlineFigure) -> Option<Window> {
        let sender_votes = sender_votes(votes, figure);
        let (from, to) = place(&sender_votes, figure)?;
        let agreeing = &sender_votes[from..to];
        let inside = |vote: &&Vote| {
            agreeing.iter().any(|sender_vote| sender_vote.sender == vote.sender.as_deref())
        };
        let runs = votes
            .iter()
            .filter(inside)
            .filter_map(|vote| Some((vote.host.as_deref(), *vote.figures.get(&figure)?)));
        let of_hosts = spread(runs)?;
        let (low, high) = (agreeing.first()?.value, agreeing.last()?.value);
        let spread = if sender_votes.iter().any(|sender_vote| sender_vote.sender.is_some()) {
            let median = middle(agreeing, |sender_vote| sender_vote.value);
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

/// The vote of one sender for a figure.
struct SenderVote<'a> {
    sender: Option<&'a str>,
    /// Median of the medians of its hosts.
    value: f64,
    /// Rate of its fastest interface in bytes per second; `None` if no interface is known.
    interface_bps: Option<f64>,
}

/// Groups runs by sender; runs without a sender form one group.
fn by_sender<'a>(
    votes: impl IntoIterator<Item = &'a Vote>,
) -> BTreeMap<Option<&'a str>, Vec<&'a Vote>> {
    let mut by_sender: BTreeMap<_, Vec<&Vote>> = BTreeMap::new();
    for vote in votes {
        by_sender.entry(vote.sender.as_deref()).or_default().push(vote);
    }
    by_sender
}

/// The votes for a figure in ascending order.
fn sender_votes(votes: &[Vote], figure: HeadlineFigure) -> Vec<SenderVote<'_>> {
    let has_it = |vote: &&Vote| vote.figures.get(&figure).is_some_and(|value| value.is_finite());
    let sender_vote = |(sender, votes): (_, Vec<&Vote>)| {
        let runs = votes.iter().map(|vote| (vote.host.as_deref(), vote.figures[&figure]));
        let interfaces = votes.iter().filter_map(|vote| interface_bps(vote.interface.as_deref()?));
        Some(SenderVote {
            sender,
            value: spread(runs)?.median,
            interface_bps: interfaces.max_by(f64::total_cmp),
        })
    };
    let mut sender_votes: Vec<SenderVote> =
        by_sender(votes.iter().filter(has_it)).into_iter().filter_map(sender_vote).collect();
    sender_votes.sort_by(|a, b| a.value.total_cmp(&b.value));
    sender_votes
}

/// The window of the agreeing votes, as start and end (exclusive) index into ascending votes.
/// `None` if there are no votes.
fn place(sender_votes: &[SenderVote], figure: HeadlineFigure) -> Option<(usize, usize)> {
    let end = |from: usize| {
        let most = sender_votes[from].value.max(0.0) * WINDOW;
        from + sender_votes[from..].partition_point(|sender_vote| sender_vote.value <= most)
    };
    let windows: Vec<(usize, usize)> =
        (0..sender_votes.len()).map(|from| (from, end(from).max(from + 1))).collect();
    let count = |(from, to): &(usize, usize)| to - from;
    // Neighbouring windows share votes: the one with most votes represents each group.
    let is_crowd = |window: &&(usize, usize)| {
        let rivals = windows.iter().filter(|other| other.0 < window.1 && window.0 < other.1);
        rivals.map(count).max() == Some(count(window))
    };
    let mut crowds: Vec<(usize, usize)> = windows.iter().filter(is_crowd).copied().collect();
    if !figure.smaller_is_better() {
        crowds.reverse();
    }
    // Of equally large groups the worse: a liar gains more from good figures.
    let largest = *crowds.iter().max_by_key(|window| count(window))?;
    let enough = ENOUGH.max((sender_votes.len() as f64 * SHARE).ceil() as usize);
    let counts_first = |faster: &&(usize, usize)| {
        count(faster) >= enough
            && figure.unit() == FigureUnit::Bps
            && is_held_back(&sender_votes[largest.0..largest.1], &sender_votes[faster.0..faster.1])
    };
    let faster = crowds.iter().take_while(|window| **window != largest).find(counts_first);
    Some(*faster.unwrap_or(&largest))
}

/// True if its interface limited the slower of two groups. At least half of its known interfaces
/// are no faster than some rate, the group reaches most of that rate, and each faster vote has a
/// faster interface and gains no more than that explains.
fn is_held_back(slower: &[SenderVote], faster: &[SenderVote]) -> bool {
    let mut known: Vec<f64> =
        slower.iter().filter_map(|sender_vote| sender_vote.interface_bps).collect();
    known.sort_by(f64::total_cmp);
    let carried = known.get(known.len() / 2).copied();
    let theirs: Option<Vec<f64>> =
        faster.iter().map(|sender_vote| sender_vote.interface_bps).collect();
    let least = theirs.and_then(|theirs| theirs.into_iter().min_by(f64::total_cmp));
    let Some((carried, least)) = carried.zip(least) else { return false };
    let (slow, fast) = (middle(slower, |it| it.value), middle(faster, |it| it.value));
    least > carried
        && slow >= carried * NEARLY_CARRIED
        && fast / slow <= least / carried / NEARLY_CARRIED
}

/// Claims about the medium that more than half of the senders share, and at least [`ENOUGH`] of
/// them if there are as many. For the level of a use, only senders that judged this use are
/// counted, and [`ENOUGH`] applies if as many senders claim anything. A sender shares a claim if at
/// least half of its runs make it.
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
            let with_claim = runs.iter().filter(|vote| vote.claims.contains(*claim)).count();
            asked += usize::from(judged > 0);
            agreeing += usize::from(judged > 0 && with_claim * 2 >= judged);
        }
        // A sender that judges alone is believed only if it is the only sender.
        let judging = claiming.max(2).min(by_sender.len());
        let others = if claim.contains('=') { judging } else { by_sender.len() };
        agreeing * 2 > asked && agreeing >= ENOUGH.min(others)
    };
    all.into_iter().filter(is_shared).collect()
}

/// True if a run could have made a claim: about a use only if it judged that use.
fn has_judged(vote: &Vote, claim: &str) -> bool {
    let Some((wanted, _)) = claim.split_once('=') else { return true };
    let is_of_it = |other: &String| other.split_once('=').is_some_and(|(use_, _)| use_ == wanted);
    vote.claims.iter().any(is_of_it)
}

/// The verdict of the run closest to these figures by the mean absolute logarithm of the ratios,
/// among runs that make only claims shared by senders (runs of one's own machine share all). Runs
/// that lack a shared claim or some of the figures come last: their verdict may rest on little
/// data.
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

/// Senders with most of their figures outside the windows, if at least [`ENOUGH`] of them agree
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

/// Median of the medians of the hosts, with the lowest and highest value of all runs. Each run of
/// an unknown host (`None`) counts as a host of its own: nothing shows that two of them are the
/// same. `None` if there are no values.
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

/// Median of sorted values: the middle one, or the mean of the two in the middle.
fn middle<T>(sorted: &[T], value: impl Fn(&T) -> f64) -> f64 {
    let (lower, upper) = (value(&sorted[(sorted.len() - 1) / 2]), value(&sorted[sorted.len() / 2]));
    // Halved first: the sum of two large numbers may overflow.
    if lower == upper { upper } else { lower / 2.0 + upper / 2.0 }
}

#[cfg(test)]
mod tests;
