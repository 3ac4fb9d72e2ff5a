//! One meaning of an interval: the figure of the same run, repeated on this machine, is inside it
//! 19 times of 20. What a cell cannot show by itself is added when all are measured: the drift that
//! rounds of other cells show, and what no run sees of a real host. A figure of which the host took
//! more than that is a bound (docs/methodology.md, "How certain a rate is").

use record::{Bound, Cell, Estimate, Flag, TargetKind, metric};
use stats::{FLOOR, set_interval};

use super::Runner;
use crate::events::RunEvent;

/// Share of the I/Os' time in which the thread waited for a processor, above which a figure without
/// an interval is a bound; our choice.
const HOST_SHARE: f64 = 0.1;

impl Runner<'_, '_> {
    /// Drift of this host during the run, in the logarithm of a rate: none in virtual time; `None`
    /// if no cell shows it.
    pub(super) fn drift(&self) -> Option<f64> {
        if self.options.target.kind == TargetKind::Simulated {
            return Some(0.0);
        }
        stats::drift_of_run(&self.end.cells)
    }

    /// Completes the intervals of all cells on a real host, and reports those that change.
    pub(super) fn complete_intervals(&mut self) {
        if self.options.target.kind == TargetKind::Simulated {
            return;
        }
        let drift = self.drift();
        for cell in &mut self.end.cells {
            if complete(cell, drift)
                && let Err(reason) = self.listener.on_event(&RunEvent::CellRevised { cell })
            {
                self.fail(reason);
                return;
            }
        }
    }
}

/// Completes the interval of a cell, or takes it away; true if the cell changed. `of_run` is the
/// drift of the other cells.
fn complete(cell: &mut Cell, of_run: Option<f64>) -> bool {
    let waited = cell.metrics.other.get(metric::RUN_DELAY_NS).copied();
    let by_host = waited.map(|mean| Flag::HostLimited { mean_ns: mean.value as u64 });
    // A bound from above is none if the host slows the medium by more than chance.
    let is_at_most = cell.transient() == Some(Bound::AtMost);
    let known = cell.metrics.iops.zip(stats::distances_on_a_host(cell, of_run));
    let Some((Estimate { value, ci95, .. }, [slow, fast])) = known else {
        let most = if is_at_most { FLOOR } else { HOST_SHARE };
        let is_known = cell.host_share() <= most || cell.is_host_limited();
        cell.flags.extend(by_host.filter(|_| !is_known));
        return !is_known;
    };
    let is_by_host = cell.host_share() > if is_at_most { FLOOR } else { fast };
    if is_by_host || cell.is_one_look() && of_run.is_none() {
        cell.without_intervals();
        cell.flags.extend(by_host.filter(|_| is_by_host));
        return true;
    }
    let widened = [value * (-slow).exp(), value * fast.exp()];
    set_interval(cell, widened);
    cell.round();
    ci95 != cell.metrics.iops.and_then(|iops| iops.ci95)
}

#[cfg(test)]
mod tests {
    use record::{Params, Round};

    use super::*;

    /// 1000 IOPS known to 1 %, with rounds of these rates, of whose I/Os' time so much is waiting.
    fn complete_with(rates: &[f64], waited: f64, of_run: Option<f64>) -> (Option<f64>, Cell) {
        let mut cell = Cell::begun("random-read/1", "random-read", Params::default());
        let known = |value| Estimate { value, ci95: Some([value / 1.01, value * 1.01]), n: 9 };
        cell.metrics.iops = Some(known(1000.0));
        cell.metrics.put(metric::RUN_DELAY_NS, waited * 1e6, 9);
        let half_width = Some(0.01);
        let round =
            |iops: &f64| Round { began_ns: 0, ops: 9, elapsed_ns: 9, iops: *iops, half_width };
        cell.rounds = rates.iter().map(round).collect();
        complete(&mut cell, of_run);
        let percent = |ends: [f64; 2]| (100.0 * (ends[1] / 1000.0).ln()).round();
        (cell.metrics.iops.and_then(|iops| iops.ci95).map(percent), cell)
    }

    #[test]
    fn an_interval_has_the_drift_of_the_run_and_a_floor() {
        assert_eq!(complete_with(&[], 0.0, None).0, Some(2.0), "the floor");
        // sqrt(2) 1.96 0.1 is 0.277, whatever the number of rounds.
        assert_eq!(complete_with(&[1000.0; 5], 0.0, Some(0.1)).0, Some(28.0));
        assert_eq!(complete_with(&[], 0.0, Some(0.1)).0, Some(28.0));
        assert_eq!(complete_with(&[900.0, 1000.0, 1100.0, 900.0, 1100.0], 0.0, None).0, Some(28.0));
    }

    #[test]
    fn what_the_host_took_beyond_the_interval_makes_a_bound() {
        assert_eq!(complete_with(&[], 0.019, None).1.bound(), None);
        let (interval, mut cell) = complete_with(&[], 0.021, None);
        assert_eq!((interval, cell.bound()), (None, Some(Bound::AtLeast)));
        cell.flag_transient(Bound::AtMost);
        assert_eq!(cell.bound(), None, "which of both is larger cannot be told");
        cell.flags.retain(|flag| matches!(flag, Flag::Transient { .. }));
        assert_eq!((complete(&mut cell, None), cell.bound()), (true, None), "also without a flag");
    }

    #[test]
    fn a_figure_that_was_kept_stays_to_the_last_digit() {
        for number in 1..200 {
            let mut cell = Cell::begun("seek/1", "seek", Params::default());
            let value = 1e9 / (f64::from(number) * 12_345.678);
            let iops = Estimate { value, ci95: Some([value / 1.01, value * 1.01]), n: 9 };
            cell.metrics.iops = Some(iops);
            cell.metrics.add(metric::ACCESS_TIME_NS, stats::inverse(1e9, iops));
            cell.round();
            let kept = |cell: &Cell| {
                (cell.metrics.iops.unwrap().value, cell.metrics.value(metric::ACCESS_TIME_NS))
            };
            let before = kept(&cell);
            assert!(complete(&mut cell, Some(0.02)));
            assert_eq!(kept(&cell), before);
        }
    }
}
