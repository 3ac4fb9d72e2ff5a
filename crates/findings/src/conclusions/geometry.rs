//! Internal units: the allocation unit and the page by read timing
//! (docs/field/allocation-units.md#size-from-reads), cross-checked with the declared values in the
//! registers (docs/field/allocation-units.md#declared-size). Writes show the other units:
//! [`open_aus`] and [`write_unit`].

pub(crate) mod misalignment;
pub(crate) mod open_aus;
pub(crate) mod write_unit;

use record::units::{GIB, KIB, MIB, quantity};
use record::{Evidence, EvidenceNumber, Finding, Record, SeriesAxis, test};

use crate::figures::figure::{self, size};
use crate::figures::likelihood;
use crate::finding_builder::FindingBuilder;

/// Least size of an allocation unit in the search.
const SMALLEST: f64 = (16 * KIB) as f64;
const LARGEST: f64 = (96 * MIB) as f64;
/// Least size of real allocation units (docs/field/allocation-units.md#known-sizes); a step below
/// that is due to pages.
const SMALLEST_AU: u64 = 128 * KIB;
/// Least significant step, in ns (docs/field/allocation-units.md#size-from-reads).
const STEP_NS: f64 = 25_000.0;

/// Two levels fitted to the read times across boundaries of each size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// The first size of the upper level, in bytes.
    pub size_bytes: u64,
    /// Extra time of a read across a boundary of a smaller size, in nanoseconds.
    pub low_ns: f64,
    /// Extra time of a read across a boundary of this size or larger, in nanoseconds.
    pub high_ns: f64,
    /// Residual standard deviation, in nanoseconds.
    pub residual_ns: f64,
    /// Probability of this size among all, from the residuals.
    pub confidence: f64,
}

impl Levels {
    /// True if the step is large enough (docs/field/allocation-units.md#size-from-reads, validated
    /// on 48 listings of microSD cards).
    pub fn is_visible(&self) -> bool {
        self.high_ns - self.low_ns > STEP_NS.max(3.0 * self.residual_ns)
            && self.high_ns > 1.25 * self.low_ns
    }
}

/// Fits the allocation unit to points: size in bytes, and extra time in ns of a read across a
/// boundary of that size. A boundary of size s is one between units if the unit divides s, so each
/// candidate predicts which sizes are slow. Sizes that are not a multiple of a page cross nothing;
/// pages of up to 64 KiB are tried with each candidate. `None` with less than six sizes.
pub fn fit_levels(points: &[[f64; 2]]) -> Option<Levels> {
    let mut points: Vec<(u64, f64)> = points
        .iter()
        .filter(|[size, diff]| (SMALLEST..=LARGEST).contains(size) && diff.is_finite())
        .map(|[size, diff]| (*size as u64, *diff))
        .collect();
    points.sort_by_key(|(size, _)| *size);
    points.dedup_by_key(|(size, _)| *size);
    if points.len() < 6 {
        return None;
    }
    // For each candidate the best-fitting page: candidates are compared with each other, not with
    // pages.
    let fits: Vec<Fit> = points
        .iter()
        .filter_map(|(candidate, _)| {
            let pages = PAGES.into_iter().filter(|page| {
                *page == PAGES[0] || (page < candidate && candidate.is_multiple_of(*page))
            });
            pages
                .filter_map(|page| levels(&points, page, *candidate))
                .min_by(|a, b| a.error.total_cmp(&b.error))
        })
        .collect();
    let errors: Vec<f64> = fits.iter().map(|fit| fit.error).collect();
    let weights = likelihood::weights(&errors, points.len(), 3);
    let best = (0..fits.len()).min_by(|a, b| errors[*a].total_cmp(&errors[*b]))?;
    let Fit { size_bytes, low_ns, high_ns, error, .. } = fits[best];
    let residual_ns = (error / (points.len() - 2) as f64).sqrt();
    Some(Levels { size_bytes, low_ns, high_ns, residual_ns, confidence: weights[best] })
}

/// Page sizes that are tried; the first is smaller than any size and leaves none out. A larger page
/// could not be distinguished from a small allocation unit.
const PAGES: [u64; 4] = [8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB];

/// A candidate for the allocation unit.
#[derive(Clone, Copy, Debug)]
struct Fit {
    size_bytes: u64,
    low_ns: f64,
    high_ns: f64,
    error: f64,
}

/// Mean times of the sizes that are not a multiple of the page, of multiples of the page, and of
/// multiples of the candidate, with the squared error. `None` unless the last two exist and each
/// level is higher than the one before.
fn levels(points: &[(u64, f64)], page: u64, candidate: u64) -> Option<Fit> {
    let mut parts: [Vec<f64>; 3] = Default::default();
    for (size, diff) in points {
        let part =
            if size.is_multiple_of(candidate) { 2 } else { usize::from(size.is_multiple_of(page)) };
        parts[part].push(*diff);
    }
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let error: f64 = parts
        .iter()
        .map(|part| part.iter().map(|diff| (diff - mean(part)).powi(2)).sum::<f64>())
        .sum();
    let [none, low, high] =
        [&parts[0], &parts[1], &parts[2]].map(|part| (!part.is_empty()).then(|| mean(part)));
    let (low_ns, high_ns) = low.zip(high)?;
    (low_ns < high_ns && none.is_none_or(|none| none < low_ns)).then_some(Fit {
        size_bytes: candidate,
        low_ns,
        high_ns,
        error,
    })
}

/// Least step of a page in residuals, and least number of sizes on either side: with six candidates
/// on ten noisy points one fits by chance.
const PAGE_RESIDUALS: f64 = 5.0;
const PAGE_SIDE: usize = 2;

/// The page (or the pages programmed at once). It is the power of two up to 128 KiB that best
/// divides the sizes below the allocation unit into two groups: reads across a boundary cost next
/// to nothing, or at least 25 us, five residuals and 1.5 times more
/// (docs/field/allocation-units.md#size-from-reads).
pub fn fit_page(points: &[[f64; 2]]) -> Option<u64> {
    let visible =
        fit_levels(points).filter(|levels| levels.is_visible() && levels.size_bytes >= SMALLEST_AU);
    let au = visible.map_or(LARGEST as u64, |levels| levels.size_bytes);
    let known = points
        .iter()
        .filter(|[size, diff]| *size >= 1.0 && diff.is_finite())
        .map(|[size, diff]| (*size as u64, *diff));
    // Every other boundary of three pages is one of two pages: powers of two are more distinctive.
    let inside: Vec<(u64, f64)> =
        known.filter(|(size, _)| size.is_power_of_two() && !size.is_multiple_of(au)).collect();
    let below = |page: u64| inside.iter().filter(|(size, _)| *size < page).count();
    let two_sided =
        |page: &u64| below(*page) >= PAGE_SIDE && inside.len() - below(*page) >= PAGE_SIDE;
    let candidates = std::iter::successors(Some(4 * KIB), |size| Some(size * 2))
        .take_while(|size| *size <= 128 * KIB);
    // All are multiples of one: there is no third level.
    let fits = candidates.filter(two_sided).filter_map(|page| levels(&inside, 1, page));
    let best = fits.min_by(|a, b| a.error.total_cmp(&b.error))?;
    let residual_ns = (best.error / inside.len().saturating_sub(2).max(1) as f64).sqrt();
    let step_ns = best.high_ns - best.low_ns;
    let stands_out =
        step_ns > STEP_NS.max(PAGE_RESIDUALS * residual_ns) && best.high_ns > 1.5 * best.low_ns;
    (inside.len() >= 6 && stands_out).then_some(best.size_bytes)
}

/// The points of the series of read times across boundaries.
fn align_points(record: &Record) -> Option<(&record::Cell, &[[f64; 2]])> {
    figure::cells(record, test::ALIGN_READ).find_map(|cell| {
        let diff = cell
            .series
            .iter()
            .find(|series| series.name == "diff" && series.x == SeriesAxis::OffsetBytes)?;
        Some((cell, diff.points.as_slice()))
    })
}

/// The allocation unit measured by reads.
fn measured_au(record: &Record) -> Option<Levels> {
    let (_, points) = align_points(record)?;
    fit_levels(points).filter(|levels| levels.is_visible() && levels.size_bytes >= SMALLEST_AU)
}

/// The allocation unit in bytes: measured, else declared.
pub(crate) fn au_bytes(record: &Record) -> Option<u64> {
    let declared = record.medium.au_bytes.or_else(|| record.medium.classes.as_ref()?.au_bytes);
    // Declared values outside this range are not units.
    measured_au(record)
        .map(|levels| levels.size_bytes)
        .or(declared.filter(|bytes| (16 * KIB..=GIB).contains(bytes)))
}

/// The page in bytes, measured by reads.
pub(crate) fn page_bytes(record: &Record) -> Option<u64> {
    fit_page(align_points(record)?.1)
}

/// The findings `allocation-unit` and `page`, from the reads of `align-read`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    // A disk's platters have no such units.
    let Some((cell, points)) =
        align_points(record).filter(|_| record.medium.rotational != Some(true))
    else {
        return Vec::new();
    };
    let Some(levels) = fit_levels(points) else { return Vec::new() };
    let declared = record.medium.au_bytes.or_else(|| record.medium.classes.as_ref()?.au_bytes);
    let fit = format!(
        "a read across a boundary takes {} longer below {} and {} longer from there on (residual {})",
        signed(levels.low_ns),
        size(levels.size_bytes),
        signed(levels.high_ns),
        signed(levels.residual_ns)
    );
    let visible = levels.is_visible() && levels.size_bytes >= SMALLEST_AU;
    let statement = match (visible, declared) {
        (true, None) => format!("Its erase block (allocation unit) is {}.", size(levels.size_bytes)),
        (true, Some(declared)) if declared == levels.size_bytes => {
            format!("Its erase block (allocation unit) is {}, as its registers declare.", size(declared))
        }
        (true, Some(declared)) if declared.is_multiple_of(levels.size_bytes) => format!(
            "Reads show an erase block of {}; the registers declare an allocation unit of {}, a multiple. Align to the larger one.",
            size(levels.size_bytes),
            size(declared)
        ),
        (true, Some(declared)) => format!(
            "Reads show an erase block of {}, but the registers declare an allocation unit of {}: one is wrong, or the declared one is not physical.",
            size(levels.size_bytes),
            size(declared)
        ),
        (false, Some(declared)) => format!("The erase block does not show in read times; the registers declare an allocation unit of {}.", size(declared)),
        (false, None) if 3.0 * levels.residual_ns > STEP_NS => format!(
            "Whether it has an erase block cannot be told from its reads: their times scatter by {}.",
            quantity("_ns", levels.residual_ns)
        ),
        (false, None) => {
            "The erase block does not show in read times: the controller maps pages, or is fast enough to hide it.".to_owned()
        }
    };
    let confidence = visible.then_some(levels.confidence);
    let au = FindingBuilder::info("allocation-unit", statement).note(Evidence::on(cell, fit));
    let au = if visible {
        au.note(EvidenceNumber::new("au_bytes", levels.size_bytes as f64))
    } else {
        au
    };
    let mut findings = vec![
        au.note("two levels; threshold: a step of 25 µs, of 3 residuals and of 25 % (docs/field/allocation-units.md#size-from-reads)")
            .with_confidence(confidence)
            .done(),
    ];
    if let Some(page) = fit_page(points) {
        let statement = format!(
            "Its page, or the pages it programs at once, is {}: a smaller write takes as long as one of that size.",
            size(page)
        );
        findings.push(
            FindingBuilder::info("page", statement)
                .note(EvidenceNumber::new("page_bytes", page as f64))
                .note("docs/field/allocation-units.md#size-from-reads")
                .done(),
        );
    }
    findings
}

/// A time that may be negative by chance, in words.
fn signed(ns: f64) -> String {
    let sign = if ns < 0.0 { "-" } else { "" };
    format!("{sign}{}", quantity("_ns", ns.abs()))
}

#[cfg(test)]
mod tests {
    use record::units::Bytes;

    use super::*;

    /// Points of flashbench -a: powers of two from `first` bytes on, with these differences in
    /// microseconds.
    fn powers(first: u64, diffs_us: &str) -> Vec<[f64; 2]> {
        let diffs = diffs_us.split(' ').map(|us| us.parse::<f64>().unwrap());
        diffs.enumerate().map(|(k, us)| [(first << k) as f64, us * 1e3]).collect()
    }

    /// What a medium with this unit shows at 2^k and 3*2^k, with some noise.
    fn ladder(au: u64, low_us: f64, high_us: f64) -> Vec<[f64; 2]> {
        let sizes = (11..=26).flat_map(|k| [1u64 << k, 3u64 << (k - 1)]);
        sizes
            .enumerate()
            .map(|(at, size)| {
                let level = if size % au == 0 {
                    high_us
                } else if size >= 16 * KIB {
                    low_us
                } else {
                    5.0
                };
                [size as f64, (level + [1.5, -2.0, 0.5, -1.0, 2.2][at % 5]) * 1e3]
            })
            .collect()
    }

    fn seen(points: &[[f64; 2]]) -> String {
        let levels = fit_levels(points);
        let unit = levels.filter(|levels| levels.is_visible() && levels.size_bytes >= SMALLEST_AU);
        let sure = levels.is_some_and(|levels| levels.confidence > 0.99);
        let text = |bytes: Option<u64>| bytes.map_or("none".to_owned(), |it| Bytes(it).to_string());
        let (unit, page) = (text(unit.map(|unit| unit.size_bytes)), text(fit_page(points)));
        format!("unit {unit}, page {page}{}", if sure { ", for sure" } else { "" })
    }

    fn answer(question: &str) -> String {
        let (kind, of) = question.split_once(' ').unwrap();
        let numbers = || of.split(' ').map(|it| it.parse::<f64>().unwrap()).collect::<Vec<_>>();
        let bytes = |text: &str| text.parse::<Bytes>().unwrap().0;
        match kind {
            "powers" => {
                let (first, diffs_us) = of.split_once(' ').unwrap();
                seen(&powers(bytes(first), diffs_us))
            }
            "ladder" => seen(&ladder(bytes(of), 60.0, 300.0)),
            "declared" => {
                let mut record = crate::testing::empty();
                record.medium.au_bytes = Some(bytes(of));
                format!("{:?}", au_bytes(&record))
            }
            "visible" => {
                let [low_ns, high_ns, residual_ns] = numbers()[..] else { panic!("{of}") };
                let levels =
                    Levels { size_bytes: 1, low_ns, high_ns, residual_ns, confidence: 1.0 };
                levels.is_visible().to_string()
            }
            _ => {
                let points: Vec<(u64, f64)> =
                    numbers().chunks(2).map(|two| (two[0] as u64, two[1])).collect();
                let fit = levels(&points, 16, 64).map(|fit| (fit.low_ns, fit.high_ns, fit.error));
                format!("{fit:?}")
            }
        }
    }

    #[test]
    fn reads_across_boundaries_show_the_units_of_the_rows() {
        crate::cases::check_rows("src/conclusions/geometry/rows.txt", answer);
        assert_eq!(fit_levels(&[]), None);
        assert_eq!(fit_levels(&[[f64::NAN, 1.0]; 20]), None);
    }

    #[test]
    fn the_smallest_erase_block_reported_is_128_kib() {
        let unit_of = |au: u64| {
            let mut cell = crate::testing::cell(test::ALIGN_READ, 1, 512);
            cell.series.push(record::Series {
                name: "diff".into(),
                x: SeriesAxis::OffsetBytes,
                y: SeriesAxis::LatencyNs,
                points: ladder(au, 60.0, 320.0),
            });
            let record = crate::testing::record_of(vec![cell]);
            (au_bytes(&record), conclude(&record).first().map(|found| found.statement.clone()))
        };
        let (au, statement) = unit_of(SMALLEST_AU);
        assert_eq!(au, Some(128 * KIB));
        assert_eq!(statement.as_deref(), Some("Its erase block (allocation unit) is 128 KiB."));
        assert_eq!(unit_of(SMALLEST_AU / 2).0, None);
    }
}
