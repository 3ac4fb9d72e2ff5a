//! The stop rule: with which precision a cell has been measured for long enough. Which precision a
//! test asks for is its setting `certainty`, with the published value as default; the suites
//! (`suites/*.toml`) ask for their own.

use record::Flag;
use stats::StopRule;

use crate::spec::spec;

/// I/Os at least (docs/field/statistics.md#stop-rule).
const LEAST_IOS: u64 = 30;

spec! {
    /// When a rate is known well enough.
    Precision {
        /// Half the width of its interval over the rate; 0 where that ends nothing.
        certainty: f64,
        /// The least time.
        min_ns: u64,
    }
}

impl Precision {
    /// How a round of the cell is measured: for so long, whatever the certainty.
    pub fn of_round(round_ns: u64) -> Precision {
        Precision { certainty: 1.0, min_ns: round_ns }
    }

    /// The rule of a cell that may take so long; the least time is no more than half of that.
    pub fn rule(self, allotted_ns: u64) -> StopRule {
        until_precise(self.certainty, self.min_ns.min(allotted_ns / 2))
    }
}

/// The stop rule of docs/field/statistics.md#stop-rule: at least `min_ns` and 30 I/Os, then a 95 %
/// confidence interval whose half-width is at most `relative_half_width` of the rate.
pub fn until_precise(relative_half_width: f64, min_ns: u64) -> StopRule {
    StopRule { min_ns, min_events: LEAST_IOS, relative_half_width, max_ns: u64::MAX }
}

/// The caveat that an interval is wider than asked for, both as half-widths over the rate; none
/// where nothing is asked for, which is 0.
pub(crate) fn too_wide(relative_half_width: f64, asked: f64) -> Option<Flag> {
    (asked > 0.0 && relative_half_width > asked)
        .then_some(Flag::NotConverged { relative_half_width })
}

#[cfg(test)]
mod tests {
    use record::Flag;
    use record::units::{GIB, MILLISECOND_NS};

    use crate::catalogue::testing::TestBench;

    /// Suite `seeds`, whose dd has `certainty = "0%"`: 30 cells were flagged.
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
