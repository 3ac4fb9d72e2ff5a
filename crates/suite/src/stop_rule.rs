//! The stop rule: the precision at which a cell has been measured for long enough. A test's setting
//! `certainty` is its wanted precision, with the published value as default; the suites
//! (`suites/*.toml`) have their own.

use record::Flag;
use stats::StopRule;

use crate::spec::spec;

/// Fewest I/Os (docs/field/statistics.md#stop-rule).
const MIN_IOS: u64 = 30;

spec! {
    /// Wanted precision of a rate.
    Precision {
        /// Half the width of its interval over the rate; 0 if precision does not end the cell.
        certainty: f64,
        /// Least time in nanoseconds.
        min_ns: u64,
    }
}

impl Precision {
    /// Precision of a round of the cell: it lasts `round_ns`, with any precision.
    pub fn of_round(round_ns: u64) -> Precision {
        Precision { certainty: 1.0, min_ns: round_ns }
    }

    /// The rule of a cell that may take `allotted_ns`; the least time is no more than half of that.
    pub fn rule(self, allotted_ns: u64) -> StopRule {
        until_precise(self.certainty, self.min_ns.min(allotted_ns / 2))
    }
}

/// The stop rule of docs/field/statistics.md#stop-rule: at least `min_ns` and 30 I/Os, then a 95 %
/// confidence interval whose half-width is at most `relative_half_width` of the rate.
pub fn until_precise(relative_half_width: f64, min_ns: u64) -> StopRule {
    StopRule { min_ns, min_events: MIN_IOS, relative_half_width, max_ns: u64::MAX }
}

/// The caveat that an interval is wider than wanted, both as half-widths over the rate; `None` if
/// nothing is wanted (0).
pub(crate) fn too_wide(relative_half_width: f64, asked: f64) -> Option<Flag> {
    (asked > 0.0 && relative_half_width > asked)
        .then_some(Flag::NotConverged { relative_half_width })
}

#[cfg(test)]
mod tests {
    use record::Flag;
    use record::units::{GIB, MILLISECOND_NS};

    use crate::catalogue::testing::TestBench;

    /// Regression: suite `seeds`, whose dd has `certainty = "0%"`, had 30 flagged cells.
    #[test]
    fn where_no_certainty_is_asked_for_none_is_missed() {
        let flagged = |test: &str, certainty: &str| {
            let mut number = 0;
            let uneven = move |_: &device::Request, _| {
                number += 1;
                if number % 50 == 0 { 100 * MILLISECOND_NS } else { MILLISECOND_NS }
            };
            let asked = format!("{test} max_time=2s {certainty}");
            let ran = TestBench::raw(GIB, uneven).run(&[asked.as_str()]);
            let cells = &ran.end.cells;
            assert!(cells.iter().any(|cell| cell.metrics.iops.is_some()), "{asked}: {cells:?}");
            let is_open = |flag: &Flag| matches!(flag, Flag::NotConverged { .. });
            cells.iter().any(|cell| cell.flags.iter().any(is_open))
        };
        for test in [
            "sequential-write block=64KiB",
            "sequential-read block=64KiB",
            "random-write block=4KiB",
            "random-read block=4KiB region=front threads=1",
            "record-ops forms=raw-random-write",
            "sector-write",
            "commit form=rollback",
        ] {
            let all = |share: &str| match test.starts_with("random-write") {
                true => format!("certainty={share} slow_certainty={share}"),
                false => format!("certainty={share}"),
            };
            assert!(flagged(test, &all("0.1%")), "{test}");
            assert!(!flagged(test, &all("0%")), "{test}");
        }
    }
}
