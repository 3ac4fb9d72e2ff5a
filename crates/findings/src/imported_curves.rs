//! Findings from listings of other tools, for tests that Flashmark does in another way: `flashbench
//! --open-au` (docs/field/allocation-units.md#open-units) and sweeps of dd over block sizes
//! (docs/field/allocation-units.md#write-unit).

use std::collections::BTreeMap;

use record::units::KIB;
use record::{Cell, Content, Finding, Record, metric, test};

use crate::figure::{self, UsableEstimate, size};
use crate::finding_builder::FindingBuilder;
use crate::{likelihood, usability, write_unit};

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
            .surely(confidence)
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
    let sizes = points
        .iter()
        .map(|(block, ns)| format!("{} takes {}", size(*block), record::units::Nanos(*ns as u64)));
    Some(
        FindingBuilder::info("write-unit", statement)
            .notes(sizes)
            .note(format!("{quality}; dd wrote zeros, which a medium may leave out"))
            .note("docs/field/allocation-units.md#write-unit")
            .surely(confidence)
            .done(),
    )
}

#[cfg(test)]
mod tests {
    use record::Flag;
    use record::units::MIB;

    use super::*;
    use crate::testing::{cell, record_of};

    /// A listing with these rates, as shares of 10 MB/s, of 1, 2, .. units in turn.
    fn rows(test: &str, shares: &[f64]) -> Vec<Cell> {
        let of_count = |(n, share): (u32, &f64)| {
            SIZES.map(|block| {
                let mut row = cell(test, 1, block);
                row.params.form = Some("linear".to_owned());
                row.params.other.insert("n_aus".to_owned(), f64::from(n));
                // Sizes differ a little, as they do.
                let bps = share * 1e7 * (1.0 + block as f64 / MIB as f64 / 10.0);
                row.metrics.bps = Some(record::Estimate { value: bps, ci95: None, n: 1 });
                row
            })
        };
        (1..).zip(shares).flat_map(of_count).collect()
    }

    fn statements(record: &Record) -> Vec<(String, Option<f64>)> {
        conclude(record).into_iter().map(|found| (found.statement, found.confidence)).collect()
    }

    fn of(shares: &[f64]) -> (String, Option<f64>) {
        let mut found = statements(&record_of(rows(OPEN_AU, shares)));
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    #[test]
    fn a_cliff_tells_how_many_are_open() {
        let (statement, sure) = of(&[1.0, 0.95, 0.94, 0.05, 0.05, 0.04]);
        assert_eq!(
            statement,
            "It keeps 3 erase blocks open: writing to more in turn is 21x slower."
        );
        assert!(sure.is_some_and(|sure| sure > 0.99), "{sure:?}");
        let (statement, _) = of(&[1.0, 0.1, 0.1]);
        assert!(statement.starts_with("It keeps 1 erase block open:"), "{statement}");
    }

    #[test]
    fn the_cliff_is_two_fifths_and_none_is_half() {
        let at = |share: f64| of(&[1.0, 1.0, share, share]).0;
        assert!(at(0.39).starts_with("It keeps 2 erase blocks open"));
        assert!(at(0.41).starts_with("Cannot be told here: how many erase blocks it keeps open."));
        assert_eq!(at(0.51), "No limit of open erase blocks is visible up to 4 in turn.");
    }

    /// Card 14 of the survey of microSD cards falls little by little.
    #[test]
    fn a_slope_is_no_cliff() {
        let (statement, sure) = of(&[1.0, 0.74, 0.54, 0.69, 0.57, 0.48, 0.42]);
        assert_eq!(statement, "No limit of open erase blocks is visible up to 7 in turn.");
        assert_eq!(sure, None);
        assert!(of(&[1.0, 0.3, 0.1, 0.03, 0.01]).0.starts_with("Cannot be told here"));
    }

    #[test]
    fn too_few_counts_tell_nothing() {
        assert!(
            of(&[1.0, 0.1])
                .0
                .ends_with("The listing has no rates for one and at least two more counts.")
        );
        let mut without_one = rows(OPEN_AU, &[1.0, 1.0, 0.1, 0.1]);
        without_one.retain(|row| row.params.other["n_aus"] > 1.0);
        assert!(statements(&record_of(without_one))[0].0.starts_with("Cannot be told here"));
    }

    #[test]
    fn nothing_is_said_beside_our_own_search_or_through_a_cache() {
        let mut both = rows(OPEN_AU, &[1.0, 1.0, 0.1, 0.1]);
        both.extend(rows(test::OPEN_AUS, &[1.0]));
        assert_eq!(statements(&record_of(both)), []);
        let mut cached = record_of(rows(OPEN_AU, &[1.0, 1.0, 0.1, 0.1]));
        cached.flags.push(Flag::HostCached);
        assert_eq!(statements(&cached), []);
    }

    /// 0.5 ms and 50 MB/s in whole units of 16 KiB.
    #[test]
    fn a_sweep_of_dd_shows_the_unit_of_writing() {
        let sweep = |tool: &str| {
            let rows = (0..7u32).map(|power| {
                let block = (4 * KIB) << power;
                let mut row = cell(test::SEQUENTIAL_WRITE, 1, block);
                row.params.content = Some(Content::Zeros);
                row.labels.insert("tool".to_owned(), tool.to_owned());
                let seconds = 0.5e-3 + (block.div_ceil(16 * KIB) * 16 * KIB) as f64 / 50e6;
                let bps = block as f64 / seconds;
                row.metrics.bps = Some(record::Estimate { value: bps, ci95: None, n: 1 });
                row
            });
            statements(&record_of(rows.collect()))
        };
        assert_eq!(
            sweep("dd")[0].0,
            "It programs 16 KiB at once: smaller sequential writes cost extra time and wear."
        );
        assert_eq!(sweep("fio"), []);
    }
}
