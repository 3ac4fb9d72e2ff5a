//! Findings from listings of other tools, for tests that Flashmark does in another way: `flashbench
//! --open-au` (docs/field/allocation-units.md#open-units) and sweeps of dd over block sizes
//! (docs/field/allocation-units.md#write-unit).

use std::collections::BTreeMap;

use record::units::KIB;
use record::{Cell, Content, Finding, Record, metric, test};

use crate::conclusions::geometry::write_unit;
use crate::figures::figure::{self, UsableEstimate, size};
use crate::figures::{likelihood, usability};
use crate::finding_builder::FindingBuilder;

/// Name that the importer gives to rows of `flashbench --open-au`.
const OPEN_AU: &str = "flashbench:open-au";
/// Block sizes that are evaluated, similar to those of Flashmark's own search.
const SIZES: [u64; 3] = [32 * KIB, 64 * KIB, 128 * KIB];
/// Largest ratio of rates for a cliff, as in Flashmark's own search without latencies.
const CLIFF: f64 = 0.4;
/// Ratio from which on there is no cliff; between both it is undecided.
const NO_CLIFF: f64 = 0.5;
/// Least probability for the position of the cliff.
const SURE: f64 = 0.9;

/// `open-units` and `write-unit` from imported listings. Empty if a Flashmark test measured it, or
/// if the page cache was in between.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    if record.medium.rotational == Some(true) || usability::is_host_cached(record) {
        return Vec::new();
    }
    let has_own = figure::cells(record, test::OPEN_AUS).next().is_some();
    let open_units = if has_own { None } else { open_units(record) };
    open_units.into_iter().chain(dd_write_unit(record)).collect()
}

/// Write rates in bytes per second, by number of units written in turn and block size.
type Listing = BTreeMap<u64, BTreeMap<u64, f64>>;

fn listing(record: &Record, form: &str) -> Listing {
    let mut sums: BTreeMap<(u64, u64), (f64, f64)> = BTreeMap::new();
    let of_form = |cell: &&Cell| cell.params.form.as_deref().unwrap_or("linear") == form;
    for cell in figure::cells(record, OPEN_AU).filter(of_form) {
        let units = cell.params.other.get("n_aus").filter(|n| **n >= 1.0);
        let block = cell.params.block_bytes.filter(|block| SIZES.contains(block));
        if let (Some(units), Some(block), Some(rate)) =
            (units, block, UsableEstimate::of(cell, metric::BPS))
        {
            let sum = sums.entry((*units as u64, block)).or_default();
            *sum = (sum.0 + rate.value, sum.1 + 1.0);
        }
    }
    let mut listing = Listing::new();
    for ((units, block), (sum, n)) in sums {
        listing.entry(units).or_default().insert(block, sum / n);
    }
    listing
}

/// Logarithms of the ratio of the rate with several units in turn to that with one, for each count
/// and block size.
fn ratios(listing: &Listing) -> Option<Vec<(u64, Vec<f64>)>> {
    let one = listing.get(&1)?;
    let of_count = |(units, rates): (&u64, &BTreeMap<u64, f64>)| {
        let ratio = |(block, rate): (&u64, &f64)| Some((rate / one.get(block)?).ln());
        (*units, rates.iter().filter_map(ratio).collect())
    };
    let ratios: Vec<(u64, Vec<f64>)> = listing.iter().map(of_count).collect();
    (ratios.len() >= 3 && ratios.iter().all(|(_, logs)| !logs.is_empty())).then_some(ratios)
}

/// Two levels of rates: index of the first count of the lower one, ratio of the levels, and
/// probability of this position among all.
fn cliff(ratios: &[(u64, Vec<f64>)]) -> Option<(usize, f64, f64)> {
    let level = |part: &[(u64, Vec<f64>)]| -> (f64, f64) {
        let logs: Vec<f64> = part.iter().flat_map(|(_, logs)| logs.iter().copied()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        (mean, logs.iter().map(|log| (log - mean).powi(2)).sum())
    };
    let n = ratios.iter().map(|(_, logs)| logs.len()).sum();
    let fits: Vec<(f64, f64)> = (1..ratios.len())
        .map(|first| {
            let ((before, error), (after, rest)) =
                (level(&ratios[..first]), level(&ratios[first..]));
            ((after - before).exp(), error + rest)
        })
        .collect();
    let errors: Vec<f64> = fits.iter().map(|(_, error)| *error).collect();
    let weights = likelihood::weights(&errors, n, 2);
    let best = (0..fits.len()).min_by(|a, b| errors[*a].total_cmp(&errors[*b]))?;
    Some((best + 1, fits[best].0, weights[best]))
}

fn open_units(record: &Record) -> Option<Finding> {
    let linear = listing(record, "linear");
    let (order, listing) = if linear.is_empty() {
        (" in random order", listing(record, "random"))
    } else {
        ("", linear)
    };
    let most = *listing.keys().next_back()?;
    let evidence = listing.iter().map(|(units, rates)| {
        let rates: Vec<String> = rates
            .iter()
            .map(|(block, bps)| {
                format!("{} at {}", record::units::BytesPerSecond(*bps), size(*block))
            })
            .collect();
        format!("{units} in turn: {}", rates.join(", "))
    });
    let found = ratios(&listing).and_then(|ratios| {
        let (first, ratio, confidence) = cliff(&ratios)?;
        Some((ratios[first - 1].0, ratios[first].0, ratio, confidence))
    });
    let (statement, confidence) = conclusion(order, most, found);
    Some(
        FindingBuilder::info("open-units", statement)
            .notes(evidence)
            .note("a listing of flashbench: two levels of rates; threshold 0.4 of the upper one")
            .note("docs/field/allocation-units.md#open-units")
            .with_confidence(confidence)
            .done(),
    )
}

/// Statement and confidence. `found` has the last count before the lower level, the first of it,
/// the ratio of both and its probability.
fn conclusion(
    order: &str,
    most: u64,
    found: Option<(u64, u64, f64, f64)>,
) -> (String, Option<f64>) {
    let no = |why: String| {
        (format!("Cannot be told here: how many erase blocks it keeps open{order}. {why}"), None)
    };
    match found {
        None => no("The listing has no rates for one and at least two more counts.".to_owned()),
        Some((open, first, ratio, sure)) if ratio < CLIFF && sure >= SURE => {
            let count = if first == open + 1 {
                open.to_string()
            } else {
                format!("{open} to {}", first - 1)
            };
            let unit = if count == "1" { "erase block" } else { "erase blocks" };
            let statement = format!(
                "It keeps {count} {unit} open{order}: writing to more in turn is {} slower.",
                figure::times(1.0 / ratio)
            );
            (statement, Some(sure))
        }
        Some((_, _, ratio, _)) if ratio > NO_CLIFF => {
            (format!("No limit of open erase blocks{order} is visible up to {most} in turn."), None)
        }
        Some(_) => no("The rates fall, but not at one count.".to_owned()),
    }
}

/// `write-unit` from a sweep of dd, which writes zeros; Flashmark's own test does not.
fn dd_write_unit(record: &Record) -> Option<Finding> {
    let is_of_dd = |cell: &&Cell| {
        cell.label("tool").starts_with("dd") && cell.params.content == Some(Content::Zeros)
    };
    let mut points: BTreeMap<u64, f64> = BTreeMap::new();
    for cell in figure::cells(record, test::SEQUENTIAL_WRITE).filter(is_of_dd) {
        let block = cell.params.block_bytes.filter(|block| *block <= 256 * KIB);
        if let (Some(block), Some(rate)) = (block, UsableEstimate::of(cell, metric::BPS)) {
            points.entry(block).or_insert(block as f64 / rate.value * 1e9);
        }
    }
    let points: Vec<(u64, f64)> = points.into_iter().collect();
    let fit = write_unit::fit_unit(&points)?;
    let quality = format!("relative error {} %", record::units::significant(fit.error * 100.0));
    let (statement, confidence) = if fit.confidence >= SURE {
        let unit = size(fit.unit_bytes);
        (
            format!(
                "It programs {unit} at once: smaller sequential writes cost extra time and wear."
            ),
            Some(fit.confidence),
        )
    } else {
        (
            "Cannot be told here: in which unit it programs. No size fits best by far.".to_owned(),
            None,
        )
    };
    let sizes = points.iter().map(|(block, ns)| {
        format!("{} takes {}", size(*block), record::units::quantity("_ns", *ns))
    });
    Some(
        FindingBuilder::info("write-unit", statement)
            .notes(sizes)
            .note(format!("{quality}; dd wrote zeros, which a medium may leave out"))
            .note("docs/field/allocation-units.md#write-unit")
            .with_confidence(confidence)
            .done(),
    )
}
