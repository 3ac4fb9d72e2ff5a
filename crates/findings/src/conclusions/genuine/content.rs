//! Controllers that compress or recognise data, for which a benchmark that writes zeros is
//! misleading (docs/field/cheats.md#cheats-and-caches).

use record::{Cell, Content, Finding, Record, SeriesAxis, metric, test};

use crate::figures::figure::{self, Ratio, UsableEstimate};
use crate::figures::levels::levels;
use crate::figures::usability;
use crate::finding_builder::FindingBuilder;

/// Ratio from which on easy data is faster than incompressible data not by accident
/// (docs/field/cheats.md#cheats-and-caches).
const TELLING: f64 = 1.15;
/// Largest ratio that order and wear can explain: the interval must be above it.
const AT_LEAST: f64 = 1.05;

/// Comparison of the same writes with different data.
#[derive(Clone)]
struct ContentPair<'a> {
    easy: UsableEstimate<'a>,
    hard: UsableEstimate<'a>,
    ratio: Ratio,
    /// Ratio that the interval must be above.
    least: f64,
    /// True if the ratio is that of the medians and not of the rates.
    is_of_medians: bool,
}

impl<'a> ContentPair<'a> {
    fn of(easy: &'a Cell, hard: &'a Cell) -> Option<ContentPair<'a>> {
        let metric = if figure::UsableEstimate::of(easy, metric::BPS).is_some() {
            metric::BPS
        } else {
            metric::IOPS
        };
        let typical = ContentPair::typical(easy, hard);
        let (easy, hard) = (UsableEstimate::of(easy, metric)?, UsableEstimate::of(hard, metric)?);
        let mean = Ratio::of(&easy, &hard);
        // Occasional merges of allocation units, independent of the data, move means but not
        // medians.
        let typical =
            typical.filter(|typical| typical.value >= TELLING && typical.is_above(AT_LEAST));
        let is_of_medians = typical.is_some();
        let (ratio, least) = typical.map_or((mean, TELLING), |typical| (typical, AT_LEAST));
        Some(ContentPair { easy, hard, ratio, least, is_of_medians })
    }

    /// Ratio of the median time of hard writes to that of easy ones, with its interval.
    fn typical(easy: &Cell, hard: &Cell) -> Option<Ratio> {
        let median = |cell: &Cell| {
            let latency = cell.metrics.latency_ns.as_ref()?;
            let [low, high] = latency.ci95.get("p50").copied().filter(|[low, _]| *low > 0)?;
            latency.p50.map(|ns| (ns as f64, (high as f64 / low as f64).ln() / 2.0))
        };
        let ((easy, easy_half), (hard, hard_half)) = (median(easy)?, median(hard)?);
        let (value, factor) = (hard / easy, easy_half.hypot(hard_half).exp());
        Some(Ratio { value, ci95: Some([value / factor, value * factor]) })
            .filter(|ratio| ratio.value.is_finite())
    }

    /// Both rates, the basis of the ratio or in addition to it.
    fn rates(&self) -> String {
        let lead = if self.is_of_medians { ", by the median write; on average" } else { ":" };
        format!("{lead} {} against {}", self.easy.with_interval(), self.hard.with_interval())
    }

    /// True if one kind of data is certainly not faster than the other.
    fn is_equal(&self) -> bool {
        self.ratio.ci95.is_some_and(|[_, high]| high < TELLING)
    }

    fn is_significant(&self) -> bool {
        self.ratio.value >= TELLING && self.ratio.is_above(self.least)
    }
}

/// The findings `compression`, `repeats-recognised` and `equal-rewrites-skipped`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    [compression(record), repeats(record), rewrites(record)].into_iter().flatten().collect()
}

/// True if a fill went on as fast as it began: if it got hot or filled a cache, it says nothing
/// about the data. Other cells are too short for that.
fn is_of_one_level(cell: &Cell) -> bool {
    !is_fill(cell)
        || cell
            .series
            .iter()
            .filter(|series| series.y == SeriesAxis::Bps)
            .all(|series| levels(series).len() <= 1)
}

/// Pairs of cells that differ only in content: (easy, incompressible).
fn pairs(record: &Record, is_easy: fn(Content) -> bool) -> Vec<ContentPair<'_>> {
    let is_hard = |cell: &&Cell| {
        cell.params.content == Some(Content::Incompressible)
            && cell.params.form.as_deref() != Some("rewrite-equal")
    };
    let is_rewrite = |cell: &Cell| cell.params.form.as_deref() == Some("rewrite-new");
    // New data over other data is as hard: it comes last, for when host stalls exclude the others.
    let (last, first): (Vec<_>, Vec<_>) =
        usability::cells(record).filter(is_hard).partition(|cell| is_rewrite(cell));
    let all_hard: Vec<&Cell> = first.into_iter().chain(last).collect();
    usability::cells(record)
        .filter(|cell| cell.params.content.is_some_and(is_easy))
        .flat_map(|easy| {
            let alike =
                all_hard.iter().copied().filter(move |hard| differ_in_content_alone(easy, hard));
            // Of fills that repeat each has its own counterpart.
            let before = usability::cells(record).take_while(|cell| cell.id != easy.id);
            let nth = before.filter(|cell| is_fill(easy) && cell.test == easy.test).count();
            let many = if is_fill(easy) { 1 } else { usize::MAX };
            alike.skip(nth).take(many).map(move |hard| (easy, hard))
        })
        .filter(|(easy, hard)| {
            [*easy, *hard].into_iter().all(is_of_one_level)
                && !is_faster_in_smaller_blocks(hard, &all_hard)
        })
        .filter_map(|(easy, hard)| ContentPair::of(easy, hard))
        .collect()
}

fn is_fill(cell: &Cell) -> bool {
    [test::ZERO_FILL, test::RANDOM_FILL].contains(&cell.test.as_str())
}

fn differ_in_content_alone(easy: &Cell, hard: &Cell) -> bool {
    let counterpart =
        if easy.test == test::ZERO_FILL { test::RANDOM_FILL } else { easy.test.as_str() };
    let (a, b) = (&easy.params, &hard.params);
    hard.test == counterpart
        && (a.direction, a.pattern, a.block_bytes, a.region, a.threads, a.queue_depth)
            == (b.direction, b.pattern, b.block_bytes, b.region, b.threads, b.queue_depth)
        && (easy.test == test::CONTENT_SWEEP || a.form == b.form)
}

/// The pair with the largest ratio. If data is not faster in large blocks, it is not faster in
/// smaller ones written in the same way: such a pair shows a change of the medium's state between
/// its cells.
fn strongest(pairs: Vec<ContentPair<'_>>) -> Option<ContentPair<'_>> {
    let params =
        |pair: &ContentPair<'_>| (pair.easy.cell.params.pattern, pair.easy.cell.params.block_bytes);
    let equal: Vec<_> = pairs.iter().filter(|pair| pair.is_equal()).map(params).collect();
    let is_refuted = |pair: &ContentPair<'_>| {
        let (pattern, bytes) = params(pair);
        equal.iter().any(|(other, of_bytes)| *other == pattern && *of_bytes >= bytes)
    };
    let counts = |pair: &&ContentPair<'_>| pair.is_significant() && !is_refuted(pair);
    let is_slower_again = |pair: &&ContentPair<'_>| {
        pairs
            .iter()
            .filter(|other| other.easy.cell.id == pair.easy.cell.id)
            .all(|pair| counts(&pair))
    };
    let told: Vec<_> = pairs.iter().filter(is_slower_again).collect();
    // A cache that fills, or rare merges, make one contrast, and not the same one again.
    (told.len() > 1)
        .then(|| told.into_iter().max_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value)))?
        .cloned()
}

/// True if the same data was faster in smaller blocks: larger ones are never slower, so the medium
/// had changed before this cell.
fn is_faster_in_smaller_blocks(cell: &Cell, sweep: &[&Cell]) -> bool {
    let rate = |cell| UsableEstimate::of(cell, metric::BPS).map_or(0.0, |figure| figure.value);
    let is_smaller = |other: &Cell| {
        let (a, b) = (&cell.params, &other.params);
        other.test == cell.test
            && (a.direction, a.pattern, a.region, a.threads, a.queue_depth, &a.form)
                == (b.direction, b.pattern, b.region, b.threads, b.queue_depth, &b.form)
            && b.block_bytes < a.block_bytes
    };
    sweep.iter().any(|other| is_smaller(other) && rate(other) >= TELLING * rate(cell))
}

fn finding(id: &str, pair: &ContentPair, statement: String) -> Finding {
    FindingBuilder::warning(id, statement)
        .figures([&pair.easy, &pair.hard])
        .note(&pair.ratio)
        .note(format!("threshold {TELLING}x (docs/field/cheats.md#cheats-and-caches)"))
        .with_confidence(pair.ratio.above(AT_LEAST))
        .done()
}

fn compression(record: &Record) -> Option<Finding> {
    let pair =
        strongest(pairs(record, |content| matches!(content, Content::Zeros | Content::Byte(_))))?;
    let statement = format!(
        "Zeros are written {} faster than incompressible data{}. The controller compresses or recognises them. Tools that write zeros overstate it for pictures, video and archives.",
        figure::times(pair.ratio.value),
        pair.rates()
    );
    Some(finding("compression", &pair, statement))
}

fn repeats(record: &Record) -> Option<Finding> {
    let pair = strongest(pairs(record, |content| content == Content::Repeated))?;
    let statement = format!(
        "A repeated block is written {} faster than blocks that differ{}. The controller recognises repeated data.",
        figure::times(pair.ratio.value),
        pair.rates()
    );
    Some(finding("repeats-recognised", &pair, statement))
}

/// Comparison of rewriting the data that is already there with writing new data, before it and after
/// it.
fn rewrites(record: &Record) -> Option<Finding> {
    let form = |form| figure::form(record, test::CONTENT_SWEEP, form);
    let equal = form("rewrite-equal")?;
    let pair = |new| ContentPair::of(equal, form(new)?).filter(ContentPair::is_significant);
    let (pair, _) = (pair("rewrite-new")?, pair("incompressible")?);
    let statement = format!(
        "Rewriting the same data is {} faster than writing new data: the controller skips equal data.",
        figure::times(pair.ratio.value)
    );
    Some(finding("equal-rewrites-skipped", &pair, statement))
}
