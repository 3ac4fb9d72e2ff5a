/// A closed interval of one quantity, in the unit of that quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end, itself part of the interval.
    pub low: f64,
    /// Upper end, itself part of the interval.
    pub high: f64,
}

impl Interval {
    /// Half the width as a share of `centre` (0.05 = plus or minus 5 %); infinite around a centre
    /// of zero.
    pub fn relative_half_width(&self, centre: f64) -> f64 {
        if centre == 0.0 { f64::INFINITY } else { (self.high - self.low) / (2.0 * centre.abs()) }
    }

    /// True if `x` is inside, ends included.
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_width_is_a_share_of_the_centre() {
        let interval = Interval { low: 90.0, high: 110.0 };
        assert_eq!(interval.relative_half_width(100.0), 0.1);
        assert_eq!(interval.relative_half_width(-100.0), 0.1);
        assert_eq!(interval.relative_half_width(0.0), f64::INFINITY);
    }

    #[test]
    fn ends_are_inside_and_nothing_contains_nan() {
        let interval = Interval { low: 1.0, high: 2.0 };
        assert!(interval.contains(1.0) && interval.contains(2.0));
        assert!(!interval.contains(2.1) && !interval.contains(f64::NAN));
    }
}
