//! Agreement of many senders on the figures and the verdict of one model. Each sender has one voice
//! for a figure over a link, however many runs, hosts or copies it sends.
//!
//! Voices are counted in the order in which they were received. The first voice sets the value. From
//! then on it moves only as far as two thirds of all voices lie beyond it: while false voices are
//! fewer than twice the honest ones, it cannot leave the range of the honest ones. A value is
//! confirmed once at least [`CONFIRMING_SENDERS`] voices agree with it, and twice as many as
//! disagree. What was confirmed stays so; if later voices disagree, it is disputed. What senders
//! claim of the medium (a fake, damage, the level of a use) changes by the same majority.

use std::collections::{BTreeMap, BTreeSet};

use record::collection::{
    CONFIRMING_SENDERS, HeadlineFigure, HostSpread, LinkFigures, RunHeadline, Standing,
};

/// Largest ratio between agreeing figures of one medium: readers, hosts and cards of one production
/// differ by less (docs/field/classes.md). A voice agrees with a value within its square root.
pub const WINDOW: f64 = 2.25;
/// Most runs of a sender that count for a figure over a link, the latest ones: a thousand runs of
/// one sender would take a million steps.
const MOST_RUNS: usize = 32;

/// Contribution of one run to its model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vote {
    /// Name of the run.
    pub id: String,
    /// Sender: a forge account or a token. `None` where senders are not distinguished, as for runs
    /// of one's own machine.
    pub sender: Option<String>,
    /// Time at which the collection received it. RFC 3339 in UTC; equal times are one step.
    pub received: String,
    /// The host, as far as it is published; `None` if nothing is known of it.
    pub host: Option<String>,
    /// Link of the medium: "usb 2.0".
    pub link: Option<String>,
    /// Its figures, faults, levels and verdict.
    pub headline: RunHeadline,
}

impl Vote {
    /// Its sender; the run itself if senders are not distinguished.
    fn voice(&self) -> (Option<&str>, &str) {
        let id = if self.sender.is_none() { self.id.as_str() } else { "" };
        (self.sender.as_deref(), id)
    }

    /// Its value for a figure, if that is evidence.
    fn value(&self, figure: HeadlineFigure) -> Option<f64> {
        let value = *self.headline.figures.get(&figure)?;
        let counts = value.is_finite() && value > 0.0 && !self.headline.thin.contains(&figure);
        counts.then_some(value)
    }
}

/// Common result of all runs of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consensus {
    /// Each figure over the link that has its rank.
    pub figures: BTreeMap<HeadlineFigure, HostSpread>,
    /// The figures by link.
    pub links: Vec<LinkFigures>,
    /// Reports of a fake.
    pub fake: Poll,
    /// Reports of damage.
    pub damaged: Poll,
    /// Verdict of a run that claims only what holds.
    pub verdict: Option<String>,
    /// That run.
    pub shown: Option<String>,
}

impl Consensus {
    /// Computes the consensus of these votes; their order does not matter.
    pub fn of(votes: &[Vote]) -> Consensus {
        let mut votes: Vec<&Vote> = votes.iter().collect();
        votes.sort_by(|a, b| (&a.received, &a.id).cmp(&(&b.received, &b.id)));
        let fake = Poll::of(&votes, false, |vote| vote.headline.is_fake);
        let damaged = Poll::of(&votes, false, |vote| vote.headline.is_damaged);
        // A fake says nothing of the medium whose name it has, and the other way round.
        votes.retain(|vote| vote.headline.is_fake == fake.holds);
        let links: BTreeSet<&Option<String>> = votes.iter().map(|vote| &vote.link).collect();
        let (mut figures, mut by_link) = (BTreeMap::new(), BTreeMap::new());
        for figure in HeadlineFigure::ALL {
            let tallies = links.iter().filter_map(|link| Tally::of(&votes, figure, link));
            let tallies: Vec<Tally> = tallies.collect();
            for tally in &tallies {
                let of_link: &mut BTreeMap<_, _> = by_link.entry(tally.link).or_default();
                of_link.insert(figure, tally.spread);
            }
            let spread = ranked(&tallies, figure).map(|tally| tally.spread);
            if let Some(spread) = spread.or_else(|| thin(&votes, figure)) {
                figures.insert(figure, spread);
            }
        }
        let links = by_link
            .into_iter()
            .map(|(link, figures)| LinkFigures {
                link: link.clone(),
                voices: votes
                    .iter()
                    .filter(|vote| vote.link == *link)
                    .map(|vote| vote.voice())
                    .collect::<BTreeSet<_>>()
                    .len() as u64,
                figures,
            })
            .collect();
        let shown = representative(&votes, damaged.holds, &figures);
        let verdict = shown.and_then(|vote| vote.headline.verdict.clone());
        let shown = shown.map(|vote| vote.id.clone());
        Consensus { figures, links, fake, damaged, verdict, shown }
    }
}

/// Answers of senders to one question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Poll {
    /// Senders of whose runs at least half say yes; runs if senders are not distinguished.
    pub yes: u64,
    /// The others.
    pub no: u64,
    /// True if yes holds.
    pub holds: bool,
}

impl Poll {
    /// Asks votes that are sorted by time. A question that `begins` open holds as the first run
    /// says. Otherwise yes holds once [`CONFIRMING_SENDERS`] say so, and twice as many as do not.
    /// The answer changes if twice as many say the opposite. Senders that are not distinguished
    /// agree if all their runs do.
    fn of(votes: &[&Vote], begins: bool, answer: impl Fn(&Vote) -> bool) -> Poll {
        // How many more of its runs say yes than no.
        let mut answers: BTreeMap<_, i64> = BTreeMap::new();
        let (mut poll, mut enough) = (Poll::default(), if begins { 1 } else { CONFIRMING_SENDERS });
        for step in votes.chunk_by(|a, b| a.received == b.received) {
            for vote in step {
                *answers.entry(vote.voice()).or_default() += if answer(vote) { 1 } else { -1 };
            }
            poll.yes = answers.values().filter(|more| **more >= 0).count() as u64;
            poll.no = answers.len() as u64 - poll.yes;
            poll.holds = match poll.holds {
                true => poll.no < 2 * poll.yes,
                false => poll.yes >= enough.max(2 * poll.no),
            };
            enough = CONFIRMING_SENDERS;
        }
        if votes.iter().all(|vote| vote.sender.is_none()) {
            poll.holds = poll.yes > 0 && poll.no == 0;
        }
        poll
    }
}

/// The voices for a figure over one link.
struct Tally<'a> {
    link: &'a Option<String>,
    spread: HostSpread,
    senders: BTreeSet<&'a str>,
    /// Those of them that agree on it.
    agreeing: BTreeSet<&'a str>,
    /// Time of the first voice.
    first: &'a str,
    /// Time at which it was confirmed.
    since: Option<&'a str>,
}

impl<'a> Tally<'a> {
    fn of(
        votes: &[&'a Vote],
        figure: HeadlineFigure,
        link: &'a Option<String>,
    ) -> Option<Tally<'a>> {
        let values: Vec<(&Vote, f64)> = votes
            .iter()
            .filter(|vote| vote.link == *link)
            .filter_map(|vote| Some((*vote, vote.value(figure)?)))
            .collect();
        let first = values.first()?.0.received.as_str();
        let runs = |is_of: &dyn Fn(&str) -> bool| {
            let of = values.iter().filter(|(vote, _)| vote.sender.as_deref().is_none_or(is_of));
            spread(of.map(|(vote, value)| (vote.host.as_deref(), *value)))
        };
        let mut counting = Counting::default();
        for step in values.chunk_by(|(a, _), (b, _)| a.received == b.received) {
            step.iter().for_each(|(vote, value)| counting.add(vote, *value));
            counting.settle(&step[0].0.received);
        }
        let Some(value) = counting.value else {
            // One's own runs are one voice, and nobody disagrees.
            let spread = runs(&|_| true)?;
            return Some(Tally {
                link,
                spread,
                senders: BTreeSet::new(),
                agreeing: BTreeSet::new(),
                first,
                since: Some(first),
            });
        };
        let agrees = |of: &&(&str, f64)| agree(value, of.1);
        let now: Vec<(&str, f64)> = counting.now.iter().map(|(who, it)| (*who, it.1)).collect();
        let agreeing: Vec<(&str, f64)> = now.iter().filter(agrees).copied().collect();
        let senders: BTreeSet<&str> = agreeing.iter().map(|(who, _)| *who).collect();
        let (count, against) = (agreeing.len() as u64, (now.len() - agreeing.len()) as u64);
        let standing = match counting.since {
            None => Standing::Unconfirmed,
            Some(_) if is_majority(count, against) => Standing::Confirmed,
            Some(_) => Standing::Disputed,
        };
        let values = || agreeing.iter().map(|(_, value)| *value);
        let spread = HostSpread {
            median: value,
            low: values().fold(value, f64::min),
            high: values().fold(value, f64::max),
            senders: count,
            against,
            standing,
            ..runs(&|who| senders.contains(who))?
        };
        let (agreeing, senders) = (senders, now.iter().map(|(who, _)| *who).collect());
        Some(Tally { link, spread, senders, agreeing, first, since: counting.since })
    }
}

/// A sender's runs with their hosts, and its voice: the median over its hosts.
type Voice<'a> = (Vec<(Option<&'a str>, f64)>, f64);

/// Voices, as they come in.
#[derive(Default)]
struct Counting<'a> {
    now: BTreeMap<&'a str, Voice<'a>>,
    /// All voices in ascending order.
    sorted: Vec<f64>,
    value: Option<f64>,
    since: Option<&'a str>,
}

impl<'a> Counting<'a> {
    fn add(&mut self, vote: &'a Vote, value: f64) {
        let Some(sender) = vote.sender.as_deref() else { return };
        let (runs, voice) = self.now.entry(sender).or_default();
        let place = |sorted: &[f64], value: f64| sorted.partition_point(|it| *it < value);
        if !runs.is_empty() {
            self.sorted.remove(place(&self.sorted, *voice));
        }
        if runs.len() == MOST_RUNS {
            runs.remove(0);
        }
        runs.push((vote.host.as_deref(), value));
        *voice = spread(runs.iter().copied()).map_or(value, |found| found.median);
        self.sorted.insert(place(&self.sorted, *voice), *voice);
    }

    /// Moves the value as far as two thirds of the voices lie beyond it.
    fn settle(&mut self, time: &'a str) {
        let count = self.sorted.len();
        if count == 0 {
            return;
        }
        let (low, high) = (self.sorted[count / 3], self.sorted[count - 1 - count / 3]);
        let value = self.value.unwrap_or(self.sorted[(count - 1) / 2]).max(low).min(high);
        self.value = Some(value);
        let agreeing = self.sorted.iter().filter(|it| agree(value, **it)).count() as u64;
        if self.since.is_none() && is_majority(agreeing, count as u64 - agreeing) {
            self.since = Some(time);
        }
    }
}

/// True if two values are the same figure of one medium.
fn agree(value: f64, other: f64) -> bool {
    let ratio = if value < other { other / value } else { value / other };
    ratio * ratio <= WINDOW
}

/// True if enough agree, and twice as many as do not.
fn is_majority(agreeing: u64, against: u64) -> bool {
    agreeing >= CONFIRMING_SENDERS.max(2 * against)
}

/// The link by which a line is ranked: the one that was confirmed first, until another has twice as
/// many senders as all others. Without a confirmed one that with most senders, of equals the older;
/// the best one, if senders are not distinguished.
fn ranked<'a, 'b>(tallies: &'b [Tally<'a>], figure: HeadlineFigure) -> Option<&'b Tally<'a>> {
    let mut confirmed: Vec<&Tally> = tallies.iter().filter(|tally| tally.since.is_some()).collect();
    confirmed.sort_by_key(|tally| (tally.since, std::cmp::Reverse(tally.senders.len())));
    let better = |a: &&Tally, b: &&Tally| {
        let order = a.spread.median.total_cmp(&b.spread.median);
        if figure.smaller_is_better() { order.reverse() } else { order }
    };
    if tallies.iter().all(|tally| tally.senders.is_empty()) {
        return tallies.iter().max_by(better);
    }
    let others = |of: &Tally| {
        let all = tallies.iter().flat_map(|tally| &tally.senders);
        all.filter(|who| !of.agreeing.contains(**who)).collect::<BTreeSet<_>>().len()
    };
    let outnumbers = |of: &&&Tally| of.spread.senders as usize >= 2 * others(of);
    let first = confirmed.first();
    let most = || tallies.iter().max_by_key(|it| (it.senders.len(), std::cmp::Reverse(it.first)));
    confirmed.iter().skip(1).find(outnumbers).or(first).copied().or_else(most)
}

/// The figure of the first run that has one, none of which is evidence.
fn thin(votes: &[&Vote], figure: HeadlineFigure) -> Option<HostSpread> {
    let values = votes.iter().filter_map(|vote| vote.headline.figures.get(&figure));
    let value = values.copied().find(|value| value.is_finite() && *value > 0.0)?;
    Some(HostSpread { standing: Standing::Thin, ..spread::<u8>([(None, value)])? })
}

/// The run behind a verdict, of votes that are sorted by time: of those that claim only what holds,
/// and whose figures agree with those of the line where any do, the first that claims most. If senders are not distinguished, the newest one; the
/// first of all if none has a verdict.
fn representative<'a>(
    votes: &[&'a Vote],
    is_damaged: bool,
    figures: &BTreeMap<HeadlineFigure, HostSpread>,
) -> Option<&'a Vote> {
    let is_own = |vote: &Vote| vote.sender.is_none();
    // Only a first run that can have the verdict says what holds alone.
    let is_asked = |vote: &&&Vote| {
        vote.headline.verdict.is_some() && (is_own(vote) || vote.headline.is_damaged == is_damaged)
    };
    if votes.iter().all(|vote| vote.headline.verdict.is_none()) {
        return votes.first().copied();
    }
    let votes: Vec<&'a Vote> = votes.iter().filter(is_asked).copied().collect();
    let all: BTreeSet<&str> = votes.iter().flat_map(|vote| claims(vote)).collect();
    let holds = |claim: &&str| {
        // Who did not judge a use does not say so of it: else three could speak for all.
        Poll::of(&votes, true, |vote| claims(vote).any(|it| it == *claim)).holds
    };
    let held: BTreeSet<&str> = all.into_iter().filter(holds).collect();
    if let Some(newest) = votes.iter().rev().find(|vote| is_own(vote)) {
        return Some(newest);
    }
    let believed = votes.into_iter().filter(|vote| claims(vote).all(|it| held.contains(it)));
    let agrees = |vote: &Vote| {
        figures
            .iter()
            .all(|(figure, line)| vote.value(*figure).is_none_or(|it| agree(line.median, it)))
    };
    // Of equals the last, which is the oldest.
    believed.rev().max_by_key(|vote| (agrees(vote), claims(vote).count()))
}

/// Faults and levels of uses that a run names.
fn claims(vote: &Vote) -> impl Iterator<Item = &str> {
    vote.headline.faults.iter().chain(&vote.headline.levels).map(String::as_str)
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
        ..HostSpread::default()
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
