//! What a probe of the capacity found a medium to be: genuine, damaged, or one of the ways to be a
//! fake (docs/field/counterfeits.md).

/// What a medium turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityKind {
    /// All of it keeps data.
    Good = 0,
    /// Single places do not, or none does.
    Damaged = 1,
    /// From some place on nothing is kept.
    Limbo = 2,
    /// Addresses beyond the real size are those at the front.
    Wraparound = 3,
    /// Addresses fold, and a part of what they fold to has no flash.
    Chain = 4,
}

impl CapacityKind {
    const ALL: [CapacityKind; 5] = [
        CapacityKind::Good,
        CapacityKind::Damaged,
        CapacityKind::Limbo,
        CapacityKind::Wraparound,
        CapacityKind::Chain,
    ];

    /// Whether less is there than the medium says; a damaged one has lost it since.
    pub fn is_fake(self) -> bool {
        matches!(self, CapacityKind::Limbo | CapacityKind::Wraparound | CapacityKind::Chain)
    }

    /// The number under which a record has it: `metrics.other["type"]` of `capacity`.
    pub fn code(self) -> f64 {
        f64::from(self as u8)
    }

    /// What a record's number stands for; anything between whole numbers is none.
    pub fn of_code(code: f64) -> Option<CapacityKind> {
        CapacityKind::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::CapacityKind;

    #[test]
    fn a_code_is_a_whole_number_from_0_to_4() {
        let kinds = [0.0, 1.0, 2.0, 3.0, 4.0].map(CapacityKind::of_code);
        assert_eq!(kinds, CapacityKind::ALL.map(Some));
        for code in [-1.0, 0.5, 3.5, 5.0, f64::NAN, f64::INFINITY] {
            assert_eq!(CapacityKind::of_code(code), None, "{code}");
        }
    }

    #[test]
    fn what_is_damaged_is_no_fake() {
        let fakes = CapacityKind::ALL.map(CapacityKind::is_fake);
        assert_eq!(fakes, [false, false, true, true, true]);
    }
}
