//! One figure of many senders: each has one voice, however many runs, hosts or copies it sends, and
//! voices that lie far from where most are do not move it.
//!
//! The voices for a figure are put in order; the [`WINDOW`] in which most of them lie holds those
//! that agree, and the figure is their median. A slow reader or board holds a medium back and never
//! makes it faster, so of several windows with enough voices the fastest is taken. As long as less
//! than three voices in ten are lies, the window is that of the honest ones
//! (`cargo validation liars`).

use std::collections::BTreeMap;

use record::collection::{Apart, HeadlineFigure, HostSpread};

/// Figures of one medium that agree lie within this factor: a reader, a host and a card of the same
/// production differ by less (docs/field/classes.md).
pub const WINDOW: f64 = 2.25;
/// A window decides by being the fastest only with so many voices,
const ENOUGH: usize = 3;
/// and with this share of all.
const SHARE: f64 = 0.3;

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
    /// Its headline figures.
    pub figures: BTreeMap<HeadlineFigure, f64>,
}

/// What all runs of a model say together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consensus {
    /// Each figure over those that agree on it.
    pub figures: BTreeMap<HeadlineFigure, HostSpread>,
    /// The verdict of the run that lies nearest to these figures.
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
        let values: Vec<f64> = voices.iter().map(|(_, value)| *value).collect();
        let (from, to) = place(&values, figure.smaller_is_better())?;
        let (low, high) = (values[from], values[to - 1]);
        let inside = |vote: &&Vote| {
            vote.sender.is_none()
                || voices[from..to].iter().any(|(sender, _)| *sender == vote.sender.as_deref())
        };
        let runs = votes
            .iter()
            .filter(inside)
            .filter_map(|vote| Some((vote.host.as_deref(), *vote.figures.get(&figure)?)));
        let of_hosts = spread(runs)?;
        let has_senders = voices.iter().any(|(sender, _)| sender.is_some());
        let spread = HostSpread {
            // One's own runs are one voice: its figure is that of its hosts.
            median: middle(&values[from..to], |value| *value),
            senders: if has_senders { (to - from) as u64 } else { 0 },
            ..of_hosts
        };
        Some(Window { low, high, spread })
    }

    fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// The figure of each sender, rising: the median of its hosts' medians. Runs without a sender are of
/// one.
fn voices(votes: &[Vote], figure: HeadlineFigure) -> Vec<(Option<&str>, f64)> {
    let mut by_sender: BTreeMap<Option<&str>, Vec<(Option<&str>, f64)>> = BTreeMap::new();
    for vote in votes {
        if let Some(value) = vote.figures.get(&figure).filter(|value| value.is_finite()) {
            by_sender
                .entry(vote.sender.as_deref())
                .or_default()
                .push((vote.host.as_deref(), *value));
        }
    }
    let mut voices: Vec<(Option<&str>, f64)> = by_sender
        .into_iter()
        .filter_map(|(sender, runs)| Some((sender, spread(runs)?.median)))
        .collect();
    voices.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    voices
}

/// The window of those that agree, as places from and up to which in rising values. `None` where
/// there is no value.
fn place(values: &[f64], smaller_is_better: bool) -> Option<(usize, usize)> {
    let end = |from: usize| {
        from + values[from..].partition_point(|value| *value <= values[from].max(0.0) * WINDOW)
    };
    let windows: Vec<(usize, usize)> =
        (0..values.len()).map(|from| (from, end(from).max(from + 1))).collect();
    let count = |(from, to): &(usize, usize)| to - from;
    let most = windows.iter().map(count).max()?;
    let enough = ENOUGH.max((values.len() as f64 * SHARE).ceil() as usize);
    // Neighbouring windows share their voices: of each crowd the one that holds most stands for it.
    let is_crowd = |window: &&(usize, usize)| {
        let rivals = windows.iter().filter(|other| other.0 < window.1 && window.0 < other.1);
        count(window) >= enough.min(most) && rivals.map(count).max() == Some(count(window))
    };
    let mut crowds = windows.iter().filter(is_crowd);
    let chosen = if smaller_is_better { crowds.next() } else { crowds.next_back() };
    chosen.or_else(|| windows.iter().max_by_key(|window| count(window))).copied()
}

/// The verdict of the run whose figures lie nearest to these, by the mean of their logarithms. A run
/// that lacks some of them comes after those that have more: what it says may rest on little.
fn nearest(votes: &[Vote], figures: &BTreeMap<HeadlineFigure, HostSpread>) -> Option<String> {
    let rank = |vote: &Vote| {
        let logs: Vec<f64> = vote
            .figures
            .iter()
            .filter_map(|(figure, value)| Some((value / figures.get(figure)?.median).ln().abs()))
            .filter(|log| log.is_finite())
            .collect();
        (figures.len() - logs.len(), logs.iter().sum::<f64>() / logs.len().max(1) as f64)
    };
    votes
        .iter()
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
    let interfaces = |votes: &[Vote]| -> std::collections::BTreeSet<String> {
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
