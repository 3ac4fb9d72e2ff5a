//! Internal units: the allocation unit and the page by read timing
//! (docs/field/allocation-units.md#size-from-reads), cross-checked with the declared values in the
//! registers (docs/field/allocation-units.md#declared-size). Writes show the other units:
//! [`open_aus`] and [`write_unit`].

pub(crate) mod misalignment;
pub(crate) mod open_aus;
pub(crate) mod write_unit;

use record::units::{GIB, KIB, MIB, Nanos};
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
            Nanos(levels.residual_ns as u64)
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
    format!("{sign}{}", Nanos(ns.abs() as u64))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_declared_unit_counts_from_16_kib_to_1_gib() {
        let declared = |bytes| {
            let mut record = crate::testing::empty();
            record.medium.au_bytes = Some(bytes);
            au_bytes(&record)
        };
        assert_eq!([16 * KIB - 1, GIB + 1].map(declared), [None, None]);
        assert_eq!([16 * KIB, GIB].map(declared), [Some(16 * KIB), Some(GIB)]);
    }

    #[track_caller]
    fn check(points: &[[f64; 2]], au: Option<u64>, page: Option<u64>) {
        let levels = fit_levels(points);
        let seen = levels.filter(|levels| levels.is_visible() && levels.size_bytes >= SMALLEST_AU);
        assert_eq!(
            (seen.map(|levels| levels.size_bytes), fit_page(points)),
            (au, page),
            "{levels:?}"
        );
    }

    #[test]
    fn levels_seen_on_survey_cards() {
        // docs/field/allocation-units.md#size-from-reads, levels of card 2 (>= 4M 320-374, 2M..16K
        // 57-68, <= 8K < 10), 10 (233/72), 21 (445/260), 29 (only the 16K step).
        for (diffs, au, page) in [
            ("4 6 9 57 60 63 61 66 68 59 62 320 350 374 341 333", Some(4 * MIB), 16 * KIB),
            ("4 5 9 72 70 74 71 73 72 75 70 233 230 236 229 231", Some(4 * MIB), 16 * KIB),
            ("4 5 260 262 258 261 263 259 260 255 264 445 450 441 439 447", Some(4 * MIB), 8 * KIB),
            ("4 6 5 52 50 51 53 52 49 50 51 52 50 51 53 52", None, 16 * KIB),
        ] {
            check(&powers(2 * KIB, diffs), au, Some(page));
        }
    }

    #[test]
    fn a_file_in_memory_shows_nothing() {
        // flashbench -a on a loop device over a file: no flash, some negative differences.
        let diffs = "0.828 1.09 1.17 -1.737 0.134 -0.107 -1.646 1.37 0.5 -0.991 2.41 -2.22 3.11 \
                     2.69 0.267 -1.055";
        check(&powers(2 * KIB, diffs), None, None);
    }

    #[test]
    fn erase_blocks_of_three_are_distinguished_from_powers_of_two() {
        for au in
            [128 * KIB, MIB, 3 * MIB / 2, 3 * MIB, 4 * MIB, 6 * MIB, 8 * MIB, 12 * MIB, 24 * MIB]
        {
            check(&ladder(au, 60.0, 300.0), Some(au), Some(16 * KIB));
            assert!(fit_levels(&ladder(au, 60.0, 300.0)).unwrap().confidence > 0.99);
        }
    }

    #[test]
    fn too_few_or_broken_points_are_no_fit() {
        assert_eq!(fit_levels(&[]), None);
        assert_eq!(fit_levels(&[[f64::NAN, 1.0]; 20]), None);
        assert_eq!(fit_levels(&powers(16 * KIB, "1 1 1 1 1")), None);
        check(&powers(16 * KIB, &["NaN"; 12].join(" ")), None, None);
        check(&powers(16 * KIB, &["0"; 12].join(" ")), None, None);
    }

    #[test]
    fn a_step_is_visible_by_its_size_its_noise_and_its_share() {
        let visible = |low_ns: f64, high_ns: f64, residual_ns: f64| {
            let levels = Levels { size_bytes: 1, low_ns, high_ns, residual_ns, confidence: 1.0 };
            levels.is_visible()
        };
        assert!(visible(10_000.0, 35_001.0, 1.0) && !visible(10_000.0, 35_000.0, 1.0));
        assert!(visible(1_000.0, 91_001.0, 30_000.0) && !visible(1_000.0, 91_000.0, 30_000.0));
        assert!(visible(200_000.0, 250_001.0, 1.0) && !visible(200_000.0, 250_000.0, 1.0));
    }

    /// Of pages of 16 KiB and units of 64: 20 and 24 are within, 8 crosses nothing.
    #[test]
    fn levels_rise_from_what_crosses_nothing_to_units() {
        let of = |points: &[(u64, f64)]| {
            levels(points, 16, 64).map(|fit| (fit.low_ns, fit.high_ns, fit.error))
        };
        let rising = [(8, 1.0), (16, 10.0), (32, 14.0), (64, 30.0), (128, 34.0)];
        assert_eq!(of(&rising), Some((12.0, 32.0, 16.0)));
        assert_eq!(of(&[(16, 10.0), (64, 10.0)]), None);
        assert_eq!(of(&[(8, 10.0), (16, 10.0), (64, 20.0)]), None);
        assert_eq!(of(&[(16, 10.0), (64, 20.0)]), Some((10.0, 20.0, 0.0)));
        assert_eq!(of(&[(64, 20.0)]), None);
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
