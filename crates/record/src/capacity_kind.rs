//! Verdict of a capacity probe: genuine, damaged, or one of the kinds of fakes
//! (docs/field/counterfeits.md).

use crate::{Cell, metric};

/// Kind of a medium by its capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityKind {
    /// The whole capacity keeps data.
    Good = 0,
    /// Single places do not keep data, or none does.
    Damaged = 1,
    /// Beyond some place nothing is kept.
    Limbo = 2,
    /// Addresses beyond the real size are those at the front again.
    Wraparound = 3,
    /// Addresses fold, and a part of what they fold to has no flash.
    Chain = 4,
    /// Only so many bytes of what is written are kept, wherever they are.
    Filling = 5,
}

/// Marks with errors for each that was lost without one, at the least, for damage.
const FEW_SILENT: f64 = 30.0;

impl CapacityKind {
    const ALL: [CapacityKind; 6] = [
        CapacityKind::Good,
        CapacityKind::Damaged,
        CapacityKind::Limbo,
        CapacityKind::Wraparound,
        CapacityKind::Chain,
        CapacityKind::Filling,
    ];

    /// True if the real capacity is smaller than the claimed one; a damaged medium lost some of it
    /// later.
    pub fn is_fake(self) -> bool {
        !matches!(self, CapacityKind::Good | CapacityKind::Damaged)
    }

    /// Kind by the metrics of a probe: the only rule that decides if a medium is a fake. A tail
    /// that fails with errors may be damage or a fake, and counts as damaged: a fake loses data
    /// without an error, though some of it may fail. `None` if the probe had no result.
    pub fn of_probe(probe: &Cell) -> Option<CapacityKind> {
        let kind = CapacityKind::of_code(probe.metrics.value("type")?)?;
        let is_open = kind == CapacityKind::Limbo && CapacityKind::is_by_errors(probe);
        Some(if is_open { CapacityKind::Damaged } else { kind })
    }

    /// True if lost marks of a probe gave errors rather than other data than was written, all but one
    /// or a thirtieth of them (our choice), and its addresses do not repeat. Where writes succeed and vanish
    /// beside others that fail, no damage explains both.
    pub fn is_by_errors(probe: &Cell) -> bool {
        let count = |name: &str| probe.metrics.value(name).unwrap_or(0.0);
        let silent = count("marks_lost") + count("marks_elsewhere");
        let failed = count("marks_unusable");
        let few = if silent > 1.0 { FEW_SILENT * silent } else { silent };
        count(metric::WRAP_BYTES) <= 0.0 && failed > few
    }

    /// Number in a record: `metrics.other["type"]` of `capacity`.
    pub fn code(self) -> f64 {
        f64::from(self as u8)
    }

    /// Kind of a record's number; `None` for numbers between whole ones.
    pub fn of_code(code: f64) -> Option<CapacityKind> {
        CapacityKind::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::CapacityKind;
    use crate::{Cell, Params, metric};

    /// Regression: two crates had different rules.
    #[test]
    fn a_tail_that_fails_with_errors_is_no_fake() {
        let of = |numbers: &[(&str, f64)]| {
            let mut cell = Cell::begun("a", "capacity", Params::default());
            for (name, value) in numbers {
                cell.metrics.put(name, *value, 1);
            }
            CapacityKind::of_probe(&cell)
        };
        use CapacityKind::{Chain, Damaged, Limbo};
        assert_eq!(of(&[]), None);
        let lost = ("marks_lost", 2.0);
        let elsewhere = ("marks_elsewhere", 1.0);
        let failed = |many| ("marks_unusable", many);
        assert_eq!(of(&[("type", 2.0), lost, elsewhere, failed(90.0)]), Some(Limbo));
        assert_eq!(of(&[("type", 2.0), lost, elsewhere, failed(91.0)]), Some(Damaged));
        assert_eq!(of(&[("type", 4.0), lost, failed(9.0)]), Some(Chain));
        let wraps = (metric::WRAP_BYTES, 8e9);
        assert_eq!(of(&[("type", 2.0), wraps, failed(9.0)]), Some(Limbo));
    }

    #[test]
    fn a_code_is_a_whole_number_from_0_to_5() {
        let kinds = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(CapacityKind::of_code);
        assert_eq!(kinds, CapacityKind::ALL.map(Some));
        for code in [-1.0, 0.5, 3.5, 6.0, f64::NAN, f64::INFINITY] {
            assert_eq!(CapacityKind::of_code(code), None, "{code}");
        }
    }

    #[test]
    fn what_is_damaged_is_no_fake() {
        let fakes = CapacityKind::ALL.map(CapacityKind::is_fake);
        assert_eq!(fakes, [false, false, true, true, true, true]);
    }
}
